//! The JVM that harnesses run in: started once, kept warm, and replaced when a harness hangs or kills it.

use std::{
    fs,
    io::{self, Write},
    path::{Path, PathBuf},
    process::{Child, ChildStdin, Command, Stdio},
    sync::{Arc, Condvar, Mutex, PoisonError},
    thread,
    time::{Duration, Instant},
};

use fissure_model::exploration::Progress;
use fissure_object::{
    enumerate::{Harness, Operation},
    outcome::{Outcome, Outcomes, ResultNumber, Run},
};

use super::{
    describe::{self, Description},
    pin,
    wire::{Message, Reader, WireError},
};
use crate::launch;

macro_rules! classes {
    ($($name:literal),* $(,)?) => {
        &[$((concat!($name, ".class"), include_bytes!(concat!("../../object/classes/fissure/object/", $name, ".class")))),*]
    };
}

/// The driver, compiled from `object/src` by `cargo xtask hook`.
const CLASSES: &[(&str, &[u8])] = classes![
    "Actors$Actor",
    "Actors$Job",
    "Actors$Nudge",
    "Actors",
    "Channel",
    "Counts",
    "Describe",
    "Dictionary$View",
    "Dictionary",
    "Driver$Loader",
    "Driver",
    "Explorer",
    "Expression$Lambda",
    "Expression$Node",
    "Expression",
    "Functions$Seen",
    "Functions",
    "Gates$Closed",
    "Gates",
    "Makers",
    "Operations",
    "Relay",
    "Runner",
    "Snapshot",
    "Stress",
    "Thrown$1",
    "Thrown",
    "Values$1",
    "Values$Constant",
    "Values$Opaque$1",
    "Values$Opaque",
    "Values",
];

const DESCRIBE: u8 = 1;
const LOAD: u8 = 2;
const RUN: u8 = 3;
const STRESS: u8 = 4;
const RELAY: u8 = 5;
const EXPLORE: u8 = 6;

/// How long the driver may take beyond the time that it was given, before it is killed.
const PATIENCE: Duration = Duration::from_secs(30);

/// A run that takes longer is taken to be blocked for ever.
const STUCK_AFTER: Duration = Duration::from_millis(500);

/// The same where a run is repeated to confirm a violation.
const CERTAINLY_STUCK_AFTER: Duration = Duration::from_secs(2);

/// Up to so many repetitions, the driver does not execute runs again that are known to wait.
pub(crate) const FEW: usize = 2;

/// How a JVM is started.
#[derive(Debug, Clone)]
pub(crate) struct Setup {
    /// The `java` to use.
    pub(crate) java: PathBuf,
    /// The user's class path.
    pub(crate) classpath: String,
    /// How many threads harnesses may have.
    pub(crate) actors: usize,
    /// Where the driver's classes are.
    pub(crate) folder: PathBuf,
    /// The agent that schedules threads, with the file of its settings; without it harnesses can only be stressed.
    pub(crate) agent: Option<(PathBuf, PathBuf)>,
}

/// How a run ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum RunEnd {
    /// With these results, in each repetition.
    Results(Outcome),
    /// An operation waits for another thread, and there is none; the results before it.
    Waits(Outcome),
    /// With other results in a later repetition.
    Varies,
    /// It did not end.
    Stuck,
    /// The constructor threw this exception.
    NoObject(String),
}

/// The results of stressing a harness.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Stressed {
    /// The problem, if there was one.
    pub(crate) problem: String,
    /// The outcomes and how often each was seen.
    pub(crate) outcomes: Vec<(Outcome, u64)>,
    /// How often the harness was executed.
    pub(crate) executions: u64,
    /// For how long.
    pub(crate) elapsed: Duration,
    /// The number of executions in the second half of the time, and the length of that half; zero for controlled executions.
    pub(crate) later: (u64, Duration),
}

/// The results of executing a harness under controlled schedules.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Explored {
    /// The outcomes; executions include those that were repeated for a larger number of preemptions.
    pub(crate) stressed: Stressed,
    /// How many different schedules with at most as many preemptions as were tried last.
    pub(crate) schedules: u64,
    /// The number of preemptions up to which all schedules were executed.
    pub(crate) complete: Option<u32>,
    /// Executions that differed from an earlier one under the same schedule.
    pub(crate) diverged: u64,
    /// Executions that took too long.
    pub(crate) cut: u64,
    /// Whether the harness started threads, which are not controlled.
    pub(crate) has_strays: bool,
    /// The steps of the first execution with a violation: actor, call, operation, site and target, separated by tabs.
    pub(crate) steps: String,
}

