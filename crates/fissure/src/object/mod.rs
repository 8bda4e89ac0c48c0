//! `fissure object CLASS`: finds the methods of a concurrent object that are not atomic.
//!
//! `options` reads the user's settings; `target` decides which methods can be called, and `knowledge` what their class files say about
//! them; `session` keeps a JVM with the driver (`driver`, `wire`, `describe`, `pin`) and the generated operations (`bytecode`, `values`);
//! `probe` and `search` execute harnesses and give `results`; `present` makes findings and reports of the results, and `java` writes programs that show
//! a violation without Fissure.

mod bytecode;
mod describe;
mod driver;
mod error;
mod java;
mod knowledge;
#[cfg(test)]
mod knowledge_tests;
mod options;
mod pin;
mod present;
mod probe;
mod results;
mod search;
mod session;
mod target;
mod values;
mod wire;

use std::{env, path::PathBuf, time::Duration};

use fissure_model::settings::{Mode as AgentMode, Settings};
use fissure_object::{
    Schema,
    enumerate::{Alphabet, Harness},
    rules::Rules,
    spec::Spec,
};
use fissure_report::object::{LeftOut, MethodReport, ObjectReport};

pub(crate) use error::ObjectError;

use crate::{
    agent,
    args::{ObjectArguments, SchedulesName},
    doctor,
    error::Error,
    progress::Progress,
    project,
    reporting::Reporting,
    run_folder,
    verdict::Code,
};
use driver::Setup;
use probe::Nature;
use results::Findings;
use search::{Bounds, Mode, Search};
use session::Session;
use target::{Callable, Target};

/// The share of the time for stress, if controlled schedules follow.
const STRESSED: f64 = 0.4;

/// The name of the row for the core.
const CORE: &str = "core";

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
    let mut session = Session::start(setup.clone())?;
    let info = session.describe(&options.class)?;
    let mut target = Target::new(info, &settings)?;
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
        (SchedulesName::Both, Err(error)) => (Control::Off, Some(without_control(&error))),
    };
    let mut work = Work::new(session, target, bounds);
    work.control = control;
    work.notices.extend(unread);
    work.notices.extend(missing);
    work.stresses = options.schedules != SchedulesName::Controlled;
    match harness {
        Some(schema) => work.one(&schema)?,
        None => work.all(options.trust_core)?,
    }
    let Work { report, notices, violations, target, .. } = work;
    if let Some(folder) = &options.emit_java {
        present::emit_java(folder, &target, &violations)?;
    }
    reporting.finish_object(report.summary(notices), &report)
}

fn java(options: &ObjectArguments) -> Result<PathBuf, ObjectError> {
    let found = || doctor::find_java(env::var_os("JAVA_HOME"), env::var_os("PATH"));
    options.java.clone().or_else(found).ok_or(ObjectError::NoJava)
}

