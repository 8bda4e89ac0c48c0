//! Faults that end-to-end tests inject to check how a failure of Fissure's code is handled. Only debug builds have them.

use crate::vm::Jni;

/// The environment variable that requests a fault, at one of the points that call [`fault`]: `exception` or `panic` when the program
/// starts its second thread, `exception-in-POINT` or `panic-in-POINT` at the first time that another point is reached.
#[cfg(debug_assertions)]
const VARIABLE: &str = "FISSURE_TEST_FAULT";

/// The point at which the program starts a thread. The first time is for the main thread, and nothing fails there.
pub(crate) const START: &str = "start";

/// Fails in the requested way, if this is the point. Returns whether an exception is pending.
#[cfg(debug_assertions)]
pub(crate) fn fault(jni: Jni, point: &str) -> bool {
    use std::sync::{
        OnceLock,
        atomic::{AtomicU32, Ordering},
    };
    static REQUESTED: OnceLock<(String, String)> = OnceLock::new();
    static TIMES: AtomicU32 = AtomicU32::new(0);
    let (fault, requested) = REQUESTED.get_or_init(|| {
        let text = std::env::var(VARIABLE).unwrap_or_default();
        let (fault, point) = text.split_once("-in-").unwrap_or((&text, START));
        (fault.to_owned(), point.to_owned())
    });
    if requested != point || TIMES.fetch_add(1, Ordering::Relaxed) != u32::from(point == START) {
        return false;
    }
    match fault.as_str() {
        "exception" => jni.throw(c"java/lang/IllegalStateException", c"planted by a test"),
        "panic" => panic!("planted by a test"),
        _ => return false,
    }
    true
}

/// Release builds inject no faults.
#[cfg(not(debug_assertions))]
#[inline]
pub(crate) fn fault(_jni: Jni, _point: &str) -> bool {
    false
}
