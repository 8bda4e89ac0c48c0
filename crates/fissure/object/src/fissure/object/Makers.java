package fissure.object;

import java.lang.reflect.Constructor;
import java.lang.reflect.Executable;
import java.lang.reflect.Method;
import java.lang.reflect.Modifier;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collection;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.Set;

/** Finds Java expressions that make an object of a class: constructors, static factories of the class or a companion, and builders. */
final class Makers {
    /** How deeply arguments of arguments are made. */
    private static final int DEPTH = 2;

    /** Names of factories that make new objects, the most usual ones first. */
    private static final List<String> NAMES = List.of("create", "newInstance", "of", "empty", "make", "build", "open", "start");

    /** Names of static methods that return a builder. */
    private static final List<String> BUILDERS = List.of("builder", "newBuilder", "create", "custom");

    private Makers() {}

    /** Expressions that may make an object of this class, the most likely ones first. Constructors are not among them. */
    static List<String> factories(Class<?> type) {
        List<String> found = new ArrayList<>(methods(type, type));
        for (Class<?> companion : companions(type)) {
            found.addAll(methods(companion, type));
        }
        for (Class<?> owner : owners(type)) {
            found.addAll(builders(owner, type));
        }
        return found;
    }

    /** A few expressions for arguments of this type; empty if none is known. */
    static List<String> values(Class<?> type, int number) {
        List<String> found = new ArrayList<>();
        for (int at = 0; at < number; at++) {
            String value = value(type, at, 0);
            if (value != null && !found.contains(value)) {
                found.add(value);
            }
        }
        return found;
    }

    private static List<String> methods(Class<?> owner, Class<?> type) {
        List<Method> all = new ArrayList<>();
        for (Method method : owner.getDeclaredMethods()) {
            if (Modifier.isStatic(method.getModifiers()) && isOpen(method, type) && !method.isSynthetic()
                    && type.isAssignableFrom(method.getReturnType())) {
                all.add(method);
            }
        }
        all.sort(Comparator.comparing((Method method) -> rank(method.getName())).thenComparing(Method::getParameterCount)
                .thenComparing(Method::toString));
        List<String> found = new ArrayList<>();
        for (Method method : all) {
            String arguments = arguments(method, 0, 0);
            if (arguments != null) {
                found.add(name(owner) + "." + method.getName() + arguments);
            }
        }
        return found;
    }

    private static int rank(String name) {
        int known = NAMES.indexOf(name);
        return known >= 0 ? known : name.startsWith("new") ? 2 : NAMES.size();
    }

    /** Builders with their default settings. */
    private static List<String> builders(Class<?> owner, Class<?> type) {
        List<String> found = new ArrayList<>();
        for (Method method : sorted(owner.getDeclaredMethods())) {
            if (Modifier.isStatic(method.getModifiers()) && isOpen(method, type) && method.getParameterCount() == 0
                    && BUILDERS.contains(method.getName())) {
                add(found, name(owner) + "." + method.getName() + "()", method.getReturnType(), type);
            }
        }
        for (Class<?> inner : owner.getDeclaredClasses()) {
            if (inner.getSimpleName().endsWith("Builder")) {
                builder(found, inner, type);
            }
        }
        if (owner.getSimpleName().endsWith("Builder")) {
            builder(found, owner, type);
        }
        return found;
    }

    private static void builder(List<String> found, Class<?> builder, Class<?> type) {
        for (Constructor<?> constructor : builder.getDeclaredConstructors()) {
            if (constructor.getParameterCount() == 0 && isOpen(constructor, type)) {
                add(found, "new " + name(builder) + "()", builder, type);
            }
        }
    }

    private static void add(List<String> found, String start, Class<?> builder, Class<?> type) {
        for (Method method : sorted(builder.getMethods())) {
            boolean isFitting = type.isAssignableFrom(method.getReturnType())
                    || method.getName().equals("build") && method.getReturnType().isAssignableFrom(type);
            if (!Modifier.isStatic(method.getModifiers()) && method.getParameterCount() == 0 && isFitting
                    && method.getReturnType() != Object.class && !method.isBridge()) {
                found.add(start + "." + method.getName() + "()");
            }
        }
    }

    /** Classes whose static methods may make such an object. */
    private static List<Class<?>> companions(Class<?> type) {
        List<Class<?>> found = new ArrayList<>();
        if (type.getEnclosingClass() != null) {
            found.add(type.getEnclosingClass());
        }
        for (String end : List.of("s", "Factory", "es", "Companion")) {
            try {
                found.add(Class.forName(type.getName() + end, true, type.getClassLoader()));
            } catch (ClassNotFoundException | LinkageError missing) {
                continue;
            }
        }
        return found;
    }

    private static List<Class<?>> owners(Class<?> type) {
        List<Class<?>> found = new ArrayList<>(List.of(type));
        if (type.getEnclosingClass() != null) {
            found.add(type.getEnclosingClass());
        }
        try {
            found.add(Class.forName(type.getName() + "Builder", true, type.getClassLoader()));
        } catch (ClassNotFoundException | LinkageError missing) {
            return found;
        }
        return found;
    }

