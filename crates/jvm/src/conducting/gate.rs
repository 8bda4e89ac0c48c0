//! Gates, at which threads wait for their turn.
//!
//! Turns change within microseconds, so a waiting thread first spins and then sleeps in the kernel. When the JVM ends, threads that
//! still wait move to a raw monitor: at its end the JVM waits some tenths of a second for threads in native code, but not for threads
//! in a raw monitor. They must not use it earlier, because waiting in a raw monitor clears a thread's interrupt status.

use std::{
    sync::{
        OnceLock,
        atomic::{AtomicBool, AtomicU32, Ordering},
    },
    time::{Duration, Instant},
};

use crate::{agent::agent, futex, vm::RawMonitor};

/// The thread has to wait.
const CLOSED: u32 = 0;
/// It may pass.
const OPEN: u32 = 1;
/// It has to wait, and sleeps in the kernel.
const ASLEEP: u32 = 2;
/// It has to wait, and sleeps in a raw monitor.
const IN_MONITOR: u32 = 3;
/// The time that a thread spins at a gate with short turns, and the number of spins between two readings of the clock.
const SPIN_TIME: Duration = Duration::from_micros(50);
const SPINS: u32 = 64;
/// Limits for the number of spins before a thread sleeps. The number grows when spinning succeeds and shrinks when it does not, because
/// with long turns or few processors spinning keeps other threads from running.
const FEWEST_SPINS: u32 = 50;
const MOST_SPINS: u32 = 1_600;
/// The interval, in milliseconds, at which a thread in a raw monitor polls its gate, because the opener may not be a JVM thread.
const POLL_INTERVAL: i64 = 100;

/// Whether all gates are open for good.
static ALL_OPEN: AtomicBool = AtomicBool::new(false);

/// Whether the JVM ends.
static IS_ENDING: AtomicBool = AtomicBool::new(false);

/// A gate that lets one thread pass once each time it is opened.
#[derive(Debug)]
pub(crate) struct Gate {
    state: AtomicU32,
    /// The number of spins next time. Only the one thread that waits here changes it. 0 if all turns are short, so that it spins for
    /// a long time.
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
    /// A gate for turns of microseconds, at which a thread spins for a long time.
    pub(crate) fn for_short_turns() -> Self {
        Self { spins: AtomicU32::new(0), ..Self::default() }
    }

    /// Lets the thread pass that waits here, or that comes next.
    pub(crate) fn open(&self) {
        match self.state.swap(OPEN, Ordering::Release) {
            ASLEEP => self.wake(),
            IN_MONITOR => {
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
        match self.spins.load(Ordering::Relaxed) {
            0 => self.spin_long(),
            spins => self.spin(spins),
        }
        while !self.passes() {
            if ALL_OPEN.load(Ordering::SeqCst) {
                return;
            }
            if IS_ENDING.load(Ordering::Relaxed) && self.wait_in_monitor() {
                return;
            }
            self.sleep();
        }
    }

    /// Spins until the gate is open, or this many times, which adapts to the length of turns.
    fn spin(&self, spins: u32) {
        let opens = self.opens_within(spins);
        let next = if opens { (2 * spins).min(MOST_SPINS) } else { (spins / 2).max(FEWEST_SPINS) };
        self.spins.store(next, Ordering::Relaxed);
    }

    fn spin_long(&self) {
        let began = Instant::now();
        while !self.opens_within(SPINS) && began.elapsed() <= SPIN_TIME {}
    }

    fn opens_within(&self, spins: u32) -> bool {
        (0..spins).any(|_| {
            std::hint::spin_loop();
            self.state.load(Ordering::Relaxed) == OPEN
        })
    }

    fn passes(&self) -> bool {
        self.state.compare_exchange(OPEN, CLOSED, Ordering::Acquire, Ordering::Relaxed).is_ok()
    }

    /// Sleeps until the gate is opened or the JVM ends.
    fn sleep(&self) {
        // The raw monitor is created now, because a JVM that ends creates none.
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

    /// Waits in the raw monitor until the gate is opened, and closes it; returns false if there is no raw monitor.
    fn wait_in_monitor(&self) -> bool {
        let Some(monitor) = self.monitor().filter(|monitor| monitor.enter()) else { return false };
        while !self.passes() {
            for awake in [CLOSED, ASLEEP] {
                let _ = self.state.compare_exchange(awake, IN_MONITOR, Ordering::Relaxed, Ordering::Relaxed);
            }
            // A raw monitor does not let a thread wait that has been interrupted.
            if self.state.load(Ordering::Relaxed) == IN_MONITOR && !monitor.wait(POLL_INTERVAL) {
                wait_briefly();
            }
        }
        monitor.exit();
        true
    }
}

/// The JVM ends: threads that wait at these gates move to raw monitors, for which the JVM does not wait.
pub(crate) fn end<'a>(gates: impl Iterator<Item = &'a Gate>) {
    IS_ENDING.store(true, Ordering::SeqCst);
    gates.for_each(Gate::wake);
}

/// Opens all gates for good, these and others.
pub(crate) fn open_all<'a>(gates: impl Iterator<Item = &'a Gate>) {
    ALL_OPEN.store(true, Ordering::SeqCst);
    gates.for_each(Gate::open);
}

/// Sleeps for a moment in a polling loop.
pub(crate) fn wait_briefly() {
    std::thread::sleep(Duration::from_micros(20));
}

#[cfg(test)]
mod tests {
    use std::{sync::Arc, thread};

    use super::*;

    fn check(new: fn() -> Gate, pause: Option<Duration>) {
        let (ping, pong) = (Arc::new(new()), Arc::new(new()));
        let rounds = if pause.is_some() { 20 } else { 1_000 };
        let other = {
            let (ping, pong) = (ping.clone(), pong.clone());
            thread::spawn(move || {
                for _ in 0..rounds {
                    ping.pass();
                    pong.open();
                }
            })
        };
        for _ in 0..rounds {
            pause.into_iter().for_each(thread::sleep);
            ping.open();
            pong.pass();
        }
        other.join().unwrap();
        assert_eq!(ping.state.load(Ordering::Relaxed), CLOSED);
    }

    #[test]
    fn a_gate_lets_pass_once_for_each_opening() {
        check(Gate::default, None);
        check(Gate::for_short_turns, None);
    }

    #[test]
    fn a_sleeping_thread_is_woken() {
        check(Gate::default, Some(Duration::from_millis(1)));
        check(Gate::for_short_turns, Some(Duration::from_millis(1)));
    }
}
