// The correct twin of UncaughtHandler: one synchronized method checks the text and returns its length.
public class UncaughtHandlerFixed {
    static class Document {
        private String text = "text";

        synchronized int length() {
            return text == null ? 0 : text.length();
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
            printed += document.length();
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
