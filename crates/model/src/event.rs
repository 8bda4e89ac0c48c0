//! The events of a program's execution that the analyses consume.

use serde::{Deserialize, Serialize};

use crate::ids::{LocationId, LockId, SiteId, ThreadId};

/// How a lock is held.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum LockMode {
    /// No other thread can hold the lock: a monitor, a mutex, the write half of a read-write lock.
    Exclusive,
    /// Other threads may hold it in the same mode: the read half of a read-write lock. It protects reads only.
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
    /// The thread has acquired the lock.
    Acquire {
        /// The thread.
        thread: ThreadId,
        /// The lock.
        lock: LockId,
        /// The mode in which it is held.
        mode: LockMode,
    },
    /// The thread is about to release the lock.
    Release {
        /// The thread.
        thread: ThreadId,
        /// The lock.
        lock: LockId,
    },
    /// The thread reads or writes a location.
    Access {
        /// The thread.
        thread: ThreadId,
        /// The location.
        location: LocationId,
        /// Read or write.
        kind: AccessKind,
        /// The site of the access.
        site: SiteId,
    },
    /// `parent` starts `child`.
    Start {
        /// The thread that starts another.
        parent: ThreadId,
        /// The thread that begins to run.
        child: ThreadId,
    },
    /// `thread` has observed the end of `ended`.
    Join {
        /// The thread that waited.
        thread: ThreadId,
        /// The thread that ended.
        ended: ThreadId,
    },
}
