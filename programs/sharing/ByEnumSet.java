// EnumSet.allOf gets the constants from the class alone; one constant stores the object that it is given.
// fissure: must-find racer data-race ByEnumSet$Colour.used
// fissure: must-find racer data-race ByEnumSet$Box.value
import java.util.EnumSet;

public class ByEnumSet {
    static class Box {
        int value;
    }

    interface Keeper {
        void keep(Box box);
    }

    enum Colour {
        RED,
        GREEN;

        int used;
    }

    enum Place implements Keeper {
        HERE {
            @Override
            public void keep(Box box) {
                kept = box;
            }
        },
        NOWHERE {
            @Override
            public void keep(Box box) {}
        }
    }

    static Box kept;

    static void use() {
        for (Colour colour : EnumSet.allOf(Colour.class)) {
            colour.used++;
        }
    }

    public static void main(String[] args) throws InterruptedException {
        Box box = new Box();
        for (Keeper keeper : EnumSet.allOf(Place.class)) {
            keeper.keep(box);
        }
        Thread thread = new Thread(() -> {
            kept.value++;
            use();
        });
        thread.start();
        box.value++;
        use();
        thread.join();
        System.out.println("done");
    }
}
