//! Why no thread can run: deadlocks and hangs.

use fissure_model::ids::{LockId, SiteId, ThreadId};

/// The event or lock that a thread waits for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum WaitsFor {
    /// A lock that another thread holds.
    Lock(LockId),
    /// A notification in a monitor.
    Notification(LockId),
    /// A permit.
    Permit,
    /// An event outside of the threads, such as input.
    Event,
    /// Only to be scheduled.
    Turn,
}

/// A thread that has not ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StuckThread {
    /// The thread.
    pub thread: ThreadId,
    /// Whether it is a daemon, without which the program may end.
    pub is_daemon: bool,
    /// The event or lock that it waits for.
    pub waits_for: WaitsFor,
    /// The site where it waits.
    pub site: Option<SiteId>,
    /// The locks that it holds, in the order of their acquires.
    pub holds: Vec<LockId>,
}

/// All threads that have not ended when no thread can run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Stuck {
    /// The threads.
    pub threads: Vec<StuckThread>,
    /// The threads of a lock cycle, each waiting for a lock that the next one holds; empty if there is no cycle.
    pub circle: Vec<ThreadId>,
}

impl Stuck {
    pub(crate) fn new(threads: Vec<StuckThread>, owner: impl Fn(LockId) -> Option<ThreadId>) -> Self {
        let next = |thread: ThreadId| {
            let stuck = threads.iter().find(|stuck| stuck.thread == thread)?;
            match stuck.waits_for {
                WaitsFor::Lock(lock) => owner(lock),
                _ => None,
            }
        };
        let mut circle = Vec::new();
        for stuck in &threads {
            let mut path = vec![stuck.thread];
            while let Some(after) = path.last().and_then(|last| next(*last)) {
                if after == path[0] {
                    circle.clone_from(&path);
                    break;
                }
                if path.contains(&after) {
                    break;
                }
                path.push(after);
            }
            if !circle.is_empty() {
                break;
            }
        }
        Self { threads, circle }
    }
}
