//! Why nobody can run any more.

use fissure_model::ids::{LockId, SiteId, ThreadId};

/// What a thread waits for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum WaitsFor {
    /// A lock that another thread holds.
    Lock(LockId),
    /// To be notified in a monitor.
    Notification(LockId),
    /// A permit.
    Permit,
    /// Nothing but its turn.
    Turn,
}

/// A thread that is not at its end.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StuckThread {
    /// Who.
    pub thread: ThreadId,
    /// Whether the program would end without it.
    pub is_daemon: bool,
    /// What it waits for.
    pub waits_for: WaitsFor,
    /// Where.
    pub site: Option<SiteId>,
    /// The locks that it holds, in the order in which it got them.
    pub holds: Vec<LockId>,
}

/// All threads that are not at their end, when nobody can run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Stuck {
    /// The threads.
    pub threads: Vec<StuckThread>,
    /// Those among them that wait for each other in a circle, each for a lock of the next; empty if there is no circle.
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
