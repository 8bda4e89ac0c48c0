//! The static methods that inserted code calls. They belong to the plan's `hook` class.

/// A hook method.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Hook {
    /// Its name.
    pub name: &'static str,
    /// Its descriptor.
    pub descriptor: &'static str,
    number: u8,
}

impl Hook {
    const fn new(number: u8, name: &'static str, descriptor: &'static str) -> Self {
        Self { name, descriptor, number }
    }

    /// Its index in [`ALL`].
    pub(crate) fn number(&self) -> usize {
        usize::from(self.number)
    }
}

/// The thread is about to enter the object's monitor, or has entered it at the beginning of a synchronized method.
pub const ENTER: Hook = Hook::new(0, "enter", "(Ljava/lang/Object;)V");
/// The thread is about to exit the object's monitor.
pub const EXIT: Hook = Hook::new(1, "exit", "(Ljava/lang/Object;)V");
/// The thread is about to exit the monitor that it entered last: its method no longer has a reference to the object.
pub const EXIT_TOP: Hook = Hook::new(2, "exitTop", "()V");
/// The thread is about to call `wait` on the object; null if the inserted code could not reach the object.
pub const WAIT_BEGIN: Hook = Hook::new(3, "waitBegin", "(Ljava/lang/Object;)V");
/// `wait` has returned normally; null if the inserted code could not reach the object.
pub const WAIT_END: Hook = Hook::new(4, "waitEnd", "(Ljava/lang/Object;)V");
/// A field is about to be read: the object, its shadow, the site.
pub const READ: Hook = Hook::new(5, "read", "(Ljava/lang/Object;JI)V");
/// The same for a field of type long, whose shadow is a double.
pub const READ_DOUBLE: Hook = Hook::new(6, "read", "(Ljava/lang/Object;DI)V");
/// A field is about to be written: the object, its shadow, the site.
pub const WRITE: Hook = Hook::new(7, "write", "(Ljava/lang/Object;JI)V");
/// The same for a field of type long, whose shadow is a double.
pub const WRITE_DOUBLE: Hook = Hook::new(8, "write", "(Ljava/lang/Object;DI)V");
/// A field without a known shadow is about to be read: the object, the site.
pub const READ_AT: Hook = Hook::new(9, "readAt", "(Ljava/lang/Object;I)V");
/// A field without a known shadow is about to be written: the object, the site.
pub const WRITE_AT: Hook = Hook::new(10, "writeAt", "(Ljava/lang/Object;I)V");
/// A static field is about to be read: the cell, the site.
pub const READ_STATIC: Hook = Hook::new(11, "readStatic", "(II)V");
/// A static field is about to be written: the cell, the site.
pub const WRITE_STATIC: Hook = Hook::new(12, "writeStatic", "(II)V");
/// A static field without a known cell is about to be read: the site.
pub const READ_STATIC_AT: Hook = Hook::new(13, "readStaticAt", "(I)V");
/// A static field without a known cell is about to be written: the site.
pub const WRITE_STATIC_AT: Hook = Hook::new(14, "writeStaticAt", "(I)V");
/// A class initializer begins.
pub const INITIALIZER_BEGIN: Hook = Hook::new(15, "initializerBegin", "()V");
/// A class initializer ends, normally or not.
pub const INITIALIZER_END: Hook = Hook::new(18, "initializerEnd", "()V");
/// An array element is about to be read: the array, the index, the site.
pub const ARRAY_READ: Hook = Hook::new(16, "arrayRead", "(Ljava/lang/Object;II)V");
/// An array element is about to be written: the array, the index, the site.
pub const ARRAY_WRITE: Hook = Hook::new(17, "arrayWrite", "(Ljava/lang/Object;II)V");

/// The monitor that was about to be entered has been entered.
pub const ENTERED: Hook = Hook::new(19, "entered", "()V");
/// A volatile field was read: its object, or its class if it is static.
pub const VOLATILE_READ: Hook = Hook::new(20, "volatileRead", "(Ljava/lang/Object;)V");
/// A volatile field is about to be written: its object, or its class if it is static.
pub const VOLATILE_WRITE: Hook = Hook::new(21, "volatileWrite", "(Ljava/lang/Object;)V");

