// Lazy initialization reads and writes the instance under separate locks, so two instances can be made. The program detects it and
// ends with exit code 3; with an argument it only prints a message.
// fissure: must-be-bug failure LazyExit.main
// fissure: program-exit 3
public class LazyExit {
    private static LazyExit instance;

    private static synchronized LazyExit read() {
        return instance;
    }

    private static synchronized void write(LazyExit made) {
        instance = made;
    }

    static LazyExit get() {
        LazyExit known = read();
        if (known == null) {
            known = new LazyExit();
            write(known);
        }
        return known;
    }

    public static void main(String[] args) throws InterruptedException {
        LazyExit[] seen = new LazyExit[2];
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
