// Accesses to fields and array elements by reflection, as mappers and serializers do, race with each other and with assignments.
// fissure: must-find racer data-race ReflectedFields.count
// fissure: must-find racer data-race ReflectedFields.label
// fissure: must-find racer data-race ReflectedFields.instances
// fissure: must-find racer data-race ReflectedFields.values
// fissure: must-find eraser data-race ReflectedFields.count
// fissure: may-find eraser data-race ReflectedFields.label
// fissure: may-find eraser data-race ReflectedFields.instances
// fissure: must-find eraser data-race ReflectedFields.values
// fissure: must-not-find-ordered ReflectedFields.ready
// fissure: must-not-find-ordered ReflectedFields.name
import java.lang.reflect.Array;
import java.lang.reflect.Field;

public class ReflectedFields {
    private static long instances;
    private final String name = "fixed";
    private int count;
    private String label;
    private volatile boolean ready;
    private final double[] values = new double[4];

    private static Field field(String name) {
        try {
            return ReflectedFields.class.getDeclaredField(name);
        } catch (ReflectiveOperationException e) {
            throw new IllegalStateException(e);
        }
    }

    /** Reads every field, of whatever type. */
    void visit() {
        try {
            for (Field field : ReflectedFields.class.getDeclaredFields()) {
                field.get(this);
            }
            field("count").setInt(this, 1 + (int) field("count").get(this));
            Array.setDouble(values, 1, Array.getDouble(values, 0));
        } catch (ReflectiveOperationException e) {
            throw new IllegalStateException(e);
        }
    }

    void change() {
        try {
            field("count").set(this, 3);
            field("ready").setBoolean(this, true);
        } catch (ReflectiveOperationException e) {
            throw new IllegalStateException(e);
        }
        label = "changed";
        instances++;
        values[1] = 2.0;
    }

    public static void main(String[] args) throws InterruptedException {
        ReflectedFields object = new ReflectedFields();
        Thread one = new Thread(object::visit);
        Thread two = new Thread(object::change);
        one.start();
        two.start();
        one.join();
        two.join();
        System.out.println("done");
    }
}
