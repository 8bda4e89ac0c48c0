//! Pins each thread that executes sequences to its own processor, so that sequences run in parallel.
//!
//! Java cannot pin threads. The driver's threads have names, by which they are found under `/proc`.

use std::{fs, thread, time::Duration};

use rustix::{
    process::{Pid, Signal},
    thread::{CpuSet, sched_getaffinity, sched_setaffinity},
};

use crate::signals;

/// How often the threads are searched for.
const TRIES: usize = 100;

const PAUSE: Duration = Duration::from_millis(5);

/// Pins the JVM's actors to different processors; gives whether there are enough processors.
pub(crate) fn pin(process: u32, actors: usize) -> bool {
    let processors = allowed();
    if processors.len() < actors {
        return false;
    }
    // A thread gets its name only after it has started.
    for _ in 0..TRIES {
        if pinned(process, &processors) == 2 * actors {
            return true;
        }
        thread::sleep(PAUSE);
    }
    false
}

/// Pins the actors that exist; gives how many.
fn pinned(process: u32, processors: &[usize]) -> usize {
    let Ok(tasks) = fs::read_dir(format!("/proc/{process}/task")) else { return 0 };
    let mut pinned = 0;
    for task in tasks.flatten() {
        let name = fs::read_to_string(task.path().join("comm")).unwrap_or_default();
        let number = ["fissure-actor", "fissure-nudge"]
            .iter()
            .find_map(|prefix| name.trim().strip_prefix(prefix))
            .and_then(|number| number.parse::<usize>().ok());
        let thread = task.file_name().to_str().and_then(|name| name.parse::<i32>().ok());
        if let (Some(number), Some(thread)) = (number, thread)
            && let Some(&processor) = processors.get(number)
        {
            pinned += usize::from(set(thread, processor));
        }
    }
    pinned
}

/// Kills a JVM that does not answer any more. It is a child that has not been reaped, so its id has not been reused.
pub(crate) fn kill(process: u32) {
    if let Some(process) = Pid::from_raw(process.cast_signed()) {
        signals::send(process, Signal::KILL);
    }
}

/// The processors that this process may use.
fn allowed() -> Vec<usize> {
    let set = sched_getaffinity(None).unwrap_or_default();
    (0..CpuSet::MAX_CPU).filter(|&number| set.is_set(number)).collect()
}

/// Pins a thread, unless it has ended meanwhile.
fn set(thread: i32, processor: usize) -> bool {
    let mut set = CpuSet::new();
    set.set(processor);
    Pid::from_raw(thread).is_some_and(|thread| sched_setaffinity(Some(thread), &set).is_ok())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn this_process_may_use_some_processor() {
        assert!(!allowed().is_empty());
        assert!(!pin(std::process::id(), 1 << 20), "no machine has so many processors");
    }
}
