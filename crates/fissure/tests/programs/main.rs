//! End to end: runs every program under `programs/` as its header says, and compares the findings with it. `fissure_testing::Header`
//! describes the lines of headers.
//!
//! Each program and mode is a test with a name, such as `hunt::AccountTransfer` or `race::pkg/Transfer[static]`; the tests named
//! `twins::FOLDER` check that programs come in pairs. A part of a name selects tests:
//!
//! ```text
//! cargo test -p fissure --test programs -- hunt::AccountTransfer
//! ```
//!
//! `FISSURE_TEST_JAVAS` (paths of `java`, separated by colons) adds JVMs to run on; the names of their tests end with their release.

#[path = "../common/mod.rs"]
mod common;

mod assets;
mod detect;
mod detect_report;
mod hunting;
mod object;
mod suite;
mod twins;

use std::{process::ExitCode, sync::Arc};

use fissure_testing::Folder;

use suite::Suite;

fn main() -> ExitCode {
    let suite = match Suite::read() {
        Ok(suite) => Arc::new(suite),
        Err(problem) => {
            eprintln!("{problem}");
            return ExitCode::FAILURE;
        }
    };
    let mut trials = twins::trials(&suite);
    for folder in Folder::DETECT {
        trials.extend(detect::trials(&suite, folder));
    }
    trials.extend(hunting::trials(&suite));
    trials.extend(assets::trials(&suite));
    // They use all processors, so they come last and run one at a time.
    trials.extend(object::trials(&suite));
    fissure_testing::run(trials)
}
