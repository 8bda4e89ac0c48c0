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
    search::Search,
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
        let rounds = pairs::rounds(self.alphabet, |one, other| self.is_tested[one] || self.is_tested[other]);
        let mut most: BTreeMap<[usize; 2], (u64, Harness)> = BTreeMap::new();
        // Simple states and first arguments come first.
        for sum in 0..rounds.len() + self.states.len() {
            for (round, state) in (0..=sum).filter_map(|at| Some((at, self.states.get(sum - at)?))) {
                for &[one, other] in rounds.get(round).into_iter().flatten() {
                    if Instant::now() > until || signals::interrupted() {
                        return Ok(paired.with(most));
                    }
                    let names = [one, other].map(|one| self.alphabet.method_name(one).to_owned());
                    if names.iter().all(|name| whole.contains(name)) {
                        continue;
                    }
                    let observers = pairs::observers(
                        self.alphabet,
                        [one, other],
                        |method| self.has_result[method],
                        OBSERVERS,
                    );
                    let harness = pairs::harness(state, one, other, &observers);
                    search.set_whole(whole.clone());
                    let violation = search.explore_one(harness.clone())?;
                    let mut blamed = Vec::new();
                    if let Some(violation) = violation {
                        blamed = blame(search, self.alphabet, violation, &whole)?;
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
        Ok(paired.with(most))
    }

    /// An operation of a method.
    fn first(&self, method: usize) -> Operation {
        let all = 0..self.alphabet.operations().len();
        let mut own = all.map(|one| one as Operation).filter(|&one| self.alphabet.method(one) == method);
        own.next().expect("every method has an operation")
    }
}

impl Paired {
    fn with(mut self, most: BTreeMap<[usize; 2], (u64, Harness)>) -> Self {
        let mut harnesses: Vec<(u64, Harness)> = most.into_values().collect();
        harnesses.sort_by_key(|(schedules, _)| *schedules);
        self.contended = harnesses.into_iter().map(|(_, harness)| harness).collect();
        self
    }
}

/// The methods to blame for a violation that a schedule shows, each with the violation that it shows although all others are atomic.
/// Calls of `whole` were atomic already.
pub(crate) fn blame(
    search: &mut Search<'_>,
    alphabet: &Alphabet,
    violation: Violation,
    whole: &BTreeSet<String>,
) -> Result<Vec<(String, Violation)>, ObjectError> {
    let operations = violation.harness.operations();
    let concurrent = violation.harness.concurrent();
    let all = concurrent.iter().map(|&at| alphabet.method_name(operations[at]).to_owned());
    let (atomic, suspects): (BTreeSet<String>, BTreeSet<String>) = all.partition(|name| whole.contains(name));
    if suspects.len() == 1 {
        let cause = match atomic.is_empty() {
            true => Cause::Itself,
            false => Cause::Remains { atomic: atomic.into_iter().collect() },
        };
        let violation = Violation { cause: Some(cause), ..violation };
        return Ok(suspects.into_iter().map(|name| (name, violation.clone())).collect());
    }
    let mut blamed = Vec::new();
    for suspect in &suspects {
        let others: BTreeSet<String> = suspects.iter().filter(|other| *other != suspect).cloned().collect();
        search.set_whole(whole.union(&others).cloned().collect());
        if let Some(shown) = search.explore_one(violation.harness.clone())? {
            let atomic = others.union(&atomic).cloned().collect();
            blamed.push((suspect.clone(), Violation { cause: Some(Cause::Remains { atomic }), ..shown }));
        }
    }
    if blamed.is_empty() {
        // The violation needs several methods that are not atomic; without any one of these it disappears.
        let together: Vec<String> = suspects.iter().cloned().collect();
        let cause = Cause::Together { methods: together.clone() };
        let violation = Violation { cause: Some(cause), ..violation };
        blamed = together.into_iter().map(|name| (name, violation.clone())).collect();
    }
    Ok(blamed)
}
