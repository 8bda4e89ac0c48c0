package fissure.object;

import java.io.IOException;
import java.lang.reflect.Constructor;
import java.lang.reflect.GenericArrayType;
import java.lang.reflect.Method;
import java.lang.reflect.Modifier;
import java.lang.reflect.ParameterizedType;
import java.lang.reflect.Type;
import java.lang.reflect.TypeVariable;
import java.lang.reflect.WildcardType;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collection;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** Describes a class for Fissure: its callable constructors and methods with their parameters. */
final class Describe {
    private Describe() {}

    /**
     * Writes the description of a class, or the reason why there is none. Objects of an abstract class are described by the class of the
     * object that the expression makes.
     */
    static void write(Channel channel, String name, String expression, ClassLoader loader) throws IOException {
        Class<?> type;
        try {
            type = Class.forName(name, true, loader);
            if (!expression.isEmpty() && Modifier.isAbstract(type.getModifiers())) {
                Object made = new Expression(expression, type, loader).value();
                if (!type.isInstance(made)) {
                    throw new IllegalArgumentException("the expression gives no " + name);
                }
                type = made.getClass();
            }
        } catch (ClassNotFoundException error) {
            channel.out.writeByte(1);
            return;
        } catch (Throwable error) {
            channel.out.writeByte(2);
            channel.writeText(error.toString());
            return;
        }
        List<Constructor<?>> constructors = new ArrayList<>();
        List<Method> methods;
        try {
            for (Constructor<?> constructor : type.getDeclaredConstructors()) {
                if (isVisible(constructor.getModifiers(), type)) {
                    constructors.add(constructor);
                }
            }
            methods = methods(type);
        } catch (Throwable error) {
            channel.out.writeByte(2);
            channel.writeText(error.toString());
            return;
        }
        constructors.sort(Comparator.comparing((Constructor<?> one) -> one.getParameterCount())
                .thenComparing(Constructor::toString));
        channel.out.writeByte(0);
        channel.writeText(type.getName());
        channel.out.writeInt(type.getModifiers());
        channel.out.writeBoolean(isReachable(type));
        channel.writeTexts(families(type));
        channel.out.writeInt(constructors.size());
        for (Constructor<?> constructor : constructors) {
            channel.out.writeBoolean(Modifier.isPublic(constructor.getModifiers()));
            parameters(channel, constructor.getParameterTypes(), constructor.getGenericParameterTypes());
        }
        channel.writeTexts(Makers.factories(type));
        channel.out.writeInt(methods.size());
        for (Method method : methods) {
            channel.writeText(method.getName());
            channel.writeText(descriptor(method.getReturnType()));
            parameters(channel, method.getParameterTypes(), method.getGenericParameterTypes());
        }
    }

    /** Whether a class is accessible from every package. */
    static boolean isReachable(Class<?> type) {
        for (Class<?> outer = type; outer != null; outer = outer.getEnclosingClass()) {
            if (!Modifier.isPublic(outer.getModifiers())) {
                return false;
            }
        }
        return type.getModule().isExported(type.getPackageName());
    }

    /** The type of a descriptor. */
    static Class<?> type(String descriptor, ClassLoader loader) throws ClassNotFoundException {
        switch (descriptor) {
            case "Z": return boolean.class;
            case "B": return byte.class;
            case "C": return char.class;
            case "S": return short.class;
            case "I": return int.class;
            case "J": return long.class;
            case "F": return float.class;
            case "D": return double.class;
            default:
                String name = descriptor.replace('/', '.');
                boolean plain = name.startsWith("L");
                return Class.forName(plain ? name.substring(1, name.length() - 1) : name, false, loader);
        }
    }

    private static String descriptor(Class<?> type) {
        // The name of an array class contains the descriptor of its elements, for which Java 11 has no method.
        return type == void.class ? "V"
                : java.lang.reflect.Array.newInstance(type, 0).getClass().getName().substring(1).replace('.', '/');
    }

    private static boolean isVisible(int modifiers, Class<?> type) {
        // For a class that is not public, the generated code lies in the same package and can call package-private members.
        return Modifier.isPublic(modifiers) || !isReachable(type) && !Modifier.isPrivate(modifiers);
    }

    /** The instance methods that the class declares or inherits, one per name and parameter types. */
    private static List<Method> methods(Class<?> type) {
        Map<String, Method> found = new LinkedHashMap<>();
        for (Method method : type.getMethods()) {
            add(found, method, type);
        }
        for (Class<?> at = type; at != null && at != Object.class; at = at.getSuperclass()) {
            if (at.getPackageName().equals(type.getPackageName())) {
                for (Method method : at.getDeclaredMethods()) {
                    add(found, method, type);
                }
            }
        }
        List<Method> methods = new ArrayList<>(found.values());
        methods.sort(Comparator.comparing(Method::getName).thenComparing(Method::getParameterCount)
                .thenComparing(method -> Arrays.toString(method.getParameterTypes())));
        return methods;
    }

    private static void add(Map<String, Method> found, Method method, Class<?> type) {
        if (method.getDeclaringClass() == Object.class || method.isSynthetic() || Modifier.isStatic(method.getModifiers())
                || !isVisible(method.getModifiers(), type)) {
            return;
        }
        String key = method.getName() + Arrays.toString(method.getParameterTypes());
        Method known = found.get(key);
        // Of methods that differ only in their return type, the one with the most specific type counts.
        if (known == null || known.getReturnType().isAssignableFrom(method.getReturnType())) {
            found.put(key, method);
        }
    }

