// Counts how often each point was seen. The method add returns nothing and loses an update if another one comes between its steps: only a later
// call shows that. Its arguments are objects of another class.
// fissure: non-atomic add
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.ConcurrentHashMap;

public class Tally {
    public static final class Point {
        private final int x;
        private final int y;

        public Point(int x, int y) {
            this.x = x;
            this.y = y;
        }

        @Override
        public boolean equals(Object other) {
            return other instanceof Point && ((Point) other).x == x && ((Point) other).y == y;
        }

        @Override
        public int hashCode() {
            return Objects.hash(x, y);
        }
    }

    private final Map<Point, Integer> counts = new ConcurrentHashMap<>();

    public void add(Point point) {
        Integer count = counts.get(point);
        counts.put(point, count == null ? 1 : count + 1);
    }

    public int count(Point point) {
        return counts.getOrDefault(point, 0);
    }
}
