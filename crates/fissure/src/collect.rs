//! Reads the records that the agents wrote into the run's folder, and merges those of several JVMs.

use std::{fs, io, path::Path};

use fissure_model::{
    coverage::Coverage,
    finding::Finding,
    record::{Failure, Hello, Record, Refusal, Run, StandingThread},
};

use crate::supervise::Process;

/// The records of one JVM.
#[derive(Debug, Default, PartialEq)]
pub(crate) struct Jvm {
    /// Which JVM it is; `None` if it ended before it recorded that.
    pub(crate) hello: Option<Hello>,
    /// Its findings, each id once.
    pub(crate) findings: Vec<Finding>,
    /// Counts of what was instrumented and analysed; `None` if it ended before it recorded that.
    pub(crate) coverage: Option<Coverage>,
    /// Notes for the user.
    pub(crate) notices: Vec<String>,
    /// Failures of Fissure.
    pub(crate) internal_errors: Vec<String>,
    /// Monitor scripts that were stopped, each with the reason.
    pub(crate) stopped: Vec<String>,
    /// The exceptions that ended its threads.
    pub(crate) failures: Vec<Failure>,
    /// The sites of its threads when a signal ended it.
    pub(crate) threads: Vec<StandingThread>,
    /// How its threads were controlled, if they were.
    pub(crate) run: Option<Run>,
    /// Whether it ended normally.
    pub(crate) ended: bool,
    /// Lines that are no records.
    pub(crate) unreadable: usize,
}

impl Jvm {
    /// Why the agent did not instrument this JVM.
    pub(crate) fn refusal(&self) -> Option<&Refusal> {
        self.hello.as_ref().and_then(|hello| hello.refused.as_ref())
    }

    /// Whether the agent instrumented this JVM.
    pub(crate) fn watched(&self) -> bool {
        self.refusal().is_none()
    }

    /// Notes about this JVM. A refusal is noted only beside JVMs that were watched: without any it is the whole result.
    fn remarks(&self, beside_watched: bool) -> Vec<String> {
        let name = match &self.hello {
            Some(hello) => format!("the JVM of process {} ({})", hello.pid, shortened(&hello.command)),
            None => "a JVM".to_owned(),
        };
        let mut remarks = self.notices.clone();
        if let Some(Refusal::Unsupported { text }) = self.refusal()
            && beside_watched
        {
            remarks.push(format!("{name} was not watched: {text}"));
        }
        if self.watched() && !self.ended {
            let running = self.hello.as_ref().is_some_and(|hello| is_running(hello.pid));
            remarks.push(if running {
                format!("{name} was still running when the command ended; what was seen up to then is reported")
            } else {
                format!(
                    "{name} did not end normally (killed, crashed or halted); what was seen up to there is reported"
                )
            });
        }
        if self.unreadable > 0 {
            remarks.push(format!("{} of the records of {name} could not be read", self.unreadable));
        }
        remarks
    }
}

/// The merged records of all JVMs of a run.
#[derive(Debug, Default, PartialEq)]
pub(crate) struct Gathered {
    /// The findings, each id once.
    pub(crate) findings: Vec<Finding>,
    /// The sum of what was instrumented and analysed.
    pub(crate) coverage: Coverage,
    /// Notes for the user, each once.
    pub(crate) notices: Vec<String>,
    /// Failures of Fissure, each once.
    pub(crate) internal_errors: Vec<String>,
}

/// Reads every JVM's file in the run's folder, in the order of the process ids.
pub(crate) fn read_folder(folder: &Path) -> io::Result<Vec<Jvm>> {
    let mut files = Vec::new();
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        let name = path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
        if let Some(process) = name.strip_prefix("jvm-").and_then(|rest| rest.strip_suffix(".jsonl")) {
            files.push((process.parse::<u64>().unwrap_or(u64::MAX), path));
        }
    }
    files.sort();
    files.iter().map(|(_, path)| Ok(parse(&fs::read(path)?))).collect()
}

/// Merges the records of one run's JVMs.
pub(crate) fn gather(jvms: &[Jvm]) -> Gathered {
    let mut gathered = Gathered::default();
    let any_watched = jvms.iter().any(Jvm::watched);
    for jvm in jvms {
        for finding in &jvm.findings {
            match gathered.findings.iter_mut().find(|known| known.id == finding.id) {
                Some(known) => merge(known, finding),
                None => gathered.findings.push(finding.clone()),
            }
        }
        if jvm.watched()
            && let Some(coverage) = &jvm.coverage
        {
            gathered.coverage.add(coverage);
        }
        for error in &jvm.internal_errors {
            if !gathered.internal_errors.contains(error) {
                gathered.internal_errors.push(error.clone());
            }
        }
        for remark in jvm.remarks(any_watched) {
            if !gathered.notices.contains(&remark) {
                gathered.notices.push(remark);
            }
        }
    }
    gathered
}

