//! Selects the steps of an interleaving that matter for its finding. Reports show these and fold the rest.

use std::collections::HashSet;

use fissure_model::{
    finding::Finding,
    interleaving::{Action, Interleaving, Step},
};

use crate::names;

/// How many steps are shown of an interleaving without roles.
const MOST_UNMARKED: usize = 24;

/// The role of a step at which a failure happened; it does not say what led to the failure.
const FAILED: &str = "failed";
/// How many steps are shown up to the failure.
const MOST_BEFORE_FAILURE: usize = 40;

/// If more steps than this matter, only those close to steps with a role are shown.
const MOST_IMPORTANT: usize = 80;
/// The greatest distance, in steps, to a step with a role.
const CLOSE: usize = 4;

/// One line of a shown interleaving.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Row {
    /// This many steps that do not matter.
    Folded(u64),
    /// A switch from one thread to another, by their numbers.
    Switch(usize, usize),
    /// A step, by its number.
    Step(usize),
}

/// For every step whether it matters: steps with a role, exceptions that end a thread, operations on the same lock or
/// location as a step with a role or on a lock that is held at one of the finding's sites, and entry and exit of the blocks
/// around steps with a role.
pub(crate) fn important(finding: &Finding, interleaving: &Interleaving) -> Vec<bool> {
    let steps = &interleaving.steps;
    let marked: Vec<bool> =
        steps.iter().map(|step| step.role.is_some() || step.action == Action::Throw).collect();
    let mut roles = steps.iter().filter_map(|step| step.role.as_deref());
    if let Some(first) = roles.next()
        && first == FAILED
        && roles.all(|role| role == FAILED)
    {
        // The cause of a failure is not known, but it lies before the failure.
        return (0..steps.len()).map(|at| at + MOST_BEFORE_FAILURE >= steps.len()).collect();
    }
    if !steps.iter().any(|step| step.role.is_some()) {
        // Without roles, show the beginning and the end.
        let (head, tail) = (MOST_UNMARKED / 2, steps.len().saturating_sub(MOST_UNMARKED / 2));
        return (0..steps.len()).map(|at| at < head || at >= tail).collect();
    }
    let objects: HashSet<&str> = steps
        .iter()
        .filter(|step| step.role.is_some() && !step.object.is_empty() && !is_block(step))
        .map(|step| step.object.as_str())
        .chain(finding.sites.iter().flat_map(|site| &site.locks).map(|lock| lock.name.as_str()))
        .chain(finding.sites.iter().filter_map(|site| names::lock_of(&site.role)))
        .collect();
    let touches = |step: &Step| has_object(step.action) && objects.contains(step.object.as_str());
    let blocks = blocks_around(interleaving, &marked);
    let important: Vec<bool> =
        (0..steps.len()).map(|at| marked[at] || blocks[at] || touches(&steps[at])).collect();
    if important.iter().filter(|important| **important).count() <= MOST_IMPORTANT {
        return important;
    }
    // Most operations on a lock that is acquired a thousand times are irrelevant; those close to steps with roles may not be.
    let close = |at: usize| {
        let from = at.saturating_sub(CLOSE);
        marked[from..(at + CLOSE + 1).min(steps.len())].contains(&true)
    };
    (0..steps.len()).map(|at| marked[at] || important[at] && close(at)).collect()
}

/// The lines to show; with `all`, every step that the interleaving contains gets a line.
pub(crate) fn rows(finding: &Finding, interleaving: &Interleaving, all: bool) -> Vec<Row> {
    let important = important(finding, interleaving);
    let mut rows = Vec::new();
    let mut folded = Folded::default();
    let mut running: Option<usize> = None;
    for (at, step) in interleaving.steps.iter().enumerate() {
        folded.absent += step.folded;
        if !all && !important[at] {
            folded.present.push(at);
            continue;
        }
        folded.flush(&mut rows, interleaving, &mut running);
        push_step(&mut rows, interleaving, &mut running, at);
    }
    folded.flush(&mut rows, interleaving, &mut running);
    rows
}

/// Steps that will be folded into one line.
#[derive(Default)]
struct Folded {
    /// How many the interleaving itself left out.
    absent: u64,
    /// Those that it contains, by their numbers.
    present: Vec<usize>,
}

impl Folded {
    fn flush(&mut self, rows: &mut Vec<Row>, interleaving: &Interleaving, running: &mut Option<usize>) {
        let Folded { absent, present } = std::mem::take(self);
        match (absent, present.as_slice()) {
            (0, []) => {}
            // A line "1 step" would be no shorter than the step itself.
            (0, &[at]) => push_step(rows, interleaving, running, at),
            (absent, present) => rows.push(Row::Folded(absent + present.len() as u64)),
        }
    }
}

fn push_step(rows: &mut Vec<Row>, interleaving: &Interleaving, running: &mut Option<usize>, at: usize) {
    let thread = interleaving.steps[at].thread;
    if let Some(before) = running.replace(thread).filter(|&before| before != thread) {
        rows.push(Row::Switch(before, thread));
    }
    rows.push(Row::Step(at));
}

/// For every step the number, from 1, of the finding's site that it corresponds to. A site corresponds to the first step
/// with its role and thread that no earlier site corresponds to.
pub(crate) fn site_numbers(finding: &Finding, interleaving: &Interleaving) -> Vec<Option<usize>> {
    let mut numbers = vec![None; interleaving.steps.len()];
    for (number, site) in finding.sites.iter().enumerate() {
        let same_thread =
            |step: &Step| interleaving.threads.get(step.thread).is_some_and(|name| *name == site.thread);
        let at = interleaving.steps.iter().enumerate().position(|(at, step)| {
            numbers[at].is_none() && step.role.as_deref() == Some(&site.role) && same_thread(step)
        });
        if let Some(at) = at {
            numbers[at] = Some(number + 1);
        }
    }
    numbers
}

