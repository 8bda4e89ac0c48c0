package java.lang;

/** Names of threads in reports. */
final class FissureNames {
    private FissureNames() {}

    /** The name of a thread. Virtual threads often have none, and get the one that {@code toString} shows. */
    static String of(Thread thread) {
        String name = thread.getName();
        return name.isEmpty() && isVirtual(thread.getClass().getName()) ? "VirtualThread[#" + thread.getId() + "]" : name;
    }

    /** Whether a class is one of the two of virtual threads; {@code isVirtual} does not exist in every JDK. */
    private static boolean isVirtual(String type) {
        return type.equals("java.lang.VirtualThread") || isBound(type);
    }

    /** Whether a class is that of bound virtual threads, each of which has a thread of the operating system. */
    static boolean isBound(String type) {
        return type.equals("java.lang.ThreadBuilders$BoundVirtualThread");
    }
}
