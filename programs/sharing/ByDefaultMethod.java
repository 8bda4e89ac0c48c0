// A default method of an interface starts the thread that shares the object.
// fissure: must-find racer data-race ByDefaultMethod$Box.value
public class ByDefaultMethod {
    interface Worker {
        Box box();

        default Thread begin() {
            Thread thread = new Thread(this::work);
            thread.start();
            return thread;
        }

        default void work() {
            box().value++;
        }
    }

    static class Box implements Worker {
        int value;

        @Override
        public Box box() {
            return this;
        }
    }

    public static void main(String[] args) throws InterruptedException {
        Box box = new Box();
        Thread thread = box.begin();
        box.value++;
        thread.join();
        System.out.println("done");
    }
}
