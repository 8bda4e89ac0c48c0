//! The candidate causes of a failure: goals of the runs that failed, violations in them, lock cycles and notifications.

use std::cmp::Reverse;

use fissure_model::{
    finding::{Finding, Kind, Site},
    goal::{AccessGoal, AcquireGoal, Act, ChanceGoal, Goal, GoalSite, Shape},
    prevention::Prevention,
};

use super::marks;
use crate::merge::{Merged, Shown};

/// How many candidates are tried.
const MOST: usize = 8;
/// How many goals are tried against a candidate that is prevented, and how many of them are left to chance.
const MOST_ADVERSARIES: usize = 16;
const CHANCES: usize = 4;

/// A possible cause.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Candidate {
    /// What prevents it.
    pub(super) prevention: Prevention,
    /// The goal that makes it happen; `None` if no goal does.
    pub(super) goal: Option<Goal>,
    /// The violation that it is, if it is one.
    pub(super) violation: Option<String>,
    /// Whether no run had it as its goal.
    pub(super) is_remote_chance: bool,
}

impl Candidate {
    fn new(prevention: Prevention, goal: Option<Goal>) -> Self {
        Candidate { prevention, goal, violation: None, is_remote_chance: false }
    }

    /// Whether it is only an order of two operations.
    pub(super) fn is_order(&self) -> bool {
        matches!(self.prevention, Prevention::Early { .. })
    }

    /// Whether it is about the same variable in the same method as another one, so that one lock would prevent both.
    pub(super) fn is_about_same(&self, other: &Candidate) -> bool {
        match (&self.prevention, &other.prevention) {
            (Prevention::Between { first: one, .. }, Prevention::Between { first: other, .. }) => {
                one.name == other.name && method(&one.site) == method(&other.site)
            }
            _ => false,
        }
    }
}

/// The candidates for a finding, those that explain most first. The search knows these goals at accesses.
pub(super) fn candidates(merged: &Merged, shown: &Shown, known_goals: &[AccessGoal]) -> Vec<Candidate> {
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
    goals.sort_by_key(|(goal, count)| (rank(goal), extent(goal).0, Reverse(*count), extent(goal)));
    let goals: Vec<AccessGoal> = goals.into_iter().map(|(goal, _)| goal).collect();
    for goal in &goals {
        let Some(prevention) = Prevention::of(goal) else { continue };
        add(Candidate::new(prevention, Some(Goal::Accesses(goal.clone()))));
    }
    // Three accesses in a row need one lock, and not two.
    for goal in &goals {
        for other in goals.iter().chain(known_goals) {
            let Some(prevention) = joined(goal, other) else { continue };
            add(Candidate::new(prevention, Some(Goal::Accesses(goal.clone()))));
        }
    }
    // Interleavings that happened in the failing run, although it did not try to make them happen.
    let happened = |goal: &&AccessGoal| {
        let prevention = Prevention::of(goal);
        let steps = finding.interleaving.as_ref().zip(prevention);
        steps.is_some_and(|(steps, prevention)| marks::steps(steps, &prevention).is_some())
    };
    let mut others: Vec<&AccessGoal> =
        known_goals.iter().filter(|_| !goals.is_empty()).filter(happened).collect();
    others.sort_by_key(|goal| (rank(goal), extent(goal)));
    for goal in others {
        let Some(prevention) = Prevention::of(goal) else { continue };
        let candidate = Candidate::new(prevention, Some(Goal::Accesses(goal.clone())));
        add(Candidate { is_remote_chance: true, ..candidate });
    }
    for (_, goal, _) in &hits {
        // The choices that lead to the acquires belong to the goal: without them few runs reach it.
        let Some(Goal::Acquires(goal)) = goal.clone() else { continue };
        if goal.is_order {
            let site =
                |site: &str| GoalSite { site: site.to_owned(), act: Act::Acquire, name: String::new() };
            let (early, expected) = (site(&goal.remote), site(&goal.local));
            let prevention = Prevention::Early { early, expected };
            add(Candidate::new(prevention, Some(Goal::Acquires(goal))));
        } else if merged.violations_of(&shown.id).next().is_none() && finding.kind == Kind::Failure {
            // Without an atomic block, the later acquire is that of a notified thread.
            let prevention = Prevention::Overtaken { wait: goal.local.clone() };
            add(Candidate::new(prevention, Some(Goal::Acquires(goal))));
        }
    }
    candidates.sort_by_key(|candidate| candidate.is_remote_chance);
    candidates.truncate(MOST);
    candidates
}

