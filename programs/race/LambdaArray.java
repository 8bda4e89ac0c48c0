// The lambdas of two threads capture an array of one element, the usual workaround for "effectively final", and write to it.
// No field holds the array, so the report names only the class.
// fissure: must-find racer data-race LambdaArray*
// fissure: must-find eraser data-race LambdaArray*
public class LambdaArray {
    public static void main(String[] args) throws InterruptedException {
        int[] hits = new int[1];
        Runnable work = () -> {
            for (int i = 0; i < 1000; i++) {
                hits[0]++;
            }
        };
        Thread first = new Thread(work);
        Thread second = new Thread(work);
        first.start();
        second.start();
        first.join();
        second.join();
        System.out.println("done");
    }
}
