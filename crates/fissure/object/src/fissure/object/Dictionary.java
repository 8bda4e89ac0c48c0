package fissure.object;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/** Numbers results: equal results have equal numbers. */
final class Dictionary {
    private static final Object NULL = new Object();

    private final Map<Object, Integer> numbers = new HashMap<>();
    private final List<String> texts = new ArrayList<>();
    private int sent;

    synchronized int number(Object result) {
        Object key = result == null ? NULL : result;
        Integer number = numbers.get(key);
        if (number == null) {
            number = texts.size();
            numbers.put(key, number);
            texts.add(Values.text(result));
        }
        return number;
    }

    /** The texts of the numbers assigned since the last call. */
    synchronized List<String> news() {
        List<String> news = new ArrayList<>(texts.subList(sent, texts.size()));
        sent = texts.size();
        return news;
    }

    /** A view of the dictionary for one thread, which looks up known results without a lock. */
    static final class View {
        private final Dictionary dictionary;
        private Object[] keys = new Object[256];
        private int[] numbers = new int[256];
        private int used;
        private int ofNull = -1;

        View(Dictionary dictionary) {
            this.dictionary = dictionary;
        }

        int number(Object result) {
            if (result == null) {
                if (ofNull < 0) {
                    ofNull = dictionary.number(null);
                }
                return ofNull;
            }
            int mask = keys.length - 1;
            int hash = result.hashCode();
            int at = (hash ^ hash >>> 16) & mask;
            while (keys[at] != null) {
                if (keys[at] == result || keys[at].equals(result)) {
                    return numbers[at];
                }
                at = at + 1 & mask;
            }
            int number = dictionary.number(result);
            if (used * 2 > keys.length) {
                // With so many different results the cache is useless; clearing it does no harm.
                keys = new Object[256];
                numbers = new int[256];
                used = 0;
                return number;
            }
            keys[at] = result;
            numbers[at] = number;
            used++;
            return number;
        }
    }
}
