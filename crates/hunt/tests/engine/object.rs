//! A concurrent object that is simulated: harnesses are enumerated, executed under all schedules with few preemptions, compared with
//! their atomic outcomes, and the violation is reported with its interleaving.

use std::collections::BTreeSet;

use fissure_object::{
    Value,
    enumerate::{Alphabet, Enumeration, Harness, Operation, Rank},
    interleaving::{self, Calls, Step},
    outcome::{Examination, Outcomes, ResultNumber, Results},
    rules::Rules,
    spec::{Domain, Method, Role, Spec},
};
use fissure_report::{
    NoSources,
    object::{self, AtomicOutcome, MethodReport, ObjectReport, SchedulesReport, ViolationReport},
    text::{self, Options},
};
use fissure_schedule::{
    simulation::{
        Does::{self, Acquire, Read, Release, Write},
        explore,
    },
    strategy::Preemptions,
};

/// How many preemptions schedules have at most.
const PREEMPTIONS: u32 = 2;
/// The result of a method that finds nothing.
const NULL: ResultNumber = 1000;
const OPTIONS: Options = Options { width: 100, color: false, verbose: false };

/// The object: a map of two keys. Each method returns the value that it finds.
type Slots = [ResultNumber; 2];

/// The effect of a step on the object.
#[derive(Debug, Clone, Copy)]
enum Effect {
    Nothing,
    Finds {
        key: usize,
    },
    Puts {
        key: usize,
        value: ResultNumber,
    },
    /// Puts a value if the method has found none.
    PutsIfNull {
        key: usize,
        value: ResultNumber,
    },
}

/// A step of a method: what the scheduler sees, and what happens to the object.
type Action = (Does, Effect);

/// How `putIfAbsent` is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum PutIfAbsent {
    /// It checks and then acts.
    Unlocked,
    /// The same under the lock of the map.
    Locked,
}

/// The steps of an operation. Sites are numbers of lines.
fn actions(alphabet: &Alphabet, operation: Operation, written: PutIfAbsent) -> Vec<Action> {
    let invocation = alphabet.invocation(operation);
    let number = |argument: usize| match &invocation.arguments[argument] {
        Value::Integer(number) => *number as u32,
        other => panic!("{other}"),
    };
    let key = number(0);
    let (location, slot) = (key + 1, key as usize);
    let finds = |line| (Read(location, line), Effect::Finds { key: slot });
    let locked = |actions: Vec<Action>, line| {
        let (enter, exit) = ((Acquire(1, line), Effect::Nothing), (Release(1), Effect::Nothing));
        [vec![enter], actions, vec![exit]].concat()
    };
    match (invocation.method.as_str(), written) {
        ("get", _) => locked(vec![finds(11)], 10),
        ("put", _) => {
            let puts = Effect::Puts { key: slot, value: number(1) };
            locked(vec![finds(21), (Write(location, 22), puts)], 20)
        }
        ("putIfAbsent", written) => {
            let puts = Effect::PutsIfNull { key: slot, value: number(1) };
            let actions = vec![finds(31), (Write(location, 32), puts)];
            if written == PutIfAbsent::Locked { locked(actions, 30) } else { actions }
        }
        (other, _) => panic!("{other}"),
    }
}

/// Applies an effect; `found` is what the method has found so far.
fn apply(effect: Effect, slots: &mut Slots, found: &mut ResultNumber) {
    match effect {
        Effect::Finds { key } => *found = slots[key],
        Effect::Puts { key, value } => slots[key] = value,
        Effect::PutsIfNull { key, value } if *found == NULL => slots[key] = value,
        Effect::PutsIfNull { .. } | Effect::Nothing => {}
    }
}

/// An execution: the results of the invocations, and the steps.
struct Executed {
    outcome: Vec<ResultNumber>,
    steps: Vec<Step>,
}

