//! Hand-written findings of every kind, and the sources that they refer to.

#![allow(dead_code, reason = "each test uses a part of it")]

use std::collections::BTreeMap;

use fissure_model::{
    coverage::Coverage,
    finding::{Consequence, Finding, Frame, HeldLock, Kind, Outcome, SetAccess, Site, Status},
    goal::{ExpectedAccess, Goal, RaceGoal, SetGoal},
    interleaving::{Action, Interleaving, Step},
};
use fissure_report::{Campaign, Exit, Report, SeedRange, SourceFinder};

/// Text that no format may interpret as markup, an escape code or a terminator.
pub(crate) const HOSTILE: &str =
    "</script><img src=x onerror=alert(1)>&amp;\"'`]]>{{ 7777*7777 }}\u{1b}[31m\u{0}\u{202e}\n";

/// The sources in the folder of this file.
pub(crate) struct Sources;

impl SourceFinder for Sources {
    fn line(&self, _class: &str, file: &str, line: u32) -> Option<String> {
        let text = match file {
            "Buffer.java" => include_str!("Buffer.java"),
            "Race.java" => include_str!("Race.java"),
            _ => return None,
        };
        text.lines().nth(line as usize - 1).map(str::to_owned)
    }
}

/// A frame whose file is named after its class.
pub(crate) fn frame(class: &str, method: &str, line: u32) -> Frame {
    let simple = class.rsplit('.').next().unwrap();
    let file = Some(format!("{}.java", simple.split('$').next().unwrap()));
    Frame { class: class.to_owned(), method: method.to_owned(), file, line: Some(line) }
}

/// A site at the first frame of a stack, with the locks that are held there.
pub(crate) fn site(role: &str, thread: &str, stack: Vec<Frame>, locks: &[(&str, bool)]) -> Site {
    let first = stack[0].clone();
    Site {
        role: role.to_owned(),
        thread: thread.to_owned(),
        class: first.class,
        method: first.method,
        file: first.file,
        line: first.line,
        stack,
        locks: locks.iter().map(|&(name, shared)| HeldLock { name: name.to_owned(), shared }).collect(),
    }
}

/// A step at a line of `com.acme.text.Buffer`, or of `Race` for the outermost methods.
fn step(thread: usize, action: Action, object: &str, method: &str, line: u32) -> Step {
    let class = if method.contains("main") { "com.acme.text.Race" } else { "com.acme.text.Buffer" };
    let object = object.to_owned();
    Step { thread, action, object, called: None, at: Some(frame(class, method, line)), role: None, folded: 0 }
}

fn with_role(role: &str, step: Step) -> Step {
    Step { role: Some(role.to_owned()), ..step }
}

