// Double-checked locking assigns the instance before its name is set, so another thread can use an incomplete object.
// fissure: must-be-bug failure HalfMade.lambda$main$*
// fissure: program-exit 0
public class HalfMade {
    private static HalfMade instance;
    private String name;

    static HalfMade get() {
        if (instance == null) {
            synchronized (HalfMade.class) {
                if (instance == null) {
                    instance = new HalfMade();
                    instance.name = "ready";
                }
            }
        }
        return instance;
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
