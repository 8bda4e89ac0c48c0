package java.lang;

import java.lang.invoke.VarHandle;
import java.lang.ref.WeakReference;
import java.lang.reflect.Field;
import java.lang.reflect.Modifier;

/**
 * Plain accesses by variable handle, {@code Unsafe} and reflection. What such a call leads to is found once for each call and
 * each handle and then has a site of its own, so that the access goes on like one by an instruction.
 */
final class FissureHandles {
    /** What a call was found to access: by the handle, or by a class with the number of one of its fields. */
    private static final class Known extends WeakReference<Object> {
        final int site;
        final long number;
        /** The site, negative for a static field; one of the constants below; or what the kind of access says. */
        final int found;
        /** What objects must be to have the field. */
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

    /** Stands beside the offset of a static field and of an array's elements, which other offsets may equal. */
    private static final long STATIC = 1L << 62;
    private static final long ELEMENTS = 1L << 61;

    /** One call may see ever new handles: only so many are remembered. */
    private static final int LONGEST_CHAIN = 64;

    private static final Object GUARD = new Object();
    private static final Known[] KNOWN = new Known[1024];
    /** Where a reflected field has its number within its class; negative if this JVM has no such thing. */
    private static final long SLOT = slotOffset();

    private FissureHandles() {}

    private static long slotOffset() {
        try {
            return FissureEngine.U.objectFieldOffset(Field.class, "slot");
        } catch (InternalError error) {
            return -1L;
        }
    }

    /** A field of {@code object}, by variable handle. */
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

    /** A static field, by variable handle. */
    static void staticField(Object handle, int site, boolean write) {
        Known known = known(handle, 0L, site);
        if (known == null) {
            known = learn(handle, 0L, handle, site);
        }
        if (known != null && known.found < 0) {
            access(known.found, null, write);
        }
    }

    /** An array element, or several of a byte array, by variable handle. */
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

    /** A field or array elements, by {@code Unsafe}. The base of a static field is its class. */
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

    /** A field, by reflection. */
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

    private static void order(Object place, boolean write) {
        if (write) {
            FissureOrder.volatileWrite(place);
        } else {
            FissureOrder.volatileRead(place);
        }
    }

    private static Known known(Object key, long number, int site) {
        Known known = KNOWN[site & KNOWN.length - 1];
        while (known != null && (known.site != site || known.number != number || known.get() != key)) {
            known = known.next;
        }
        return known;
    }

    /** Finds out what a call accesses. Nothing if this thread is not the program's now, or there is no memory. */
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

    /** Drops what can be of no more use, and everything if there is too much of it. */
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
            // A handle that is not built as those that are known leads to something that is not watched.
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

    /** The handle itself, or the one that it stands for while the class of its static field is not initialized. */
    private static Object direct(Object handle) throws ReflectiveOperationException {
        boolean isLazy = handle.getClass().getName().equals("java.lang.invoke.LazyInitializingVarHandle");
        return isLazy ? inside(handle, "target") : handle;
    }

    /** The value of a field that a handle has or inherits; nothing if it has none of that name. */
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

    /** How many bytes of an array a handle accesses: 1 stands for one element; none for what is not a handle of arrays. */
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
}
