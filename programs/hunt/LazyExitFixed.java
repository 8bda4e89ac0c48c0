// The correct twin of LazyExit: one lock covers the check and the assignment.
public class LazyExitFixed {
    private static LazyExitFixed instance;

    private static synchronized LazyExitFixed read() {
        return instance;
    }

    private static synchronized void write(LazyExitFixed made) {
        instance = made;
    }

    static synchronized LazyExitFixed get() {
        LazyExitFixed known = read();
        if (known == null) {
            known = new LazyExitFixed();
            write(known);
        }
        return known;
    }

    public static void main(String[] args) throws InterruptedException {
        LazyExitFixed[] seen = new LazyExitFixed[2];
        Thread first = new Thread(() -> seen[0] = get());
        Thread second = new Thread(() -> seen[1] = get());
        first.start();
        second.start();
        first.join();
        second.join();
        if (seen[0] != seen[1]) {
            System.out.println("there are two");
            if (args.length == 0) {
                System.exit(3);
            }
        }
    }
}
