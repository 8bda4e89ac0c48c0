// A shutdown hook prints after main has ended, and shares a field with main under a lock.
public class ShutdownHook {
    private static int steps;

    static synchronized int step() {
        return ++steps;
    }

    public static void main(String[] args) {
        Runtime.getRuntime().addShutdownHook(new Thread(() -> System.out.println("hook " + step())));
        System.out.println("main " + step());
    }
}
