// The static volatile flag is set last, and orders the write of the plain field before the read.
// fissure: must-find-ordered racer StaticFlagFixed$Settings.limit
public class StaticFlagFixed {
    static class Settings {
        static volatile boolean areLoaded;
        static int limit;
    }

    static void load() {
        Settings.limit = 9;
        Settings.areLoaded = true;
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
