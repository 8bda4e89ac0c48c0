// Many small objects: a tree of half a million nodes is built, searched and summed, and built again.
public class SmallObjects {
    static class Node {
        private final int key;
        private Node left;
        private Node right;
        private int visits;

        Node(int key) {
            this.key = key;
        }
    }

    static class Tree {
        private Node root;
        private int size;

        void add(int key) {
            if (root == null) {
                root = new Node(key);
                size++;
                return;
            }
            Node node = root;
            while (true) {
                node.visits++;
                if (key == node.key) {
                    return;
                }
                Node next = key < node.key ? node.left : node.right;
                if (next == null) {
                    Node added = new Node(key);
                    if (key < node.key) {
                        node.left = added;
                    } else {
                        node.right = added;
                    }
                    size++;
                    return;
                }
                node = next;
            }
        }

        static long sum(Node node) {
            return node == null ? 0 : node.key + node.visits + sum(node.left) + sum(node.right);
        }
    }

    static Tree build(int count) {
        Tree tree = new Tree();
        int key = 12345;
        for (int i = 0; i < count; i++) {
            key = key * 1103515245 + 12345;
            tree.add(key >>> 4);
        }
        return tree;
    }

    public static void main(String[] args) throws InterruptedException {
        Kernel.measure(args, scale -> {
            Tree tree = null;
            long total = 0;
            for (int round = 0; round < scale; round++) {
                tree = build(500_000);
                total += Tree.sum(tree.root);
            }
            return total == 0 ? null : tree;
        });
    }
}
