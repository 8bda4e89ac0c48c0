//! Detects a thread that has the token and does not return to a scheduling point: it waits for something that is not modelled, or is
//! in an endless loop. Other threads then run beside it, and the run is marked as not controlled.
//!
//! The state of a thread (waiting or running) comes from the kernel, so the JVM need not cooperate.

use std::{fs, time::Duration};

use fissure_model::{ids::ThreadId, record::RunEnd};
use fissure_schedule::conductor::Expectation;

use super::{Control, State};

/// The interval between checks. All limits but `LONGEST_RUN` are counted in checks, not in time: while the machine is suspended or
/// overloaded, the watchdog does not check either.
const INTERVAL: Duration = Duration::from_millis(10);
/// The number of checks that may find a thread in an unmodelled wait while no other thread of the process works: the thread may as
/// well wait for the garbage collector or the JIT compiler.
const LONGEST_WAIT: u32 = 30;
/// The processor time, in nanoseconds, that a thread may use without a scheduling point while other threads could run.
const LONGEST_RUN: u64 = 5_000_000_000;
/// The number of checks without a scheduling point of the thread, whatever it does.
const LONGEST_ABSENCE: u32 = 2_000;
/// The number of checks that may find no thread able to run, before no wake-up from outside is expected any more.
const LONGEST_SILENCE: u32 = 30;

/// The state of the thread that has the token, at one check.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Seen {
    thread: ThreadId,
    steps: u64,
    processor_time: u64,
}

/// The number of checks after which the watchdog looks whether the process that supervises the run is still there.
const SUPERVISION: u32 = 100;

/// Checks the running thread until the run is over. Without the supervisor that would end it at its time limit, the run ends at once. A
/// debugger may stop the thread for as long as it likes.
pub(crate) fn watch(control: &'static Control, supervisor: u32, is_debugged: bool) {
    let is_there = || fs::exists(format!("/proc/{supervisor}")).unwrap_or(true);
    // In a container the supervisor may not be visible at all.
    let is_visible = is_there();
    let mut checks = 0_u32;
    let mut waiting: Option<(Seen, u32)> = None;
    let mut running: Option<(Seen, u32)> = None;
    let mut silent = 0;
    loop {
        std::thread::sleep(INTERVAL);
        checks = checks.wrapping_add(1);
        let is_left_alone = is_visible && checks.is_multiple_of(SUPERVISION) && !is_there();
        let mut state = control.state();
        if state.is_over && control.course().is_none() {
            return;
        }
        if state.is_over {
            (waiting, running, silent) = (None, None, 0);
            continue;
        }
        if is_left_alone {
            control.end_run(&mut state, RunEnd::TooLong);
            continue;
        }
        silent = if state.is_idle && !state.run.conductor.has_strays() { silent + 1 } else { 0 };
        if state.is_idle && !state.run.conductor.awaited_events().is_empty() {
            let limit = match state.run.conductor.expected_event() {
                Expectation::Nothing => LONGEST_SILENCE,
                Expectation::Input => LONGEST_ABSENCE,
                // The run's time limit ends a process that does not end by itself.
                Expectation::End => u32::MAX,
            };
            if silent > limit {
                control.end_run(&mut state, RunEnd::Hang);
                continue;
            }
            let decision = state.run.conductor.wait_for_events(INTERVAL.as_nanos() as u64);
            drop(control.follow(state, None, decision));
            continue;
        }
        if silent > LONGEST_SILENCE {
            control.end_run(&mut state, RunEnd::Hang);
            continue;
        }
        let Some(thread) = state.run.conductor.running() else { continue };
        let Some(kernel_thread) = state.thread(thread).kernel_thread else { continue };
        if is_debugged || state.awaits_thread_end || !state.run.conductor.others_may_run() {
            continue;
        }
        let steps = progress(&state);
        drop(state);
        let Some((runs, processor_time)) = processor(kernel_thread) else { continue };
        let seen = Seen { thread, steps, processor_time };
        waiting = match waiting {
            _ if runs => None,
            Some((before, checks)) if before == seen => Some((seen, checks + u32::from(!others_work()))),
            _ => Some((seen, 1)),
        };
        running = match running {
            Some((before, checks)) if (before.thread, before.steps) == (thread, steps) => {
                Some((before, checks + 1))
            }
            _ => Some((seen, 1)),
        };
        let runs_long = |(before, checks): (Seen, u32)| {
            processor_time.saturating_sub(before.processor_time) > LONGEST_RUN || checks > LONGEST_ABSENCE
        };
        if waiting.is_some_and(|(_, checks)| checks > LONGEST_WAIT) {
            leave(control, thread, steps, "a thread waited for something that Fissure does not control");
            waiting = None;
        }
        if running.is_some_and(runs_long) {
            leave(control, thread, steps, "a thread ran for a long time without reaching a scheduling point");
            running = None;
        }
    }
}

/// A number that grows with every step and operation under control.
fn progress(state: &State) -> u64 {
    state.run.conductor.trace().last() + state.run.conductor.executed()
}

/// Lets other threads run beside a thread, if it has made no progress since the check.
fn leave(control: &'static Control, thread: ThreadId, steps: u64, reason: &str) {
    let mut state = control.state();
    let is_there = state.run.conductor.running() == Some(thread) && progress(&state) == steps;
    if is_there {
        tracing::warn!(thread = thread.0, name = state.run.conductor.name(thread), reason, "control is lost");
        state.run.lose_control(reason);
        let decision = state.run.conductor.leave(thread);
        drop(control.follow(state, None, decision));
    }
}

/// Whether any thread of this process except the watchdog runs or waits for a disk.
fn others_work() -> bool {
    // SAFETY: gettid has no preconditions.
    let own = unsafe { libc::gettid() };
    let Ok(threads) = fs::read_dir("/proc/self/task") else { return false };
    let numbers = threads.flatten().filter_map(|thread| thread.file_name().to_str()?.parse::<i32>().ok());
    numbers.filter(|number| *number != own).any(|number| matches!(state(number), Some('R' | 'D')))
}

/// The state of a thread of this process, as the kernel's letter.
fn state(kernel_thread: i32) -> Option<char> {
    let text = fs::read_to_string(format!("/proc/self/task/{kernel_thread}/stat")).ok()?;
    // The thread's name is in parentheses and may contain any character.
    let (_, rest) = text.rsplit_once(')')?;
    rest.trim_start().chars().next()
}

/// Whether a thread of this process runs, and the processor time that it has used.
fn processor(kernel_thread: i32) -> Option<(bool, u64)> {
    let runs = state(kernel_thread)? == 'R';
    let statistics =
        fs::read_to_string(format!("/proc/self/task/{kernel_thread}/schedstat")).unwrap_or_default();
    let time = statistics.split_ascii_whitespace().next().and_then(|time| time.parse().ok()).unwrap_or(0);
    Some((runs, time))
}