/// How a JVM is started whose threads Fissure schedules.
fn controlled_setup(setup: Setup, class: &str) -> Result<Setup, Error> {
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

fn without_control(error: &dyn std::fmt::Display) -> String {
    format!("harnesses were only stressed, not executed under controlled schedules: {error}")
}

/// The JVM whose threads Fissure schedules.
enum Control {
    /// It is not wanted.
    Off,
    /// It has not been needed yet.
    Ready(Setup),
    /// It is running.
    On(Box<Session>),
}

/// The state of testing a class.
struct Work {
    session: Session,
    control: Control,
    /// Whether harnesses are stressed at all.
    stresses: bool,
    target: Target,
    bounds: Bounds,
    report: ObjectReport,
    notices: Vec<String>,
    violations: Vec<present::Shown>,
}

impl Work {
    fn new(session: Session, target: Target, bounds: Bounds) -> Self {
        let report = ObjectReport {
            class: target.class.name.clone(),
            java: session.version().to_owned(),
            core_is: target.core_is.to_owned(),
            invocations: bounds.invocations,
            sequences: bounds.sequences,
            left_out: target
                .left_out
                .iter()
                .map(|(method, reason)| LeftOut { method: method.clone(), reason: reason.clone() })
                .collect(),
            ..ObjectReport::default()
        };
        let mut work = Work {
            session,
            control: Control::Off,
            stresses: true,
            target,
            bounds,
            report,
            notices: Vec::new(),
            violations: Vec::new(),
        };
        if !work.session.pinned() {
            work.notices.push(
                "there are fewer processors than sequences, so that rare violations are seen less often"
                    .to_owned(),
            );
        }
        work
    }

    /// Tests the core, then every method.
    fn all(&mut self, trust_core: bool) -> Result<(), Error> {
        self.examine_core()?;
        if !trust_core {
            self.test_core()?;
        }
        for method in self.target.tested.clone() {
            self.test(method)?;
        }
        Ok(())
    }

    /// Executes one harness; the method under test is the one outside the core.
    fn one(&mut self, schema: &Schema) -> Result<(), Error> {
        let called = |callable: &&Callable| {
            schema.sequences.iter().flatten().any(|invocation| {
                invocation.method == callable.method.name
                    && invocation.arguments.len() == callable.info.parameters.len()
            })
        };
        let mut methods: Vec<Callable> =
            self.target.core.iter().chain(&self.target.tested).filter(called).cloned().collect();
        let tested =
            methods.iter().position(|one| !self.target.core.iter().any(|core| core.info == one.info));
        let tested = tested.map(|at| methods.remove(at));
        let spec = Spec {
            core: methods.iter().map(|one| one.method.clone()).collect(),
            method: tested.as_ref().map(|one| one.method.clone()),
        };
        let Some((alphabet, harness)) = Alphabet::of_schema(&spec, schema) else {
            return Err(ObjectError::Option {
                option: "--harness",
                text: schema.to_string(),
                reason: "it calls a method that the class does not have or that cannot be called".to_owned(),
            }
            .into());
        };
        let callables: Vec<&Callable> = methods.iter().chain(&tested).collect();
        self.report.core = methods.iter().map(|one| one.method.name.clone()).collect();
        let name = tested.as_ref().map_or_else(|| CORE.to_owned(), |one| one.method.name.clone());
        let findings = self.both(&name, &callables, &alphabet, |search| search.one(harness.clone()))?;
        self.note(&name, &alphabet, &findings, 0);
        Ok(())
    }

    /// Decides which core methods are read-only, and leaves out those that cannot be tested.
    fn examine_core(&mut self) -> Result<(), Error> {
        let mut at = 0;
        while at < self.target.core.len() {
            let spec = self.target.spec(None);
            let largest = self.bounds.largest(&spec);
            let alphabet = Alphabet::new(&spec, largest, &Rules::ALL);
            let methods: Vec<&Callable> = self.target.core.iter().collect();
            self.session.open(&self.target, &methods, &alphabet)?;
            match probe::examine(&mut self.session, &alphabet, at, methods.len())? {
                Nature::Fine { reads } => {
                    self.report.effects.push(knowledge::judge(&mut self.target.core[at], reads));
                    at += 1;
                }
                Nature::Unfit(reason) => {
                    let callable = self.target.core.remove(at);
                    self.leave_out(&callable, reason);
                }
            }
        }
        if self.target.core.is_empty() {
            return Err(ObjectError::NoCore { class: self.target.class.name.clone() }.into());
        }
        self.report.core = self.target.core.iter().map(|one| one.method.name.clone()).collect();
        Ok(())
    }

    /// Tests core methods with each other only. One that is not atomic is a finding and leaves the core, so that no other
    /// method is blamed for it; the rest is tested again.
    fn test_core(&mut self) -> Result<(), Error> {
        while !self.target.core.is_empty() {
            let spec = self.target.spec(None);
            let methods: Vec<Callable> = self.target.core.clone();
            let blamed = self.search(CORE, &spec, &methods.iter().collect::<Vec<_>>())?;
            let Some(blamed) = blamed else { return Ok(()) };
            self.target.core.retain(|callable| callable.method.name != blamed);
            self.notices.push(format!(
                "{blamed} is not atomic and was removed from the core; the other methods are tested with {}",
                if self.target.core.is_empty() { "nothing" } else { "the rest of the core" }
            ));
        }
        for method in std::mem::take(&mut self.target.tested) {
            self.leave_out(
                &method,
                "no core method is atomic, so there is nothing to test it with".to_owned(),
            );
        }
        Ok(())
    }

    fn test(&mut self, mut method: Callable) -> Result<(), Error> {
        let spec = self.target.spec(Some(&method));
        let largest = self.bounds.largest(&spec);
        let alphabet = Alphabet::new(&spec, largest, &Rules::ALL);
        let core = self.target.core.clone();
        let methods: Vec<&Callable> = core.iter().chain([&method]).collect();
        self.session.open(&self.target, &methods, &alphabet)?;
        match probe::examine(&mut self.session, &alphabet, core.len(), core.len())? {
            Nature::Fine { reads } => self.report.effects.push(knowledge::judge(&mut method, reads)),
            Nature::Unfit(reason) => {
                self.leave_out(&method, reason);
                return Ok(());
            }
        }
        let spec = self.target.spec(Some(&method));
        let methods: Vec<&Callable> = core.iter().chain([&method]).collect();
        self.search(&method.method.name.clone(), &spec, &methods)?;
        Ok(())
    }

    /// Searches with these methods; gives the method that is not atomic.
    fn search(&mut self, name: &str, spec: &Spec, methods: &[&Callable]) -> Result<Option<String>, Error> {
        let largest = self.bounds.largest(spec);
        let alphabet = Alphabet::new(spec, largest, &Rules::ALL);
        let findings = self.both(name, methods, &alphabet, |search| search.run(spec))?;
        Ok(self.note(name, &alphabet, &findings, largest.values))
    }

    /// Searches by stress, then under controlled schedules if nothing was found, each for its share of the time.
    fn both(
        &mut self,
        name: &str,
        methods: &[&Callable],
        alphabet: &Alphabet,
        work: impl Fn(Search<'_>) -> Result<Findings, ObjectError>,
    ) -> Result<Findings, Error> {
        let progress = Progress::of_search(name, self.bounds.budget);
        let mut findings = Findings::default();
        let is_controlled = !matches!(self.control, Control::Off);
        if self.stresses {
            let part = if is_controlled { self.bounds.budget.mul_f64(STRESSED) } else { self.bounds.budget };
            let bounds = Bounds { budget: part, ..self.bounds };
            self.session.open(&self.target, methods, alphabet)?;
            findings = work(Search::new(&mut self.session, alphabet, bounds, Mode::Stress, &progress))?;
        }
        if findings.violation.is_some() || !is_controlled {
            return Ok(findings);
        }
        if let Control::Ready(setup) = &self.control {
            self.control = match Session::start(setup.clone()) {
                Ok(session) => Control::On(Box::new(session)),
                Err(error) if self.stresses => {
                    self.notices.push(without_control(&error));
                    Control::Off
                }
                Err(error) => return Err(error.into()),
            };
        }
        let Control::On(session) = &mut self.control else { return Ok(findings) };
        let budget = self.bounds.budget.saturating_sub(findings.elapsed).max(Duration::from_millis(100));
        let bounds = Bounds { budget, ..self.bounds };
        session.open(&self.target, methods, alphabet)?;
        let controlled = work(Search::new(session, alphabet, bounds, Mode::Controlled, &progress))?;
        Ok(findings.and(controlled))
    }

    fn leave_out(&mut self, callable: &Callable, reason: String) {
        self.report.left_out.push(LeftOut { method: callable.info.signature(), reason });
    }

    /// Adds the results of a search to the report; gives the method that is not atomic.
    fn note(
        &mut self,
        name: &str,
        alphabet: &Alphabet,
        findings: &Findings,
        values: usize,
    ) -> Option<String> {
        let blamed = findings.violation.as_ref().map(|violation| match name {
            CORE => blamed(alphabet, &violation.harness),
            _ => name.to_owned(),
        });
        let shown = blamed
            .as_ref()
            .zip(findings.violation.as_ref())
            .map(|(blamed, violation)| present::Shown::new(&self.report.class, blamed, alphabet, violation));
        self.report.methods.push(MethodReport {
            method: name.to_owned(),
            atomic: shown.is_none(),
            harnesses: findings.harnesses,
            executions: findings.executions,
            seconds: findings.elapsed.as_secs_f64(),
            values,
            schedules: findings.schedules.report(),
            rate: findings.rate,
            violation: shown.as_ref().map(|shown| shown.report.clone()),
        });
        self.violations.extend(shown);
        for text in findings.stuck.iter().take(3) {
            self.notices.push(text.clone());
        }
        let schedules = &findings.schedules;
        for (number, what) in [
            (
                if schedules.strays == 0 { schedules.cut } else { 0 },
                "executions under control that took too long and were cut off",
            ),
            (schedules.strays, "harnesses that start threads of their own, which are not controlled"),
            (
                schedules.diverged,
                "harnesses that do not always do the same under the same schedule, so some schedules may be missing",
            ),
        ] {
            if number > 0 {
                self.notices.push(format!("{name}: {what}: {number}"));
            }
        }
        if findings.undetermined > 0 {
            self.notices.push(format!(
                "{name}: {} harnesses were left out because some order of their invocations does not end or answers \
                 differently each time",
                findings.undetermined
            ));
        }
        if findings.thread_dependent > 0 {
            self.notices.push(format!(
                "{name}: the results of {} harnesses depend on the calling thread, so nothing can be said about them",
                findings.thread_dependent
            ));
        }
        blamed
    }
}

/// The core method to blame: the update with the most invocations, because updates interfere with each other.
fn blamed(alphabet: &Alphabet, harness: &Harness) -> String {
    let operations = harness.operations();
    let calls = |name: &str| operations.iter().filter(|&&one| alphabet.method_name(one) == name).count();
    let updates = operations
        .iter()
        .filter(|&&one| !alphabet.seems_read_only(one))
        .map(|&one| alphabet.method_name(one));
    let any = operations.first().map_or(CORE, |&one| alphabet.method_name(one));
    updates.max_by_key(|name| calls(name)).unwrap_or(any).to_owned()
}
