//! What a monitor is told.

use std::sync::Arc;

use fissure_model::finding::{Frame, HeldLock};

/// On which side of a point.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum When {
    /// Before it.
    Before,
    /// After it.
    After,
}

/// A place in the program and what happens there; the same for all events at it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EventSite {
    /// A number of its own.
    pub number: u32,
    /// `get`, `set`, `call`, `execution`, `lock` or `unlock`.
    pub kind: &'static str,
    /// The class of the code, with dots.
    pub class: String,
    /// The method of the code.
    pub method: String,
    /// The source file's name.
    pub file: Option<String>,
    /// The line.
    pub line: Option<u32>,
    /// The field or method in question, with the class that declares it; empty for locks.
    pub member: String,
    /// The type of a field.
    pub field_type: Option<String>,
    /// Whether that is static.
    pub is_static: bool,
    /// Whether a constructor does this.
    pub in_constructor: bool,
}

/// An object of the program.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Object {
    /// A number of its own.
    pub number: i64,
    /// How reports name it: `com.acme.Account@3`.
    pub name: Arc<str>,
}

/// A point that was reached.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Event {
    /// The advices that selected it, by their place among [`Monitor::advices`](crate::Monitor::advices).
    pub advices: Arc<[usize]>,
    /// Where.
    pub site: Arc<EventSite>,
    /// The thread's number.
    pub thread: u32,
    /// The thread's name.
    pub thread_name: Arc<str>,
    /// The part of the thread's life, for [`Outside::is_before`](crate::Outside::is_before).
    pub segment: u32,
    /// The object: whose field or method it is, the array, or the lock.
    pub object: Option<Object>,
    /// Which element of an array.
    pub index: Option<i32>,
    /// The locks that the thread holds, in the order in which it got them.
    pub locks: Arc<[HeldLock]>,
    /// Whether the thread initializes a class meanwhile, which others wait for.
    pub is_initializing: bool,
    /// The stack, if this thread was not seen at this place before.
    pub stack: Option<Vec<Frame>>,
}