/// The thread is about to enter the object's monitor, or a synchronized method begins: the object, the site.
pub const ENTER_AT: Hook = Hook::new(22, "enter", "(Ljava/lang/Object;I)V");
/// A method begins that should be atomic: the site.
pub const BLOCK_ENTER: Hook = Hook::new(23, "blockEnter", "(I)V");
/// Such a method ends, normally or not.
pub const BLOCK_EXIT: Hook = Hook::new(24, "blockExit", "()V");
/// A region begins during which other threads may block inside the JVM.
pub const REGION_BEGIN: Hook = Hook::new(25, "regionBegin", "()V");
/// Such a region ends, normally or not.
pub const REGION_END: Hook = Hook::new(26, "regionEnd", "()V");

/// A static field is about to be read by a variable handle: the handle, the site.
pub const HANDLE_READ_STATIC: Hook = Hook::new(27, "handleReadStatic", "(Ljava/lang/Object;I)V");
/// A static field is about to be written by a variable handle: the handle, the site.
pub const HANDLE_WRITE_STATIC: Hook = Hook::new(28, "handleWriteStatic", "(Ljava/lang/Object;I)V");
/// A field is about to be read by a variable handle: the handle, the object, the site.
pub const HANDLE_READ: Hook = Hook::new(29, "handleRead", "(Ljava/lang/Object;Ljava/lang/Object;I)V");
/// A field is about to be written by a variable handle: the handle, the object, the site.
pub const HANDLE_WRITE: Hook = Hook::new(30, "handleWrite", "(Ljava/lang/Object;Ljava/lang/Object;I)V");
/// An array element is about to be read by a variable handle: the handle, the array, the index, the site.
pub const HANDLE_READ_ELEMENT: Hook =
    Hook::new(31, "handleReadElement", "(Ljava/lang/Object;Ljava/lang/Object;II)V");
/// An array element is about to be written by a variable handle: the handle, the array, the index, the site.
pub const HANDLE_WRITE_ELEMENT: Hook =
    Hook::new(32, "handleWriteElement", "(Ljava/lang/Object;Ljava/lang/Object;II)V");
/// A field or element is about to be read by `Unsafe`: the object or array, the offset, the number of bytes, the site.
pub const UNSAFE_READ: Hook = Hook::new(33, "unsafeRead", "(Ljava/lang/Object;JII)V");
/// A field or element is about to be written by `Unsafe`: the object or array, the offset, the number of bytes, the site.
pub const UNSAFE_WRITE: Hook = Hook::new(34, "unsafeWrite", "(Ljava/lang/Object;JII)V");
/// A field was read by reflection: the field, the object, the site.
pub const REFLECTED_READ: Hook = Hook::new(35, "reflectedRead", "(Ljava/lang/Object;Ljava/lang/Object;I)V");
/// A field is about to be written by reflection: the field, the object, the site.
pub const REFLECTED_WRITE: Hook = Hook::new(36, "reflectedWrite", "(Ljava/lang/Object;Ljava/lang/Object;I)V");
/// An array element is about to be read by reflection: the object, which may not be an array, the index, the site.
pub const ELEMENT_READ: Hook = Hook::new(37, "elementRead", "(Ljava/lang/Object;II)V");
/// An array element is about to be written by reflection: the object, which may not be an array, the index, the site.
pub const ELEMENT_WRITE: Hook = Hook::new(38, "elementWrite", "(Ljava/lang/Object;II)V");

/// An announced method is about to be called: the site.
pub const CALL_AT: Hook = Hook::new(39, "callAt", "(I)V");

/// A method begins: the site.
pub const UNIT_ENTER: Hook = Hook::new(40, "unitEnter", "(I)V");
/// A method ends, normally or not: the site of its entry.
pub const UNIT_EXIT: Hook = Hook::new(41, "unitExit", "(I)V");

