package com.acme.text;

public class Race {
    public static void main(String[] arguments) throws InterruptedException {
        Buffer first = new Buffer();
        Buffer second = new Buffer();
        Thread appender = new Thread(() -> first.append(second), "appender");
        Thread eraser = new Thread(() -> second.delete(0, second.length()), "eraser");
        appender.start();
        eraser.start();
        appender.join();
        eraser.join();
    }
}
