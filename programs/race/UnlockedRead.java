// Writes hold the lock, the getter does not. Eraser misses it when all reads come after all writes.
// fissure: must-find racer data-race UnlockedRead.temperature
// fissure: may-find eraser data-race UnlockedRead.temperature
public class UnlockedRead {
    private int temperature;

    synchronized void set(int newTemperature) {
        temperature = newTemperature;
    }

    int get() {
        return temperature;
    }

    public static void main(String[] args) throws InterruptedException {
        UnlockedRead sensor = new UnlockedRead();
        Thread writer = new Thread(() -> {
            for (int i = 0; i < 1000; i++) {
                sensor.set(i);
            }
        });
        Thread reader = new Thread(() -> {
            for (int i = 0; i < 1000; i++) {
                if (sensor.get() < 0) {
                    throw new AssertionError();
                }
            }
        });
        writer.start();
        reader.start();
        writer.join();
        reader.join();
        System.out.println("done");
    }
}
