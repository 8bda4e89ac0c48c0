//! Interleavings of accesses: the candidates that a run reports, and the role of an operation in the goal of the run. The terms (local
//! accesses, remote access) are those of AVIO (Lu et al., ASPLOS 2006); forcing such interleavings follows CTrigger (Park et al., ASPLOS
//! 2009).
//!
//! Calls of methods of collections and atomics by classes in scope are accesses to their contents. Threads are not preempted inside of
//! such a call, so each call is one access, which happens when the call begins.

use fissure_analysis::interleavings::{Act as CandidateAct, Candidate, CandidateSite};
use fissure_model::{
    event::AccessKind,
    goal::{AccessGoal, Act, Goal, GoalAccesses, GoalSite, Role},
    ids::{LocationId, SiteId, ThreadId},
};
use fissure_schedule::{operation::Operation, strategy::GoalRole};
use rustc_hash::FxHashMap;

use crate::{
    ControlledRun, flags as site_flags,
    front_end::{FrontEnd, site_text},
};

/// How far each further candidate for the same name ranks behind the one before.
const TURN: usize = 4;
/// How far local accesses in two methods rank behind local accesses in one method.
const APART: usize = 2;

/// Distinguishes locks from locations.
const LOCK: u64 = 1 << 63;

/// The role of acquiring a lock at a site with these flags.
pub(crate) fn lock_role(operation: &Operation, flags: i32) -> GoalRole {
    // An operation without a site has no flags.
    let has_site = operation.site().is_some_and(|site| site.0 != 0);
    match operation.acquires().filter(|_| has_site) {
        Some(lock) => GoalRole {
            letters: site_flags::letters(flags),
            location: LOCK | u64::from(lock.0),
            ..GoalRole::default()
        },
        None => GoalRole::default(),
    }
}

impl ControlledRun {
    /// The role of an access at a site with these flags in the goal of the run.
    pub(crate) fn access_role(&self, location: LocationId, flags: i32) -> GoalRole {
        let Some(Goal::Accesses(goal)) = self.goal.as_deref() else { return GoalRole::default() };
        // Accesses under a lock may be to another location than the lock of the goal.
        let location = if goal.last().act == Act::Acquire { 0 } else { location.0 };
        GoalRole { letters: site_flags::letters(flags), location, ..GoalRole::default() }
    }

    /// Records an access after its scheduling point.
    pub(crate) fn note_access(
        &mut self,
        thread: ThreadId,
        location: LocationId,
        is_write: bool,
        site: SiteId,
    ) {
        let Some(observer) = self.conductor.observer() else { return };
        let kind = if is_write { AccessKind::Write } else { AccessKind::Read };
        observer.touched(thread, location.0, kind, site);
        // Calls of collections and atomics do not race, and neither do volatile fields.
        if observer.wants_races() && self.points.field(location).is_some_and(|field| !field.is_volatile) {
            observer.accessed(thread, location, kind, site);
        }
    }

    /// The goals for other runs, most promising first, and whether candidates were left out. Local accesses in one method rank before
    /// others, because they are more likely meant to be atomic.
    pub(crate) fn interleaving_goals(&mut self, front: &dyn FrontEnd) -> (Vec<Goal>, bool) {
        let Some(observer) = self.conductor.observer() else { return (Vec::new(), false) };
        let (found, cut) = observer.interleavings();
        let site = |(site, act): CandidateSite| GoalSite {
            site: site_text(front, site),
            name: if act == CandidateAct::Acquire { String::new() } else { name(front, site) },
            act: match act {
                CandidateAct::Access(AccessKind::Read) => Act::Read,
                CandidateAct::Access(AccessKind::Write) => Act::Write,
                CandidateAct::Acquire => Act::Acquire,
            },
        };
        let goal = |found: &Candidate| {
            let accesses = GoalAccesses::new(found.shape, |role: Role| found.get(role).map(site))
                .expect("a candidate has the accesses of its shape");
            let class =
                |site: &GoalSite| method(&site.site).rsplit_once('.').map(|(class, _)| class.to_owned());
            let is_inside = accesses.sites().iter().filter_map(class).any(|class| front.is_on_demand(&class));
            // Goals in the application's own code need no thread-unsafe JDK classes to be instrumented.
            let instrumented = if is_inside { self.instrumented.clone() } else { Vec::new() };
            AccessGoal {
                points: self.access_points,
                is_sequential: false,
                instrumented,
                accesses,
                prefix: None,
            }
        };
        let mut goals: Vec<(u8, bool, AccessGoal)> = Vec::new();
        for found in &found {
            let goal = goal(found);
            let is_apart = goal.first().is_some_and(|first| method(&first.site) != method(&goal.last().site));
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
}

/// The name of the field or variable that is accessed at a site.
fn name(front: &dyn FrontEnd, site: SiteId) -> String {
    front.site(site).and_then(|site| site.variable).map(|variable| variable.name).unwrap_or_default()
}

fn method(site: &str) -> &str {
    site.rsplit_once(':').map_or(site, |(method, _)| method)
}
