package fissure.object;

import java.lang.reflect.Constructor;
import java.lang.reflect.Executable;
import java.lang.reflect.Field;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.lang.reflect.Modifier;
import java.lang.reflect.Proxy;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/**
 * A Java expression that makes an object, without a compiler: constructors, static and instance methods, static fields, literals and
 * lambdas, as in {@code Caffeine.newBuilder().maximumSize(2).build(key -> 0)}. Overloads are chosen by the arguments of the first evaluation.
 */
final class Expression {
    private static final List<String> IMPORTS = List.of("java.lang.", "java.util.", "java.util.concurrent.",
            "java.util.concurrent.atomic.", "java.util.concurrent.locks.", "java.util.function.", "java.time.");

    /** A part of an expression. */
    private interface Node {
        Object value(Map<String, Object> variables) throws Throwable;
    }

    /** A lambda, before it is known which interface it implements. */
    private static final class Lambda {
        final List<String> parameters;
        final Node body;
        final Map<String, Object> variables;

        Lambda(List<String> parameters, Node body, Map<String, Object> variables) {
            this.parameters = parameters;
            this.body = body;
            this.variables = variables;
        }
    }

    private final String text;
    private final Class<?> near;
    private final ClassLoader loader;
    private int at;
    private final Node root;

    /** Parses an expression; simple names of classes are looked up in the package of {@code near} and in usual packages of the JDK. */
    Expression(String text, Class<?> near, ClassLoader loader) {
        this.text = text;
        this.near = near;
        this.loader = loader;
        root = expression();
        if (peek() != 0) {
            throw failure("expected the end");
        }
    }

    /** Evaluates the expression. */
    Object value() throws Throwable {
        return root.value(Map.of());
    }

    private Node expression() {
        int start = at;
        List<String> parameters = parameters();
        if (parameters != null) {
            Node body = expression();
            return variables -> new Lambda(parameters, body, variables);
        }
        at = start;
        Node node = primary();
        while (eat('.')) {
            Node object = node;
            String name = name();
            demand('(');
            node = call(null, name, object, arguments());
        }
        return node;
    }

    /** The parameters of a lambda, or null if here is none. */
    private List<String> parameters() {
        List<String> names = new ArrayList<>();
        if (eat('(')) {
            while (!eat(')')) {
                if (!Character.isJavaIdentifierStart(peek())) {
                    return null;
                }
                names.add(name());
                eat(',');
            }
        } else if (Character.isJavaIdentifierStart(peek())) {
            names.add(name());
        } else {
            return null;
        }
        return eat('-') && eat('>') ? names : null;
    }

    private Node primary() {
        char next = peek();
        if (next == '"') {
            return constant(string());
        }
        if (next == '-' || Character.isDigit(next)) {
            return constant(number());
        }
        if (!Character.isJavaIdentifierStart(next)) {
            throw failure("expected a name, a number or a string");
        }
        String name = name();
        switch (name) {
            case "null":
                return constant(null);
            case "true":
            case "false":
                return constant(name.equals("true"));
            case "new":
                return construction();
            default:
                return named(name);
        }
    }

    private Node construction() {
        StringBuilder name = new StringBuilder(name());
        while (eat('.')) {
            name.append('.').append(name());
        }
        typeArguments();
        Class<?> type = type(name.toString());
        if (type == null) {
            throw failure("there is no class " + name);
        }
        demand('(');
        List<Node> arguments = arguments();
        Executable[] chosen = new Executable[1];
        return variables -> {
            Object[] values = values(arguments, variables);
            if (chosen[0] == null) {
                chosen[0] = choose(type.getDeclaredConstructors(), "<init>", values, type);
            }
            return invoke(chosen[0], null, adapted(chosen[0], values));
        };
    }

    /** A variable of a lambda, or a class with a static field or method. */
    private Node named(String first) {
        StringBuilder name = new StringBuilder(first);
        Class<?> type = type(first);
        while (type == null && eat('.')) {
            name.append('.').append(name());
            type = type(name.toString());
        }
        if (type == null) {
            if (name.indexOf(".") >= 0) {
                throw failure("there is no class " + name);
            }
            return variables -> {
                if (!variables.containsKey(first)) {
                    throw new IllegalArgumentException("there is no class " + first);
                }
                return variables.get(first);
            };
        }
        typeArguments();
        while (true) {
            demand('.');
            typeArguments();
            String member = name();
            if (eat('(')) {
                return call(type, member, null, arguments());
            }
            Class<?> inner = type(type.getName() + "$" + member);
            if (inner == null) {
                Field field = field(type, member);
                return variables -> field.get(null);
            }
            type = inner;
        }
    }

