//! Tests a class: examines its methods, executes pairs, then the paper's harnesses, and collects the results for the report.

mod paired;

use std::{
    collections::{BTreeMap, BTreeSet},
    time::{Duration, Instant},
};

use fissure_object::{
    Schema,
    enumerate::{Alphabet, Harness},
    pairs::State,
    rules::Rules,
    spec::Spec,
};
use fissure_report::object::{LeftOut, MethodReport, ObjectReport};

use super::{
    core::{Behaviour, Core},
    driver::Setup,
    error::ObjectError,
    examine::{self, Nature},
    knowledge,
    pairs::{self, Blame, Paired, Pairs},
    present,
    results::{Cause, Findings, Violation},
    search::{Bounds, Mode, Search},
    session::Session,
    target::{BUILT_IN, Callable, Creation, GIVEN, INFERRED, Target},
};
use crate::{args::EnumerationName, error::Error, progress::Progress, signals};

use paired::start_control;

/// The share of the time for stress, if controlled schedules follow.
const STRESSED: f64 = 0.4;

/// The share of the whole time that pairs may take.
const PAIRED: f64 = 0.3;

/// The share of the time that is left which the core may take.
const CORE_SHARE: f64 = 0.15;

/// The time for each method in the first round; it doubles from round to round.
const FIRST_SHARE: Duration = Duration::from_millis(500);

/// So long a pair whose calls interfere is stressed, to see outcomes of the memory model.
const WEAK_TIME: Duration = Duration::from_millis(40);

/// The most invocations of a method in the alphabet of pairs, and the number of values in them.
const SAMPLES: usize = 4;
const VALUES: usize = 2;

/// The longest exploration of a single pair.
const PAIR_TIME: Duration = Duration::from_secs(2);

/// The name of the row for the core.
const CORE: &str = "core";

/// The JVM whose threads Fissure schedules.
pub(crate) enum Control {
    /// It is not wanted.
    Off,
    /// It has not been needed yet.
    Ready(Setup),
    /// It is running.
    On(Box<Session>),
}

/// What is done, and for how long.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Limits {
    /// The time for all methods together.
    pub(crate) total: Duration,
    /// Which harnesses are tried.
    pub(crate) enumeration: EnumerationName,
    /// Whether the core is taken to be atomic without a test.
    pub(crate) trusts_core: bool,
    /// Whether harnesses are stressed.
    pub(crate) stresses: bool,
}

/// The results of testing a class.
pub(crate) struct Finished {
    pub(crate) target: Target,
    pub(crate) report: ObjectReport,
    pub(crate) notices: Vec<String>,
    pub(crate) violations: Vec<present::Shown>,
    /// Why nothing can be said.
    pub(crate) problem: Option<String>,
}

/// The state of testing a class.
pub(crate) struct Work {
    session: Session,
    control: Control,
    limits: Limits,
    target: Target,
    bounds: Bounds,
    started: Instant,
    report: ObjectReport,
    pub(crate) notices: Vec<String>,
    violations: Vec<present::Shown>,
    /// What each method does and the states of the object, by the names of methods.
    behaviours: BTreeMap<String, Behaviour>,
    states: Vec<State>,
    /// The results so far, by method.
    findings: BTreeMap<String, Findings>,
    /// The methods that are not atomic.
    blamed: BTreeSet<String>,
    /// Harnesses without atomic outcomes.
    undetermined: u64,
}

pub(crate) fn without_control(error: &dyn std::fmt::Display) -> String {
    format!("harnesses were only stressed, not executed under controlled schedules: {error}")
}