/// How far a harness is explored.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Depth {
    /// The most preemptions.
    pub(crate) preemptions: u32,
    /// The most executions.
    pub(crate) executions: u64,
    /// How long at most.
    pub(crate) time: Duration,
    /// Whether to go on after the first violation.
    pub(crate) patient: bool,
    /// The invocations during which no other sequence may continue, counted sequence by sequence.
    pub(crate) whole: Vec<usize>,
}

/// A generated class and how its objects are made.
#[derive(Debug)]
pub(crate) struct Loaded {
    /// The class under test.
    pub(crate) target: String,
    /// The name of the generated class.
    pub(crate) name: String,
    /// The class that the user named, in whose package expressions find others.
    pub(crate) near: String,
    /// The expression that makes objects; empty if a constructor does.
    pub(crate) expression: String,
    /// The generated class.
    pub(crate) class: Vec<u8>,
    /// The arguments.
    pub(crate) constants: Vec<Vec<u8>>,
}

/// A running JVM.
#[derive(Debug)]
pub(crate) struct Driver {
    child: Child,
    input: ChildStdin,
    reader: Reader,
    watchdog: Arc<Watchdog>,
    /// The texts of results, by their numbers, since the last `load`.
    pub(crate) texts: Vec<String>,
    /// Whether the JVM can be used further.
    pub(crate) fit: bool,
    /// The JVM's version.
    pub(crate) version: String,
    /// Whether each actor is pinned to its own processor.
    pub(crate) pinned: bool,
    actors: usize,
}

/// Kills a JVM that does not answer in time.
#[derive(Debug, Default)]
struct Watchdog {
    deadline: Mutex<Deadline>,
    changed: Condvar,
}

#[derive(Debug, Default)]
struct Deadline {
    at: Option<Instant>,
    ended: bool,
}

/// Writes the driver's classes into a folder.
pub(crate) fn unpack(folder: &Path) -> io::Result<()> {
    let package = folder.join("fissure").join("object");
    fs::create_dir_all(&package)?;
    CLASSES.iter().try_for_each(|(name, bytes)| fs::write(package.join(name), bytes))
}

impl Driver {
    /// Starts a JVM. The error is the first line of its output.
    pub(crate) fn start(setup: &Setup) -> Result<Driver, String> {
        let log = setup.folder.join("jvm.log");
        let errors = fs::File::create(&log).map_err(|error| error.to_string())?;
        let mut classpath = setup.folder.as_os_str().to_owned();
        if !setup.classpath.is_empty() {
            classpath.push(":");
            classpath.push(&setup.classpath);
        }
        let mut child =
            Command::new(&setup.java)
                .args(["-XX:+UseSerialGC", "-Xms256m", "-Xmn192m", "-XX:-StackTraceInThrowable"])
                .args(["-XX:+DisplayVMOutputToStderr", "-XX:-CreateCoredumpOnCrash", "-XX:-UsePerfData"])
                .arg(format!("-XX:ErrorFile={}", setup.folder.join("crash.log").display()))
                .args(setup.agent.as_ref().map(|(agent, settings)| {
                    format!("-agentpath:{}={}", agent.display(), settings.display())
                }))
                // The agent schedules virtual threads only where each has a platform thread of its own.
                .args(setup.agent.iter().flat_map(|_| launch::ANY_VIRTUAL_THREADS))
                .arg("-cp")
                .arg(classpath)
                .args(["fissure.object.Driver", &setup.actors.to_string()])
                .stdin(Stdio::piped())
                .stdout(Stdio::piped())
                .stderr(errors)
                .spawn()
                .map_err(|error| error.to_string())?;
        let (Some(input), Some(output)) = (child.stdin.take(), child.stdout.take()) else {
            return Err("it has no standard input and output".to_owned());
        };
        let watchdog = Arc::new(Watchdog::default());
        let watched = Arc::clone(&watchdog);
        let process = child.id();
        thread::spawn(move || watched.watch(process));
        let mut driver = Driver {
            child,
            input,
            reader: Reader::new(output),
            watchdog,
            texts: Vec::new(),
            fit: true,
            version: String::new(),
            pinned: false,
            actors: setup.actors,
        };
        driver.watchdog.set(Some(Instant::now() + PATIENCE));
        let greeting = driver.reader.text();
        driver.watchdog.set(None);
        match greeting.ok().and_then(|text| text.strip_prefix("ready ").map(str::to_owned)) {
            Some(version) => driver.version = version,
            None => {
                let output = fs::read_to_string(&log).unwrap_or_default();
                return Err(output.lines().next().unwrap_or("it printed nothing").to_owned());
            }
        }
        driver.pinned = pin::pin(process, setup.actors);
        Ok(driver)
    }

