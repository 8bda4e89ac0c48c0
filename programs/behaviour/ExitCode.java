// A race, then System.exit with a code of its own while another thread still waits.
// fissure: program-exit 3
// fissure: must-find racer data-race ExitCode.count
// fissure: must-find eraser data-race ExitCode.count
public class ExitCode {
    private static int count;

    public static void main(String[] args) throws InterruptedException {
        Thread first = new Thread(() -> count++);
        Thread second = new Thread(() -> count++);
        first.start();
        second.start();
        first.join();
        second.join();
        Thread waiting = new Thread(() -> {
            synchronized (ExitCode.class) {
                try {
                    ExitCode.class.wait();
                } catch (InterruptedException e) {
                    System.out.println("interrupted");
                }
            }
        });
        waiting.start();
        System.out.println("leaving");
        System.exit(3);
    }
}
