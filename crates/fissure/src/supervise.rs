//! Waits for the program's end: prints now and then that it still runs, prints deadlocks at once, and ends it at its time limit or
//! when the user insists.

use std::{
    collections::HashMap,
    fs, io,
    io::{Read, Seek, SeekFrom},
    path::{Path, PathBuf},
    process::{Child, ExitStatus},
    sync::mpsc::{RecvTimeoutError, channel},
    thread,
    time::{Duration, Instant},
};

use fissure_model::{
    finding::{Finding, Kind},
    record::Record,
};
use rustix::process::{Pid, Signal};

use crate::{output, signals, signals::Forwarding};

/// The interval between two checks.
const CHECK_INTERVAL: Duration = Duration::from_millis(100);
/// How long a program may take to end by itself after SIGTERM.
const GRACE: Duration = Duration::from_secs(5);
/// When it is printed that the program still runs.
const REMINDERS: [Duration; 3] =
    [Duration::from_secs(60), Duration::from_secs(5 * 60), Duration::from_secs(30 * 60)];
/// The number of the signal that kills the program: the first two are forwarded to it.
const KILLING_SIGNAL: u32 = 3;

/// Why a program ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Ending {
    /// By itself, or another process ended it.
    Own,
    /// Fissure got a signal that asks to end, and forwarded it.
    Interrupted,
    /// Fissure ended it after this time.
    TimeLimit(Duration),
}

/// Waits until `child` has ended. Its JVMs write their records into `folder`.
pub(crate) fn wait(
    forwarding: &mut Forwarding,
    child: &mut Child,
    limit: Option<Duration>,
    folder: &Path,
) -> io::Result<(ExitStatus, Ending)> {
    let process = Pid::from_child(child);
    forwarding.begin(child);
    let mut watch = Watch::new(child.id(), limit, folder);
    thread::scope(|scope| {
        let (sender, ended) = channel();
        scope.spawn(move || {
            signals::wait_without_reaping(process);
            // Sending cannot fail: the receiver waits for this message.
            let _ = sender.send(());
        });
        while let Err(RecvTimeoutError::Timeout) = ended.recv_timeout(CHECK_INTERVAL) {
            forwarding.forward(child);
            watch.check(forwarding.interruptions());
        }
    });
    watch.end_the_rest();
    // Signals of the last moment say why the program ended.
    forwarding.forward(child);
    let status = child.wait()?;
    Ok((status, watch.ending(forwarding.interruptions())))
}

struct Watch<'a> {
    process: u32,
    limit: Option<Duration>,
    folder: &'a Path,
    began: Instant,
    reminders: usize,
    /// Signals that were handled.
    signals: u32,
    /// Processes that got SIGTERM at the time limit, and when they are killed.
    terminated: Option<(Vec<Process>, Instant)>,
    /// How far the records of each JVM were read, and the deadlocks that were printed.
    read: HashMap<PathBuf, u64>,
    printed: Vec<String>,
}

impl<'a> Watch<'a> {
    fn new(process: u32, limit: Option<Duration>, folder: &'a Path) -> Self {
        Watch {
            process,
            limit,
            folder,
            began: Instant::now(),
            reminders: 0,
            signals: 0,
            terminated: None,
            read: HashMap::new(),
            printed: Vec::new(),
        }
    }

    fn check(&mut self, signals: u32) {
        self.handle_signals(signals);
        let elapsed = self.began.elapsed();
        if let Some(reminder) = self.reminder(elapsed) {
            output::remark(&reminder);
        }
        match (&self.terminated, self.limit) {
            (None, Some(limit)) if elapsed >= limit => {
                let processes = Process::tree(self.process);
                for process in &processes {
                    process.send(Signal::TERM);
                }
                self.terminated = Some((processes, Instant::now() + GRACE));
            }
            (Some((_, until)), _) if Instant::now() >= *until => self.kill(),
            _ => {}
        }
        for finding in self.new_deadlocks() {
            output::remark(&deadlock_in_words(&finding));
        }
    }

    /// The text that the program still runs, each time it is due.
    fn reminder(&mut self, elapsed: Duration) -> Option<String> {
        let after = REMINDERS.get(self.reminders).filter(|after| elapsed >= **after)?;
        self.reminders += 1;
        let limit = if self.limit.is_none() { "; --time-limit sets a limit" } else { "" };
        Some(format!(
            "the program still runs after {}; Ctrl-C ends it and reports what was seen{limit}",
            in_words(*after)
        ))
    }

