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
/// How often a thread may be seen waiting without having said so, while no other thread of the process does anything: it may as
/// well wait for the garbage collector, or for a compiler.
const LONGEST_WAIT: u32 = 30;
/// How much time of a processor, in nanoseconds, a thread may have without anything that others may notice, while others could run.
const LONGEST_RUN: u64 = 5_000_000_000;
/// How often a thread may be seen without anything that others may notice, whatever it does.
const LONGEST_ABSENCE: u32 = 2_000;
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
    let mut running: Option<(Seen, u32)> = None;
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
            Some((before, looks)) if before == seen => Some((seen, looks + u32::from(!others_work()))),
            _ => Some((seen, 1)),
        };
        running = match running {
            Some((before, looks)) if (before.thread, before.steps) == (thread, steps) => {
                Some((before, looks + 1))
            }
            _ => Some((seen, 1)),
        };
        let runs_long = |(before, looks): (Seen, u32)| {
            processor_time.saturating_sub(before.processor_time) > LONGEST_RUN || looks > LONGEST_ABSENCE
        };
        if waiting.is_some_and(|(_, looks)| looks > LONGEST_WAIT) {
            leave(control, thread, steps, "a thread waited for something that is not controlled");
            waiting = None;
        }
        if running.is_some_and(runs_long) {
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

/// Whether any thread of this process but the watchdog itself runs, or waits for a disk.
fn others_work() -> bool {
    // SAFETY: only asks for the thread's own number.
    let own = unsafe { libc::gettid() };
    let Ok(threads) = fs::read_dir("/proc/self/task") else { return false };
    let numbers = threads.flatten().filter_map(|thread| thread.file_name().to_str()?.parse::<i32>().ok());
    numbers.filter(|number| *number != own).any(|number| matches!(state(number), Some('R' | 'D')))
}

/// What a thread of this process does, by the letter that the kernel has for it.
fn state(kernel_thread: i32) -> Option<char> {
    let text = fs::read_to_string(format!("/proc/self/task/{kernel_thread}/stat")).ok()?;
    // The name is in parentheses and may contain anything.
    let (_, rest) = text.rsplit_once(')')?;
    rest.trim_start().chars().next()
}

/// Whether a thread of this process runs, and how much time it has had.
fn processor(kernel_thread: i32) -> Option<(bool, u64)> {
    let runs = state(kernel_thread)? == 'R';
    let statistics =
        fs::read_to_string(format!("/proc/self/task/{kernel_thread}/schedstat")).unwrap_or_default();
    let time = statistics.split_ascii_whitespace().next().and_then(|time| time.parse().ok()).unwrap_or(0);
    Some((runs, time))
}
