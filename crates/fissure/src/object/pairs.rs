//! Executes pairs of concurrent calls under all schedules with few preemptions, and finds out which method is to blame.
//!
//! A violation involves at most two methods that are not atomic. Each is made atomic in turn: the explorer lets no other thread continue
//! during its calls. A method is to blame if the violation remains although the other one is atomic. A method that was blamed is atomic in
//! all later pairs, so that these show only others.

use std::{
    collections::{BTreeMap, BTreeSet},
    time::Instant,
};

use fissure_object::{
    enumerate::{Alphabet, Harness, Operation},
    pairs::{self, State},
};

use super::{
    error::ObjectError,
    results::{Cause, Findings, Violation},
    search::{Exploration, Search},
};
use crate::signals;

/// The most observers after a pair.
const OBSERVERS: usize = 6;

/// The methods and states of which pairs are made.
pub(crate) struct Pairs<'a> {
    pub(crate) alphabet: &'a Alphabet,
    pub(crate) states: &'a [State],
    /// Whether each method has a result.
    pub(crate) has_result: &'a [bool],
    /// Whether each method may be blamed; the others are atomic in all pairs.
    pub(crate) is_tested: &'a [bool],
    /// So many methods, the first ones, are the core, if it is known.
    pub(crate) core: usize,
    /// Methods that are to blame only if no others are involved.
    pub(crate) assumed: &'a BTreeSet<String>,
}

/// The results of all pairs.
#[derive(Debug, Default)]
pub(crate) struct Paired {
    /// The methods that are not atomic.
    pub(crate) blamed: Vec<(String, Violation)>,
    /// How much was executed for each method.
    pub(crate) findings: BTreeMap<String, Findings>,
    /// Harnesses whose calls interfere but show nothing under controlled schedules, one for each pair of methods.
    pub(crate) contended: Vec<Harness>,
}

impl Pairs<'_> {
    /// Executes the pairs, until the time is over or all are executed.
    pub(crate) fn run(
        &self,
        search: &mut Search<'_>,
        until: Instant,
        mut tell: impl FnMut(&str, &Violation),
    ) -> Result<Paired, ObjectError> {
        let mut paired = Paired::default();
        let name = |method: usize| self.alphabet.method_name(self.first(method)).to_owned();
        let mut whole: BTreeSet<String> =
            (0..self.is_tested.len()).filter(|&method| !self.is_tested[method]).map(name).collect();
        let rounds = pairs::rounds(self.alphabet, |one, other| self.rank(one, other));
        let mut unclear: Vec<(BTreeSet<String>, Violation)> = Vec::new();
        let mut most: BTreeMap<[usize; 2], (u64, Harness)> = BTreeMap::new();
        // Simple states and first arguments come first.
        for sum in 0..rounds.len() + self.states.len() {
            for (round, state) in (0..=sum).filter_map(|at| Some((at, self.states.get(sum - at)?))) {
                for &[one, other] in rounds.get(round).into_iter().flatten() {
                    if Instant::now() > until || signals::interrupted() {
                        return Ok(paired.with(most, unclear));
                    }
                    let names = [one, other].map(|one| self.alphabet.method_name(one).to_owned());
                    if names.iter().all(|name| whole.contains(name)) {
                        continue;
                    }
                    let harness = self.harness(state, [one, other]);
                    search.set_whole(whole.clone());
                    let violation = search.explore_one(harness.clone())?.violation();
                    let mut blamed = Vec::new();
                    if let Some(violation) = violation {
                        match blame(search, self.alphabet, violation, &whole, self.assumed)? {
                            Blame::Certain(certain) => blamed = certain,
                            Blame::Unclear(names, violation) => unclear.push((names, *violation)),
                        }
                    }
                    let findings = search.take_findings();
                    let methods = [one, other].map(|one| self.alphabet.method(one));
                    let schedules = findings.schedules.schedules;
                    if blamed.is_empty() && schedules > most.get(&methods).map_or(1, |(most, _)| *most) {
                        most.insert(methods, (schedules, harness));
                    }
                    for name in BTreeSet::from(names) {
                        let known = paired.findings.remove(&name).unwrap_or_default();
                        paired.findings.insert(name, known.and(findings.clone()));
                    }
                    for (name, violation) in blamed {
                        tell(&name, &violation);
                        whole.insert(name.clone());
                        paired.blamed.push((name, violation));
                    }
                }
            }
        }
        Ok(paired.with(most, unclear))
    }

    /// Pairs to stress if schedules cannot be controlled: in each state, every pair of methods with its first arguments.
    pub(crate) fn without_control(&self) -> Vec<Harness> {
        let rounds = pairs::rounds(self.alphabet, |one, other| self.rank(one, other));
        let pairs = rounds.into_iter().next().unwrap_or_default();
        let in_state =
            |state: &State| -> Vec<Harness> { pairs.iter().map(|&pair| self.harness(state, pair)).collect() };
        self.states.iter().flat_map(in_state).collect()
    }

    fn harness(&self, state: &State, pair: [Operation; 2]) -> Harness {
        let observers = pairs::observers(self.alphabet, pair, |method| self.has_result[method], OBSERVERS);
        pairs::harness(state, pair[0], pair[1], &observers)
    }

    /// Pairs with core methods come first.
    pub(crate) fn rank(&self, one: usize, other: usize) -> Option<usize> {
        let is_wanted = self.is_tested[one] || self.is_tested[other];
        is_wanted.then_some(usize::from(one.min(other) >= self.core))
    }

    /// An operation of a method.
    fn first(&self, method: usize) -> Operation {
        let all = 0..self.alphabet.operations().len();
        let mut own = all.map(|one| one as Operation).filter(|&one| self.alphabet.method(one) == method);
        own.next().expect("every method has an operation")
    }
}

