// The correct twin of EarlyInterference: the stock computes its sum in one synchronized method.
public class EarlyInterferenceFixed {
    static class Stock {
        private int sold;
        private int left = 10;

        synchronized void sell() {
            sold++;
            left--;
        }

        synchronized int all() {
            return sold + left;
        }
    }

    static class Report {
        private final Stock stock;

        Report(Stock stock) {
            this.stock = stock;
        }

        void prepare(Object[] locks) {
            for (Object lock : locks) {
                synchronized (lock) {
                }
            }
        }

        synchronized void print() {
            int all = stock.all();
            if (all != 10) {
                throw new IllegalStateException(all + " pieces");
            }
        }
    }

    public static void main(String[] args) throws InterruptedException {
        Stock stock = new Stock();
        Report report = new Report(stock);
        Object[] locks = {new Object(), new Object(), new Object(), new Object(), new Object(), new Object()};
        Thread seller = new Thread(stock::sell, "seller");
        Thread printer = new Thread(() -> {
            report.prepare(locks);
            report.print();
        }, "printer");
        seller.start();
        printer.start();
        seller.join();
        printer.join();
    }
}
