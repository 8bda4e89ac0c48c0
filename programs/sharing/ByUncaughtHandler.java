// An uncaught exception carries the object to the handler of its thread group.
// fissure: must-find racer data-race ByUncaughtHandler$Box.value
// fissure: must-find racer data-race ByUncaughtHandler$Watchers.seen
public class ByUncaughtHandler {
    static class Box {
        int value;
    }

    static class Trouble extends RuntimeException {
        final Box box;

        Trouble(Box box) {
            this.box = box;
        }
    }

    static class Watchers extends ThreadGroup {
        int seen;

        Watchers() {
            super("watchers");
        }

        @Override
        public void uncaughtException(Thread thread, Throwable thrown) {
            seen++;
            ((Trouble) thrown).box.value++;
        }
    }

    public static void main(String[] args) throws InterruptedException {
        Box box = new Box();
        Watchers watchers = new Watchers();
        Thread thread = new Thread(watchers, () -> {
            throw new Trouble(box);
        });
        thread.start();
        box.value++;
        watchers.seen++;
        thread.join();
        System.out.println("done");
    }
}
