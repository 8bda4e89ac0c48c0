// The text is cleared between hasText and length; a handler receives the exception, which still counts as uncaught.
// fissure: must-be-bug atomicity-violation UncaughtHandler$Printer.print
public class UncaughtHandler {
    static class Document {
        private String text = "text";

        synchronized boolean hasText() {
            return text != null;
        }

        synchronized int length() {
            return text.length();
        }

        synchronized void clear() {
            text = null;
        }
    }

    static class Printer {
        private final Document document;
        private int printed;

        Printer(Document document) {
            this.document = document;
        }

        synchronized void print() {
            if (document.hasText()) {
                printed += document.length();
            }
        }
    }

    public static void main(String[] args) throws InterruptedException {
        Document document = new Document();
        Thread printer = new Thread(() -> new Printer(document).print(), "printer");
        printer.setUncaughtExceptionHandler((thread, exception) -> System.err.println("handled"));
        Thread cleaner = new Thread(document::clear, "cleaner");
        printer.start();
        cleaner.start();
        printer.join();
        cleaner.join();
    }
}
