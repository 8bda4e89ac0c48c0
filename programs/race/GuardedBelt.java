// Threads pass objects on through a deque and a map that a monitor guards, and the sender still changes them.
// fissure: must-find racer data-race GuardedBelt$Parcel.stamp
// fissure: may-find eraser data-race GuardedBelt$Parcel.stamp
import java.util.ArrayDeque;
import java.util.HashMap;
import java.util.Map;

public class GuardedBelt {
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
                belt.put(parcel);
                parcel.stamp = 1;
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
