// Settings and a table that are complete before the threads start, and that all of them only read.
// fissure: must-find-ordered racer PublishLateFixed.limit
public class PublishLateFixed {
    private final int[] table = {1, 2, 3};
    private int limit;

    void work() {
        for (int i = 0; i < 100; i++) {
            if (limit != 10 || table[i % 3] == 0) {
                throw new AssertionError(limit);
            }
        }
    }

    public static void main(String[] args) throws InterruptedException {
        PublishLateFixed settings = new PublishLateFixed();
        settings.limit = 10;
        Thread first = new Thread(settings::work);
        Thread second = new Thread(settings::work);
        first.start();
        second.start();
        first.join();
        second.join();
        System.out.println("done");
    }
}