    /// The constructors and methods of a class, or if it is abstract, of the class of the object that the expression makes.
    pub(crate) fn describe(&mut self, class: &str, expression: &str) -> Result<Description, WireError> {
        let mut message = Message::new(DESCRIBE);
        message.text(class);
        message.text(expression);
        self.request(&message, Duration::ZERO, describe::read)
    }

    /// Makes the operations of a generated class executable; the error says what is wrong with the class.
    pub(crate) fn load(&mut self, loaded: &Loaded) -> Result<(), Result<String, WireError>> {
        let mut message = Message::new(LOAD);
        message.text(&loaded.target);
        message.text(&loaded.name);
        message.text(&loaded.near);
        message.text(&loaded.expression);
        message.blob(&loaded.class);
        message.int(loaded.constants.len());
        loaded.constants.iter().for_each(|constant| message.bytes.extend_from_slice(constant));
        self.texts.clear();
        match self.request(&message, Duration::ZERO, Reader::text) {
            Ok(problem) if problem.is_empty() => Ok(()),
            other => Err(other),
        }
    }

    /// Executes operations one after the other, each run so many times on fresh objects.
    pub(crate) fn run(&mut self, runs: &[Run], repetitions: usize) -> Result<Vec<RunEnd>, WireError> {
        let mut message = Message::new(RUN);
        let patience = if repetitions > FEW { CERTAINLY_STUCK_AFTER } else { STUCK_AFTER };
        message.int(patience.as_millis() as usize);
        message.int(repetitions);
        message.int(runs.len());
        runs.iter().for_each(|run| message.numbers(run.iter().map(|&one| usize::from(one))));
        let (ends, new_texts, fit) = self.request(&message, Duration::from_secs(600), |reader| {
            let mut ends = Vec::with_capacity(runs.len());
            for run in runs {
                ends.push(match reader.byte()? {
                    0 => RunEnd::Results(numbers(reader, run.len())?),
                    1 => RunEnd::Varies,
                    2 => RunEnd::Stuck,
                    4 => {
                        let number = reader.int()?.max(0) as usize;
                        RunEnd::Waits(numbers(reader, number)?)
                    }
                    _ => RunEnd::NoObject(String::new()),
                });
            }
            let problem = reader.text()?;
            for end in &mut ends {
                if let RunEnd::NoObject(why) = end {
                    why.clone_from(&problem);
                }
            }
            let (new_texts, fit) = finish(reader)?;
            Ok((ends, new_texts, fit))
        })?;
        self.update(new_texts, fit);
        Ok(ends)
    }

    /// Executes a harness for some time, or until an outcome is seen that is not atomic unless `patient`.
    pub(crate) fn stress(
        &mut self,
        harness: &Harness,
        outcomes: &Outcomes,
        time: Duration,
        patient: bool,
    ) -> Result<Stressed, WireError> {
        let mut message = Message::new(STRESS);
        sequences(&mut message, harness.sequences.iter().map(Vec::as_slice));
        message.int(harness.sequences.len());
        for sequence in 0..harness.sequences.len() {
            let before: Vec<usize> = harness
                .order
                .iter()
                .filter(|(_, after)| *after == sequence)
                .map(|(before, _)| *before)
                .collect();
            message.numbers(before.into_iter());
        }
        message.int(outcomes.atomic.len());
        for (outcome, _) in &outcomes.atomic {
            message.numbers(outcome.iter().map(|&number| number as usize));
        }
        message.numbers(harness.suspects().into_iter());
        message.long(time.as_nanos() as i64);
        message.byte(u8::from(patient));
        let width = harness.lengths().iter().sum();
        let (stressed, new_texts, fit) = self.request(&message, time, |reader| {
            let mut stressed = stressed(reader, width)?;
            let [executions, nanoseconds]: [i64; 2] = reader.longs()?;
            stressed.later = (executions.unsigned_abs(), Duration::from_nanos(nanoseconds.unsigned_abs()));
            let (new_texts, fit) = finish(reader)?;
            Ok((stressed, new_texts, fit))
        })?;
        self.update(new_texts, fit);
        Ok(stressed)
    }

