//! Marks the steps of a proved cause in the explanation of its finding, so that reports can number them.

use fissure_model::{
    finding::{Finding, Site},
    goal::{Act, GoalSite},
    interleaving::{Action, Interleaving, Step},
    prevention::Prevention,
};

/// Gives the steps of the first proved cause a role, and the finding a site for each of them, before its other sites.
pub(crate) fn mark(finding: &mut Finding) {
    let Some(cause) = finding.judgement.as_ref().and_then(|judgement| judgement.causes.first()) else {
        return;
    };
    let prevention = cause.prevention.clone();
    let Some(interleaving) = &mut finding.interleaving else { return };
    // Violations have sites for the same steps already.
    let steps = steps(interleaving, &prevention).unwrap_or_default();
    if steps.is_empty() || steps.iter().any(|at| interleaving.steps[*at].role.is_some()) {
        return;
    }
    let mut sites = Vec::new();
    for at in steps {
        let step = &mut interleaving.steps[at];
        let role = role(step, &prevention);
        step.role = Some(role.clone());
        let thread = interleaving.threads.get(step.thread).cloned().unwrap_or_default();
        let Some(frame) = step.at.clone() else { continue };
        sites.push(Site {
            role,
            thread,
            class: frame.class.clone(),
            method: frame.method.clone(),
            file: frame.file.clone(),
            line: frame.line,
            stack: vec![frame],
            locks: Vec::new(),
        });
    }
    sites.append(&mut finding.sites);
    finding.sites = sites;
}

/// The steps of what is prevented, if it happened in these steps.
pub(super) fn steps(interleaving: &Interleaving, prevention: &Prevention) -> Option<Vec<usize>> {
    match prevention {
        Prevention::Between { first, last, remote } => between(interleaving, first, last, remote),
        Prevention::Early { early, expected } => {
            let early = last_step(interleaving, interleaving.steps.len(), early, |_| true)?;
            let is_other = |at: &usize| interleaving.steps[*at].thread != interleaving.steps[early].thread;
            let mut expected = matching(interleaving, expected).filter(is_other);
            // The access that must come first has not happened yet.
            let comes_first = expected.clone().any(|at| at < early);
            (!comes_first).then(|| std::iter::once(early).chain(expected.next()).collect())
        }
        Prevention::Overtaken { wait } => overtaken(interleaving, wait),
        // The sites of a deadlock are its cause.
        Prevention::Cycle { .. } | Prevention::SingleNotify | Prevention::LostNotify => None,
    }
}

/// The last remote step with a local one on each side. With two remote accesses, both.
fn between(
    interleaving: &Interleaving,
    first: &GoalSite,
    last: &GoalSite,
    remote: &[GoalSite],
) -> Option<Vec<usize>> {
    let ends: Vec<usize> = matching(interleaving, last).collect();
    for &end in ends.iter().rev() {
        let local = interleaving.steps[end].thread;
        let begins = last_step(interleaving, end, first, |step| step.thread == local);
        let Some(begin) = begins else { continue };
        let mut steps = vec![begin];
        let mut from = begin;
        for site in remote {
            let is_inside = |at: &usize| *at > from && *at < end && interleaving.steps[*at].thread != local;
            // Any conflicting access has the same effect as the one that was tried first.
            let found = matching(interleaving, site).find(is_inside);
            let Some(found) = found.or_else(|| conflicting(interleaving, begin, end)) else { break };
            steps.push(found);
            from = found;
        }
        if steps.len() > 1 {
            steps.push(end);
            return Some(steps);
        }
    }
    None
}

/// The wait, the acquire of another thread, and the acquire of the notified thread.
fn overtaken(interleaving: &Interleaving, wait: &str) -> Option<Vec<usize>> {
    let site = GoalSite { site: wait.to_owned(), act: Act::Acquire, name: String::new() };
    let steps = &interleaving.steps;
    let again = last_step(interleaving, steps.len(), &site, |_| true)?;
    let is_of = |step: &Step, action: Action| step.action == action && step.object == steps[again].object;
    let waits = (0..again)
        .rev()
        .find(|at| is_of(&steps[*at], Action::Wait) && steps[*at].thread == steps[again].thread)?;
    let remote = (waits..again)
        .rev()
        .find(|at| is_of(&steps[*at], Action::Acquire) && steps[*at].thread != steps[again].thread)?;
    Some(vec![waits, remote, again])
}

/// A write of another thread to the same location between two steps.
fn conflicting(interleaving: &Interleaving, begin: usize, end: usize) -> Option<usize> {
    let steps = &interleaving.steps;
    (begin + 1..end).find(|at| {
        let step = &steps[*at];
        step.thread != steps[end].thread
            && step.object == steps[end].object
            && matches!(step.action, Action::Write | Action::Acquire)
    })
}

/// The steps at a site, in their order.
fn matching<'a>(
    interleaving: &'a Interleaving,
    site: &'a GoalSite,
) -> impl Iterator<Item = usize> + Clone + 'a {
    (0..interleaving.steps.len()).filter(|at| is_at(&interleaving.steps[*at], site))
}

/// The last step at a site before another one.
fn last_step(
    interleaving: &Interleaving,
    before: usize,
    site: &GoalSite,
    is_meant: impl Fn(&Step) -> bool,
) -> Option<usize> {
    let mut steps = (0..before).rev();
    steps.find(|at| is_at(&interleaving.steps[*at], site) && is_meant(&interleaving.steps[*at]))
}

fn is_at(step: &Step, site: &GoalSite) -> bool {
    let is_act = match site.act {
        Act::Read => step.action == Action::Read,
        Act::Write => step.action == Action::Write,
        Act::Acquire => step.action == Action::Acquire,
    };
    let is_named = site.act == Act::Acquire
        || site.name.is_empty()
        || step.object.rsplit('.').next().is_some_and(|name| name == site.name)
        || !step.object.contains('.');
    let is_there = step.at.as_ref().is_some_and(|frame| match frame.line {
        Some(line) => site.site == format!("{}.{}:{line}", frame.class, frame.method),
        None => site.site == format!("{}.{}", frame.class, frame.method),
    });
    is_act && is_named && is_there
}

/// The role of a step of a cause, as the verb of a sentence.
fn role(step: &Step, prevention: &Prevention) -> String {
    // Elements of arrays and local variables have no name of their own.
    let named = match prevention {
        Prevention::Between { first, .. } => first.name.as_str(),
        Prevention::Early { early, .. } => early.name.as_str(),
        _ => "",
    };
    let name = if named.is_empty() { step.object.rsplit('.').next().unwrap_or_default() } else { named };
    match (step.action, &step.called) {
        (_, Some(called)) => format!("calls `{name}.{called}`"),
        (Action::Read, _) => format!("reads `{name}`"),
        (Action::Write, _) => format!("writes `{name}`"),
        (Action::Wait, _) => format!("waits to be notified {}", step.object),
        _ => format!("acquires {}", step.object),
    }
}
