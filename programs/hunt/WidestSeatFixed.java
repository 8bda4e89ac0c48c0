// WidestSeat with a lock around search and booking.
public class WidestSeatFixed {
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
        owners[seat] += owner;
    }

    synchronized void book(int owner) {
        int seat = free();
        if (seat >= 0) {
            take(seat, owner);
        }
    }

    public static void main(String[] args) throws InterruptedException {
        WidestSeatFixed hall = new WidestSeatFixed();
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
