//! Tests the rules on a model of a small map that is executed step by step: every interleaving of every harness is tried, with and
//! without each rule, so that these tests show a violation that a rule loses.

use rustc_hash::FxHashSet;

use crate::{
    builtin,
    enumerate::{Alphabet, Enumeration, Harness, Operation, Rank},
    outcome::{Examination, Results},
    rules::Rules,
    spec::{Domain, Method, Role, Spec},
    value::Value,
};

const NULL: u32 = 1000;
const VOID: u32 = 1001;

/// Two keys and their values.
type State = [Option<u32>; 2];

/// The map's operations. Core operations take one step; the others access one key in each step.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Call {
    Put(usize, u32),
    Get(usize),
    Remove(usize),
    ContainsKey(usize),
    Size,
    Clear,
    Values,
    PutAll(Vec<(usize, u32)>),
    ContainsValue(u32),
    /// Accesses both keys in one step, for comparison.
    AtomicSize,
}

/// The progress of a call: its next step and the intermediate result.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
struct Progress {
    step: usize,
    gathered: u32,
}

impl Call {
    fn new(alphabet: &Alphabet, operation: Operation) -> Self {
        let invocation = alphabet.invocation(operation);
        let number = |place: usize| match &invocation.arguments[place] {
            Value::Integer(number) => *number as u32,
            other => panic!("{other}"),
        };
        match invocation.method.as_str() {
            "put" => Call::Put(number(0) as usize, number(1)),
            "get" => Call::Get(number(0) as usize),
            "remove" => Call::Remove(number(0) as usize),
            "containsKey" => Call::ContainsKey(number(0) as usize),
            "size" => Call::Size,
            "clear" => Call::Clear,
            "values" => Call::Values,
            "containsValue" => Call::ContainsValue(number(0)),
            "atomicSize" => Call::AtomicSize,
            "putAll" => {
                let Value::Map(entries) = &invocation.arguments[0] else { panic!() };
                let number = |value: &Value| match value {
                    Value::Integer(number) => *number as u32,
                    other => panic!("{other}"),
                };
                Call::PutAll(
                    entries.iter().map(|(key, value)| (number(key) as usize, number(value))).collect(),
                )
            }
            other => panic!("{other}"),
        }
    }

    /// Takes a step; gives the result if it was the last one.
    fn step(&self, state: &mut State, progress: &mut Progress) -> Option<u32> {
        let of = |value: Option<u32>| value.unwrap_or(NULL);
        let key = progress.step;
        progress.step += 1;
        let last = progress.step == state.len();
        match self {
            Call::Put(key, value) => Some(of(state[*key].replace(*value))),
            Call::Get(key) => Some(of(state[*key])),
            Call::Remove(key) => Some(of(state[*key].take())),
            Call::ContainsKey(key) => Some(u32::from(state[*key].is_some())),
            Call::AtomicSize => Some(state.iter().flatten().count() as u32),
            Call::Size => {
                progress.gathered += u32::from(state[key].is_some());
                last.then_some(progress.gathered)
            }
            Call::Values => {
                progress.gathered = progress.gathered * 10 + state[key].map_or(0, |value| value + 1);
                last.then_some(progress.gathered)
            }
            Call::Clear => {
                state[key] = None;
                last.then_some(VOID)
            }
            Call::PutAll(entries) => {
                let (key, value) = entries[key];
                state[key] = Some(value);
                last.then_some(VOID)
            }
            Call::ContainsValue(value) => {
                let found = state[key] == Some(*value);
                (found || last).then_some(u32::from(found))
            }
        }
    }

    fn whole(&self, state: &mut State) -> u32 {
        let mut progress = Progress::default();
        loop {
            if let Some(result) = self.step(state, &mut progress) {
                return result;
            }
        }
    }
}

/// All outcomes of all interleavings.
struct Explorer<'a> {
    harness: &'a Harness,
    calls: Vec<Vec<Call>>,
    starts: Vec<usize>,
    outcomes: FxHashSet<Vec<u32>>,
}

