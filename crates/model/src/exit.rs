//! How a program ended, in words and as the number that shells use.

use std::fmt;

/// How one run of the program under test ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Exit {
    /// It ended by itself with this exit code.
    Code(i32),
    /// This signal killed it.
    Signal(i32),
}

impl Exit {
    /// The exit code as a shell shows it: a process killed by a signal has 128 plus the signal's number.
    pub fn code(self) -> i32 {
        match self {
            Exit::Code(code) => code,
            Exit::Signal(signal) => 128 + signal,
        }
    }
}

impl fmt::Display for Exit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Exit::Code(code) => write!(f, "ended with exit code {code}"),
            Exit::Signal(signal) => match signal_name(*signal) {
                Some(name) => write!(f, "was killed by signal {signal} ({name})"),
                None => write!(f, "was killed by signal {signal}"),
            },
        }
    }
}

/// The names of Linux' signals; the numbers are the same on x86-64 and aarch64.
fn signal_name(signal: i32) -> Option<&'static str> {
    let name = match signal {
        1 => "SIGHUP",
        2 => "SIGINT",
        3 => "SIGQUIT",
        4 => "SIGILL",
        5 => "SIGTRAP",
        6 => "SIGABRT",
        7 => "SIGBUS",
        8 => "SIGFPE",
        9 => "SIGKILL",
        10 => "SIGUSR1",
        11 => "SIGSEGV",
        12 => "SIGUSR2",
        13 => "SIGPIPE",
        14 => "SIGALRM",
        15 => "SIGTERM",
        24 => "SIGXCPU",
        25 => "SIGXFSZ",
        31 => "SIGSYS",
        _ => return None,
    };
    Some(name)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(exit: Exit, code: i32, text: &str) {
        assert_eq!((exit.code(), exit.to_string().as_str()), (code, text));
    }

    #[test]
    fn exits_have_a_code_and_a_text() {
        check(Exit::Code(0), 0, "ended with exit code 0");
        check(Exit::Code(137), 137, "ended with exit code 137");
        check(Exit::Signal(9), 137, "was killed by signal 9 (SIGKILL)");
        check(Exit::Signal(64), 192, "was killed by signal 64");
    }
}
