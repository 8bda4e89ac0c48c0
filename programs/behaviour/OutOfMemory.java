// The program fills the heap, catches the OutOfMemoryError, frees the memory and continues.
// fissure: java -Xmx16m
public class OutOfMemory {
    static class Link {
        private final byte[] load = new byte[10_000];
        private Link next;
    }

    private static Link links;

    static synchronized void fill() {
        while (true) {
            Link link = new Link();
            link.next = links;
            links = link;
        }
    }

    public static void main(String[] args) throws InterruptedException {
        Thread filler = new Thread(() -> {
            try {
                fill();
            } catch (OutOfMemoryError e) {
                links = null;
            }
        });
        filler.start();
        filler.join();
        System.out.println(links == null && !Thread.holdsLock(OutOfMemory.class));
        byte[] again = new byte[1_000_000];
        System.out.println(again.length);
    }
}