impl Work {
    pub(crate) fn new(
        session: Session,
        target: Target,
        bounds: Bounds,
        control: Control,
        limits: Limits,
        started: Instant,
    ) -> Self {
        let made_by = match &target.creation {
            Creation::Constructor(parameters, _) if parameters.is_empty() => None,
            creation => Some(present::creation(creation, &target.class.name)),
        };
        let report = ObjectReport {
            class: target.class.name.clone(),
            java: session.version().to_owned(),
            core_is: target.core_is.to_owned(),
            made_by,
            invocations: bounds.invocations,
            sequences: bounds.sequences,
            left_out: target
                .left_out
                .iter()
                .map(|(method, reason)| LeftOut { method: method.clone(), reason: reason.clone() })
                .collect(),
            ..ObjectReport::default()
        };
        let mut notices = Vec::new();
        if !session.pinned() {
            notices.push(
                "there are fewer processors than sequences, so that rare violations are seen less often"
                    .to_owned(),
            );
        }
        Work {
            session,
            control,
            limits,
            target,
            bounds,
            started,
            report,
            notices,
            violations: Vec::new(),
            behaviours: BTreeMap::new(),
            states: Vec::new(),
            findings: BTreeMap::new(),
            blamed: BTreeSet::new(),
            undetermined: 0,
        }
    }

    /// Tests all methods.
    pub(crate) fn all(&mut self) -> Result<(), Error> {
        self.examine()?;
        if self.limits.enumeration == EnumerationName::Pairs {
            self.pairs()?;
        }
        self.choose_core();
        if !self.limits.trusts_core && !self.is_over() {
            self.test_core()?;
        }
        self.rounds()?;
        for method in self.callables() {
            self.add_row(&method.method.name);
        }
        // Nothing is said about methods that were never executed.
        self.report.methods.retain(|row| row.executions > 0);
        if self.report.methods.is_empty() && !signals::interrupted() {
            return Err(ObjectError::Nothing { class: self.target.class.name.clone() }.into());
        }
        Ok(())
    }

    /// The report. Without any result there is nothing to say.
    pub(crate) fn finish(mut self) -> Finished {
        let mut problem = None;
        if self.undetermined > 0 {
            self.notices.push(format!(
                "harnesses that were left out because their calls may wait for ever or answer differently each time: {}",
                self.undetermined
            ));
        }
        if signals::interrupted() {
            self.notices.push("the search was interrupted; results are of the time before".to_owned());
            if self.violations.is_empty() {
                problem = Some("interrupted before anything was found".to_owned());
            }
        }
        let Work { target, report, notices, violations, .. } = self;
        Finished { target, report, notices, violations, problem }
    }

    /// The time that is left for all methods together.
    fn left(&self) -> Duration {
        self.limits.total.saturating_sub(self.started.elapsed())
    }

    fn is_over(&self) -> bool {
        self.left().is_zero() || signals::interrupted()
    }

    /// All methods: the core, then those to test.
    fn callables(&self) -> Vec<Callable> {
        self.target.core.iter().chain(&self.target.tested).cloned().collect()
    }

    /// Executes one harness; the method under test is the one outside the core.
    pub(crate) fn one(&mut self, schema: &Schema) -> Result<(), Error> {
        let called = |callable: &&Callable| {
            schema.sequences.iter().flatten().any(|invocation| {
                invocation.method == callable.method.name
                    && invocation.arguments.len() == callable.info.parameters.len()
            })
        };
        let mut methods: Vec<Callable> = self.callables().iter().filter(called).cloned().collect();
        let has_core = !self.target.core.is_empty();
        let tested = methods
            .iter()
            .position(|one| has_core && !self.target.core.iter().any(|core| core.info == one.info));
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
        let budget = self.bounds.budget;
        let findings =
            self.both(&name, &callables, &alphabet, budget, |search| search.one(harness.clone()))?;
        self.settle(&name, &callables, &alphabet, findings)?;
        // What was executed belongs to the method that was blamed.
        if let Some(blamed) = self.blamed.first().filter(|blamed| **blamed != name).cloned()
            && let Some(findings) = self.findings.remove(&name)
        {
            self.merge(&blamed, findings);
        }
        let names: Vec<String> = self.findings.keys().cloned().collect();
        names.iter().for_each(|name| self.add_row(name));
        Ok(())
    }

