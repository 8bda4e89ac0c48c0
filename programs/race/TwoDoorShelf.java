// Threads pass objects on through a list, and each holds a lock, but not the same one.
// fissure: must-find racer data-race TwoDoorShelf$Parcel.weight
// fissure: may-find eraser data-race TwoDoorShelf$Parcel.weight
import java.util.ArrayList;
import java.util.List;

public class TwoDoorShelf {
    static class Parcel {
        int weight;
    }

    private static final int PLACES = 20;
    private final List<Parcel> places = new ArrayList<>();
    private final Object in = new Object();
    private final Object out = new Object();

    TwoDoorShelf() {
        for (int i = 0; i < PLACES; i++) {
            places.add(null);
        }
    }

    void store(int place, Parcel parcel) {
        synchronized (in) {
            places.set(place, parcel);
        }
    }

    Parcel fetch(int place) {
        synchronized (out) {
            return places.get(place);
        }
    }

    public static void main(String[] arguments) throws InterruptedException {
        TwoDoorShelf shelf = new TwoDoorShelf();
        Thread packer = new Thread(() -> {
            for (int i = 0; i < PLACES; i++) {
                Parcel parcel = new Parcel();
                parcel.weight = i;
                shelf.store(i, parcel);
            }
        });
        Thread driver = new Thread(() -> {
            for (int i = 0; i < PLACES; i++) {
                Parcel parcel = shelf.fetch(i);
                while (parcel == null) {
                    Thread.yield();
                    parcel = shelf.fetch(i);
                }
                parcel.weight++;
            }
        });
        packer.start();
        driver.start();
        packer.join();
        driver.join();
        System.out.println("done");
    }
}
