// A thread waits for the end of the current phase. If the workers have arrived before it asks for the phase, it waits for the end of the
// next one, to which nobody arrives.
// fissure: must-be-bug deadlock PhasedWorkers.main
import java.util.concurrent.Phaser;

public class PhasedWorkers {
    static void work(Phaser phaser) {
        phaser.arrive();
    }

    public static void main(String[] args) {
        Phaser phaser = new Phaser(2);
        new Thread(() -> work(phaser)).start();
        new Thread(() -> work(phaser)).start();
        phaser.awaitAdvance(phaser.getPhase());
    }
}