    /// Executes a harness under one schedule after the other.
    pub(crate) fn explore(
        &mut self,
        harness: &Harness,
        outcomes: &Outcomes,
        depth: &Depth,
    ) -> Result<Explored, WireError> {
        let mut message = Message::new(EXPLORE);
        sequences(&mut message, harness.sequences.iter().map(Vec::as_slice));
        let pairs: Vec<usize> = harness.order.iter().flat_map(|&(before, after)| [before, after]).collect();
        message.numbers(pairs.into_iter());
        message.int(outcomes.atomic.len());
        for (outcome, _) in &outcomes.atomic {
            message.numbers(outcome.iter().map(|&number| number as usize));
        }
        message.int(depth.preemptions as usize);
        message.long(depth.time.as_nanos() as i64);
        message.long(depth.executions as i64);
        message.byte(u8::from(depth.patient));
        message.numbers(depth.whole.iter().copied());
        let width = harness.lengths().iter().sum();
        let (explored, new_texts, fit) = self.request(&message, depth.time, |reader| {
            let stressed = stressed(reader, width)?;
            let progress = Progress::from_numbers(reader.longs()?);
            let steps = reader.text()?;
            let (new_texts, fit) = finish(reader)?;
            let explored = Explored {
                stressed,
                schedules: progress.schedules,
                complete: progress.complete,
                diverged: progress.diverged,
                cut: progress.cut,
                has_strays: progress.has_strays,
                steps,
            };
            Ok((explored, new_texts, fit))
        })?;
        self.update(new_texts, fit);
        Ok(explored)
    }

    /// Executes linearizations with each sequence in its own thread. The inner `Err` is the problem.
    pub(crate) fn relay(
        &mut self,
        harness: &Harness,
        linearizations: &[Vec<usize>],
        repetitions: usize,
    ) -> Result<Result<Vec<Outcome>, String>, WireError> {
        let operations = harness.operations();
        let owners: Vec<usize> = harness
            .lengths()
            .iter()
            .enumerate()
            .flat_map(|(sequence, &length)| std::iter::repeat_n(sequence, length))
            .collect();
        let mut message = Message::new(RELAY);
        let actors = harness.sequences.len().min(self.actors);
        message.int(actors);
        message.int(repetitions);
        let steps: Vec<Run> =
            linearizations.iter().map(|run| run.iter().map(|&one| operations[one]).collect()).collect();
        sequences(&mut message, steps.iter().map(Vec::as_slice));
        message.int(linearizations.len());
        for run in linearizations {
            message.numbers(run.iter().map(|&one| owners[one] % actors));
        }
        let time = Duration::from_millis(linearizations.len() as u64 * repetitions as u64);
        let (results, new_texts, fit) = self.request(&message, time, |reader| {
            let problem = reader.text()?;
            let mut outcomes = Vec::new();
            for at in 0..linearizations.len() * repetitions {
                if !problem.is_empty() {
                    break;
                }
                let run = &linearizations[at % linearizations.len()];
                let results = numbers(reader, run.len())?;
                let mut outcome = vec![0; run.len()];
                run.iter().zip(results).for_each(|(&one, result)| outcome[one] = result);
                outcomes.push(outcome);
            }
            let (new_texts, fit) = finish(reader)?;
            Ok((if problem.is_empty() { Ok(outcomes) } else { Err(problem) }, new_texts, fit))
        })?;
        self.update(new_texts, fit);
        Ok(results)
    }

