// WrongWaiter with notifyAll.
public class WrongWaiterFixed {
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
        notifyAll();
    }

    synchronized void blue() {
        isBlue = true;
        notifyAll();
    }

    public static void main(String[] args) throws InterruptedException {
        WrongWaiterFixed light = new WrongWaiterFixed();
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
