// The correct twin of HalfMade: the object is published only when it is complete.
public class HalfMadeFixed {
    private static volatile HalfMadeFixed instance;
    private String name;

    static HalfMadeFixed get() {
        HalfMadeFixed known = instance;
        if (known == null) {
            synchronized (HalfMadeFixed.class) {
                known = instance;
                if (known == null) {
                    known = new HalfMadeFixed();
                    known.name = "ready";
                    instance = known;
                }
            }
        }
        return known;
    }

    public static void main(String[] args) throws InterruptedException {
        Runnable use = () -> get().name.length();
        Thread first = new Thread(use);
        Thread second = new Thread(use);
        first.start();
        second.start();
        first.join();
        second.join();
    }
}