/// One thread appends a buffer to another while a second thread shortens it: the StringBuffer example of the AtomFuzzer paper.
pub(crate) fn append() -> Finding {
    const FIRST: &str = "com.acme.text.Buffer@1";
    const SECOND: &str = "com.acme.text.Buffer@2";
    const BLOCK: &str = "com.acme.text.Buffer.append";
    let run = |name: &str, line| frame("com.acme.text.Race", name, line);
    let thread = || frame("java.lang.Thread", "run", 840);
    let steps = vec![
        step(0, Action::Start, "appender", "main", 9),
        Step { folded: 31, ..step(0, Action::Start, "eraser", "main", 10) },
        step(1, Action::Begin, "", "lambda$main$0", 7),
        step(1, Action::Acquire, FIRST, "append", 19),
        with_role("entered", step(1, Action::BlockEnter, BLOCK, "append", 19)),
        with_role("acquired", step(1, Action::Acquire, SECOND, "length", 9)),
        step(1, Action::Read, "com.acme.text.Buffer@2.count", "length", 9),
        with_role("released", step(1, Action::Release, SECOND, "length", 9)),
        step(2, Action::Begin, "", "lambda$main$1", 8),
        Step { folded: 4, ..step(2, Action::BlockEnter, "com.acme.text.Buffer.delete", "delete", 29) },
        with_role("interfered", step(2, Action::Acquire, SECOND, "delete", 29)),
        step(2, Action::Write, "com.acme.text.Buffer@2.count", "delete", 31),
        step(2, Action::Release, SECOND, "delete", 32),
        step(2, Action::BlockExit, "com.acme.text.Buffer.delete", "delete", 32),
        with_role("reacquired", step(1, Action::Acquire, SECOND, "copy", 12)),
        step(1, Action::Read, "com.acme.text.Buffer@2.count", "copy", 13),
        step(1, Action::Release, SECOND, "copy", 14),
        step(1, Action::BlockExit, BLOCK, "append", 24),
        step(1, Action::Release, FIRST, "append", 24),
        step(1, Action::Throw, "java.lang.StringIndexOutOfBoundsException", "copy", 14),
    ];
    let inside = |method: &str, line| {
        vec![frame("com.acme.text.Buffer", method, line), frame("com.acme.text.Buffer", "append", 20)]
    };
    let appender = |mut stack: Vec<Frame>| {
        stack.extend([run("lambda$main$0", 7), thread()]);
        stack
    };
    Finding {
        id: "5d41402abc4b2a76".to_owned(),
        hits: 61,
        runs: 100,
        seeds: (0..61).map(|k| 4 + k * 3 / 2).collect(),
        schedules: vec!["0*33 1*6 2*5 1*6".to_owned()],
        consequence: Some(Consequence {
            kind: "java.lang.StringIndexOutOfBoundsException".to_owned().into(),
            message: "index 5, length 0".to_owned(),
            thread: "appender".to_owned(),
            stack: appender(vec![
                frame("com.acme.text.Buffer", "copy", 14),
                frame("com.acme.text.Buffer", "append", 24),
            ]),
        }),
        interleaving: Some(Interleaving {
            threads: vec!["main".to_owned(), "appender".to_owned(), "eraser".to_owned()],
            steps,
        }),
        sites: vec![
            site(
                "entered",
                "appender",
                appender(vec![frame("com.acme.text.Buffer", "append", 19)]),
                &[(FIRST, false)],
            ),
            site("released", "appender", appender(inside("length", 9)), &[(FIRST, false)]),
            site(
                "interfered",
                "eraser",
                vec![frame("com.acme.text.Buffer", "delete", 29), run("lambda$main$1", 8), thread()],
                &[(SECOND, false)],
            ),
            site("reacquired", "appender", appender(inside("copy", 12)), &[(FIRST, false), (SECOND, false)]),
        ],
        ..Finding::new(Kind::AtomicityViolation, Status::Bug, "atomfuzzer", BLOCK)
    }
}

/// Atomizer's warning about the same block.
pub(crate) fn inferred() -> Finding {
    let stack = |method: &str, line| vec![frame("com.acme.text.Buffer", method, line)];
    Finding {
        id: "00000000000000a1".to_owned(),
        object: Some("com.acme.text.Buffer@2".to_owned()),
        reason: Some(
            "Buffer@2 is given back and acquired again, and other threads can acquire it in between"
                .to_owned(),
        ),
        sites: vec![
            site("entered", "appender", stack("append", 19), &[("com.acme.text.Buffer@1", false)]),
            site("committed", "appender", stack("length", 10), &[("com.acme.text.Buffer@1", false)]),
            site("violated", "appender", stack("copy", 12), &[("com.acme.text.Buffer@1", false)]),
        ],
        ..Finding::new(Kind::AtomicityViolation, Status::Warning, "atomizer", "com.acme.text.Buffer.append")
    }
}

/// A race on a field, confirmed by scheduling both accesses next to each other.
pub(crate) fn race() -> Finding {
    let at = |method: &str, line| vec![frame("com.acme.text.Buffer", method, line)];
    let steps = vec![
        with_role("read", step(0, Action::Read, "com.acme.text.Buffer@2.count", "length", 9)),
        with_role("write", step(1, Action::Write, "com.acme.text.Buffer@2.count", "delete", 31)),
    ];
    Finding {
        id: "00000000000000c3".to_owned(),
        field_type: Some("int".to_owned()),
        owner: Some("com.acme.text.Buffer@2".to_owned()),
        hits: 100,
        runs: 100,
        seeds: (1..=100).collect(),
        interleaving: Some(Interleaving { threads: vec!["appender".to_owned(), "eraser".to_owned()], steps }),
        sites: vec![
            site("read", "appender", at("length", 9), &[]),
            site("write", "eraser", at("delete", 31), &[("this", false)]),
        ],
        ..Finding::new(Kind::DataRace, Status::Confirmed, "racefuzzer", "com.acme.text.Buffer.count")
    }
}

