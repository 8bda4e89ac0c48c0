// A child thread inherits the object of an InheritableThreadLocal.
// fissure: must-find racer data-race ByThreadLocal$Box.value
public class ByThreadLocal {
    static class Box {
        int value;
    }

    public static void main(String[] args) throws InterruptedException {
        ThreadLocal<Box> local = new InheritableThreadLocal<>();
        Box box = new Box();
        local.set(box);
        Thread thread = new Thread(() -> local.get().value++);
        thread.start();
        box.value++;
        thread.join();
        System.out.println("done");
    }
}
