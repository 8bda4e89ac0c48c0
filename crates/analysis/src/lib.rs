//! Passive detectors: what a program does goes in, what looks wrong comes out.
//!
//! Nothing here does I/O, knows a front end, or can fail. The state of one memory location is a single
//! [`word::Word`], so that a front end may keep it wherever an access finds it fastest (the JVM agent keeps
//! it in a field beside the watched one) and decide the common cases by comparing words. Everything that
//! is shared between locations lives in one [`lockset::Machine`].
//!
//! | module | what it holds |
//! |---|---|
//! | [`lockset`] | the state machines of Racer and Eraser |
//! | [`locksets`] | interned sets of locks |
//! | [`history`] | interned sets of accesses: who touched a shared location, where, under which locks |
//! | [`order`] | which parts of threads come before which, by thread start and join |
//! | [`reduction`] | Atomizer: which executions of blocks can be reduced to ones that nobody interrupted |
//! | [`racing`] | RaceFuzzer: pairs of places whose accesses may race |
//! | [`relaxed`] | the order that a program makes on purpose, and the locks that are held |
//! | [`atomic_sets`] | AssetFuzzer: fields that belong together, and units of work that tear them apart |
//! | [`trace`] | the machines driven by a list of events, for tests and recorded traces |

pub mod atomic_sets;
pub mod clock;
pub mod history;
pub mod interleavings;
pub mod lockset;
pub mod locksets;
pub mod order;
pub mod racing;
pub mod reduction;
pub mod relaxed;
pub mod trace;
pub mod word;
