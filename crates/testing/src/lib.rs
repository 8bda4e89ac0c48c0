//! Shared by the end-to-end tests and the development tasks: the programs under `programs/`, and the headers in which they state what
//! Fissure must find in them.

mod claim;
mod header;
mod programs;

pub use claim::{Analysis, Claim};
pub use header::{Header, HeaderError, Rule};
pub use programs::{Folder, OLDEST_RELEASE, Program, compile};
