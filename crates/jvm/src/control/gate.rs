//! Where a thread waits for its turn.

use std::{
    sync::atomic::{AtomicU32, Ordering},
    time::Duration,
};

const CLOSED: u32 = 0;
const OPEN: u32 = 1;
/// How often a thread looks whether its turn has come before it sleeps.
const SPINS: u32 = 300;

/// A gate that lets one thread pass once each time it is opened.
#[derive(Debug, Default)]
pub(crate) struct Gate {
    state: AtomicU32,
}

impl Gate {
    /// Lets the thread pass that waits here, or comes next.
    pub(crate) fn open(&self) {
        self.state.store(OPEN, Ordering::Release);
        // SAFETY: the address is that of an aligned 32-bit number that lives during the call.
        unsafe {
            libc::syscall(
                libc::SYS_futex,
                self.state.as_ptr(),
                libc::FUTEX_WAKE | libc::FUTEX_PRIVATE_FLAG,
                1,
            );
        }
    }

    /// Waits until the gate is opened, and closes it.
    pub(crate) fn pass(&self) {
        // Threads that take turns are woken again within microseconds, which is less than it takes to fall asleep.
        for _ in 0..SPINS {
            if self.state.load(Ordering::Relaxed) == OPEN {
                break;
            }
            std::hint::spin_loop();
        }
        while self.state.compare_exchange(OPEN, CLOSED, Ordering::Acquire, Ordering::Relaxed).is_err() {
            // SAFETY: as above; the kernel looks at the number again before it puts the thread to sleep.
            unsafe {
                libc::syscall(
                    libc::SYS_futex,
                    self.state.as_ptr(),
                    libc::FUTEX_WAIT | libc::FUTEX_PRIVATE_FLAG,
                    CLOSED,
                    std::ptr::null::<libc::timespec>(),
                );
            }
        }
    }
}

/// Waits a little for something that comes about without us.
pub(crate) fn wait_briefly() {
    std::thread::sleep(Duration::from_micros(20));
}

#[cfg(test)]
mod tests {
    use std::{sync::Arc, thread};

    use super::*;

    #[test]
    fn a_gate_lets_pass_once_for_each_opening() {
        let (ping, pong) = (Arc::new(Gate::default()), Arc::new(Gate::default()));
        let other = {
            let (ping, pong) = (ping.clone(), pong.clone());
            thread::spawn(move || {
                for _ in 0..1_000 {
                    ping.pass();
                    pong.open();
                }
            })
        };
        for _ in 0..1_000 {
            ping.open();
            pong.pass();
        }
        other.join().unwrap();
        assert_eq!(ping.state.load(Ordering::Relaxed), CLOSED);
    }
}
