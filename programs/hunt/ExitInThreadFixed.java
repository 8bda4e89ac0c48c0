// The correct twin of ExitInThread: the books compare debit and credit under their lock.
public class ExitInThreadFixed {
    static class Books {
        private int debit = 5;
        private int credit = 5;

        synchronized void book(int amount) {
            debit += amount;
            credit += amount;
        }

        synchronized boolean isBalanced() {
            return debit == credit;
        }
    }

    static class Audit {
        private final Books books;

        Audit(Books books) {
            this.books = books;
        }

        synchronized void check() {
            if (!books.isBalanced()) {
                System.exit(3);
            }
        }
    }

    public static void main(String[] args) throws InterruptedException {
        Books books = new Books();
        Thread auditor = new Thread(() -> new Audit(books).check(), "auditor");
        Thread clerk = new Thread(() -> books.book(1), "clerk");
        auditor.start();
        clerk.start();
        auditor.join();
        clerk.join();
    }
}
