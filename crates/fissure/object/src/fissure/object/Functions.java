package fissure.object;

import java.lang.reflect.InvocationHandler;
import java.lang.reflect.Method;
import java.lang.reflect.Modifier;
import java.lang.reflect.Proxy;
import java.util.Comparator;
import java.util.concurrent.Callable;
import java.util.function.BiConsumer;
import java.util.function.BiFunction;
import java.util.function.BiPredicate;
import java.util.function.BinaryOperator;
import java.util.function.Consumer;
import java.util.function.Function;
import java.util.function.IntBinaryOperator;
import java.util.function.IntUnaryOperator;
import java.util.function.LongBinaryOperator;
import java.util.function.LongUnaryOperator;
import java.util.function.Predicate;
import java.util.function.Supplier;
import java.util.function.UnaryOperator;

/**
 * The functions that are passed to methods under test: a few named, deterministic ones. The arguments that a method passes to a
 * function without a result, and the values that it writes into an array argument, are part of the call's result.
 */
public final class Functions {
    /** The values that the current call of a thread has passed to functions, and its array arguments. */
    private static final ThreadLocal<Seen> SEEN = ThreadLocal.withInitial(Seen::new);

    /** A list that behaves the same in every execution: a list of the JDK would grow only in the first one. */
    private static final class Seen {
        final Object[] items = new Object[Values.MOST];
        int size;

        void add(Object item) {
            if (size < items.length) {
                items[size++] = item;
            }
        }
    }

    private Functions() {}

    /** Begins a call that gets functions or arrays. */
    public static void begin() {
        SEEN.get().size = 0;
    }

    /** A copy of an array argument for this call only. */
    public static Object copy(Object array) {
        int length = java.lang.reflect.Array.getLength(array);
        Object copy = java.lang.reflect.Array.newInstance(array.getClass().getComponentType(), length);
        System.arraycopy(array, 0, copy, 0, length);
        SEEN.get().add(copy);
        return copy;
    }

    /** The result of a call together with the values seen in it. */
    public static Object end(Object result, Object target) {
        Seen seen = SEEN.get();
        return Values.with(result, seen.items, seen.size, target);
    }

    /** The kind of a function: its number of parameters and its result; null if the interface is not functional or not supported. */
    static String kind(Class<?> type, String answer) {
        Method only = only(type);
        if (only == null || only.getParameterCount() > 3) {
            return null;
        }
        Class<?> returns = only.getReturnType();
        String letter = answer;
        if (returns == void.class) {
            letter = "V";
        } else if (returns == boolean.class) {
            letter = "Z";
        } else if (type == Comparator.class) {
            letter = "C";
        } else if (returns.isPrimitive()) {
            letter = returns == char.class ? null : "N";
        }
        return letter == null ? null : "X" + only.getParameterCount() + letter + type.getName();
    }

    /** The only abstract method of an interface; null if there are none or several. */
    static Method only(Class<?> type) {
        Method only = null;
        for (Method method : type.isInterface() ? type.getMethods() : new Method[0]) {
            boolean fromObject = method.getName().equals("equals") || method.getName().equals("hashCode")
                    || method.getName().equals("toString");
            if (Modifier.isAbstract(method.getModifiers()) && !fromObject) {
                if (only != null) {
                    return null;
                }
                only = method;
            }
        }
        return only;
    }

    /** Creates the named function as an instance of a functional interface. */
    static Object make(Class<?> type, String name) {
        switch (type.getName()) {
            case "java.lang.Runnable":
                return (Runnable) () -> apply(name);
            case "java.util.concurrent.Callable":
                return (Callable<Object>) () -> apply(name);
            case "java.util.function.Supplier":
                return (Supplier<Object>) () -> apply(name);
            case "java.util.function.Function":
                return (Function<Object, Object>) one -> apply(name, one);
            case "java.util.function.UnaryOperator":
                return (UnaryOperator<Object>) one -> apply(name, one);
            case "java.util.function.BiFunction":
                return (BiFunction<Object, Object, Object>) (one, other) -> apply(name, one, other);
            case "java.util.function.BinaryOperator":
                return (BinaryOperator<Object>) (one, other) -> apply(name, one, other);
            case "java.util.function.Predicate":
                return (Predicate<Object>) one -> (Boolean) apply(name, one);
            case "java.util.function.BiPredicate":
                return (BiPredicate<Object, Object>) (one, other) -> (Boolean) apply(name, one, other);
            case "java.util.function.Consumer":
                return (Consumer<Object>) one -> apply(name, one);
            case "java.util.function.BiConsumer":
                return (BiConsumer<Object, Object>) (one, other) -> apply(name, one, other);
            case "java.util.function.IntUnaryOperator":
                return (IntUnaryOperator) one -> ((Number) apply(name, one)).intValue();
            case "java.util.function.IntBinaryOperator":
                return (IntBinaryOperator) (one, other) -> ((Number) apply(name, one, other)).intValue();
            case "java.util.function.LongUnaryOperator":
                return (LongUnaryOperator) one -> ((Number) apply(name, one)).longValue();
            case "java.util.function.LongBinaryOperator":
                return (LongBinaryOperator) (one, other) -> ((Number) apply(name, one, other)).longValue();
            case "java.util.Comparator":
                return (Comparator<Object>) (one, other) -> ((Number) apply(name, one, other)).intValue();
            default:
                return proxy(type, name);
        }
    }

    private static Object proxy(Class<?> type, String name) {
        ClassLoader loader = type.getClassLoader();
        InvocationHandler handler = (proxy, method, arguments) -> {
            if (method.getDeclaringClass() == Object.class) {
                return method.getName().equals("equals") ? (Object) (proxy == arguments[0])
                        : method.getName().equals("hashCode") ? (Object) name.hashCode() : name;
            }
            if (!Modifier.isAbstract(method.getModifiers())) {
                throw new UnsupportedOperationException(method.getName());
            }
            Object answer = apply(name, arguments == null ? new Object[0] : arguments);
            return answer instanceof Number ? number((Number) answer, method.getReturnType()) : answer;
        };
        return Proxy.newProxyInstance(
                loader == null ? Functions.class.getClassLoader() : loader, new Class<?>[] {type}, handler);
    }

    static Object number(Number number, Class<?> type) {
        if (type == long.class) {
            return number.longValue();
        }
        if (type == double.class) {
            return number.doubleValue();
        }
        if (type == float.class) {
            return number.floatValue();
        }
        if (type == short.class) {
            return number.shortValue();
        }
        return type == byte.class ? (Object) number.byteValue() : (Object) number.intValue();
    }

    private static Object apply(String name, Object... arguments) {
        switch (name) {
            case "one":
                return 1;
            case "none":
                return null;
            case "a":
                return "a";
            case "yes":
                return true;
            case "zero":
                return sum(arguments) == 0;
            case "increment":
            case "plus":
                return sum(arguments) + ("increment".equals(name) ? 1 : 0);
            case "natural":
                return Integer.compare(sum(arguments[0]), sum(arguments[1]));
            default:
                SEEN.get().add(arguments.length == 1 ? arguments[0] : arguments.clone());
                return null;
        }
    }

    private static int sum(Object... arguments) {
        int sum = 0;
        for (Object argument : arguments) {
            sum += argument instanceof Number ? ((Number) argument).intValue() : 0;
        }
        return sum;
    }
}
