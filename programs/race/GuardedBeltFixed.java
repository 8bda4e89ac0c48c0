// The sender is done with an object when it passes it on. The monitor only excludes, but who finds an element in a collection under the
// lock under which another thread put it there comes after that thread.
// fissure: must-find-ordered racer GuardedBeltFixed$Parcel.weight
// fissure: must-find-ordered racer GuardedBeltFixed$Parcel.stamp
import java.util.ArrayDeque;
import java.util.HashMap;
import java.util.Map;

public class GuardedBeltFixed {
    static class Parcel {
        int weight;
        int stamp;
    }

    /** Nobody waits for the monitor: it only excludes, and a driver looks again until there is a parcel. */
    static class Belt {
        private final ArrayDeque<Parcel> parcels = new ArrayDeque<>();
        private final Map<Integer, Parcel> delivered = new HashMap<>();

        synchronized void put(Parcel parcel) {
            parcels.add(parcel);
        }

        synchronized Parcel take() {
            return parcels.poll();
        }

        synchronized void deliver(int number, Parcel parcel) {
            delivered.put(number, parcel);
        }

        synchronized Parcel delivered(int number) {
            return delivered.get(number);
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
            for (int i = 0; i < 20; i++) {
                Parcel parcel = belt.take();
                while (parcel == null) {
                    Thread.yield();
                    parcel = belt.take();
                }
                parcel.weight += parcel.stamp;
                belt.deliver(i, parcel);
            }
        });
        Thread customer = new Thread(() -> {
            for (int i = 0; i < 20; i++) {
                Parcel parcel = belt.delivered(i);
                while (parcel == null) {
                    Thread.yield();
                    parcel = belt.delivered(i);
                }
                parcel.weight = 0;
            }
        });
        packer.start();
        driver.start();
        customer.start();
        packer.join();
        driver.join();
        customer.join();
        System.out.println("done");
    }
}
