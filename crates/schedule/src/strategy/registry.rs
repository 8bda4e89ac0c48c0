//! All strategies by name: the one list that a new strategy is added to.
//!
//! The command line takes names and descriptions from here, a hunt takes from here which runs a strategy needs, and a front end builds the
//! strategy of a run here.

use std::fmt;

use fissure_model::{
    goal::Goal,
    recording::RecordingError,
    settings::{Control, Patterns, StrategyName},
};

use super::{RANDOM, REPLAY, SEQUENTIAL, Strategy, assetfuzzer, atomfuzzer, pct, pos, racefuzzer, uniform};

/// The strategies; the first is the default, and the help lists them in this order.
static ALL: &[StrategyKind] = &[
    atomfuzzer::KIND,
    assetfuzzer::KIND,
    racefuzzer::KIND,
    RANDOM,
    pct::KIND,
    pos::KIND,
    SEQUENTIAL,
    REPLAY,
];

/// Everything about a strategy but its implementation.
#[derive(Debug, Clone, Copy)]
pub struct StrategyKind {
    /// The name on the command line and in reports.
    pub name: &'static str,
    /// One line for the help.
    pub about: &'static str,
    /// Whether users may choose it; hunts use the others for runs of their own.
    pub is_offered: bool,
    /// Whether profiling runs predict its goals.
    pub predicts: bool,
    /// Whether its runs have goals at acquires and accesses that earlier runs showed to be possible.
    pub learns: bool,
    /// The patterns that a checker looks for in its runs.
    pub patterns: Patterns,
    /// Builds the strategy for a run with these settings.
    pub build: fn(&Control) -> Result<Box<dyn Strategy>, StrategyError>,
}

impl StrategyKind {
    /// A strategy that needs nothing but its runs; a registration names what is different.
    pub(super) const PLAIN: StrategyKind = StrategyKind {
        name: "",
        about: "",
        is_offered: true,
        predicts: false,
        learns: false,
        patterns: Patterns { predictions: false, violations: false, races: false, interleavings: false },
        build: |_| Ok(Box::new(uniform::Uniform)),
    };

    /// The name as settings have it.
    pub fn strategy_name(&self) -> StrategyName {
        StrategyName::new(self.name)
    }
}

/// Two strategies are the same if they have the same name.
impl PartialEq for StrategyKind {
    fn eq(&self, other: &Self) -> bool {
        self.name == other.name
    }
}

impl Eq for StrategyKind {}

/// Why no strategy can be built for a run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum StrategyError {
    /// There is no strategy with this name.
    Unknown(String),
    /// The schedule to follow is not valid.
    Recording(RecordingError),
    /// There is no schedule to follow.
    NoSchedule,
}

impl fmt::Display for StrategyError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            StrategyError::Unknown(name) => {
                let known: Vec<&str> = ALL.iter().map(|kind| kind.name).collect();
                write!(f, "there is no strategy '{name}'; the strategies are {}", known.join(", "))
            }
            StrategyError::Recording(error) => error.fmt(f),
            StrategyError::NoSchedule => f.write_str("the settings of a replay have no schedule"),
        }
    }
}

impl std::error::Error for StrategyError {}

impl From<RecordingError> for StrategyError {
    fn from(error: RecordingError) -> Self {
        StrategyError::Recording(error)
    }
}

/// The strategies that users may choose, the default first.
pub fn offered() -> impl Iterator<Item = &'static StrategyKind> {
    ALL.iter().filter(|kind| kind.is_offered)
}

/// The strategy that is used if the user chooses none.
pub fn default() -> &'static StrategyKind {
    &ALL[0]
}

/// The strategy with this name.
pub fn find(name: &str) -> Option<&'static StrategyKind> {
    ALL.iter().find(|kind| kind.name == name)
}

/// The strategy of a run with this goal in a hunt with this strategy: predicted violations and races take the strategy that brings their
/// accesses together.
pub fn for_goal<'a>(strategy: &'a StrategyKind, goal: Option<&Goal>) -> &'a StrategyKind {
    match goal {
        Some(Goal::Race(_)) => racefuzzer(),
        Some(Goal::Set(_)) => assetfuzzer(),
        Some(Goal::Chance(goal)) if goal.sets => assetfuzzer(),
        _ => strategy,
    }
}

/// The strategy that pursues predicted atomic-set violations.
pub fn assetfuzzer() -> &'static StrategyKind {
    &assetfuzzer::KIND
}

/// The strategy that pursues predicted races.
pub fn racefuzzer() -> &'static StrategyKind {
    &racefuzzer::KIND
}

/// Builds the strategy of a run.
pub fn build(settings: &Control) -> Result<Box<dyn Strategy>, StrategyError> {
    let name = settings.strategy.as_str();
    let kind = find(name).ok_or_else(|| StrategyError::Unknown(name.to_owned()))?;
    (kind.build)(settings)
}

#[cfg(test)]
mod tests {
    use fissure_model::{
        goal::AcquireGoal,
        settings::{AccessPoints, SetRules},
    };

    use super::*;

    fn settings(name: &str) -> Control {
        Control {
            strategy: StrategyName::new(name),
            seed: 1,
            pause: 0,
            depth: 3,
            goal: None,
            schedule: None,
            is_patient: false,
            steps: 1,
            volatiles: false,
            accesses: AccessPoints::None,
            instrumented: Vec::new(),
            units: false,
            patterns: Patterns::default(),
            sets: SetRules::default(),
        }
    }

    #[test]
    fn every_strategy_has_a_name_of_its_own_and_can_be_built() {
        for (index, kind) in ALL.iter().enumerate() {
            assert!(!kind.name.is_empty() && kind.about.ends_with('.'), "{kind:?}");
            assert!(ALL[..index].iter().all(|other| other.name != kind.name), "{}", kind.name);
            let settings = Control { schedule: Some("0*3 1".to_owned()), ..settings(kind.name) };
            assert!(build(&settings).is_ok(), "{}", kind.name);
        }
        assert!(default().is_offered);
    }

    #[test]
    fn an_unknown_name_is_an_error_with_the_known_ones() {
        let error = build(&settings("fair")).err().unwrap();
        assert!(
            error.to_string().starts_with("there is no strategy 'fair'; the strategies are atomfuzzer, ")
        );
    }

    #[test]
    fn a_schedule_that_cannot_be_read_is_an_error() {
        let check = |settings: &Control| {
            assert!(matches!(build(settings), Err(StrategyError::Recording(_))), "{settings:?}");
        };
        check(&Control { schedule: Some("x".to_owned()), ..settings("replay") });
        assert!(matches!(build(&settings("replay")), Err(StrategyError::NoSchedule)));
        let goal = AcquireGoal { prefix: Some("x".to_owned()), ..AcquireGoal::default() };
        check(&Control { goal: Some(goal.into()), ..settings("atomfuzzer") });
    }
}
