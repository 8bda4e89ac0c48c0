// A generic stack of linked nodes that two threads push to without a lock. The nodes themselves are only touched by
// the thread that made them, and by main at the end.
// fissure: must-find racer data-race LinkedStack.head
// fissure: must-find racer data-race LinkedStack.size
// fissure: must-find eraser data-race LinkedStack.head
// fissure: must-find eraser data-race LinkedStack.size
public class LinkedStack<T> {
    private static class Node<T> {
        private final T value;
        private final Node<T> next;

        Node(T value, Node<T> next) {
            this.value = value;
            this.next = next;
        }
    }

    private Node<T> head;
    private int size;

    void push(T value) {
        head = new Node<>(value, head);
        size++;
    }

    public static void main(String[] args) throws InterruptedException {
        LinkedStack<String> stack = new LinkedStack<>();
        Thread first = new Thread(() -> {
            for (int i = 0; i < 100; i++) {
                stack.push("first " + i);
            }
        });
        Thread second = new Thread(() -> {
            for (int i = 0; i < 100; i++) {
                stack.push("second " + i);
            }
        });
        first.start();
        second.start();
        first.join();
        second.join();
        for (Node<String> node = stack.head; node != null; node = node.next) {
            node.value.length();
        }
        System.out.println("done");
    }
}
