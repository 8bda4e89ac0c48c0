//! The events that a monitor script handles.

use std::sync::Arc;

use fissure_model::finding::{Frame, HeldLock};

/// The side of a join point.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum When {
    /// Before it.
    Before,
    /// After it.
    After,
}

/// A site in the program and what happens there; all events there share it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EventSite {
    /// A unique number.
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
    /// The field or method that is accessed or called, with the class that declares it; empty for locks.
    pub member: String,
    /// The type of a field.
    pub field_type: Option<String>,
    /// Whether the member is static.
    pub is_static: bool,
    /// Whether the code is a constructor's.
    pub in_constructor: bool,
}

/// An object of the program.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Object {
    /// A unique number.
    pub number: i64,
    /// How reports name it: `com.acme.Account@3`.
    pub name: Arc<str>,
}

/// A join point that was reached.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Event {
    /// The advice that selected it, by index in [`Monitor::advices`](crate::Monitor::advices).
    pub advices: Arc<[usize]>,
    /// Its site.
    pub site: Arc<EventSite>,
    /// The thread's number.
    pub thread: u32,
    /// The thread's name.
    pub thread_name: Arc<str>,
    /// The segment of the thread between starts and joins, for [`Outside::is_before`](crate::Outside::is_before).
    pub segment: u32,
    /// The object whose field or method it is, the array, or the lock.
    pub object: Option<Object>,
    /// The index of an array's element.
    pub index: Option<i32>,
    /// The locks that the thread holds, in the order in which it acquired them.
    pub locks: Arc<[HeldLock]>,
    /// Whether the thread is initializing a class, which other threads wait for.
    pub is_initializing: bool,
    /// The stack, if the thread was not at this site before.
    pub stack: Option<Vec<Frame>>,
}
