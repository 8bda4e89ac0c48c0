// The daemon thread performs the remote access between two reads of the meter; the program does not wait for it.
// fissure: must-be-bug atomicity-violation DaemonInterferes$Report.check
public class DaemonInterferes {
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
            if (meter.ticks() != meter.ticks()) {
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
