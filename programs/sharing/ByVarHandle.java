// The other thread reads the object through a variable handle.
// fissure: must-find racer data-race ByVarHandle$Box.value
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;

public class ByVarHandle {
    static class Box {
        int value;
        Box next;
    }

    public static void main(String[] args) throws Exception {
        VarHandle next = MethodHandles.lookup().findVarHandle(Box.class, "next", Box.class);
        Box first = new Box();
        Box second = new Box();
        next.set(first, second);
        Thread thread = new Thread(() -> ((Box) next.get(first)).value++);
        thread.start();
        second.value++;
        thread.join();
        System.out.println("done");
    }
}
