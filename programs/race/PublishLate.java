// Main changes settings after it has started the threads that read them.
// fissure: must-find racer data-race PublishLate.limit
// fissure: may-find eraser data-race PublishLate.limit
public class PublishLate {
    private int limit;

    void work() {
        for (int i = 0; i < 100; i++) {
            if (limit != 0 && limit != 10) {
                throw new AssertionError(limit);
            }
        }
    }

    public static void main(String[] args) throws InterruptedException {
        PublishLate settings = new PublishLate();
        Thread first = new Thread(settings::work);
        Thread second = new Thread(settings::work);
        first.start();
        second.start();
        settings.limit = 10;
        first.join();
        second.join();
        System.out.println("done");
    }
}
