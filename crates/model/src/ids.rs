//! Small integers that stand for the things a program is made of.

use serde::{Deserialize, Serialize};

macro_rules! id {
    ($(#[$doc:meta])* $name:ident($repr:ty)) => {
        $(#[$doc])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
        #[serde(transparent)]
        pub struct $name(pub $repr);
    };
}

id! {
    /// A thread of the program, numbered in the order in which threads were first seen.
    ThreadId(u32)
}
id! {
    /// A lock. Two live objects never share one.
    LockId(u32)
}
id! {
    /// A place in the program's code: class, method and line, numbered when the class was rewritten.
    SiteId(u32)
}
id! {
    /// A memory location: one field of one object, one static field, or one element of one array.
    LocationId(u64)
}
