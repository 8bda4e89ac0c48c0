//! The vocabulary that Fissure's crates share: plain data, no I/O, nothing here can fail.
//!
//! A front end (today the JVM agent) turns what a program does into [`event::Event`]s, analyses turn
//! events into [`finding::Finding`]s, and reports show those. The [`record`] module is what a front end
//! writes down for the command line to read; [`pattern`] is how users name classes and members, [`pointcut`] how they
//! select points of a program.

pub mod coverage;
pub mod event;
pub mod finding;
pub mod goal;
pub mod ids;
pub mod interleaving;
pub mod pattern;
pub mod pointcut;
pub mod record;
pub mod settings;