/// Two threads acquire two locks in opposite orders.
pub(crate) fn deadlock() -> Finding {
    let (a, b) = ("com.acme.text.Buffer@1", "com.acme.text.Buffer@2");
    let steps = vec![
        step(0, Action::Acquire, a, "append", 19),
        step(1, Action::Acquire, b, "append", 19),
        with_role("blocked", step(0, Action::Other, "waits for Buffer@2, which left has", "length", 9)),
        with_role("blocked", step(1, Action::Other, "waits for Buffer@1, which right has", "length", 9)),
    ];
    let stack =
        || vec![frame("com.acme.text.Buffer", "length", 9), frame("com.acme.text.Buffer", "append", 20)];
    Finding {
        id: "00000000000000d4".to_owned(),
        hits: 12,
        runs: 100,
        seeds: vec![3, 11, 12, 20, 31, 47, 48, 52, 60, 71, 88, 95],
        interleaving: Some(Interleaving { threads: vec!["right".to_owned(), "left".to_owned()], steps }),
        sites: vec![
            site("blocked", "right", stack(), &[(a, false)]),
            site("blocked", "left", stack(), &[(b, false)]),
        ],
        ..Finding::new(Kind::Deadlock, Status::Bug, "atomfuzzer", "com.acme.text.Buffer.length")
    }
}

/// Fields of an atomic set that were observed in an inconsistent state.
pub(crate) fn atomic_set() -> Finding {
    let at = |method: &str, line| vec![frame("com.acme.text.Buffer", method, line)];
    Finding {
        id: "00000000000000e5".to_owned(),
        pattern: Some(8),
        accesses: [("chars", "append"), ("chars", "delete"), ("count", "delete"), ("count", "append")]
            .map(|(field, unit)| SetAccess {
                field: format!("com.acme.text.Buffer.{field}"),
                unit: format!("com.acme.text.Buffer.{unit}"),
            })
            .to_vec(),
        runs: 100,
        seeds: vec![9],
        goals: vec![Some(Goal::Set(SetGoal {
            pattern: 8,
            set: "com.acme.text.Buffer".to_owned(),
            units: ["append", "delete"].map(|unit| format!("com.acme.text.Buffer.{unit}")),
            events: vec![
                expected("append:22", "chars", true),
                expected("delete:30", "chars", false),
                expected("delete:30", "count", false),
                expected("append:25", "count", true),
            ],
            windows: vec![vec!["com.acme.text.Buffer.append:19".to_owned()]],
            gate: None,
        }))],
        interleaving: Some(Interleaving {
            threads: vec!["appender".to_owned(), "eraser".to_owned()],
            steps: vec![
                with_role("write", step(0, Action::Write, "com.acme.text.Buffer@1.chars", "append", 22)),
                with_role("read", step(1, Action::Read, "com.acme.text.Buffer@1.chars", "delete", 30)),
                with_role("read", step(1, Action::Read, "com.acme.text.Buffer@1.count", "delete", 30)),
                with_role("write", step(0, Action::Write, "com.acme.text.Buffer@1.count", "append", 25)),
            ],
        }),
        sites: vec![
            site("write", "appender", at("append", 22), &[]),
            site("read", "eraser", at("delete", 30), &[]),
            site("read", "eraser", at("delete", 30), &[]),
            site("write", "appender", at("append", 25), &[]),
        ],
        ..Finding::new(Kind::AtomicSetViolation, Status::Confirmed, "assetfuzzer", "com.acme.text.Buffer")
    }
}

/// An access of a goal.
fn expected(site: &str, field: &str, write: bool) -> ExpectedAccess {
    let name = |member: &str| format!("com.acme.text.Buffer.{member}");
    ExpectedAccess { site: name(site), field: name(field), write, context: String::new() }
}

/// A race that a run with this goal made happen.
pub(crate) fn raced() -> Finding {
    let at = |method: &str, line| vec![frame("com.acme.text.Buffer", method, line)];
    Finding {
        id: "00000000000000a7".to_owned(),
        field_type: Some("int".to_owned()),
        owner: Some("com.acme.text.Buffer@1".to_owned()),
        test: Some("com.acme.text.BufferTest.appends".to_owned()),
        hits: 2,
        runs: 100,
        seeds: vec![2, 4],
        goals: vec![
            None,
            Some(Goal::Race(RaceGoal {
                accesses: [expected("append:25", "count", true), expected("delete:30", "count", false)],
            })),
        ],
        sites: vec![
            site("write", "appender", at("append", 25), &[]),
            site("read", "eraser", at("delete", 30), &[]),
        ],
        ..Finding::new(Kind::DataRace, Status::Confirmed, "racefuzzer", "com.acme.text.Buffer.count")
    }
}

/// A finding of a monitor script.
pub(crate) fn custom() -> Finding {
    let at = |method: &str, line| vec![frame("com.acme.text.Buffer", method, line)];
    Finding {
        id: "00000000000000b8".to_owned(),
        reason: Some("two erasers at once".to_owned()),
        sites: vec![site("call", "eraser", at("delete", 29), &[])],
        ..Finding::new(Kind::Custom, Status::Warning, "one-eraser.rhai", "com.acme.text.Buffer.delete")
    }
}

