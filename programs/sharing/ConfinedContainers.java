// Less common containers of the JDK hold objects; each container and its objects are used by one thread only.
// fissure: static-fields 0
import java.sql.Timestamp;
import javax.naming.NamingException;
import javax.naming.directory.BasicAttribute;
import javax.script.SimpleBindings;
import javax.swing.DefaultListModel;
import javax.swing.tree.DefaultMutableTreeNode;

public class ConfinedContainers {
    static class Box {
        int value;
        Timestamp made;
    }

    private static void work() throws NamingException {
        BasicAttribute attribute = new BasicAttribute("box", new Box());
        SimpleBindings bindings = new SimpleBindings();
        DefaultListModel<Box> model = new DefaultListModel<>();
        DefaultMutableTreeNode root = new DefaultMutableTreeNode(new Box());
        for (int i = 0; i < 10; i++) {
            Box box = new Box();
            box.made = new Timestamp(i);
            bindings.put("box" + i, box);
            model.addElement(box);
            root.add(new DefaultMutableTreeNode(box));
            ((Box) attribute.get()).value++;
            ((Box) bindings.get("box" + i / 2)).value++;
            model.getElementAt(i / 3).value++;
            DefaultMutableTreeNode child = (DefaultMutableTreeNode) root.getChildAt(i / 4);
            ((Box) child.getUserObject()).value++;
        }
    }

    public static void main(String[] args) throws Exception {
        Thread thread = new Thread(() -> {
            try {
                work();
            } catch (NamingException exception) {
                throw new IllegalStateException(exception);
            }
        });
        thread.start();
        work();
        thread.join();
        System.out.println("done");
    }
}
