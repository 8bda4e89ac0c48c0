// As TwoDoorShelf, but both threads hold the same lock, so that the list hands the objects over.
// fissure: must-find-ordered racer TwoDoorShelfFixed$Parcel.weight
import java.util.ArrayList;
import java.util.List;

public class TwoDoorShelfFixed {
    static class Parcel {
        int weight;
    }

    private static final int PLACES = 20;
    private final List<Parcel> places = new ArrayList<>();
    private final Object in = new Object();
    private final Object out = in;

    TwoDoorShelfFixed() {
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
        TwoDoorShelfFixed shelf = new TwoDoorShelfFixed();
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
