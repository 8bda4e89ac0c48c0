// A mailbox for one message: take waits for a message, put waits until there is room. The method peek looks for a message and reads it in two steps,
// so that it may return nothing although it found one.
// fissure: non-atomic peek
// fissure: atomic put take
public class Mailbox {
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

    public String peek() {
        if (isEmpty()) {
            return "empty";
        }
        synchronized (this) {
            return "message " + message;
        }
    }

    public synchronized boolean isEmpty() {
        return message == null;
    }
}
