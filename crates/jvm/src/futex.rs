//! Sleeping until a number changes: the kernel's own means for it.

use std::sync::atomic::AtomicU32;

/// Sleeps until somebody wakes those who wait for this number, unless it is another than `expected` already.
pub(crate) fn wait(number: &AtomicU32, expected: u32) {
    // SAFETY: the address is that of an aligned 32-bit number that lives during the call; the kernel looks at it again before it
    // puts the thread to sleep.
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

/// Wakes one that waits for this number.
pub(crate) fn wake(number: &AtomicU32) {
    // SAFETY: the address is that of an aligned 32-bit number that lives during the call.
    unsafe {
        libc::syscall(libc::SYS_futex, number.as_ptr(), libc::FUTEX_WAKE | libc::FUTEX_PRIVATE_FLAG, 1);
    }
}
