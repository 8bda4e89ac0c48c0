// Fields in tight loops: a random generator and a particle, one of each for each of two threads.
public class FieldLoop {
    static class Random {
        private long state;
        private int draws;

        Random(long seed) {
            state = seed;
        }

        int next() {
            state ^= state << 13;
            state ^= state >>> 7;
            state ^= state << 17;
            draws++;
            return (int) (state >>> 33);
        }
    }

    static class Particle {
        private double x;
        private double y;
        private double dx = 0.5;
        private double dy = 0.25;
        private int bounces;

        void step(int kick) {
            dx += (kick & 15) * 0.001 - 0.007;
            x += dx;
            y += dy;
            if (x < 0 || x > 100) {
                dx = -dx;
                bounces++;
            }
            if (y < 0 || y > 100) {
                dy = -dy;
                bounces++;
            }
        }
    }

    static void simulate(Particle particle, Random random, int steps) {
        for (int i = 0; i < steps; i++) {
            particle.step(random.next());
        }
    }

    public static void main(String[] args) throws InterruptedException {
        Kernel.measure(args, scale -> {
            Particle[] last = new Particle[1];
            Kernel.inThreads(2, () -> {
                Random random = new Random(42);
                Particle particle = new Particle();
                for (int round = 0; round < 50 * scale; round++) {
                    simulate(particle, random, 1_000_000);
                }
                synchronized (last) {
                    last[0] = particle;
                }
            });
            return last;
        });
    }
}
