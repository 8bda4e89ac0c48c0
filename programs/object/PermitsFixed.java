// The correct twin: the check and the decrement are one step.
// fissure: atomic tryTake give left
import java.util.concurrent.atomic.AtomicInteger;

public class PermitsFixed {
    private final AtomicInteger left;

    private PermitsFixed(int number) {
        left = new AtomicInteger(number);
    }

    public static Builder builder() {
        return new Builder();
    }

    public boolean tryTake() {
        return left.getAndUpdate(number -> number == 0 ? 0 : number - 1) > 0;
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

        public PermitsFixed build() {
            return new PermitsFixed(number);
        }
    }
}
