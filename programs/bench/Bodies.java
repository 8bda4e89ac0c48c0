// Bodies that attract each other: floating-point work on the fields of linked objects.
public class Bodies {
    static class Body {
        private double x;
        private double y;
        private double z;
        private double vx;
        private double vy;
        private double vz;
        private final double mass;
        private final Body next;

        Body(int seed, Body next) {
            x = seed * 1.7;
            y = seed * -0.9;
            z = seed * 0.3;
            vy = 0.1 / seed;
            mass = 1.0 / seed;
            this.next = next;
        }

        void attract(Body other) {
            double dx = x - other.x;
            double dy = y - other.y;
            double dz = z - other.z;
            double distance = dx * dx + dy * dy + dz * dz + 0.01;
            double force = 0.001 / (distance * Math.sqrt(distance));
            vx -= dx * other.mass * force;
            vy -= dy * other.mass * force;
            vz -= dz * other.mass * force;
            other.vx += dx * mass * force;
            other.vy += dy * mass * force;
            other.vz += dz * mass * force;
        }

        void move() {
            x += vx * 0.001;
            y += vy * 0.001;
            z += vz * 0.001;
        }
    }

    static void advance(Body first, int steps) {
        for (int step = 0; step < steps; step++) {
            for (Body body = first; body != null; body = body.next) {
                for (Body other = body.next; other != null; other = other.next) {
                    body.attract(other);
                }
            }
            for (Body body = first; body != null; body = body.next) {
                body.move();
            }
        }
    }

    public static void main(String[] args) throws InterruptedException {
        Kernel.measure(args, scale -> {
            Body first = null;
            for (int seed = 1; seed <= 20; seed++) {
                first = new Body(seed, first);
            }
            for (int round = 0; round < 400 * scale; round++) {
                advance(first, 500);
            }
            return first;
        });
    }
}
