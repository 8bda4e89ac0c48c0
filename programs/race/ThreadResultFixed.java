// The correct twin: main reads the result of a thread after it joined the thread, by join with and without a time limit.
// fissure: must-find-ordered racer ThreadResultFixed.result
public class ThreadResultFixed extends Thread {
    private final int input;
    private int result;

    ThreadResultFixed(int input) {
        this.input = input;
    }

    @Override
    public void run() {
        result = input * input;
    }

    public static void main(String[] args) throws InterruptedException {
        ThreadResultFixed first = new ThreadResultFixed(5);
        ThreadResultFixed second = new ThreadResultFixed(6);
        first.start();
        second.start();
        first.join();
        second.join(60_000);
        if (first.result != 25 || second.result != 36) {
            throw new AssertionError(first.result);
        }
        System.out.println("done");
    }
}
