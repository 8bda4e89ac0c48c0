// A ray tracer: many short-lived vectors, rays and intersections, and a scene that all threads read.
public class RayTracer {
    private static final int SIZE = 100;

    static final class Vector {
        double x;
        double y;
        double z;

        Vector(double x, double y, double z) {
            this.x = x;
            this.y = y;
            this.z = z;
        }

        static double dot(Vector a, Vector b) {
            return a.x * b.x + a.y * b.y + a.z * b.z;
        }

        static Vector minus(Vector a, Vector b) {
            return new Vector(a.x - b.x, a.y - b.y, a.z - b.z);
        }

        static Vector combined(double s, Vector a, double t, Vector b) {
            return new Vector(s * a.x + t * b.x, s * a.y + t * b.y, s * a.z + t * b.z);
        }

        static Vector plus(Vector a, double t, Vector b) {
            return new Vector(a.x + t * b.x, a.y + t * b.y, a.z + t * b.z);
        }

        double normalize() {
            double length = Math.sqrt(x * x + y * y + z * z);
            if (length != 0) {
                x /= length;
                y /= length;
                z /= length;
            }
            return length;
        }
    }

    static final class Ray {
        Vector origin;
        Vector direction;

        Ray(Vector origin, Vector direction) {
            this.origin = origin;
            this.direction = new Vector(direction.x, direction.y, direction.z);
            this.direction.normalize();
        }
    }

    static final class Surface {
        double shine = 15;
        double specular = 1;
        double diffuse = 0.5;
        Vector color = new Vector(1, 1, 1);
    }

    static abstract class Shape {
        Surface surface = new Surface();

        abstract Hit intersect(Ray ray);

        abstract Vector normal(Vector at);
    }

    static final class Hit {
        double t;
        boolean enters;
        Shape shape;
        Surface surface;
    }

    static final class Sphere extends Shape {
        Vector center;
        double square;

        Sphere(Vector center, double radius) {
            this.center = center;
            this.square = radius * radius;
        }

        @Override
        Hit intersect(Ray ray) {
            Vector v = Vector.minus(center, ray.origin);
            double b = Vector.dot(v, ray.direction);
            double discriminant = b * b - Vector.dot(v, v) + square;
            if (discriminant < 0) {
                return null;
            }
            discriminant = Math.sqrt(discriminant);
            double t = b - discriminant < 1e-6 ? b + discriminant : b - discriminant;
            if (t < 1e-6) {
                return null;
            }
            Hit hit = new Hit();
            hit.t = t;
            hit.enters = Vector.dot(v, v) > square + 1e-6;
            hit.shape = this;
            hit.surface = surface;
            return hit;
        }

        @Override
        Vector normal(Vector at) {
            Vector normal = Vector.minus(at, center);
            normal.normalize();
            return normal;
        }
    }

    static final class Scene {
        Shape[] shapes;
        Vector[] lights;
        Vector eye = new Vector(0, 0, -30);
    }

    static final class Renderer {
        final Scene scene;
        private Hit last;

        Renderer(Scene scene) {
            this.scene = scene;
        }

        private boolean intersect(Ray ray, double most) {
            last = null;
            double best = most;
            for (int i = 0; i < scene.shapes.length; i++) {
                Hit hit = scene.shapes[i].intersect(ray);
                if (hit != null && hit.t < best) {
                    best = hit.t;
                    last = hit;
                }
            }
            return last != null;
        }

        private Vector shade(int level, double weight, Vector at, Vector normal, Vector incoming, Hit hit) {
            Vector reflected = Vector.combined(1, incoming, -2 * Vector.dot(incoming, normal), normal);
            Vector color = new Vector(0, 0, 0);
            for (int i = 0; i < scene.lights.length; i++) {
                Vector toLight = Vector.minus(scene.lights[i], at);
                if (Vector.dot(normal, toLight) < 0) {
                    continue;
                }
                double distance = toLight.normalize();
                Ray shadow = new Ray(Vector.plus(at, 1e-4, toLight), toLight);
                if (intersect(shadow, distance)) {
                    continue;
                }
                double diffuse = Vector.dot(normal, toLight) * hit.surface.diffuse;
                color = Vector.plus(color, diffuse, hit.surface.color);
                double specular = Vector.dot(reflected, toLight);
                if (specular > 0) {
                    color = Vector.plus(color, Math.pow(specular, hit.surface.shine), hit.surface.color);
                }
            }
            double next = weight * hit.surface.specular * 0.3;
            if (next > 0.01 && level < 5) {
                Vector mirrored = trace(level + 1, next, new Ray(Vector.plus(at, 1e-4, reflected), reflected));
                color = Vector.plus(color, hit.surface.specular, mirrored);
            }
            return color;
        }

        Vector trace(int level, double weight, Ray ray) {
            if (!intersect(ray, 1e6)) {
                return new Vector(0, 0, 0);
            }
            Hit hit = last;
            Vector at = Vector.plus(ray.origin, hit.t, ray.direction);
            Vector normal = hit.shape.normal(at);
            if (Vector.dot(ray.direction, normal) > 0) {
                normal = Vector.combined(-1, normal, 0, normal);
            }
            return shade(level, weight, at, normal, ray.direction, hit);
        }

        long render(int thread, int threads) {
            long sum = 0;
            for (int row = thread; row < SIZE; row += threads) {
                for (int column = 0; column < SIZE; column++) {
                    Vector direction = new Vector(column * 20.0 / SIZE - 10, row * 20.0 / SIZE - 10, 20);
                    Vector color = trace(0, 1, new Ray(scene.eye, direction));
                    int red = (int) (Math.min(color.x, 1) * 255);
                    int green = (int) (Math.min(color.y, 1) * 255);
                    int blue = (int) (Math.min(color.z, 1) * 255);
                    sum += red + green + blue;
                }
            }
            return sum;
        }
    }

    private static Scene scene() {
        Scene scene = new Scene();
        scene.shapes = new Shape[64];
        int at = 0;
        for (int i = 0; i < 4; i++) {
            for (int j = 0; j < 4; j++) {
                for (int k = 0; k < 4; k++) {
                    scene.shapes[at++] = new Sphere(new Vector(5 * i - 7.5, 5 * j - 7.5, 5 * k - 7.5), 1.5);
                }
            }
        }
        scene.lights = new Vector[] {
            new Vector(100, 100, -50), new Vector(-100, 100, -50), new Vector(100, -100, -50),
            new Vector(-100, -100, -50), new Vector(200, 200, 0)
        };
        return scene;
    }

    private long checksum;

    private synchronized void add(long sum) {
        checksum += sum;
    }

    public static void main(String[] args) throws InterruptedException {
        int threads = Kernel.threads(args);
        long expected = new Renderer(scene()).render(0, 1);
        Kernel.measure(args, scale -> {
            Scene scene = scene();
            for (int repeat = 0; repeat < 3 * scale; repeat++) {
                RayTracer tracer = new RayTracer();
                Kernel.parts(threads, t -> tracer.add(new Renderer(scene).render(t, threads)));
                Kernel.check(tracer.checksum == expected, "the picture is wrong");
            }
            return scene;
        });
    }
}
