//! Finds the methods of a concurrent object that are not atomic. This crate is the part that executes nothing: schemas of small test
//! harnesses, their enumeration, their linearizations and outcomes.
//!
//! The algorithm is that of M. Emmi and C. Enea, *Exposing Non-Atomic Methods of Concurrent Objects* (2017). A harness
//! is a few sequences of invocations that run concurrently. Its atomic outcomes are the results of its linearizations,
//! executed one invocation after the other. Any other outcome of a concurrent execution shows that a method is not
//! atomic, and as all but one of the invocations are of core methods, it shows which.
//!
//! Kept: the grammar ([`grammar`]), the ranks, the read-only classification, the seeded shuffle ([`shuffle`]), collections of two
//! elements as arguments, and the check whether an outcome is in a precomputed set ([`outcome`]).
//!
//! Deviations:
//! - Harnesses use *some* core methods; the paper's definition says all of them, its tables do not.
//! - Lemma 4.1 is stated backwards in the paper: *violations* of a prefix carry over to the longer harness.
//! - The core is tested before any method is blamed.
//! - Beyond the paper's reductions there are [`rules`] about values, each with its condition, and the could-reveal
//!   examination ([`outcome::Examination`]), which decides the order of the search.
//! - A method under test that updates needs no core update beside it.
//! - Before these harnesses come [`pairs`] of concurrent invocations of any two methods, with invocations before and after both.
//! - An order in which an invocation waits for ever is no linearization.
//! - The paper's numbers of harnesses contain each harness several times; the benchmark of this repository reproduces them.

pub mod builtin;
pub mod enumerate;
pub mod grammar;
pub mod interleaving;
pub mod linearize;
pub mod outcome;
pub mod pairs;
pub mod rules;
pub mod schema;
pub mod shuffle;
pub mod spec;
pub mod value;

pub use schema::{Invocation, Schema};
pub use value::Value;

#[cfg(test)]
mod model_tests;
