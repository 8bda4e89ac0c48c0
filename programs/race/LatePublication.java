// A writer sets a volatile flag first and the data after it. The flag orders only what comes before it.
// fissure: must-find racer data-race LatePublication$Message.body
// fissure: may-find eraser data-race LatePublication$Message.body
public class LatePublication {
    static class Message {
        int body;
        volatile boolean isReady;
    }

    public static void main(String[] arguments) throws InterruptedException {
        Message message = new Message();
        Thread reader = new Thread(() -> {
            while (!message.isReady) {
                Thread.onSpinWait();
            }
            if (message.body > 7) {
                throw new IllegalStateException();
            }
        });
        Thread writer = new Thread(() -> {
            message.isReady = true;
            message.body = 7;
        });
        reader.start();
        writer.start();
        reader.join();
        writer.join();
        System.out.println("done");
    }
}
