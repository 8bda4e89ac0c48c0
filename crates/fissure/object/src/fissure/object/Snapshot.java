package fissure.object;

import java.util.Arrays;

/** The content of a collection, map, array or iterator when it was returned. */
final class Snapshot {
    private final char open;
    private final char close;
    private final Object[] items;
    private final int hash;

    /** Items whose order is significant. */
    static Snapshot ordered(Object[] items) {
        return new Snapshot('[', ']', items);
    }

    /** Items whose order is insignificant: they are sorted, so that equal contents compare equal. */
    static Snapshot unordered(Object[] items) {
        sort(items);
        return new Snapshot('[', ']', items);
    }

    /** The entries of a map. */
    static Snapshot map(Object[] entries, boolean sorted) {
        if (!sorted) {
            sort(entries);
        }
        return new Snapshot('{', '}', entries);
    }

    /** One entry. */
    static Snapshot entry(Object key, Object value) {
        return new Snapshot('=', '=', new Object[] {key, value});
    }

    private Snapshot(char open, char close, Object[] items) {
        this.open = open;
        this.close = close;
        this.items = items;
        this.hash = Arrays.hashCode(items) * 31 + open;
    }

    /** A class's name without its package. */
    static String nameOf(Class<?> type) {
        String name = type.getName();
        return name.substring(name.lastIndexOf('.') + 1);
    }

    private static void sort(Object[] items) {
        for (int next = 1; next < items.length; next++) {
            Object item = items[next];
            int at = next;
            while (at > 0 && compare(items[at - 1], item) > 0) {
                items[at] = items[at - 1];
                at--;
            }
            items[at] = item;
        }
    }

    private static int compare(Object one, Object other) {
        if (one instanceof Integer && other instanceof Integer) {
            return Integer.compare((Integer) one, (Integer) other);
        }
        return String.valueOf(one).compareTo(String.valueOf(other));
    }

    @Override
    public boolean equals(Object other) {
        return other instanceof Snapshot && ((Snapshot) other).open == open
                && Arrays.equals(((Snapshot) other).items, items);
    }

    @Override
    public int hashCode() {
        return hash;
    }

    @Override
    public String toString() {
        if (open == '=') {
            return Values.text(items[0]) + "=" + Values.text(items[1]);
        }
        StringBuilder text = new StringBuilder().append(open);
        for (int at = 0; at < items.length; at++) {
            text.append(at > 0 ? "," : "").append(Values.text(items[at]));
        }
        return text.append(close).toString();
    }
}
