//! Access flags by their names in the JVM's specification.

use bitflags::bitflags;

bitflags! {
    /// The access flags of a class, a field or a method. One bit may have different names for different kinds of them.
    #[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash)]
    pub struct AccessFlags: u16 {
        /// Other packages may use it.
        const PUBLIC = 0x0001;
        /// Only its own class, or classes nested with it, may use it.
        const PRIVATE = 0x0002;
        /// Subclasses may use it.
        const PROTECTED = 0x0004;
        /// It belongs to the class, not to an object.
        const STATIC = 0x0008;
        /// It has no subclass, is not overridden, or is not assigned again.
        const FINAL = 0x0010;
        /// A class whose `invokespecial` instructions call the methods of its super class; all current ones have it.
        const SUPER = 0x0020;
        /// A method that holds a lock while it runs.
        const SYNCHRONIZED = 0x0020;
        /// A field whose writes happen before its reads.
        const VOLATILE = 0x0040;
        /// A field that is not serialized.
        const TRANSIENT = 0x0080;
        /// A method without code in the class file.
        const NATIVE = 0x0100;
        /// An interface.
        const INTERFACE = 0x0200;
        /// A class without objects of its own, or a method without code.
        const ABSTRACT = 0x0400;
        /// The compiler added it.
        const SYNTHETIC = 0x1000;
        /// An enumeration, or one of its constants.
        const ENUM = 0x4000;
        /// Class files may have further bits, which are kept.
        const _ = !0;
    }
}
