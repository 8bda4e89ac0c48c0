// LateSettings with settings that are there before the thread starts.
public class LateSettingsFixed {
    static volatile String settings;
    static int ticks;

    static void work() {
        ticks++;
        System.out.println(settings.length());
    }

    public static void main(String[] args) throws InterruptedException {
        Thread worker = new Thread(LateSettingsFixed::work);
        settings = "fast";
        worker.start();
        ticks++;
        worker.join();
    }
}
