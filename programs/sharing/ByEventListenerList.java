// An EventListenerList of the JDK stores a listener under its class, and another thread gets it from there.
// fissure: must-find racer data-race ByEventListenerList$Counter.changes
import javax.swing.event.ChangeEvent;
import javax.swing.event.ChangeListener;
import javax.swing.event.EventListenerList;

public class ByEventListenerList {
    static class Counter implements ChangeListener {
        int changes;

        @Override
        public void stateChanged(ChangeEvent event) {
            changes++;
        }
    }

    public static void main(String[] args) throws InterruptedException {
        Counter counter = new Counter();
        EventListenerList listeners = new EventListenerList();
        listeners.add(ChangeListener.class, counter);
        Thread thread = new Thread(() -> {
            for (ChangeListener listener : listeners.getListeners(ChangeListener.class)) {
                listener.stateChanged(new ChangeEvent(listeners));
            }
        });
        thread.start();
        counter.stateChanged(new ChangeEvent(listeners));
        thread.join();
        System.out.println("done");
    }
}
