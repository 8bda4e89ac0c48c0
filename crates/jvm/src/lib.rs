//! Fissure's JVMTI agent: the only crate that calls JVMTI and JNI.
//!
//! The JVM loads this library when it starts, before it runs any Java code. Every class is rewritten as it is loaded
//! ([`classes`]) so that it calls the hook classes ([`hook`], Java sources under `hook/src`). The hook classes keep the state
//! of each watched location next to the data and settle nearly every access by comparing two words. The remaining accesses
//! call native code ([`natives`]), which passes them to `fissure-analysis`. Races become findings ([`findings`]), which are
//! written to the run's folder at once ([`output`]), so that a JVM that is killed does not lose them.
//!
//! Two rules hold everywhere: no panic crosses into the JVM, and code that cannot be instrumented stays unchanged and is counted.
//! `unsafe` lives in [`vm`], [`memory`], [`futex`] and [`descriptors`], in the functions whose signatures the JVM prescribes, and in a few single
//! calls of libc.

mod agent;
mod blocks;
mod callbacks;
mod classes;
mod conducting;
mod control;
mod deadlock;
mod descriptors;
mod explore;
mod findings;
mod futex;
mod handles;
mod hashes;
mod hook;
mod iterations;
#[cfg(test)]
mod java_contract;
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

/// Counts the memory that monitor scripts use.
#[global_allocator]
static ALLOCATOR: fissure_monitor::memory::Counting = fissure_monitor::memory::Counting;
