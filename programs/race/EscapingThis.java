// A constructor registers a listener before it has set its field (the Racer paper's Figure 6). The event comes late
// enough in this run, so Eraser takes the write for initialisation and forgives it; Racer does not. The monitor orders the event after
// the write, so without `--order none` the race is an ordered one.
// fissure: must-find racer data-race EscapingThis.i
// fissure: detect --order none
public class EscapingThis {
    static class EventSource {
        private Runnable listener;
        private boolean fired;

        synchronized void register(Runnable newListener) {
            listener = newListener;
        }

        synchronized void fire() {
            fired = true;
            notifyAll();
        }

        void dispatch() {
            Runnable target;
            synchronized (this) {
                while (!fired) {
                    try {
                        wait();
                    } catch (InterruptedException e) {
                        return;
                    }
                }
                target = listener;
            }
            target.run();
        }
    }

    private int i;

    EscapingThis(EventSource source) {
        source.register(() -> onEvent());
        i = 42;
    }

    private void onEvent() {
        if (i != 0 && i != 42) {
            throw new AssertionError(i);
        }
    }

    public static void main(String[] args) throws InterruptedException {
        EventSource source = new EventSource();
        Thread dispatcher = new Thread(source::dispatch, "dispatcher");
        dispatcher.start();
        new EscapingThis(source);
        source.fire();
        dispatcher.join();
        System.out.println("done");
    }
}
