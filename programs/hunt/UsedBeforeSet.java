// Main starts a thread before it sets the field that the thread reads; the thread is usually slow enough to find it set.
// fissure: must-be-bug failure UsedBeforeSet.greet
// fissure: program-exit 0
public class UsedBeforeSet {
    private static String greeting;

    private static void greet() {
        for (int i = 0; i < 20; i++) {
            Thread.yield();
        }
        System.out.println(greeting.length());
    }

    public static void main(String[] args) throws InterruptedException {
        Thread thread = new Thread(UsedBeforeSet::greet);
        thread.start();
        greeting = "hello";
        thread.join();
    }
}
