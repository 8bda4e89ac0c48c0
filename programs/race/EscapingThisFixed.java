// The object is complete before the thread that will call its listener exists: starting the thread orders the two.
// fissure: must-find-ordered racer EscapingThisFixed.i
public class EscapingThisFixed {
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

    EscapingThisFixed() {
        i = 42;
    }

    private void onEvent() {
        if (i != 42) {
            throw new AssertionError(i);
        }
    }

    public static void main(String[] args) throws InterruptedException {
        EventSource source = new EventSource();
        EscapingThisFixed complete = new EscapingThisFixed();
        source.register(complete::onEvent);
        Thread dispatcher = new Thread(source::dispatch, "dispatcher");
        dispatcher.start();
        source.fire();
        dispatcher.join();
        System.out.println("done");
    }
}
