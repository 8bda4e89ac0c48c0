// An object graph that main builds and four threads then only read.
public class ReadShared {
    static class City {
        private final int population;
        private Road roads;

        City(int population) {
            this.population = population;
        }
    }

    static class Road {
        private final City to;
        private final int length;
        private final Road next;

        Road(City to, int length, Road next) {
            this.to = to;
            this.length = length;
            this.next = next;
        }
    }

    static City map(int size) {
        City[] cities = new City[size];
        int random = 7;
        for (int i = 0; i < size; i++) {
            cities[i] = new City(i);
        }
        for (City city : cities) {
            for (int i = 0; i < 4; i++) {
                random = random * 1103515245 + 12345;
                city.roads = new Road(cities[(random >>> 8) % size], random & 255, city.roads);
            }
        }
        return cities[0];
    }

    static long travel(City start, int steps) {
        City city = start;
        long seen = 0;
        for (int i = 0; i < steps; i++) {
            Road best = city.roads;
            for (Road road = city.roads; road != null; road = road.next) {
                if (((road.length ^ i) & 63) < ((best.length ^ i) & 63)) {
                    best = road;
                }
            }
            city = best.to;
            seen += city.population;
        }
        return seen;
    }

    public static void main(String[] args) throws InterruptedException {
        City start = map(20_000);
        Kernel.measure(args, scale -> {
            Kernel.inThreads(4, () -> {
                for (int round = 0; round < 20 * scale; round++) {
                    if (travel(start, 100_000) == 0) {
                        throw new AssertionError("nothing was seen");
                    }
                }
            });
            return start;
        });
    }
}
