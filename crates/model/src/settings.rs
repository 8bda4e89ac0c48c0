//! The settings that the command line passes to a front end, as one JSON file in the run's folder.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::{goal::Goal, iteration::IterationSettings, pattern::Pattern, pointcut::Pointcut};

/// The passive analyses.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Analysis {
    /// Lock sets are refined from the first access on; unlocked initialisation is a race.
    Racer,
    /// Lock sets are refined once a second thread accesses the location.
    Eraser,
}

impl Analysis {
    /// The name used on the command line and in reports.
    pub fn name(self) -> &'static str {
        match self {
            Analysis::Racer => "racer",
            Analysis::Eraser => "eraser",
        }
    }
}

/// A refinement of Atomizer's plain rules, by which an acquire is a right mover, a release a left mover, and a racy access a non-mover.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Refinement {
    /// A re-entrant acquire and its release are both-movers.
    ReEntrant,
    /// Operations on a lock are both-movers if one thread uses the lock, or several whose uses are all ordered.
    ThreadLocalLock,
    /// Operations on a lock are both-movers if the lock is always acquired under another common lock.
    ProtectedLock,
    /// The read of an atomic before its compare-and-set is a both-mover, and so is a compare-and-set that fails.
    CompareAndSet,
}

/// The settings of Atomizer.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct AtomizerSettings {
    /// Methods, classes and packages that must be atomic, in addition to synchronized blocks and methods and annotated methods.
    #[serde(default)]
    pub atomic: Vec<Pattern>,
    /// Refinements that are disabled, for comparisons.
    #[serde(default)]
    pub without: Vec<Refinement>,
}

/// The operations that order two accesses. Races whose accesses are ordered are reported apart, unless it is said otherwise.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Order {
    /// None: all races are reported alike, as in the papers about lock sets.
    None,
    /// Starting and joining threads.
    StartJoin,
    /// Also hand-overs from thread to thread by tasks and their results, latches, barriers and queues.
    HandOver,
    /// All synchronization but locks that only exclude: also volatile fields, atomics, concurrent maps and monitors that threads
    /// wait for.
    Synchronization,
    /// Full happens-before: also all locks. Ordered races are not reported.
    HappensBefore,
}

impl Order {
    /// Whether volatile fields, atomics and the like order accesses.
    pub fn has_synchronization(self) -> bool {
        self >= Order::Synchronization
    }
}

/// The operations of the program that become events.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Watch {
    /// Locks and threads only; for measurements.
    Locks,
    /// Locks, threads and fields.
    Fields,
    /// Locks, threads, fields and array elements.
    All,
}

/// All settings of a front end for one run. It writes its records into the folder that has the settings.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Settings {
    /// The points of the program to instrument. Empty: those of the application's own classes.
    pub scope: Vec<Pointcut>,
    /// The user's working directory and project.
    pub whereabouts: Whereabouts,
    /// The task of the front end.
    pub mode: Mode,
    /// The events of Fissure's own work that the front end logs into the run's folder; `None` if there is no log.
    #[serde(default)]
    pub log: Option<String>,
}

/// Identifies the form of settings and records: a hash of this crate's sources. A command line and a front end with different forms
/// come from different builds.
pub const FORMAT: &str = env!("FISSURE_FORMAT");

/// The file of the settings, of which only the form is read at first: another build may have other settings.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct SettingsFile<S> {
    format: String,
    settings: S,
}

/// Why a front end cannot use the settings.
#[derive(Debug)]
pub enum SettingsError {
    /// The text is not that of settings.
    Unreadable(serde_json::Error),
    /// Another build of Fissure wrote them.
    OtherBuild,
}

impl fmt::Display for SettingsError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Unreadable(error) => error.fmt(f),
            Self::OtherBuild => f.write_str(
                "the agent and the command come from different builds of Fissure; build or install both together, and if FISSURE_AGENT is \
                 set, let it name the agent of the same build",
            ),
        }
    }
}

impl std::error::Error for SettingsError {}

impl Settings {
    /// The text of the file.
    ///
    /// # Errors
    /// A setting cannot be written as JSON.
    pub fn to_text(&self) -> serde_json::Result<String> {
        serde_json::to_string_pretty(&SettingsFile { format: FORMAT.to_owned(), settings: self })
    }

