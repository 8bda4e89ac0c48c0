// Two threads copy a shared object, and then both write to the same copy without a lock.
// fissure: must-find racer data-race CopiedObjects$Page.number
// fissure: must-find eraser data-race CopiedObjects$Page.number
public class CopiedObjects {
    static class Page implements Cloneable {
        int number;

        @Override
        public Page clone() {
            try {
                return (Page) super.clone();
            } catch (CloneNotSupportedException e) {
                throw new AssertionError(e);
            }
        }
    }

    private static Page copy;

    private static void work() {
        Page own = copy;
        for (int i = 0; i < 100; i++) {
            own.number++;
        }
    }

    public static void main(String[] args) throws InterruptedException {
        copy = new Page().clone();
        Thread first = new Thread(CopiedObjects::work);
        Thread second = new Thread(CopiedObjects::work);
        first.start();
        second.start();
        first.join();
        second.join();
        System.out.println("done");
    }
}
