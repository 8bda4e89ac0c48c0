//! Decides by sequential runs which methods can be tested, which of them seem read-only, and in which states the object can be.
//!
//! A method seems read-only if no method ever has a different result after it, in any of the states. Harnesses can only observe a change
//! that some method shows.

use fissure_object::{
    enumerate::{Alphabet, Operation},
    outcome::Run,
    pairs::{State, States},
};

use super::{core::Behaviour, driver::RunEnd, error::ObjectError, session::Session};

/// The result for a method.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Nature {
    /// It can be tested.
    Fine {
        /// Whether it seems read-only.
        reads: bool,
    },
    /// It cannot be tested, for this reason.
    Unfit(String),
}

/// The results for all methods.
#[derive(Debug)]
pub(crate) struct Examined {
    /// For each method of the alphabet.
    pub(crate) natures: Vec<Nature>,
    /// What each method does, for the choice of the core.
    pub(crate) behaviours: Vec<Behaviour>,
    /// States of the object, by the operations that lead to them.
    pub(crate) states: Vec<State>,
}

/// The most states.
const STATES: usize = 10;

/// The most operations that lead to a state.
const LONGEST: usize = 3;

/// So many operations tell states apart, and so many lead to new ones.
const TELLING: usize = 40;

/// Examines all methods of an alphabet that is open in the session.
pub(crate) fn examine(
    session: &mut Session,
    alphabet: &Alphabet,
    methods: usize,
) -> Result<Examined, ObjectError> {
    let mut natures = Vec::new();
    for method in 0..methods {
        natures.push(alone(session, &operations(alphabet, method))?);
    }
    let is_fine = |natures: &[Nature], method: usize| natures[method] == Nature::Fine { reads: true };
    let all: Vec<Vec<Operation>> = (0..methods)
        .filter(|&method| is_fine(&natures, method))
        .map(|method| operations(alphabet, method))
        .collect();
    let telling = spread(&all, TELLING);
    let states = find_states(session, &telling)?;
    let mut behaviours = Vec::new();
    for (method, nature) in natures.iter_mut().enumerate() {
        let mine = operations(alphabet, method);
        if *nature == (Nature::Fine { reads: true }) {
            *nature = in_states(session, &mine, &telling, &states)?;
        }
        let answers = states.iter().map(|state| answers(session, &state.run, &mine)).collect();
        let reaches = states.iter().filter(|state| state.run.last().is_some_and(|one| mine.contains(one)));
        let reads = !matches!(nature, Nature::Fine { reads: false });
        behaviours.push(Behaviour { reads, answers, reaches: reaches.count() });
    }
    Ok(Examined { natures, behaviours, states })
}

/// The operations of a method.
fn operations(alphabet: &Alphabet, method: usize) -> Vec<Operation> {
    let all = (0..alphabet.operations().len()).map(|number| number as Operation);
    all.filter(|&one| alphabet.method(one) == method).collect()
}

/// Some operations of all methods: the first of each, then the second, and so on.
fn spread(all: &[Vec<Operation>], most: usize) -> Vec<Operation> {
    let longest = all.iter().map(Vec::len).max().unwrap_or(0);
    (0..longest).flat_map(|at| all.iter().filter_map(move |one| one.get(at).copied())).take(most).collect()
}

/// Calls a method alone: one that does not return, or returns something else each time, cannot be tested.
fn alone(session: &mut Session, mine: &[Operation]) -> Result<Nature, ObjectError> {
    for &one in mine {
        let run = vec![one];
        session.ensure_results(std::iter::once(run.clone()))?;
        let trouble = session.troubles.iter().find(|(troubled, _)| *troubled == run);
        match trouble.map(|(_, end)| end) {
            Some(RunEnd::Stuck) => {
                return Ok(Nature::Unfit("it does not return when called alone, or ends the JVM".to_owned()));
            }
            Some(_) => {
                let reason = "its results differ from call to call when called alone";
                return Ok(Nature::Unfit(reason.to_owned()));
            }
            None => {}
        }
    }
    Ok(Nature::Fine { reads: true })
}

fn find_states(session: &mut Session, telling: &[Operation]) -> Result<Vec<State>, ObjectError> {
    let mut states = States::new(STATES);
    loop {
        let candidates = states.candidates(telling, LONGEST);
        if candidates.is_empty() {
            return Ok(states.found().to_vec());
        }
        let runs = States::runs(&candidates, telling);
        session.ensure_all(|| runs.iter().cloned())?;
        states.add(candidates, telling, session.results());
    }
}

/// The results of operations after a run; none for one that waits.
fn answers(session: &Session, before: &Run, operations: &[Operation]) -> Vec<Option<u32>> {
    let answer = |&one: &Operation| {
        let run = [before.as_slice(), &[one]].concat();
        session.results().get(&run)?.as_ref()?.get(before.len()).copied()
    };
    operations.iter().map(answer).collect()
}

/// What a method does in all states.
fn in_states(
    session: &mut Session,
    mine: &[Operation],
    telling: &[Operation],
    states: &[State],
) -> Result<Nature, ObjectError> {
    let after = |state: &State, one: Operation| [state.run.as_slice(), &[one]].concat();
    let mut runs: Vec<Run> = Vec::new();
    for state in states {
        for &one in mine {
            runs.push(after(state, one));
            let then = telling.iter().map(|&other| [after(state, one).as_slice(), &[other]].concat());
            runs.extend(then);
        }
    }
    session.ensure_all(|| runs.iter().cloned())?;
    let own: Vec<Option<u32>> = states.iter().flat_map(|state| answers(session, &state.run, mine)).collect();
    if own.iter().all(Option::is_none) {
        return Ok(Nature::Unfit("it waits for another thread in every state that calls lead to".to_owned()));
    }
    let thrown = own.iter().flatten().map(|&number| session.text(number));
    let mut thrown: Vec<&str> = thrown.collect();
    thrown.dedup();
    if let [only] = thrown[..]
        && (only.ends_with("Exception") || only.ends_with("Error"))
    {
        return Ok(Nature::Unfit(format!("it throws {only} for all arguments")));
    }
    let changes = |state: &State, one: Operation| {
        let waits = answers(session, &state.run, &[one]) == [None];
        !waits && answers(session, &state.run, telling) != answers(session, &after(state, one), telling)
    };
    let changes = states.iter().any(|state| mine.iter().any(|&one| changes(state, one)));
    Ok(Nature::Fine { reads: !changes })
}