    /// Reads the text of the file.
    ///
    /// # Errors
    /// The text is not that of settings, or another build wrote it.
    pub fn from_text(text: &str) -> Result<Self, SettingsError> {
        let file: SettingsFile<serde_json::Value> =
            serde_json::from_str(text).map_err(SettingsError::Unreadable)?;
        if file.format != FORMAT {
            return Err(SettingsError::OtherBuild);
        }
        serde_json::from_value(file.settings).map_err(SettingsError::Unreadable)
    }
}

/// The task of a front end, with the settings of this task alone.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Mode {
    /// Threads run freely, and analyses look for races and blocks that are not atomic.
    Detect(DetectSettings),
    /// Threads run freely, and a monitor script gets events.
    Watch(WatchSettings),
    /// The front end decides which thread runs.
    Control(Box<ControlledSettings>),
    /// The program executes small parts of itself repeatedly, each time under the next schedule, and announces each execution.
    Explore,
}

/// The settings of passive analyses.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct DetectSettings {
    /// The lock-set state machine to run.
    pub analysis: Analysis,
    /// Whether the races that it finds are reported.
    pub races: bool,
    /// The settings of Atomizer; `None` if blocks are not checked for atomicity.
    pub atomizer: Option<AtomizerSettings>,
    /// The operations that become events.
    pub watch: Watch,
    /// The operations that order accesses.
    pub order: Order,
    /// The results of a static analysis; without them, everything is instrumented.
    pub locality: Option<LocalityFile>,
    /// Whether everything is instrumented all the same, and accesses that contradict the static analysis are reported.
    pub locality_checked: bool,
}

/// The settings of a run under a monitor script.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct WatchSettings {
    /// The script.
    pub monitor: MonitorSettings,
    /// The results of a static analysis; without them, every field may be shared.
    pub locality: Option<LocalityFile>,
}

/// The settings of a run whose threads the front end schedules.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ControlledSettings {
    /// How threads are scheduled.
    pub control: Control,
    /// Methods, classes and packages that must be atomic, in addition to synchronized blocks and methods and annotated methods.
    pub atomic: Vec<Pattern>,
    /// The results of a static analysis; without them, every access in scope may be a scheduling point.
    pub locality: Option<LocalityFile>,
    /// The process that started the run and ends it at its time limit. If that process is gone, the run ends itself.
    pub supervisor: u32,
    /// The JVM stays and executes runs on request, if this is given.
    #[serde(default)]
    pub iterations: Option<IterationSettings>,
    /// Whether a debugger may stop threads, so that a thread which makes no progress is not taken for a stuck one.
    #[serde(default)]
    pub is_debugged: bool,
}

/// The path of a file with a [`crate::locality::Locality`].
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct LocalityFile(pub String);

impl Settings {
    /// The settings of passive analyses, if the run has any.
    pub fn detect(&self) -> Option<&DetectSettings> {
        match &self.mode {
            Mode::Detect(settings) => Some(settings),
            Mode::Watch(_) | Mode::Control(_) | Mode::Explore => None,
        }
    }

    /// The settings of Atomizer, if it runs.
    pub fn atomizer(&self) -> Option<&AtomizerSettings> {
        self.detect()?.atomizer.as_ref()
    }

    /// The monitor script, if the run has one.
    pub fn monitor(&self) -> Option<&MonitorSettings> {
        match &self.mode {
            Mode::Watch(settings) => Some(&settings.monitor),
            Mode::Detect(_) | Mode::Control(_) | Mode::Explore => None,
        }
    }

    /// Whether a debugger may stop threads of a controlled run.
    pub fn is_debugged(&self) -> bool {
        matches!(&self.mode, Mode::Control(settings) if settings.is_debugged)
    }

    /// How the JVM executes runs on request, if it does.
    pub fn iterations(&self) -> Option<&IterationSettings> {
        match &self.mode {
            Mode::Control(settings) => settings.iterations.as_ref(),
            Mode::Detect(_) | Mode::Watch(_) | Mode::Explore => None,
        }
    }

    /// How threads are scheduled, if the run is controlled.
    pub fn control(&self) -> Option<&Control> {
        match &self.mode {
            Mode::Control(settings) => Some(&settings.control),
            Mode::Detect(_) | Mode::Watch(_) | Mode::Explore => None,
        }
    }

