//! The flags of a site for the conductor: whether its lock is relevant, whether a block that should be atomic begins there, and its role
//! in the goal of the run.

use fissure_classfile::{ArraySource, Site, SiteKind, SiteTarget};
use fissure_model::goal::{Act, Goal, GoalSite, SetGoal};
use fissure_schedule::strategy::GoalRole;

/// Threads are not preempted here, and the lock is not relevant.
pub(crate) const QUIET: i32 = 1;
/// A block that should be atomic begins here.
pub(crate) const BLOCK: i32 = 2;
/// A block begins here that should be atomic if the application called its method.
pub(crate) const LIBRARY_BLOCK: i32 = 4;
/// The local acquire of the goal: the second one in its block.
pub(crate) const AGAIN: i32 = 8;
/// The remote acquire of the goal.
pub(crate) const BETWEEN: i32 = 16;
/// The acquire of the goal that shall come later.
pub(crate) const LATER: i32 = 64;
/// The acquire of the goal that shall come earlier.
pub(crate) const EARLIER: i32 = 128;
/// The site is in a JDK class whose locks are relevant only if the application uses it.
pub(crate) const LIBRARY: i32 = 32;
/// The first of four bits, one for each event of the goal: the access may be this event.
const LETTERS: u32 = 12;
/// The first of four bits, one for each event: the lock acquired here must be released after this event.
const WINDOWS: u32 = 16;
/// The lock acquired here must not be held before the first event.
const GATE: i32 = 1 << 20;

const PUBLIC: u16 = 1;

/// The flags of a site in the class of this name. `has_blocks` says whether blocks of a class outside of the application count if the
/// application calls them.
pub(crate) fn flags(
    site: &Site<'_>,
    class: &str,
    is_application: bool,
    is_jdk: bool,
    has_blocks: bool,
    target: Option<&Goal>,
) -> i32 {
    let mut flags = 0;
    let begins_block = matches!(site.kind, SiteKind::Enter | SiteKind::EnterMethod | SiteKind::Block);
    // Sites in scope are relevant even in JDK classes.
    if !is_application && is_quiet(class, is_jdk) {
        flags |= QUIET;
    } else if begins_block && is_application {
        // A thread's `run` method spans its whole life and is not meant to be atomic.
        if site.kind != SiteKind::EnterMethod || site.method != "run" {
            flags |= BLOCK;
        }
    } else if begins_block && has_blocks && site.access & PUBLIC != 0 {
        flags |= LIBRARY_BLOCK;
    }
    if is_jdk {
        flags |= LIBRARY;
    }
    if target.is_some() {
        let place = place(class, site.method, site.line.map(u32::from));
        flags |= goal_flags(&place, site.kind, name(&site.target), target);
    }
    flags
}

/// The name of the field or variable that is accessed at a site.
fn name<'a>(target: &SiteTarget<'a>) -> &'a str {
    match target {
        SiteTarget::Field { name, .. } => name,
        SiteTarget::ArrayElement { source } | SiteTarget::Contents { source } => match source {
            ArraySource::Field { name, .. } => name,
            ArraySource::Local { name, .. } => name.unwrap_or_default(),
            ArraySource::Unknown => "",
        },
        _ => "",
    }
}

/// The flags of a site for its role in the goal.
pub(crate) fn goal_flags(place: &str, kind: SiteKind, name: &str, target: Option<&Goal>) -> i32 {
    let access = match kind {
        SiteKind::Read => Some(false),
        SiteKind::Write => Some(true),
        _ => None,
    };
    match target {
        None => 0,
        Some(Goal::Acquires(pair)) => {
            let (first, second) = if pair.is_order { (LATER, EARLIER) } else { (AGAIN, BETWEEN) };
            let again = if place == pair.local { first } else { 0 };
            let remote = if place == pair.remote { second } else { 0 };
            again | remote
        }
        Some(Goal::Accesses(goal)) => {
            let act = match access {
                Some(false) => Act::Read,
                Some(true) => Act::Write,
                None => Act::Acquire,
            };
            let is_named = |site: &GoalSite| act == Act::Acquire || site.name == name;
            let is_meant = |site: &GoalSite| site.act == act && site.place == place && is_named(site);
            let first = goal.first.as_ref().is_some_and(is_meant);
            let remote = goal.remote.as_ref().is_some_and(is_meant);
            bits(LETTERS, [first, remote, is_meant(&goal.last)].into_iter())
        }
        Some(Goal::Race(race)) => {
            let is_meant = |write, there: &str| access == Some(write) && there == place;
            bits(LETTERS, race.accesses.iter().map(|access| is_meant(access.write, &access.place)))
        }
        Some(Goal::Set(goal)) if access.is_some() => {
            bits(LETTERS, goal.events.iter().map(|event| access == Some(event.write) && event.place == place))
        }
        Some(Goal::Set(goal)) => {
            let is_gate = goal.gate.as_ref().is_some_and(|gate| gate.place == place);
            let windows = goal.windows.iter().map(|window| window.iter().any(|site| site == place));
            bits(WINDOWS, windows) | if is_gate { GATE } else { 0 }
        }
    }
}

fn bits(from: u32, holds: impl Iterator<Item = bool>) -> i32 {
    holds.take(4).enumerate().fold(0, |bits, (place, holds)| bits | i32::from(holds) << (from + place as u32))
}

/// The events that an access at a site with these flags may be.
pub(crate) fn letters(flags: i32) -> u8 {
    (flags >> LETTERS & 0xf) as u8
}

/// The role of acquiring a lock at a site with these flags, in a calling context with this hash.
pub(crate) fn lock_role(flags: i32, goal: Option<&Goal>, context: u64) -> GoalRole {
    let is_gate = flags & GATE != 0
        && match goal {
            Some(Goal::Set(SetGoal { gate: Some(gate), .. })) => gate.context == format!("{context:x}"),
            _ => false,
        };
    GoalRole { windows: (flags >> WINDOWS & 0xf) as u8, is_gate, ..GoalRole::default() }
}

/// Whether the locks of a class are internal to the JDK.
pub(crate) fn is_quiet(class: &str, is_jdk: bool) -> bool {
    is_jdk && fissure_jdk::is_internal_lock(class)
}

/// The name of a site for users and other runs.
pub(crate) fn place(class: &str, method: &str, line: Option<u32>) -> String {
    match line {
        Some(line) => format!("{class}.{method}:{line}"),
        None => format!("{class}.{method}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(class: &str, expected: bool) {
        assert_eq!(is_quiet(class, class.starts_with("java.")), expected, "{class}");
    }

    #[test]
    fn locks_of_collections_are_relevant() {
        check("java.util.Vector", false);
        check("java.util.Collections$SynchronizedMap", false);
        check("java.lang.StringBuffer", false);
        check("java.util.concurrent.CopyOnWriteArrayList", false);
        check("java.util.concurrent.ConcurrentHashMap", true);
        check("com.acme.Account", false);
        check("java.io.PrintStream", true);
        check("java.lang.ClassLoader", true);
        check("java.util.logging.Logger", true);
    }
}
