// A class builds a table when one of the threads initialises it; both threads then change the table without a lock.
// fissure: must-find racer data-race StaticTable$Squares.table
// fissure: must-find eraser data-race StaticTable$Squares.table
public class StaticTable {
    static class Squares {
        static final int[] table = new int[10];

        static {
            for (int i = 0; i < table.length; i++) {
                table[i] = i * i;
            }
        }
    }

    static void work() {
        for (int i = 0; i < 100; i++) {
            Squares.table[i % 10]++;
        }
    }

    public static void main(String[] args) throws InterruptedException {
        Thread first = new Thread(StaticTable::work);
        Thread second = new Thread(StaticTable::work);
        first.start();
        second.start();
        first.join();
        second.join();
        System.out.println("done");
    }
}
