//! One execution as a reader follows it: who did what, in which order. Reports draw it, one column or lane a thread.

use serde::{Deserialize, Serialize};

use crate::finding::Frame;

/// What a step does.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Action {
    /// The thread begins to run.
    Begin,
    /// The thread is over.
    End,
    /// The thread starts another; `object` is that thread's name.
    Start,
    /// The thread has seen another end; `object` is that thread's name.
    Join,
    /// A block that should be atomic begins; `object` names the block.
    BlockEnter,
    /// The innermost such block ends.
    BlockExit,
    /// A lock is got; `object` names it. Acquires of a lock that the thread holds already are not steps.
    Acquire,
    /// A lock is given back.
    Release,
    /// The thread gives the lock back and waits to be notified.
    Wait,
    /// One or all who wait for the object are woken.
    Notify,
    /// The thread waits for a permit or for another thread.
    Park,
    /// The thread named by `object` gets a permit.
    Unpark,
    /// The thread sleeps or waits for time to pass.
    Sleep,
    /// The thread is interrupted by another; `object` is the thread that is interrupted.
    Interrupt,
    /// A location is read; `object` names it.
    Read,
    /// A location is written; `object` names it.
    Write,
    /// A volatile or atomic operation; `object` names the location.
    Atomic,
    /// An exception leaves the thread's outermost method; `object` is its class.
    Throw,
    /// Anything else that the text in `object` tells.
    Other,
}

/// One step of one thread.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Step {
    /// Which thread, as an index into [`Interleaving::threads`].
    pub thread: usize,
    /// What it does.
    pub action: Action,
    /// What it does that to: a lock, a location, a block, a thread, as a reader may recognise it.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub object: String,
    /// Where in the code.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub at: Option<Frame>,
    /// What the step means for the finding, if it is one of those that make it up: the role of one of its sites.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub role: Option<String>,
    /// How many steps that do not matter for the finding were left out just before this one.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub folded: u64,
}

/// An execution, or the part of it that matters for a finding.
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
