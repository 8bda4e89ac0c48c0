// The exceptions of the JVM's own checks and their messages are unchanged: null references at fields,
// arrays, monitors and calls, indices, stores of the wrong kind, sizes, casts, division.
public class Faults {
    private int number;
    private long wide;
    private Faults next;
    private int[] numbers = {1, 2};

    interface Action {
        Object run();
    }

    static void attempt(Action action) {
        try {
            System.out.println("no exception: " + action.run());
        } catch (RuntimeException e) {
            System.out.println(e.getClass().getName() + ": " + e.getMessage());
            System.out.println("  " + e.getStackTrace()[0]);
        }
    }

    static Object lock(Object lock) {
        synchronized (lock) {
            return "locked";
        }
    }

    public static void main(String[] args) {
        Faults whole = new Faults();
        Object[] strings = new String[1];
        int[] none = null;
        long[] noLongs = null;
        Object text = "text";
        attempt(() -> whole.next.number);
        attempt(() -> whole.next.number = 1);
        attempt(() -> whole.next.wide++);
        attempt(() -> whole.next.next.numbers[0]);
        attempt(() -> none[0]);
        attempt(() -> noLongs[1] = 2L);
        attempt(() -> none.length);
        attempt(() -> whole.numbers[2]);
        attempt(() -> whole.numbers[-1] = 5);
        attempt(() -> strings[0] = 1);
        attempt(() -> strings[1] = "x");
        attempt(() -> new int[whole.numbers[0] - 2]);
        attempt(() -> (Integer) text);
        attempt(() -> whole.numbers[0] / whole.number);
        attempt(() -> lock(null));
        attempt(() -> whole.next.toString());
    }
}