    fn request<T>(
        &mut self,
        message: &Message,
        time: Duration,
        answer: impl FnOnce(&mut Reader) -> Result<T, WireError>,
    ) -> Result<T, WireError> {
        self.watchdog.set(Some(Instant::now() + time + PATIENCE));
        let answer = self
            .input
            .write_all(&message.bytes)
            .and_then(|()| self.input.flush())
            .map_err(WireError::from)
            .and_then(|()| answer(&mut self.reader));
        self.watchdog.set(None);
        self.fit &= answer.is_ok();
        answer
    }

    fn update(&mut self, new_texts: Vec<String>, fit: bool) {
        self.texts.extend(new_texts);
        self.fit &= fit;
    }
}

impl Drop for Driver {
    fn drop(&mut self) {
        self.watchdog.end();
        // The JVM may be unable to answer a request to end.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

impl Watchdog {
    fn set(&self, at: Option<Instant>) {
        self.deadline.lock().unwrap_or_else(PoisonError::into_inner).at = at;
        self.changed.notify_all();
    }

    fn end(&self) {
        self.deadline.lock().unwrap_or_else(PoisonError::into_inner).ended = true;
        self.changed.notify_all();
    }

    fn watch(&self, process: u32) {
        let mut deadline = self.deadline.lock().unwrap_or_else(PoisonError::into_inner);
        while !deadline.ended {
            let now = Instant::now();
            match deadline.at {
                Some(at) if at <= now => {
                    pin::kill(process);
                    return;
                }
                Some(at) => {
                    let waited = self.changed.wait_timeout(deadline, at - now);
                    deadline = waited.unwrap_or_else(PoisonError::into_inner).0;
                }
                None => {
                    deadline = self.changed.wait(deadline).unwrap_or_else(PoisonError::into_inner);
                }
            }
        }
    }
}

fn sequences<'a>(message: &mut Message, sequences: impl ExactSizeIterator<Item = &'a [Operation]>) {
    message.int(sequences.len());
    sequences.for_each(|sequence| message.numbers(sequence.iter().map(|&one| usize::from(one))));
}

fn numbers(reader: &mut Reader, count: usize) -> Result<Vec<ResultNumber>, WireError> {
    (0..count).map(|_| reader.int().map(|number| number as ResultNumber)).collect()
}

/// Reads outcomes of so many results, with how often each was seen.
fn stressed(reader: &mut Reader, width: usize) -> Result<Stressed, WireError> {
    let problem = reader.text()?;
    let elapsed = Duration::from_nanos(reader.long()?.unsigned_abs());
    let outcomes = reader.list(|reader| Ok((numbers(reader, width)?, reader.long()? as u64)))?;
    let beyond = reader.long()? as u64;
    let executions = beyond + outcomes.iter().map(|(_, count)| count).sum::<u64>();
    Ok(Stressed { problem, outcomes, executions, elapsed, later: (0, Duration::ZERO) })
}

/// Reads the end of an answer: the texts of new results, and whether the JVM can be used further.
fn finish(reader: &mut Reader) -> Result<(Vec<String>, bool), WireError> {
    Ok((reader.list(Reader::text)?, reader.byte()? != 0))
}

#[cfg(test)]
mod tests {
    use std::{collections::BTreeMap, fs, path::Path};

    use super::CLASSES;

    /// The compiled classes must match their sources.
    #[test]
    fn the_compiled_driver_is_up_to_date() {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("object");
        let mut sources = BTreeMap::new();
        for entry in fs::read_dir(folder.join("src/fissure/object")).unwrap() {
            let entry = entry.unwrap();
            let name = format!("fissure/object/{}", entry.file_name().into_string().unwrap());
            sources.insert(name, fs::read_to_string(entry.path()).unwrap());
        }
        let parts: Vec<&str> =
            sources.iter().flat_map(|(name, text)| [name.as_str(), text.as_str()]).collect();
        let recorded = fs::read_to_string(folder.join("classes/SOURCE_HASH")).unwrap();
        assert_eq!(
            recorded.trim(),
            fissure_model::finding::fingerprint(&parts),
            "run `cargo xtask hook` after changing the driver's sources"
        );
        let compiled = fs::read_dir(folder.join("classes/fissure/object")).unwrap().count();
        assert_eq!(compiled, CLASSES.len(), "every class of the driver must be embedded");
    }
}
