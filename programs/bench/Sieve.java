// Arrays of booleans and ints: primes are sieved, and their gaps counted.
public class Sieve {
    static int[] gaps(boolean[] composite) {
        int[] counts = new int[256];
        java.util.Arrays.fill(composite, false);
        for (int i = 2; i * i < composite.length; i++) {
            if (!composite[i]) {
                for (int multiple = i * i; multiple < composite.length; multiple += i) {
                    composite[multiple] = true;
                }
            }
        }
        int last = 2;
        for (int i = 3; i < composite.length; i++) {
            if (!composite[i]) {
                counts[i - last]++;
                last = i;
            }
        }
        return counts;
    }

    public static void main(String[] args) throws InterruptedException {
        boolean[] composite = new boolean[2_000_000];
        Kernel.measure(args, scale -> {
            int[] counts = null;
            for (int round = 0; round < 60 * scale; round++) {
                counts = gaps(composite);
            }
            return counts;
        });
    }
}
