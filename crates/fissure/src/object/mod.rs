//! `fissure object CLASS`: finds the methods of a concurrent object that are not atomic.
//!
//! `options` reads the user's settings; `target` decides which methods can be called, and `knowledge` what their class files say about
//! them; `session` keeps a JVM with the driver (`driver`, `wire`, `describe`, `pin`) and the generated operations (`bytecode`, `values`).
//! `work` tests a class: `examine` calls methods one after the other, `core` chooses the core, `pairs` and `search` execute harnesses and
//! give `results`. `present` makes findings and reports of the results, and `java` writes programs that show a violation without Fissure.

mod bytecode;
mod core;
mod describe;
mod driver;
mod error;
mod examine;
mod java;
mod knowledge;
#[cfg(test)]
mod knowledge_tests;
mod options;
mod pairs;
mod pin;
mod present;
mod results;
mod search;
mod session;
mod target;
mod values;
mod wire;
mod work;

use std::{env, path::PathBuf, time::Duration};

use fissure_model::settings::{Mode as AgentMode, Settings};

pub(crate) use error::ObjectError;

use crate::{
    agent,
    args::{ObjectArguments, SchedulesName},
    doctor,
    error::Error,
    project,
    reporting::Reporting,
    run_folder,
    signals::Interruption,
    verdict::Code,
};
use describe::ClassInfo;
use driver::Setup;
use search::Bounds;
use session::Session;
use target::{Creation, Target, UserSettings};
use work::{Control, Limits, Work};

/// The time for a whole class, unless the user gives another or more for a single method.
const TOTAL: Duration = Duration::from_secs(30);

/// Sequences beside those of the search: one before and one after all others.
const APART: usize = 2;

/// Executes the command. An error means that nothing was tested.
pub(crate) fn run(options: &ObjectArguments) -> Result<Code, Error> {
    let reporting = Reporting::prepare(&options.reporting)?;
    let settings = options::settings(options)?;
    let harness = options::harness(options)?;
    let folder = run_folder::create()?;
    driver::unpack(folder.path()).map_err(Error::Folder)?;
    let setup = Setup {
        java: java(options)?,
        classpath: options.classpath.clone(),
        actors: harness.as_ref().map_or(usize::from(options.sequences), |schema| schema.sequences.len()),
        folder: folder.path().to_owned(),
        agent: None,
    };
    let _interruption = Interruption::install();
    let mut session = Session::start(setup.clone())?;
    let mut target = made_target(&mut session, &options.class, &settings)?;
    let unread = knowledge::analyse(&mut target, &setup.java, &options.classpath);
    let bounds = Bounds {
        invocations: usize::from(options.invocations),
        sequences: usize::from(options.sequences),
        values: options.values.map(usize::from),
        budget: options.budget,
        seed: options.seed,
    };
    let (control, missing) = match (options.schedules, controlled_setup(setup, &target.class.name)) {
        (SchedulesName::Stress, _) => (Control::Off, None),
        (_, Ok(setup)) => (Control::Ready(setup), None),
        (SchedulesName::Controlled, Err(error)) => return Err(error),
        (SchedulesName::Both, Err(error)) => (Control::Off, Some(work::without_control(&error))),
    };
    let limits = Limits {
        total: options.total_budget.unwrap_or_else(|| TOTAL.max(options.budget)),
        enumeration: options.enumeration,
        trusts_core: options.trust_core,
        stresses: options.schedules != SchedulesName::Controlled,
    };
    let mut work = Work::new(session, target, bounds, control, limits);
    work.notices.extend(unread);
    work.notices.extend(missing);
    match harness {
        Some(schema) => work.one(&schema)?,
        None => work.all()?,
    }
    let finished = work.finish();
    if let Some(folder) = &options.emit_java {
        present::emit_java(folder, &finished.target, &finished.violations)?;
    }
    let mut summary = finished.report.summary(finished.notices);
    summary.problem = finished.problem;
    reporting.finish_object(summary, &finished.report)
}

/// The class under test, and the first way to make objects of it that works.
fn made_target(session: &mut Session, class: &str, settings: &UserSettings) -> Result<Target, ObjectError> {
    let expression = settings.expression.as_deref().unwrap_or_default();
    let info = session.describe(class, expression)?;
    let mut failed = None;
    let creations = target::creations(&info, settings);
    if creations.is_empty() {
        return Err(unmade(&info, settings));
    }
    for creation in creations {
        // The methods of an abstract class are those of the class of the object that was made.
        let described = match &creation {
            Creation::Expression(expression) if info.is_abstract() && settings.expression.is_none() => {
                session.describe(class, expression)
            }
            _ => Ok(info.clone()),
        };
        let target = described.and_then(|info| Target::new(class, info, creation, settings));
        match target.and_then(|target| session.make(&target).map(|()| target)) {
            Ok(target) => return Ok(target),
            // Methods that the user named are missing however the object is made.
            Err(error @ (ObjectError::NoMethod { .. } | ObjectError::CannotCall { .. })) => {
                return Err(error);
            }
            Err(error) => failed = failed.or(Some(error)),
        }
    }
    Err(failed.unwrap_or_else(|| unmade(&info, settings)))
}

/// Why no way to make objects is known.
fn unmade(info: &ClassInfo, settings: &UserSettings) -> ObjectError {
    let class = info.name.clone();
    if info.is_abstract() {
        let what = if info.is_interface() { "an interface" } else { "abstract" };
        return ObjectError::Abstract { class, what };
    }
    match settings.constructor.is_some() || !info.constructors.is_empty() {
        true => ObjectError::Constructor { class },
        false => ObjectError::NoConstructor { class },
    }
}

fn java(options: &ObjectArguments) -> Result<PathBuf, ObjectError> {
    let found = || doctor::find_java(env::var_os("JAVA_HOME"), env::var_os("PATH"));
    options.java.clone().or_else(found).ok_or(ObjectError::NoJava)
}

/// How a JVM is started whose threads Fissure schedules.
fn controlled_setup(setup: Setup, class: &str) -> Result<Setup, Error> {
    let setup = Setup { actors: setup.actors + APART, ..setup };
    let agent = agent::locate(&setup.folder)?;
    let file = setup.folder.join("settings.json");
    let package = class.rsplit_once('.').and_then(|(package, _)| format!("{package}.*").parse().ok());
    let settings = Settings {
        scope: package.into_iter().collect(),
        whereabouts: project::whereabouts(),
        mode: AgentMode::Explore,
        log: run_folder::log_filter(),
    };
    run_folder::write_settings(&settings, &file)?;
    Ok(Setup { agent: Some((agent, file)), ..setup })
}
