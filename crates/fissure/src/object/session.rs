//! The class under test in a JVM: loads its operations, caches the results of runs, and replaces the JVM if it hangs or dies.

use std::{mem, time::Duration};

use fissure_object::{
    enumerate::{Alphabet, Harness},
    outcome::{Outcome, Outcomes, Results, Run},
    spec::Spec,
};
use rustc_hash::FxHashSet;

use super::{
    bytecode::{self, Plan},
    describe::{ClassInfo, Description},
    driver::{Depth, Driver, Explored, FEW, Loaded, RunEnd, Setup, Stressed},
    error::ObjectError,
    target::{Callable, Creation, Target},
    values,
};

/// After so many JVMs in a row that could not even load the class, the session gives up.
const MOST_FAILURES: usize = 3;

/// Runs are sent in batches of this size.
const BATCH: usize = 4096;

/// A JVM with the operations of some methods.
#[derive(Debug)]
pub(crate) struct Session {
    setup: Setup,
    driver: Driver,
    loaded: Option<Loaded>,
    generated: usize,
    /// The results of runs that are known.
    results: Results,
    /// Increases whenever the JVM is replaced, which makes the numbers of results invalid.
    pub(crate) epoch: usize,
    /// Runs that ended without results.
    pub(crate) troubles: Vec<(Run, RunEnd)>,
}

impl Session {
    /// Starts the first JVM.
    pub(crate) fn start(setup: Setup) -> Result<Self, ObjectError> {
        let driver = start(&setup)?;
        Ok(Session {
            setup,
            driver,
            loaded: None,
            generated: 0,
            results: Results::default(),
            epoch: 0,
            troubles: Vec::new(),
        })
    }

    /// The JVM's version.
    pub(crate) fn version(&self) -> &str {
        &self.driver.version
    }

    /// Whether each actor is pinned to its own processor.
    pub(crate) fn pinned(&self) -> bool {
        self.driver.pinned
    }

    /// The constructors and methods of a class, or if it is abstract, of the class of the object that the expression makes.
    pub(crate) fn describe(&mut self, class: &str, expression: &str) -> Result<ClassInfo, ObjectError> {
        match self.driver.describe(class, expression) {
            Ok(Description::Class(info)) => Ok(info),
            Ok(Description::Missing) => Err(ObjectError::NoClass { class: class.to_owned() }),
            Ok(Description::Broken(reason)) => Err(ObjectError::Broken { class: class.to_owned(), reason }),
            Err(_) => Err(ObjectError::Dead { class: class.to_owned() }),
        }
    }

