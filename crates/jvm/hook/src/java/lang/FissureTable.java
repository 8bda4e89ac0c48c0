package java.lang;

import java.lang.ref.ReferenceQueue;
import java.lang.ref.WeakReference;

/**
 * A weak identity hash table. Lookups take no lock; additions do, and callers repeat the lookup under {@link #guard} before they add,
 * because a lookup may miss an entry while the table is rebuilt.
 */
final class FissureTable {
    static class Entry extends WeakReference<Object> {
        private final int hash;
        private volatile Entry next;

        Entry(Object object) {
            this(object, null);
        }

        /** An entry that goes into a queue once the object was collected. */
        Entry(Object object, ReferenceQueue<Object> queue) {
            super(object, queue);
            this.hash = System.identityHashCode(object);
        }

        /** The object was collected, and the table forgets the entry. */
        void dropped() {}
    }

    /** An entry with a number. */
    static final class Numbered extends Entry {
        final int number;
        /** For a lock: whether it is a semaphore with one permit. */
        boolean isPermit;

        Numbered(Object object, int number) {
            super(object);
            this.number = number;
        }
    }

    final Object guard = new Object();
    private volatile Entry[] slots = new Entry[256];
    private int count;

    Entry find(Object object) {
        int hash = System.identityHashCode(object);
        Entry[] slots = this.slots;
        Entry entry = slots[hash & (slots.length - 1)];
        while (entry != null && (entry.hash != hash || entry.get() != object)) {
            entry = entry.next;
        }
        return entry;
    }

    /** Removes all entries. */
    void clear() {
        synchronized (guard) {
            slots = new Entry[256];
            count = 0;
        }
    }

    void add(Entry entry) {
        if (count >= slots.length) {
            rebuild();
        }
        link(slots, entry);
        count++;
    }

    private void link(Entry[] slots, Entry entry) {
        int slot = entry.hash & (slots.length - 1);
        entry.next = slots[slot];
        FissureEngine.U.storeFence();
        slots[slot] = entry;
    }

    /** Drops the entries of collected objects, and grows the table if more than half of its capacity is still in use. */
    private void rebuild() {
        Entry[] old = slots;
        int alive = 0;
        for (int i = 0; i < old.length; i++) {
            for (Entry entry = old[i]; entry != null; entry = entry.next) {
                if (entry.get() != null) {
                    alive++;
                }
            }
        }
        Entry[] fresh = new Entry[alive > old.length / 2 ? old.length * 2 : old.length];
        int kept = 0;
        for (int i = 0; i < old.length; i++) {
            Entry entry = old[i];
            while (entry != null) {
                Entry following = entry.next;
                if (entry.get() != null) {
                    link(fresh, entry);
                    kept++;
                } else {
                    entry.dropped();
                }
                entry = following;
            }
        }
        count = kept;
        slots = fresh;
    }
}
