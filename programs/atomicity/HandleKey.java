// A variable handle sets the key of a node in its constructor, and later without the lock, so that two reads under the lock may differ.
// fissure: must-find atomizer atomicity-violation HandleKey$Node.describe
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.util.concurrent.ArrayBlockingQueue;
import java.util.concurrent.BlockingQueue;

public class HandleKey {
    static final class Node {
        private static final VarHandle KEY;

        static {
            try {
                KEY = MethodHandles.lookup().findVarHandle(Node.class, "key", String.class);
            } catch (ReflectiveOperationException e) {
                throw new ExceptionInInitializerError(e);
            }
        }

        private volatile String key;

        Node(String key) {
            KEY.set(this, key);
        }

        private String key() {
            return (String) KEY.get(this);
        }

        synchronized String describe() {
            return key() + key().length();
        }

        void retire() {
            KEY.set(this, "");
        }
    }

    private static Node take(BlockingQueue<Node> nodes) {
        try {
            return nodes.take();
        } catch (InterruptedException e) {
            throw new IllegalStateException(e);
        }
    }

    public static void main(String[] args) throws InterruptedException {
        BlockingQueue<Node> described = new ArrayBlockingQueue<>(1);
        BlockingQueue<Node> retired = new ArrayBlockingQueue<>(1);
        Thread maker = new Thread(() -> {
            Node node = new Node("a");
            described.add(node);
            retired.add(node);
        });
        Thread reader = new Thread(() -> take(described).describe());
        Thread writer = new Thread(() -> take(retired).retire());
        maker.start();
        reader.start();
        writer.start();
        maker.join();
        reader.join();
        writer.join();
        System.out.println("done");
    }
}
