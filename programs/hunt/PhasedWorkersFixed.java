// A thread asks for the phase before it starts the workers, and waits for the end of that phase.
import java.util.concurrent.Phaser;

public class PhasedWorkersFixed {
    static void work(Phaser phaser) {
        phaser.arrive();
    }

    public static void main(String[] args) {
        Phaser phaser = new Phaser(2);
        int phase = phaser.getPhase();
        new Thread(() -> work(phaser)).start();
        new Thread(() -> work(phaser)).start();
        phaser.awaitAdvance(phase);
    }
}
