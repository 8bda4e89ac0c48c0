//! Gates, at which threads wait for their turn in an execution.
//!
//! Executions take microseconds, so waiting threads spin for a long time before they sleep, and only sleeping threads need a wake-up.

use std::{
    sync::atomic::{AtomicU32, Ordering},
    time::{Duration, Instant},
};

use crate::futex;

const CLOSED: u32 = 0;
const OPEN: u32 = 1;
const ASLEEP: u32 = 2;
/// The time that a thread spins before it sleeps.
const SPIN_TIME: Duration = Duration::from_micros(50);
/// The number of spins between two readings of the clock.
const SPINS: u32 = 64;

/// A gate that lets one thread pass once each time it is opened.
#[derive(Debug, Default)]
pub(crate) struct Gate {
    state: AtomicU32,
}

impl Gate {
    /// Lets the thread pass that waits here, or that comes next.
    pub(crate) fn open(&self) {
        if self.state.swap(OPEN, Ordering::AcqRel) == ASLEEP {
            futex::wake(&self.state);
        }
    }

    /// Waits until the gate is opened, and closes it.
    pub(crate) fn pass(&self) {
        let began = Instant::now();
        loop {
            for _ in 0..SPINS {
                if self.state.load(Ordering::Relaxed) == OPEN {
                    break;
                }
                std::hint::spin_loop();
            }
            if self.state.compare_exchange(OPEN, CLOSED, Ordering::Acquire, Ordering::Relaxed).is_ok() {
                return;
            }
            if began.elapsed() > SPIN_TIME {
                break;
            }
        }
        while self.state.compare_exchange(OPEN, CLOSED, Ordering::Acquire, Ordering::Relaxed).is_err() {
            let slept = self.state.compare_exchange(CLOSED, ASLEEP, Ordering::Relaxed, Ordering::Relaxed);
            if slept == Err(OPEN) {
                continue;
            }
            futex::wait(&self.state, ASLEEP);
        }
    }
}

#[cfg(test)]
mod tests {
    use std::{sync::Arc, thread, time::Duration};

    use super::*;

    fn check(pause: Option<Duration>) {
        let (ping, pong) = (Arc::new(Gate::default()), Arc::new(Gate::default()));
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
        check(None);
    }

    #[test]
    fn a_sleeping_thread_is_woken() {
        check(Some(Duration::from_millis(1)));
    }
}
