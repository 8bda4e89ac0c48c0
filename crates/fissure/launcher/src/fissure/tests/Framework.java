package fissure.tests;

import java.util.List;

/** A test framework, which is called by reflection: each project has its own version. */
interface Framework {
    /** Whether the class path has the framework, with all that executes tests. */
    boolean isThere();

    /** Lists the tests in these classes. */
    void list(List<Class<?>> classes, Listing listing) throws ReflectiveOperationException;

    /** Executes a test; returns whether it passed, null if there is no such test. */
    Boolean run(String test) throws ReflectiveOperationException;

    /** A class of the framework, by its name. */
    static Class<?> find(String name) throws ClassNotFoundException {
        return Class.forName(name, true, Thread.currentThread().getContextClassLoader());
    }

    /** Whether the class path has a class. */
    static boolean has(String name) {
        try {
            Class.forName(name, false, Thread.currentThread().getContextClassLoader());
            return true;
        } catch (ClassNotFoundException | LinkageError missing) {
            return false;
        }
    }
}
