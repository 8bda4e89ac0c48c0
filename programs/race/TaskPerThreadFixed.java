// Each thread is joined before the next one starts: both analyses report that no lock is held and that all accesses are ordered.
// fissure: must-find-ordered racer TaskPerThreadFixed.finished
// fissure: must-find-ordered eraser TaskPerThreadFixed.finished
public class TaskPerThreadFixed {
    private static int finished;

    public static void main(String[] args) throws InterruptedException {
        for (int task = 0; task < 4; task++) {
            Thread thread = new Thread(() -> finished++);
            thread.start();
            thread.join();
        }
        if (finished != 4) {
            throw new AssertionError(finished);
        }
        System.out.println("done");
    }
}
