//! What the command line tells a front end, as one JSON file in the run's folder.

use serde::{Deserialize, Serialize};

use crate::{goal::Goal, pattern::Pattern, pointcut::Pointcut};

/// The passive analyses.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Analysis {
    /// Lock sets refined from the first access on; initialisation is not forgiven.
    Racer,
    /// Lock sets refined once a second thread comes along.
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

/// What Atomizer knows beyond the plain rules that an acquire moves right, a release left, and a racy access not at all.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Refinement {
    /// Acquiring a lock that the thread holds already, and giving it back, moves both ways.
    ReEntrant,
    /// A lock that only one thread uses, or several whose uses are all ordered, moves both ways.
    ThreadLocalLock,
    /// A lock that is always acquired under another common lock moves both ways.
    ProtectedLock,
    /// What was read of an atomic that is then compared and set moves both ways, and so does an attempt that failed.
    CompareAndSet,
}

/// What Atomizer is told.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct AtomizerSettings {
    /// Methods, classes and packages that must be atomic, beside synchronized blocks and methods and what is annotated.
    #[serde(default)]
    pub atomic: Vec<Pattern>,
    /// Refinements that are left out, to compare.
    #[serde(default)]
    pub without: Vec<Refinement>,
}

/// What counts as an order between two accesses.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Order {
    /// Starting and joining threads.
    #[default]
    StartJoin,
    /// Also handing over from thread to thread by tasks and their results, latches, barriers and queues.
    HandOver,
    /// Whatever orders: also locks, volatile fields, atomics and concurrent maps. What is ordered is not reported.
    HappensBefore,
}

/// How much of the program is turned into events.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Watch {
    /// Locks and threads only; for measuring.
    Locks,
    /// Locks, threads and fields.
    Fields,
    /// Locks, threads, fields and array elements.
    All,
}

/// Everything a front end needs to know for one run.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Settings {
    /// The lock-set machine to run.
    pub analysis: Analysis,
    /// Whether the races that it finds are reported.
    #[serde(default = "yes")]
    pub races: bool,
    /// Whether and how blocks that should be atomic are looked at.
    #[serde(default)]
    pub atomizer: Option<AtomizerSettings>,
    /// Which points of the program are watched. Empty: those of the application's own classes.
    #[serde(default)]
    pub scope: Vec<Pointcut>,
    /// What is turned into events.
    pub watch: Watch,
    /// What counts as an order.
    #[serde(default)]
    pub order: Order,
    /// The monitor to run instead of analyses, if there is one.
    #[serde(default)]
    pub monitor: Option<MonitorSettings>,
    /// The file with what a static analysis found out, as [`crate::locality::Locality`]; if there is none, all is watched.
    #[serde(default)]
    pub locality: Option<String>,
    /// Whether everything is watched all the same, and what contradicts the static analysis is told.
    #[serde(default)]
    pub locality_checked: bool,
    /// How threads are controlled; if there is nothing here they are only watched.
    #[serde(default)]
    pub control: Option<Control>,
    /// Whether the program executes small parts of itself again and again under one schedule after the other, and says when.
    #[serde(default)]
    pub explore: bool,
    /// Where the user works.
    #[serde(default)]
    pub whereabouts: Whereabouts,
    /// The folder for the records.
    pub folder: String,
}

/// Where the user works, which tells the application from libraries.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Whereabouts {
    /// The working directory of the command.
    #[serde(default)]
    pub directory: Option<String>,
    /// The root of the project that the working directory belongs to, if it belongs to one.
    #[serde(default)]
    pub project: Option<String>,
}

/// A monitor that the user wrote.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct MonitorSettings {
    /// What reports call it.
    pub name: String,
    /// Its script.
    pub source: String,
}

fn yes() -> bool {
    true
}

