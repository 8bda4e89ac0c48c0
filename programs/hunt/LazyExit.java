// Whether something was made already is asked and answered under a lock, but in two steps. The program itself notices, and says so by
// its exit code; with an argument, by what it prints.
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
