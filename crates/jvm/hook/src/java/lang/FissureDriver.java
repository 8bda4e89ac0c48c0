package java.lang;

import java.io.File;
import java.io.FileDescriptor;
import java.io.InputStream;
import java.io.PrintStream;
import java.lang.reflect.Constructor;
import java.lang.reflect.Field;
import java.lang.reflect.Modifier;
import java.util.Properties;
import java.util.Set;
import java.util.concurrent.ForkJoinPool;
import java.util.concurrent.ScheduledThreadPoolExecutor;
import java.util.concurrent.ThreadPoolExecutor;
import jdk.internal.loader.URLClassPath;
import jdk.internal.misc.Unsafe;

/**
 * Executes the program's main method again and again in one JVM, under the direction of native code. Its methods run in a thread that is
 * not controlled, while no run goes on; only {@link #load} and {@link #shutDown} are called during a run.
 */
final class FissureDriver {
    /** The main class of the program, as the launcher loaded it. */
    static Class<?> program;

    /** Final fields of pools that hold their state: queues and locks may still refer to threads of former runs. */
    private static final Set<String> STATE =
            Set.of("ctl", "workQueue", "mainLock", "workers", "termination", "registrationLock");
    /** Fields of pools that are not state, though they are not final. */
    private static final Set<String> MADE_WITH = Set.of(
            "threadFactory", "handler", "keepAliveTime", "allowCoreThreadTimeOut", "corePoolSize", "maximumPoolSize");

    /** The entries of the class path whose classes are loaded anew for every run. */
    private static String classPath;
    /** The loader of the classes that all runs share; null if there are none. */
    private static ClassLoader kept;
    private static Properties properties;
    private static InputStream in;
    private static PrintStream out;
    private static PrintStream err;
    private static Constructor<?> loaders;
    private static Constructor<?> paths;
    private static URLClassPath path;
    /** The class with the executor of delayed tasks; null if this JDK has none. */
    private static Class<?> delays;

    private FissureDriver() {}

    /** Whether this JVM executes several runs. */
    static native boolean isWanted();

    /** Executes runs until there are no more requests. */
    private static native void drive(Class<?> program, String[] arguments);

    /** The launcher calls this in place of the program's main method. */
    public static void main(String[] arguments) {
        Thread self = Thread.currentThread();
        self.fissureControl = -1L;
        self.setName("DestroyJavaVM");
        drive(program, arguments);
        Shutdown.halt0(0);
    }

    /** Remembers the state of the JVM before the first run; returns why runs cannot be repeated in this JVM, null if they can. */
    static String save() throws ReflectiveOperationException {
        // The launcher prefers this method, as it was before Java 21; others need more than a class.
        boolean isPlain;
        try {
            isPlain = java.lang.reflect.Modifier.isStatic(program.getMethod("main", String[].class).getModifiers());
        } catch (NoSuchMethodException missing) {
            isPlain = false;
        }
        if (!isPlain) {
            return "its main method is not public and static with one parameter";
        }
        ClassLoader system = ClassLoader.getSystemClassLoader();
        if (program.getClassLoader() != system || program.getModule().isNamed()) {
            return "its main class does not come from the class path";
        }
        if (!"jdk.internal.loader.ClassLoaders$AppClassLoader".equals(system.getClass().getName())) {
            return "it has a system class loader of its own";
        }
        classPath = System.getProperty("java.class.path");
        findDelays();
        paths = URLClassPath.class.getDeclaredConstructor(String.class, boolean.class);
        paths.setAccessible(true);
        for (Constructor<?> constructor : system.getClass().getDeclaredConstructors()) {
            if (constructor.getParameterCount() == 2) {
                loaders = constructor;
                loaders.setAccessible(true);
            }
        }
        properties = (Properties) System.getProperties().clone();
        in = System.in;
        out = System.out;
        err = System.err;
        return loaders == null ? "this JDK's class loaders are not known" : null;
    }

    /** Restores what {@link #save} remembered; returns what cannot be restored, null if there is nothing. */
    static String restore() {
        System.setProperties((Properties) properties.clone());
        System.setIn(in);
        System.setOut(out);
        System.setErr(err);
        String reason = renewPools();
        if (reason != null) {
            return reason;
        }
        boolean isOpen = FileDescriptor.in.valid() && FileDescriptor.out.valid() && FileDescriptor.err.valid();
        return isOpen ? null : "the program closed a standard stream";
    }

