// The correct variant of LastTwice: owner and thief take the last element by the same compare-and-set.
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicIntegerArray;

public class LastTwiceFixed {
    private final AtomicInteger top = new AtomicInteger();
    private final AtomicInteger bottom = new AtomicInteger();
    private final int[] jobs = new int[8];

    private void push(int job) {
        int index = bottom.get();
        jobs[index] = job;
        bottom.set(index + 1);
    }

    private int steal() {
        int first = top.get();
        int end = bottom.get();
        if (first >= end) {
            return -1;
        }
        int job = jobs[first];
        return top.compareAndSet(first, first + 1) ? job : -1;
    }

    private int pop() {
        int last = bottom.decrementAndGet();
        int first = top.get();
        if (first > last) {
            bottom.set(first);
            return -1;
        }
        int job = jobs[last];
        if (first < last) {
            return job;
        }
        boolean isMine = top.compareAndSet(first, first + 1);
        bottom.set(first + 1);
        return isMine ? job : -1;
    }

    public static void main(String[] args) throws InterruptedException {
        LastTwiceFixed deque = new LastTwiceFixed();
        AtomicIntegerArray taken = new AtomicIntegerArray(5);
        for (int job = 0; job < 5; job++) {
            deque.push(job);
        }
        Thread thief = new Thread(() -> {
            for (int round = 0; round < 3; round++) {
                int job = deque.steal();
                if (job >= 0) {
                    taken.incrementAndGet(job);
                }
            }
        });
        thief.start();
        for (int round = 0; round < 4; round++) {
            int job = deque.pop();
            if (job >= 0) {
                taken.incrementAndGet(job);
            }
        }
        thief.join();
        for (int job = 0; job < 5; job++) {
            if (taken.get(job) > 1) {
                throw new IllegalStateException("job " + job + " was done twice");
            }
        }
    }
}
