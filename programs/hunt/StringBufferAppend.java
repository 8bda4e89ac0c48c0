// StringBuffer.append(StringBuffer) reads the length of its argument and then its characters. If another thread appends between the
// two reads, there is not enough room for the characters.
// fissure: must-be-bug atomicity-violation java.lang.StringBuffer.append
public class StringBufferAppend {
    public static void main(String[] args) throws InterruptedException {
        StringBuffer all = new StringBuffer();
        StringBuffer line = new StringBuffer("line");
        String more = "x".repeat(200);
        Thread collector = new Thread(() -> all.append(line), "collector");
        Thread writer = new Thread(() -> line.append(more), "writer");
        collector.start();
        writer.start();
        collector.join();
        writer.join();
    }
}