    private Field field(Class<?> type, String name) {
        try {
            Field field = type.getDeclaredField(name);
            field.trySetAccessible();
            return field;
        } catch (NoSuchFieldException error) {
            throw failure(type.getName() + " has no static field " + name);
        }
    }

    private Node call(Class<?> type, String name, Node object, List<Node> arguments) {
        Executable[] chosen = new Executable[1];
        return variables -> {
            Object receiver = object == null ? null : object.value(variables);
            Class<?> of = type != null ? type : receiver.getClass();
            Object[] values = values(arguments, variables);
            if (chosen[0] == null) {
                chosen[0] = choose(methods(of, type != null), name, values, of);
            }
            return invoke(chosen[0], receiver, adapted(chosen[0], values));
        };
    }

    private static Executable[] methods(Class<?> type, boolean isStatic) {
        List<Method> all = new ArrayList<>();
        for (Class<?> at = type; at != null; at = at.getSuperclass()) {
            all.addAll(List.of(at.getDeclaredMethods()));
        }
        all.addAll(List.of(type.getMethods()));
        all.removeIf(method -> Modifier.isStatic(method.getModifiers()) != isStatic || method.isBridge());
        return all.toArray(new Executable[0]);
    }

    /** The member of this name that takes the arguments; public ones first. */
    private static Executable choose(Executable[] all, String name, Object[] values, Class<?> type) {
        Executable found = null;
        for (boolean onlyPublic : new boolean[] {true, false}) {
            for (Executable one : all) {
                boolean isNamed = one instanceof Constructor || one.getName().equals(name);
                if (found == null && isNamed && takes(one, values) && (!onlyPublic || isOpen(one))) {
                    found = one;
                }
            }
        }
        if (found == null) {
            String what = name.equals("<init>") ? "constructor" : "method " + name;
            throw new IllegalArgumentException(type.getName() + " has no " + what + " with such arguments");
        }
        found.trySetAccessible();
        return found;
    }

    private static boolean isOpen(Executable one) {
        return Modifier.isPublic(one.getModifiers()) && Describe.isReachable(one.getDeclaringClass());
    }

    private static boolean takes(Executable one, Object[] values) {
        Class<?>[] types = one.getParameterTypes();
        if (one.isVarArgs() && values.length == types.length - 1) {
            values = java.util.Arrays.copyOf(values, types.length);
        }
        boolean takes = types.length == values.length;
        for (int at = 0; takes && at < types.length; at++) {
            takes = fits(types[at], values[at]);
        }
        return takes;
    }

    private static boolean fits(Class<?> type, Object value) {
        if (value == null) {
            return !type.isPrimitive();
        }
        if (value instanceof Lambda) {
            Method only = Functions.only(type);
            return only != null && only.getParameterCount() == ((Lambda) value).parameters.size();
        }
        if (type.isPrimitive()) {
            return type == boolean.class ? value instanceof Boolean
                    : type == char.class ? value instanceof Character
                    : value instanceof Number && (type != int.class && type != short.class && type != byte.class
                            || value instanceof Integer);
        }
        return type.isInstance(value);
    }

    private static Object[] adapted(Executable one, Object[] values) {
        Class<?>[] types = one.getParameterTypes();
        Object[] adapted = new Object[types.length];
        for (int at = 0; at < types.length; at++) {
            Object value = at < values.length ? values[at]
                    : java.lang.reflect.Array.newInstance(types[at].getComponentType(), 0);
            adapted[at] = value instanceof Lambda ? implement(types[at], (Lambda) value)
                    : value instanceof Number && types[at].isPrimitive() ? Functions.number((Number) value, types[at])
                    : value;
        }
        return adapted;
    }

    private static Object implement(Class<?> type, Lambda lambda) {
        ClassLoader loader = type.getClassLoader() == null ? Expression.class.getClassLoader() : type.getClassLoader();
        return Proxy.newProxyInstance(loader, new Class<?>[] {type}, (proxy, method, arguments) -> {
            if (method.getDeclaringClass() == Object.class) {
                return method.getName().equals("equals") ? (Object) (proxy == arguments[0])
                        : method.getName().equals("hashCode") ? (Object) 1 : "lambda";
            }
            Map<String, Object> variables = new HashMap<>(lambda.variables);
            for (int at = 0; at < lambda.parameters.size(); at++) {
                variables.put(lambda.parameters.get(at), arguments[at]);
            }
            Object value = lambda.body.value(variables);
            Class<?> returns = method.getReturnType();
            return returns == void.class ? null : value instanceof Number && returns.isPrimitive()
                    ? Functions.number((Number) value, returns) : value;
        });
    }

