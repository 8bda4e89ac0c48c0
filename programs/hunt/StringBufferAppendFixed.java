// The correct twin of StringBufferAppend: the collector locks the line before it appends it.
public class StringBufferAppendFixed {
    public static void main(String[] args) throws InterruptedException {
        StringBuffer all = new StringBuffer();
        StringBuffer line = new StringBuffer("line");
        String more = "x".repeat(200);
        Thread collector = new Thread(() -> {
            synchronized (line) {
                all.append(line);
            }
        }, "collector");
        Thread writer = new Thread(() -> line.append(more), "writer");
        collector.start();
        writer.start();
        collector.join();
        writer.join();
    }
}
