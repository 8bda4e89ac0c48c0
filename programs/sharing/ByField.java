// Fields are read by reflection; the reflective read of a static field can also run the initializer of its class.
// fissure: must-find racer data-race ByField$Box.value
import java.lang.reflect.Field;

public class ByField {
    static class Box {
        int value;

        void use() {
            value++;
        }
    }

    static class Twice extends Box {
        @Override
        void use() {
            value++;
            Log.last.value++;
        }
    }

    static class Log {
        static Box last = new Box();
    }

    static class Holder {
        static Box first = new Twice();
        Box own = new Box();
    }

    static Object kept;

    static Field field(String name) throws ReflectiveOperationException {
        Field field = Holder.class.getDeclaredField(name);
        field.setAccessible(true);
        return field;
    }

    public static void main(String[] args) throws Exception {
        Holder holder = new Holder();
        Box last = Log.last;
        kept = field("own").get(holder);
        Thread thread = new Thread(() -> {
            try {
                ((Box) kept).value++;
                ((Box) field("first").get(null)).use();
            } catch (ReflectiveOperationException exception) {
                throw new IllegalStateException(exception);
            }
        });
        thread.start();
        holder.own.value++;
        last.value++;
        thread.join();
        System.out.println("done");
    }
}