    /// Decides which methods can be tested and which are read-only, and finds states of the object.
    fn examine(&mut self) -> Result<(), Error> {
        let progress = Progress::of_task(&self.target.class.name);
        progress.show_task("calling its methods one after the other".to_owned());
        let callables = self.callables();
        let spec = Spec { core: callables.iter().map(|one| one.method.clone()).collect(), method: None };
        let alphabet = Alphabet::sample(&spec, VALUES, SAMPLES);
        self.session.open(&self.target, &callables.iter().collect::<Vec<_>>(), &alphabet)?;
        let examined = examine::examine(&mut self.session, &alphabet, callables.len())?;
        self.states = examined.states;
        let mut natures = examined.natures.into_iter().zip(examined.behaviours);
        for is_core in [true, false] {
            let list = if is_core { &mut self.target.core } else { &mut self.target.tested };
            for mut callable in std::mem::take(list) {
                let (nature, behaviour) = natures.next().expect("every method was examined");
                match nature {
                    Nature::Fine { reads } => {
                        self.report.effects.push(knowledge::judge(&mut callable, reads));
                        self.behaviours.insert(callable.method.name.clone(), behaviour);
                        let list = if is_core { &mut self.target.core } else { &mut self.target.tested };
                        list.push(callable);
                    }
                    Nature::Unfit(reason) => self.leave_out(&callable, reason),
                }
            }
        }
        // States were found with the operations of methods that may have been left out since.
        self.renumber(&alphabet);
        Ok(())
    }

    /// Gives the operations of states the numbers of the alphabet of all methods that are left.
    fn renumber(&mut self, before: &Alphabet) {
        let now = self.pair_alphabet();
        let number = |one: &u16| {
            let call = before.invocation(*one);
            (0..now.operations().len() as u16).find(|&other| now.invocation(other) == call)
        };
        let renumbered = self
            .states
            .iter()
            .filter_map(|state| Some(State { run: state.run.iter().map(number).collect::<Option<_>>()? }));
        self.states = renumbered.collect();
    }

    fn pair_alphabet(&self) -> Alphabet {
        let core = self.callables().iter().map(|one| one.method.clone()).collect();
        Alphabet::sample(&Spec { core, method: None }, VALUES, SAMPLES)
    }

    /// Chooses the core, unless it was given or is known, among the methods that have not been blamed.
    fn choose_core(&mut self) {
        let blamed = std::mem::take(&mut self.target.core);
        let (blamed, kept): (Vec<Callable>, Vec<Callable>) =
            blamed.into_iter().partition(|one| self.blamed.contains(&one.method.name));
        self.target.core = kept;
        for method in &blamed {
            self.notices.push(format!("{} is not atomic and was removed from the core", method.method.name));
        }
        self.target.tested.extend(blamed);
        if self.target.core.is_empty() {
            self.infer_core();
            self.drop_unwanted();
        } else if self.target.core_is == INFERRED {
            "the usual methods of such collections".clone_into(&mut self.report.core_reason);
        }
        self.report.core = self.target.core.iter().map(|one| one.method.name.clone()).collect();
    }

    fn infer_core(&mut self) {
        let tested = &self.target.tested;
        let behaviours: Vec<Behaviour> = tested
            .iter()
            .map(|one| Behaviour {
                reads: one.method.seems_read_only,
                ..self.behaviours.get(&one.method.name).cloned().unwrap_or_default()
            })
            .collect();
        let may_be = |at: usize| !self.blamed.contains(&tested[at].method.name);
        let is_free = |at: usize| !self.target.wants(&tested[at].method.name);
        // Methods that the user wants to be tested are better not in the core.
        let free =
            Core::infer(&behaviours, |at| may_be(at) && (self.target.wanted.is_empty() || is_free(at)));
        let Some(core) = free.or_else(|| Core::infer(&behaviours, may_be)) else { return };
        self.report.core_reason = core.reason(|at| tested[at].method.name.clone());
        INFERRED.clone_into(&mut self.report.core_is);
        let chosen = core.methods();
        let all = std::mem::take(&mut self.target.tested);
        let (core, rest): (Vec<_>, Vec<_>) =
            all.into_iter().enumerate().partition(|(at, _)| chosen.contains(at));
        self.target.core = core.into_iter().map(|(_, one)| one).collect();
        self.target.tested = rest.into_iter().map(|(_, one)| one).collect();
    }

