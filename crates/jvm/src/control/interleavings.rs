//! Accesses that could come in between others: what a run tells of them, and what an operation is to the one that a run looks for.
//!
//! Calls of the methods of collections and atomics by classes in scope are accesses to what these hold. Nobody is interrupted inside of
//! them, so that each is one access, which is made when the call begins.

use fissure_analysis::interleavings::{Act as CandidateAct, Candidate, CandidateSite};
use fissure_model::{
    event::AccessKind,
    goal::{AccessGoal, Act, Goal, GoalSite},
    ids::{LocationId, SiteId, ThreadId},
};
use fissure_schedule::{operation::Operation, strategy::GoalRole};
use rustc_hash::FxHashMap;

use super::{State, explanation, site_flags};
use crate::{agent::Agent, mutex::locked, sites::Target};

/// By how much another interleaving into the same thing ranks behind the one before, and one into what two methods do behind one into
/// what a method does.
const TURN: usize = 4;
const APART: usize = 2;

/// Tells locks from locations.
const LOCK: u64 = 1 << 63;

/// Whether accesses that could come in between are wanted.
pub(super) fn are_wanted(agent: &Agent) -> bool {
    agent.settings.control.as_ref().is_some_and(|control| control.wanted.interleavings)
}

/// Whether an access passes without a stop, for nothing can come in between where there is nobody else. What a program does before it
/// starts its threads may be very much.
#[inline]
pub(super) fn pass(agent: &Agent, state: &State, thread: ThreadId) -> bool {
    are_wanted(agent) && state.conductor.is_alone(thread)
}

/// What an access at a site with these flags is to the interleaving that is looked for.
pub(super) fn role(agent: &Agent, location: LocationId, flags: i32) -> GoalRole {
    let Some(Goal::Accesses(goal)) = agent.goal() else { return GoalRole::default() };
    // What is done under a lock may be with another thing than the lock that is looked for.
    let place = if goal.last.act == Act::Acquire { 0 } else { location.0 };
    GoalRole { letters: site_flags::letters(flags), place, ..GoalRole::default() }
}

/// What getting a lock at a site with these flags is to it.
pub(super) fn lock_role(operation: &Operation, flags: i32) -> GoalRole {
    // What has no place of its own has no flags either.
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

/// A thread makes an access that it has stopped before.
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

/// What other runs may show, the likeliest first, and whether something was left out. Accesses in one method are meant to go together
/// rather than others.
pub(super) fn goals(agent: &Agent, state: &mut State) -> (Vec<Goal>, bool) {
    let Some(control) = &agent.settings.control else { return (Vec::new(), false) };
    let Some(observer) = state.conductor.observer() else { return (Vec::new(), false) };
    let (found, cut) = observer.interleavings();
    let site = |(site, deed): CandidateSite| GoalSite {
        place: explanation::place(agent, site),
        name: if deed == CandidateAct::Acquire { String::new() } else { name(agent, site) },
        act: match deed {
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
            sites.into_iter().flatten().flat_map(class).any(|class| agent.scope.is_inside(&class));
        // Runs for what the application does itself need not look into anything else.
        let instrumented = if is_inside { control.instrumented.clone() } else { Vec::new() };
        AccessGoal {
            points: control.accesses,
            is_sequential: false,
            instrumented,
            first,
            remote,
            last,
            prefix: None,
        }
    };
    let mut goals: Vec<(u8, bool, AccessGoal)> = Vec::new();
    for found in &found {
        let goal = goal(found);
        let is_apart =
            goal.first.as_ref().is_some_and(|first| method(&first.place) != method(&goal.last.place));
        if goals.iter().all(|(.., known)| *known != goal) {
            goals.push((found.rank, is_apart, goal));
        }
    }
    goals.sort_by_key(|(rank, is_apart, _)| (*is_apart, *rank));
    // What is accessed at many places has as many, which must not keep all others waiting.
    let mut numbers: FxHashMap<(bool, String), usize> = FxHashMap::default();
    for (rank, is_apart, goal) in &mut goals {
        let number = numbers.entry((goal.first.is_some(), goal.last.name.clone())).or_default();
        let behind = *number * TURN + if *is_apart { APART } else { 0 };
        *rank = rank.saturating_add(u8::try_from(behind).unwrap_or(u8::MAX));
        *number += 1;
    }
    goals.sort_by_key(|(rank, ..)| *rank);
    (goals.into_iter().map(|(.., goal)| Goal::Accesses(goal)).collect(), cut > 0)
}

/// The name of what is accessed at a site.
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
