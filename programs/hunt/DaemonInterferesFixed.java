// The correct twin of DaemonInterferes: the report reads the meter once.
public class DaemonInterferesFixed {
    static class Meter {
        private int ticks;

        synchronized void tick() {
            ticks++;
        }

        synchronized int ticks() {
            return ticks;
        }
    }

    static class Report {
        private final Meter meter;

        Report(Meter meter) {
            this.meter = meter;
        }

        synchronized void check() {
            if (meter.ticks() < 0) {
                throw new IllegalStateException("the meter moved");
            }
        }
    }

    public static void main(String[] args) {
        Meter meter = new Meter();
        Thread daemon = new Thread(() -> {
            while (true) {
                meter.tick();
                try {
                    Thread.sleep(100);
                } catch (InterruptedException e) {
                    return;
                }
            }
        }, "ticker");
        daemon.setDaemon(true);
        daemon.start();
        new Report(meter).check();
    }
}