/// Goals that may make the program fail although a candidate is prevented: other interleavings of the same variables, and chance.
pub(super) fn adversaries(candidates: &[Candidate], known_goals: &[AccessGoal]) -> Vec<Goal> {
    let names: Vec<&str> = candidates
        .iter()
        .filter(|candidate| !candidate.is_remote_chance)
        .filter_map(|candidate| match &candidate.prevention {
            Prevention::Between { first, .. } => Some(first.name.as_str()),
            Prevention::Early { early, .. } => Some(early.name.as_str()),
            _ => None,
        })
        .collect();
    let is_about = |goal: &&AccessGoal| names.contains(&goal.last().name.as_str());
    let mut goals: Vec<Goal> = Vec::new();
    if let Some(goal) = candidates.iter().find_map(|candidate| candidate.goal.as_ref())
        && let Some((points, instrumented)) = goal.access_points()
    {
        let chance = ChanceGoal::at_accesses(points, instrumented.to_vec());
        goals.extend(vec![Goal::Chance(chance); CHANCES]);
    }
    let others = known_goals.iter().filter(is_about).take(MOST_ADVERSARIES);
    goals.extend(others.cloned().map(Goal::Accesses));
    goals
}

/// One part for two interleavings of the same variable in one method, if the second one begins where the first one ends.
fn joined(one: &AccessGoal, other: &AccessGoal) -> Option<Prevention> {
    let both = [one, other].map(Prevention::of);
    let [
        Some(Prevention::Between { first: a, last: b, remote: mut landing }),
        Some(Prevention::Between { first: c, last: d, remote: others }),
    ] = both
    else {
        return None;
    };
    landing.extend(others);
    landing.sort();
    landing.dedup();
    let (first, last) = if b == c && a != d {
        (a, d)
    } else if d == a && c != b {
        (c, b)
    } else {
        return None;
    };
    let is_one_method = method(&first.site) == method(&last.site);
    is_one_method.then_some(Prevention::Between { first, last, remote: landing })
}

/// The goal without the choices that a run makes first.
pub(super) fn plain(goal: Goal) -> Goal {
    match goal {
        Goal::Accesses(goal) => Goal::Accesses(AccessGoal { prefix: None, ..goal }),
        Goal::Acquires(goal) => Goal::Acquires(AcquireGoal { prefix: None, ..goal }),
        goal @ (Goal::Set(_) | Goal::Race(_) | Goal::Chance(_)) => goal,
    }
}

/// Two local accesses and a remote one explain more than an order, accesses explain more than the acquires around them.
fn rank(goal: &AccessGoal) -> (u8, bool) {
    let shape = match goal.shape() {
        Shape::Interleaving => 0,
        Shape::DoubleInterleaving => 1,
        Shape::Reordering => 2,
        Shape::Delay => 3,
    };
    (shape, goal.last().act == Act::Acquire)
}

fn is_sequential(goal: &Option<Goal>) -> bool {
    matches!(goal, Some(Goal::Accesses(goal)) if goal.is_sequential)
}

/// How many lines lie between the local accesses: the narrower part explains more. Parts of two methods come last.
fn extent(goal: &AccessGoal) -> (bool, u32) {
    let split = |site: &str| {
        let line = site.rsplit_once(':').and_then(|(_, line)| line.parse::<u32>().ok());
        (method(site).to_owned(), line.unwrap_or_default())
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
    preventions.into_iter().map(|prevention| Candidate::new(prevention, None)).collect()
}

/// The block of an atomicity violation, in which another thread acquires the lock between two acquires.
fn violation_of_block(finding: &Finding, hits: &[(u64, Option<Goal>, bool)]) -> Option<Candidate> {
    let site = |role: &str| finding.sites.iter().find(|site| site.role == role);
    let (first, last, remote) = (site("acquired")?, site("reacquired")?, site("interfered")?);
    let acquire = |site: &Site| GoalSite { site: text(site), act: Act::Acquire, name: String::new() };
    let prevention =
        Prevention::Between { first: acquire(first), last: acquire(last), remote: vec![acquire(remote)] };
    let is_it = |goal: &&AcquireGoal| !goal.is_order && goal.local == text(last);
    let known = hits.iter().filter_map(|(_, goal, _)| match goal {
        Some(Goal::Acquires(goal)) => Some(goal),
        _ => None,
    });
    let mut known = known.filter(is_it);
    let made = || AcquireGoal::new(text(last), text(remote));
    let goal = known.next().cloned().map_or_else(made, |goal| AcquireGoal { prefix: None, ..goal });
    let candidate = Candidate::new(prevention, Some(Goal::Acquires(goal)));
    Some(Candidate { violation: Some(finding.id.clone()), ..candidate })
}

/// The site as goals name it.
fn text(site: &Site) -> String {
    match site.line {
        Some(line) => format!("{}.{}:{line}", site.class, site.method),
        None => format!("{}.{}", site.class, site.method),
    }
}

fn method(site: &str) -> &str {
    site.rsplit_once(':').map_or(site, |(method, _)| method)
}
