//! Processes that are run to their end, or stopped if they hang.

use std::{
    fs,
    io::Write,
    os::unix::process::{CommandExt, ExitStatusExt},
    process::{Command, Stdio},
    thread,
    time::{Duration, Instant},
};

/// How a process ended, and its output.
#[derive(Debug)]
pub struct Ended {
    /// The exit code as a shell shows it: 128 plus the signal's number for a death by signal. `None` if it had to be stopped.
    pub code: Option<i32>,
    /// Its standard output.
    pub stdout: Vec<u8>,
    /// Its standard error.
    pub stderr: Vec<u8>,
}

/// Runs a command to its end, or kills it and its children after the time limit.
///
/// # Panics
///
/// If the command cannot be started.
pub fn run_to_end(command: &mut Command, stdin: &str, limit: Duration) -> Ended {
    let folder = tempfile::tempdir().expect("a temporary folder can be made");
    let file = |name| fs::File::create(folder.path().join(name)).expect("a file can be made in it");
    command.stdin(Stdio::piped()).stdout(file("stdout")).stderr(file("stderr")).process_group(0);
    let mut child = command.spawn().unwrap_or_else(|error| panic!("cannot start {command:?}: {error}"));
    if let Some(mut pipe) = child.stdin.take() {
        // A program that does not read its input may have ended by now, which is no problem.
        let _ = pipe.write_all(stdin.as_bytes());
    }
    let started = Instant::now();
    let status = loop {
        match child.try_wait().expect("the process can be waited for") {
            Some(status) => break Some(status),
            None if started.elapsed() > limit => break None,
            None => thread::sleep(Duration::from_millis(5)),
        }
    };
    if status.is_none() {
        // The shell's builtin: a small system has no program of that name.
        let kill = format!("kill -s KILL -- -{}", child.id());
        let _ = Command::new("sh").args(["-c", &kill]).status();
        let _ = child.kill();
        let _ = child.wait();
    }
    let read = |name| fs::read(folder.path().join(name)).unwrap_or_default();
    Ended {
        code: status.map(|status| status.code().unwrap_or_else(|| 128 + status.signal().unwrap_or_default())),
        stdout: read("stdout"),
        stderr: read("stderr"),
    }
}

/// A command as a line for a shell, with the variables that it sets.
#[must_use]
pub fn shell_line(command: &Command) -> String {
    let variables = command.get_envs().filter_map(|(name, value)| {
        Some(format!("{}={}", name.to_string_lossy(), quoted(&value?.to_string_lossy())))
    });
    let words = [command.get_program()].into_iter().chain(command.get_args());
    let words = words.map(|word| quoted(&word.to_string_lossy()));
    variables.chain(words).collect::<Vec<_>>().join(" ")
}

fn quoted(word: &str) -> String {
    let is_plain = |letter: char| letter.is_ascii_alphanumeric() || "-_./:=,+@%".contains(letter);
    if !word.is_empty() && word.chars().all(is_plain) {
        return word.to_owned();
    }
    format!("'{}'", word.replace('\'', "'\\''"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shell(script: &str, stdin: &str) -> Ended {
        run_to_end(Command::new("sh").args(["-c", script]), stdin, Duration::from_secs(30))
    }

    #[test]
    fn output_and_codes_are_collected() {
        let ended = shell("read line; echo \"$line\"; echo wrong >&2; exit 3", "two words\n");
        assert_eq!(
            (ended.code, ended.stdout, ended.stderr),
            (Some(3), b"two words\n".into(), b"wrong\n".into())
        );
        assert_eq!(shell("kill -s KILL $$", "").code, Some(137));
    }

    #[test]
    fn processes_that_hang_are_stopped() {
        let mut command = Command::new("sleep");
        assert_eq!(run_to_end(command.arg("600"), "", Duration::from_millis(50)).code, None);
    }

    #[test]
    fn lines_can_be_pasted_into_a_shell() {
        let mut command = Command::new("java");
        command.args(["-cp", "/a b", "A$B", "it's"]).env("X", "1").env_remove("Y");
        assert_eq!(shell_line(&command), r"X=1 java -cp '/a b' 'A$B' 'it'\''s'");
    }
}
