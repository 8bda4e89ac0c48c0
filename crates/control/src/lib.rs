//! Controlled runs without the program: the role of each operation in the goal of the run, what the run observed, and the explanations of
//! its findings.
//!
//! A front end schedules the threads of a program. It reports their operations to a [`ControlledRun`], which passes them on to the
//! conductor, and enforces the conductor's decisions. Questions about the program (the name of a site, a stack) go the other way, through
//! the trait [`FrontEnd`]. At the end [`ControlledRun::results`] gives what the run found, as plain records.

mod accesses;
mod acquires;
mod calls;
mod deadlock;
mod explanation;
mod failure;
pub mod flags;
mod front_end;
mod idle;
mod interleavings;
mod last_steps;
mod locks;
mod points;
mod results;
mod run;
mod set_explanation;
mod sets;
mod thread_unsafe;

#[cfg(any(test, feature = "simulation"))]
pub mod simulated;
#[cfg(test)]
mod tests;

pub use accesses::PendingAccess;
pub use acquires::PendingAcquire;
pub use failure::Thrown;
pub use front_end::{Accessed, Declared, DeclaredField, Field, FrontEnd, RawFrame, Site, Variable};
pub use idle::IdlePools;
pub use results::Results;
pub use run::ControlledRun;
pub use thread_unsafe::{Parts, ThreadUnsafe};
