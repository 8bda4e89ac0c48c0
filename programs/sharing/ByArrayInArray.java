// The object reaches the other thread through nested arrays that are copied on the way.
// fissure: must-find racer data-race ByArrayInArray$Box.value
import java.util.Arrays;

public class ByArrayInArray {
    static class Box {
        int value;
    }

    static class Worker extends Thread {
        private final Object[] given;

        Worker(Object[] given) {
            this.given = given;
        }

        @Override
        public void run() {
            Box[][] boxes = (Box[][]) given[0];
            boxes[0][1].value++;
        }
    }

    public static void main(String[] args) throws InterruptedException {
        Box box = new Box();
        Box[] row = {null, box};
        Box[] copy = new Box[2];
        System.arraycopy(row, 0, copy, 0, 2);
        Box[][] table = {Arrays.copyOf(copy, 2)};
        Thread thread = new Worker(new Object[] {table.clone()});
        thread.start();
        box.value++;
        thread.join();
        System.out.println("done");
    }
}
