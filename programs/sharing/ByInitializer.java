// A class initializer creates the object, in the thread that uses the class first.
// fissure: must-find racer data-race ByInitializer$Holder.count
// fissure: must-find racer data-race ByInitializer$Box.value
public class ByInitializer {
    static class Box {
        int value;
    }

    static class Holder {
        private static final Box BOX = new Box();
        static int count;

        static Box box() {
            count++;
            return BOX;
        }
    }

    public static void main(String[] args) throws InterruptedException {
        Thread thread = new Thread(() -> Holder.box().value++);
        thread.start();
        Holder.box().value++;
        thread.join();
        System.out.println("done");
    }
}
