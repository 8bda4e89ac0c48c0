// A subclass of Thread overrides start as well as run, and an object with a finalizer is shared with the finalizer thread.
// fissure: must-find racer data-race ByFinalizer$Box.value
public class ByFinalizer {
    static class Box {
        int value;

        @Override
        @SuppressWarnings({"deprecation", "removal"})
        protected void finalize() {
            value++;
        }
    }

    static class Named extends Thread {
        private Box box;

        @Override
        public void start() {
            box = new Box();
            box.value++;
            super.start();
            box.value++;
        }

        @Override
        public void run() {
            box.value++;
        }
    }

    public static void main(String[] args) throws InterruptedException {
        Thread thread = new Named();
        thread.start();
        thread.join();
        System.gc();
        System.out.println("done");
    }
}
