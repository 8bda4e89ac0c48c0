//! Faults that end-to-end tests inject to check how a failure of Fissure's code is handled. Only debug builds have them.

use crate::vm::Jni;

/// The environment variable that requests a fault when the program starts its second thread: `exception` or `panic`.
#[cfg(debug_assertions)]
const VARIABLE: &str = "FISSURE_TEST_FAULT";

/// Fails in the requested way, except in the first call, which is for the main thread.
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

/// Release builds inject no faults.
#[cfg(not(debug_assertions))]
pub(crate) fn fault(_jni: Jni) {}
