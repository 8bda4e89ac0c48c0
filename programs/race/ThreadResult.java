// Main reads the result of a thread, a field of the thread object, before it joins the thread.
// fissure: must-find racer data-race ThreadResult.result
// fissure: may-find eraser data-race ThreadResult.result
public class ThreadResult extends Thread {
    private final int input;
    private int result;

    ThreadResult(int input) {
        this.input = input;
    }

    @Override
    public void run() {
        result = input * input;
    }

    public static void main(String[] args) throws InterruptedException {
        ThreadResult square = new ThreadResult(5);
        square.start();
        if (square.result != 0 && square.result != 25) {
            throw new AssertionError(square.result);
        }
        square.join();
        System.out.println("done");
    }
}
