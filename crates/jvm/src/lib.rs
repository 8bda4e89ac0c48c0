//! Fissure's JVMTI agent: the only crate that knows the JVM.
//!
//! The JVM loads this library when it starts, before it runs any Java code. Every class is rewritten as it is loaded
//! ([`classes`]) so that it calls the hook classes ([`hook`], Java sources under `hook/src`), which keep the state of
//! each watched location beside the data and settle nearly every access by comparing two words. What is left comes
//! here ([`natives`]) and goes through `fissure-analysis`; races become findings ([`findings`]) and are written down at
//! once ([`output`]), so that a JVM that is killed leaves behind what was seen.
//!
//! Two rules hold everywhere: no panic crosses into the JVM, and whatever cannot be handled is left alone and counted.
//! `unsafe` lives in [`vm`] and [`memory`], and in the functions whose signatures the JVM prescribes.

mod agent;
mod blocks;
mod callbacks;
mod classes;
mod control;
mod deadlock;
mod explore;
mod findings;
mod futex;
mod handles;
mod hook;
mod jdk;
mod locality;
mod lookout;
mod memory;
mod monitor;
mod mutex;
mod natives;
mod origin;
mod output;
mod planted;
mod points;
mod registry;
mod scope;
mod sites;
mod stacks;
mod tested;
mod vm;
mod world;

/// Counts what monitors that users write keep.
#[global_allocator]
static ALLOCATOR: fissure_monitor::memory::Counting = fissure_monitor::memory::Counting;