    /// Handles new signals: the last one that is allowed kills the program.
    fn handle_signals(&mut self, signals: u32) {
        if signals <= self.signals {
            return;
        }
        self.signals = signals;
        if signals >= KILLING_SIGNAL {
            self.kill();
        } else if signals + 1 == KILLING_SIGNAL {
            output::remark("the program was asked to end twice; the next Ctrl-C kills it");
        }
    }

    /// Kills the program and all processes that it started.
    fn kill(&mut self) {
        let mut processes = Process::tree(self.process);
        processes.extend(self.terminated.iter().flat_map(|(processes, _)| processes.clone()));
        for process in processes {
            process.send(Signal::KILL);
        }
    }

    /// Ends the processes that an ended program leaves behind, after a grace period in which they may finish their records.
    fn end_the_rest(&mut self) {
        let Some((processes, until)) = &self.terminated else { return };
        let runs = |process: &&Process| process.id != self.process && process.is_running();
        while processes.iter().any(|process| runs(&process)) && Instant::now() < *until {
            thread::sleep(CHECK_INTERVAL);
        }
        for process in processes.iter().filter(runs) {
            process.send(Signal::KILL);
        }
    }

    fn ending(&self, signals: u32) -> Ending {
        match (&self.terminated, self.limit) {
            _ if signals > 0 => Ending::Interrupted,
            (Some(_), Some(limit)) => Ending::TimeLimit(limit),
            _ => Ending::Own,
        }
    }

    /// The deadlocks that JVMs recorded since the last check. A file that cannot be read is read again when the program has ended.
    fn new_deadlocks(&mut self) -> Vec<Finding> {
        let mut found = Vec::new();
        let Ok(entries) = fs::read_dir(self.folder) else { return found };
        for path in entries.flatten().map(|entry| entry.path()) {
            if path.extension().is_none_or(|extension| extension != "jsonl") {
                continue;
            }
            let read = self.read.entry(path.clone()).or_default();
            for finding in deadlocks_since(&path, read).unwrap_or_default() {
                if !self.printed.contains(&finding.id) {
                    self.printed.push(finding.id.clone());
                    found.push(finding);
                }
            }
        }
        found
    }
}

/// The deadlocks in the complete lines of a file from an offset on, which is moved behind them.
fn deadlocks_since(path: &Path, read: &mut u64) -> io::Result<Vec<Finding>> {
    if fs::metadata(path)?.len() <= *read {
        return Ok(Vec::new());
    }
    let mut file = fs::File::open(path)?;
    file.seek(SeekFrom::Start(*read))?;
    let mut text = Vec::new();
    file.read_to_end(&mut text)?;
    let whole = text.iter().rposition(|&byte| byte == b'\n').map_or(0, |index| index + 1);
    *read += whole as u64;
    let records =
        text[..whole].split(|&byte| byte == b'\n').filter_map(|line| serde_json::from_slice(line).ok());
    let deadlocks = records.filter_map(|record| match record {
        Record::Finding(finding) if finding.kind == Kind::Deadlock => Some(*finding),
        _ => None,
    });
    Ok(deadlocks.collect())
}

fn deadlock_in_words(finding: &Finding) -> String {
    let mut threads: Vec<String> = Vec::new();
    for site in &finding.sites {
        let name = format!("\"{}\"", site.thread);
        if !threads.contains(&name) {
            threads.push(name);
        }
    }
    let names = match threads.split_last() {
        Some((last, others)) if !others.is_empty() => format!("threads {} and {last}", others.join(", ")),
        _ => "threads".to_owned(),
    };
    format!("deadlock: {names} wait for each other; if the program does not end, Ctrl-C ends it and reports")
}

/// A time in the largest unit that is exact: `90 s`, `5 min`.
pub(crate) fn in_words(time: Duration) -> String {
    match time.as_secs() {
        0 => format!("{} ms", time.as_millis()),
        seconds if seconds % 60 == 0 && seconds > 60 => format!("{} min", seconds / 60),
        seconds if time.subsec_millis() == 0 => format!("{seconds} s"),
        _ => format!("{} s", time.as_secs_f64()),
    }
}

/// A process. The start time distinguishes it from a later process with the same id.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Process {
    id: u32,
    parent: u32,
    pub(crate) started: u64,
    pub(crate) has_ended: bool,
}

