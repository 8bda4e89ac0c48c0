// Reflection shows the members that the source has: fields, methods, constructors, values, annotations.
import java.lang.reflect.Constructor;
import java.lang.reflect.Field;
import java.lang.reflect.Method;
import java.lang.reflect.Modifier;
import java.util.Arrays;
import java.util.TreeSet;

public class ReflectMembers {
    interface Shape {
        int SIDES = Integer.parseInt("3");

        default int sides() {
            return SIDES;
        }
    }

    public static class Base {
        public int open = 1;
        protected long wide = 2;
        private static String hidden = "h";

        public synchronized void touch() {
            open++;
            hidden += wide;
        }
    }

    public static class Derived extends Base implements Shape {
        public volatile int open = 5;
        private final transient int[] numbers = {1};

        @Deprecated
        public static synchronized int count() {
            return 1;
        }
    }

    static class Empty {
    }

    static void show(Class<?> type) throws IllegalAccessException {
        System.out.println(type + " " + Modifier.toString(type.getModifiers()));
        for (Field field : type.getDeclaredFields()) {
            System.out.println("  declares " + field.toGenericString() + " " + field.isSynthetic());
        }
        for (Field field : type.getFields()) {
            System.out.println("  has " + field);
        }
        TreeSet<String> members = new TreeSet<>();
        for (Method method : type.getDeclaredMethods()) {
            members.add(method.getName() + Arrays.toString(method.getParameterTypes())
                    + Arrays.toString(method.getDeclaredAnnotations()));
        }
        for (Constructor<?> constructor : type.getDeclaredConstructors()) {
            members.add(constructor.toGenericString());
        }
        System.out.println("  " + members);
    }

    public static void main(String[] args) throws Exception {
        show(Shape.class);
        show(Base.class);
        show(Derived.class);
        show(Empty.class);
        show(Class.forName("[I"));
        Derived derived = new Derived();
        Field open = Base.class.getField("open");
        open.setInt(derived, 8);
        System.out.println(open.getInt(derived) + " " + derived.open + " " + derived.sides());
        derived.touch();
        System.out.println(((Base) derived).open);
        try {
            Base.class.getDeclaredField("absent");
        } catch (NoSuchFieldException e) {
            System.out.println(e.getMessage());
        }
    }
}
