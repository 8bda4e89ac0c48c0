// A queue made of a monitor with wait and notify passes objects on, and their sender still changes them.
// fissure: must-find racer data-race OwnQueue$Parcel.stamp
// fissure: may-find eraser data-race OwnQueue$Parcel.stamp
import java.util.ArrayDeque;

public class OwnQueue {
    static class Parcel {
        int weight;
        int stamp;
    }

    static class Belt {
        private final ArrayDeque<Parcel> parcels = new ArrayDeque<>();

        synchronized void put(Parcel parcel) {
            parcels.add(parcel);
            notifyAll();
        }

        synchronized Parcel take() throws InterruptedException {
            while (parcels.isEmpty()) {
                wait();
            }
            return parcels.remove();
        }
    }

    public static void main(String[] arguments) throws InterruptedException {
        Belt belt = new Belt();
        Thread packer = new Thread(() -> {
            for (int i = 0; i < 20; i++) {
                Parcel parcel = new Parcel();
                parcel.weight = i;
                belt.put(parcel);
                parcel.stamp = 1;
            }
        });
        Thread driver = new Thread(() -> {
            try {
                for (int i = 0; i < 20; i++) {
                    Parcel parcel = belt.take();
                    parcel.weight += parcel.stamp;
                }
            } catch (InterruptedException error) {
                throw new IllegalStateException(error);
            }
        });
        packer.start();
        driver.start();
        packer.join();
        driver.join();
        System.out.println("done");
    }
}
