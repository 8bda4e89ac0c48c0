//! Runs a command to its end or to a time limit, and measures time and memory.

use std::{
    fs,
    io::Read,
    os::unix::process::CommandExt,
    process::{Command, Stdio},
    thread,
    time::{Duration, Instant},
};

use anyhow::{Context, Result};

/// How often the memory of the processes is read.
const INTERVAL: Duration = Duration::from_millis(20);

/// What came of a command.
#[derive(Debug)]
pub(crate) struct Run {
    pub(crate) elapsed: Duration,
    /// The largest of the peaks of resident memory of its processes, in kilobytes.
    pub(crate) memory: u64,
    /// The exit code; `None` if it was killed.
    pub(crate) code: Option<i32>,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
    /// Whether it was ended at the time limit.
    pub(crate) is_hung: bool,
}

/// Runs a command.
pub(crate) fn run(command: &mut Command, limit: Duration) -> Result<Run> {
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped()).process_group(0);
    let began = Instant::now();
    let mut child = command.spawn().context("cannot start the command")?;
    let readers = [child.stdout.take().map(reader), child.stderr.take().map(reader)];
    let mut memory = 0;
    let mut is_hung = false;
    let status = loop {
        memory = memory.max(peak_of_tree(child.id()));
        if let Some(status) = child.try_wait().context("cannot wait for the command")? {
            break status;
        }
        if began.elapsed() > limit {
            is_hung = true;
            // The group: Fissure's JVMs would go on without it.
            let group = format!("-{}", child.id());
            let _ = Command::new("kill").args(["-KILL", "--", &group]).status();
            break child.wait().context("cannot wait for the command")?;
        }
        thread::sleep(INTERVAL);
    };
    let elapsed = began.elapsed();
    let [stdout, stderr] =
        readers.map(|reader| reader.and_then(|reader| reader.join().ok()).unwrap_or_default());
    Ok(Run { elapsed, memory, code: status.code(), stdout, stderr, is_hung })
}

fn reader(mut stream: impl Read + Send + 'static) -> thread::JoinHandle<String> {
    thread::spawn(move || {
        let mut bytes = Vec::new();
        let _ = stream.read_to_end(&mut bytes);
        String::from_utf8_lossy(&bytes).into_owned()
    })
}

/// The largest peak of resident memory of a process and its descendants, in kilobytes.
fn peak_of_tree(process: u32) -> u64 {
    let status = fs::read_to_string(format!("/proc/{process}/status")).unwrap_or_default();
    let own = status.lines().find_map(|line| line.strip_prefix("VmHWM:")).map_or(0, kilobytes);
    let children = fs::read_to_string(format!("/proc/{process}/task/{process}/children")).unwrap_or_default();
    let children = children.split_ascii_whitespace().filter_map(|child| child.parse().ok());
    children.map(peak_of_tree).chain([own]).max().unwrap_or_default()
}

fn kilobytes(text: &str) -> u64 {
    text.trim().trim_end_matches("kB").trim().parse().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn commands_are_run_and_ended() {
        let run =
            run(Command::new("sh").args(["-c", "echo out; echo err >&2; exit 3"]), Duration::from_secs(20))
                .unwrap();
        assert_eq!(
            (run.code, run.stdout.as_str(), run.stderr.as_str(), run.is_hung),
            (Some(3), "out\n", "err\n", false)
        );
        let hung =
            super::run(Command::new("sh").args(["-c", "sleep 60"]), Duration::from_millis(200)).unwrap();
        assert!(hung.is_hung && hung.code.is_none());
        assert_eq!(kilobytes("   1234 kB"), 1234);
    }
}