/// Threads that wait although no thread is left to wake them, and the exit code that followed.
pub(crate) fn stuck() -> Finding {
    let at = |method: &str, line| vec![frame("com.acme.text.Buffer", method, line)];
    Finding {
        id: "00000000000000c9".to_owned(),
        runs: 100,
        seeds: vec![8],
        consequence: Some(Consequence {
            kind: "exit".to_owned().into(),
            message: "the program ended with exit code 3, otherwise it ends with 0".to_owned(),
            thread: String::new(),
            stack: Vec::new(),
        }),
        sites: vec![site("waits to be notified", "eraser", at("delete", 30), &[])],
        ..Finding::new(Kind::Deadlock, Status::Bug, "conductor", "com.acme.text.Buffer.delete")
    }
}

/// A method of a concurrent object that is not atomic.
pub(crate) fn method() -> Finding {
    let outcome = |outcome: &str, count, atomic| Outcome { outcome: outcome.to_owned(), count, atomic };
    Finding {
        id: "00000000000000f6".to_owned(),
        hits: 1_204,
        harness: Some("[put(0,0); put(1,1)], [clear(); size()]".to_owned()),
        outcome: Some("null, null, (), 1".to_owned()),
        outcomes: vec![
            outcome("null, null, (), 0", 812_340, true),
            outcome("null, null, (), 2", 186_456, true),
            outcome("null, null, (), 1", 1_204, false),
        ],
        executions: Some(1_000_000),
        ..Finding::new(
            Kind::NonAtomicMethod,
            Status::Confirmed,
            "object",
            "java.util.concurrent.ConcurrentHashMap.clear",
        )
    }
}

/// A finding in which every text is hostile.
pub(crate) fn hostile() -> Finding {
    let at = Frame {
        class: HOSTILE.to_owned(),
        method: HOSTILE.to_owned(),
        file: Some(HOSTILE.to_owned()),
        line: Some(1),
    };
    let step = Step {
        thread: 0,
        action: Action::Other,
        object: HOSTILE.to_owned(),
        called: Some(HOSTILE.to_owned()),
        at: Some(at.clone()),
        role: Some(HOSTILE.to_owned()),
        folded: 0,
    };
    let text = HOSTILE.to_owned();
    Finding {
        id: text.clone(),
        field_type: Some(text.clone()),
        owner: Some(text.clone()),
        object: Some(text.clone()),
        reason: Some(text.clone()),
        seeds: vec![1],
        schedules: vec![text.clone()],
        consequence: Some(Consequence {
            kind: text.clone().into(),
            message: text.clone(),
            thread: text.clone(),
            stack: vec![at.clone()],
        }),
        harness: Some(text.clone()),
        outcome: Some(text.clone()),
        outcomes: vec![Outcome { outcome: text.clone(), count: 1, atomic: false }],
        interleaving: Some(Interleaving { threads: vec![text.clone()], steps: vec![step] }),
        sites: vec![site(HOSTILE, HOSTILE, vec![at], &[(HOSTILE, false)])],
        ..Finding::new(Kind::Custom, Status::Bug, HOSTILE, HOSTILE)
    }
}

/// A hunt with these findings.
pub(crate) fn hunt(findings: Vec<Finding>) -> Report {
    Report {
        command: ["java", "-cp", "target/my classes", "com.acme.text.Race"].map(str::to_owned).to_vec(),
        options: ["--scope", "com.acme..*"].map(str::to_owned).to_vec(),
        runs: 100,
        seeds: vec![SeedRange { first: 1, count: 100, step: 1 }],
        exits: BTreeMap::from([(Exit::Code(0), 39), (Exit::Code(1), 61)]),
        coverage: Coverage {
            jvms: 100,
            classes_in_scope: 200,
            threads: 300,
            lock_operations: 81_234,
            ..Coverage::default()
        },
        findings,
        campaigns: vec![Campaign {
            strategy: "assetfuzzer".to_owned(),
            profiling_runs: 10,
            predicted: 4,
            tried: 3,
            confirmed: 1,
            runs: 90,
            runs_with_hits: 1,
            thrashings: 2,
        }],
        ..Report::default()
    }
}

/// One finding of every kind.
pub(crate) fn all_kinds() -> Vec<Finding> {
    vec![append(), inferred(), race(), deadlock(), atomic_set(), method(), raced(), custom(), stuck()]
}
