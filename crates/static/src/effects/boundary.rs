//! The boundary of the analysis: the effects of methods whose code is not analysed.
//!
//! Of the JDK, the collections and their atomics are analysed. The crate `jdk` describes the effects of values such as strings and boxed
//! numbers, of handles, locks and a few services. All other methods may do anything.

use fissure_jdk::{BoundaryEffect, LockOperation};

/// The effect of a method whose code is not analysed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Boundary {
    /// It changes nothing that a harness can observe, and returns a value.
    Quiet,
    /// The same, and it calls `toString` of its arguments.
    Text,
    /// It accesses a field or an element of its first argument, as a `VarHandle` does.
    Access {
        /// Whether it may write.
        writes: bool,
    },
    /// It returns the argument with this number; the receiver counts as number 0.
    Same(usize),
    /// `System.arraycopy`.
    ArrayCopy,
    /// `Object.clone`.
    Clone,
    /// It creates an array.
    NewArray,
    /// It appends the text of its arguments to the receiver, and returns the receiver.
    Builds,
    /// It stores its arguments in the receiver, and may return them later.
    Holds {
        /// Whether it changes the receiver, which may have existed before the call.
        writes: bool,
    },
    /// It acquires a lock, or tries to.
    Acquire,
    /// It releases a lock.
    Release,
    /// It may do anything.
    Unknown,
}

/// Whether a method does not change an object that a harness passes as an argument. Functions do not.
pub(crate) fn is_reading(class: &str, name: &str) -> bool {
    fissure_jdk::only_reads(class, name)
        || class.starts_with("java/util/function/")
        || matches!(name, "run" | "call")
}

/// Whether a method is one that all objects have or that compares them. Such methods of unknown objects are assumed to change
/// nothing.
pub(crate) fn is_common(name: &str) -> bool {
    matches!(name, "equals" | "hashCode" | "toString" | "compareTo" | "compare" | "getClass")
}

/// The effect of a method. `class` declares it, or is the class that the code names.
pub(crate) fn boundary(class: &str, name: &str) -> Boundary {
    if let Some(lock) = lock(class, name) {
        return lock;
    }
    match fissure_jdk::boundary_effect(class, name) {
        BoundaryEffect::Quiet => Boundary::Quiet,
        BoundaryEffect::Text => Boundary::Text,
        BoundaryEffect::Reads => Boundary::Access { writes: false },
        BoundaryEffect::Writes => Boundary::Access { writes: true },
        BoundaryEffect::Same(number) => Boundary::Same(number.into()),
        BoundaryEffect::ArrayCopy => Boundary::ArrayCopy,
        BoundaryEffect::Clone => Boundary::Clone,
        BoundaryEffect::NewArray => Boundary::NewArray,
        BoundaryEffect::Builds => Boundary::Builds,
        BoundaryEffect::Holds => Boundary::Holds { writes: false },
        BoundaryEffect::Replaces => Boundary::Holds { writes: true },
        BoundaryEffect::Unknown => Boundary::Unknown,
    }
}

/// The effect of a method that acquires or releases a lock. Holding a lock is not a change of state if it is released again.
fn lock(class: &str, name: &str) -> Option<Boundary> {
    match fissure_jdk::lock_operation(class, name)? {
        LockOperation::Acquire(_) | LockOperation::Try(_) => Some(Boundary::Acquire),
        LockOperation::Release | LockOperation::TryRelease | LockOperation::ReleaseInside => {
            Some(Boundary::Release)
        }
        _ => None,
    }
}
