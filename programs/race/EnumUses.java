// Two threads change a field of an enum constant, which all users of the enum share.
// fissure: must-find racer data-race EnumUses$Level.uses
// fissure: must-find eraser data-race EnumUses$Level.uses
public class EnumUses {
    enum Level {
        LOW,
        HIGH;

        private int uses;
    }

    static void work(Level level) {
        for (int i = 0; i < 100; i++) {
            level.uses++;
        }
    }

    public static void main(String[] args) throws InterruptedException {
        Level shared = Level.valueOf("LOW");
        Thread first = new Thread(() -> work(shared));
        Thread second = new Thread(() -> work(shared));
        first.start();
        second.start();
        first.join();
        second.join();
        System.out.println("done");
    }
}
