// The JVM runs in interpreted mode and without the class data sharing archive.
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
