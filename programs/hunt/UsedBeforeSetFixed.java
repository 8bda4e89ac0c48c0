// The correct twin of UsedBeforeSet: main sets the field before it starts the thread.
public class UsedBeforeSetFixed {
    private static String greeting;

    private static void greet() {
        for (int i = 0; i < 20; i++) {
            Thread.yield();
        }
        System.out.println(greeting.length());
    }

    public static void main(String[] args) throws InterruptedException {
        Thread thread = new Thread(UsedBeforeSetFixed::greet);
        greeting = "hello";
        thread.start();
        thread.join();
    }
}