impl Process {
    /// A process and all its descendants.
    fn tree(root: u32) -> Vec<Process> {
        let numbers = fs::read_dir("/proc").into_iter().flatten().flatten();
        let all: Vec<Process> =
            numbers.filter_map(|entry| Process::of(entry.file_name().to_str()?.parse().ok()?)).collect();
        let mut tree: Vec<Process> = all.iter().filter(|process| process.id == root).cloned().collect();
        let mut at = 0;
        while let Some(parent) = tree.get(at).map(|process| process.id) {
            at += 1;
            let children = all.iter().filter(|process| process.parent == parent && process.id != root);
            tree.extend(children.cloned());
        }
        tree
    }

    pub(crate) fn of(id: u32) -> Option<Process> {
        Process::parse(id, &fs::read_to_string(format!("/proc/{id}/stat")).ok()?)
    }

    /// Parses a line of `/proc/ID/stat`.
    fn parse(id: u32, text: &str) -> Option<Process> {
        // The name is in parentheses and may contain anything.
        let (_, rest) = text.rsplit_once(')')?;
        let words: Vec<&str> = rest.split_ascii_whitespace().collect();
        Some(Process {
            id,
            has_ended: matches!(*words.first()?, "Z" | "X"),
            parent: words.get(1)?.parse().ok()?,
            started: words.get(19)?.parse().ok()?,
        })
    }

    fn is_running(&self) -> bool {
        Process::of(self.id).is_some_and(|now| now.started == self.started && !now.has_ended)
    }

    fn send(&self, signal: Signal) {
        if self.is_running()
            && let Some(process) = Pid::from_raw(self.id.cast_signed())
        {
            signals::send(process, signal);
        }
    }
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use super::*;

    #[test]
    fn times_are_given_in_the_largest_exact_unit() {
        let check = |milliseconds: u64, expected: &str| {
            assert_eq!(in_words(Duration::from_millis(milliseconds)), expected);
        };
        check(60_000, "60 s");
        check(300_000, "5 min");
        check(90_000, "90 s");
        check(1_500, "1.5 s");
        check(250, "250 ms");
    }

    #[test]
    fn it_is_said_three_times_that_the_program_still_runs() {
        let check = |limit: Option<Duration>, expected: [&str; 3]| {
            let mut watch = Watch::new(1, limit, Path::new("/"));
            assert_eq!(watch.reminder(Duration::from_secs(59)), None);
            let said: Vec<String> =
                (1..=7_200).filter_map(|second| watch.reminder(Duration::from_secs(second))).collect();
            assert_eq!(said, expected);
        };
        let text = |after: &str, rest: &str| {
            format!("the program still runs after {after}; Ctrl-C ends it and reports what was seen{rest}")
        };
        let rest = "; --time-limit sets a limit";
        check(None, [&text("60 s", rest), &text("5 min", rest), &text("30 min", rest)]);
        check(Some(Duration::from_secs(9_000)), [&text("60 s", ""), &text("5 min", ""), &text("30 min", "")]);
    }

    #[test]
    fn process_names_may_contain_anything() {
        let line = "7 (a) b (c) S 3 7 7 0 -1 4194560 100 0 0 0 1 2 3 4 20 0 1 0 12345 1000 10";
        let process = Process::parse(7, line).unwrap();
        assert_eq!((process.parent, process.started, process.has_ended), (3, 12345, false));
        assert!(Process::parse(7, "nonsense").is_none());
        let own = std::process::id();
        assert!(Process::tree(own).iter().any(|process| process.id == own && process.is_running()));
    }

    #[test]
    fn deadlocks_are_read_once_and_from_complete_lines() {
        let mut file = tempfile::NamedTempFile::new().unwrap();
        let status = fissure_model::finding::Status::Confirmed;
        let finding = Finding::new(Kind::Deadlock, status, "deadlock", "Main.run");
        let line = serde_json::to_string(&Record::Finding(Box::new(finding))).unwrap();
        let (first, second) = line.split_at(40);
        let mut read = 0;
        file.write_all(format!("{{\"record\":\"end\"}}\n{first}").as_bytes()).unwrap();
        assert_eq!(deadlocks_since(file.path(), &mut read).unwrap().len(), 0);
        file.write_all(format!("{second}\n").as_bytes()).unwrap();
        assert_eq!(deadlocks_since(file.path(), &mut read).unwrap().len(), 1);
        assert_eq!(deadlocks_since(file.path(), &mut read).unwrap().len(), 0);
    }
}
