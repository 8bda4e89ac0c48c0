package java.lang;

import java.lang.reflect.Method;

/**
 * Makes controlled runs deterministic: random numbers of the operating system, and orders that depend on addresses, are the same in
 * every run.
 */
final class FissureChance {
    /** The generator states for the program's threads and for all other threads. */
    private static long own;
    private static long foreign = 1L << 62;

    private FissureChance() {}

    /** Gives the program's threads the first random numbers again. */
    static void restart() {
        own = 0L;
    }

    /** Fills an array with the next numbers of the generator SplitMix64. */
    static void fill(byte[] bytes) {
        boolean isOwn = Thread.currentThread().fissureControl > 0L;
        long state = isOwn ? own : foreign;
        long number = 0L;
        for (int i = 0; i < bytes.length; i++) {
            if ((i & 7) == 0) {
                state += 0x9e3779b97f4a7c15L;
                number = (state ^ (state >>> 30)) * 0xbf58476d1ce4e5b9L;
                number = (number ^ (number >>> 27)) * 0x94d049bb133111ebL;
                number ^= number >>> 31;
            }
            bytes[i] = (byte) number;
            number >>>= 8;
        }
        if (isOwn) {
            own = state;
        } else {
            foreign = state;
        }
    }

    /** Sorts methods by name, parameters and result. Insertion sort, because most classes have few methods and it loads no other class. */
    static Method[] ordered(Method[] methods) {
        for (int i = 1; i < methods.length; i++) {
            Method method = methods[i];
            int at = i;
            while (at > 0 && compare(methods[at - 1], method) > 0) {
                methods[at] = methods[at - 1];
                at--;
            }
            methods[at] = method;
        }
        return methods;
    }

    private static int compare(Method left, Method right) {
        int order = left.getName().compareTo(right.getName());
        return order != 0 ? order : describe(left).compareTo(describe(right));
    }

    private static String describe(Method method) {
        StringBuilder text = new StringBuilder();
        for (Class<?> parameter : method.getParameterTypes()) {
            text.append(parameter.getName()).append(',');
        }
        return text.append(method.getReturnType().getName()).toString();
    }
}
