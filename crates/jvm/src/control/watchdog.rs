//! Looks after a thread that has the token and does not come back: it waits for something that is not modelled, or runs in a
//! circle. Others then go on beside it, and the run is said to be out of control.
//!
//! Whether a thread waits or runs is asked of the kernel, which needs no help of the JVM.

use std::{fs, time::Duration};

use fissure_model::{ids::ThreadId, record::RunEnd};

use super::{Control, State, end_run};

/// How often it looks. Everything below is counted in looks, not in time: on a machine that stands still, or has no time for
/// anybody, the watchdog does not look either.
const INTERVAL: Duration = Duration::from_millis(10);
/// How often a thread may be seen waiting without having said so.
const LONGEST_WAIT: u32 = 30;
/// How often a thread may be seen running without anything that others may notice, while others could run.
const LONGEST_RUN: u32 = 500;
/// How often nobody may be seen able to run, until it is clear that nobody outside wakes a thread.
const LONGEST_SILENCE: u32 = 30;

/// What the thread with the token was seen doing.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Seen {
    thread: ThreadId,
    steps: u64,
    processor_time: u64,
}

/// Looks on until the run is over.
pub(crate) fn watch(control: &'static Control) {
    let mut waiting: Option<(Seen, u32)> = None;
    let mut running: Option<(ThreadId, u64, u32)> = None;
    let mut silent = 0;
    loop {
        std::thread::sleep(INTERVAL);
        let mut state = control.state();
        if state.is_over {
            return;
        }
        silent = if state.is_idle && !state.conductor.has_strays() { silent + 1 } else { 0 };
        if silent > LONGEST_SILENCE {
            end_run(state, RunEnd::Hang);
        }
        let Some(thread) = state.conductor.running() else { continue };
        let Some(kernel_thread) = state.thread(thread).kernel_thread else { continue };
        if state.is_burying || !state.conductor.others_may_run() {
            continue;
        }
        let steps = progress(&state);
        drop(state);
        let Some((runs, processor_time)) = processor(kernel_thread) else { continue };
        let seen = Seen { thread, steps, processor_time };
        waiting = match waiting {
            _ if runs => None,
            Some((before, looks)) if before == seen => Some((seen, looks + 1)),
            _ => Some((seen, 1)),
        };
        running = match running {
            Some((before, at, looks)) if (before, at) == (thread, steps) => Some((thread, steps, looks + 1)),
            _ => Some((thread, steps, 1)),
        };
        if waiting.is_some_and(|(_, looks)| looks > LONGEST_WAIT) {
            leave(control, thread, steps, "a thread waited for something that is not controlled");
            waiting = None;
        }
        if running.is_some_and(|(.., looks)| looks > LONGEST_RUN) {
            leave(control, thread, steps, "a thread ran for long without anything that others notice");
            running = None;
        }
    }
}

/// A number that grows with everything that happens under control.
fn progress(state: &State) -> u64 {
    state.conductor.trace().last() + state.conductor.executed()
}

/// Lets others go on beside a thread, if it is still where it was.
fn leave(control: &'static Control, thread: ThreadId, steps: u64, reason: &str) {
    let mut state = control.state();
    let is_there = state.conductor.running() == Some(thread) && progress(&state) == steps;
    if is_there {
        state.lose_control(reason);
        let decision = state.conductor.leave(thread);
        drop(control.follow(state, None, decision));
    }
}

/// Whether a thread of this process runs, and how much time it has had.
fn processor(kernel_thread: i32) -> Option<(bool, u64)> {
    let text = fs::read_to_string(format!("/proc/self/task/{kernel_thread}/stat")).ok()?;
    // The name is in parentheses and may contain anything.
    let (_, rest) = text.rsplit_once(')')?;
    let runs = rest.split_ascii_whitespace().next()? == "R";
    let statistics =
        fs::read_to_string(format!("/proc/self/task/{kernel_thread}/schedstat")).unwrap_or_default();
    let time = statistics.split_ascii_whitespace().next().and_then(|time| time.parse().ok()).unwrap_or(0);
    Some((runs, time))
}