    /// The methods of a core that was given or is built in: where others are involved, these are to blame.
    fn assumed(&self) -> BTreeSet<String> {
        match self.target.core_is {
            GIVEN | BUILT_IN => self.target.core.iter().map(|one| one.method.name.clone()).collect(),
            _ => BTreeSet::new(),
        }
    }

    /// Drops methods that were there for the core only.
    fn drop_unwanted(&mut self) {
        let (wanted, rest): (Vec<Callable>, Vec<Callable>) = std::mem::take(&mut self.target.tested)
            .into_iter()
            .partition(|one| self.target.wants(&one.method.name));
        self.target.tested = wanted;
        rest.iter().for_each(|one| drop(self.findings.remove(&one.method.name)));
    }

    /// Tests core methods with each other only. One that is not atomic is a finding and leaves the core, so that no other
    /// method is blamed for it; the rest is tested again.
    fn test_core(&mut self) -> Result<(), Error> {
        while !self.target.core.is_empty() && !self.is_over() {
            let spec = self.target.spec(None);
            let methods: Vec<Callable> = self.target.core.clone();
            let methods: Vec<&Callable> = methods.iter().collect();
            let budget = self.bounds.budget.min(self.left().mul_f64(CORE_SHARE));
            let known = self.blamed.len();
            self.search(CORE, &spec, &methods, budget)?;
            if self.blamed.len() == known {
                break;
            }
            let (blamed, kept): (Vec<Callable>, Vec<Callable>) = std::mem::take(&mut self.target.core)
                .into_iter()
                .partition(|one| self.blamed.contains(&one.method.name));
            self.target.core = kept;
            for method in blamed {
                self.notices.push(format!(
                    "{} is not atomic and was removed from the core; the other methods are tested with {}",
                    method.method.name,
                    if self.target.core.is_empty() { "nothing" } else { "the rest of the core" }
                ));
                self.target.tested.push(method);
            }
        }
        self.add_row(CORE);
        Ok(())
    }

    /// Searches for each method in rounds, each for twice the time of the round before, until the time for all of them is over.
    fn rounds(&mut self) -> Result<(), Error> {
        if self.target.core.is_empty() {
            return Ok(());
        }
        let mut spent: BTreeMap<String, Duration> = BTreeMap::new();
        for round in 0_u32.. {
            let wanted: Vec<Callable> = self
                .target
                .tested
                .iter()
                .filter(|one| !self.blamed.contains(&one.method.name))
                .filter(|one| spent.get(&one.method.name).is_none_or(|spent| *spent < self.bounds.budget))
                .cloned()
                .collect();
            if wanted.is_empty() {
                break;
            }
            for (at, method) in wanted.iter().enumerate() {
                if self.is_over() {
                    self.note_rest(&spent);
                    return Ok(());
                }
                let name = &method.method.name;
                let done = spent.get(name).copied().unwrap_or_default();
                let fair = self.left() / (wanted.len() - at) as u32;
                let share = (FIRST_SHARE * (1 << round.min(8))).min(fair);
                let share = share.min(self.bounds.budget.saturating_sub(done)).max(Duration::from_millis(20));
                let spec = self.target.spec(Some(method));
                let core = self.target.core.clone();
                let methods: Vec<&Callable> = core.iter().chain([method]).collect();
                self.search(name, &spec, &methods, share)?;
                *spent.entry(name.clone()).or_default() += share;
            }
        }
        Ok(())
    }

    /// Searches with these methods.
    fn search(
        &mut self,
        name: &str,
        spec: &Spec,
        methods: &[&Callable],
        budget: Duration,
    ) -> Result<(), Error> {
        let largest = self.bounds.largest(spec);
        let alphabet = Alphabet::new(spec, largest, &Rules::ALL);
        let mut findings = self.both(name, methods, &alphabet, budget, |search| search.run(spec))?;
        findings.values = largest.values;
        self.settle(name, methods, &alphabet, findings)
    }

