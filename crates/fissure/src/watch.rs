//! One run of a program under the agent: creates a folder for its records, writes the settings, and reports the result.

use std::{env, ffi::OsString, fs, io, path::Path, time::Duration};

use fissure_model::{
    pointcut::Pointcut,
    settings::{MonitorSettings, Order, Settings, Watch},
};
use fissure_report::{Exit, Report};
use tempfile::TempDir;

use crate::{
    agent,
    args::Analyses,
    collect,
    endings::{self, Doubt},
    error::Error,
    launch, locality, project,
    verdict::{self, WatchedProgram},
};

/// The program to run, and how to watch it.
#[derive(Debug)]
pub(crate) struct Task<'a> {
    pub(crate) command: &'a [OsString],
    pub(crate) analyses: Analyses,
    pub(crate) scope: &'a [Pointcut],
    pub(crate) watch: Watch,
    pub(crate) order: Order,
    /// The monitor script, if there is one.
    pub(crate) monitor: Option<&'a MonitorSettings>,
    /// Whether a static analysis first finds unshared locations, which are not watched.
    pub(crate) is_static: bool,
    /// Whether the static analysis is only checked, and everything is watched.
    pub(crate) is_checked: bool,
    /// After which time the program is ended.
    pub(crate) time_limit: Option<Duration>,
}

/// The result of a run.
#[derive(Debug, Default)]
pub(crate) struct Watched {
    pub(crate) report: Report,
    /// Why the run is not clean if nothing that counts is found: the program failed, or it was ended.
    pub(crate) doubt: Option<Doubt>,
}

/// An error on systems where no agent can work.
pub(crate) fn check_platform() -> Result<(), Error> {
    let known = cfg!(all(target_env = "gnu", any(target_arch = "x86_64", target_arch = "aarch64")));
    if known { Ok(()) } else { Err(Error::Platform) }
}

/// Runs the program once and reports what was seen, or the problem.
pub(crate) fn run(task: &Task<'_>) -> Watched {
    match try_run(task) {
        Ok(watched) => watched,
        Err(error) => {
            let report = Report { problem: Some(error.to_string()), ..Report::default() };
            Watched { report, doubt: None }
        }
    }
}

/// A folder whose path needs no quoting.
pub(crate) fn plain_folder() -> Result<TempDir, Error> {
    let mut last = io::Error::other("no folder has a plain path");
    for parent in [env::temp_dir().as_path(), Path::new("/tmp"), Path::new("/var/tmp")] {
        let made = parent.canonicalize().and_then(|parent| {
            let plain = |byte: &u8| byte.is_ascii_alphanumeric() || b"/._-+".contains(byte);
            if !parent.as_os_str().as_encoded_bytes().iter().all(plain) {
                return Err(io::Error::other("its path has blanks or other special characters"));
            }
            tempfile::Builder::new().prefix("fissure-").tempdir_in(parent)
        });
        match made {
            Ok(folder) => return Ok(folder),
            Err(error) => last = error,
        }
    }
    Err(Error::Folder(last))
}

fn try_run(task: &Task<'_>) -> Result<Watched, Error> {
    check_platform()?;
    let program = task.command.first().ok_or(Error::NoCommand)?;
    let folder = plain_folder()?;
    let agent = agent::locate(folder.path())?;
    let settings = folder.path().join("settings.json");
    let locality = match task.is_static || task.is_checked {
        true => Some(locality::prepare(task.command, folder.path())?),
        false => None,
    };
    write_settings(task, folder.path(), &settings, locality.as_deref())?;
    let (exit, ending) = launch::run(task.command, &agent, &settings, folder.path(), task.time_limit)?;
    let jvms = collect::read_folder(folder.path()).map_err(Error::Folder)?;
    let watched = WatchedProgram {
        program: &program.to_string_lossy(),
        java: launch::is_java(program),
        scope: task.scope,
        watch: task.watch,
        has_monitor: task.monitor.is_some(),
    };
    let summary = endings::summarise(task.command, task.scope, exit, ending, &jvms);
    let blindness = verdict::blindness(&watched, &jvms);
    // A run that was cut short may have seen little for that reason.
    let is_cut_short = summary.doubt.as_ref().is_some_and(Doubt::is_cut_short);
    let problem = blindness.filter(|_| !is_cut_short).map(|blindness| blindness.to_string());
    let mut report = report(task.command, exit, &jvms, problem);
    if report.problem.is_none() {
        report.notices.extend(verdict::reservation(&watched, &jvms));
        if report.findings.is_empty() {
            report.notices.splice(0..0, verdict::scarcity(task.scope, &report.coverage, 1));
        }
    }
    report.notices.extend(summary.notices);
    report.next_step = summary.next_step;
    Ok(Watched { report, doubt: summary.doubt })
}

fn write_settings(task: &Task<'_>, folder: &Path, file: &Path, locality: Option<&Path>) -> Result<(), Error> {
    let settings = Settings {
        explore: false,
        analysis: task.analyses.lock_sets,
        races: task.analyses.races,
        atomizer: task.analyses.atomizer.clone(),
        scope: task.scope.to_vec(),
        watch: task.watch,
        order: task.order,
        monitor: task.monitor.cloned(),
        locality: locality.map(|path| path.to_string_lossy().into_owned()),
        locality_checked: task.is_checked,
        control: None,
        whereabouts: project::whereabouts(),
        folder: folder.to_string_lossy().into_owned(),
    };
    let text = serde_json::to_string_pretty(&settings).map_err(|error| Error::Folder(error.into()))?;
    fs::write(file, text).map_err(Error::Folder)
}

fn report(command: &[OsString], exit: Exit, jvms: &[collect::Jvm], problem: Option<String>) -> Report {
    let gathered = collect::gather(jvms);
    Report {
        command: command.iter().map(|word| word.to_string_lossy().into_owned()).collect(),
        runs: 1,
        exits: [(exit, 1)].into(),
        jvms: jvms.iter().filter_map(|jvm| jvm.hello.clone()).collect(),
        coverage: gathered.coverage,
        notices: gathered.notices,
        internal_errors: gathered.internal_errors,
        findings: gathered.findings,
        problem,
        ..Report::default()
    }
}
