package fissure.object;

/** The result of an operation that threw an exception: one instance per exception class. */
final class Thrown {
    private static final ClassValue<Thrown> ALL = new ClassValue<>() {
        @Override
        protected Thrown computeValue(Class<?> type) {
            return new Thrown(type);
        }
    };

    private final Class<?> type;

    private Thrown(Class<?> type) {
        this.type = type;
    }

    static Thrown of(Throwable throwable) {
        return ALL.get(throwable.getClass());
    }

    @Override
    public String toString() {
        return Snapshot.nameOf(type);
    }
}
