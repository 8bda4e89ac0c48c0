// Class.forName with a constant name initializes a class, whose initializer starts the thread.
// fissure: must-find racer data-race ByName$Box.value
public class ByName {
    static class Box {
        int value;
    }

    static class Hidden {
        static {
            thread = new Thread(() -> box.value++);
            thread.start();
        }
    }

    static Box box;
    static Thread thread;

    public static void main(String[] args) throws Exception {
        Box own = new Box();
        box = own;
        Class.forName("ByName$Hidden");
        own.value++;
        thread.join();
        System.out.println("done");
    }
}
