//! Where a thread waits for its turn.
//!
//! Threads take turns within microseconds, so that one that waits looks for a moment whether its turn has come already, and then
//! sleeps in the kernel. One that is not needed for longer goes to sleep in a monitor of the JVM's: a JVM that ends waits some tenths
//! of a second for threads that it takes to be in native code, and does not for those.

use std::{
    sync::{
        OnceLock,
        atomic::{AtomicU32, Ordering},
    },
    time::Duration,
};

use crate::{agent::agent, vm::RawMonitor};

/// The thread has to wait.
const CLOSED: u32 = 0;
/// It may pass.
const OPEN: u32 = 1;
/// It has to wait, and sleeps in the kernel.
const ASLEEP: u32 = 2;
/// It has to wait, and sleeps in a monitor of the JVM.
const DORMANT: u32 = 3;
/// How often a thread looks whether its turn has come before it sleeps.
const SPINS: u32 = 200;
/// How long it sleeps in the kernel.
const NAP: libc::timespec = libc::timespec { tv_sec: 0, tv_nsec: 2_000_000 };
/// How often a thread that sleeps in a monitor looks whether it was woken by somebody whom the JVM does not know, in milliseconds.
const LOOK: i64 = 100;

/// A gate that lets one thread pass once each time it is opened.
#[derive(Debug, Default)]
pub(crate) struct Gate {
    state: AtomicU32,
    monitor: OnceLock<Option<RawMonitor>>,
}

impl Gate {
    /// Lets the thread pass that waits here, or comes next.
    pub(crate) fn open(&self) {
        match self.state.swap(OPEN, Ordering::Release) {
            // SAFETY: the address is that of an aligned 32-bit number that lives during the call.
            ASLEEP => unsafe {
                libc::syscall(
                    libc::SYS_futex,
                    self.state.as_ptr(),
                    libc::FUTEX_WAKE | libc::FUTEX_PRIVATE_FLAG,
                    1,
                );
            },
            DORMANT => {
                if let Some(Some(monitor)) = self.monitor.get()
                    && monitor.enter()
                {
                    monitor.notify_all();
                    monitor.exit();
                }
            }
            _ => {}
        }
    }

    /// Waits until the gate is opened, and closes it. Only one thread ever waits at a gate.
    pub(crate) fn pass(&self) {
        for _ in 0..SPINS {
            if self.state.load(Ordering::Relaxed) == OPEN {
                break;
            }
            std::hint::spin_loop();
        }
        if !self.passes() && !self.nap() {
            self.lie_dormant();
        }
    }

    fn passes(&self) -> bool {
        self.state.compare_exchange(OPEN, CLOSED, Ordering::Acquire, Ordering::Relaxed).is_ok()
    }

    /// Sleeps for a moment; says whether the turn has come.
    fn nap(&self) -> bool {
        if self.state.compare_exchange(CLOSED, ASLEEP, Ordering::Relaxed, Ordering::Relaxed).is_ok() {
            // SAFETY: as above; the kernel looks at the number again before it puts the thread to sleep, and reads the time only.
            unsafe {
                libc::syscall(
                    libc::SYS_futex,
                    self.state.as_ptr(),
                    libc::FUTEX_WAIT | libc::FUTEX_PRIVATE_FLAG,
                    ASLEEP,
                    &NAP as *const libc::timespec,
                );
            }
        }
        if self.passes() {
            return true;
        }
        let _ = self.state.compare_exchange(ASLEEP, CLOSED, Ordering::Relaxed, Ordering::Relaxed);
        false
    }

    fn lie_dormant(&self) {
        let monitor = self.monitor.get_or_init(|| agent().and_then(|agent| RawMonitor::new(agent.tool)));
        let Some(monitor) = monitor.filter(|monitor| monitor.enter()) else {
            while !self.nap() {}
            return;
        };
        while !self.passes() {
            let _ = self.state.compare_exchange(CLOSED, DORMANT, Ordering::Relaxed, Ordering::Relaxed);
            // A thread that was interrupted does not wait here.
            if self.state.load(Ordering::Relaxed) == DORMANT && !monitor.wait(LOOK) {
                wait_briefly();
            }
        }
        monitor.exit();
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
