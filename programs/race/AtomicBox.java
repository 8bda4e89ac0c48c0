// An object is published by an atomic reference, and still changed afterwards.
// fissure: must-find racer data-race AtomicBox$Letter.pages
// fissure: may-find eraser data-race AtomicBox$Letter.pages
import java.util.concurrent.atomic.AtomicReference;

public class AtomicBox {
    static class Letter {
        String text;
        int pages;
    }

    public static void main(String[] arguments) throws InterruptedException {
        AtomicReference<Letter> box = new AtomicReference<>();
        Thread author = new Thread(() -> {
            Letter letter = new Letter();
            letter.text = "dear";
            box.set(letter);
            letter.pages = 1;
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