    /// Notes the results of a search, and who is to blame for a violation.
    fn settle(
        &mut self,
        name: &str,
        methods: &[&Callable],
        alphabet: &Alphabet,
        mut findings: Findings,
    ) -> Result<(), Error> {
        let violation = findings.violation.take();
        self.merge(name, findings);
        let Some(violation) = violation else { return Ok(()) };
        let target = (name != CORE).then_some(name);
        for (blamed, violation) in self.prove(methods, alphabet, violation, target)? {
            self.blame(&blamed, alphabet, violation);
        }
        Ok(())
    }

    /// Notes that a method is not atomic.
    fn blame(&mut self, name: &str, alphabet: &Alphabet, violation: Violation) {
        if !self.blamed.insert(name.to_owned()) {
            return;
        }
        if self.report.first_violation.is_none() {
            self.report.first_violation = Some(self.started.elapsed().as_secs_f64());
        }
        let mut findings = self.findings.remove(name).unwrap_or_default();
        findings.violation = Some(violation);
        let shown = findings
            .violation
            .as_ref()
            .map(|violation| present::Shown::new(&self.report.class, name, alphabet, violation));
        self.violations.extend(shown);
        self.findings.insert(name.to_owned(), findings);
    }

    fn merge(&mut self, name: &str, findings: Findings) {
        let known = self.findings.remove(name).unwrap_or_default();
        self.findings.insert(name.to_owned(), known.and(findings));
    }

    /// Searches by stress, then under controlled schedules if nothing was found, each for its share of the time.
    fn both(
        &mut self,
        name: &str,
        methods: &[&Callable],
        alphabet: &Alphabet,
        budget: Duration,
        work: impl Fn(Search<'_>) -> Result<Findings, ObjectError>,
    ) -> Result<Findings, Error> {
        let progress = Progress::of_search(name, budget);
        let mut findings = Findings::default();
        let is_controlled = !matches!(self.control, Control::Off);
        if self.limits.stresses {
            let part = if is_controlled { budget.mul_f64(STRESSED) } else { budget };
            let bounds = Bounds { budget: part, ..self.bounds };
            self.session.open(&self.target, methods, alphabet)?;
            findings = work(Search::new(&mut self.session, alphabet, bounds, Mode::Stress, &progress))?;
        }
        if findings.violation.is_some() || !is_controlled || signals::interrupted() {
            return Ok(findings);
        }
        if !start_control(&mut self.control, &mut self.notices, self.limits.stresses)? {
            return Ok(findings);
        }
        let Control::On(session) = &mut self.control else { return Ok(findings) };
        let budget = budget.saturating_sub(findings.elapsed).max(Duration::from_millis(100));
        let bounds = Bounds { budget, ..self.bounds };
        session.open(&self.target, methods, alphabet)?;
        let controlled = work(Search::new(session, alphabet, bounds, Mode::Controlled, &progress))?;
        Ok(findings.and(controlled))
    }

    fn leave_out(&mut self, callable: &Callable, reason: String) {
        self.report.left_out.push(LeftOut { method: callable.info.signature(), reason });
    }

    /// Adds the row of a method to the report, with notes about what could not be executed.
    fn add_row(&mut self, name: &str) {
        let Some(findings) = self.findings.remove(name) else { return };
        let shown = findings
            .violation
            .as_ref()
            .and_then(|_| self.violations.iter().find(|shown| shown.method == name));
        self.report.methods.push(MethodReport {
            method: name.to_owned(),
            atomic: shown.is_none(),
            harnesses: findings.harnesses,
            executions: findings.executions,
            seconds: findings.elapsed.as_secs_f64(),
            values: findings.values,
            schedules: findings.schedules.report(),
            rate: findings.rate,
            violation: shown.map(|shown| shown.report.clone()),
        });
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
        self.undetermined += findings.undetermined;
        if findings.thread_dependent > 0 {
            self.notices.push(format!(
                "{name}: the results of {} harnesses depend on the calling thread, so nothing can be said about them",
                findings.thread_dependent
            ));
        }
    }
}
