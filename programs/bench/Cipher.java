// The IDEA block cipher over byte arrays: threads encrypt and decrypt parts of one text with shared keys.
public class Cipher {
    private static final int SIZE = 1_200_000;

    private static int inverse(int x) {
        if (x <= 1) {
            return x;
        }
        int t1 = 0x10001 / x;
        int y = 0x10001 % x;
        if (y == 1) {
            return (1 - t1) & 0xFFFF;
        }
        int t0 = 1;
        do {
            int q = x / y;
            x = x % y;
            t0 += q * t1;
            if (x == 1) {
                return t0;
            }
            q = y / x;
            y = y % x;
            t1 += q * t0;
        } while (y != 1);
        return (1 - t1) & 0xFFFF;
    }

    static int[] encryptionKeys(short[] user) {
        int[] keys = new int[52];
        for (int i = 0; i < 8; i++) {
            keys[i] = user[i] & 0xFFFF;
        }
        for (int i = 8; i < 52; i++) {
            int phase = i & 7;
            if (phase < 6) {
                keys[i] = ((keys[i - 7] >>> 9) | (keys[i - 6] << 7)) & 0xFFFF;
            } else if (phase == 6) {
                keys[i] = ((keys[i - 7] >>> 9) | (keys[i - 14] << 7)) & 0xFFFF;
            } else {
                keys[i] = ((keys[i - 15] >>> 9) | (keys[i - 14] << 7)) & 0xFFFF;
            }
        }
        return keys;
    }

    static int[] decryptionKeys(int[] keys) {
        int[] inverted = new int[52];
        int from = 0;
        int to = 51;
        int t1 = inverse(keys[from++]);
        int t2 = -keys[from++] & 0xFFFF;
        int t3 = -keys[from++] & 0xFFFF;
        inverted[to--] = inverse(keys[from++]);
        inverted[to--] = t3;
        inverted[to--] = t2;
        inverted[to--] = t1;
        for (int round = 0; round < 8; round++) {
            t1 = keys[from++];
            inverted[to--] = keys[from++];
            inverted[to--] = t1;
            t1 = inverse(keys[from++]);
            t2 = -keys[from++] & 0xFFFF;
            t3 = -keys[from++] & 0xFFFF;
            inverted[to--] = inverse(keys[from++]);
            boolean isLast = round == 7;
            inverted[to--] = isLast ? t3 : t2;
            inverted[to--] = isLast ? t2 : t3;
            inverted[to--] = t1;
        }
        return inverted;
    }

    private static int multiply(int a, int b) {
        if (a == 0) {
            return (0x10001 - b) & 0xFFFF;
        }
        if (b == 0) {
            return (0x10001 - a) & 0xFFFF;
        }
        long product = (long) a * b;
        return (int) (product % 0x10001) & 0xFFFF;
    }

    static void convert(byte[] source, byte[] target, int[] keys, int from, int to) {
        int in = from;
        int out = from;
        for (int block = from; block < to; block += 8) {
            int key = 0;
            int x1 = (source[in++] & 0xFF) | (source[in++] & 0xFF) << 8;
            int x2 = (source[in++] & 0xFF) | (source[in++] & 0xFF) << 8;
            int x3 = (source[in++] & 0xFF) | (source[in++] & 0xFF) << 8;
            int x4 = (source[in++] & 0xFF) | (source[in++] & 0xFF) << 8;
            for (int round = 0; round < 8; round++) {
                x1 = multiply(x1, keys[key++]);
                x2 = x2 + keys[key++] & 0xFFFF;
                x3 = x3 + keys[key++] & 0xFFFF;
                x4 = multiply(x4, keys[key++]);
                int t2 = multiply(x1 ^ x3, keys[key++]);
                int t1 = multiply(t2 + (x2 ^ x4) & 0xFFFF, keys[key++]);
                t2 = t1 + t2 & 0xFFFF;
                x1 ^= t1;
                x4 ^= t2;
                t2 ^= x2;
                x2 = x3 ^ t1;
                x3 = t2;
            }
            x1 = multiply(x1, keys[key++]);
            int y2 = x3 + keys[key++] & 0xFFFF;
            int y3 = x2 + keys[key++] & 0xFFFF;
            x4 = multiply(x4, keys[key++]);
            target[out++] = (byte) x1;
            target[out++] = (byte) (x1 >>> 8);
            target[out++] = (byte) y2;
            target[out++] = (byte) (y2 >>> 8);
            target[out++] = (byte) y3;
            target[out++] = (byte) (y3 >>> 8);
            target[out++] = (byte) x4;
            target[out++] = (byte) (x4 >>> 8);
        }
    }

    public static void main(String[] args) throws InterruptedException {
        int threads = Kernel.threads(args);
        short[] user = new short[8];
        for (int i = 0; i < 8; i++) {
            user[i] = (short) (i * 7919 + 3);
        }
        int[] encryption = encryptionKeys(user);
        int[] decryption = decryptionKeys(encryption);
        Kernel.measure(args, scale -> {
            byte[] plain = new byte[SIZE];
            for (int i = 0; i < SIZE; i++) {
                plain[i] = (byte) i;
            }
            byte[] secret = new byte[SIZE];
            byte[] back = new byte[SIZE];
            int part = (SIZE / 8 + threads - 1) / threads * 8;
            for (int repeat = 0; repeat < 2 * scale; repeat++) {
                Kernel.parts(threads, t ->
                        convert(plain, secret, encryption, t * part, Math.min(SIZE, (t + 1) * part)));
                Kernel.parts(threads, t ->
                        convert(secret, back, decryption, t * part, Math.min(SIZE, (t + 1) * part)));
            }
            for (int i = 0; i < SIZE; i++) {
                Kernel.check(plain[i] == back[i], "the text was not decrypted");
            }
            return new byte[][] {plain, secret, back};
        });
    }
}
