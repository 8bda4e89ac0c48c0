// A seat is chosen by a search and taken later, in another method, without a lock; each thread also counts its searches.
// fissure: must-be-bug failure WidestSeat.main
// fissure: cause taken WidestSeat.free:13 WidestSeat.take:21
// fissure: not-cause searches
public class WidestSeat {
    private final boolean[] taken = new boolean[2];
    private final int[] owners = new int[2];
    private int searches;

    private int free() {
        searches++;
        for (int seat = 0; seat < taken.length; seat++) {
            if (!taken[seat]) {
                return seat;
            }
        }
        return -1;
    }

    private void take(int seat, int owner) {
        taken[seat] = true;
        synchronized (owners) {
            owners[seat] += owner;
        }
    }

    void book(int owner) {
        int seat = free();
        if (seat >= 0) {
            take(seat, owner);
        }
    }

    public static void main(String[] args) throws InterruptedException {
        WidestSeat hall = new WidestSeat();
        Thread first = new Thread(() -> hall.book(1));
        Thread second = new Thread(() -> hall.book(2));
        first.start();
        second.start();
        first.join();
        second.join();
        if (hall.owners[0] == 3) {
            throw new IllegalStateException("two owners of one seat");
        }
    }
}
