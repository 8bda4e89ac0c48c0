// Static types hide the shared objects: a CharSequence, a Number and an Object lead to an array, a callback and their contents.
// fissure: detect --order start-join
// fissure: must-find racer data-race ByView$Box.value
// fissure: must-find racer data-race ByView$Part.asked
// fissure: must-find racer data-race ByView.*
import java.lang.reflect.Array;
import java.nio.CharBuffer;
import java.util.Objects;
import java.util.concurrent.atomic.LongAccumulator;

public class ByView {
    static class Box {
        int value;
    }

    static class Part {
        int asked;

        @Override
        public boolean equals(Object other) {
            asked++;
            return false;
        }

        @Override
        public int hashCode() {
            return 1;
        }
    }

    static CharSequence text;
    static Number number;
    static Object parts;
    static Box first;

    public static void main(String[] args) throws InterruptedException {
        char[] letters = new char[1];
        text = CharBuffer.wrap(letters);
        Box counted = new Box();
        LongAccumulator sum = new LongAccumulator(
                (one, other) -> {
                    counted.value++;
                    return one + other;
                },
                0);
        number = sum;
        Part part = new Part();
        parts = new Part[] {part};
        Box[] boxes = {new Box()};
        first = (Box) Array.get(boxes, 0);
        Thread thread = new Thread(() -> {
            ((CharBuffer) text).array()[0]++;
            ((LongAccumulator) number).accumulate(1);
            Objects.deepEquals(parts, new Object[] {"x"});
            first.value++;
        });
        thread.start();
        letters[0]++;
        sum.accumulate(1);
        part.asked++;
        boxes[0].value++;
        thread.join();
        System.out.println("done");
    }
}
