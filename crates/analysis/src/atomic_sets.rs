//! Atomic sets: fields that belong together, units of work that keep them consistent, and the violations that result when
//! units interleave.
//!
//! Papers: Z. Lai, S.C. Cheung and W.K. Chan, "Detecting Atomic-Set Serializability Violations in Multithreaded Programs through
//! Active Randomized Testing", ICSE 2010 (AssetFuzzer); the patterns and the criterion are those of M. Vaziri, F. Tip and
//! J. Dolby, POPL 2006, and the runtime checker that of C. Hammer, J. Dolby, M. Vaziri and F. Tip, ICSE 2008.
//!
//! | module | what it holds |
//! |---|---|
//! | [`patterns`] | the eleven interleavings of two units that no serial order of the two explains |
//! | [`profile`] | a bounded profile of one execution's accesses to each set |
//! | [`predict`] | Phase I: the patterns that other executions may show |
//! | [`checker`] | the patterns that this execution shows |
//!
//! An access outside of every unit is a unit by itself: it can land between two accesses of a unit, but no access can land
//! inside of it. The front end reports which unit an access belongs to (the outermost that is declared on its set) and when a
//! unit ends. A unit that waits for other threads expects them to change the set, so that a new unit begins after the wait.

pub mod checker;
pub mod patterns;
pub mod predict;
pub mod profile;
#[cfg(test)]
mod scenario;

use fissure_model::{
    event::AccessKind,
    ids::{SiteId, ThreadId},
};

/// One instance of an atomic set: the fields of one object, or the static fields of a class.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct SetId(pub u64);

/// A method that is a unit of work.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct UnitId(pub u32);

/// One execution of a unit, or one access outside of all units.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Occurrence {
    /// The method; `None` if the access is in no unit.
    pub unit: Option<UnitId>,
    /// The number that distinguishes this execution from others.
    pub number: u64,
}

/// An access to a location of an atomic set.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Access {
    /// The thread.
    pub thread: ThreadId,
    /// The set.
    pub set: SetId,
    /// The location within the set.
    pub location: u32,
    /// Read or write.
    pub kind: AccessKind,
    /// The site.
    pub site: SiteId,
    /// A hash of the calls that led to the access.
    pub context: u64,
    /// The unit of work.
    pub unit: Occurrence,
}
