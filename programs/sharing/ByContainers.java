// The containers of ConfinedContainers, but here each of them is passed to the other thread.
// fissure: must-find racer data-race ByContainers$Name.value
// fissure: must-find racer data-race ByContainers$Item.value
// fissure: must-find racer data-race ByContainers$Leaf.value
// fissure: must-find racer data-race ByContainers$Bound.value
import javax.naming.NamingException;
import javax.naming.directory.BasicAttribute;
import javax.script.SimpleBindings;
import javax.swing.DefaultListModel;
import javax.swing.tree.DefaultMutableTreeNode;

public class ByContainers {
    static class Name {
        int value;
    }

    static class Item {
        int value;
    }

    static class Leaf {
        int value;
    }

    static class Bound {
        int value;
    }

    static class Reader extends Thread {
        private final Object[] given;

        Reader(Object... given) {
            this.given = given;
        }

        @Override
        public void run() {
            try {
                ((Name) ((BasicAttribute) given[0]).get()).value++;
                ((Item) ((DefaultListModel<?>) given[1]).get(0)).value++;
                DefaultMutableTreeNode root = (DefaultMutableTreeNode) given[2];
                ((Leaf) ((DefaultMutableTreeNode) root.getFirstChild()).getUserObject()).value++;
                ((Bound) ((SimpleBindings) given[3]).get("bound")).value++;
            } catch (NamingException exception) {
                throw new IllegalStateException(exception);
            }
        }
    }

    public static void main(String[] args) throws InterruptedException {
        Name name = new Name();
        Item item = new Item();
        Leaf leaf = new Leaf();
        Bound bound = new Bound();
        BasicAttribute attribute = new BasicAttribute("name", name);
        DefaultListModel<Item> model = new DefaultListModel<>();
        model.addElement(item);
        DefaultMutableTreeNode root = new DefaultMutableTreeNode();
        root.add(new DefaultMutableTreeNode(leaf));
        SimpleBindings bindings = new SimpleBindings();
        bindings.put("bound", bound);
        Thread thread = new Reader(attribute, model, root, bindings);
        thread.start();
        name.value++;
        item.value++;
        leaf.value++;
        bound.value++;
        thread.join();
        System.out.println("done");
    }
}
