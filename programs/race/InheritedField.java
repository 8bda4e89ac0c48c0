// Two threads access a field of a superclass through two subclasses; the report names the class that declares it.
// fissure: must-find racer data-race InheritedField$Shape.moves
// fissure: must-find eraser data-race InheritedField$Shape.moves
public class InheritedField {
    static class Shape {
        protected int moves;
    }

    static class Circle extends Shape {
        private int moves2;

        void move() {
            moves++;
            synchronized (this) {
                moves2++;
            }
        }
    }

    static class Disc extends Circle {
        void roll() {
            this.moves++;
            super.moves += 2;
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
            }
        });
        first.start();
        second.start();
        first.join();
        second.join();
        System.out.println("done");
    }
}
