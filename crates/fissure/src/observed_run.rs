//! One run of a program that is observed and not controlled: writes the settings, runs the program under the agent, and reports the
//! result. `fissure detect`, `fissure watch` and `fissure doctor` use it.

use std::{ffi::OsString, path::Path, time::Duration};

use fissure_model::{
    pointcut::Pointcut,
    settings::{DetectSettings, Mode, MonitorSettings, Settings, Watch, WatchSettings},
};
use fissure_report::{Exit, Report};

use crate::{
    agent, collect,
    detect::Analyses,
    endings::{self, Doubt},
    error::Error,
    launch, locality, project, run_folder,
    verdict::{self, Needs, WatchedProgram},
};

/// The program to run, and how to observe it.
#[derive(Debug)]
pub(crate) struct Task<'a> {
    pub(crate) command: &'a [OsString],
    pub(crate) scope: &'a [Pointcut],
    pub(crate) observation: Observation,
    /// Whether a static analysis first finds unshared locations, which are not watched.
    pub(crate) is_static: bool,
    /// After which time the program is ended.
    pub(crate) time_limit: Option<Duration>,
}

/// What looks at the program.
#[derive(Debug)]
pub(crate) enum Observation {
    /// Passive analyses.
    Analyses {
        analyses: Analyses,
        /// Whether the results of a static analysis are only checked, and everything is watched.
        checks_static: bool,
    },
    /// A monitor script.
    Script(MonitorSettings),
}

/// The result of a run.
#[derive(Debug, Default)]
pub(crate) struct ObservedRun {
    pub(crate) report: Report,
    /// Why the run is not clean if nothing that counts is found: the program failed, or it was ended.
    pub(crate) doubt: Option<Doubt>,
}

/// Runs the program once and reports what was seen, or the problem.
pub(crate) fn run(task: &Task<'_>) -> ObservedRun {
    match try_run(task) {
        Ok(observed) => observed,
        Err(error) => {
            let report = Report { problem: Some(error.to_string()), ..Report::default() };
            ObservedRun { report, doubt: None }
        }
    }
}

fn try_run(task: &Task<'_>) -> Result<ObservedRun, Error> {
    agent::check_platform()?;
    let program = task.command.first().ok_or(Error::NoCommand)?;
    let folder = run_folder::create()?;
    let agent = agent::locate(folder.path())?;
    let locality = match task.is_static || task.observation.checks_static() {
        true => Some(locality::prepare(task.command, folder.path())?),
        false => None,
    };
    let settings = Settings {
        scope: task.scope.to_vec(),
        whereabouts: project::whereabouts(),
        mode: task.observation.mode(locality.as_deref()),
        log: run_folder::log_filter(),
    };
    let file = folder.path().join("settings.json");
    run_folder::write_settings(&settings, &file)?;
    let (exit, ending) = launch::run(task.command, &agent, &file, folder.path(), task.time_limit)?;
    let jvms = collect::read_folder(folder.path()).map_err(Error::Folder)?;
    let is_complete = jvms.iter().all(|jvm| jvm.ended);
    let room = if is_complete { Ok(()) } else { run_folder::check_room(folder.path()) };
    let shortage = match room {
        Err(error) if jvms.iter().all(|jvm| jvm.findings.is_empty()) => return Err(error),
        room => room.err().map(|error| format!("Records of the run are missing: {error}.")),
    };
    let watched = WatchedProgram {
        program: &program.to_string_lossy(),
        java: launch::is_java(program),
        scope: task.scope,
        needs: task.observation.needs(),
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
    report.notices.extend(shortage);
    report.notices.extend(summary.notices);
    report.next_step = summary.next_step;
    Ok(ObservedRun { report, doubt: summary.doubt })
}

impl Observation {
    fn checks_static(&self) -> bool {
        matches!(self, Observation::Analyses { checks_static: true, .. })
    }

    /// The task of the agent, with the results of the static analysis.
    fn mode(&self, locality: Option<&Path>) -> Mode {
        let locality = locality.map(run_folder::locality_file);
        match self {
            Observation::Analyses { analyses, checks_static } => Mode::Detect(DetectSettings {
                analysis: analyses.lock_sets,
                races: analyses.races,
                atomizer: analyses.atomizer.clone(),
                watch: analyses.watch,
                order: analyses.order,
                locality,
                locality_checked: *checks_static,
            }),
            Observation::Script(monitor) => Mode::Watch(WatchSettings { monitor: monitor.clone(), locality }),
        }
    }

    fn needs(&self) -> Needs {
        match self {
            Observation::Analyses { analyses, .. } if analyses.watch == Watch::Locks => Needs::Jvm,
            Observation::Analyses { .. } => Needs::Threads,
            Observation::Script(_) => Needs::JoinPoints,
        }
    }
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
