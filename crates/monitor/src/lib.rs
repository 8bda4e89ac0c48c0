//! Monitor scripts: users write advice on pointcuts, and front ends feed it with plain events.
//!
//! A monitor script is written in Rhai. It names pointcuts and says what to do before or after the join points that they select:
//!
//! ```text
//! after("lock()", |e| { print(`${e.thread} has ${e.object}`); });
//! ```
//!
//! A front end asks a [`Monitor`] for its [`Advice`], instruments the join points that it selects and nothing else, and passes on an
//! [`Event`] for each that is reached, in the order in which they happened. Reports of the script come back as findings.
//!
//! A script cannot harm the program: it runs on its own thread, and one that fails, loops or uses too much memory is stopped
//! ([`Stopped`]). This crate does not depend on the JVM.

mod error;
mod event;
mod load;
pub mod memory;
mod monitor;
mod reporting;
#[cfg(test)]
mod tests;
mod values;

pub use error::{LoadError, Stopped};
pub use event::{Event, EventSite, Object, When};
pub use monitor::{Advice, Limits, Monitor, Outside};
