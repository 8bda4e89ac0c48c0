//! Detects pool threads that wait for work. Their time-out does not concern the program: it only ends an idle thread.

use fissure_control::{IdlePools, RawFrame};

use crate::agent::Agent;

/// The largest number of frames between the wait and the pool's method.
const DEPTH: usize = 16;

const POOLS: IdlePools =
    IdlePools { is_waiting: fissure_jdk::is_idle_method, is_task_queue: fissure_jdk::is_task_queue };

/// Whether the current thread, which is about to park with a time-out, is a pool thread without work.
pub(super) fn is_worker_without_work(agent: &Agent) -> bool {
    let method = |frame: RawFrame| {
        let (class, method) = agent.tool.method(frame.method)?;
        Some((agent.tool.class_name(class)?.replace('/', "."), method))
    };
    POOLS.is_waiting(agent.tool.stack(DEPTH).into_iter().filter_map(method))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(frames: &[&str], expected: bool) {
        let frames = frames.iter().map(|frame| {
            let (class, method) = frame.rsplit_once('.').unwrap();
            (class.to_owned(), method.to_owned())
        });
        assert_eq!(POOLS.is_waiting(frames), expected);
    }

    #[test]
    fn idle_pool_threads_are_recognized() {
        let park = "java.util.concurrent.locks.LockSupport.parkNanos";
        let pool = "java.util.concurrent.ThreadPoolExecutor.getTask";
        check(&[park, "java.util.concurrent.SynchronousQueue.poll", pool], true);
        check(&[park, "java.util.concurrent.ForkJoinPool.awaitWork"], true);
        check(&[park, "java.util.concurrent.FutureTask.get", "com.acme.Main.main"], false);
        check(&[park, "java.util.concurrent.SynchronousQueue.poll", "com.acme.Main.main"], false);
        // This time-out ends when the next task is due.
        check(&[park, "java.util.concurrent.ScheduledThreadPoolExecutor$DelayedWorkQueue.take", pool], false);
    }
}
