// The JVM compiles all methods before their first call: races are still found.
// fissure: java -Xcomp -XX:TieredStopAtLevel=1
// fissure: must-find racer data-race Compiled.count
// fissure: must-find eraser data-race Compiled.count
public class Compiled {
    private static int count;

    static void work() {
        for (int i = 0; i < 1000; i++) {
            count++;
        }
    }

    public static void main(String[] args) throws InterruptedException {
        Thread first = new Thread(Compiled::work);
        Thread second = new Thread(Compiled::work);
        first.start();
        second.start();
        first.join();
        second.join();
        System.out.println("done");
    }
}
