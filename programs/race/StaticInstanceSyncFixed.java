// The instance method takes the lock of the class, as the static one does.
public class StaticInstanceSyncFixed {
    private static int issued;

    static synchronized void issueByClass() {
        issued++;
    }

    void issueByInstance() {
        synchronized (StaticInstanceSyncFixed.class) {
            issued++;
        }
    }

    public static void main(String[] args) throws InterruptedException {
        StaticInstanceSyncFixed instance = new StaticInstanceSyncFixed();
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
        if (issued != 1000) {
            throw new AssertionError(issued);
        }
        System.out.println("done");
    }
}
