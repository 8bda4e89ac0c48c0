package java.lang;

import java.lang.invoke.VarHandle;
import java.lang.ref.WeakReference;
import java.lang.reflect.Field;
import java.lang.reflect.Modifier;

/**
 * Plain accesses by variable handle, {@code Unsafe} and reflection. The accessed field is resolved once per call site and handle and
 * then gets its own site number, so that the access is handled like one by an instruction.
 */
final class FissureHandles {
    /** The resolved target of a call, keyed by the handle, or by a class and the number of one of its fields. */
    private static final class Known extends WeakReference<Object> {
        final int site;
        final long number;
        /** The site, negative for a static field; one of the constants below; or for elements the layout, see the methods. */
        final int found;
        /** The class that has the field. */
        final WeakReference<Class<?>> type;
        Known next;

        Known(Object key, int site, long number, int found, Class<?> type) {
            super(key);
            this.site = site;
            this.number = number;
            this.found = found;
            this.type = new WeakReference<>(type);
        }
    }

    private static final int UNWATCHED = 0;
    private static final int VOLATILE = Integer.MAX_VALUE;
    private static final int STATIC_VOLATILE = Integer.MIN_VALUE;

    /** Flags that distinguish the offset of a static field, and the elements of an array, from offsets of instance fields. */
    private static final long STATIC = 1L << 62;
    private static final long ELEMENTS = 1L << 61;

    /** One call site may see ever new handles: no more than this many are cached. */
    private static final int LONGEST_CHAIN = 64;

    private static final Object GUARD = new Object();
    private static final Known[] KNOWN = new Known[1024];
    /** The offset of {@code Field.slot}, the field's number within its class; negative if this JVM has no such field. */
    private static final long SLOT = slotOffset();

    private FissureHandles() {}

    private static long slotOffset() {
        try {
            return FissureEngine.U.objectFieldOffset(Field.class, "slot");
        } catch (InternalError error) {
            return -1L;
        }
    }

    /** Handles an access to a field of {@code object} by variable handle. */
    static void field(Object handle, Object object, int site, boolean write) {
        Known known = known(handle, 0L, site);
        if (known == null) {
            known = learn(handle, 0L, handle, site);
        }
        if (known != null && known.found > 0 && object != null) {
            Class<?> type = known.type.get();
            if (type == object.getClass() || type != null && type.isInstance(object)) {
                access(known.found, object, write);
            }
        }
    }

    /** Handles an access to a static field by variable handle. */
    static void staticField(Object handle, int site, boolean write) {
        Known known = known(handle, 0L, site);
        if (known == null) {
            known = learn(handle, 0L, handle, site);
        }
        if (known != null && known.found < 0) {
            access(known.found, null, write);
        }
    }

    /** Handles an access to an array element, or to several of a byte array, by variable handle. */
    static void element(Object handle, Object array, int index, int site, boolean write) {
        Known known = known(handle, ELEMENTS, site);
        if (known == null) {
            known = learn(handle, ELEMENTS, handle, site);
        }
        if (known == null || array == null) {
            return;
        }
        if (known.found == 1) {
            element(array, index, site, write);
        } else if (array instanceof byte[] && index >= 0 && index < Integer.MAX_VALUE - 8) {
            for (int i = 0; i < known.found; i++) {
                FissureArrays.access(array, index + i, site, write);
            }
        }
    }

    static void element(Object array, int index, int site, boolean write) {
        if (array.getClass().isArray()) {
            FissureArrays.access(array, index, site, write);
        }
    }

    /** Handles an access to a field or array elements by {@code Unsafe}. The base of a static field is its class. */
    static void memory(Object object, long offset, int bytes, int site, boolean write) {
        if (object == null) {
            return;
        }
        Class<?> type = object instanceof Class ? (Class<?>) object : object.getClass();
        long number = type == object ? STATIC | offset : type.isArray() ? ELEMENTS : offset;
        Known known = known(type, number, site);
        if (known == null) {
            known = learn(type, number, null, site);
        }
        if (known == null || known.found == UNWATCHED) {
            return;
        }
        if (number != ELEMENTS) {
            access(known.found, object, write);
            return;
        }
        int base = known.found >>> 4;
        int scale = known.found & 15;
        if (offset >= base) {
            long last = (offset - base + bytes - 1L) / scale;
            for (long at = (offset - base) / scale; at <= last && at < Integer.MAX_VALUE; at++) {
                FissureArrays.access(object, (int) at, site, write);
            }
        }
    }

    /** Handles an access to a field by reflection. */
    static void reflected(Field field, Object object, int site, boolean write) {
        if (SLOT < 0L) {
            return;
        }
        Class<?> type = field.getDeclaringClass();
        int slot = FissureEngine.U.getInt(field, SLOT);
        Known known = known(type, slot, site);
        if (known == null) {
            known = learn(type, slot, field, site);
        }
        if (known == null || known.found == UNWATCHED) {
            return;
        }
        if (known.found == STATIC_VOLATILE) {
            order(type, write);
        } else if (known.found < 0) {
            access(known.found, null, write);
        } else if (type.isInstance(object)) {
            if (known.found == VOLATILE) {
                order(object, write);
            } else {
                access(known.found, object, write);
            }
        }
    }

    private static void access(int found, Object object, boolean write) {
        if (found < 0) {
            FissureEngine.staticAt(-found, write);
        } else if (write) {
            FissureEngine.writeAt(object, found);
        } else {
            FissureEngine.readAt(object, found);
        }
    }

    private static void order(Object owner, boolean write) {
        if (write) {
            FissureOrder.volatileWrite(owner);
        } else {
            FissureOrder.volatileRead(owner);
        }
    }

