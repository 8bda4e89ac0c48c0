//! The scheduler of controlled runs: the conductor, which lets one thread run at a time, and the strategies that choose the thread.
//!
//! A front end reports each thread's next operation to the [`conductor::Conductor`] and enforces its decisions. Nothing here
//! depends on how threads are implemented, does I/O or can fail: an execution is a function of the threads' operations, the
//! strategy and the seed.

pub mod conductor;
#[cfg(test)]
mod conductor_tests;
#[cfg(test)]
mod goal_tests;
mod monitor;
pub mod observer;
pub mod operation;
pub mod pattern;
pub mod random;
#[cfg(any(test, feature = "simulation"))]
pub mod simulation;
pub mod strategy;
pub mod stuck;
pub mod trace;
pub mod unit;
