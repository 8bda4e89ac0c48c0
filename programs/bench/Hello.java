// The smallest program with a second thread: what starting under Fissure costs.
public class Hello {
    private int greeted;

    public static void main(String[] args) throws InterruptedException {
        Hello hello = new Hello();
        Thread thread = new Thread(() -> hello.greeted++);
        thread.start();
        thread.join();
        System.out.println("hello " + hello.greeted);
    }
}
