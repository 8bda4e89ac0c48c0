// The nodes are made, linked, read and unlinked under the stack's lock.
public class LinkedStackFixed<T> {
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

    synchronized void push(T value) {
        head = new Node<>(value, head);
        size++;
    }

    synchronized T pop() {
        Node<T> top = head;
        if (top == null) {
            return null;
        }
        head = top.next;
        size--;
        return top.value;
    }

    void work(T value) {
        for (int i = 0; i < 100; i++) {
            push(value);
            if (i % 2 == 0) {
                pop();
            }
        }
    }

    public static void main(String[] args) throws InterruptedException {
        LinkedStackFixed<String> stack = new LinkedStackFixed<>();
        Thread first = new Thread(() -> stack.work("first"));
        Thread second = new Thread(() -> stack.work("second"));
        first.start();
        second.start();
        first.join();
        second.join();
        if (stack.size != 100) {
            throw new AssertionError(stack.size);
        }
        System.out.println("done");
    }
}
