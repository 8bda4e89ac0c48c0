// The correct twin: one lock covers the write and the read, and the other thread's write takes it too.
// fissure: nothing-predicted
public class ForeignValueReadFixed {
    static final class Desk {
        private int ticket;

        synchronized void serve() {
            setTicket(1);
            if (getTicket() != 1) {
                throw new IllegalStateException("served with a ticket that is not mine");
            }
        }

        synchronized void close() {
            setTicket(-1);
        }

        private synchronized int getTicket() {
            return ticket;
        }

        private synchronized void setTicket(int value) {
            ticket = value;
        }
    }

    // Unrelated work of the thread.
    static void busy(int times) {
        Object own = new Object();
        for (int i = 0; i < times; i++) {
            synchronized (own) {
                own.hashCode();
            }
        }
    }

    public static void main(String[] arguments) throws InterruptedException {
        Desk desk = new Desk();
        Thread first = new Thread("first") {
            @Override
            public void run() {
                desk.serve();
                busy(8);
            }
        };
        Thread second = new Thread("second") {
            @Override
            public void run() {
                busy(8);
                desk.close();
            }
        };
        first.start();
        second.start();
        first.join();
        second.join();
        System.out.println("done");
    }
}
