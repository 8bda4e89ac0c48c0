// A race, then Runtime.halt: no shutdown hooks run and the JVM does not end normally, but the race is still reported.
// fissure: program-exit 4
// fissure: must-find racer data-race Halt.count
// fissure: must-find eraser data-race Halt.count
public class Halt {
    private static int count;

    public static void main(String[] args) throws InterruptedException {
        Runtime.getRuntime().addShutdownHook(new Thread(() -> System.out.println("must not be printed")));
        Thread first = new Thread(() -> count++);
        Thread second = new Thread(() -> count++);
        first.start();
        second.start();
        first.join();
        second.join();
        System.out.println("halting");
        Runtime.getRuntime().halt(4);
    }
}
