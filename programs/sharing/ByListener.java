// A PropertyChangeSupport of the JDK leads from the thread that fires a change to objects that the first thread still uses.
// fissure: must-find racer data-race ByListener$Box.value
// fissure: must-find racer data-race ByListener$Source.count
import java.beans.PropertyChangeSupport;

public class ByListener {
    static class Box {
        int value;
    }

    static class Source {
        int count;
    }

    public static void main(String[] args) throws InterruptedException {
        Box box = new Box();
        Source source = new Source();
        PropertyChangeSupport changes = new PropertyChangeSupport(source);
        changes.addPropertyChangeListener("size", event -> {
            box.value++;
            ((Source) event.getSource()).count++;
        });
        Thread thread = new Thread(() -> changes.firePropertyChange("size", 1, 2));
        thread.start();
        box.value++;
        source.count++;
        thread.join();
        System.out.println("done");
    }
}
