//! Integer identifiers for threads, locks, sites and locations.

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
    /// A thread of the program, numbered in the order in which Fissure first observed the threads.
    ThreadId(u32)
}
id! {
    /// A lock. No two live objects have the same one.
    LockId(u32)
}
id! {
    /// A site in the program's code: class, method and line, numbered when the class was instrumented.
    SiteId(u32)
}
id! {
    /// A memory location: one field of one object, one static field, or one element of one array.
    LocationId(u64)
}