    private static Known known(Object key, long number, int site) {
        Known known = KNOWN[site & KNOWN.length - 1];
        while (known != null && (known.site != site || known.number != number || known.get() != key)) {
            known = known.next;
        }
        return known;
    }

    /** Resolves and caches the target of a call. Null if the thread is inside the engine or memory is exhausted. */
    private static Known learn(Object key, long number, Object handle, int site) {
        FissureThread thread = Thread.currentThread().fissureState;
        if (key == null || thread == null || thread.busy) {
            return null;
        }
        thread.busy = true;
        try {
            Known known = find(key, number, handle, site);
            synchronized (GUARD) {
                int at = site & KNOWN.length - 1;
                known.next = shortened(KNOWN[at]);
                FissureEngine.U.storeFence();
                KNOWN[at] = known;
            }
            return known;
        } catch (OutOfMemoryError error) {
            FissureEngine.outOfMemory();
            return null;
        } finally {
            thread.busy = false;
        }
    }

    /** Drops the entries of collected keys, and the whole chain if it is too long. */
    private static Known shortened(Known chain) {
        while (chain != null && chain.get() == null) {
            chain = chain.next;
        }
        int length = 0;
        for (Known known = chain; known != null; known = known.next) {
            while (known.next != null && known.next.get() == null) {
                known.next = known.next.next;
            }
            length++;
        }
        return length < LONGEST_CHAIN ? chain : null;
    }

    private static Known find(Object key, long number, Object handle, int site) {
        int found = UNWATCHED;
        Class<?> type = null;
        try {
            if (handle instanceof Field) {
                found = ofField((Field) handle, site);
            } else if (handle != null && number == ELEMENTS) {
                found = bytesOf(handle.getClass().getName());
            } else if (handle != null) {
                Object direct = direct(handle);
                type = (Class<?>) inside(direct, "receiverType");
                found = ofHandle((VarHandle) direct, type, site);
            } else if (number == ELEMENTS) {
                int base = FissureArrays.baseOffset((Class<?>) key);
                found = base << 4 | FissureEngine.U.arrayIndexScale((Class<?>) key);
            } else {
                boolean isStatic = (number & STATIC) != 0L;
                found = FissureEngine.siteOf(site, (Class<?>) key, number & ~STATIC, null, isStatic);
                found = isStatic ? -found : found;
            }
        } catch (ReflectiveOperationException | RuntimeException | LinkageError error) {
            // The implementation of this handle is unknown, so that its target cannot be resolved.
            found = UNWATCHED;
        }
        return new Known(key, site, number, found, type);
    }

    private static int ofField(Field field, int site) {
        boolean isStatic = Modifier.isStatic(field.getModifiers());
        Class<?> declaring = field.getDeclaringClass();
        if (Modifier.isVolatile(field.getModifiers())) {
            int found = isStatic ? STATIC_VOLATILE : VOLATILE;
            return FissureEngine.HAPPENS_BEFORE ? found : UNWATCHED;
        }
        long offset = FissureEngine.offset(field);
        int found = FissureEngine.siteOf(site, declaring, offset, field.getType(), isStatic);
        return isStatic ? -found : found;
    }

    private static int ofHandle(VarHandle handle, Class<?> receiver, int site)
            throws ReflectiveOperationException {
        Object offset = inside(handle, "fieldOffset");
        Object base = inside(handle, "base");
        if (offset == null || receiver == null && !(base instanceof Class)) {
            return UNWATCHED;
        }
        long at = (Long) offset;
        Class<?> type = handle.varType();
        return receiver != null
                ? FissureEngine.siteOf(site, receiver, at, type, false)
                : -FissureEngine.siteOf(site, (Class<?>) base, at, type, true);
    }

    /** The handle itself, or the one that it delegates to until the class of its static field is initialized. */
    private static Object direct(Object handle) throws ReflectiveOperationException {
        boolean isLazy = handle.getClass().getName().equals("java.lang.invoke.LazyInitializingVarHandle");
        return isLazy ? inside(handle, "target") : handle;
    }

    /** The value of a field that a handle declares or inherits; null if there is none of that name. */
    private static Object inside(Object handle, String name) throws ReflectiveOperationException {
        for (Class<?> type = handle.getClass(); type != VarHandle.class && type != null; type = type.getSuperclass()) {
            try {
                Field field = type.getDeclaredField(name);
                field.setAccessible(true);
                return field.get(handle);
            } catch (NoSuchFieldException error) {
                continue;
            }
        }
        return null;
    }

    /** How many bytes of an array a handle accesses; 1 stands for one element, {@link #UNWATCHED} for handles of other kinds. */
    private static int bytesOf(String handleClass) {
        if (handleClass.endsWith("$Array")) {
            return 1;
        }
        String view = "java.lang.invoke.VarHandleByteArrayAs";
        if (!handleClass.startsWith(view) || !handleClass.endsWith("$ArrayHandle")) {
            return UNWATCHED;
        }
        String type = handleClass.substring(view.length(), handleClass.indexOf('$'));
        switch (type) {
            case "Chars":
            case "Shorts":
                return 2;
            case "Ints":
            case "Floats":
                return 4;
            default:
                return 8;
        }
    }

    /** The fields without those that the agent added, which alone are both synthetic and transient. */
    static Field[] withoutOwn(Field[] fields) {
        int visible = 0;
        for (int i = 0; i < fields.length; i++) {
            if (isVisible(fields[i])) {
                visible++;
            }
        }
        if (visible == fields.length) {
            return fields;
        }
        Field[] kept = new Field[visible];
        for (int i = 0, k = 0; i < fields.length; i++) {
            if (isVisible(fields[i])) {
                kept[k++] = fields[i];
            }
        }
        return kept;
    }

    private static boolean isVisible(Field field) {
        return (field.getModifiers() & 0x1080) != 0x1080;
    }
}