/// Who decides which thread runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Steering {
    /// Chance alone.
    Random,
    /// Chance, but threads are paused where their atomic blocks could be violated.
    Atomfuzzer,
    /// Chance, but threads are held up where their units of work could tear an atomic set apart.
    Assetfuzzer,
    /// Chance, but threads are held up where their accesses could race.
    Racefuzzer,
    /// Nobody is interrupted.
    Sequential,
    /// A recorded schedule.
    Replay,
}

impl Steering {
    /// The name used on the command line and in reports.
    pub fn name(self) -> &'static str {
        match self {
            Steering::Random => "random",
            Steering::Atomfuzzer => "atomfuzzer",
            Steering::Assetfuzzer => "assetfuzzer",
            Steering::Racefuzzer => "racefuzzer",
            Steering::Sequential => "sequential",
            Steering::Replay => "replay",
        }
    }
}

/// Which memory accesses threads stop before.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum AccessPoints {
    /// None.
    #[default]
    None,
    /// Those to fields of the classes in scope, by code in scope.
    Fields,
    /// Those to array elements too.
    All,
}

/// How one controlled run goes. It is a function of the program and of this.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Control {
    /// Who decides which thread runs.
    pub steering: Steering,
    /// What random choices follow from.
    pub seed: u64,
    /// How likely a thread is paused, in a million cases.
    pub pause: u32,
    /// What is looked for, if that is known.
    #[serde(default)]
    pub target: Option<Goal>,
    /// The schedule to follow, for [`Steering::Replay`].
    #[serde(default)]
    pub schedule: Option<String>,
    /// After so many steps the run ends.
    pub steps: u64,
    /// Whether threads may be interrupted at volatile and atomic operations too.
    #[serde(default)]
    pub volatiles: bool,
    /// Which memory accesses threads stop before.
    #[serde(default)]
    pub accesses: AccessPoints,
    /// Classes that are in scope beside those that the user names: what they do inside is looked at as well.
    #[serde(default)]
    pub instrumented: Vec<String>,
    /// Whether it is followed which methods of the classes in scope a thread is in.
    #[serde(default)]
    pub units: bool,
    /// What is looked for in accesses.
    #[serde(default)]
    pub wanted: Wanted,
    /// Which fields belong together, and which methods keep them so.
    #[serde(default)]
    pub sets: SetRules,
}

/// What is looked for in the accesses of a controlled run.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub struct Wanted {
    /// Atomic-set violations that could happen.
    #[serde(default)]
    pub predictions: bool,
    /// Atomic-set violations that happen.
    #[serde(default)]
    pub violations: bool,
    /// Races, those that could happen and those that do.
    #[serde(default)]
    pub races: bool,
    /// Accesses that could come in between two others, or before one. Calls of atomics and collections are accesses too then.
    #[serde(default)]
    pub interleavings: bool,
}

/// What a project says about its atomic sets and units of work, beside the usual: that all fields of an object are a set, the static
/// fields of a class are one, and every method and constructor is a unit for the sets of its own class.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct SetRules {
    /// Sets of named fields. What is in none of them stays in the usual set.
    #[serde(default, rename = "set")]
    pub sets: Vec<SetRule>,
    /// Methods that are units for every set whose fields they access.
    #[serde(default)]
    pub units: Vec<Pattern>,
    /// Methods that are no units.
    #[serde(default)]
    pub no_units: Vec<Pattern>,
    /// Classes and fields that are in no set.
    #[serde(default)]
    pub exclude: Vec<Pattern>,
    /// Whether the elements of an array, and the contents of a collection of the JDK, belong to the set of the field that holds
    /// it. Each element is a location of its own, all contents of a collection are one.
    #[serde(default)]
    pub contents: bool,
}

/// A set of named fields.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct SetRule {
    /// The fields: `Account.checking`, `com.acme.Account.savings`, `Range.*`.
    pub fields: Vec<Pattern>,
    /// The methods that are units for this set; without any, those of the fields' class.
    #[serde(default)]
    pub units: Vec<Pattern>,
}
