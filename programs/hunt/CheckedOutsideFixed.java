// The correct twin of CheckedOutside: the reader checks and waits under one lock.
public class CheckedOutsideFixed {
    static class Mailbox {
        private String letter;

        synchronized String peek() {
            return letter;
        }

        String receive() throws InterruptedException {
            synchronized (this) {
                while (letter == null) {
                    wait();
                }
            }
            return peek();
        }

        synchronized void send(String text) {
            letter = text;
            notify();
        }
    }

    public static void main(String[] args) throws Exception {
        Mailbox box = new Mailbox();
        Thread postman = new Thread(() -> box.send("news"), "postman");
        Thread reader = new Thread(() -> {
            try {
                box.receive();
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
            }
        }, "reader");
        reader.start();
        postman.start();
        reader.join();
        postman.join();
    }
}
