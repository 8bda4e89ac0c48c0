// PrintStream.printf returns the stream itself, which writes to an OutputStream of the program.
// fissure: must-find racer data-race ByPrinter$Sink.count
import java.io.OutputStream;
import java.io.PrintStream;

public class ByPrinter {
    static class Sink extends OutputStream {
        int count;

        @Override
        public void write(int value) {
            count++;
        }
    }

    public static void main(String[] args) throws InterruptedException {
        Sink sink = new Sink();
        PrintStream printer = new PrintStream(sink, true).printf("x");
        Thread thread = new Thread(() -> printer.println("y"));
        thread.start();
        sink.count++;
        thread.join();
        System.out.println("done");
    }
}
