//! How far one of several runs in a JVM has come: the threads of the run report it, and the driver of the runs waits for it.

use std::{
    fs,
    sync::{
        Condvar, Mutex, PoisonError,
        atomic::{AtomicBool, Ordering},
    },
    time::Duration,
};

/// How far a run has come.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) enum Phase {
    /// Threads that the program waits for run, or none has begun yet.
    #[default]
    Running,
    /// All threads that the program waits for have ended.
    LastEnded,
    /// The run has ended, and its results are written.
    Ended {
        /// The exit code.
        exit: i32,
        /// The lengths of standard output and standard error.
        printed: [u64; 2],
    },
}

/// The course of a run.
#[derive(Debug, Default)]
pub(crate) struct Course {
    phase: Mutex<Phase>,
    changed: Condvar,
    unwinds: AtomicBool,
}

impl Course {
    /// A run begins.
    pub(super) fn begin(&self) {
        self.unwinds.store(false, Ordering::SeqCst);
        self.change(|_| Phase::Running);
    }

    /// The last thread has ended that the program waits for.
    pub(super) fn note_last_end(&self) {
        self.change(|phase| if phase == Phase::Running { Phase::LastEnded } else { phase });
    }

    /// The run has ended.
    pub(super) fn end(&self, exit: i32) {
        // Threads that are left over may print while they are unwound.
        let printed = ["/proc/self/fd/1", "/proc/self/fd/2"]
            .map(|file| fs::metadata(file).map_or(0, |file| file.len()));
        let ended = Phase::Ended { exit, printed };
        self.change(|phase| if matches!(phase, Phase::Ended { .. }) { phase } else { ended });
    }

    /// From here on every thread of the run is unwound.
    pub(crate) fn begin_unwinding(&self) {
        self.unwinds.store(true, Ordering::SeqCst);
    }

    /// Whether the threads of the run are unwound.
    #[inline]
    pub(crate) fn unwinds(&self) -> bool {
        self.unwinds.load(Ordering::Relaxed)
    }

    /// Waits until the phase is another one than this, or for the time; returns the phase.
    pub(crate) fn wait(&self, known: Phase, most: Duration) -> Phase {
        let phase = self.phase.lock().unwrap_or_else(PoisonError::into_inner);
        let waited = self.changed.wait_timeout_while(phase, most, |phase| *phase == known);
        *waited.unwrap_or_else(PoisonError::into_inner).0
    }

    fn change(&self, next: impl FnOnce(Phase) -> Phase) {
        let mut phase = self.phase.lock().unwrap_or_else(PoisonError::into_inner);
        *phase = next(*phase);
        self.changed.notify_all();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_run_ends_once() {
        let course = Course::default();
        let phase = |known| course.wait(known, Duration::from_millis(1));
        assert_eq!(phase(Phase::Running), Phase::Running);
        course.note_last_end();
        assert_eq!(phase(Phase::Running), Phase::LastEnded);
        course.end(3);
        course.end(4);
        course.note_last_end();
        let ended = phase(Phase::LastEnded);
        assert!(matches!(ended, Phase::Ended { exit: 3, .. }));
        course.begin_unwinding();
        assert!(course.unwinds());
        course.begin();
        assert_eq!((phase(ended), course.unwinds()), (Phase::Running, false));
    }
}
