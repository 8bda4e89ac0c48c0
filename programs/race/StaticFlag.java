// A static volatile flag, in a class that is loaded after those that use it, is set too early.
// fissure: must-find racer data-race StaticFlag$Settings.limit
// fissure: may-find eraser data-race StaticFlag$Settings.limit
public class StaticFlag {
    static class Settings {
        static volatile boolean areLoaded;
        static int limit;
    }

    static void load() {
        Settings.areLoaded = true;
        Settings.limit = 9;
    }

    static void use() {
        while (!Settings.areLoaded) {
            Thread.onSpinWait();
        }
        if (Settings.limit > 9) {
            throw new IllegalStateException();
        }
    }

    public static void main(String[] arguments) throws InterruptedException {
        Thread user = new Thread(() -> use());
        Thread loader = new Thread(() -> load());
        user.start();
        loader.start();
        user.join();
        loader.join();
        System.out.println("done");
    }
}
