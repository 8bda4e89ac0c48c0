// Permits with a builder. Taking one checks and decrements in two steps.
// fissure: non-atomic tryTake
// fissure: atomic give left
import java.util.concurrent.atomic.AtomicInteger;

public class Permits {
    private final AtomicInteger left;

    private Permits(int number) {
        left = new AtomicInteger(number);
    }

    public static Builder builder() {
        return new Builder();
    }

    public boolean tryTake() {
        if (left.get() == 0) {
            return false;
        }
        left.decrementAndGet();
        return true;
    }

    public void give() {
        left.incrementAndGet();
    }

    public int left() {
        return left.get();
    }

    public static final class Builder {
        private int number = 1;

        public Builder number(int number) {
            this.number = number;
            return this;
        }

        public Permits build() {
            return new Permits(number);
        }
    }
}
