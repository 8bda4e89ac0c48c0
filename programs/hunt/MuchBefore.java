// The program makes more accesses than a run may have steps, nearly all in the single-threaded phase; then an increment is lost.
// fissure: must-be-bug failure MuchBefore.main
// fissure: program-exit 1
public class MuchBefore {
    private static int count;

    private static int sum() {
        int[] numbers = new int[1000];
        int sum = 0;
        for (int i = 0; i < 2_000_000; i++) {
            numbers[i % numbers.length] += i;
            sum ^= numbers[i % numbers.length];
        }
        return sum;
    }

    private static void increment() {
        int known = count;
        count = known + 1;
    }

    public static void main(String[] args) throws InterruptedException {
        System.out.println(sum());
        Thread first = new Thread(MuchBefore::increment);
        Thread second = new Thread(MuchBefore::increment);
        first.start();
        second.start();
        first.join();
        second.join();
        if (count != 2) {
            throw new IllegalStateException("counted " + count);
        }
    }
}
