//! Waiting until a 32-bit number changes, with the Linux futex system call.

use std::sync::atomic::AtomicU32;

/// Sleeps until a `wake` on this number; returns at once if the number differs from `expected`. May return spuriously.
pub(crate) fn wait(number: &AtomicU32, expected: u32) {
    // SAFETY: the address is that of an aligned 32-bit number that lives during the call; the kernel compares it with `expected`
    // before it puts the thread to sleep.
    unsafe {
        libc::syscall(
            libc::SYS_futex,
            number.as_ptr(),
            libc::FUTEX_WAIT | libc::FUTEX_PRIVATE_FLAG,
            expected,
            std::ptr::null::<libc::timespec>(),
        );
    }
}

/// Wakes one thread that waits on this number.
pub(crate) fn wake(number: &AtomicU32) {
    // SAFETY: the address is that of an aligned 32-bit number that lives during the call.
    unsafe {
        libc::syscall(libc::SYS_futex, number.as_ptr(), libc::FUTEX_WAKE | libc::FUTEX_PRIVATE_FLAG, 1);
    }
}
