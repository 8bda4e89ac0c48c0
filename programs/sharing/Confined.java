// No object is shared: each thread has its own tree, list and counter, and only main uses the rest.
// fissure: static-fields 0
import java.util.ArrayList;
import java.util.List;

public class Confined {
    static class Node {
        int key;
        Node left;
        Node right;

        Node(int key) {
            this.key = key;
        }
    }

    static class Tree {
        Node root;
        int size;

        void add(int key) {
            Node added = new Node(key);
            size++;
            if (root == null) {
                root = added;
                return;
            }
            Node node = root;
            while (true) {
                Node next = key < node.key ? node.left : node.right;
                if (next == null) {
                    break;
                }
                node = next;
            }
            if (key < node.key) {
                node.left = added;
            } else {
                node.right = added;
            }
        }
    }

    static class Worker extends Thread {
        @Override
        public void run() {
            Tree tree = new Tree();
            List<Node> nodes = new ArrayList<>();
            for (int i = 0; i < 10; i++) {
                tree.add(i * 7 % 10);
                nodes.add(new Node(i));
            }
            for (Node node : nodes) {
                node.key++;
            }
        }
    }

    private static int runs;

    public static void main(String[] args) throws InterruptedException {
        for (runs = 0; runs < 2; runs++) {
            Thread one = new Worker();
            Thread other = new Worker();
            one.start();
            other.start();
            one.join();
            other.join();
        }
        System.out.println("done");
    }
}
