//! Harnesses with two concurrent invocations: an object is brought into some state, two methods run at the same time, and afterwards other
//! methods observe what they did.
//!
//! Beyond the paper, whose harnesses call the method under test once and have no invocations after both sequences: a method that is not
//! atomic against itself shows only beside itself, and a lost update of a method without a result shows only afterwards.

use rustc_hash::{FxHashMap, FxHashSet};

use crate::{
    enumerate::{Alphabet, Harness, Operation},
    outcome::{Results, Run},
};

/// A state of the object, by the operations that lead to it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct State {
    /// The operations, executed one after the other on a new object.
    pub run: Run,
}

/// Finds states that differ in the result of some operation, by breadth-first search from the new object.
#[derive(Debug)]
pub struct States {
    found: Vec<State>,
    /// The results of all operations in each state that was found.
    known: FxHashSet<Vec<Option<u32>>>,
    /// The next state to extend.
    next: usize,
    most: usize,
}

impl States {
    /// Looks for at most so many states.
    pub fn new(most: usize) -> Self {
        States { found: Vec::new(), known: FxHashSet::default(), next: 0, most }
    }

    /// The states that may be new: the first is that of a new object. Empty if the search is over.
    pub fn candidates(&mut self, updates: &[Operation], longest: usize) -> Vec<Run> {
        if self.found.is_empty() {
            return vec![Vec::new()];
        }
        while self.found.len() < self.most && self.next < self.found.len() {
            let run = self.found[self.next].run.clone();
            self.next += 1;
            if run.len() < longest {
                return updates.iter().map(|&update| [run.as_slice(), &[update]].concat()).collect();
            }
        }
        Vec::new()
    }

    /// The runs whose results tell the states apart.
    pub fn runs(candidates: &[Run], operations: &[Operation]) -> Vec<Run> {
        candidates
            .iter()
            .flat_map(|run| operations.iter().map(move |&one| [run.as_slice(), &[one]].concat()))
            .collect()
    }

    /// Keeps the candidates that differ from all states so far. A run that does not end leads to no state.
    pub fn add(&mut self, candidates: Vec<Run>, operations: &[Operation], results: &Results) {
        for run in candidates {
            let ends = operations.iter().map(|&one| results.get(&[run.as_slice(), &[one]].concat()));
            let ends: Vec<Option<&Option<Vec<u32>>>> = ends.collect();
            let is_reached =
                ends.iter().flatten().any(|end| end.as_ref().is_some_and(|end| end.len() >= run.len()));
            let last =
                |end: &Option<&Option<Vec<u32>>>| end.and_then(|end| end.as_ref()?.get(run.len()).copied());
            let signature = ends.iter().map(last).collect();
            if (is_reached || operations.is_empty())
                && self.found.len() < self.most
                && self.known.insert(signature)
            {
                self.found.push(State { run });
            }
        }
    }

    /// The states, the new object first.
    pub fn found(&self) -> &[State] {
        &self.found
    }
}

/// The harness that brings an object into a state, runs two operations concurrently, and then observes it.
pub fn harness(state: &State, one: Operation, other: Operation, observers: &[Operation]) -> Harness {
    let groups = [vec![state.run.clone()], vec![vec![one], vec![other]], vec![observers.to_vec()]];
    let mut sequences: Vec<Run> = Vec::new();
    let mut order = Vec::new();
    for group in groups {
        let before = sequences.len();
        for sequence in group.into_iter().filter(|sequence| !sequence.is_empty()) {
            order.extend((0..before).map(|earlier| (earlier, sequences.len())));
            sequences.push(sequence);
        }
    }
    Harness { sequences, order, target: None }
}

/// The operations that show what two others did: readers whose arguments occur in them, one call for each method and argument, then one
/// call of each of the two methods that has a result (`has_result`), because a method that updates may be the only one that shows anything.
pub fn observers(
    alphabet: &Alphabet,
    pair: [Operation; 2],
    has_result: impl Fn(usize) -> bool,
    most: usize,
) -> Vec<Operation> {
    let all = || (0..alphabet.operations().len()).map(|number| number as Operation);
    let arguments = pair.map(|one| alphabet.operations()[usize::from(one)].1.clone());
    let fits = |operation: Operation| {
        let own = &alphabet.operations()[usize::from(operation)].1;
        own.iter().all(|value| arguments.iter().any(|list| list.contains(value)))
    };
    let readers = || all().filter(|&one| alphabet.seems_read_only(one) && has_result(alphabet.method(one)));
    let mut chosen: Vec<Operation> = Vec::new();
    let mut calls: FxHashMap<usize, usize> = FxHashMap::default();
    // Methods with fewer parameters first: they tend to observe the whole object.
    let mut fitting: Vec<Operation> = readers().filter(|&one| fits(one)).collect();
    fitting.sort_by_key(|&one| alphabet.operations()[usize::from(one)].1.len());
    for one in fitting.into_iter().chain(readers()) {
        let number = calls.entry(alphabet.method(one)).or_default();
        if chosen.len() < most && *number < 2 && !chosen.contains(&one) {
            *number += 1;
            chosen.push(one);
        }
    }
    let updates =
        pair.into_iter().filter(|&one| !alphabet.seems_read_only(one) && has_result(alphabet.method(one)));
    for one in updates {
        if !chosen.contains(&one) {
            chosen.push(one);
        }
    }
    chosen
}