    /**
     * Makes the pools of the JDK that outlive a run like new; their threads have been unwound. Compiled code knows the pools as constants, so
     * they cannot be replaced. Returns why this is not possible, null if it is.
     */
    static String renewPools() {
        Unsafe memory = Unsafe.getUnsafe();
        try {
            if (!memory.shouldBeInitialized(ForkJoinPool.class)) {
                Constructor<?> common = ForkJoinPool.class.getDeclaredConstructor(byte.class);
                common.setAccessible(true);
                renew(ForkJoinPool.class, ForkJoinPool.commonPool(), common.newInstance((byte) 0));
            }
            if (delays != null && !memory.shouldBeInitialized(delays)) {
                Field delayer = delays.getDeclaredField("delayer");
                delayer.setAccessible(true);
                ThreadPoolExecutor used = (ThreadPoolExecutor) delayer.get(null);
                // A default thread factory would count as one of the program's.
                renew(ThreadPoolExecutor.class, used, new ScheduledThreadPoolExecutor(1, used.getThreadFactory()));
            }
            return null;
        } catch (ReflectiveOperationException unknown) {
            return "the JDK's common pool is not known";
        }
    }

    /** Gives a pool the state of one that was never used: all but what it was made with. */
    private static void renew(Class<?> type, Object used, Object fresh) throws ReflectiveOperationException {
        for (Field field : type.getDeclaredFields()) {
            boolean isState = (field.getModifiers() & Modifier.FINAL) == 0 || STATE.contains(field.getName());
            if (isState && (field.getModifiers() & Modifier.STATIC) == 0 && !MADE_WITH.contains(field.getName())) {
                field.setAccessible(true);
                field.set(used, field.get(fresh));
            }
        }
    }

    /** Finds the pools of which this JDK has several. */
    static void findDelays() {
        delays = delays();
    }

    private static Class<?> delays() {
        try {
            return Class.forName("java.util.concurrent.CompletableFuture$Delayer", false, null);
        } catch (ClassNotFoundException missing) {
            return null;
        }
    }

    /**
     * Loads the classes of these entries of the class path once, for all runs. Returns their loader, null if this JDK's loaders can have no
     * other parent than the platform's.
     */
    static ClassLoader keep(String entries) throws ReflectiveOperationException {
        Set<String> wanted = Set.of(entries.split(File.pathSeparator));
        StringBuilder shared = new StringBuilder();
        StringBuilder renewed = new StringBuilder();
        for (String entry : classPath.split(File.pathSeparator)) {
            StringBuilder part = wanted.contains(entry) ? shared : renewed;
            part.append(part.length() == 0 ? "" : File.pathSeparator).append(entry);
        }
        if (!loaders.getParameterTypes()[0].isInstance(ClassLoader.getSystemClassLoader())) {
            return null;
        }
        Object path = paths.newInstance(shared.toString(), false);
        kept = (ClassLoader) loaders.newInstance(ClassLoader.getPlatformClassLoader(), path);
        classPath = renewed.toString();
        return kept;
    }

    /** A new loader for all classes of the class path but those that are kept. */
    static ClassLoader newLoader() throws ReflectiveOperationException {
        if (path != null) {
            path.closeLoaders();
        }
        path = (URLClassPath) paths.newInstance(classPath, false);
        return (ClassLoader) loaders.newInstance(kept == null ? ClassLoader.getPlatformClassLoader() : kept, path);
    }

    /** The main class of the next run. */
    static Class<?> load(ClassLoader loader) throws ClassNotFoundException {
        return Class.forName(program.getName(), false, loader);
    }

    /** The arguments of a run that differ from those of the JVM. A control character is between them. */
    static String[] arguments(String text) {
        return text.split("\u0001");
    }

    /** A copy of the program's arguments, which it may change. */
    static String[] copy(String[] arguments) {
        return arguments.clone();
    }

    /** Does what the JVM does when the last thread has ended that it waits for: the current thread is controlled meanwhile. */
    static void shutDown() {
        Thread self = Thread.currentThread();
        // It may have reached a hook, and be under control, since it was attached to the JVM.
        if (self.fissureControl < 0L) {
            self.fissureControl = 0L;
        }
        try {
            Shutdown.shutdown();
        } finally {
            self.fissureControl = -1L;
        }
    }

    /** The current thread is a new main thread. */
    static void become(ClassLoader loader) {
        Thread.currentThread().setContextClassLoader(loader);
    }
}
