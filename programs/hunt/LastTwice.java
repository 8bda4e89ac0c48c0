// A lock-free deque: the owner takes from one end and a thief from the other. If one element is left, both may take it.
// fissure: must-be-bug failure LastTwice.main
// fissure: runs 40
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicIntegerArray;

public class LastTwice {
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
        int last = bottom.get() - 1;
        int first = top.get();
        if (first > last) {
            return -1;
        }
        bottom.set(last);
        return jobs[last];
    }

    public static void main(String[] args) throws InterruptedException {
        LastTwice deque = new LastTwice();
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
