// The JDK calls equals of elements of lists, so an object of one thread is compared with one that all threads share.
// fissure: must-find racer data-race ByEquals$Box.asked
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;

public class ByEquals {
    static class Box {
        int asked;

        @Override
        public boolean equals(Object other) {
            asked++;
            if (other instanceof Box) {
                ((Box) other).asked++;
            }
            return other == this;
        }

        @Override
        public int hashCode() {
            return 1;
        }
    }

    public static void main(String[] args) throws InterruptedException {
        List<Box> shared = new ArrayList<>();
        shared.add(new Box());
        Box one = shared.get(0);
        Runnable task = () -> {
            List<Box> own = new ArrayList<>();
            own.add(new Box());
            Object same = own;
            same.equals(shared);
            Objects.equals(new Box(), one);
        };
        Thread first = new Thread(task);
        Thread second = new Thread(task);
        first.start();
        second.start();
        first.join();
        second.join();
        System.out.println("done");
    }
}
