// The reader checks for a letter before it takes the lock to wait; a letter sent between the check and the wait is missed: lost wakeup.
// fissure: must-be-bug deadlock CheckedOutside$Mailbox.receive
public class CheckedOutside {
    static class Mailbox {
        private String letter;

        synchronized String peek() {
            return letter;
        }

        String receive() throws InterruptedException {
            if (peek() == null) {
                synchronized (this) {
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
