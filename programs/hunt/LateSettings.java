// A worker reads settings that the main thread sets after it has started it; a counter that both update is a bystander.
// fissure: must-be-bug failure LateSettings.work
// fissure: cause settings LateSettings.work:11 LateSettings.main:18
// fissure: not-cause ticks
public class LateSettings {
    static volatile String settings;
    static int ticks;

    static void work() {
        ticks++;
        System.out.println(settings.length());
    }

    public static void main(String[] args) throws InterruptedException {
        Thread worker = new Thread(LateSettings::work);
        worker.start();
        ticks++;
        settings = "fast";
        worker.join();
    }
}
