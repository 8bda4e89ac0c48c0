package com.acme.text;

/** A growing text that several threads may use, so its author thought. */
public final class Buffer {
    private char[] chars = new char[16];
    private int count;

    public synchronized int length() {
        return count;
    }

    public synchronized void copy(int from, int to, char[] target, int at) {
        if (to > count) {
            throw new StringIndexOutOfBoundsException(to);
        }
        System.arraycopy(chars, from, target, at, to - from);
    }

    public synchronized Buffer append(Buffer other) {
        int length = other.length();
        if (count + length > chars.length) {
            chars = java.util.Arrays.copyOf(chars, count + length);
        }
        other.copy(0, length, chars, count);
        count += length;
        return this;
    }

    public synchronized void delete(int from, int to) {
        System.arraycopy(chars, to, chars, from, count - to);
        count -= to - from;
    }
}
