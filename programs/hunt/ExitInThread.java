// The auditor reads debit and credit under separate locks; a booking between the reads makes it end the program with System.exit.
// fissure: must-confirm atomicity-violation ExitInThread$Audit.check
// fissure: program-exit 3
// fissure: program-exit 0
public class ExitInThread {
    static class Books {
        private int debit = 5;
        private int credit = 5;

        synchronized void book(int amount) {
            debit += amount;
            credit += amount;
        }

        synchronized int debit() {
            return debit;
        }

        synchronized int credit() {
            return credit;
        }
    }

    static class Audit {
        private final Books books;

        Audit(Books books) {
            this.books = books;
        }

        synchronized void check() {
            if (books.debit() != books.credit()) {
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
