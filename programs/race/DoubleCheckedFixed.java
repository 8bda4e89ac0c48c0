// The instance is built and used under the lock of the class.
public class DoubleCheckedFixed {
    static class Config {
        int limit;

        Config() {
            limit = 100;
        }
    }

    private static Config instance;

    static synchronized int limit() {
        if (instance == null) {
            instance = new Config();
        }
        return instance.limit;
    }

    static void use() {
        if (limit() > 100) {
            throw new AssertionError();
        }
    }

    public static void main(String[] args) throws InterruptedException {
        Thread first = new Thread(DoubleCheckedFixed::use);
        Thread second = new Thread(DoubleCheckedFixed::use);
        first.start();
        second.start();
        first.join();
        second.join();
        System.out.println("done");
    }
}
