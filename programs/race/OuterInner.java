// An inner class changes a private field of its outer object, and the outer class one of the inner object.
// fissure: must-find racer data-race OuterInner.total
// fissure: must-find racer data-race OuterInner$Worker.handled
// fissure: must-find eraser data-race OuterInner.total
// fissure: must-find eraser data-race OuterInner$Worker.handled
public class OuterInner {
    private int total;

    class Worker implements Runnable {
        private int handled;

        @Override
        public void run() {
            for (int i = 0; i < 100; i++) {
                handled++;
                total += 2;
            }
        }
    }

    void supervise(Worker worker) {
        for (int i = 0; i < 100; i++) {
            worker.handled++;
            total++;
        }
    }

    public static void main(String[] args) throws InterruptedException {
        OuterInner office = new OuterInner();
        Worker worker = office.new Worker();
        Thread first = new Thread(worker);
        Thread second = new Thread(() -> office.supervise(worker));
        first.start();
        second.start();
        first.join();
        second.join();
        System.out.println("done");
    }
}
