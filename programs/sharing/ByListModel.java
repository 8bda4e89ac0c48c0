// A JDK class that the program extends stores listeners in a field and calls them in the thread that fires the event.
// fissure: must-find racer data-race ByListModel$Model.size
// fissure: must-find racer data-race ByListModel$View.painted
import javax.swing.AbstractListModel;
import javax.swing.event.ListDataEvent;
import javax.swing.event.ListDataListener;

public class ByListModel {
    static class Model extends AbstractListModel<String> {
        private static final long serialVersionUID = 1;
        int size;

        void grow() {
            size++;
            fireIntervalAdded(this, 0, 0);
        }

        @Override
        public int getSize() {
            return size;
        }

        @Override
        public String getElementAt(int index) {
            return "";
        }
    }

    static class View implements ListDataListener {
        int painted;

        @Override
        public void intervalAdded(ListDataEvent event) {
            painted += ((Model) event.getSource()).getSize();
        }

        @Override
        public void intervalRemoved(ListDataEvent event) {}

        @Override
        public void contentsChanged(ListDataEvent event) {}
    }

    public static void main(String[] args) throws InterruptedException {
        Model model = new Model();
        View view = new View();
        model.addListDataListener(view);
        Thread thread = new Thread(model::grow);
        thread.start();
        model.size++;
        view.painted++;
        thread.join();
        System.out.println("done");
    }
}
