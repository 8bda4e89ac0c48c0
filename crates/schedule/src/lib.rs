//! Who may run, and who should: the conductor that lets one thread run at a time, and the strategies that steer it.
//!
//! A front end tells the [`conductor::Conductor`] what each thread is about to do and makes true what it decides. Nothing here
//! knows what the threads are made of, does any I/O or can fail: an execution is a function of what the threads do, the
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
pub mod recording;
#[cfg(test)]
mod simulation;
pub mod strategy;
pub mod stuck;
pub mod trace;
pub mod unit;
