//! Dynamic analyses: events of a program go in, races, atomicity violations and candidates come out.
//!
//! Nothing here does I/O, depends on a front end, or can fail. The state of one memory location is a single shadow
//! word, [`word::Word`], so that a front end may store it where an access finds it fastest (the JVM agent stores
//! it in a field beside the instrumented one) and decide the common cases by comparing words. All state that
//! locations share is in one [`lockset::Machine`].
//!
//! | module | what it holds |
//! |---|---|
//! | [`lockset`] | the state machines of Racer and Eraser |
//! | [`locksets`] | interned sets of locks |
//! | [`history`] | interned sets of accesses to a shared location: thread, site, lock set |
//! | [`order`] | happens-before between segments of threads, by thread start and join |
//! | [`clock`] | vector clocks as persistent trees |
//! | [`reduction`] | Atomizer: which executions of blocks can be reduced to serial ones |
//! | [`reference`] | race detection by comparing all accesses with each other, to test the lock-set machines |
//! | [`racing`] | RaceFuzzer: pairs of sites whose accesses may race |
//! | [`interleavings`] | candidates: remote accesses that may land between two local ones, reorderings and delays |
//! | [`relaxed`] | the relaxed happens-before order, and the locks that threads hold |
//! | [`atomic_sets`] | AssetFuzzer: atomic sets, and units of work that violate them |
//! | [`trace`] | the lock-set machines driven by a list of events, for tests and recorded traces |

pub mod atomic_sets;
pub mod clock;
pub mod history;
pub mod interleavings;
pub mod lockset;
pub mod locksets;
pub mod order;
pub mod racing;
pub mod reduction;
pub mod reference;
pub mod relaxed;
pub mod trace;
pub mod word;
