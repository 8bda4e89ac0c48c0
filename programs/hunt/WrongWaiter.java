// Two threads wait in one monitor for different things; notify may wake the one that waits for something else.
// fissure: must-be-bug deadlock WrongWaiter.await*
// fissure: cause single-notify
// fissure: not-cause polls
// fissure: repair
public class WrongWaiter {
    private boolean isRed;
    private boolean isBlue;
    private int polls;

    synchronized void awaitRed() throws InterruptedException {
        polls++;
        while (!isRed) {
            wait();
        }
    }

    synchronized void awaitBlue() throws InterruptedException {
        polls++;
        while (!isBlue) {
            wait();
        }
    }

    synchronized void red() {
        isRed = true;
        notify();
    }

    synchronized void blue() {
        isBlue = true;
        notify();
    }

    public static void main(String[] args) throws InterruptedException {
        WrongWaiter light = new WrongWaiter();
        Thread first = new Thread(() -> {
            try {
                light.awaitRed();
                light.blue();
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
            }
        });
        Thread second = new Thread(() -> {
            try {
                light.awaitBlue();
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
            }
        });
        first.start();
        second.start();
        light.red();
        first.join();
        second.join();
    }
}
