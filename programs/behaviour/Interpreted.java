// Interpreted only, and without the archive of ready-made classes that the JVM starts from otherwise.
// fissure: java -Xint -Xshare:off
// fissure: must-find racer data-race Interpreted.count
// fissure: must-find eraser data-race Interpreted.count
public class Interpreted {
    private static int count;

    public static void main(String[] args) throws InterruptedException {
        Thread first = new Thread(() -> count++);
        Thread second = new Thread(() -> count++);
        first.start();
        second.start();
        first.join();
        second.join();
        System.out.println("done");
    }
}
