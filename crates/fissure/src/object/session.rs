//! The class under test in a JVM: loads its operations, remembers the results of runs, and starts over when the JVM is lost.

use std::{mem, time::Duration};

use fissure_object::{
    enumerate::{Alphabet, Harness},
    outcome::{Outcome, Outcomes, Results, Run},
};
use rustc_hash::FxHashSet;

use super::{
    bytecode::{self, Plan},
    describe::{ClassInfo, Description},
    driver::{Depth, Driver, Explored, RunEnd, Setup, Stressed},
    error::ObjectError,
    target::{Callable, Target},
    values,
};

/// After so many JVMs in a row that did not even load the class, there is no point in going on.
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
    /// The results of runs, as far as they are known.
    results: Results,
    /// Grows whenever the JVM is replaced, which makes numbers of results meaningless.
    pub(crate) epoch: usize,
    /// Runs that ended without results.
    pub(crate) troubles: Vec<(Run, RunEnd)>,
}

/// What must be loaded again into a new JVM.
#[derive(Debug)]
struct Loaded {
    target: String,
    name: String,
    class: Vec<u8>,
    constants: Vec<Vec<u8>>,
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

    /// Whether each actor has a processor of its own.
    pub(crate) fn pinned(&self) -> bool {
        self.driver.pinned
    }

    /// What a class has.
    pub(crate) fn describe(&mut self, class: &str) -> Result<ClassInfo, ObjectError> {
        match self.driver.describe(class) {
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
            // Values were chosen by these very kinds; one that does not fit is given as null, which the method refuses.
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
        let (parameters, arguments) = &target.constructor;
        let own = kinds(parameters);
        let constructor = (parameters.as_slice(), add(own.iter().map(String::as_str).collect(), arguments));
        let mut operations = Vec::new();
        for (method, arguments) in alphabet.operations() {
            let info = &methods[*method].info;
            let own = kinds(&info.parameters);
            operations.push((info, add(own.iter().map(String::as_str).collect(), arguments)));
        }
        let internal = target.internal_name();
        let plan = Plan { name: &name, target: &internal, constructor, operations };
        let class = bytecode::generate(&plan);
        self.loaded = Some(Loaded {
            target: target.class.name.clone(),
            name: name.replace('/', "."),
            class,
            constants,
        });
        self.load()
    }

    /// Finds out the results of runs that are not known yet. What ended without results is in `troubles`.
    pub(crate) fn know(&mut self, runs: impl Iterator<Item = Run>) -> Result<(), ObjectError> {
        let mut wanted = FxHashSet::default();
        let missing: Vec<Run> =
            runs.filter(|run| !self.results.contains_key(run) && wanted.insert(run.clone())).collect();
        for batch in missing.chunks(BATCH) {
            let ends = self.run(batch, 2)?;
            for (run, end) in batch.iter().zip(ends) {
                let result = match end {
                    RunEnd::Results(results) => Some(results),
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

    /// The results that are known.
    pub(crate) fn results(&self) -> &Results {
        &self.results
    }

    /// A result in words.
    pub(crate) fn text(&self, number: u32) -> &str {
        self.driver.texts.get(number as usize).map_or("?", String::as_str)
    }

    /// Executes runs whatever is known already, each so many times.
    pub(crate) fn run(&mut self, runs: &[Run], repetitions: usize) -> Result<Vec<RunEnd>, ObjectError> {
        let mut ends = Vec::new();
        while ends.len() < runs.len() {
            let rest = &runs[ends.len()..];
            match self.driver.run(rest, repetitions) {
                Ok(answer) => {
                    // Of what comes after a run that had to be given up, nothing was tried.
                    let stuck = answer.iter().position(|end| *end == RunEnd::Stuck);
                    let tried =
                        if self.driver.fit { answer.len() } else { stuck.map_or(answer.len(), |at| at + 1) };
                    ends.extend(answer.into_iter().take(tried));
                }
                Err(_) => ends.push(self.find_killer(rest, repetitions)?),
            }
            self.mend()?;
        }
        Ok(ends)
    }

    /// Executes a harness; `None` if the JVM was lost over it.
    pub(crate) fn stress(
        &mut self,
        harness: &Harness,
        outcomes: &Outcomes,
        time: Duration,
        patient: bool,
    ) -> Result<Option<Stressed>, ObjectError> {
        let stressed = self.driver.stress(harness, outcomes, time, patient).ok();
        self.mend()?;
        Ok(stressed)
    }

    /// Executes a harness under one schedule after the other; `None` if the JVM was lost over it.
    pub(crate) fn explore(
        &mut self,
        harness: &Harness,
        outcomes: &Outcomes,
        depth: &Depth,
    ) -> Result<Option<Explored>, ObjectError> {
        let explored = self.driver.explore(harness, outcomes, depth).ok();
        self.mend()?;
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
        self.mend()?;
        Ok(outcomes.ok().and_then(Result::ok))
    }

    /// The JVM died: executes the first run alone to see whether it was that one.
    fn find_killer(&mut self, runs: &[Run], repetitions: usize) -> Result<RunEnd, ObjectError> {
        self.mend()?;
        let answer = self.driver.run(&runs[..1], repetitions).ok().and_then(|mut ends| ends.pop());
        Ok(answer.unwrap_or(RunEnd::Stuck))
    }

    /// Replaces a JVM that is not fit any more.
    fn mend(&mut self) -> Result<(), ObjectError> {
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
        match self.driver.load(&loaded.target, &loaded.name, &loaded.class, &loaded.constants) {
            Ok(()) => Ok(()),
            Err(Ok(reason)) => Err(ObjectError::Broken { class: loaded.target.clone(), reason }),
            // The JVM is dead, which `mend` looks after.
            Err(Err(_)) => Ok(()),
        }
    }
}

fn start(setup: &Setup) -> Result<Driver, ObjectError> {
    Driver::start(setup)
        .map_err(|reason| ObjectError::NoJvm { java: setup.java.display().to_string(), reason })
}
