package java.lang;

/** The objects on which controlled threads wait; null entries are free. */
final class FissureWaits {
    private static final Object GUARD = new Object();
    private static Object[] objects = new Object[16];

    private FissureWaits() {}

    /** Forgets all objects. */
    static void clear() {
        synchronized (GUARD) {
            objects = new Object[16];
        }
    }

    /** Records that the current thread waits on an object; returns the index of the entry. */
    static int add(Object object) {
        synchronized (GUARD) {
            int index = 0;
            while (index < objects.length && objects[index] != null) {
                index++;
            }
            if (index == objects.length) {
                Object[] grown = new Object[2 * index];
                System.arraycopy(objects, 0, grown, 0, index);
                objects = grown;
            }
            objects[index] = object;
            return index;
        }
    }

    static void remove(int index) {
        synchronized (GUARD) {
            objects[index] = null;
        }
    }

    static boolean has(Object object) {
        synchronized (GUARD) {
            for (int i = 0; i < objects.length; i++) {
                if (objects[i] == object) {
                    return true;
                }
            }
            return false;
        }
    }
}
