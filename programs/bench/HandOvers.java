// Two threads that hand over to each other again and again, by wait and notify in one monitor. How often is the argument.
public class HandOvers {
    private long turn;

    synchronized void play(long parity, long count) {
        try {
            while (turn < count) {
                if (turn % 2 == parity) {
                    turn++;
                    notify();
                } else {
                    wait();
                }
            }
            notify();
        } catch (InterruptedException e) {
            throw new IllegalStateException(e);
        }
    }

    public static void main(String[] args) throws InterruptedException {
        long count = Long.parseLong(args[0]);
        HandOvers state = new HandOvers();
        Thread other = new Thread(() -> state.play(1, count));
        other.start();
        state.play(0, count);
        other.join();
        System.out.println(state.turn);
    }
}
