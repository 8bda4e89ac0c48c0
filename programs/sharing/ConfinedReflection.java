// No object is shared by looking up methods, classes and services, printing fields by reflection, weak references and digests.
// fissure: static-fields 2
import java.lang.ref.WeakReference;
import java.lang.reflect.Field;
import java.lang.reflect.Method;
import java.security.MessageDigest;
import java.util.ServiceLoader;

public class ConfinedReflection {
    public interface Plugin {
        int version();
    }

    static class Counter {
        int count;
        int sum;

        void add(int value) {
            count++;
            sum += value;
        }
    }

    // These two fields are read by reflection, which counts as a read by any thread.
    static class Point {
        int x;
        int y;

        @Override
        public String toString() {
            StringBuilder text = new StringBuilder(getClass().getSimpleName());
            try {
                for (Field field : Point.class.getDeclaredFields()) {
                    text.append(field.getName()).append(field.get(this));
                }
            } catch (IllegalAccessException exception) {
                text.append('?');
            }
            return text.toString();
        }
    }

    static boolean hasLogging() {
        try {
            Class.forName("org.slf4j.Logger");
            return true;
        } catch (ClassNotFoundException exception) {
            return false;
        }
    }

    static void work() {
        Counter counter = new Counter();
        counter.add(hasLogging() ? 1 : 2);
        for (Method method : Counter.class.getDeclaredMethods()) {
            counter.add(method.getName().length());
        }
        for (Plugin plugin : ServiceLoader.load(Plugin.class)) {
            counter.add(plugin.version());
        }
        WeakReference<Counter> weak = new WeakReference<>(counter);
        weak.get().add(1);
        Point point = new Point();
        point.x = counter.sum;
        point.y = counter.count;
        String.valueOf(point);
    }

    public static void main(String[] args) throws Exception {
        MessageDigest.getInstance("SHA-256").digest(new byte[3]);
        Thread thread = new Thread(ConfinedReflection::work);
        thread.start();
        work();
        thread.join();
        System.out.println("done");
    }
}
