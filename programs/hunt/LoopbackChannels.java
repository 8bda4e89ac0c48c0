// A pipe and a socket whose buffers are full, and a socket for datagrams: threads that wait for room or for input hand over at once. They
// count themselves without a lock, and one of them is lost.
// fissure: must-be-bug failure LoopbackChannels.main
import java.io.IOException;
import java.net.DatagramPacket;
import java.net.DatagramSocket;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.nio.ByteBuffer;
import java.nio.channels.Pipe;
import java.nio.channels.ReadableByteChannel;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.nio.channels.WritableByteChannel;

public class LoopbackChannels {
    private static final int BYTES = 8_000_000;
    private static volatile int done;

    private interface Work {
        void run() throws IOException;
    }

    public static void main(String[] arguments) throws Exception {
        InetAddress loopback = InetAddress.getLoopbackAddress();
        Pipe pipe = Pipe.open();
        DatagramSocket first = new DatagramSocket(0, loopback);
        DatagramSocket second = new DatagramSocket(0, loopback);
        ServerSocketChannel server = ServerSocketChannel.open().bind(new InetSocketAddress(loopback, 0));
        int port = ((InetSocketAddress) server.getLocalAddress()).getPort();
        Thread[] threads = {
            thread(() -> send(pipe.sink(), BYTES / 10)),
            thread(() -> receive(pipe.source(), BYTES / 10)),
            thread(() -> sendBySocket(new Socket(loopback, port))),
            thread(() -> receive(server.accept(), BYTES)),
            thread(() -> exchange(first, second, true)),
            thread(() -> exchange(second, first, false)),
        };
        for (Thread thread : threads) {
            thread.join();
        }
        if (done != threads.length) {
            throw new IllegalStateException("done " + done);
        }
        System.out.println("done");
    }

    private static Thread thread(Work work) {
        Thread thread = new Thread(() -> {
            try {
                work.run();
            } catch (IOException error) {
                throw new IllegalStateException(error);
            }
            int count = done;
            done = count + 1;
        });
        thread.start();
        return thread;
    }

    private static void send(WritableByteChannel channel, int bytes) throws IOException {
        try (channel) {
            if (channel.write(ByteBuffer.allocate(bytes)) != bytes) {
                throw new IllegalStateException("a blocking channel wrote less");
            }
        }
    }

    private static void sendBySocket(Socket socket) throws IOException {
        try (socket) {
            socket.getOutputStream().write(new byte[BYTES]);
        }
    }

    private static void receive(ReadableByteChannel channel, int bytes) throws IOException {
        ByteBuffer buffer = ByteBuffer.allocate(1_000_000);
        int received = 0;
        for (int count; (count = channel.read(buffer)) >= 0; buffer.clear()) {
            received += count;
        }
        if (received != bytes) {
            throw new IllegalStateException("received " + received);
        }
    }

    private static void exchange(DatagramSocket own, DatagramSocket other, boolean begins) throws IOException {
        DatagramPacket packet = new DatagramPacket(new byte[10], 10, other.getLocalSocketAddress());
        for (int k = 0; k < 5; k++) {
            if (begins) {
                own.send(packet);
            }
            own.receive(new DatagramPacket(new byte[10], 10));
            if (!begins) {
                own.send(packet);
            }
        }
    }
}
