//! Where a thread waits for its turn.
//!
//! Threads take turns within microseconds, so that one that waits looks for a moment whether its turn has come already, and then
//! sleeps in the kernel. When the JVM ends, those that still wait go to sleep in a monitor of the JVM's: it waits some tenths of a
//! second for threads that it takes to be in native code, and does not for those. Before that they must not, for whoever waits in such
//! a monitor loses its interruptions.

use std::{
    sync::{
        OnceLock,
        atomic::{AtomicBool, AtomicU32, Ordering},
    },
    time::Duration,
};

use crate::{agent::agent, futex, vm::RawMonitor};

/// The thread has to wait.
const CLOSED: u32 = 0;
/// It may pass.
const OPEN: u32 = 1;
/// It has to wait, and sleeps in the kernel.
const ASLEEP: u32 = 2;
/// It has to wait, and sleeps in a monitor of the JVM.
const DORMANT: u32 = 3;
/// How often a thread looks whether its turn has come before it sleeps: the more often, the more that was of use lately, for where
/// turns are long or processors few, looking keeps others from running.
const FEWEST_SPINS: u32 = 50;
const MOST_SPINS: u32 = 1_600;
/// How often a thread that sleeps in a monitor looks whether it was woken by somebody whom the JVM does not know, in milliseconds.
const LOOK: i64 = 100;

/// Whether all gates are open for ever.
static IS_ABOLISHED: AtomicBool = AtomicBool::new(false);

/// Whether the JVM ends.
static IS_ENDING: AtomicBool = AtomicBool::new(false);

/// A gate that lets one thread pass once each time it is opened.
#[derive(Debug)]
pub(crate) struct Gate {
    state: AtomicU32,
    /// How often to look next time. Only the one thread that waits here changes it.
    spins: AtomicU32,
    monitor: OnceLock<Option<RawMonitor>>,
}

impl Default for Gate {
    fn default() -> Self {
        Self {
            state: AtomicU32::new(CLOSED),
            spins: AtomicU32::new(4 * FEWEST_SPINS),
            monitor: OnceLock::new(),
        }
    }
}

impl Gate {
    /// Lets the thread pass that waits here, or comes next.
    pub(crate) fn open(&self) {
        match self.state.swap(OPEN, Ordering::Release) {
            ASLEEP => self.wake(),
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
        let spins = self.spins.load(Ordering::Relaxed);
        let opens = (0..spins).any(|_| {
            std::hint::spin_loop();
            self.state.load(Ordering::Relaxed) == OPEN
        });
        let next = if opens { (2 * spins).min(MOST_SPINS) } else { (spins / 2).max(FEWEST_SPINS) };
        self.spins.store(next, Ordering::Relaxed);
        while !self.passes() {
            if IS_ABOLISHED.load(Ordering::SeqCst) {
                return;
            }
            if IS_ENDING.load(Ordering::Relaxed) && self.lie_dormant() {
                return;
            }
            self.sleep();
        }
    }

    fn passes(&self) -> bool {
        self.state.compare_exchange(OPEN, CLOSED, Ordering::Acquire, Ordering::Relaxed).is_ok()
    }

    /// Sleeps until somebody opens the gate, or the JVM ends.
    fn sleep(&self) {
        // A JVM that ends makes no monitors any more.
        self.monitor();
        let _ = self.state.compare_exchange(CLOSED, ASLEEP, Ordering::Relaxed, Ordering::Relaxed);
        futex::wait(&self.state, ASLEEP);
    }

    fn wake(&self) {
        futex::wake(&self.state);
    }

    fn monitor(&self) -> Option<RawMonitor> {
        *self.monitor.get_or_init(|| agent().and_then(|agent| RawMonitor::new(agent.tool)))
    }

    /// Sleeps in a monitor of the JVM until the gate is opened, and closes it; says whether there was such a monitor.
    fn lie_dormant(&self) -> bool {
        let Some(monitor) = self.monitor().filter(|monitor| monitor.enter()) else { return false };
        while !self.passes() {
            for awake in [CLOSED, ASLEEP] {
                let _ = self.state.compare_exchange(awake, DORMANT, Ordering::Relaxed, Ordering::Relaxed);
            }
            // A thread that was interrupted does not wait here.
            if self.state.load(Ordering::Relaxed) == DORMANT && !monitor.wait(LOOK) {
                wait_briefly();
            }
        }
        monitor.exit();
        true
    }
}

/// The JVM ends: whoever waits at one of these gates does so where it is not waited for.
pub(crate) fn end<'a>(gates: impl Iterator<Item = &'a Gate>) {
    IS_ENDING.store(true, Ordering::SeqCst);
    gates.for_each(Gate::wake);
}

/// Nobody waits at a gate any more, at these or at others.
pub(crate) fn abolish<'a>(gates: impl Iterator<Item = &'a Gate>) {
    IS_ABOLISHED.store(true, Ordering::SeqCst);
    gates.for_each(Gate::open);
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
