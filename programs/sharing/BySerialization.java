// Deserialization calls readResolve, in which the object passes itself to a new thread.
// fissure: must-find racer data-race BySerialization$Box.value
import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.ObjectInputStream;
import java.io.ObjectOutputStream;
import java.io.Serializable;

public class BySerialization {
    static class Box implements Serializable {
        private static final long serialVersionUID = 1;
        int value;
        transient Thread thread;

        private Object readResolve() {
            thread = new Thread(() -> value++);
            thread.start();
            return this;
        }
    }

    public static void main(String[] args) throws Exception {
        ByteArrayOutputStream bytes = new ByteArrayOutputStream();
        try (ObjectOutputStream out = new ObjectOutputStream(bytes)) {
            out.writeObject(new Box());
        }
        try (ObjectInputStream in = new ObjectInputStream(new ByteArrayInputStream(bytes.toByteArray()))) {
            Box box = (Box) in.readObject();
            box.value++;
            box.thread.join();
        }
        System.out.println("done");
    }
}
