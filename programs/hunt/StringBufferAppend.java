// StringBuffer.append(StringBuffer) asks the other buffer for its length and then for its characters. In between there may
// have come more characters than there is room for.
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