    private static Object invoke(Executable one, Object receiver, Object[] values) throws Throwable {
        try {
            return one instanceof Constructor ? ((Constructor<?>) one).newInstance(values)
                    : ((Method) one).invoke(receiver, values);
        } catch (InvocationTargetException wrapped) {
            throw wrapped.getCause();
        }
    }

    private static Object[] values(List<Node> nodes, Map<String, Object> variables) throws Throwable {
        Object[] values = new Object[nodes.size()];
        for (int at = 0; at < values.length; at++) {
            values[at] = nodes.get(at).value(variables);
        }
        return values;
    }

    private List<Node> arguments() {
        List<Node> arguments = new ArrayList<>();
        while (!eat(')')) {
            arguments.add(expression());
            if (peek() != ')') {
                demand(',');
            }
        }
        return arguments;
    }

    /** Skips type arguments, which mean nothing at run time. */
    private void typeArguments() {
        if (eat('<')) {
            for (int depth = 1; depth > 0; at++) {
                if (at == text.length()) {
                    throw failure("expected '>'");
                }
                depth += text.charAt(at) == '<' ? 1 : text.charAt(at) == '>' ? -1 : 0;
            }
        }
    }

    private Class<?> type(String name) {
        List<String> candidates = new ArrayList<>();
        candidates.add(name);
        if (near != null) {
            for (Class<?> outer = near; outer != null; outer = outer.getEnclosingClass()) {
                candidates.add(outer.getName() + "$" + name);
            }
            candidates.add(near.getPackageName().isEmpty() ? name : near.getPackageName() + "." + name);
        }
        IMPORTS.forEach(start -> candidates.add(start + name));
        // The last parts of a name may be nested classes.
        for (String nested = name; nested.indexOf('.') >= 0;) {
            int dot = nested.lastIndexOf('.');
            nested = nested.substring(0, dot) + "$" + nested.substring(dot + 1);
            candidates.add(nested);
        }
        for (String candidate : candidates) {
            try {
                return Class.forName(candidate, true, loader);
            } catch (ClassNotFoundException | LinkageError missing) {
                continue;
            }
        }
        return null;
    }

    private static Node constant(Object value) {
        return variables -> value;
    }

    private Object number() {
        int start = at;
        at++;
        while (at < text.length() && (Character.isDigit(text.charAt(at)) || text.charAt(at) == '_' || text.charAt(at) == '.'
                && at + 1 < text.length() && Character.isDigit(text.charAt(at + 1)))) {
            at++;
        }
        String digits = text.substring(start, at).replace("_", "");
        try {
            if (at < text.length() && "lL".indexOf(text.charAt(at)) >= 0) {
                at++;
                return Long.parseLong(digits);
            }
            if (at < text.length() && "fFdD".indexOf(text.charAt(at)) >= 0) {
                boolean isFloat = "fF".indexOf(text.charAt(at++)) >= 0;
                return isFloat ? (Object) Float.parseFloat(digits) : (Object) Double.parseDouble(digits);
            }
            return digits.indexOf('.') >= 0 ? (Object) Double.parseDouble(digits) : (Object) Integer.parseInt(digits);
        } catch (NumberFormatException error) {
            throw failure("expected a number");
        }
    }

    private String string() {
        StringBuilder value = new StringBuilder();
        for (at++; at < text.length() && text.charAt(at) != '"'; at++) {
            if (text.charAt(at) == '\\') {
                at++;
            }
            value.append(at < text.length() ? text.charAt(at) : ' ');
        }
        demand('"');
        return value.toString();
    }

    private String name() {
        if (!Character.isJavaIdentifierStart(peek())) {
            throw failure("expected a name");
        }
        int start = at;
        while (at < text.length() && Character.isJavaIdentifierPart(text.charAt(at))) {
            at++;
        }
        return text.substring(start, at);
    }

    private char peek() {
        while (at < text.length() && Character.isWhitespace(text.charAt(at))) {
            at++;
        }
        return at < text.length() ? text.charAt(at) : 0;
    }

    private boolean eat(char wanted) {
        boolean isThere = peek() == wanted;
        at += isThere ? 1 : 0;
        return isThere;
    }

    private void demand(char wanted) {
        if (!eat(wanted)) {
            throw failure("expected '" + wanted + "'");
        }
    }

    private IllegalArgumentException failure(String what) {
        return new IllegalArgumentException(what + " at character " + (at + 1));
    }
}
