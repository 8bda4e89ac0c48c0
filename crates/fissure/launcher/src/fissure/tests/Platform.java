package fissure.tests;

import java.lang.reflect.Array;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Collections;
import java.util.List;
import java.util.Optional;

/** The JUnit Platform, with all engines that the class path has: Jupiter, Vintage and others. */
final class Platform implements Framework {
    private static final String LAUNCHER = "org.junit.platform.launcher.";
    private static final String ENGINE = "org.junit.platform.engine.";

    @Override
    public boolean isThere() {
        return Framework.has(LAUNCHER + "core.LauncherFactory");
    }

    @Override
    public void list(List<Class<?>> classes, Listing listing) throws ReflectiveOperationException {
        Method selectClass = Framework.find(ENGINE + "discovery.DiscoverySelectors").getMethod("selectClass", Class.class);
        Object launcher = launcher();
        // One by one: an engine that cannot read one class, because a library is missing that it needs, gives up all that are asked for with it.
        for (Class<?> type : classes) {
            List<Object> selectors = Collections.singletonList(selectClass.invoke(null, type));
            try {
                Object plan = discover(launcher, request(selectors));
                for (Object root : (Collection<?>) call(plan, "TestPlan", "getRoots")) {
                    list(plan, root, listing);
                }
            } catch (InvocationTargetException error) {
                listing.problem(type.getName(), error.getCause());
            }
        }
    }

    private void list(Object plan, Object test, Listing listing) throws ReflectiveOperationException {
        Class<?> type = Framework.find(LAUNCHER + "TestIdentifier");
        Collection<?> children =
                (Collection<?>) Framework.find(LAUNCHER + "TestPlan").getMethod("getChildren", type).invoke(plan, test);
        for (Object child : children) {
            list(plan, child, listing);
        }
        Object source = ((Optional<?>) call(test, "TestIdentifier", "getSource")).orElse(null);
        boolean isMethod = source != null && source.getClass().getSimpleName().equals("MethodSource");
        boolean isTest = (Boolean) call(test, "TestIdentifier", "isTest");
        // A method with parameters is a container without children: it gets them when it is executed.
        if (!children.isEmpty() || !(isTest || isMethod)) {
            return;
        }
        String id = (String) call(test, "TestIdentifier", "getUniqueId");
        String owner = "";
        String method = "";
        if (source != null && (isMethod || source.getClass().getSimpleName().equals("ClassSource"))) {
            owner = (String) source.getClass().getMethod("getClassName").invoke(source);
        }
        if (isMethod) {
            method = (String) source.getClass().getMethod("getMethodName").invoke(source);
        }
        List<String> tags = new ArrayList<>();
        for (Object tag : (Collection<?>) call(test, "TestIdentifier", "getTags")) {
            tags.add((String) tag.getClass().getMethod("getName").invoke(tag));
        }
        Collections.sort(tags);
        listing.test("platform", id, owner, method, (String) call(test, "TestIdentifier", "getDisplayName"), tags);
    }

    @Override
    public Boolean run(String test) throws ReflectiveOperationException {
        Object selector = Framework.find(ENGINE + "discovery.DiscoverySelectors")
                .getMethod("selectUniqueId", String.class)
                .invoke(null, test);
        Class<?> listeners = Framework.find(LAUNCHER + "TestExecutionListener");
        Object summing = Framework.find(LAUNCHER + "listeners.SummaryGeneratingListener").getConstructor().newInstance();
        Object all = Array.newInstance(listeners, 1);
        Array.set(all, 0, summing);
        Framework.find(LAUNCHER + "Launcher")
                .getMethod("execute", Framework.find(LAUNCHER + "LauncherDiscoveryRequest"), all.getClass())
                .invoke(launcher(), request(Collections.singletonList(selector)), all);
        Object summary = summing.getClass().getMethod("getSummary").invoke(summing);
        Class<?> counts = Framework.find(LAUNCHER + "listeners.TestExecutionSummary");
        long failed = (Long) counts.getMethod("getTotalFailureCount").invoke(summary);
        long found = (Long) counts.getMethod("getTestsFoundCount").invoke(summary);
        long containers = (Long) counts.getMethod("getContainersFoundCount").invoke(summary);
        // The engine itself is a container.
        return failed == 0 && found == 0 && containers < 2 ? null : Boolean.valueOf(failed == 0);
    }

    private static Object launcher() throws ReflectiveOperationException {
        return Framework.find(LAUNCHER + "core.LauncherFactory").getMethod("create").invoke(null);
    }

    private static Object request(List<?> selectors) throws ReflectiveOperationException {
        Class<?> type = Framework.find(LAUNCHER + "core.LauncherDiscoveryRequestBuilder");
        Object builder = type.getMethod("request").invoke(null);
        type.getMethod("selectors", List.class).invoke(builder, selectors);
        return type.getMethod("build").invoke(builder);
    }

    private static Object discover(Object launcher, Object request) throws ReflectiveOperationException {
        Class<?> requests = Framework.find(LAUNCHER + "LauncherDiscoveryRequest");
        return Framework.find(LAUNCHER + "Launcher").getMethod("discover", requests).invoke(launcher, request);
    }

    private static Object call(Object object, String type, String method) throws ReflectiveOperationException {
        return Framework.find(LAUNCHER + type).getMethod(method).invoke(object);
    }
}
