package java.lang;

/** The objects in which controlled threads wait; places without one are free. */
final class FissureWaits {
    private static final Object GUARD = new Object();
    private static Object[] objects = new Object[16];

    private FissureWaits() {}

    /** Notes that the current thread waits in an object; gives the place of the note. */
    static int add(Object object) {
        synchronized (GUARD) {
            int place = 0;
            while (place < objects.length && objects[place] != null) {
                place++;
            }
            if (place == objects.length) {
                Object[] grown = new Object[2 * place];
                System.arraycopy(objects, 0, grown, 0, place);
                objects = grown;
            }
            objects[place] = object;
            return place;
        }
    }

    static void remove(int place) {
        synchronized (GUARD) {
            objects[place] = null;
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
