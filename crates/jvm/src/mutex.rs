//! The agent's mutexes. None may be held while Java code can run: instrumented code calls the agent, which would deadlock with itself.
//!
//! Debug builds count the mutexes that a thread holds. The functions of [`crate::vm::Jni`] that can run Java code assert that the
//! count is zero, so every end-to-end test checks the rule.

use std::{
    ops::{Deref, DerefMut},
    sync::{Mutex, MutexGuard, PoisonError},
};

/// A held mutex of the agent.
pub(crate) struct Held<'a, T> {
    guard: MutexGuard<'a, T>,
    _count: count::Entry,
}

/// Locks a mutex even if its last owner panicked: after a panic the agent stops anyway.
#[inline]
pub(crate) fn locked<T>(mutex: &Mutex<T>) -> Held<'_, T> {
    Held { guard: mutex.lock().unwrap_or_else(PoisonError::into_inner), _count: count::Entry::new() }
}

/// Asserts that the current thread holds none of the agent's mutexes, before an operation that can run Java code.
#[inline]
pub(crate) fn check_none_is_held(what: &str) {
    count::check(what);
}

impl<T> Deref for Held<'_, T> {
    type Target = T;

    #[inline]
    fn deref(&self) -> &T {
        &self.guard
    }
}

impl<T> DerefMut for Held<'_, T> {
    #[inline]
    fn deref_mut(&mut self) -> &mut T {
        &mut self.guard
    }
}

#[cfg(debug_assertions)]
mod count {
    use std::cell::Cell;

    thread_local! {
        static HELD: Cell<u32> = const { Cell::new(0) };
    }

    pub(super) struct Entry;

    impl Entry {
        pub(super) fn new() -> Self {
            HELD.set(HELD.get() + 1);
            Entry
        }
    }

    impl Drop for Entry {
        fn drop(&mut self) {
            HELD.set(HELD.get() - 1);
        }
    }

    pub(super) fn check(what: &str) {
        assert_eq!(HELD.get(), 0, "{what} can run Java code, and a mutex of the agent is held");
    }
}

#[cfg(not(debug_assertions))]
mod count {
    pub(super) struct Entry;

    impl Entry {
        #[inline]
        pub(super) fn new() -> Self {
            Entry
        }
    }

    #[inline]
    pub(super) fn check(_what: &str) {}
}

#[cfg(test)]
mod tests {
    use std::panic::catch_unwind;

    use super::*;

    #[test]
    fn java_code_may_run_only_while_no_mutex_is_held() {
        let (first, second) = (Mutex::new(1), Mutex::new(2));
        check_none_is_held("before");
        let held = locked(&first);
        let sum = *held + *locked(&second);
        assert_eq!(sum, 3);
        assert!(catch_unwind(|| check_none_is_held("between")).is_err());
        drop(held);
        check_none_is_held("after");
    }
}
