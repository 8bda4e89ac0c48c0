//! Looks after a thread that has the token and does not come back: it waits for something that is not modelled, or runs in a
//! circle. Others then go on beside it, and the run is said to be out of control.
//!
//! Whether a thread waits or runs is asked of the kernel, which needs no help of the JVM.

use std::{
    fs,
    time::{Duration, Instant},
};

use fissure_model::{ids::ThreadId, record::RunEnd};

use super::{Control, end_run};

/// How often it looks.
const INTERVAL: Duration = Duration::from_millis(10);
/// How long a thread may wait without having said so.
const LONGEST_WAIT: Duration = Duration::from_millis(300);
/// How long a thread may run without anything that others may notice, while others could run.
const LONGEST_RUN: Duration = Duration::from_secs(5);
/// How long it may take until somebody outside wakes a thread, when none can run.
const LONGEST_SILENCE: Duration = Duration::from_millis(300);

/// What the thread with the token was seen doing.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Seen {
    thread: ThreadId,
    steps: u64,
    processor_time: u64,
}

/// Looks on until the run is over.
pub(crate) fn watch(control: &'static Control) {
    let mut waiting: Option<(Seen, Instant)> = None;
    let mut running: Option<(ThreadId, u64, Instant)> = None;
    loop {
        std::thread::sleep(INTERVAL);
        let mut state = control.state();
        if state.is_over {
            return;
        }
        if let Some(since) = state.idle
            && since.elapsed() > LONGEST_SILENCE
            && !state.conductor.has_strays()
        {
            end_run(state, RunEnd::Hang);
        }
        let Some(thread) = state.conductor.running() else { continue };
        let Some(kernel_thread) = state.thread(thread).kernel_thread else { continue };
        if state.is_burying || !state.conductor.others_may_run() {
            continue;
        }
        let steps = state.conductor.trace().last() + state.conductor.executed();
        drop(state);
        let Some((runs, processor_time)) = processor(kernel_thread) else { continue };
        let seen = Seen { thread, steps, processor_time };
        match waiting {
            Some((before, since)) if !runs && before == seen => {
                if since.elapsed() > LONGEST_WAIT {
                    leave(control, thread, steps, "a thread waited for something that is not controlled");
                    waiting = None;
                }
            }
            _ => waiting = (!runs).then(|| (seen, Instant::now())),
        }
        match running {
            Some((before, at, since)) if (before, at) == (thread, steps) => {
                if since.elapsed() > LONGEST_RUN {
                    leave(
                        control,
                        thread,
                        steps,
                        "a thread ran for long without anything that others notice",
                    );
                    running = None;
                }
            }
            _ => running = Some((thread, steps, Instant::now())),
        }
    }
}

/// Lets others go on beside a thread, if it is still where it was.
fn leave(control: &'static Control, thread: ThreadId, steps: u64, reason: &str) {
    let mut state = control.state();
    let is_there = state.conductor.running() == Some(thread)
        && state.conductor.trace().last() + state.conductor.executed() == steps;
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
