//! Threads of a pool that wait for work. Their time-out is the pool's own affair: it ends a thread that has nothing to do.

use crate::{agent::Agent, vm::RawFrame};

/// How many frames are between the wait and the method of the pool at most.
const DEPTH: usize = 16;

/// The methods in which threads of a pool wait for work.
const WAITING: &[(&str, &str)] = &[
    ("java.util.concurrent.ThreadPoolExecutor", "getTask"),
    ("java.util.concurrent.ForkJoinPool", "awaitWork"),
    ("java.util.concurrent.ForkJoinPool", "runWorker"),
    ("kotlinx.coroutines.scheduling.CoroutineScheduler$Worker", "park"),
    ("kotlinx.coroutines.scheduling.CoroutineScheduler$Worker", "tryPark"),
];

/// Queues whose time-outs are those of the tasks in them.
const OF_TASKS: &[&str] =
    &["java.util.concurrent.DelayQueue", "java.util.concurrent.ScheduledThreadPoolExecutor"];

/// Whether the current thread, which is about to park with a time-out, is one of a pool that has no work for it.
pub(super) fn is_worker_without_work(agent: &Agent) -> bool {
    let method = |frame: RawFrame| {
        let (class, method) = agent.tool.method(frame.method)?;
        Some((agent.tool.class_name(class)?.replace('/', "."), method))
    };
    is_waiting(agent.tool.stack(DEPTH).into_iter().filter_map(method))
}

/// The frames come with the innermost first, as classes and methods.
fn is_waiting(frames: impl Iterator<Item = (String, String)>) -> bool {
    for (class, method) in frames {
        if OF_TASKS.iter().any(|queue| class.starts_with(queue)) {
            return false;
        }
        if WAITING.contains(&(class.as_str(), method.as_str())) {
            return true;
        }
    }
    false
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(frames: &[&str], expected: bool) {
        let frames = frames.iter().map(|frame| {
            let (class, method) = frame.rsplit_once('.').unwrap();
            (class.to_owned(), method.to_owned())
        });
        assert_eq!(is_waiting(frames), expected);
    }

    #[test]
    fn idle_threads_of_pools_are_told_from_others() {
        let park = "java.util.concurrent.locks.LockSupport.parkNanos";
        let pool = "java.util.concurrent.ThreadPoolExecutor.getTask";
        check(&[park, "java.util.concurrent.SynchronousQueue.poll", pool], true);
        check(&[park, "java.util.concurrent.ForkJoinPool.awaitWork"], true);
        check(&[park, "java.util.concurrent.FutureTask.get", "com.acme.Main.main"], false);
        check(&[park, "java.util.concurrent.SynchronousQueue.poll", "com.acme.Main.main"], false);
        // The next task is due then.
        check(&[park, "java.util.concurrent.ScheduledThreadPoolExecutor$DelayedWorkQueue.take", pool], false);
    }
}
