package fissure.object;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collection;
import java.util.Deque;
import java.util.Enumeration;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import java.util.Queue;
import java.util.Set;
import java.util.SortedMap;
import java.util.SortedSet;
import java.util.Spliterator;
import java.util.stream.BaseStream;

/**
 * Makes results comparable, immediately and in the thread that got them, because a live view may change later.
 *
 * <p>Equal results stay equal, and results whose equality cannot be decided are treated as equal: that may miss bugs, but never
 * reports a false one.
 */
public final class Values {
    /** The result of a method without a result. */
    public static final Object VOID = new Constant("()");

    private static final Object SELF = new Constant("this");

    /** At most this many items are compared; harnesses add far fewer. */
    static final int MOST = 64;

    /** Objects nested deeper than this are compared by class only. */
    private static final int DEPTH = 4;

    /** Whether a class overrides {@code toString}. */
    private static final ClassValue<Boolean> HAS_TEXT = new ClassValue<>() {
        @Override
        protected Boolean computeValue(Class<?> type) {
            try {
                return type.getMethod("toString").getDeclaringClass() != Object.class;
            } catch (NoSuchMethodException error) {
                return false;
            }
        }
    };

    private Values() {}

    /** The result of an operation on the target, in a form that can be compared later. */
    public static Object keep(Object result, Object target) {
        if (result == null || result instanceof Integer || result instanceof Boolean || result instanceof String) {
            return result;
        }
        if (result == target) {
            return SELF;
        }
        return snapshot(result, isUnordered(target), 0);
    }

    /** A result together with the values that were seen in its call. */
    static Object with(Object result, Object[] seen, int size, Object target) {
        if (size == 0) {
            return result;
        }
        boolean unordered = isUnordered(target);
        Object[] items = new Object[size];
        for (int at = 0; at < size; at++) {
            items[at] = snapshot(seen[at], unordered, 1);
        }
        Object all = unordered ? Snapshot.unordered(items) : Snapshot.ordered(items);
        return result == VOID ? all : Snapshot.ordered(new Object[] {result, all});
    }

    /** An exception of an operation as its result. Errors of the JVM itself are rethrown, because they do not depend on the object. */
    public static Object thrown(Throwable throwable) {
        if (throwable instanceof VirtualMachineError && !(throwable instanceof StackOverflowError)) {
            throw (VirtualMachineError) throwable;
        }
        return Thrown.of(throwable);
    }

    /** A result as text. */
    static String text(Object result) {
        if (result instanceof String) {
            return '"' + (String) result + '"';
        }
        if (result instanceof Enum) {
            return ((Enum<?>) result).name();
        }
        return String.valueOf(result);
    }

    private static boolean isUnordered(Object target) {
        return target instanceof Map && !(target instanceof SortedMap)
                || target instanceof Set && !(target instanceof SortedSet);
    }

    private static Object snapshot(Object result, boolean unordered, int depth) {
        if (result == null || result instanceof String || result instanceof Enum || isImmutableNumber(result)) {
            return result;
        }
        if (depth == DEPTH) {
            return Opaque.of(result.getClass());
        }
        if (result instanceof Map.Entry) {
            Map.Entry<?, ?> entry = (Map.Entry<?, ?>) result;
            Object key = snapshot(entry.getKey(), unordered, depth + 1);
            return Snapshot.entry(key, snapshot(entry.getValue(), unordered, depth + 1));
        }
        if (result instanceof Map) {
            Iterator<?> entries = ((Map<?, ?>) result).entrySet().iterator();
            return Snapshot.map(items(entries, unordered, depth), result instanceof SortedMap);
        }
        if (result instanceof Collection) {
            boolean isOrdered = result instanceof List || result instanceof Queue || result instanceof Deque
                    || result instanceof SortedSet || !(result instanceof Set) && !unordered;
            return sequence(((Collection<?>) result).iterator(), !isOrdered, unordered, depth);
        }
        if (result instanceof Iterator) {
            return sequence((Iterator<?>) result, unordered, unordered, depth);
        }
        if (result instanceof Enumeration) {
            return sequence(((Enumeration<?>) result).asIterator(), unordered, unordered, depth);
        }
        if (result instanceof BaseStream) {
            return sequence(((BaseStream<?, ?>) result).iterator(), unordered, unordered, depth);
        }
        if (result instanceof Spliterator) {
            List<Object> items = new ArrayList<>();
            Spliterator<?> rest = (Spliterator<?>) result;
            while (items.size() < MOST && rest.tryAdvance(items::add)) {
                continue;
            }
            return sequence(items.iterator(), unordered, unordered, depth);
        }
        if (result instanceof Object[]) {
            return sequence(Arrays.asList((Object[]) result).iterator(), unordered, unordered, depth);
        }
        if (result.getClass().isArray()) {
            int length = Math.min(MOST, java.lang.reflect.Array.getLength(result));
            Object[] items = new Object[length];
            Arrays.setAll(items, at -> java.lang.reflect.Array.get(result, at));
            return Snapshot.ordered(items);
        }
        if (result instanceof Class) {
            return ((Class<?>) result).getName();
        }
        if (result instanceof Throwable) {
            return Thrown.of((Throwable) result);
        }
        if (HAS_TEXT.get(result.getClass())) {
            return result.toString();
        }
        return Opaque.of(result.getClass());
    }

    private static boolean isImmutableNumber(Object result) {
        return result instanceof Integer || result instanceof Boolean || result instanceof Long
                || result instanceof Double || result instanceof Character || result instanceof Float
                || result instanceof Short || result instanceof Byte;
    }

    private static Object sequence(Iterator<?> iterator, boolean sort, boolean unordered, int depth) {
        Object[] items = items(iterator, unordered, depth);
        return sort ? Snapshot.unordered(items) : Snapshot.ordered(items);
    }

    private static Object[] items(Iterator<?> iterator, boolean unordered, int depth) {
        Object[] items = new Object[8];
        int size = 0;
        while (size < MOST && iterator.hasNext()) {
            if (size == items.length) {
                items = Arrays.copyOf(items, 2 * size);
            }
            items[size++] = snapshot(iterator.next(), unordered, depth + 1);
        }
        return Arrays.copyOf(items, size);
    }

    /** A result that is represented by its text only. */
    private static final class Constant {
        private final String text;

        Constant(String text) {
            this.text = text;
        }

        @Override
        public String toString() {
            return text;
        }
    }

    /** An object that is represented by its class only. */
    private static final class Opaque {
        private static final ClassValue<Constant> ALL = new ClassValue<>() {
            @Override
            protected Constant computeValue(Class<?> type) {
                return new Constant("a " + Snapshot.nameOf(type));
            }
        };

        static Object of(Class<?> type) {
            return ALL.get(type);
        }
    }
}