    private static List<String> families(Class<?> type) {
        List<String> families = new ArrayList<>();
        for (Class<?> family : List.of(Map.class, java.util.SortedMap.class, Collection.class, List.class,
                java.util.Set.class, java.util.SortedSet.class, java.util.Queue.class, java.util.Deque.class)) {
            if (family.isAssignableFrom(type)) {
                families.add(family.getSimpleName());
            }
        }
        return families;
    }

    private static void parameters(Channel channel, Class<?>[] types, Type[] generic) throws IOException {
        channel.out.writeInt(types.length);
        for (int at = 0; at < types.length; at++) {
            // Constructors of inner classes have more parameters than their generic signature.
            Type signature = generic.length == types.length ? generic[at] : types[at];
            channel.writeText(descriptor(types[at]));
            channel.writeText(types[at].getTypeName());
            channel.writeText(signature instanceof TypeVariable ? ((TypeVariable<?>) signature).getName() : "");
            channel.writeText(kind(types[at], signature, 0));
        }
    }

    /** The kind of values that fit: a letter as in {@link Channel#readValue} followed by details, or the reason why none fits. */
    private static String kind(Class<?> type, Type signature, int depth) {
        if (depth > 2) {
            return "?";
        }
        String letter = LETTERS.get(type);
        if (letter != null) {
            return letter;
        }
        if (type.isEnum()) {
            return type == java.util.concurrent.TimeUnit.class ? "!time" : "E" + type.getName() + constants(type);
        }
        if (type == java.time.Duration.class) {
            return "!time";
        }
        if (type.isArray()) {
            Type inner = signature instanceof GenericArrayType
                    ? ((GenericArrayType) signature).getGenericComponentType() : type.getComponentType();
            return "A" + descriptor(type.getComponentType()) + " "
                    + kind(type.getComponentType(), inner, depth + 1);
        }
        if (type == Map.class) {
            return "M" + argument(signature, 0, depth) + " " + argument(signature, 1, depth);
        }
        if (type == java.util.Set.class) {
            return "H" + argument(signature, 0, depth);
        }
        if (type.isInterface() && type.isAssignableFrom(List.class)) {
            return "L" + argument(signature, 0, depth);
        }
        if (type.isAssignableFrom(Integer.class)) {
            return "I";
        }
        if (type.isInterface()) {
            String function = Functions.kind(type, answer(signature));
            return function != null ? function : "?";
        }
        return depth == 0 && isImmutable(type) ? made(type) : "?";
    }

    /** Objects of other classes, by expressions that make them. */
    private static String made(Class<?> type) {
        List<String> values = Makers.values(type, 2);
        return values.isEmpty() ? "?" : "O" + type.getSimpleName() + "|" + String.join("|", values);
    }

    /** Whether all calls may share an object: all of its fields are final. */
    private static boolean isImmutable(Class<?> type) {
        for (Class<?> at = type; at != null && at != Object.class; at = at.getSuperclass()) {
            for (java.lang.reflect.Field field : at.getDeclaredFields()) {
                if (!Modifier.isStatic(field.getModifiers()) && !Modifier.isFinal(field.getModifiers())) {
                    return false;
                }
            }
        }
        return true;
    }

    private static final Map<Class<?>, String> LETTERS = Map.ofEntries(
            Map.entry(boolean.class, "Z"), Map.entry(Boolean.class, "Z"), Map.entry(int.class, "I"),
            Map.entry(Integer.class, "I"), Map.entry(long.class, "J"), Map.entry(Long.class, "J"),
            Map.entry(short.class, "S"), Map.entry(Short.class, "S"), Map.entry(byte.class, "B"),
            Map.entry(Byte.class, "B"), Map.entry(char.class, "C"), Map.entry(Character.class, "C"),
            Map.entry(float.class, "F"), Map.entry(Float.class, "F"), Map.entry(double.class, "D"),
            Map.entry(Double.class, "D"), Map.entry(String.class, "T"), Map.entry(CharSequence.class, "T"));

    private static String constants(Class<?> type) {
        StringBuilder text = new StringBuilder();
        for (Object constant : type.getEnumConstants()) {
            text.append('|').append(((Enum<?>) constant).name());
        }
        return text.toString();
    }

    private static String argument(Type signature, int index, int depth) {
        if (!(signature instanceof ParameterizedType)) {
            return "I";
        }
        Type argument = ((ParameterizedType) signature).getActualTypeArguments()[index];
        return kind(raw(argument), argument, depth + 1);
    }

    private static Class<?> raw(Type type) {
        if (type instanceof Class) {
            return (Class<?>) type;
        }
        if (type instanceof ParameterizedType) {
            return raw(((ParameterizedType) type).getRawType());
        }
        if (type instanceof WildcardType) {
            return raw(((WildcardType) type).getUpperBounds()[0]);
        }
        if (type instanceof TypeVariable) {
            return raw(((TypeVariable<?>) type).getBounds()[0]);
        }
        return Object.class;
    }

    /** The kind of a function's result if it is an object: the last type argument of its interface; null if no values of it are known. */
    private static String answer(Type signature) {
        if (!(signature instanceof ParameterizedType)) {
            return "L";
        }
        Type[] arguments = ((ParameterizedType) signature).getActualTypeArguments();
        Type last = arguments[arguments.length - 1];
        if (last instanceof GenericArrayType) {
            return null;
        }
        Class<?> type = last instanceof WildcardType && ((WildcardType) last).getLowerBounds().length > 0
                ? raw(((WildcardType) last).getLowerBounds()[0]) : raw(last);
        return type.isAssignableFrom(Integer.class) ? "L" : type == String.class ? "T" : null;
    }
}
