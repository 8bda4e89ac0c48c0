// The remote access happens long before the two local reads of the stock, unless the scheduler delays the selling thread.
// fissure: must-be-bug atomicity-violation EarlyInterference$Report.print
public class EarlyInterference {
    static class Stock {
        private int sold;
        private int left = 10;

        synchronized void sell() {
            sold++;
            left--;
        }

        synchronized int sold() {
            return sold;
        }

        synchronized int left() {
            return left;
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
            int all = stock.sold() + stock.left();
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