/// Reads the records of one JVM.
pub(crate) fn parse(bytes: &[u8]) -> Jvm {
    let mut jvm = Jvm::default();
    let mut lines = bytes.split(|&byte| byte == b'\n').peekable();
    while let Some(line) = lines.next() {
        if line.iter().all(u8::is_ascii_whitespace) {
            continue;
        }
        match serde_json::from_slice::<Record>(line) {
            Ok(record) => accept(&mut jvm, record),
            // A JVM that is killed may leave its last line half written: no line break follows it.
            Err(_) if lines.peek().is_none() => {}
            Err(_) => jvm.unreadable += 1,
        }
    }
    jvm
}

fn accept(jvm: &mut Jvm, record: Record) {
    match record {
        Record::Hello(hello) => jvm.hello = Some(hello),
        Record::Finding(finding) => match jvm.findings.iter_mut().find(|known| known.id == finding.id) {
            // The first record of a finding knows best which test was running.
            Some(known) => *known = Finding { test: known.test.take().or(finding.test.clone()), ..*finding },
            None => jvm.findings.push(*finding),
        },
        Record::Coverage(coverage) => jvm.coverage = Some(*coverage),
        Record::Notice { text } => jvm.notices.push(text),
        Record::InternalError { text } => jvm.internal_errors.push(text),
        Record::Stopped { monitor, problem } => jvm.stopped.push(format!("{monitor} was stopped: {problem}")),
        Record::Run(run) => jvm.run = Some(*run),
        // Test frameworks record one failure at several sites.
        Record::Failure(failure) if failure.test.is_some() && jvm.failures.contains(&failure) => {}
        Record::Failure(failure) => jvm.failures.push(*failure),
        Record::Threads { threads } => jvm.threads = threads,
        Record::End => jvm.ended = true,
    }
}

/// Merges a finding of another JVM: the more certain of the two is shown.
fn merge(known: &mut Finding, other: &Finding) {
    let hits = known.hits + other.hits;
    let runs = known.runs.max(other.runs);
    let stronger = (!other.ordered, other.status) > (!known.ordered, known.status);
    if stronger {
        *known = other.clone();
    }
    known.hits = hits;
    known.runs = runs;
}

pub(crate) fn is_running(process: u32) -> bool {
    // A process that was killed stays as a zombie until its parent takes note of it.
    Process::of(process).is_some_and(|process| !process.has_ended)
}

/// The beginning of a command, long enough to recognise it.
fn shortened(command: &str) -> String {
    const LENGTH: usize = 60;
    if command.chars().count() <= LENGTH {
        return command.to_owned();
    }
    let mut short: String = command.chars().take(LENGTH - 1).collect();
    short.push('…');
    short
}

#[cfg(test)]
pub(crate) mod tests {
    use fissure_model::finding::{Kind, Status};

    use super::*;

    /// A process id that Linux never uses.
    pub(crate) const UNUSED_PID: u32 = u32::MAX;

    pub(crate) fn hello(refused: Option<Refusal>) -> Hello {
        Hello {
            pid: UNUSED_PID,
            vm_name: "VM".to_owned(),
            vm_version: "17".to_owned(),
            command: "Main".to_owned(),
            refused,
        }
    }

    pub(crate) fn finding(id: &str, hits: u64, ordered: bool) -> Finding {
        Finding {
            id: id.to_owned(),
            hits,
            ordered,
            ..Finding::new(Kind::DataRace, Status::Warning, "racer", &format!("Main.{id}"))
        }
    }

    fn lines(records: &[Record]) -> String {
        records.iter().map(|record| serde_json::to_string(record).unwrap() + "\n").collect()
    }

    fn found(id: &str, hits: u64, ordered: bool) -> Record {
        Record::Finding(Box::new(finding(id, hits, ordered)))
    }

    fn jvm(findings: Vec<Finding>) -> Jvm {
        let coverage = Some(Coverage { jvms: 1, threads_accessing: 2, ..Coverage::default() });
        Jvm { hello: Some(hello(None)), findings, coverage, ended: true, ..Jvm::default() }
    }

