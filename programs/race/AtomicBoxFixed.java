// An atomic reference publishes the object when it is complete. The reader may change it.
// fissure: must-find-ordered racer AtomicBoxFixed$Letter.text
import java.util.concurrent.atomic.AtomicReference;

public class AtomicBoxFixed {
    static class Letter {
        String text;
        int pages;
    }

    public static void main(String[] arguments) throws InterruptedException {
        AtomicReference<Letter> box = new AtomicReference<>();
        Thread author = new Thread(() -> {
            Letter letter = new Letter();
            letter.text = "dear";
            letter.pages = 1;
            box.set(letter);
        });
        Thread reader = new Thread(() -> {
            Letter letter = box.get();
            while (letter == null) {
                Thread.onSpinWait();
                letter = box.get();
            }
            letter.text = letter.text + letter.pages;
        });
        author.start();
        reader.start();
        author.join();
        reader.join();
        System.out.println("done");
    }
}
