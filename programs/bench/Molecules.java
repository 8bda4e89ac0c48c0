import java.util.concurrent.CyclicBarrier;

// Molecular dynamics: particles are objects, forces are arrays by thread, and threads meet at a barrier between the phases.
public class Molecules {
    private static final int SIDE = 10;
    private static final int COUNT = SIDE * SIDE * SIDE;
    private static final int STEPS = 12;
    private static final double BOX = SIDE * 1.2;
    private static final double CUTOFF = 3.0;

    static final class Particle {
        double x;
        double y;
        double z;
        double vx;
        double vy;
        double vz;
        double fx;
        double fy;
        double fz;

        void move(double h) {
            x = wrapped(x + vx * h + fx);
            y = wrapped(y + vy * h + fy);
            z = wrapped(z + vz * h + fz);
            vx += fx;
            vy += fy;
            vz += fz;
            fx = 0;
            fy = 0;
            fz = 0;
        }

        private static double wrapped(double at) {
            return at < 0 ? at + BOX : at > BOX ? at - BOX : at;
        }

        void force(Particle[] all, int from, double[][] forces) {
            double[] forceX = forces[0];
            double[] forceY = forces[1];
            double[] forceZ = forces[2];
            double sumX = 0;
            double sumY = 0;
            double sumZ = 0;
            for (int i = from + 1; i < COUNT; i++) {
                Particle other = all[i];
                double dx = nearest(x - other.x);
                double dy = nearest(y - other.y);
                double dz = nearest(z - other.z);
                double square = dx * dx + dy * dy + dz * dz;
                if (square <= CUTOFF * CUTOFF) {
                    double inverse = 1.0 / square;
                    double third = inverse * inverse * inverse;
                    double strength = inverse * third * (third - 0.5) * 1e-5;
                    double px = dx * strength;
                    double py = dy * strength;
                    double pz = dz * strength;
                    sumX += px;
                    sumY += py;
                    sumZ += pz;
                    forceX[i] -= px;
                    forceY[i] -= py;
                    forceZ[i] -= pz;
                }
            }
            forceX[from] += sumX;
            forceY[from] += sumY;
            forceZ[from] += sumZ;
        }

        private static double nearest(double distance) {
            if (distance < -BOX / 2) {
                return distance + BOX;
            }
            return distance > BOX / 2 ? distance - BOX : distance;
        }
    }

    private final Particle[] particles = new Particle[COUNT];
    private final double[][][] forces;
    private final CyclicBarrier barrier;
    private final int threads;

    Molecules(int threads) {
        this.threads = threads;
        this.forces = new double[threads][3][COUNT];
        this.barrier = new CyclicBarrier(threads);
        int at = 0;
        for (int i = 0; i < SIDE; i++) {
            for (int j = 0; j < SIDE; j++) {
                for (int k = 0; k < SIDE; k++) {
                    Particle particle = new Particle();
                    particle.x = i * 1.2 + 0.1 * (j % 3);
                    particle.y = j * 1.2 + 0.1 * (k % 3);
                    particle.z = k * 1.2 + 0.1 * (i % 3);
                    particles[at++] = particle;
                }
            }
        }
    }

    void run(int thread) throws Exception {
        int from = COUNT * thread / threads;
        int to = COUNT * (thread + 1) / threads;
        double[][] own = forces[thread];
        for (int step = 0; step < STEPS; step++) {
            for (int i = thread; i < COUNT; i += threads) {
                particles[i].force(particles, i, own);
            }
            barrier.await();
            for (int i = from; i < to; i++) {
                Particle particle = particles[i];
                for (int other = 0; other < threads; other++) {
                    particle.fx += forces[other][0][i];
                    particle.fy += forces[other][1][i];
                    particle.fz += forces[other][2][i];
                    forces[other][0][i] = 0;
                    forces[other][1][i] = 0;
                    forces[other][2][i] = 0;
                }
            }
            barrier.await();
            for (int i = from; i < to; i++) {
                particles[i].move(0.01);
            }
            barrier.await();
        }
    }

    private double momentum() {
        double sum = 0;
        for (Particle particle : particles) {
            sum += particle.vx + particle.vy + particle.vz;
        }
        return sum;
    }

    public static void main(String[] args) throws InterruptedException {
        int threads = Kernel.threads(args);
        Kernel.measure(args, scale -> {
            Molecules last = null;
            for (int repeat = 0; repeat < 4 * scale; repeat++) {
                last = new Molecules(threads);
                Kernel.parts(threads, last::run);
                Kernel.check(Math.abs(last.momentum()) < 1e-9, "the momentum is not preserved");
            }
            return last;
        });
    }
}