    fn check_merge(first: (u64, bool), second: (u64, bool), expected: (u64, bool)) {
        let jvms = [jvm(vec![finding("a", first.0, first.1)]), jvm(vec![finding("a", second.0, second.1)])];
        let gathered = gather(&jvms);
        assert_eq!(gathered.findings, [finding("a", expected.0, expected.1)]);
        assert_eq!(gathered.coverage.jvms, 2);
        assert!(gathered.notices.is_empty(), "{:?}", gathered.notices);
    }

    #[test]
    fn later_records_replace_earlier_ones() {
        let threads = |threads| Record::Coverage(Box::new(Coverage { threads, ..Coverage::default() }));
        let records = [
            Record::Hello(hello(None)),
            threads(1),
            found("a", 1, true),
            found("b", 1, false),
            threads(2),
            found("a", 5, false),
            Record::Notice { text: "note".to_owned() },
            Record::End,
        ];
        let jvm = parse(lines(&records).as_bytes());
        assert_eq!(jvm.findings, [finding("a", 5, false), finding("b", 1, false)]);
        assert_eq!(jvm.coverage.as_ref().unwrap().threads, 2);
        assert_eq!((jvm.notices.len(), jvm.ended, jvm.unreadable), (1, true, 0));
    }

    #[test]
    fn a_torn_last_line_is_ignored_and_others_are_counted() {
        let whole = lines(&[Record::Hello(hello(None)), found("a", 1, false)]);
        let torn = whole.clone() + &lines(&[found("b", 1, false)])[..40];
        let jvm = parse(torn.as_bytes());
        assert_eq!((jvm.findings.len(), jvm.unreadable, jvm.ended), (1, 0, false));
        let torn_in_a_character = [whole.as_bytes(), b"{\"record\":\"notice\",\"text\":\"\xc3"].concat();
        assert_eq!(parse(&torn_in_a_character).unreadable, 0);
        let unbroken = parse(whole.trim_end().as_bytes());
        assert_eq!(unbroken.findings.len(), 1);
        let spoilt = format!("{whole}nonsense\n\n{}", lines(&[Record::End]));
        let jvm = parse(spoilt.as_bytes());
        assert_eq!((jvm.unreadable, jvm.ended), (1, true));
        assert_eq!(gather(&[jvm]).notices.len(), 1);
    }

    #[test]
    fn findings_of_several_jvms_merge() {
        check_merge((2, false), (3, false), (5, false));
        check_merge((2, true), (3, false), (5, false));
        check_merge((2, false), (3, true), (5, false));
        check_merge((2, true), (3, true), (5, true));
    }

    #[test]
    fn only_the_files_of_jvms_are_read() {
        let folder = tempfile::tempdir().unwrap();
        for (name, text) in
            [("settings.json", "{}"), ("jvm-10.jsonl", ""), ("jvm-9.jsonl", "{\"record\":\"end\"}\n")]
        {
            fs::write(folder.path().join(name), text).unwrap();
        }
        let ended: Vec<bool> = read_folder(folder.path()).unwrap().iter().map(|jvm| jvm.ended).collect();
        assert_eq!(ended, [true, false]);
    }

    #[test]
    fn jvms_that_were_not_watched_or_did_not_end_are_noted() {
        let check = |jvm: Jvm, expected: &str| {
            let notices = gather(&[jvm]).notices;
            assert!(notices.len() == 1 && notices[0].contains(expected), "{notices:?}");
        };
        check(Jvm { ended: false, ..jvm(Vec::new()) }, "did not end normally");
        let mut mine = hello(None);
        mine.pid = std::process::id();
        check(Jvm { hello: Some(mine), ended: false, ..jvm(Vec::new()) }, "still running");
        let refused = || Some(Refusal::Unsupported { text: "too old".to_owned() });
        let unsupported = || Jvm { hello: Some(hello(refused())), ended: false, ..jvm(Vec::new()) };
        assert!(gather(&[unsupported()]).notices.is_empty());
        let notices = gather(&[unsupported(), jvm(Vec::new())]).notices;
        assert!(notices[0].contains("was not watched: too old"), "{notices:?}");
        let build_tool =
            Jvm { hello: Some(hello(Some(Refusal::BuildTool))), ended: false, ..jvm(Vec::new()) };
        assert!(gather(&[build_tool]).notices.is_empty());
    }
}
