//! The flags of a site for the conductor: whether its lock is relevant, whether a block that should be atomic begins there, and its role
//! in the goal of the run. A front end computes them once for each site; bits 8 to 11 are its own.

use fissure_model::{
    event::AccessKind,
    goal::{Act, Goal, GoalSite, Role, SetGoal},
};
use fissure_schedule::strategy::GoalRole;

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

/// All flags of a site for its role in the goal.
pub const GOAL: i32 = AGAIN | BETWEEN | LATER | EARLIER | 0xf << LETTERS | 0xf << WINDOWS | GATE;

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
