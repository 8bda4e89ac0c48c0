// The correct twin: peek is one locked step.
// fissure: atomic put take peek
public class MailboxFixed {
    private Integer message;

    public synchronized void put(int value) throws InterruptedException {
        while (message != null) {
            wait();
        }
        message = value;
        notifyAll();
    }

    public synchronized int take() throws InterruptedException {
        while (message == null) {
            wait();
        }
        int value = message;
        message = null;
        notifyAll();
        return value;
    }

    public synchronized String peek() {
        return isEmpty() ? "empty" : "message " + message;
    }

    public synchronized boolean isEmpty() {
        return message == null;
    }
}
