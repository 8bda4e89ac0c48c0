//! The vocabulary that Fissure's crates share: plain data, no I/O, nothing here can fail.
//!
//! A front end (today the JVM agent) turns the execution of a program into [`event::Event`]s, analyses turn
//! events into [`finding::Finding`]s, and reports show the findings. A front end writes the [`record`]s that the
//! command line reads. Users name classes and members by a [`pattern`] and select points of a program by a
//! [`pointcut`].

pub mod coverage;
pub mod event;
pub mod exit;
pub mod exploration;
pub mod finding;
pub mod goal;
pub mod ids;
pub mod interleaving;
pub mod iteration;
pub mod locality;
pub mod pattern;
pub mod pointcut;
pub mod prevention;
pub mod record;
pub mod recording;
pub mod settings;
