// Two counters are updated in one line. The program checks only one of them; the other one is a harmless race in the same line.
// fissure: must-be-bug failure SameLine.main
// fissure: cause total SameLine.add:11
// fissure: not-cause calls
// fissure: repair
public class SameLine {
    private int calls;
    private int total;

    void add(int amount) {
        calls++; total += amount;
    }

    public static void main(String[] args) throws InterruptedException {
        SameLine sum = new SameLine();
        Runnable work = () -> sum.add(5);
        Thread first = new Thread(work);
        Thread second = new Thread(work);
        first.start();
        second.start();
        first.join();
        second.join();
        if (sum.total != 10) {
            throw new IllegalStateException("total " + sum.total);
        }
    }
}
