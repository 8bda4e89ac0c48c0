//! Decides by sequential runs whether a method can be tested, and whether it seems read-only.
//!
//! A method seems read-only if no core method ever has a different result after it, in any state that a few operations lead to. A change
//! that the core cannot observe, no harness can observe either, because a harness invokes the method under test only once.

use fissure_object::{
    enumerate::{Alphabet, Operation},
    outcome::Run,
};

use super::{driver::RunEnd, error::ObjectError, session::Session};

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

/// How many invocations of a method with different arguments are tried.
const SAMPLES: usize = 4;

/// How many different operations come before it at most.
const MOST_BEFORE: usize = 20;

/// Examines the method with this number; numbers below `core` are core methods.
pub(crate) fn examine(
    session: &mut Session,
    alphabet: &Alphabet,
    method: usize,
    core: usize,
) -> Result<Nature, ObjectError> {
    let samples = |method: usize| sample(alphabet, method);
    let mine = samples(method);
    let others: Vec<Operation> =
        (0..core).filter(|&other| other != method).flat_map(samples).chain(mine.iter().copied()).collect();
    // With a core of many overloads, some of them are enough to reach different states.
    let step = others.len().div_ceil(MOST_BEFORE).max(1);
    let before: Vec<Operation> = others.iter().copied().step_by(step).collect();
    let prefixes = prefixes(&before);
    let first: Vec<Run> = mine.iter().map(|&one| vec![one]).collect();
    // The method alone comes first, so that one that never returns costs little.
    for part in [first, runs(&prefixes, &mine, &others)] {
        session.ensure_results(part.into_iter())?;
        if let Some(reason) = trouble(session, alphabet, method) {
            return Ok(Nature::Unfit(reason));
        }
    }
    if let Some(reason) = always_throws(session, &prefixes, &mine) {
        return Ok(Nature::Unfit(reason));
    }
    let answer = |run: &Run| session.results().get(run).and_then(|result| result.as_ref()?.last().copied());
    let changes = |prefix: &Run, one: Operation, other: Operation| {
        let without = [prefix.as_slice(), &[other]].concat();
        let with = [prefix.as_slice(), &[one, other]].concat();
        answer(&without) != answer(&with)
    };
    let reads = !prefixes
        .iter()
        .any(|prefix| mine.iter().any(|&one| others.iter().any(|&other| changes(prefix, one, other))));
    Ok(Nature::Fine { reads })
}

/// A few invocations of a method, spread over all of its arguments.
fn sample(alphabet: &Alphabet, method: usize) -> Vec<Operation> {
    let all: Vec<Operation> = (0..alphabet.operations().len())
        .filter(|&number| alphabet.operations()[number].0 == method)
        .map(|number| number as Operation)
        .collect();
    let step = all.len().div_ceil(SAMPLES).max(1);
    all.into_iter().step_by(step).collect()
}

/// The runs before the method: nothing, one operation, or two.
fn prefixes(operations: &[Operation]) -> Vec<Run> {
    let pairs = operations.iter().flat_map(|&one| operations.iter().map(move |&other| vec![one, other]));
    let singles = operations.iter().map(|&one| vec![one]);
    std::iter::once(Vec::new()).chain(singles).chain(pairs).collect()
}

fn runs(prefixes: &[Run], mine: &[Operation], others: &[Operation]) -> Vec<Run> {
    let mut runs = Vec::new();
    for prefix in prefixes {
        for &other in others {
            runs.push([prefix.as_slice(), &[other]].concat());
            runs.extend(mine.iter().map(|&one| [prefix.as_slice(), &[one, other]].concat()));
        }
        runs.extend(mine.iter().map(|&one| [prefix.as_slice(), &[one]].concat()));
    }
    runs
}

/// The problem of runs that end with the method: the last operation of the shortest such run is to blame.
fn trouble(session: &Session, alphabet: &Alphabet, method: usize) -> Option<String> {
    let shortest = session.troubles.iter().min_by_key(|(run, _)| run.len())?;
    let (run, end) = shortest;
    let last = *run.last()?;
    if alphabet.operations()[usize::from(last)].0 != method {
        return None;
    }
    Some(match end {
        RunEnd::Stuck => "it does not return when called alone, or ends the JVM".to_owned(),
        _ => "its results differ from call to call when called alone".to_owned(),
    })
}

fn always_throws(session: &Session, prefixes: &[Run], mine: &[Operation]) -> Option<String> {
    let mut thrown: Option<&str> = None;
    for prefix in prefixes {
        for &one in mine {
            let run = [prefix.as_slice(), &[one]].concat();
            let number = session.results().get(&run)?.as_ref()?.last()?;
            let text = session.text(*number);
            let is_throwable = text.ends_with("Exception") || text.ends_with("Error");
            if !is_throwable || thrown.is_some_and(|known| known != text) {
                return None;
            }
            thrown = Some(text);
        }
    }
    thrown.map(|name| format!("it throws {name} for all arguments"))
}
