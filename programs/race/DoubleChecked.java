// Double-checked locking without volatile: the reference and the object's fields are read without the lock.
// The instance is built once, so Eraser takes its field for initialised and then only read.
// fissure: must-find racer data-race DoubleChecked.instance
// fissure: must-find racer data-race DoubleChecked$Config.limit
// fissure: may-find eraser data-race DoubleChecked.instance
public class DoubleChecked {
    static class Config {
        int limit;

        Config() {
            limit = 100;
        }
    }

    private static Config instance;

    static Config instance() {
        if (instance == null) {
            synchronized (DoubleChecked.class) {
                if (instance == null) {
                    instance = new Config();
                }
            }
        }
        return instance;
    }

    static void use() {
        if (instance().limit > 100) {
            throw new AssertionError();
        }
    }

    public static void main(String[] args) throws InterruptedException {
        Thread first = new Thread(DoubleChecked::use);
        Thread second = new Thread(DoubleChecked::use);
        first.start();
        second.start();
        first.join();
        second.join();
        System.out.println("done");
    }
}