    /// The process that supervises a controlled run.
    pub fn supervisor(&self) -> Option<u32> {
        match &self.mode {
            Mode::Control(settings) => Some(settings.supervisor),
            Mode::Detect(_) | Mode::Watch(_) | Mode::Explore => None,
        }
    }

    /// Methods, classes and packages that the user wants to be atomic.
    pub fn atomic(&self) -> &[Pattern] {
        match &self.mode {
            Mode::Detect(settings) => settings.atomizer.as_ref().map_or(&[], |atomizer| &atomizer.atomic),
            Mode::Control(settings) => &settings.atomic,
            Mode::Watch(_) | Mode::Explore => &[],
        }
    }

    /// The operations that order accesses. Runs without analyses need no order beyond starting and joining threads.
    pub fn order(&self) -> Order {
        self.detect().map_or(Order::StartJoin, |settings| settings.order)
    }

    /// The results of a static analysis, if there are any.
    pub fn locality(&self) -> Option<&LocalityFile> {
        match &self.mode {
            Mode::Detect(settings) => settings.locality.as_ref(),
            Mode::Watch(settings) => settings.locality.as_ref(),
            Mode::Control(settings) => settings.locality.as_ref(),
            Mode::Explore => None,
        }
    }
}

/// The user's working directory and project, which distinguish the application's classes from libraries.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Whereabouts {
    /// The working directory of the command.
    #[serde(default)]
    pub directory: Option<String>,
    /// The root of the project that the working directory belongs to, if it belongs to one.
    #[serde(default)]
    pub project: Option<String>,
}

/// A monitor script.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct MonitorSettings {
    /// Its name in reports.
    pub name: String,
    /// Its text.
    pub source: String,
}

/// The name of the strategy that decides which thread runs, as on the command line and in reports. The registry of strategies in the crate
/// `schedule` knows the names.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct StrategyName(String);

impl StrategyName {
    /// The strategy with this name; whether there is one is found out when it is built.
    pub fn new(name: impl Into<String>) -> Self {
        Self(name.into())
    }

    /// The name.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

/// The memory accesses that are scheduling points.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum AccessPoints {
    /// None.
    #[default]
    None,
    /// Accesses to fields of the classes in scope, by code in scope.
    Fields,
    /// Accesses to array elements too.
    All,
}

/// The settings of one controlled run. The run is a function of the program and of these.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Control {
    /// The strategy that decides which thread runs.
    pub strategy: StrategyName,
    /// The seed of the random choices.
    pub seed: u64,
    /// The probability that a thread is paused, in millionths.
    pub pause: u32,
    /// The depth of the bugs that the strategy `pct` looks for.
    pub depth: u32,
    /// The goal of the run, if it has one.
    #[serde(default)]
    pub goal: Option<Goal>,
    /// The schedule to follow, for the strategy `replay`.
    #[serde(default)]
    pub schedule: Option<String>,
    /// Whether time passes only if no thread can run before.
    #[serde(default)]
    pub is_patient: bool,
    /// The number of steps after which the run ends.
    pub steps: u64,
    /// Whether volatile and atomic operations are scheduling points too.
    #[serde(default)]
    pub volatiles: bool,
    /// The memory accesses that are scheduling points.
    #[serde(default)]
    pub accesses: AccessPoints,
    /// Classes that are in scope in addition to those that the user names, so that their accesses are instrumented as well.
    #[serde(default)]
    pub instrumented: Vec<String>,
    /// Whether the agent tracks which methods of the classes in scope each thread is in.
    #[serde(default)]
    pub units: bool,
    /// The patterns to look for in accesses.
    #[serde(default)]
    pub patterns: Patterns,
    /// The atomic sets and units of work.
    #[serde(default)]
    pub sets: SetRules,
}

/// The patterns that checkers look for in the accesses of a controlled run.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub struct Patterns {
    /// Atomic-set violations that could happen.
    #[serde(default)]
    pub predictions: bool,
    /// Atomic-set violations that happen.
    #[serde(default)]
    pub violations: bool,
    /// Races that could happen and races that happen.
    #[serde(default)]
    pub races: bool,
    /// Remote accesses that could land between two local accesses, or before one. Calls of atomics and collections count as accesses too.
    #[serde(default)]
    pub interleavings: bool,
}

