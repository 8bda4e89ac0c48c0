//! The steps of one execution in their order, as a report shows them: one column or lane per thread.

use serde::{Deserialize, Serialize};

use crate::finding::Frame;

/// The operation of a step.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Action {
    /// The thread begins to run.
    Begin,
    /// The thread ends.
    End,
    /// The thread starts another; `object` is that thread's name.
    Start,
    /// The thread has observed the end of another; `object` is that thread's name.
    Join,
    /// A block that should be atomic begins; `object` names the block.
    BlockEnter,
    /// The innermost such block ends.
    BlockExit,
    /// A lock is acquired; `object` names it. Re-entrant acquires are not steps.
    Acquire,
    /// A lock is released.
    Release,
    /// The thread releases the lock and waits to be notified.
    Wait,
    /// One or all threads that wait on the object are woken.
    Notify,
    /// The thread waits for a permit or for another thread.
    Park,
    /// The thread named by `object` gets a permit.
    Unpark,
    /// The thread sleeps or waits for time to pass.
    Sleep,
    /// The thread interrupts another; `object` is the interrupted thread.
    Interrupt,
    /// A location is read; `object` names it.
    Read,
    /// A location is written; `object` names it.
    Write,
    /// A volatile or atomic operation; `object` names the location.
    Atomic,
    /// An exception leaves the thread's outermost method; `object` is its class.
    Throw,
    /// Any other operation; `object` describes it.
    Other,
}

/// One step of one thread.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Step {
    /// The thread, as an index into [`Interleaving::threads`].
    pub thread: usize,
    /// The operation.
    pub action: Action,
    /// The object of the operation as users know it: a lock, a location, a block or a thread.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub object: String,
    /// The method that is called, if the access is a call of a collection, an atomic or a synchronizer: `put`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub called: Option<String>,
    /// The site of the step.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub at: Option<Frame>,
    /// The role of the finding's site that this step executes, if it executes one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub role: Option<String>,
    /// The number of steps, irrelevant for the finding, that were left out just before this one.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub folded: u64,
}

/// An execution, or the part of it that is relevant for a finding.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Interleaving {
    /// The names of the threads, in the order in which they appear.
    pub threads: Vec<String>,
    /// The steps in the order in which they happened.
    pub steps: Vec<Step>,
}

fn is_zero(count: &u64) -> bool {
    *count == 0
}
