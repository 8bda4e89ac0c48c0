//! What a program does, as far as the analyses care.

use serde::{Deserialize, Serialize};

use crate::ids::{LocationId, LockId, SiteId, ThreadId};

/// How a lock is held.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum LockMode {
    /// Nobody else holds the lock: a monitor, a mutex, the write half of a read-write lock.
    Exclusive,
    /// Others may hold it in the same mode: the read half of a read-write lock. It protects reads only.
    Shared,
}

/// Whether an access changes the location.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum AccessKind {
    /// The location is read.
    Read,
    /// The location is written.
    Write,
}

/// One step of one thread.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "event", rename_all = "kebab-case")]
pub enum Event {
    /// The thread has got the lock.
    Acquire {
        /// Who.
        thread: ThreadId,
        /// Which lock.
        lock: LockId,
        /// How it is held.
        mode: LockMode,
    },
    /// The thread is about to give the lock back.
    Release {
        /// Who.
        thread: ThreadId,
        /// Which lock.
        lock: LockId,
    },
    /// The thread reads or writes a location.
    Access {
        /// Who.
        thread: ThreadId,
        /// Which location.
        location: LocationId,
        /// Read or write.
        kind: AccessKind,
        /// Where in the code.
        site: SiteId,
    },
    /// `parent` starts `child`.
    Start {
        /// The thread that starts another.
        parent: ThreadId,
        /// The thread that begins to run.
        child: ThreadId,
    },
    /// `thread` has seen that `ended` is over.
    Join {
        /// The thread that waited.
        thread: ThreadId,
        /// The thread that ended.
        ended: ThreadId,
    },
}
