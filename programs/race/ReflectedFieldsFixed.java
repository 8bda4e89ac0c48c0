// The correct twin: reflective accesses hold a lock, or hand over by a volatile field as assignments would.
// fissure: detect --order happens-before
import java.lang.reflect.Field;

public class ReflectedFieldsFixed {
    private static long instances;
    private int count;
    private int payload;
    private volatile boolean ready;

    private static Field field(String name) {
        try {
            return ReflectedFieldsFixed.class.getDeclaredField(name);
        } catch (ReflectiveOperationException e) {
            throw new IllegalStateException(e);
        }
    }

    void produce() {
        try {
            synchronized (this) {
                field("count").setInt(this, 1 + (int) field("count").get(this));
                field("instances").set(null, 3L);
            }
            field("payload").setInt(this, 42);
            field("ready").setBoolean(this, true);
        } catch (ReflectiveOperationException e) {
            throw new IllegalStateException(e);
        }
    }

    void consume() {
        try {
            synchronized (this) {
                count++;
                instances++;
            }
            while (!field("ready").getBoolean(this)) {
                Thread.yield();
            }
            field("payload").setInt(this, 1 + field("payload").getInt(this));
        } catch (ReflectiveOperationException e) {
            throw new IllegalStateException(e);
        }
    }

    public static void main(String[] args) throws InterruptedException {
        ReflectedFieldsFixed object = new ReflectedFieldsFixed();
        Thread one = new Thread(object::produce);
        Thread two = new Thread(object::consume);
        one.start();
        two.start();
        one.join();
        two.join();
        System.out.println("done");
    }
}