/// A field is about to be read, in any access mode: the object or null, a number for the field or 0, the site.
pub const POINT_READ: Hook = Hook::new(42, "pointRead", "(Ljava/lang/Object;II)V");
/// A field is about to be written, or read and written: the same parameters.
pub const POINT_WRITE: Hook = Hook::new(43, "pointWrite", "(Ljava/lang/Object;II)V");
/// An array element is about to be read, in any access mode: the array, the index, the site.
pub const POINT_ELEMENT_READ: Hook = Hook::new(44, "pointElementRead", "(Ljava/lang/Object;II)V");
/// An array element is about to be written, or read and written: the same parameters.
pub const POINT_ELEMENT_WRITE: Hook = Hook::new(45, "pointElementWrite", "(Ljava/lang/Object;II)V");
/// A field or element is about to be read by `Unsafe`, in any access mode: the object or array, the offset, the site.
pub const POINT_UNSAFE_READ: Hook = Hook::new(46, "pointUnsafeRead", "(Ljava/lang/Object;JI)V");
/// A field or element is about to be written by `Unsafe`, or read and written: the same parameters.
pub const POINT_UNSAFE_WRITE: Hook = Hook::new(47, "pointUnsafeWrite", "(Ljava/lang/Object;JI)V");

/// A plain field is about to be read: the site. Lets the scheduler detect threads that spin on a field.
pub const LOOK_AT: Hook = Hook::new(48, "lookAt", "(I)V");

/// A join point is about to be executed: the object or null, the site.
pub const BEFORE: Hook = Hook::new(49, "before", "(Ljava/lang/Object;I)V");
/// A join point has been executed: the same parameters.
pub const AFTER: Hook = Hook::new(50, "after", "(Ljava/lang/Object;I)V");
/// An element of an array is about to be accessed: the array, the index, the site.
pub const BEFORE_ELEMENT: Hook = Hook::new(51, "beforeElement", "(Ljava/lang/Object;II)V");
/// An element of an array has been accessed: the same parameters.
pub const AFTER_ELEMENT: Hook = Hook::new(52, "afterElement", "(Ljava/lang/Object;II)V");
/// A `tryLock` has returned: whether it acquired the lock, the lock, the site.
pub const AFTER_TRY: Hook = Hook::new(53, "afterTry", "(ZLjava/lang/Object;I)V");
/// A reference among the arguments of the join point that is reported next.
pub const ARGUMENT: Hook = Hook::new(54, "argument", "(Ljava/lang/Object;)V");

/// A field was read that may refer to an array or a collection: its object or null, its value, the site.
pub const HOLDS: Hook = Hook::new(55, "holds", "(Ljava/lang/Object;Ljava/lang/Object;I)V");
/// A method of a collection is about to be called: the collection, the site.
pub const CONTENTS_BEGIN: Hook = Hook::new(56, "contentsBegin", "(Ljava/lang/Object;I)V");
/// The same for a method that passes all elements to a callback.
pub const WALK_BEGIN: Hook = Hook::new(57, "walkBegin", "(Ljava/lang/Object;I)V");
/// A method of a collection has returned: the site.
pub const CONTENTS_END: Hook = Hook::new(58, "contentsEnd", "(I)V");

/// `Object.clone` may have made this copy.
pub const CLONED: Hook = Hook::new(59, "cloned", "(Ljava/lang/Object;)V");
/// A method begins, in any thread.
pub const METHOD_RUNS: Hook = Hook::new(60, "methodRuns", "()V");
/// The thread is about to call `notify` or `notifyAll` on the object.
pub const NOTIFIES: Hook = Hook::new(61, "notifies", "(Ljava/lang/Object;)V");
/// A static volatile field with a cell was read: the cell.
pub const VOLATILE_READ_STATIC: Hook = Hook::new(62, "volatileReadStatic", "(I)V");
/// A static volatile field with a cell is about to be written: the cell.
pub const VOLATILE_WRITE_STATIC: Hook = Hook::new(63, "volatileWriteStatic", "(I)V");
/// A field was read of which it is not known yet whether it is volatile: the object, the site.
pub const VOLATILE_READ_AT: Hook = Hook::new(64, "volatileReadAt", "(Ljava/lang/Object;I)V");
/// The same for a static field: the site.
pub const VOLATILE_READ_STATIC_AT: Hook = Hook::new(65, "volatileReadStaticAt", "(I)V");
/// The same as [`WAIT_BEGIN`], in code outside of the JDK.
pub const GUARDED_WAIT_BEGIN: Hook = Hook::new(66, "guardedWaitBegin", "(Ljava/lang/Object;)V");