/// Executes a harness under all schedules with few preemptions.
fn execute(harness: &Harness, alphabet: &Alphabet, written: PutIfAbsent) -> Vec<Executed> {
    assert!(harness.order.is_empty(), "two sequences run concurrently");
    let mut calls = 0;
    // The actions of each sequence, each with its invocation.
    let mut sequences: Vec<Vec<(usize, Action)>> = Vec::new();
    for sequence in &harness.sequences {
        let mut all = Vec::new();
        for operation in sequence {
            all.extend(actions(alphabet, *operation, written).into_iter().map(|action| (calls, action)));
            calls += 1;
        }
        sequences.push(all);
    }
    let threads: Vec<Vec<Does>> =
        sequences.iter().map(|sequence| sequence.iter().map(|(_, (does, _))| *does).collect()).collect();
    let threads: Vec<&[Does]> = threads.iter().map(Vec::as_slice).collect();
    let (executions, conductor) = explore(&threads, Box::new(Preemptions::new(PREEMPTIONS)));
    let explored = conductor.strategy().explored().unwrap();
    assert_eq!((explored.complete, explored.diverged), (Some(PREEMPTIONS), 0));
    let executed = |done: &[(u32, usize)]| {
        let (mut slots, mut found) = ([NULL; 2], vec![NULL; calls]);
        let mut steps = Vec::new();
        for (thread, index) in done {
            let sequence = *thread as usize;
            let (call, (does, effect)) = sequences[sequence][*index];
            apply(effect, &mut slots, &mut found[call]);
            steps.extend(step(sequence, call, does));
        }
        Executed { outcome: found, steps }
    };
    executions.iter().map(|execution| executed(&execution.done)).collect()
}

/// A step as the report shows it; a release is none.
fn step(sequence: usize, call: usize, does: Does) -> Option<Step> {
    let (what, line, target) = match does {
        Read(_, line) => ("read", line, "slot"),
        Write(_, line) => ("write", line, "slot"),
        Acquire(_, line) => ("acquire", line, ""),
        _ => return None,
    };
    let site = format!("Slots.java:{line}");
    Some(Step { sequence, call, what: what.to_owned(), site, target: target.to_owned() })
}

/// The atomic outcomes: those of the invocations one after the other.
fn atomic(harness: &Harness, alphabet: &Alphabet, written: PutIfAbsent) -> Outcomes {
    let examination = Examination::new(harness, alphabet).unwrap();
    let mut results = Results::default();
    for run in examination.sequential_runs() {
        let mut slots = [NULL; 2];
        let result = |operation: &Operation| {
            let mut found = NULL;
            for (_, effect) in actions(alphabet, *operation, written) {
                apply(effect, &mut slots, &mut found);
            }
            found
        };
        let outcome = run.iter().map(result).collect();
        results.insert(run, Some(outcome));
    }
    examination.outcomes(&results).unwrap()
}

fn spec() -> Spec {
    let (key, stored) = (Domain::Scalar(Role::Key), Domain::Scalar(Role::Stored));
    let method = |name: &str, parameters: &[&Domain], read_only| Method {
        name: name.to_owned(),
        parameters: parameters.iter().map(|domain| (*domain).clone()).collect(),
        read_only,
        seems_read_only: read_only,
    };
    Spec {
        core: vec![method("put", &[&key, &stored], false), method("get", &[&key], true)],
        method: Some(method("putIfAbsent", &[&key, &stored], false)),
    }
}

fn in_words(outcome: &[ResultNumber]) -> String {
    let word = |result: &ResultNumber| if *result == NULL { "null".to_owned() } else { result.to_string() };
    outcome.iter().map(word).collect::<Vec<_>>().join(", ")
}

fn violation(
    harness: &Harness,
    alphabet: &Alphabet,
    atomic: &Outcomes,
    executed: &[Executed],
) -> Option<ViolationReport> {
    let shown = executed.iter().find(|execution| !atomic.contains(&execution.outcome))?;
    let hits = executed.iter().filter(|execution| execution.outcome == shown.outcome).count();
    let operations = harness.operations();
    let order = |order: &Vec<usize>| {
        let words = order.iter().map(|&one| alphabet.invocation(operations[one]).to_string());
        words.collect::<Vec<_>>().join("; ")
    };
    let results: Vec<String> = shown.outcome.iter().map(|result| in_words(&[*result])).collect();
    let calls = Calls { class: "Slots", results: &results };
    Some(ViolationReport {
        subject: "Slots.putIfAbsent".to_owned(),
        harness: alphabet.schema(harness).to_string(),
        outcome: in_words(&shown.outcome),
        hits: hits as u64,
        executions: executed.len() as u64,
        interleaving: interleaving::in_words(&shown.steps, harness, alphabet, calls),
        atomic: atomic
            .atomic
            .iter()
            .map(|(outcome, orders)| AtomicOutcome {
                outcome: in_words(outcome),
                linearizations: orders.iter().map(order).collect(),
            })
            .collect(),
        outcomes: Vec::new(),
        because: String::new(),
        memory: None,
    })
}

