// The object reaches the other thread through a constructor and a method that are called by reflection.
// fissure: must-find racer data-race ByReflection$Box.value
public class ByReflection {
    public static class Box {
        int value;
    }

    public static class Worker extends Thread {
        private final Box box;

        public Worker(Box box) {
            this.box = box;
        }

        @Override
        public void run() {
            box.value++;
        }
    }

    public static void main(String[] args) throws Exception {
        Box box = new Box();
        Object worker = Class.forName("ByReflection$Worker").getConstructor(Box.class).newInstance(box);
        Thread.class.getMethod("start").invoke(worker);
        box.value++;
        ((Thread) worker).join();
        System.out.println("done");
    }
}
