//! Atomic sets: fields that belong together, units of work that keep them consistent, and what comes of units that
//! interleave.
//!
//! Papers: Z. Lai, S.C. Cheung and W.K. Chan, "Detecting Atomic-Set Serializability Violations in Multithreaded Programs through
//! Active Randomized Testing", ICSE 2010 (AssetFuzzer); the patterns and the criterion are those of M. Vaziri, F. Tip and
//! J. Dolby, POPL 2006, and the runtime monitor that of C. Hammer, J. Dolby, M. Vaziri and F. Tip, ICSE 2008.
//!
//! | module | what it holds |
//! |---|---|
//! | [`patterns`] | the eleven ways in which two units can interleave so that no order of the two explains it |
//! | [`profile`] | what one execution did to each set, kept small |
//! | [`predict`] | Phase I: which patterns other executions may show |
//! | [`monitor`] | which patterns this execution shows |
//!
//! An access outside of every unit is a unit by itself: it can come in between two accesses of a unit, and nothing can
//! come in between of it. Which unit an access belongs to (the outermost that is declared on its set) the front end tells, and
//! when one is over: a unit that waits for others wants them to come in between, so that a new one begins there.

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
    /// Tells executions apart.
    pub number: u64,
}

/// An access to a location of an atomic set.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Access {
    /// Who.
    pub thread: ThreadId,
    /// The set.
    pub set: SetId,
    /// Which location of the set.
    pub location: u32,
    /// Read or write.
    pub kind: AccessKind,
    /// Where in the code.
    pub site: SiteId,
    /// A hash of the calls that led there.
    pub context: u64,
    /// The unit of work.
    pub unit: Occurrence,
}