/// Tests `putIfAbsent` with harnesses of growing size, until one shows a violation.
fn search(written: PutIfAbsent) -> ObjectReport {
    let spec = spec();
    let mut method =
        MethodReport { method: "putIfAbsent".to_owned(), atomic: true, ..MethodReport::default() };
    let mut schedules = SchedulesReport { preemptions: PREEMPTIONS, ..SchedulesReport::default() };
    'all: for (invocations, values) in [(2, 1), (3, 1), (3, 2)] {
        let rank = Rank { invocations, sequences: 2, values };
        let alphabet = Alphabet::new(&spec, rank, &Rules::ALL);
        for harness in Enumeration::new(&spec, &alphabet, rank, Rules::ALL).harnesses() {
            let atomic = atomic(&harness, &alphabet, written);
            let executed = execute(&harness, &alphabet, written);
            method.harnesses += 1;
            method.executions += executed.len() as u64;
            schedules.harnesses += 1;
            schedules.schedules += executed.len() as u64;
            let outcomes: BTreeSet<_> = executed.iter().map(|one| &one.outcome).collect();
            // Every order of the invocations of two sequences needs few preemptions.
            let is_reached = |(outcome, _): &(Vec<ResultNumber>, _)| outcomes.contains(outcome);
            assert!(invocations > 2 || atomic.atomic.iter().all(is_reached), "{outcomes:?}");
            if let Some(violation) = violation(&harness, &alphabet, &atomic, &executed) {
                (method.atomic, method.violation) = (false, Some(violation));
                break 'all;
            }
        }
    }
    method.schedules = Some(schedules);
    ObjectReport {
        class: "Slots".to_owned(),
        java: "none".to_owned(),
        core: vec!["put".to_owned(), "get".to_owned()],
        core_is: "given".to_owned(),
        invocations: 3,
        sequences: 2,
        methods: vec![method],
        ..ObjectReport::default()
    }
}

#[test]
fn a_method_that_checks_and_then_acts_is_found_and_explained() {
    let report = search(PutIfAbsent::Unlocked);
    let violation = report.methods[0].violation.as_ref().expect("no schedule shows the violation");
    // Both find nothing, although one of the two comes after the other.
    assert_eq!(violation.harness, "[putIfAbsent(0,0)], [put(0,1)]");
    assert_eq!(violation.outcome, "null, null");
    assert_eq!(
        violation.interleaving,
        [
            "thread 1: putIfAbsent(0,0), until it is about to write slot (Slots.java:32)",
            "thread 2: put(0,1) = null",
            "thread 1: goes on with putIfAbsent(0,0) = null",
        ]
    );
    let atomic: Vec<&str> = violation.atomic.iter().map(|one| one.outcome.as_str()).collect();
    assert_eq!(atomic, ["null, 0", "1, null"]);
    let table = object::render(&report, &[], &OPTIONS);
    let summary = report.summary(Vec::new());
    let findings = text::render(&summary, &OPTIONS, &NoSources);
    for (text, line) in [
        (&table, "putIfAbsent"),
        (&table, "null, null"),
        (&table, "thread 2: put(0,1)"),
        (&findings, "confirmed[non-atomic-method]"),
        (&findings, "Slots.putIfAbsent"),
    ] {
        assert!(text.contains(line), "{line} is missing:\n{text}");
    }
}

#[test]
fn the_same_method_under_a_lock_is_atomic() {
    let report = search(PutIfAbsent::Locked);
    let method = &report.methods[0];
    assert!(method.violation.is_none(), "{:#?}", method.violation);
    // Harnesses were executed, each under several schedules.
    assert!(method.harnesses > 10 && method.executions > 2 * method.harnesses, "{method:?}");
    assert!(report.summary(Vec::new()).findings.is_empty());
}