    private static Method[] sorted(Method[] methods) {
        Arrays.sort(methods, Comparator.comparing(Method::getParameterCount).thenComparing(Method::toString));
        return methods;
    }

    private static boolean isOpen(Executable one, Class<?> type) {
        Class<?> owner = one.getDeclaringClass();
        boolean isNear = !Describe.isReachable(type) && owner.getPackageName().equals(type.getPackageName());
        return isNear ? !Modifier.isPrivate(one.getModifiers())
                : Modifier.isPublic(one.getModifiers()) && Describe.isReachable(owner);
    }

    private static String arguments(Executable one, int number, int depth) {
        StringBuilder text = new StringBuilder("(");
        for (Class<?> type : one.getParameterTypes()) {
            String value = value(type, number, depth + 1);
            if (value == null) {
                return null;
            }
            text.append(text.length() > 1 ? ", " : "").append(value);
        }
        return text.append(')').toString();
    }

    /** The expression with this number for a type; null if none is known. */
    private static String value(Class<?> type, int number, int depth) {
        if (type == int.class || type == short.class || type == byte.class || type == Integer.class) {
            // A small capacity lets harnesses reach it.
            return type == int.class || type == Integer.class ? String.valueOf(number + 2) : null;
        }
        if (type == long.class || type == Long.class) {
            return (number + 2) + "L";
        }
        if (type == double.class || type == Double.class) {
            return (number + 1) + "d";
        }
        if (type == float.class || type == Float.class) {
            return (number + 1) + "f";
        }
        if (type == boolean.class || type == Boolean.class) {
            return String.valueOf(number % 2 == 1);
        }
        if (type == String.class || type == CharSequence.class) {
            return "\"" + (char) ('a' + number) + "\"";
        }
        if (type == Object.class || type == Number.class || type == Comparable.class) {
            return String.valueOf(number);
        }
        if (type.isEnum()) {
            Object[] constants = type.getEnumConstants();
            return constants.length == 0 ? null : name(type) + "." + ((Enum<?>) constants[number % constants.length]).name();
        }
        if (type == Map.class) {
            return "new java.util.HashMap()";
        }
        if (type == Set.class) {
            return "new java.util.HashSet()";
        }
        if (type == List.class || type == Collection.class || type == Iterable.class) {
            return "new java.util.ArrayList()";
        }
        if (type == java.time.Duration.class) {
            return "java.time.Duration.ofSeconds(" + (number + 2) + "L)";
        }
        if (type == java.time.Clock.class) {
            return "java.time.Clock.systemUTC()";
        }
        if (type == Comparator.class) {
            return "java.util.Comparator.naturalOrder()";
        }
        if (type.isInterface()) {
            return lambda(type, number);
        }
        return type.isArray() || type.isPrimitive() || depth > DEPTH ? null : made(type, number, depth);
    }

    private static String made(Class<?> type, int number, int depth) {
        if (Modifier.isAbstract(type.getModifiers()) || Thread.class.isAssignableFrom(type)
                || type.getEnclosingClass() != null && !Modifier.isStatic(type.getModifiers())) {
            return null;
        }
        Constructor<?>[] all = type.getDeclaredConstructors();
        // The most parameters first, because different arguments make objects that differ.
        Arrays.sort(all, Comparator.comparing((Constructor<?> one) -> -one.getParameterCount()).thenComparing(Constructor::toString));
        for (Constructor<?> constructor : all) {
            String arguments = Modifier.isPrivate(constructor.getModifiers()) ? null : arguments(constructor, number, depth);
            if (arguments != null) {
                return "new " + name(type) + arguments;
            }
        }
        List<String> factories = depth < DEPTH ? methods(type, type) : List.of();
        return factories.isEmpty() ? null : factories.get(0);
    }

    private static String lambda(Class<?> type, int number) {
        Method only = Functions.only(type);
        if (only == null) {
            return null;
        }
        List<String> names = List.of("a", "b", "c", "d").subList(0, Math.min(4, only.getParameterCount()));
        if (names.size() < only.getParameterCount()) {
            return null;
        }
        Class<?> returns = only.getReturnType();
        boolean runs = names.size() == 1 && Runnable.class.isAssignableFrom(only.getParameterTypes()[0]);
        String body = runs ? "a.run()" : returns == void.class ? "null" : returns == boolean.class ? "true"
                : returns == Object.class && names.size() == 1 ? "a"
                : returns == String.class ? "\"" + (char) ('a' + number) + "\""
                : returns.isPrimitive() || returns.isAssignableFrom(Integer.class) ? String.valueOf(number) : "null";
        return "(" + String.join(", ", names) + ") -> " + body;
    }

    /** A class's name as in source. */
    private static String name(Class<?> type) {
        return type.getCanonicalName() == null ? type.getName() : type.getCanonicalName();
    }
}
