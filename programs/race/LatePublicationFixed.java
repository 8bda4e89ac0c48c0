// The writer sets the data first. The volatile flag orders its write before the read, which needs no lock.
// fissure: must-find-ordered racer LatePublicationFixed$Message.body
public class LatePublicationFixed {
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
            message.body = 7;
            message.isReady = true;
        });
        reader.start();
        writer.start();
        reader.join();
        writer.join();
        System.out.println("done");
    }
}
