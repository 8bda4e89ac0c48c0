// An echo server and three clients on loopback.
import io.netty.bootstrap.Bootstrap;
import io.netty.bootstrap.ServerBootstrap;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.channel.Channel;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.channel.ChannelInitializer;
import io.netty.channel.SimpleChannelInboundHandler;
import io.netty.channel.nio.NioEventLoopGroup;
import io.netty.channel.socket.SocketChannel;
import io.netty.channel.socket.nio.NioServerSocketChannel;
import io.netty.channel.socket.nio.NioSocketChannel;
import java.net.InetSocketAddress;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;

public final class NettyDriver {
    private static final CountDownLatch ECHOES = new CountDownLatch(3 * 4);

    private static final class Echo extends ChannelInboundHandlerAdapter {
        @Override
        public void channelRead(ChannelHandlerContext context, Object message) {
            context.writeAndFlush(message);
        }
    }

    private static final class Client extends SimpleChannelInboundHandler<ByteBuf> {
        private int sent;

        @Override
        public void channelActive(ChannelHandlerContext context) {
            context.writeAndFlush(Unpooled.wrappedBuffer(new byte[] {1}));
        }

        @Override
        protected void channelRead0(ChannelHandlerContext context, ByteBuf message) {
            ECHOES.countDown();
            if (++sent < 4) {
                context.writeAndFlush(Unpooled.wrappedBuffer(new byte[] {1}));
            } else {
                context.close();
            }
        }
    }

    public static void main(String[] arguments) throws Exception {
        NioEventLoopGroup group = new NioEventLoopGroup(3);
        ServerBootstrap server = new ServerBootstrap().group(group).channel(NioServerSocketChannel.class);
        server.childHandler(new ChannelInitializer<SocketChannel>() {
            @Override
            protected void initChannel(SocketChannel channel) {
                channel.pipeline().addLast(new Echo());
            }
        });
        Channel bound = server.bind("127.0.0.1", 0).sync().channel();
        int port = ((InetSocketAddress) bound.localAddress()).getPort();
        Bootstrap client = new Bootstrap().group(group).channel(NioSocketChannel.class);
        client.handler(new ChannelInitializer<SocketChannel>() {
            @Override
            protected void initChannel(SocketChannel channel) {
                channel.pipeline().addLast(new Client());
            }
        });
        for (int i = 0; i < 3; i++) {
            client.connect("127.0.0.1", port);
        }
        boolean all = ECHOES.await(60, TimeUnit.SECONDS);
        bound.close().sync();
        group.shutdownGracefully(0, 1, TimeUnit.SECONDS).sync();
        System.out.println("echoes " + all);
    }
}
