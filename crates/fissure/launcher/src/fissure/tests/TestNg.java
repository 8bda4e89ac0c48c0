package fissure.tests;

import java.lang.annotation.Annotation;
import java.lang.reflect.Method;
import java.lang.reflect.Modifier;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import java.util.TreeSet;

/** TestNG. A test is a method with all its data, named {@code CLASS/METHOD}. */
final class TestNg implements Framework {
    private static final String XML = "org.testng.xml.";

    @Override
    public boolean isThere() {
        return Framework.has("org.testng.TestNG");
    }

    @Override
    public void list(List<Class<?>> classes, Listing listing) throws ReflectiveOperationException {
        Class<? extends Annotation> test = Framework.find("org.testng.annotations.Test").asSubclass(Annotation.class);
        for (Class<?> type : classes) {
            if (Modifier.isAbstract(type.getModifiers())) {
                continue;
            }
            for (String method : new TreeSet<>(methods(type, test, listing))) {
                TreeSet<String> groups = new TreeSet<>();
                for (Method declared : type.getMethods()) {
                    Annotation annotation = declared.getName().equals(method) ? declared.getAnnotation(test) : null;
                    if (annotation != null) {
                        groups.addAll(Arrays.asList((String[]) test.getMethod("groups").invoke(annotation)));
                    }
                }
                listing.test("testng", type.getName() + "/" + method, type.getName(), method, method, groups);
            }
        }
    }

    /** The names of the test methods: those with the annotation, and all public ones of a class that has it. */
    private static List<String> methods(Class<?> type, Class<? extends Annotation> test, Listing listing) {
        List<String> names = new ArrayList<>();
        try {
            for (Method method : type.getMethods()) {
                boolean isPlain = method.getDeclaringClass() != Object.class
                        && method.getReturnType() == void.class
                        && !Modifier.isStatic(method.getModifiers())
                        && method.getParameterCount() == 0
                        && method.getAnnotations().length == 0;
                boolean ofClass = isPlain && method.getDeclaringClass().isAnnotationPresent(test);
                if (method.isAnnotationPresent(test) || ofClass) {
                    names.add(method.getName());
                }
            }
        } catch (LinkageError error) {
            listing.problem(type.getName(), error);
        }
        return names;
    }

    @Override
    public Boolean run(String test) throws ReflectiveOperationException {
        int slash = test.indexOf('/');
        Class<?> suites = Framework.find(XML + "XmlSuite");
        Class<?> tests = Framework.find(XML + "XmlTest");
        Class<?> types = Framework.find(XML + "XmlClass");
        Object suite = suites.getConstructor().newInstance();
        suites.getMethod("setName", String.class).invoke(suite, "fissure");
        Object group = tests.getConstructor(suites).newInstance(suite);
        tests.getMethod("setName", String.class).invoke(group, "fissure");
        Object type = types.getConstructor(String.class).newInstance(test.substring(0, slash));
        Object include =
                Framework.find(XML + "XmlInclude").getConstructor(String.class).newInstance(test.substring(slash + 1));
        types.getMethod("setIncludedMethods", List.class).invoke(type, Collections.singletonList(include));
        tests.getMethod("setXmlClasses", List.class)
                .invoke(group, new ArrayList<>(Collections.singletonList(type)));
        Class<?> runner = Framework.find("org.testng.TestNG");
        Object testng = runner.getConstructor(boolean.class).newInstance(false);
        runner.getMethod("setVerbose", int.class).invoke(testng, 0);
        runner.getMethod("setXmlSuites", List.class).invoke(testng, Collections.singletonList(suite));
        runner.getMethod("run").invoke(testng);
        return !(Boolean) runner.getMethod("hasFailure").invoke(testng);
    }
}
