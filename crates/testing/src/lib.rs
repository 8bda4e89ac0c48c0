//! Shared by the end-to-end tests and the development tasks:
//!
//! - the programs under `programs/`, and the headers in which they state what Fissure must find in them ([`Program`], [`Header`]);
//! - the runner of tests with names, which counts what was skipped ([`run`]);
//! - the agent, which the tests build before they use it ([`agent`]);
//! - commands that do not depend on the environment, and the tools of the JDK.

mod agent;
mod claim;
mod classes;
mod environment;
mod header;
mod process;
mod programs;
mod record;
mod runner;

pub use agent::{AGENT, agent};
pub use claim::{Analysis, Claim};
pub use classes::{compile, compiled_once};
pub use environment::{find_on_path, isolated, java_version, javas, jdk_tool, newer_tool};
pub use header::{Header, HeaderError, Rule};
pub use process::{Ended, run_to_end, shell_line};
pub use programs::{Folder, OLDEST_RELEASE, Program};
pub use record::{RECORD, Recorded, read_records, write_record};
pub use runner::{Outcome, Trial, run};
