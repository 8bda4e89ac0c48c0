//! Results of runs for unit tests.

use fissure_model::{
    coverage::Coverage,
    exit::Exit,
    finding::{Finding, Frame, Kind, Site, Status},
    goal::AcquireGoal,
    record::{Cause, Failure, Hello, Run, RunEnd},
};

use crate::outcome::{Ending, Outcome, Process};

/// The description of a run's result.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Sketch {
    pub(crate) end: RunEnd,
    /// The exit code; `None` if the run was killed, and recorded nothing but its findings.
    pub(crate) exit: Option<i32>,
    /// Ids of warnings.
    pub(crate) possible: &'static [&'static str],
    /// Ids of violations that were executed.
    pub(crate) confirmed: &'static [&'static str],
    /// Whether there is a finding of the kind deadlock.
    pub(crate) stuck: bool,
    /// Exception, line (or `-` if there is no stack) and the id of a violation before it, with blanks between them.
    pub(crate) failures: &'static [&'static str],
    pub(crate) uncontrolled: &'static [&'static str],
    /// Whether Fissure woke a sleeping thread early.
    pub(crate) is_hurried: bool,
    pub(crate) pairs: &'static [&'static str],
    /// Orders that the run showed, and acquires that could come before a thread that was woken.
    pub(crate) orders: &'static [&'static str],
    pub(crate) goal: Option<&'static str>,
}

impl Default for Sketch {
    fn default() -> Self {
        Sketch {
            end: RunEnd::Finished,
            exit: Some(0),
            possible: &[],
            confirmed: &[],
            stuck: false,
            failures: &[],
            uncontrolled: &[],
            is_hurried: false,
            pairs: &[],
            orders: &[],
            goal: None,
        }
    }
}

impl Sketch {
    /// The result of the described run.
    pub(crate) fn outcome(&self) -> Outcome {
        let mut findings: Vec<Finding> =
            self.possible.iter().map(|id| violation(id, Status::Warning)).collect();
        findings.extend(self.confirmed.iter().map(|id| violation(id, Status::Confirmed)));
        if self.stuck {
            let stuck = Finding::new(Kind::Deadlock, Status::Confirmed, "conductor", "Main.run");
            findings.push(Finding { id: "stuck".to_owned(), ..stuck });
        }
        let run = Run {
            end: self.end,
            choices: 4,
            steps: 9,
            schedule: "0*3 1".parse().unwrap(),
            uncontrolled: self.uncontrolled.iter().map(|&reason| reason.to_owned()).collect(),
            departure: None,
            is_hurried: self.is_hurried,
            failures: self.failures.iter().map(|text| failure(text)).collect(),
            pairs: self.pairs.iter().map(|text| pair(text)).collect(),
            orders: self.orders.iter().map(|text| pair(text)).collect(),
            reached: self.confirmed.iter().map(|_| ("Main.run:4".to_owned(), 2)).collect(),
            goals: Vec::new(),
            unguarded: Vec::new(),
            cut: Vec::new(),
            thrashings: 0,
            prevention: Default::default(),
        };
        let is_complete = self.exit.is_some();
        let coverage = Coverage { jvms: 1, classes_in_scope: 1, threads: 2, ..Coverage::default() };
        let hello = Hello {
            pid: 1,
            vm_name: "simulation".to_owned(),
            vm_version: "1".to_owned(),
            command: "Main".to_owned(),
            refused: None,
        };
        let process = Process {
            hello: Some(hello),
            program: "Main".to_owned(),
            findings,
            coverage: is_complete.then_some(coverage),
            run: is_complete.then_some(run),
            has_ended: is_complete,
            ..Process::default()
        };
        Outcome {
            seed: 1,
            goal: self.goal.map(|text| pair(text).into()),
            is_patient: false,
            ending: self.exit.map_or(Ending::TimeLimit, |code| Ending::Ended(Exit::Code(code))),
            processes: vec![process],
        }
    }
}

/// A goal at acquires, as tests write it: `LOCAL/REMOTE`, `LATER//EARLIER`, and `@CHOICES` for its prefix.
pub(crate) fn pair(text: &str) -> AcquireGoal {
    let (sites, prefix) = text.split_once('@').map_or((text, None), |(sites, prefix)| (sites, Some(prefix)));
    let is_order = sites.contains("//");
    let (local, remote) = sites.split_once(if is_order { "//" } else { "/" }).unwrap();
    let pair = AcquireGoal::new(local.to_owned(), remote.to_owned());
    AcquireGoal { is_order, prefix: prefix.map(str::to_owned), ..pair }
}

fn violation(id: &str, status: Status) -> Finding {
    let site = Site {
        role: "reacquired".to_owned(),
        thread: "T1".to_owned(),
        class: "Main".to_owned(),
        method: "run".to_owned(),
        file: None,
        line: Some(4),
        stack: Vec::new(),
        locks: Vec::new(),
    };
    let finding = Finding::new(Kind::AtomicityViolation, status, "atomfuzzer", "Main.run");
    Finding { id: id.to_owned(), sites: vec![site], ..finding }
}

pub(crate) fn failure(text: &str) -> Failure {
    let mut words = text.split(' ');
    let mut next = || words.next().unwrap_or_default().to_owned();
    let (exception, line, after) = (next(), next(), next());
    let frame = |line| Frame { class: "Main".to_owned(), method: "run".to_owned(), file: None, line };
    Failure {
        thread: "T1".to_owned(),
        cause: Cause::Exception { class: exception, message: String::new() },
        stack: line.parse().ok().map(|line| frame(Some(line))).into_iter().collect(),
        own: None,
        test: None,
        after: Some(after).filter(|after| !after.is_empty()).into_iter().collect(),
        interleaving: None,
    }
}
