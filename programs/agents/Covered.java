// A program with one race, for a run with JaCoCo: both threads pass the same code, so that they write the same marks of what
// was covered. Those are JaCoCo's business and no race of the program's.
public class Covered {
    private final int[] history = new int[2];
    private int balance;

    /** Has branches, for which there are marks. */
    void deposit(int thread, int amount) {
        for (int i = 0; i < 100; i++) {
            if (i % 3 == 0) {
                balance += amount;
            } else if (i % 7 == 0) {
                history[thread]++;
            }
        }
    }

    interface Shape {
        default int area(int side) {
            return side > 2 ? side * side : 0;
        }
    }

    static class Square implements Shape {}

    public static void main(String[] args) throws InterruptedException {
        Covered account = new Covered();
        Shape shape = new Square();
        Thread[] threads = new Thread[2];
        for (int i = 0; i < threads.length; i++) {
            int thread = i;
            threads[i] =
                    new Thread(
                            () -> {
                                account.deposit(thread, shape.area(3));
                            });
        }
        for (Thread thread : threads) {
            thread.start();
        }
        for (Thread thread : threads) {
            thread.join();
        }
        System.out.println("done " + Covered.class.getDeclaredFields().length);
    }
}