/// A project's rules for its atomic sets and units of work, in addition to the defaults: all fields of an object form a set, so do the
/// static fields of a class, and every method and constructor is a unit for the sets of its own class.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct SetRules {
    /// Sets of named fields. A field in none of them stays in its default set.
    #[serde(default, rename = "set")]
    pub sets: Vec<SetRule>,
    /// Methods that are units for every set whose fields they access.
    #[serde(default)]
    pub units: Vec<Pattern>,
    /// Methods that are not units.
    #[serde(default)]
    pub no_units: Vec<Pattern>,
    /// Classes and fields that are in no set.
    #[serde(default)]
    pub exclude: Vec<Pattern>,
    /// Whether the elements of an array, and the contents of a JDK collection, belong to the set of the field that holds it. Each array
    /// element is a separate location; the contents of a collection are one location.
    #[serde(default)]
    pub contents: bool,
}

/// A set of named fields.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct SetRule {
    /// The fields: `Account.checking`, `com.acme.Account.savings`, `Range.*`.
    pub fields: Vec<Pattern>,
    /// The methods that are units for this set; if empty, those of the fields' class.
    #[serde(default)]
    pub units: Vec<Pattern>,
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::iteration::Isolation;

    fn check(mode: Mode) {
        let settings = Settings {
            scope: vec!["com.acme..*".parse().unwrap()],
            whereabouts: Whereabouts { directory: Some("/home/ada/bank".to_owned()), project: None },
            mode,
            log: Some("debug".to_owned()),
        };
        let text = settings.to_text().unwrap();
        assert_eq!(Settings::from_text(&text).unwrap(), settings, "{text}");
    }

    #[test]
    fn every_mode_is_read_as_it_was_written() {
        let locality = || Some(LocalityFile("/tmp/locality.json".to_owned()));
        check(Mode::Detect(DetectSettings {
            analysis: Analysis::Eraser,
            races: true,
            atomizer: Some(AtomizerSettings {
                atomic: vec!["Account.transfer".parse().unwrap()],
                without: vec![Refinement::ProtectedLock],
            }),
            watch: Watch::Fields,
            order: Order::HandOver,
            locality: locality(),
            locality_checked: true,
        }));
        let monitor = MonitorSettings { name: "locks.rhai".to_owned(), source: "// nothing".to_owned() };
        check(Mode::Watch(WatchSettings { monitor, locality: None }));
        let control = Control {
            strategy: StrategyName::new("random"),
            seed: 4,
            pause: 500_000,
            depth: 3,
            goal: None,
            schedule: None,
            is_patient: false,
            steps: 1_000,
            volatiles: true,
            accesses: AccessPoints::All,
            instrumented: Vec::new(),
            units: false,
            patterns: Patterns::default(),
            sets: SetRules::default(),
        };
        check(Mode::Control(Box::new(ControlledSettings {
            control,
            atomic: Vec::new(),
            locality: locality(),
            supervisor: 7,
            iterations: Some(IterationSettings {
                socket: "/tmp/fissure-1/run-2/requests".to_owned(),
                isolation: Isolation::Classes,
                kept: vec!["junit.jar".to_owned()],
            }),
            is_debugged: true,
        })));
        check(Mode::Explore);
    }

    #[test]
    fn incomplete_and_unknown_settings_are_errors() {
        let check_file = |text: &str, reason: &str| {
            let error = Settings::from_text(text).unwrap_err().to_string();
            assert!(error.contains(reason), "{text}: {error}");
        };
        let check = |settings: &str, reason: &str| {
            check_file(&format!(r#"{{"format":"{FORMAT}","settings":{settings}}}"#), reason);
        };
        check_file("{}", "missing field `format`");
        check_file(r#"{"format":"0","settings":{"dreams":1}}"#, "come from different builds of Fissure");
        check("{}", "missing field `scope`");
        check(r#"{"scope":[],"whereabouts":{},"mode":"detect"}"#, "expected newtype variant");
        check(r#"{"scope":[],"whereabouts":{},"mode":"dream"}"#, "unknown variant `dream`");
        check(r#"{"scope":[],"whereabouts":{},"mode":"explore","races":true}"#, "unknown field `races`");
    }
}
