// The JDK throws the exception that a supplier creates, and the exception carries the object.
// fissure: must-find racer data-race ByOptional$Box.value
import java.util.Optional;

public class ByOptional {
    static class Box {
        int value;
    }

    static class Trouble extends RuntimeException {
        final Box box;

        Trouble(Box box) {
            this.box = box;
        }
    }

    static Trouble caught;

    public static void main(String[] args) throws InterruptedException {
        Box box = new Box();
        try {
            Optional.empty().orElseThrow(() -> new Trouble(box));
        } catch (Trouble trouble) {
            caught = trouble;
        }
        Thread thread = new Thread(() -> caught.box.value++);
        thread.start();
        box.value++;
        thread.join();
        System.out.println("done");
    }
}
