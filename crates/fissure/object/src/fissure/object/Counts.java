package fissure.object;

import java.util.Arrays;

/** Counts how often each outcome occurred, for one thread; counting a known outcome allocates nothing. */
final class Counts {
    /** At most this many different outcomes are counted separately. */
    private static final int MOST = 1024;
    private static final int SLOTS = 4 * MOST;

    private final int width;
    private final int[][] atomic;
    private final int[] rows;
    private final long[] counts = new long[MOST];
    private final int[] slots = new int[SLOTS];
    private int used;
    private int last = -1;
    long beyond;
    /** Whether an outcome occurred that is not atomic. */
    boolean violated;

    Counts(int width, int[][] atomic) {
        this.width = width;
        this.atomic = atomic;
        this.rows = new int[MOST * width];
    }

    void add(int[] row) {
        if (last >= 0 && same(last, row)) {
            counts[last]++;
            return;
        }
        int hash = 0;
        for (int number : row) {
            hash = hash * 0x9E3779B1 + number;
        }
        int at = (hash ^ hash >>> 15) & SLOTS - 1;
        while (slots[at] != 0) {
            if (same(slots[at] - 1, row)) {
                last = slots[at] - 1;
                counts[last]++;
                return;
            }
            at = at + 1 & SLOTS - 1;
        }
        if (used == MOST) {
            beyond++;
            return;
        }
        System.arraycopy(row, 0, rows, used * width, width);
        slots[at] = used + 1;
        counts[used] = 1;
        last = used++;
        for (int[] known : atomic) {
            if (Arrays.equals(known, row)) {
                return;
            }
        }
        violated = true;
    }

    private boolean same(int number, int[] row) {
        int start = number * width;
        for (int at = 0; at < width; at++) {
            if (rows[start + at] != row[at]) {
                return false;
            }
        }
        return true;
    }

    int size() {
        return used;
    }

    int[] row(int number) {
        return Arrays.copyOfRange(rows, number * width, (number + 1) * width);
    }

    long count(int number) {
        return counts[number];
    }

    /** Adds the counts of another thread. */
    void merge(Counts other) {
        for (int number = 0; number < other.used; number++) {
            add(other.row(number));
            if (last >= 0 && same(last, other.row(number))) {
                counts[last] += other.counts[number] - 1;
            }
        }
        beyond += other.beyond;
        violated |= other.violated;
    }
}
