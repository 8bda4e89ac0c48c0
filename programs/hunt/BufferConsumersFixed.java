// The correct twin of BufferConsumers: one synchronized method checks the buffer and takes an item.
import java.util.ArrayDeque;

public class BufferConsumersFixed {
    static class Buffer {
        private final ArrayDeque<Integer> items = new ArrayDeque<>();
        private static final int ROOM = 2;

        synchronized void put(int item) throws InterruptedException {
            while (items.size() == ROOM) {
                wait();
            }
            items.add(item);
            notifyAll();
        }

        synchronized int take() throws InterruptedException {
            while (items.isEmpty()) {
                wait();
            }
            int item = items.remove();
            notifyAll();
            return item;
        }

        synchronized int takeIfAny() {
            return items.isEmpty() ? 0 : items.remove();
        }
    }

    static class Consumer extends Thread {
        private final Buffer buffer;
        private int sum;

        Consumer(Buffer buffer) {
            this.buffer = buffer;
        }

        synchronized void drain() {
            sum += buffer.takeIfAny();
        }

        @Override
        public void run() {
            try {
                sum = buffer.take();
            } catch (InterruptedException e) {
                throw new IllegalStateException(e);
            }
            drain();
        }
    }

    public static void main(String[] args) throws InterruptedException {
        Buffer buffer = new Buffer();
        Consumer first = new Consumer(buffer);
        Consumer second = new Consumer(buffer);
        first.start();
        second.start();
        for (int item = 0; item < 3; item++) {
            buffer.put(item);
        }
        first.join();
        second.join();
    }
}
