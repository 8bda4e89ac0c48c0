// The JDK calls the program's Random, CharSequence and synchronizer, in the thread that runs the stream or the condition.
// fissure: detect --order start-join
// fissure: must-find racer data-race ByOwnSource$Numbers.asked
// fissure: must-find racer data-race ByOwnSource$Letters.asked
// fissure: must-find racer data-race ByOwnSource$Gate.asked
import java.util.Random;
import java.util.concurrent.locks.AbstractQueuedSynchronizer;
import java.util.concurrent.locks.Condition;
import java.util.stream.IntStream;

public class ByOwnSource {
    static class Numbers extends Random {
        private static final long serialVersionUID = 1;
        int asked;

        @Override
        protected int next(int bits) {
            asked++;
            return 1;
        }
    }

    static class Letters implements CharSequence {
        int asked;

        @Override
        public int length() {
            return 2;
        }

        @Override
        public char charAt(int index) {
            asked++;
            return 'a';
        }

        @Override
        public CharSequence subSequence(int start, int end) {
            return this;
        }
    }

    static class Gate extends AbstractQueuedSynchronizer {
        private static final long serialVersionUID = 1;
        int asked;

        @Override
        protected boolean isHeldExclusively() {
            asked++;
            return true;
        }

        Condition condition() {
            return new ConditionObject();
        }
    }

    public static void main(String[] args) throws InterruptedException {
        Numbers numbers = new Numbers();
        Letters letters = new Letters();
        Gate gate = new Gate();
        IntStream some = numbers.ints(3);
        IntStream others = letters.chars();
        Condition condition = gate.condition();
        Thread thread = new Thread(() -> {
            some.sum();
            others.sum();
            condition.signal();
        });
        thread.start();
        numbers.asked++;
        letters.asked++;
        gate.asked++;
        thread.join();
        System.out.println("done");
    }
}
