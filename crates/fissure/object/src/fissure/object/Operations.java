package fissure.object;

/**
 * The operations of one class under test, by number. Fissure generates a subclass for every set of operations, with
 * the calls as plain bytecode, so that the same warm code serves all harnesses.
 */
public abstract class Operations {
    /** The arguments, which the generated code takes by index. */
    public Object[] constants;

    /** A fresh object. */
    public abstract Object create() throws Throwable;

    /** Executes an operation and gives its result, made comparable; what it throws is a result, too. */
    public abstract Object invoke(int operation, Object target);
}
