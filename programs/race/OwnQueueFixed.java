// The sender is done with an object when it passes it on. The monitor guards the condition that the receiver waits for, so that it
// orders what both do with the object outside of it, whether the receiver had to wait or not.
// fissure: must-find-ordered racer OwnQueueFixed$Parcel.weight
// fissure: must-find-ordered racer OwnQueueFixed$Parcel.stamp
import java.util.ArrayDeque;

public class OwnQueueFixed {
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
                parcel.stamp = 1;
                belt.put(parcel);
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
