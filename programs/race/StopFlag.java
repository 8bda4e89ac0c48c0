// A stop flag that is not volatile: the worker may never see the write, so it also limits its number of turns.
// fissure: must-find racer data-race StopFlag.stop
// fissure: may-find eraser data-race StopFlag.stop
public class StopFlag {
    private static boolean stop;

    static void work() {
        int turns = 0;
        do {
            turns++;
            Thread.yield();
        } while (!stop && turns < 1000);
    }

    public static void main(String[] args) throws InterruptedException {
        Thread worker = new Thread(StopFlag::work);
        worker.start();
        stop = true;
        worker.join();
        System.out.println("done");
    }
}
