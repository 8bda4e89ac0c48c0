//! Faults that tests plant: what becomes of a failure of Fissure's own code cannot be seen without one. Only debug builds have them.

use crate::vm::Jni;

/// The environment variable that asks for a fault where the program starts its second thread: `exception` or `panic`.
#[cfg(debug_assertions)]
const VARIABLE: &str = "FISSURE_TEST_FAULT";

/// Fails as the tests want it, once the main thread is known.
#[cfg(debug_assertions)]
pub(crate) fn fault(jni: Jni) {
    use std::sync::atomic::{AtomicU32, Ordering};
    static CALLS: AtomicU32 = AtomicU32::new(0);
    if CALLS.fetch_add(1, Ordering::Relaxed) == 0 {
        return;
    }
    match std::env::var(VARIABLE).as_deref() {
        Ok("exception") => jni.throw(c"java/lang/IllegalStateException", c"planted by a test"),
        Ok("panic") => panic!("planted by a test"),
        _ => {}
    }
}

/// Nothing fails.
#[cfg(not(debug_assertions))]
pub(crate) fn fault(_jni: Jni) {}
