package fissure.object;

/**
 * The operations of one class under test, by number. Fissure generates a subclass for every set of operations, with
 * the calls as plain bytecode, so that the same warm code serves all harnesses.
 */
public abstract class Operations {
    /** The arguments, which the generated code uses by index. */
    public Object[] constants;

    /** Makes objects if no constructor does. */
    Expression maker;

    /** A fresh object. The generated code calls a constructor, if one makes the objects. */
    public Object create() throws Throwable {
        return maker.value();
    }

    /** Executes an operation and returns its result in comparable form; an exception counts as a result. */
    public abstract Object invoke(int operation, Object target);
}