/// The pairs of operations in rounds: each has every pair of methods at most once, the next one has them with other arguments. A method
/// beside itself comes first, then pairs by their `rank`; those without a rank and those without an update are left out.
pub fn rounds(alphabet: &Alphabet, rank: impl Fn(usize, usize) -> Option<usize>) -> Vec<Vec<[Operation; 2]>> {
    let mut of_method: Vec<Vec<Operation>> = Vec::new();
    for number in 0..alphabet.operations().len() {
        let method = alphabet.method(number as Operation);
        of_method.resize_with(of_method.len().max(method + 1), Vec::new);
        of_method[method].push(number as Operation);
    }
    let mut lists = Vec::new();
    for (first, ones) in of_method.iter().enumerate() {
        for (second, others) in of_method.iter().enumerate().skip(first) {
            let Some(rank) = rank(first, second) else { continue };
            let mut list: Vec<[Operation; 2]> = Vec::new();
            for (at, &one) in ones.iter().enumerate() {
                let from = if first == second { at } else { 0 };
                list.extend(others[from..].iter().map(|&other| [one, other]));
            }
            list.retain(|pair| pair.iter().any(|&one| !alphabet.read_only(one)));
            // Equal arguments conflict most.
            let arguments = |one: Operation| &alphabet.operations()[usize::from(one)].1;
            list.sort_by_key(|&[one, other]| arguments(one).first() != arguments(other).first());
            lists.push(((first != second, rank), list));
        }
    }
    lists.sort_by_key(|(rank, _)| *rank);
    let longest = lists.iter().map(|(_, list): &(_, Vec<_>)| list.len()).max().unwrap_or(0);
    (0..longest).map(|at| lists.iter().filter_map(|(_, list)| list.get(at).copied()).collect()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::spec::{Domain, Method, Role, Spec};

    fn method(name: &str, parameters: usize, reads: bool) -> Method {
        Method {
            name: name.to_owned(),
            parameters: vec![Domain::Scalar(Role::Key); parameters],
            read_only: reads,
            seems_read_only: reads,
        }
    }

    fn alphabet() -> Alphabet {
        let core = vec![method("add", 1, false), method("get", 1, true), method("size", 0, true)];
        Alphabet::sample(&Spec { core, method: None }, 2, 4)
    }

    fn names(alphabet: &Alphabet, operations: &[Operation]) -> Vec<String> {
        operations.iter().map(|&one| alphabet.invocation(one).to_string()).collect()
    }

    #[test]
    fn every_pair_of_methods_comes_once_before_other_arguments() {
        let alphabet = alphabet();
        let pairs = rounds(&alphabet, |_, _| Some(0)).concat();
        let words: Vec<String> = pairs.iter().map(|pair| names(&alphabet, pair).join(" ")).collect();
        assert_eq!(words[..3], ["add(0) add(0)", "add(0) get(0)", "add(0) size()"]);
        assert!(!words.iter().any(|pair| pair.starts_with("get")), "{words:?}");
        assert_eq!(words.len(), 3 + 4 + 2);
    }

    #[test]
    fn observers_read_what_the_pair_changed() {
        let alphabet = alphabet();
        let shown = |pair, most| names(&alphabet, &observers(&alphabet, pair, |_| true, most));
        assert_eq!(shown([0, 0], 2), ["size()", "get(0)", "add(0)"]);
        assert_eq!(shown([1, 1], 2), ["size()", "get(1)", "add(1)"]);
        assert_eq!(
            names(&alphabet, &observers(&alphabet, [0, 1], |method| method == 1, 4)),
            ["get(0)", "get(1)"]
        );
    }

    #[test]
    fn states_differ_in_the_result_of_some_operation() {
        // An object that counts to two: operation 0 increments, operation 1 gives the count.
        let result = |run: &Run| {
            let mut count = 0;
            let step = |&one: &Operation| {
                count = u32::min(2, count + u32::from(one == 0));
                count
            };
            run.iter().map(step).collect::<Vec<u32>>()
        };
        let mut states = States::new(8);
        loop {
            let candidates = states.candidates(&[0], 5);
            if candidates.is_empty() {
                break;
            }
            let runs = States::runs(&candidates, &[1]);
            let results: Results = runs.into_iter().map(|run| (run.clone(), Some(result(&run)))).collect();
            states.add(candidates, &[1], &results);
        }
        let runs: Vec<Run> = states.found().iter().map(|state| state.run.clone()).collect();
        assert_eq!(runs, [vec![], vec![0], vec![0, 0]]);
    }

    #[test]
    fn the_state_comes_before_and_the_observers_after() {
        let alphabet = alphabet();
        let state = State { run: vec![0] };
        let harness = harness(&state, 0, 1, &[4]);
        assert_eq!(alphabet.schema(&harness).to_string(), "[add(0)] < [add(0)], [add(1)] < [size()]");
        assert_eq!(harness.concurrent(), [1, 2]);
    }
}
