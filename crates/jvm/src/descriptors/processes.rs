//! Processes that the program has started, and waits for.

use std::os::fd::OwnedFd;

use rustix::{
    io::Errno,
    process::{Pid, PidfdFlags, WaitId, WaitIdOptions, WaitOptions, pidfd_open, waitid, waitpid},
};

/// The process is no child of this one; the number is the JDK's.
pub(crate) const NO_CHILD: i32 = -2;
/// The exit code is unknown; the number is the JDK's.
const UNKNOWN: i32 = -1;
/// Added to the number of a signal that ended a process.
const SIGNALLED: i32 = 0x80;

/// A process that may be a child of this one.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Child(Pid);

impl Child {
    pub(crate) fn new(number: i64) -> Option<Self> {
        i32::try_from(number).ok().and_then(Pid::from_raw).map(Self)
    }

    /// A descriptor that is ready once the process has ended; `None` if there is no such process, or the kernel is too old.
    pub(crate) fn descriptor(self) -> Option<OwnedFd> {
        pidfd_open(self.0, PidfdFlags::empty()).ok()
    }

    /// Waits for the end of the process, and returns its exit code. Unless `reaps`, the process remains for others that wait for it.
    pub(crate) fn exit_code(self, reaps: bool) -> i32 {
        loop {
            let (code, signal) = match reaps {
                true => match waitpid(Some(self.0), WaitOptions::empty()) {
                    Ok(Some((_, status))) => (status.exit_status(), status.terminating_signal()),
                    Ok(None) | Err(Errno::INTR) => continue,
                    Err(error) => return failed(error),
                },
                false => match waitid(WaitId::Pid(self.0), WaitIdOptions::EXITED | WaitIdOptions::NOWAIT) {
                    Ok(Some(status)) => (status.exit_status(), status.terminating_signal()),
                    Ok(None) | Err(Errno::INTR) => continue,
                    Err(error) => return failed(error),
                },
            };
            return code.or(signal.map(|signal| SIGNALLED + signal)).unwrap_or(UNKNOWN);
        }
    }
}

fn failed(error: Errno) -> i32 {
    if error == Errno::CHILD { NO_CHILD } else { UNKNOWN }
}

#[cfg(test)]
mod tests {
    use std::{os::fd::AsRawFd, process::Command, time::Duration};

    use fissure_schedule::conductor::Expectation;

    use super::*;
    use crate::descriptors::{Interest, expects, wait};

    fn check(script: &str, expected: i32) {
        let mut process = Command::new("sh").args(["-c", script]).spawn().unwrap();
        let child = Child::new(process.id().into()).unwrap();
        assert_eq!(child.exit_code(false), expected, "{script}");
        assert_eq!(child.exit_code(true), expected, "{script}");
        assert_eq!(child.exit_code(true), NO_CHILD, "{script}");
        assert!(process.wait().is_err(), "{script}: it was reaped");
    }

    #[test]
    fn exit_codes_are_those_of_the_jdk() {
        check("exit 0", 0);
        check("exit 7", 7);
        check("kill -KILL $$", 137);
        assert!(Child::new(0).is_none() && Child::new(i64::MAX).is_none());
    }

    #[test]
    fn the_end_of_a_process_is_expected() {
        let mut process = Command::new("sleep").arg("60").spawn().unwrap();
        let descriptor = Child::new(process.id().into()).unwrap().descriptor().unwrap();
        let interest = Interest::input(descriptor.as_raw_fd());
        assert_eq!(expects(descriptor.as_raw_fd()), Expectation::End);
        assert_eq!(wait(&[interest], Duration::ZERO), [false]);
        process.kill().unwrap();
        assert_eq!(wait(&[interest], Duration::from_secs(5)), [true]);
        process.wait().unwrap();
    }
}
