package java.lang;

import java.lang.reflect.Method;

/**
 * Takes chance out of controlled runs: what would come from the system's source of random numbers, and orders that follow from
 * addresses, are the same in every run.
 */
final class FissureChance {
    /** Where the numbers of the program's own threads stand, and those of all others. */
    private static long own;
    private static long foreign = 1L << 62;

    private FissureChance() {}

    /** Fills an array with the next numbers of the well-known generator SplitMix64. */
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

    /** Sorts methods by name, parameters and result. Insertion, for most classes have few, and nothing else is loaded for it. */
    static Method[] ordered(Method[] methods) {
        for (int i = 1; i < methods.length; i++) {
            Method method = methods[i];
            int place = i;
            while (place > 0 && compare(methods[place - 1], method) > 0) {
                methods[place] = methods[place - 1];
                place--;
            }
            methods[place] = method;
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
