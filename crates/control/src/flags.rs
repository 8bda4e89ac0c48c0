//! The flags of a site for the conductor: whether its lock is relevant, whether a block that should be atomic begins there, and its role
//! in the goal of the run. A front end computes them once for each site; bits 8 to 11 are its own.

use fissure_model::{
    event::AccessKind,
    goal::{Act, Goal, GoalSite, Role, SetGoal},
    prevention::{MOST, Prevention},
    settings::Control,
};
use fissure_schedule::{conductor::Parts, strategy::GoalRole};

/// Threads are not preempted here, and the lock is not relevant.
pub const QUIET: i32 = 1;
/// A block that should be atomic begins here.
pub const BLOCK: i32 = 2;
/// A block begins here that should be atomic if the application called its method.
pub const LIBRARY_BLOCK: i32 = 4;
/// The local acquire of the goal: the second one in its block.
pub const AGAIN: i32 = 8;
/// The remote acquire of the goal.
pub const BETWEEN: i32 = 16;
/// The acquire of the goal that shall come later.
pub const LATER: i32 = 64;
/// The acquire of the goal that shall come earlier.
pub const EARLIER: i32 = 128;
/// The site is in a class of the platform's library whose locks are relevant only if the application uses it.
pub const LIBRARY: i32 = 32;
/// The first of four bits, one for each event of the goal: the access may be this event.
const LETTERS: u32 = 12;
/// The first of four bits, one for each event: the lock acquired here must be released after this event.
const WINDOWS: u32 = 16;
/// The lock acquired here must not be held before the first event.
const GATE: i32 = 1 << 20;

/// The first of three bits, one for each prevention of the run: the operation begins a part that no other thread may disturb.
const BEGINS: u32 = 21;
/// The first of three bits: the operation ends such a part.
const ENDS: u32 = 24;
/// The first of three bits: the operation must not happen meanwhile.
const REMOTE: u32 = 27;
const _: () = assert!(REMOTE as usize + MOST <= 31, "the flags of preventions fit");

/// All flags of a site for its role in the goal and in the preventions of the run.
pub const GOAL: i32 =
    AGAIN | BETWEEN | LATER | EARLIER | 0xf << LETTERS | 0xf << WINDOWS | GATE | 0x1ff << BEGINS;

/// What a run tries to make happen, and what it prevents: both give sites a role.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Aim {
    /// The goal, if there is one.
    pub goal: Option<Goal>,
    /// What the run prevents.
    pub prevented: Vec<Prevention>,
}

impl Aim {
    /// The aim of a run with these settings.
    pub fn of(settings: &Control) -> Self {
        Aim { goal: settings.goal.clone(), prevented: settings.prevented.clone() }
    }

    /// The texts of the sites that have a role, each once.
    pub fn sites(&self) -> Vec<&str> {
        let mut sites = self.goal.as_ref().map_or_else(Vec::new, Goal::sites);
        sites.extend(self.prevented.iter().flat_map(Prevention::sites));
        sites.sort_unstable();
        sites.dedup();
        sites
    }

    /// Whether no site has a role.
    pub fn is_empty(&self) -> bool {
        self.goal.is_none() && self.prevented.is_empty()
    }

    /// The flags of a site: its text, the kind of access if it is one, and the name of the field or variable.
    pub fn flags(&self, text: &str, access: Option<AccessKind>, name: &str) -> i32 {
        let act = match access {
            Some(AccessKind::Read) => Act::Read,
            Some(AccessKind::Write) => Act::Write,
            None => Act::Acquire,
        };
        let parts = Parts::of(self.prevented.iter().take(MOST).map(|known| known.part(text, act, name)));
        goal_flags(text, access, name, self.goal.as_ref())
            | i32::from(parts.begins) << BEGINS
            | i32::from(parts.ends) << ENDS
            | i32::from(parts.remote) << REMOTE
    }
}

/// The parts of an operation at a site with these flags in the preventions of the run.
#[inline]
pub fn parts(flags: i32) -> Parts {
    let bits = |from: u32| (flags >> from & 0x7) as u8;
    Parts { begins: bits(BEGINS), ends: bits(ENDS), remote: bits(REMOTE) }
}

/// The flags of a site for its role in the goal: its text, the kind of access if it is one, and the name of the field or variable.
pub fn goal_flags(text: &str, access: Option<AccessKind>, name: &str, goal: Option<&Goal>) -> i32 {
    let access = access.map(|kind| kind == AccessKind::Write);
    match goal {
        None | Some(Goal::Chance(_)) => 0,
        Some(Goal::Acquires(pair)) => {
            let (first, second) = if pair.is_order { (LATER, EARLIER) } else { (AGAIN, BETWEEN) };
            let again = if text == pair.local { first } else { 0 };
            let remote = if text == pair.remote { second } else { 0 };
            again | remote
        }
        Some(Goal::Accesses(goal)) => {
            let act = match access {
                Some(false) => Act::Read,
                Some(true) => Act::Write,
                None => Act::Acquire,
            };
            let is_named = |site: &GoalSite| act == Act::Acquire || site.name == name;
            let is_meant = |site: &GoalSite| site.act == act && site.site == text && is_named(site);
            bits(LETTERS, Role::ALL.into_iter().map(|role| goal.get(role).is_some_and(is_meant)))
        }
        Some(Goal::Race(race)) => {
            let is_meant = |write, there: &str| access == Some(write) && there == text;
            bits(LETTERS, race.accesses.iter().map(|access| is_meant(access.write, &access.site)))
        }
        Some(Goal::Set(goal)) if access.is_some() => {
            bits(LETTERS, goal.events.iter().map(|event| access == Some(event.write) && event.site == text))
        }
        Some(Goal::Set(goal)) => {
            let is_gate = goal.gate.as_ref().is_some_and(|gate| gate.site == text);
            let windows = goal.windows.iter().map(|window| window.iter().any(|site| site == text));
            bits(WINDOWS, windows) | if is_gate { GATE } else { 0 }
        }
    }
}

fn bits(from: u32, holds: impl Iterator<Item = bool>) -> i32 {
    holds
        .take(4)
        .enumerate()
        .fold(0, |bits, (letter, holds)| bits | i32::from(holds) << (from + letter as u32))
}

/// The events that an access at a site with these flags may be.
pub fn letters(flags: i32) -> u8 {
    (flags >> LETTERS & 0xf) as u8
}

/// The role of acquiring a lock at a site with these flags, in a calling context with this hash.
pub fn lock_role(flags: i32, goal: Option<&Goal>, context: u64) -> GoalRole {
    let is_gate = flags & GATE != 0
        && match goal {
            Some(Goal::Set(SetGoal { gate: Some(gate), .. })) => gate.context == format!("{context:x}"),
            _ => false,
        };
    GoalRole { windows: (flags >> WINDOWS & 0xf) as u8, is_gate, ..GoalRole::default() }
}

/// The name of a site for users and other runs.
pub fn site_text(class: &str, method: &str, line: Option<u32>) -> String {
    match line {
        Some(line) => format!("{class}.{method}:{line}"),
        None => format!("{class}.{method}"),
    }
}
