package fissure.object;

import java.io.BufferedInputStream;
import java.io.BufferedOutputStream;
import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;

/** Reads and writes the messages between this process and Fissure. */
final class Channel {
    final DataInputStream in;
    final DataOutputStream out;

    Channel(InputStream in, OutputStream out) {
        this.in = new DataInputStream(new BufferedInputStream(in, 1 << 16));
        this.out = new DataOutputStream(new BufferedOutputStream(out, 1 << 16));
    }

    String readText() throws IOException {
        return new String(readBytes(), StandardCharsets.UTF_8);
    }

    byte[] readBytes() throws IOException {
        byte[] bytes = new byte[in.readInt()];
        in.readFully(bytes);
        return bytes;
    }

    int[] readNumbers() throws IOException {
        int[] numbers = new int[in.readInt()];
        for (int at = 0; at < numbers.length; at++) {
            numbers[at] = in.readInt();
        }
        return numbers;
    }

    void writeText(String text) throws IOException {
        byte[] bytes = text.getBytes(StandardCharsets.UTF_8);
        out.writeInt(bytes.length);
        out.write(bytes);
    }

    void writeTexts(List<String> texts) throws IOException {
        out.writeInt(texts.size());
        for (String text : texts) {
            writeText(text);
        }
    }

    /** Reads an argument: a letter for its kind, then its content. Collections are unmodifiable, because all executions share them. */
    Object readValue(ClassLoader loader, Class<?> near) throws IOException, ClassNotFoundException {
        char kind = (char) in.readUnsignedByte();
        switch (kind) {
            case 'N':
                return null;
            case 'Z':
                return in.readLong() != 0;
            case 'I':
                return (int) in.readLong();
            case 'J':
                return in.readLong();
            case 'S':
                return (short) in.readLong();
            case 'B':
                return (byte) in.readLong();
            case 'C':
                return (char) in.readLong();
            case 'F':
                return (float) in.readLong();
            case 'D':
                return (double) in.readLong();
            case 'T':
                return readText();
            case 'E':
                return readEnum(loader);
            case 'L':
                return Collections.unmodifiableList(readItems(loader, near));
            case 'H':
                Set<Object> set = new LinkedHashSet<>(readItems(loader, near));
                return Collections.unmodifiableSet(set);
            case 'M':
                return readMap(loader, near);
            case 'A':
                return readArray(loader, near);
            case 'X':
                Class<?> function = Class.forName(readText(), true, loader);
                return Functions.make(function, readText());
            case 'O':
                return made(readText(), near, loader);
            default:
                throw new IOException("unknown kind of value: " + kind);
        }
    }

    private static Object made(String expression, Class<?> near, ClassLoader loader) {
        try {
            return new Expression(expression, near, loader).value();
        } catch (Throwable error) {
            throw new IllegalArgumentException(expression + " threw " + error, error);
        }
    }

    private List<Object> readItems(ClassLoader loader, Class<?> near) throws IOException, ClassNotFoundException {
        int size = in.readInt();
        List<Object> items = new ArrayList<>(size);
        for (int at = 0; at < size; at++) {
            items.add(readValue(loader, near));
        }
        return items;
    }

    private Map<Object, Object> readMap(ClassLoader loader, Class<?> near) throws IOException, ClassNotFoundException {
        int size = in.readInt();
        Map<Object, Object> map = new LinkedHashMap<>();
        for (int at = 0; at < size; at++) {
            Object key = readValue(loader, near);
            map.put(key, readValue(loader, near));
        }
        return Collections.unmodifiableMap(map);
    }

    private Object readEnum(ClassLoader loader) throws IOException, ClassNotFoundException {
        Class<?> type = Class.forName(readText(), true, loader);
        String name = readText();
        for (Object constant : type.getEnumConstants()) {
            if (((Enum<?>) constant).name().equals(name)) {
                return constant;
            }
        }
        throw new IOException(type.getName() + " has no constant " + name);
    }

    private Object readArray(ClassLoader loader, Class<?> near) throws IOException, ClassNotFoundException {
        Class<?> type = Describe.type(readText(), loader);
        List<Object> items = readItems(loader, near);
        Object array = java.lang.reflect.Array.newInstance(type, items.size());
        for (int at = 0; at < items.size(); at++) {
            java.lang.reflect.Array.set(array, at, items.get(at));
        }
        return array;
    }
}
