// The subtasks of a structured scope add their results to one list, a thread-unsafe object. The class of the
// scope is a preview and has changed between versions, so the program reaches it by reflection.
// fissure: release 21
// fissure: must-be-bug failure VirtualScope.main
// fissure: java --enable-preview
import java.lang.reflect.Method;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;

public class VirtualScope {
    private static final List<String> RESULTS = new ArrayList<>();

    static Object open(Class<?> scope) throws ReflectiveOperationException {
        try {
            return scope.getMethod("open").invoke(null);
        } catch (NoSuchMethodException older) {
            return scope.getConstructor().newInstance();
        }
    }

    static String load(String what) {
        RESULTS.add(what);
        return what;
    }

    public static void main(String[] args) throws Exception {
        Class<?> type = Class.forName("java.util.concurrent.StructuredTaskScope");
        Method fork = type.getMethod("fork", Callable.class);
        try (AutoCloseable scope = (AutoCloseable) open(type)) {
            for (String what : new String[] {"user", "order"}) {
                Callable<String> subtask = () -> load(what);
                fork.invoke(scope, subtask);
            }
            type.getMethod("join").invoke(scope);
        }
        if (RESULTS.size() != 2 || RESULTS.contains(null)) {
            throw new IllegalStateException("results: " + RESULTS);
        }
    }
}