    /// Makes the operations of an alphabet executable. `methods` are the core methods and the one under test.
    pub(crate) fn open(
        &mut self,
        target: &Target,
        methods: &[&Callable],
        alphabet: &Alphabet,
    ) -> Result<(), ObjectError> {
        self.generated += 1;
        let package =
            if target.class.reachable { "fissure/generated/".to_owned() } else { target.class.package() };
        let name = format!("{package}FissureOperations{}", self.generated);
        let mut constants = Vec::new();
        let mut add = |kinds: Vec<&str>, arguments: &[fissure_object::Value]| {
            let first = constants.len();
            // Values were chosen by these kinds; one that does not fit is passed as null, which the method rejects.
            let encoded = kinds
                .iter()
                .zip(arguments)
                .map(|(kind, value)| values::encode(kind, value).unwrap_or_else(|| b"N".to_vec()));
            constants.extend(encoded);
            first
        };
        let kinds = |parameters: &'_ [super::describe::ParameterInfo]| -> Vec<String> {
            parameters.iter().map(|parameter| parameter.kind.clone()).collect()
        };
        let (constructor, expression) = match &target.creation {
            Creation::Constructor(parameters, arguments) => {
                let own = kinds(parameters);
                let first = add(own.iter().map(String::as_str).collect(), arguments);
                (Some((parameters.as_slice(), first)), String::new())
            }
            Creation::Expression(expression) => (None, expression.clone()),
        };
        let mut operations = Vec::new();
        for (method, arguments) in alphabet.operations() {
            let info = &methods[*method].info;
            let own = kinds(&info.parameters);
            operations.push((info, add(own.iter().map(String::as_str).collect(), arguments)));
        }
        let internal = target.internal_name();
        let plan = Plan { name: &name, target: &internal, constructor, operations };
        let class = bytecode::generate(&plan).map_err(|error| ObjectError::TooLarge {
            class: target.class.name.clone(),
            reason: error.to_string(),
        })?;
        self.loaded = Some(Loaded {
            target: target.class.name.clone(),
            name: name.replace('/', "."),
            near: target.asked.clone(),
            expression,
            class,
            constants,
        });
        self.load()
    }

    /// Executes the runs whose results are not known yet. Runs that ended without results are added to `troubles`.
    pub(crate) fn ensure_results(&mut self, runs: impl Iterator<Item = Run>) -> Result<(), ObjectError> {
        let mut wanted = FxHashSet::default();
        let missing: Vec<Run> =
            runs.filter(|run| !self.results.contains_key(run) && wanted.insert(run.clone())).collect();
        for batch in missing.chunks(BATCH) {
            let ends = self.run(batch, FEW)?;
            for (run, end) in batch.iter().zip(ends) {
                let result = match end {
                    RunEnd::Results(results) | RunEnd::Waits(results) => Some(results),
                    RunEnd::NoObject(reason) => {
                        let class = self.class();
                        return Err(ObjectError::ConstructorThrows { class, reason });
                    }
                    trouble => {
                        self.troubles.push((run.clone(), trouble));
                        None
                    }
                };
                self.results.insert(run.clone(), result);
            }
        }
        Ok(())
    }

    /// Executes the runs whose results are not known yet. If the JVM is replaced meanwhile, the numbers of earlier results are not valid any
    /// more, so that all runs are executed again. Gives the epoch of the results.
    pub(crate) fn ensure_all<I: Iterator<Item = Run>>(
        &mut self,
        runs: impl Fn() -> I,
    ) -> Result<usize, ObjectError> {
        for _ in 0..MOST_FAILURES {
            let epoch = self.epoch;
            self.ensure_results(runs())?;
            if epoch == self.epoch {
                return Ok(epoch);
            }
        }
        // Some run ends the JVM each time; the results that are missing count as unknown.
        Ok(self.epoch)
    }

    /// Makes an object, or tells why that is not possible.
    pub(crate) fn make(&mut self, target: &Target) -> Result<(), ObjectError> {
        let spec = Spec { core: Vec::new(), method: None };
        self.open(target, &[], &Alphabet::sample(&spec, 1, 1))?;
        self.ensure_results(std::iter::once(Run::new()))
    }

    /// The results that are known.
    pub(crate) fn results(&self) -> &Results {
        &self.results
    }

    /// The text of a result.
    pub(crate) fn text(&self, number: u32) -> &str {
        self.driver.texts.get(number as usize).map_or("?", String::as_str)
    }

    /// Executes runs even if their results are known, each so many times.
    pub(crate) fn run(&mut self, runs: &[Run], repetitions: usize) -> Result<Vec<RunEnd>, ObjectError> {
        let mut ends = Vec::new();
        while ends.len() < runs.len() {
            let rest = &runs[ends.len()..];
            match self.driver.run(rest, repetitions) {
                Ok(answer) => {
                    // Runs after one that had to be given up were not executed.
                    let stuck = answer.iter().position(|end| *end == RunEnd::Stuck);
                    let tried =
                        if self.driver.fit { answer.len() } else { stuck.map_or(answer.len(), |at| at + 1) };
                    ends.extend(answer.into_iter().take(tried));
                }
                Err(_) => ends.push(self.find_killer(rest, repetitions)?),
            }
            self.replace_if_unfit()?;
        }
        Ok(ends)
    }

    /// Stresses a harness; `None` if the JVM hung or died.
    pub(crate) fn stress(
        &mut self,
        harness: &Harness,
        outcomes: &Outcomes,
        time: Duration,
        patient: bool,
    ) -> Result<Option<Stressed>, ObjectError> {
        let stressed = self.driver.stress(harness, outcomes, time, patient).ok();
        self.replace_if_unfit()?;
        Ok(stressed)
    }

    /// Executes a harness under controlled schedules; `None` if the JVM hung or died.
    pub(crate) fn explore(
        &mut self,
        harness: &Harness,
        outcomes: &Outcomes,
        depth: &Depth,
    ) -> Result<Option<Explored>, ObjectError> {
        let explored = self.driver.explore(harness, outcomes, depth).ok();
        self.replace_if_unfit()?;
        Ok(explored)
    }

    /// Executes linearizations with a thread for each sequence; `None` if that does not end.
    pub(crate) fn relay(
        &mut self,
        harness: &Harness,
        linearizations: &[Vec<usize>],
        repetitions: usize,
    ) -> Result<Option<Vec<Outcome>>, ObjectError> {
        let outcomes = self.driver.relay(harness, linearizations, repetitions);
        self.replace_if_unfit()?;
        Ok(outcomes.ok().and_then(Result::ok))
    }

    /// After the JVM died: executes the first run alone to see whether that run killed it.
    fn find_killer(&mut self, runs: &[Run], repetitions: usize) -> Result<RunEnd, ObjectError> {
        self.replace_if_unfit()?;
        let answer = self.driver.run(&runs[..1], repetitions).ok().and_then(|mut ends| ends.pop());
        Ok(answer.unwrap_or(RunEnd::Stuck))
    }

    /// Replaces a JVM that cannot be used further.
    fn replace_if_unfit(&mut self) -> Result<(), ObjectError> {
        let mut failures = 0;
        while !self.driver.fit {
            if failures == MOST_FAILURES {
                return Err(ObjectError::Dead { class: self.class() });
            }
            failures += 1;
            drop(mem::replace(&mut self.driver, start(&self.setup)?));
            self.load()?;
        }
        Ok(())
    }

    fn class(&self) -> String {
        self.loaded.as_ref().map(|loaded| loaded.target.clone()).unwrap_or_default()
    }

    fn load(&mut self) -> Result<(), ObjectError> {
        self.results.clear();
        self.troubles.clear();
        self.epoch += 1;
        let Some(loaded) = &self.loaded else { return Ok(()) };
        match self.driver.load(loaded) {
            Ok(()) => Ok(()),
            Err(Ok(reason)) if !loaded.expression.is_empty() => {
                let (class, expression) = (loaded.target.clone(), loaded.expression.clone());
                Err(ObjectError::Expression { class, expression, reason })
            }
            Err(Ok(reason)) => Err(ObjectError::Broken { class: loaded.target.clone(), reason }),
            // The JVM is dead; `replace_if_unfit` replaces it.
            Err(Err(_)) => Ok(()),
        }
    }
}

fn start(setup: &Setup) -> Result<Driver, ObjectError> {
    Driver::start(setup)
        .map_err(|reason| ObjectError::NoJvm { java: setup.java.display().to_string(), reason })
}
