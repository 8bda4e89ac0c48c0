// The correct twin: an addition is one step of the map.
// fissure: atomic add count
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.ConcurrentHashMap;

public class TallyFixed {
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
        counts.merge(point, 1, Integer::sum);
    }

    public int count(Point point) {
        return counts.getOrDefault(point, 0);
    }
}
