package fissure.tests;

import java.lang.annotation.Annotation;
import java.lang.reflect.Method;
import java.lang.reflect.Modifier;
import java.util.Collections;
import java.util.List;

/** JUnit 4 without the platform, and the tests of JUnit 3 that it executes. A test is named {@code CLASS/DESCRIPTION}. */
final class JUnit4 implements Framework {
    private static final String RUNNER = "org.junit.runner.";

    @Override
    public boolean isThere() {
        return Framework.has(RUNNER + "JUnitCore");
    }

    @Override
    public void list(List<Class<?>> classes, Listing listing) throws ReflectiveOperationException {
        for (Class<?> type : classes) {
            try {
                if (isTest(type) && !listing.hasTestsOf(type.getName())) {
                    list(type, describe(request(type)), listing);
                }
            } catch (ReflectiveOperationException | LinkageError error) {
                listing.problem(type.getName(), error.getCause() == null ? error : error.getCause());
            }
        }
    }

    private static void list(Class<?> type, Object description, Listing listing) throws ReflectiveOperationException {
        if (!(Boolean) call(description, "isTest")) {
            for (Object child : children(description)) {
                list(type, child, listing);
            }
            return;
        }
        Object method = call(description, "getMethodName");
        String name = (String) call(description, "getDisplayName");
        String shown = method == null ? name : (String) method;
        String plain = shown.replaceFirst("\\[.*", "");
        listing.test("junit4", type.getName() + "/" + name, type.getName(), plain, shown, Collections.emptyList());
    }

    /** Whether JUnit 4 would execute the class without being told to: it has a runner or test methods, or extends JUnit 3's class. */
    private static boolean isTest(Class<?> type) throws ReflectiveOperationException {
        if (Modifier.isAbstract(type.getModifiers()) || !Modifier.isPublic(type.getModifiers())) {
            return false;
        }
        Class<?> old = Framework.has("junit.framework.TestCase") ? Framework.find("junit.framework.TestCase") : null;
        if (old != null && old.isAssignableFrom(type)) {
            return true;
        }
        if (type.isAnnotationPresent(annotation(RUNNER + "RunWith"))) {
            return true;
        }
        Class<? extends Annotation> test = annotation("org.junit.Test");
        for (Method method : type.getMethods()) {
            if (method.isAnnotationPresent(test)) {
                return true;
            }
        }
        return false;
    }

    private static Class<? extends Annotation> annotation(String name) throws ClassNotFoundException {
        return Framework.find(name).asSubclass(Annotation.class);
    }

    @Override
    public Boolean run(String test) throws ReflectiveOperationException {
        int slash = test.indexOf('/');
        Class<?> type = Class.forName(test.substring(0, slash), true, Thread.currentThread().getContextClassLoader());
        Object request = request(type);
        Object wanted = find(describe(request), test.substring(slash + 1));
        if (wanted == null) {
            return null;
        }
        Class<?> requests = Framework.find(RUNNER + "Request");
        Object filtered =
                requests.getMethod("filterWith", Framework.find(RUNNER + "Description")).invoke(request, wanted);
        Class<?> core = Framework.find(RUNNER + "JUnitCore");
        Object result = core.getMethod("run", requests).invoke(core.getConstructor().newInstance(), filtered);
        return (Boolean) Framework.find(RUNNER + "Result").getMethod("wasSuccessful").invoke(result);
    }

    private static Object request(Class<?> type) throws ReflectiveOperationException {
        return Framework.find(RUNNER + "Request").getMethod("aClass", Class.class).invoke(null, type);
    }

    private static Object describe(Object request) throws ReflectiveOperationException {
        Object runner = Framework.find(RUNNER + "Request").getMethod("getRunner").invoke(request);
        return Framework.find(RUNNER + "Runner").getMethod("getDescription").invoke(runner);
    }

    private static Object find(Object description, String name) throws ReflectiveOperationException {
        if ((Boolean) call(description, "isTest")) {
            return name.equals(call(description, "getDisplayName")) ? description : null;
        }
        for (Object child : children(description)) {
            Object found = find(child, name);
            if (found != null) {
                return found;
            }
        }
        return null;
    }

    private static List<?> children(Object description) throws ReflectiveOperationException {
        return (List<?>) call(description, "getChildren");
    }

    private static Object call(Object description, String method) throws ReflectiveOperationException {
        return Framework.find(RUNNER + "Description").getMethod(method).invoke(description);
    }
}
