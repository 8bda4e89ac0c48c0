//! Interleavings of accesses: the candidates that a run reports, and the role of an operation in the goal of the run. The terms (local
//! accesses, remote access) are those of AVIO (Lu et al., ASPLOS 2006); forcing such interleavings follows CTrigger (Park et al., ASPLOS
//! 2009).
//!
//! Calls of methods of collections and atomics by classes in scope are accesses to their contents. Threads are not preempted inside of
//! such a call, so each call is one access, which happens when the call begins.

use fissure_analysis::interleavings::{Act as CandidateAct, Candidate, CandidateSite};
use fissure_model::{
    event::AccessKind,
    goal::{AccessGoal, Act, Goal, GoalAccesses, GoalSite},
    ids::{LocationId, SiteId, ThreadId},
};
use fissure_schedule::{operation::Operation, strategy::GoalRole};
use rustc_hash::FxHashMap;

use super::{State, explanation, site_flags};
use crate::{agent::Agent, mutex::locked, sites::Target};

/// How far each further candidate for the same name ranks behind the one before.
const TURN: usize = 4;
/// How far local accesses in two methods rank behind local accesses in one method.
const APART: usize = 2;

/// Distinguishes locks from locations.
const LOCK: u64 = 1 << 63;

/// Whether the run reports interleavings of accesses.
pub(super) fn are_wanted(agent: &Agent) -> bool {
    agent.settings.control.as_ref().is_some_and(|control| control.wanted.interleavings)
}

/// Whether an access is no scheduling point because the program is in a single-threaded phase, where no remote access is possible.
/// A program may make very many accesses before it starts its threads.
#[inline]
pub(super) fn is_skipped(agent: &Agent, state: &State, thread: ThreadId) -> bool {
    are_wanted(agent) && state.conductor.is_alone(thread)
}

/// The role of an access at a site with these flags in the goal of the run.
pub(super) fn role(agent: &Agent, location: LocationId, flags: i32) -> GoalRole {
    let Some(Goal::Accesses(goal)) = agent.goal() else { return GoalRole::default() };
    // Accesses under a lock may be to another location than the lock of the goal.
    let place = if goal.last().act == Act::Acquire { 0 } else { location.0 };
    GoalRole { letters: site_flags::letters(flags), place, ..GoalRole::default() }
}

/// The role of acquiring a lock at a site with these flags.
pub(super) fn lock_role(operation: &Operation, flags: i32) -> GoalRole {
    // An operation without a site has no flags.
    let has_place = operation.site().is_some_and(|site| site.0 != 0);
    match operation.acquires().filter(|_| has_place) {
        Some(lock) => GoalRole {
            letters: site_flags::letters(flags),
            place: LOCK | u64::from(lock.0),
            ..GoalRole::default()
        },
        None => GoalRole::default(),
    }
}

/// Records an access after its scheduling point.
pub(super) fn touched(
    state: &mut State,
    thread: ThreadId,
    location: LocationId,
    is_write: bool,
    site: SiteId,
) {
    if let Some(observer) = state.conductor.observer() {
        let kind = if is_write { AccessKind::Write } else { AccessKind::Read };
        observer.touched(thread, location.0, kind, site);
    }
}

/// The goals for other runs, most promising first, and whether candidates were left out. Local accesses in one method rank before
/// others, because they are more likely meant to be atomic.
pub(super) fn goals(agent: &Agent, state: &mut State) -> (Vec<Goal>, bool) {
    let Some(control) = &agent.settings.control else { return (Vec::new(), false) };
    let Some(observer) = state.conductor.observer() else { return (Vec::new(), false) };
    let (found, cut) = observer.interleavings();
    let site = |(site, act): CandidateSite| GoalSite {
        place: explanation::place(agent, site),
        name: if act == CandidateAct::Acquire { String::new() } else { name(agent, site) },
        act: match act {
            CandidateAct::Access(AccessKind::Read) => Act::Read,
            CandidateAct::Access(AccessKind::Write) => Act::Write,
            CandidateAct::Acquire => Act::Acquire,
        },
    };
    let goal = |found: &Candidate| {
        let (first, remote, last) = (found.first.map(site), found.remote.map(site), site(found.last));
        let class = |site: &GoalSite| method(&site.place).rsplit_once('.').map(|(class, _)| class.to_owned());
        let sites = [first.as_ref(), remote.as_ref(), Some(&last)];
        let is_inside =
            sites.into_iter().flatten().flat_map(class).any(|class| agent.scope.is_on_demand(&class));
        // Goals in the application's own code need no thread-unsafe JDK classes to be instrumented.
        let instrumented = if is_inside { control.instrumented.clone() } else { Vec::new() };
        let accesses = GoalAccesses::new(first, remote, last)?;
        let points = control.accesses;
        Some(AccessGoal { points, is_sequential: false, instrumented, accesses, prefix: None })
    };
    let mut goals: Vec<(u8, bool, AccessGoal)> = Vec::new();
    for found in &found {
        // An interleaving always has a remote access.
        let Some(goal) = goal(found) else { continue };
        let is_apart = goal.first().is_some_and(|first| method(&first.place) != method(&goal.last().place));
        if goals.iter().all(|(.., known)| *known != goal) {
            goals.push((found.rank, is_apart, goal));
        }
    }
    goals.sort_by_key(|(rank, is_apart, _)| (*is_apart, *rank));
    // A name that is accessed at many sites has many candidates, which must not delay those of other names.
    let mut numbers: FxHashMap<(bool, String), usize> = FxHashMap::default();
    for (rank, is_apart, goal) in &mut goals {
        let number = numbers.entry((goal.first().is_some(), goal.last().name.clone())).or_default();
        let behind = *number * TURN + if *is_apart { APART } else { 0 };
        *rank = rank.saturating_add(u8::try_from(behind).unwrap_or(u8::MAX));
        *number += 1;
    }
    goals.sort_by_key(|(rank, ..)| *rank);
    (goals.into_iter().map(|(.., goal)| Goal::Accesses(goal)).collect(), cut > 0)
}

/// The name of the field or variable that is accessed at a site.
fn name(agent: &Agent, site: SiteId) -> String {
    let code = locked(&agent.code);
    match code.sites.get(site.0).map(|info| &info.target) {
        Some(Target::Field { name, .. } | Target::Local(Some(name))) => name.to_string(),
        _ => String::new(),
    }
}

fn method(place: &str) -> &str {
    place.rsplit_once(':').map_or(place, |(method, _)| method)
}
