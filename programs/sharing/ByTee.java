// PrintStream and PrintWriter pass arrays uncopied to the program's stream and writer, which store them for another thread.
// fissure: must-find racer data-race ByTee$Tee.last
// fissure: must-find racer data-race ByTee$Copy.last
import java.io.OutputStream;
import java.io.PrintStream;
import java.io.PrintWriter;
import java.io.Writer;

public class ByTee {
    static class Tee extends OutputStream {
        byte[] last;

        @Override
        public void write(int value) {}

        @Override
        public void write(byte[] bytes, int from, int count) {
            last = bytes;
        }
    }

    static class Copy extends Writer {
        char[] last;

        @Override
        public void write(char[] text, int from, int count) {
            last = text;
        }

        @Override
        public void flush() {}

        @Override
        public void close() {}
    }

    public static void main(String[] args) throws InterruptedException {
        Tee tee = new Tee();
        Copy copy = new Copy();
        byte[] bytes = new byte[1];
        char[] text = new char[1];
        new PrintStream(tee).write(bytes, 0, 1);
        new PrintWriter(copy).print(text);
        Thread thread = new Thread(() -> {
            for (int i = 0; i < 1000; i++) {
                tee.last[0]++;
                copy.last[0]++;
            }
        });
        thread.start();
        for (int i = 0; i < 1000; i++) {
            bytes[0]++;
            text[0]++;
        }
        thread.join();
        System.out.println("done");
    }
}
