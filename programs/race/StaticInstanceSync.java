// A static and an instance method, both synchronized, guard the same static field by different locks.
// fissure: must-find racer data-race StaticInstanceSync.issued
// fissure: may-find eraser data-race StaticInstanceSync.issued
// fissure: may-find atomizer atomicity-violation StaticInstanceSync.issueByClass
// fissure: may-find atomizer atomicity-violation StaticInstanceSync.issueByInstance
public class StaticInstanceSync {
    private static int issued;

    static synchronized void issueByClass() {
        issued++;
    }

    synchronized void issueByInstance() {
        issued++;
    }

    public static void main(String[] args) throws InterruptedException {
        StaticInstanceSync instance = new StaticInstanceSync();
        Thread first = new Thread(() -> {
            for (int i = 0; i < 500; i++) {
                issueByClass();
            }
        });
        Thread second = new Thread(() -> {
            for (int i = 0; i < 500; i++) {
                instance.issueByInstance();
            }
        });
        first.start();
        second.start();
        first.join();
        second.join();
        System.out.println("done");
    }
}
