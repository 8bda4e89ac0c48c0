//! The candidate causes of a failure: goals of the runs that failed, violations in them, lock cycles and notifications.

use std::cmp::Reverse;

use fissure_model::{
    finding::{Finding, Kind, Site},
    goal::{AccessGoal, AcquireGoal, Act, Goal, GoalSite},
    prevention::Prevention,
};

use crate::merge::{Merged, Shown};

/// How many candidates are tried.
const MOST: usize = 6;

/// A possible cause.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Candidate {
    /// What prevents it.
    pub(super) prevention: Prevention,
    /// The goal that makes it happen; `None` if no goal does.
    pub(super) goal: Option<Goal>,
    /// The violation that it is, if it is one.
    pub(super) violation: Option<String>,
}

/// The candidates for a finding, those that explain most first.
pub(super) fn candidates(merged: &Merged, shown: &Shown) -> Vec<Candidate> {
    let mut candidates: Vec<Candidate> = Vec::new();
    let mut add = |candidate: Candidate| match candidates
        .iter_mut()
        .find(|known| known.prevention == candidate.prevention)
    {
        // A goal with an otherwise sequential schedule makes a schedule that is easier to read.
        Some(known) if is_sequential(&candidate.goal) && !is_sequential(&known.goal) => {
            known.goal = candidate.goal;
        }
        Some(_) => {}
        None => candidates.push(candidate),
    };
    let Some(finding) = merged.finding(&shown.id) else { return Vec::new() };
    if finding.kind == Kind::Deadlock {
        deadlock(finding).into_iter().for_each(&mut add);
    }
    let hits = merged.hits(&shown.id);
    let violations = merged.violations_of(&shown.id);
    let own = (finding.kind == Kind::AtomicityViolation).then_some(finding);
    for violation in own.into_iter().chain(violations) {
        violation_of_block(violation, &hits).into_iter().for_each(&mut add);
    }
    let mut goals: Vec<(AccessGoal, usize)> = Vec::new();
    for (_, goal, _) in &hits {
        let Some(Goal::Accesses(goal)) = goal.clone().map(plain) else { continue };
        match goals.iter_mut().find(|(known, _)| *known == goal) {
            Some((_, count)) => *count += 1,
            None => goals.push((goal, 1)),
        }
    }
    goals.sort_by_key(|(goal, count)| (goal.shape().rank(), Reverse(*count), extent(goal)));
    for (goal, _) in goals {
        let prevention = Prevention::of(&goal);
        add(Candidate { prevention, goal: Some(Goal::Accesses(goal)), violation: None });
    }
    for (_, goal, _) in &hits {
        // The choices that lead to the acquires belong to the goal: without them few runs reach it.
        let Some(Goal::Acquires(goal)) = goal.clone() else { continue };
        if goal.is_order {
            let site = |site: &str| GoalSite { site: site.to_owned(), act: Act::Acquire, name: String::new() };
            let (early, expected) = (site(&goal.remote), site(&goal.local));
            let prevention = Prevention::Early { early, expected };
            add(Candidate { prevention, goal: Some(Goal::Acquires(goal)), violation: None });
        } else if merged.violations_of(&shown.id).next().is_none() && finding.kind == Kind::Failure {
            // Without an atomic block, the later acquire is that of a notified thread.
            let prevention = Prevention::Overtaken { wait: goal.local.clone() };
            add(Candidate { prevention, goal: Some(Goal::Acquires(goal)), violation: None });
        }
    }
    candidates.truncate(MOST);
    candidates
}

/// The goal without the choices that a run makes first.
pub(super) fn plain(goal: Goal) -> Goal {
    match goal {
        Goal::Accesses(goal) => Goal::Accesses(AccessGoal { prefix: None, ..goal }),
        Goal::Acquires(goal) => Goal::Acquires(AcquireGoal { prefix: None, ..goal }),
        goal @ (Goal::Set(_) | Goal::Race(_) | Goal::Chance(_)) => goal,
    }
}

fn is_sequential(goal: &Option<Goal>) -> bool {
    matches!(goal, Some(Goal::Accesses(goal)) if goal.is_sequential)
}

/// How many lines lie between the local accesses: the narrower part explains more. Parts of two methods come last.
fn extent(goal: &AccessGoal) -> (bool, u32) {
    let split = |site: &str| {
        let (method, line) = site.rsplit_once(':').unwrap_or((site, ""));
        (method.to_owned(), line.parse::<u32>().unwrap_or_default())
    };
    match goal.first().map(|first| (split(&first.site), split(&goal.last().site))) {
        Some(((first, from), (last, to))) => (first != last, from.abs_diff(to)),
        None => (true, 0),
    }
}

/// The lock cycle of a deadlock, or the notifications of a hang.
fn deadlock(finding: &Finding) -> Vec<Candidate> {
    let sites = |begin: &str| {
        let mut sites: Vec<String> =
            finding.sites.iter().filter(|site| site.role.starts_with(begin)).map(text).collect();
        sites.sort();
        sites.dedup();
        sites
    };
    let (outer, inner) = (sites("holds lock"), sites("waits for lock"));
    let preventions = match (outer.is_empty(), inner.is_empty()) {
        (false, false) => vec![Prevention::Cycle { outer, inner }],
        _ if !sites("waits to be notified").is_empty() => {
            vec![Prevention::SingleNotify, Prevention::LostNotify]
        }
        _ => Vec::new(),
    };
    let candidate = |prevention| Candidate { prevention, goal: None, violation: None };
    preventions.into_iter().map(candidate).collect()
}

/// The block of an atomicity violation, in which another thread acquires the lock between two acquires.
fn violation_of_block(finding: &Finding, hits: &[(u64, Option<Goal>, bool)]) -> Option<Candidate> {
    let site = |role: &str| finding.sites.iter().find(|site| site.role == role);
    let (first, last, remote) = (site("acquired")?, site("reacquired")?, site("interfered")?);
    let acquire = |site: &Site| GoalSite { site: text(site), act: Act::Acquire, name: String::new() };
    let prevention = Prevention::Between {
        first: acquire(first),
        last: acquire(last),
        remote: vec![acquire(remote)],
    };
    let is_it = |goal: &&AcquireGoal| !goal.is_order && goal.local == text(last);
    let known = hits.iter().filter_map(|(_, goal, _)| match goal {
        Some(Goal::Acquires(goal)) => Some(goal),
        _ => None,
    });
    let mut known = known.filter(is_it);
    let made = || AcquireGoal::new(text(last), text(remote));
    let goal = known.next().cloned().map_or_else(made, |goal| AcquireGoal { prefix: None, ..goal });
    Some(Candidate { prevention, goal: Some(Goal::Acquires(goal)), violation: Some(finding.id.clone()) })
}

/// The site as goals name it.
fn text(site: &Site) -> String {
    match site.line {
        Some(line) => format!("{}.{}:{line}", site.class, site.method),
        None => format!("{}.{}", site.class, site.method),
    }
}