impl Paired {
    fn with(
        mut self,
        most: BTreeMap<[usize; 2], (u64, Harness)>,
        unclear: Vec<(BTreeSet<String>, Violation)>,
    ) -> Self {
        for (names, violation) in unclear {
            if !self.blamed.iter().any(|(blamed, _)| names.contains(blamed)) {
                self.blamed.extend(names.into_iter().next().map(|name| (name, violation)));
            }
        }
        let mut harnesses: Vec<(u64, Harness)> = most.into_values().collect();
        harnesses.sort_by_key(|(schedules, _)| *schedules);
        self.contended = harnesses.into_iter().map(|(_, harness)| harness).collect();
        self
    }
}

/// Who is to blame for a violation.
pub(crate) enum Blame {
    /// These methods, each with the violation that it shows although all others are atomic, or without which the violation disappears.
    Certain(Vec<(String, Violation)>),
    /// One of these methods at least: the violation disappears if any of them is atomic.
    Unclear(BTreeSet<String>, Box<Violation>),
}

/// The methods to blame for a violation that a schedule shows. Calls of `whole` were atomic already. Methods of `assumed` are to blame only
/// if no others are involved.
pub(crate) fn blame(
    search: &mut Search<'_>,
    alphabet: &Alphabet,
    violation: Violation,
    whole: &BTreeSet<String>,
    assumed: &BTreeSet<String>,
) -> Result<Blame, ObjectError> {
    let operations = violation.harness.operations();
    let concurrent = violation.harness.concurrent();
    let all = concurrent.iter().map(|&at| alphabet.method_name(operations[at]).to_owned());
    let (atomic, involved): (BTreeSet<String>, BTreeSet<String>) = all.partition(|name| whole.contains(name));
    if involved.len() == 1 {
        let cause = match atomic.is_empty() {
            true => Cause::Itself,
            false => Cause::Remains { atomic: atomic.into_iter().collect() },
        };
        let violation = Violation { cause: Some(cause), ..violation };
        return Ok(Blame::Certain(involved.into_iter().map(|name| (name, violation.clone())).collect()));
    }
    let outside: BTreeSet<String> = involved.difference(assumed).cloned().collect();
    let suspects = if outside.is_empty() { &involved } else { &outside };
    let mut blamed = Vec::new();
    let mut is_known = true;
    for suspect in suspects {
        let others: BTreeSet<String> = involved.iter().filter(|other| *other != suspect).cloned().collect();
        search.set_whole(whole.union(&others).cloned().collect());
        match search.explore_one(violation.harness.clone())? {
            Exploration::Violation(shown) => {
                let atomic = others.union(&atomic).cloned().collect();
                blamed
                    .push((suspect.clone(), Violation { cause: Some(Cause::Remains { atomic }), ..*shown }));
            }
            Exploration::Atomic => {}
            Exploration::Partial => is_known = false,
        }
    }
    if !blamed.is_empty() {
        return Ok(Blame::Certain(blamed));
    }
    // In this harness the violation needs several methods that are not executed as a whole.
    let core: Vec<String> = involved.difference(suspects).cloned().collect();
    let cause = match core.is_empty() || suspects.len() > 1 {
        true => is_known.then(|| Cause::Together { methods: involved.iter().cloned().collect() }),
        false => Some(Cause::Core { methods: core }),
    };
    let violation = Violation { cause, ..violation };
    Ok(match suspects.iter().next() {
        Some(only) if suspects.len() == 1 => Blame::Certain(vec![(only.clone(), violation)]),
        _ => Blame::Unclear(suspects.clone(), Box::new(violation)),
    })
}
