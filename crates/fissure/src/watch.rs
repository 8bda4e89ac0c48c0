//! `fissure watch`: runs a program once under a monitor script.

use std::{ffi::OsString, fs, path::PathBuf, rc::Rc, time::Duration};

use clap::Args;
use fissure_model::{finding::Finding, settings::MonitorSettings};
use fissure_monitor::{Limits, Monitor, Outside};

use crate::{
    args::{ScopeList, duration},
    error::Error,
    observed_run::{self, Observation, Task},
    reporting::{Reporting, ReportingArguments},
    verdict::Code,
};

#[derive(Debug, Args)]
#[command(override_usage = "fissure watch --monitor FILE [OPTIONS] -- COMMAND [ARGS]...")]
#[command(after_help = "Examples:
  fissure watch --monitor locks.rhai -- java -cp classes com.acme.Main
  fissure watch --monitor racer.rhai --scope 'com.acme..*' --json findings.json -- ./gradlew test

Exit codes: 0 nothing was reported, 1 findings that count (see --fail-on), 2 usage or tool error, which includes
a monitor script that was stopped. The program's own exit code is reported.")]
pub(crate) struct WatchArguments {
    /// The monitor script: advice on pointcuts.
    #[arg(long, value_name = "FILE", required = true)]
    pub(crate) monitor: PathBuf,

    /// The classes that the script may see (Account, com.acme.Account, 'com.acme..*'), or a pointcut ('within(com.acme..*)'). May be
    /// repeated; without it the application's own classes and those that the script names.
    #[arg(long, value_name = "POINTCUT")]
    pub(crate) scope: Vec<ScopeList>,

    /// Analyse the class files first: fields that only one thread can ever access are not `maybeShared()`. COMMAND must be `java`
    /// itself.
    #[arg(long = "static")]
    pub(crate) is_static: bool,

    /// End the program after this time, 30s or 5m, and report what was seen; without it the program runs until it ends.
    #[arg(long, value_name = "TIME", value_parser = duration)]
    pub(crate) time_limit: Option<Duration>,

    #[command(flatten)]
    pub(crate) reporting: ReportingArguments,

    /// The command that starts the program, with its arguments: java …, mvn test, a script.
    #[arg(last = true, value_name = "COMMAND")]
    pub(crate) command: Vec<OsString>,
}

/// Carries the command out. An error means that the command line or the script was bad and nothing was run.
pub(crate) fn run(options: &WatchArguments) -> Result<Code, Error> {
    if options.command.first().is_none_or(|program| program.is_empty()) {
        return Err(Error::NoCommand);
    }
    let monitor = read(options)?;
    let reporting = Reporting::prepare(&options.reporting)?;
    let task = Task {
        command: &options.command,
        scope: &reporting.scope(&options.scope),
        observation: Observation::Script(monitor),
        is_static: options.is_static,
        time_limit: options.time_limit,
    };
    reporting.finish_run(observed_run::run(&task))
}

/// Reads the script and checks that it can be loaded.
fn read(options: &WatchArguments) -> Result<MonitorSettings, Error> {
    let path = options.monitor.display().to_string();
    let source = fs::read_to_string(&options.monitor)
        .map_err(|source| Error::MonitorFile { path: path.clone(), source })?;
    let name =
        options.monitor.file_name().map_or_else(|| path.clone(), |name| name.to_string_lossy().into_owned());
    Monitor::load(&name, &source, Limits::default(), Rc::new(Ignore))
        .map_err(|problem| Error::Monitor { path, problem })?;
    Ok(MonitorSettings { name, source })
}

/// Ignores what the script does at its top level: it is loaded only to check it, before the program runs.
struct Ignore;

impl Outside for Ignore {
    fn print(&self, _line: &str) {}

    fn found(&self, _finding: Finding) {}

    fn is_before(&self, _earlier: u32, _later: u32) -> bool {
        false
    }
}
