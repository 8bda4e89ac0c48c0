//! Monitors that users write: scripts of advices on pointcuts, fed by plain events.
//!
//! A monitor is a script in Rhai that names pointcuts and says what to do before or after the points that they select:
//!
//! ```text
//! after("lock()", |e| { print(`${e.thread} has ${e.object}`); });
//! ```
//!
//! A front end asks a [`Monitor`] for its [`Advice`]s, watches the points that they select and nothing else, and hands over an
//! [`Event`] for each that is reached, in the order in which they happened. What the script reports comes back as findings.
//!
//! Nothing that a script does can harm the program: it runs on a thread of its own, and one that fails, loops or uses too
//! much memory is stopped ([`Stopped`]). Nothing here knows what a JVM is.

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
