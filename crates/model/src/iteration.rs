//! Runs as iterations inside one JVM: the messages between the command line and a JVM that stays.
//!
//! The command line listens on a socket in the JVM's folder, the JVM connects to it. Each message is one line of JSON: a [`Request`] for
//! every iteration, and its [`Answer`] when the records of the iteration are complete and the JVM is ready for the next one. The JVM ends
//! when the socket is closed.

use serde::{Deserialize, Serialize};

use crate::settings::Control;

/// What two runs of a hunt share.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Isolation {
    /// Nothing: every run has a JVM of its own.
    Jvm,
    /// The JVM and the JDK's classes; the program's classes are loaded anew for every run.
    Classes,
    /// The JVM and all classes, with the values of their static fields.
    None,
}

/// How a JVM executes runs on request.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct IterationSettings {
    /// The path of the socket to which the JVM connects.
    pub socket: String,
    /// What the iterations share; never [`Isolation::Jvm`].
    pub isolation: Isolation,
    /// The entries of the class path whose classes all iterations share although others are loaded anew: those of a test framework.
    #[serde(default)]
    pub kept: Vec<String>,
}

/// The request to execute one iteration.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Request {
    /// How its threads are scheduled. Settings that determine the instrumentation are those of the JVM.
    pub control: Control,
    /// The arguments of the program, if they are not those of the JVM.
    #[serde(default)]
    pub arguments: Option<Vec<String>>,
}

/// The answer to a request.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Answer {
    /// The iteration has ended, and its records are complete.
    Ended {
        /// The exit code that a process would have had.
        exit: i32,
        /// The lengths of standard output and standard error at its end, if they are files. Threads that were left over
        /// printed the rest.
        printed: [u64; 2],
        /// Why the JVM cannot execute another iteration, if it cannot.
        retired: Option<String>,
    },
    /// The JVM cannot be made like new for this iteration, and ends; nothing was executed.
    Retired {
        /// The reason.
        reason: String,
    },
    /// The JVM cannot execute iterations of this program; nothing was executed.
    Refused {
        /// The reason.
        reason: String,
    },
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(answer: Answer, expected: &str) {
        assert_eq!(serde_json::to_string(&answer).unwrap(), expected);
        assert_eq!(serde_json::from_str::<Answer>(expected).unwrap(), answer);
    }

    #[test]
    fn answers_are_one_line_each() {
        let ended = |exit, retired| Answer::Ended { exit, printed: [4, 0], retired };
        check(ended(3, None), r#"{"ended":{"exit":3,"printed":[4,0],"retired":null}}"#);
        let retired = Some("a thread is left".to_owned());
        check(ended(0, retired), r#"{"ended":{"exit":0,"printed":[4,0],"retired":"a thread is left"}}"#);
        check(Answer::Retired { reason: "x".to_owned() }, r#"{"retired":{"reason":"x"}}"#);
        let reason = "two\nlines".to_owned();
        check(Answer::Refused { reason }, r#"{"refused":{"reason":"two\nlines"}}"#);
    }

    #[test]
    fn other_messages_are_errors() {
        for text in ["", "{}", r#"{"ended":{"exit":"0"}}"#, r#"{"gone":{}}"#] {
            assert!(serde_json::from_str::<Answer>(text).is_err(), "{text}");
        }
        assert!(serde_json::from_str::<Request>(r#"{"seed":1}"#).is_err());
    }
}