/// A volatile variable is about to be read, and the read itself is no scheduling point. Lets the scheduler detect threads that spin.
pub const LOOK: Hook = Hook::new(67, "look", "()V");

/// An element is about to be put into a collection.
pub const GIVES: Hook = Hook::new(68, "gives", "(Ljava/lang/Object;)V");
/// An element was got from a collection.
pub const TAKES: Hook = Hook::new(69, "takes", "(Ljava/lang/Object;)V");

/// The same as [`ARRAY_READ`], for a method that remembers the array it used last, and the words of its elements: the array, the index, the
/// last array, its words, the site. Returns the words to remember.
pub const ARRAY_READ_AGAIN: Hook = Hook::new(
    70,
    "arrayRead",
    "(Ljava/lang/Object;ILjava/lang/Object;Ljava/lang/FissureElements;I)Ljava/lang/FissureElements;",
);
/// The same for [`ARRAY_WRITE`].
pub const ARRAY_WRITE_AGAIN: Hook = Hook::new(
    71,
    "arrayWrite",
    "(Ljava/lang/Object;ILjava/lang/Object;Ljava/lang/FissureElements;I)Ljava/lang/FissureElements;",
);
/// A constructor has written a field of its object, to which no other code has a reference yet: the site. Returns the field's shadow word.
pub const FRESH: Hook = Hook::new(72, "fresh", "(I)J");
/// The same for a shadow field of type double.
pub const FRESH_DOUBLE: Hook = Hook::new(73, "freshDouble", "(I)D");
/// The class of the words that methods remember.
pub const ELEMENTS: &[u8] = b"java/lang/FissureElements";

/// All hooks, by number.
pub const ALL: [Hook; 74] = [
    ENTER,
    EXIT,
    EXIT_TOP,
    WAIT_BEGIN,
    WAIT_END,
    READ,
    READ_DOUBLE,
    WRITE,
    WRITE_DOUBLE,
    READ_AT,
    WRITE_AT,
    READ_STATIC,
    WRITE_STATIC,
    READ_STATIC_AT,
    WRITE_STATIC_AT,
    INITIALIZER_BEGIN,
    ARRAY_READ,
    ARRAY_WRITE,
    INITIALIZER_END,
    ENTERED,
    VOLATILE_READ,
    VOLATILE_WRITE,
    ENTER_AT,
    BLOCK_ENTER,
    BLOCK_EXIT,
    REGION_BEGIN,
    REGION_END,
    HANDLE_READ_STATIC,
    HANDLE_WRITE_STATIC,
    HANDLE_READ,
    HANDLE_WRITE,
    HANDLE_READ_ELEMENT,
    HANDLE_WRITE_ELEMENT,
    UNSAFE_READ,
    UNSAFE_WRITE,
    REFLECTED_READ,
    REFLECTED_WRITE,
    ELEMENT_READ,
    ELEMENT_WRITE,
    CALL_AT,
    UNIT_ENTER,
    UNIT_EXIT,
    POINT_READ,
    POINT_WRITE,
    POINT_ELEMENT_READ,
    POINT_ELEMENT_WRITE,
    POINT_UNSAFE_READ,
    POINT_UNSAFE_WRITE,
    LOOK_AT,
    BEFORE,
    AFTER,
    BEFORE_ELEMENT,
    AFTER_ELEMENT,
    AFTER_TRY,
    ARGUMENT,
    HOLDS,
    CONTENTS_BEGIN,
    WALK_BEGIN,
    CONTENTS_END,
    CLONED,
    METHOD_RUNS,
    NOTIFIES,
    VOLATILE_READ_STATIC,
    VOLATILE_WRITE_STATIC,
    VOLATILE_READ_AT,
    VOLATILE_READ_STATIC_AT,
    GUARDED_WAIT_BEGIN,
    LOOK,
    GIVES,
    TAKES,
    ARRAY_READ_AGAIN,
    ARRAY_WRITE_AGAIN,
    FRESH,
    FRESH_DOUBLE,
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hooks_are_numbered_by_their_index() {
        for (index, hook) in ALL.iter().enumerate() {
            assert_eq!(index, hook.number(), "{}", hook.name);
        }
    }
}