impl Explorer<'_> {
    fn explore(&mut self, state: State, at: &[(usize, Progress)], outcome: &[u32]) {
        let mut ended = true;
        for sequence in 0..at.len() {
            let (call, mut progress) = at[sequence];
            if call == self.calls[sequence].len() {
                continue;
            }
            ended = false;
            let waits = |&(before, after): &(usize, usize)| {
                after == sequence && at[before].0 < self.calls[before].len()
            };
            if self.harness.order.iter().any(waits) {
                continue;
            }
            let (mut state, mut at, mut outcome) = (state, at.to_vec(), outcome.to_vec());
            match self.calls[sequence][call].step(&mut state, &mut progress) {
                Some(result) => {
                    outcome[self.starts[sequence] + call] = result;
                    at[sequence] = (call + 1, Progress::default());
                }
                None => at[sequence].1 = progress,
            }
            self.explore(state, &at, &outcome);
        }
        if ended {
            self.outcomes.insert(outcome.to_vec());
        }
    }
}

fn all_outcomes(harness: &Harness, alphabet: &Alphabet) -> FxHashSet<Vec<u32>> {
    let calls: Vec<Vec<Call>> = harness
        .sequences
        .iter()
        .map(|sequence| sequence.iter().map(|&one| Call::new(alphabet, one)).collect())
        .collect();
    let starts = crate::linearize::starts(&harness.lengths());
    let mut explorer = Explorer { harness, calls, starts, outcomes: FxHashSet::default() };
    let at = vec![(0, Progress::default()); harness.sequences.len()];
    explorer.explore(State::default(), &at, &vec![0; harness.operations().len()]);
    explorer.outcomes
}

fn results(examination: &Examination, alphabet: &Alphabet) -> Results {
    let mut results = Results::default();
    for run in examination.runs() {
        let mut state = State::default();
        let outcome = run.iter().map(|&one| Call::new(alphabet, one).whole(&mut state)).collect();
        results.insert(run, Some(outcome));
    }
    results
}

/// Whether a harness shows a violation, and whether the examination says that it could.
fn judge(harness: &Harness, alphabet: &Alphabet) -> (bool, bool) {
    let examination = Examination::new(harness, alphabet).unwrap();
    let results = results(&examination, alphabet);
    let outcomes = examination.outcomes(&results).unwrap();
    let violated = all_outcomes(harness, alphabet).iter().any(|outcome| !outcomes.contains(outcome));
    let reveals = examination.could_reveal(&outcomes, &results);
    assert_eq!(reveals, examination.promise(&outcomes, &results) > 0);
    (violated, reveals)
}

fn spec(name: &str, parameters: Vec<Domain>, read_only: bool) -> Spec {
    let map = builtin::find("java.util.concurrent.ConcurrentHashMap").unwrap();
    let method = Method { name: name.to_owned(), parameters, read_only, seems_read_only: read_only };
    Spec { core: map.spec(name).core, method: Some(method) }
}

fn specs() -> Vec<Spec> {
    vec![
        spec("size", vec![], true),
        spec("values", vec![], true),
        spec("clear", vec![], false),
        spec("putAll", vec![Domain::Map { key: Role::Key, value: Role::Stored }], false),
        spec("containsValue", vec![Domain::Scalar(Role::Probe)], true),
        spec("atomicSize", vec![], true),
    ]
}

fn ranks(invocations: usize, sequences: usize) -> impl Iterator<Item = Rank> {
    (1..=2).map(move |values| Rank { invocations, sequences, values })
}

/// The number of harnesses of a rank with at most two values that show a violation, and the number of all.
fn violations(spec: &Spec, invocations: usize, sequences: usize, rules: Rules) -> (usize, usize) {
    let (mut violating, mut all) = (0, 0);
    for rank in ranks(invocations, sequences) {
        let alphabet = Alphabet::new(spec, rank, &rules);
        for harness in Enumeration::new(spec, &alphabet, rank, rules).harnesses() {
            let (violated, reveals) = judge(&harness, &alphabet);
            assert!(reveals || !violated, "{} is missed", alphabet.schema(&harness));
            violating += usize::from(violated);
            all += 1;
        }
    }
    (violating, all)
}

/// With each rule alone and with all of them, the same methods violate with the same number of invocations.
#[test]
fn no_rule_loses_a_violation() {
    let rules = [
        Rules { sequence_symmetry: true, ..Rules::NONE },
        Rules { some_update: true, ..Rules::NONE },
        Rules { update_beside_reader: true, ..Rules::NONE },
        Rules { fresh_values: true, ..Rules::NONE },
        Rules { value_symmetry: true, ..Rules::NONE },
        Rules::ALL,
    ];
    for spec in specs() {
        let name = &spec.method.as_ref().unwrap().name;
        for invocations in 2..=3 {
            let (without, all) = violations(&spec, invocations, 2, Rules::NONE);
            for rule in rules {
                let (with, left) = violations(&spec, invocations, 2, rule);
                assert_eq!(with > 0, without > 0, "{name} {invocations} {rule:?}");
                assert!(left <= all, "{name} {invocations} {rule:?}");
            }
        }
    }
}

