//! Fissure's command line: options, processes, exit codes.
//!
//! `detect` and `watch` go through these modules in this order: `args` parses the options, `agent` finds the JVM agent, `observed_run`
//! makes a folder for the run and starts the program (`run_folder`, `launch`, `supervise`, `signals`), `collect` reads the agent's records, `verdict` decides
//! whether the run saw enough for a result, and `reporting` judges, shows and writes the findings (`config`, `output`). `report` does the
//! last of these for the reports of earlier runs. `hunt` runs a program many times with its threads under control, and `replay` repeats
//! one of these runs. `test` hunts in the tests of a project.
//!
//! Exit codes: 0 nothing found, 1 findings that count, 2 usage or tool error, which includes every run that
//! could not see anything.

#[cfg(not(target_os = "linux"))]
compile_error!("Fissure runs on Linux with glibc on x86-64 and aarch64 only; build it there.");

mod abandoned;
mod address_space;
mod agent;
mod args;
mod collect;
mod config;
mod detect;
mod doctor;
mod endings;
mod error;
mod hunt;
mod launch;
mod locality;
mod log;
mod object;
mod observed_run;
mod output;
mod progress;
mod project;
mod replay;
mod report;
mod reporting;
mod run_folder;
mod signals;
mod sources;
mod supervise;
mod test;
mod verdict;
mod watch;

use std::{ffi::OsString, process::ExitCode};

use args::{Arguments, Command};

/// Fissure's version, as reports give it.
pub(crate) const VERSION: &str = env!("CARGO_PKG_VERSION");

/// Runs the command line, whose first argument is the name of the executable, and gives the exit code.
pub fn run(arguments: impl IntoIterator<Item = OsString>) -> ExitCode {
    let arguments = match args::parse(arguments) {
        Ok(arguments) => arguments,
        Err(stop) => return output::stop(&stop),
    };
    let Arguments { command, log } = arguments;
    let result = log::switch_on(log).and_then(|()| match command {
        Command::Detect(options) => detect::run(&options),
        Command::Hunt(options) => hunt::run(&options),
        Command::Test(options) => test::run(&options),
        Command::Watch(options) => watch::run(&options),
        Command::Replay(options) => replay::run(&options),
        Command::Report(options) => report::run(&options),
        Command::Object(options) => object::run(&options),
        Command::Doctor => doctor::run(),
    });
    match result {
        Ok(code) => code.into(),
        Err(error) => {
            tracing::error!(%error, "the command failed");
            output::print_error(&error);
            verdict::Code::Error.into()
        }
    }
}
