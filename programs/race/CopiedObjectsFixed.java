// Correct: four threads copy a shared object, which no thread changes, in all possible ways and write only to their copies. A
// copy is a new object and does not inherit the access history of the original.
import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.ObjectInputStream;
import java.io.ObjectOutputStream;
import java.io.Serializable;
import java.util.ArrayList;

public class CopiedObjectsFixed {
    static class Page implements Cloneable, Serializable {
        private static final long serialVersionUID = 1L;
        int number;
        long size;
        Object owner = "none";

        @Override
        public Page clone() {
            try {
                return (Page) super.clone();
            } catch (CloneNotSupportedException e) {
                throw new AssertionError(e);
            }
        }
    }

    static class Leaf extends Page {
        private static final long serialVersionUID = 1L;
        int entries;
    }

    /** Inherits clone from Object; the call names this class. */
    static class Plain implements Cloneable {
        int value;

        Plain copy() {
            try {
                return (Plain) this.clone();
            } catch (CloneNotSupportedException e) {
                throw new AssertionError(e);
            }
        }
    }

    /** The JDK's code calls Object.clone for it. */
    static class Names extends ArrayList<String> {
        private static final long serialVersionUID = 1L;
        int changes;
    }

    private static Leaf leaf;
    private static Plain plain;
    private static Names names;

    private static Leaf deserialized() throws Exception {
        ByteArrayOutputStream bytes = new ByteArrayOutputStream();
        ObjectOutputStream out = new ObjectOutputStream(bytes);
        out.writeObject(leaf);
        out.flush();
        return (Leaf) new ObjectInputStream(new ByteArrayInputStream(bytes.toByteArray())).readObject();
    }

    private static void change(Leaf copy) {
        copy.number++;
        copy.size += copy.number;
        copy.owner = Thread.currentThread();
        copy.entries++;
    }

    private static void work() {
        try {
            for (int i = 0; i < 50; i++) {
                change((Leaf) leaf.clone());
                plain.copy().value++;
                Names copy = (Names) names.clone();
                copy.changes++;
                int[] array = leaf.entries > 0 ? null : new int[] {1, 2};
                array.clone()[0]++;
            }
            change(deserialized());
            change(Leaf.class.getDeclaredConstructor().newInstance());
        } catch (Exception e) {
            throw new AssertionError(e);
        }
    }

    public static void main(String[] args) throws InterruptedException {
        leaf = new Leaf();
        leaf.number = 1;
        plain = new Plain();
        plain.value = 1;
        names = new Names();
        names.changes = 1;
        Thread[] threads = new Thread[4];
        for (int i = 0; i < threads.length; i++) {
            threads[i] = new Thread(CopiedObjectsFixed::work);
            threads[i].start();
        }
        for (Thread thread : threads) {
            thread.join();
        }
        System.out.println("done");
    }
}