/// The number that decides a thread's colour: its index in the interleaving, or else among the threads of the sites.
pub(crate) fn thread_number(finding: &Finding, name: &str) -> usize {
    let known = finding.interleaving.as_ref();
    if let Some(at) = known.and_then(|known| known.threads.iter().position(|thread| thread == name)) {
        return at;
    }
    let mut seen: Vec<&str> = Vec::new();
    for site in &finding.sites {
        if !seen.contains(&site.thread.as_str()) {
            seen.push(&site.thread);
        }
    }
    seen.iter().position(|&thread| thread == name).unwrap_or_default()
}

fn is_block(step: &Step) -> bool {
    matches!(step.action, Action::BlockEnter | Action::BlockExit)
}

fn has_object(action: Action) -> bool {
    matches!(
        action,
        Action::Acquire
            | Action::Release
            | Action::Wait
            | Action::Notify
            | Action::Read
            | Action::Write
            | Action::Atomic
    )
}

/// Marks the entries and exits of the innermost block around every marked step.
fn blocks_around(interleaving: &Interleaving, marked: &[bool]) -> Vec<bool> {
    let mut around = vec![false; marked.len()];
    let mut open: Vec<Vec<(usize, bool)>> = vec![Vec::new(); interleaving.threads.len()];
    for (at, step) in interleaving.steps.iter().enumerate() {
        let Some(open) = open.get_mut(step.thread) else { continue };
        match step.action {
            Action::BlockEnter => open.push((at, marked[at])),
            Action::BlockExit => {
                if let Some((entered, matters)) = open.pop() {
                    around[at] |= matters || marked[at];
                    around[entered] |= around[at];
                }
            }
            _ if marked[at] => {
                if let Some((entered, matters)) = open.last_mut() {
                    *matters = true;
                    around[*entered] = true;
                }
            }
            _ => {}
        }
    }
    around
}

#[cfg(test)]
pub(crate) mod tests {
    use fissure_model::finding::{Kind, Status};

    use super::*;

    /// Steps as `thread action object [role]`, with `_` for no object.
    pub(crate) fn interleaving(lines: &[&str]) -> Interleaving {
        let steps = lines.iter().map(|line| {
            let words: Vec<&str> = line.split(' ').collect();
            let action = serde_json::from_value(serde_json::Value::from(words[1])).unwrap();
            Step {
                thread: words[0].parse().unwrap(),
                action,
                object: words[2].replace('_', ""),
                called: None,
                at: None,
                role: words.get(3).map(|role| (*role).to_owned()),
                folded: 0,
            }
        });
        Interleaving { threads: vec!["a".to_owned(), "b".to_owned()], steps: steps.collect() }
    }

    fn rows_of(lines: &[&str], all: bool) -> Vec<Row> {
        let finding = Finding::new(Kind::AtomicityViolation, Status::Bug, "atomfuzzer", "A.m");
        rows(&finding, &interleaving(lines), all)
    }

    fn check(lines: &[&str], expected: &[Row]) {
        assert_eq!(rows_of(lines, false), expected, "{lines:?}");
    }

    #[test]
    fn steps_that_do_not_matter_are_folded() {
        use Row::{Folded, Step, Switch};
        check(
            &[
                "0 block-enter outer",
                "0 acquire z",
                "0 block-enter inner entered",
                "0 acquire x",
                "0 acquire y",
                "0 release x committed",
                "1 acquire x interfered",
                "1 read z",
                "0 acquire x violated",
                "0 block-exit inner",
                "0 block-exit outer",
                "0 throw E",
            ],
            &[
                Folded(2),
                Step(2),
                Step(3),
                Step(4),
                Step(5),
                Switch(0, 1),
                Step(6),
                Step(7),
                Switch(1, 0),
                Step(8),
                Step(9),
                Step(10),
                Step(11),
            ],
        );
    }

    #[test]
    fn without_roles_beginning_and_end_are_shown() {
        let lines = vec!["0 read x"; 100];
        let rows = rows_of(&lines, false);
        assert_eq!(rows.len(), MOST_UNMARKED + 1);
        assert_eq!(rows[MOST_UNMARKED / 2], Row::Folded(100 - MOST_UNMARKED as u64));
        assert_eq!(rows_of(&lines, true).len(), 100);
    }

    #[test]
    fn a_failure_is_shown_with_the_steps_before_it() {
        let mut lines = vec!["0 acquire x"; 100];
        lines.push("0 throw E failed");
        let rows = rows_of(&lines, false);
        assert_eq!(rows.len(), MOST_BEFORE_FAILURE + 1);
        assert_eq!(rows[0], Row::Folded(101 - MOST_BEFORE_FAILURE as u64));
        assert_eq!(rows.last(), Some(&Row::Step(100)));
    }

    #[test]
    fn too_many_important_steps_are_reduced_to_close_ones() {
        let mut lines = vec!["0 acquire x"; 300];
        lines[150] = "0 acquire x acquired";
        let rows = rows_of(&lines, false);
        assert_eq!(rows.len(), 2 + 2 * CLOSE + 1, "{rows:?}");
        assert_eq!(rows[0], Row::Folded(146));
    }

    #[test]
    fn steps_of_unlisted_threads_are_shown() {
        let rows = rows_of(&["7 block-enter x entered", "7 block-exit x"], false);
        assert_eq!(rows, [Row::Step(0), Row::Step(1)]);
    }
}
