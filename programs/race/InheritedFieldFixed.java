// The field of the superclass is accessed by synchronized methods of the subclasses: one object, one lock. A field of
// the same name in another class is another field.
public class InheritedFieldFixed {
    static class Shape {
        protected int moves;
    }

    static class Circle extends Shape {
        synchronized void move() {
            moves++;
        }
    }

    static class Disc extends Circle {
        private int moves;

        synchronized void roll() {
            super.moves += 2;
        }

        void spin() {
            moves++;
        }
    }

    public static void main(String[] args) throws InterruptedException {
        Disc disc = new Disc();
        Thread first = new Thread(() -> {
            for (int i = 0; i < 100; i++) {
                disc.move();
            }
        });
        Thread second = new Thread(() -> {
            for (int i = 0; i < 100; i++) {
                disc.roll();
                disc.spin();
            }
        });
        first.start();
        second.start();
        first.join();
        second.join();
        if (((Shape) disc).moves != 300 || disc.moves != 100) {
            throw new AssertionError(((Shape) disc).moves);
        }
        System.out.println("done");
    }
}