/// A method that only seems read-only loses no harness, and is examined for all misbehaviours of a reader.
#[test]
fn no_rule_leaves_out_a_method_that_only_seems_read_only() {
    let certain = spec("size", vec![], true);
    let mut uncertain = certain.clone();
    uncertain.method.iter_mut().for_each(|method| method.read_only = false);
    for (invocations, violates) in [(2, false), (3, false), (4, true)] {
        let (violating, all) = violations(&uncertain, invocations, 2, Rules::ALL);
        let (expected, fewer) = violations(&certain, invocations, 2, Rules::ALL);
        assert_eq!((violating, violating > 0), (expected, violates), "{invocations}");
        assert!(all > fewer, "{invocations}");
        assert!(revealing(&uncertain, invocations) >= revealing(&certain, invocations), "{invocations}");
    }
}

/// Numbers for which an object may behave differently are tried beside the others, in every rank.
#[test]
fn special_numbers_are_tried_too() {
    let mut special = spec("size", vec![Domain::Special(vec![42])], true);
    special.core.truncate(1);
    for (values, expected) in [(1, ["0", "42"].as_slice()), (2, &["0", "1", "42"])] {
        let rank = Rank { invocations: 2, sequences: 2, values };
        let alphabet = Alphabet::new(&special, rank, &Rules::ALL);
        let sizes = alphabet.operations().iter().filter(|(method, _)| *method == 1);
        let found: Vec<String> = sizes.map(|(_, arguments)| arguments[0].to_string()).collect();
        assert_eq!(found, expected);
        let enumeration = Enumeration::new(&special, &alphabet, rank, Rules::ALL);
        let texts = enumeration.harnesses().map(|one| alphabet.schema(&one).to_string());
        // With two invocations, the other one cannot use two numbers.
        assert_eq!(texts.filter(|text| text.contains("42")).count() > 0, values == 1);
    }
}

#[test]
fn methods_violate_in_the_number_of_invocations_that_they_need() {
    for (at, smallest) in [(0, 4), (1, 3), (2, 5), (3, 3), (4, 4), (5, 9)] {
        let spec = &specs()[at];
        for invocations in 2..=4 {
            let (violating, _) = violations(spec, invocations, 2, Rules::ALL);
            assert_eq!(violating > 0, invocations >= smallest, "{spec:?} {invocations}");
        }
    }
}

#[test]
fn sequences_that_come_first_or_last_are_enumerated_too() {
    // A first sequence fills the map, so that two concurrent invocations are enough.
    let spec = &specs()[0];
    let (violating, all) = violations(spec, 4, 3, Rules::ALL);
    assert!(violating > 0 && violating < all, "{violating} of {all}");
}

/// The numbers in `docs/objects.md`.
#[test]
fn the_rules_leave_the_documented_number_of_harnesses() {
    let none = Rules::NONE;
    let update = Rules { some_update: true, update_beside_reader: true, ..none };
    let symmetric = Rules { sequence_symmetry: true, ..update };
    for (invocations, expected) in [(3, [504, 352, 176, 84, 2]), (4, [11_232, 8_336, 4_168, 1_736, 122])] {
        let spec = &specs()[0];
        let mut counts = Vec::new();
        for rules in [none, update, symmetric, Rules::ALL] {
            counts.push(violations_count(spec, invocations, rules));
        }
        counts.push(revealing(spec, invocations));
        assert_eq!(counts, expected, "{invocations}");
    }
}

fn violations_count(spec: &Spec, invocations: usize, rules: Rules) -> usize {
    ranks(invocations, 2)
        .map(|rank| {
            let alphabet = Alphabet::new(spec, rank, &rules);
            Enumeration::new(spec, &alphabet, rank, rules).harnesses().count()
        })
        .sum()
}

fn revealing(spec: &Spec, invocations: usize) -> usize {
    let mut count = 0;
    for rank in ranks(invocations, 2) {
        let alphabet = Alphabet::new(spec, rank, &Rules::ALL);
        let enumeration = Enumeration::new(spec, &alphabet, rank, Rules::ALL);
        count += enumeration.harnesses().filter(|harness| judge(harness, &alphabet).1).count();
    }
    count
}
