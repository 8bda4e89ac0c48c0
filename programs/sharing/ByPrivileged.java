// A privileged action, which some versions of the JDK call natively, starts the thread.
// fissure: must-find racer data-race ByPrivileged$Box.value
import java.security.AccessController;
import java.security.PrivilegedAction;

public class ByPrivileged {
    static class Box {
        int value;
    }

    @SuppressWarnings("removal")
    public static void main(String[] args) throws InterruptedException {
        Box box = new Box();
        Thread thread = AccessController.doPrivileged((PrivilegedAction<Thread>) () -> {
            Thread made = new Thread(() -> box.value++);
            made.start();
            return made;
        });
        box.value++;
        thread.join();
        System.out.println("done");
    }
}
