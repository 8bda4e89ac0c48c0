// Setter and getter hold the same lock.
public class UnlockedReadFixed {
    private int temperature;

    synchronized void set(int newTemperature) {
        temperature = newTemperature;
    }

    synchronized int get() {
        return temperature;
    }

    public static void main(String[] args) throws InterruptedException {
        UnlockedReadFixed sensor = new UnlockedReadFixed();
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
