//! The settings of a hunt, and how each of its runs is controlled.

use fissure_model::{
    finding::Kind,
    goal::{ChanceGoal, Goal},
    settings::{AccessPoints, Control, Patterns, SetRules},
};
use fissure_schedule::strategy::registry::{self, StrategyKind};

use crate::shard::Shard;

/// Everything that stays the same during a hunt.
#[derive(Debug, Clone)]
pub struct HuntSettings {
    /// The strategies, which hunt one after the other.
    pub strategies: Vec<&'static StrategyKind>,
    /// The first seed.
    pub seed: u64,
    /// The part of the seeds that this hunt has.
    pub shard: Shard,
    /// How many runs each strategy makes in this shard, apart from profiling runs. `None` if the time of [`crate::Runner::spent`] is the limit.
    pub runs: Option<u64>,
    /// How many reference runs come first.
    pub reference_runs: u64,
    /// How many profiling runs predict goals.
    pub profiling_runs: u64,
    /// Whether runs have goals that earlier runs showed to be possible.
    pub learns: bool,
    /// Whether the hunt ends at the first run that shows a schedule-dependent failure.
    pub until_bug: bool,
    /// Whether the causes of failures are sought, and tested by further runs.
    pub seeks_causes: bool,
    /// Whether the schedules of findings are shortened.
    pub minimises: bool,
    /// The kinds of goals of strategies that learn.
    pub aims: Aims,
    /// The kinds of findings that the hunt is for; all if there are none.
    pub only: Vec<Kind>,
    /// How each run is controlled.
    pub run: RunSettings,
}

/// The kinds of goals that runs have.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Aims {
    /// Goals at acquires and accesses, which show what they are by a failure or by the lock pattern.
    pub failures: bool,
    /// Races.
    pub races: bool,
    /// Atomic-set violations.
    pub sets: bool,
}

impl Aims {
    /// Every kind.
    pub const ALL: Aims = Aims { failures: true, races: true, sets: true };
    /// Goals at acquires and accesses only.
    pub const FAILURES: Aims = Aims { failures: true, races: false, sets: false };

    /// The kinds of goals that lead to findings of these kinds.
    pub fn for_kinds(kinds: &[Kind]) -> Aims {
        let is_other = |kind: &Kind| !matches!(kind, Kind::DataRace | Kind::AtomicSetViolation);
        Aims {
            failures: kinds.iter().any(is_other),
            races: kinds.contains(&Kind::DataRace),
            sets: kinds.contains(&Kind::AtomicSetViolation),
        }
    }
}

impl HuntSettings {
    /// Whether runs discover goals at accesses.
    pub fn discovers_access_goals(&self) -> bool {
        self.learns
            && (self.aims.failures || self.aims.races)
            && self.strategies.iter().any(|strategy| strategy.learns)
            && !self.run.points.for_discovery().is_empty()
    }
}

/// How runs are controlled, apart from strategy, seed and goal.
#[derive(Debug, Clone, Default)]
pub struct RunSettings {
    /// The probability that a thread is paused, in millionths.
    pub pause: u32,
    /// The depth of the bugs that the strategy `pct` looks for.
    pub depth: u32,
    /// The scheduling points.
    pub points: Points,
    /// The number of steps after which a run ends.
    pub steps: u64,
    /// Whether time passes in runs only if no thread can run before. Otherwise sleeping threads may be woken early.
    pub is_patient: bool,
    /// Whether a checker looks for atomic-set violations in every run, whatever the strategy.
    pub checks_atomic_sets: bool,
    /// The project's atomic sets and units of work.
    pub sets: SetRules,
}

/// Where threads may be preempted.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Points {
    /// Locks, and in runs with a goal at accesses also fields, array elements, atomics and collections.
    #[default]
    Auto,
    /// Locks, and where threads wait, start and end.
    Locks,
    /// Also volatile fields and atomics.
    Volatiles,
    /// Also every field of the classes in scope.
    Fields,
    /// Also every array element.
    Elements,
}

impl Points {
    /// At least fields, and also array elements if atomic sets contain them.
    fn with_fields(self, sets: &SetRules) -> Points {
        match self {
            Points::Elements => Points::Elements,
            _ if sets.contents => Points::Elements,
            _ => Points::Fields,
        }
    }

    /// The accesses that are scheduling points in runs that discover goals, if there are such runs; the next entry if those are too many.
    pub(crate) fn for_discovery(self) -> &'static [AccessPoints] {
        match self {
            Points::Auto | Points::Elements => &[AccessPoints::All, AccessPoints::Fields],
            Points::Fields => &[AccessPoints::Fields],
            Points::Locks | Points::Volatiles => &[],
        }
    }

    fn accesses(self) -> AccessPoints {
        match self {
            Points::Auto | Points::Locks | Points::Volatiles => AccessPoints::None,
            Points::Fields => AccessPoints::Fields,
            Points::Elements => AccessPoints::All,
        }
    }
}

impl RunSettings {
    /// How a run with this strategy, seed and goal is controlled.
    pub fn control(&self, strategy: &StrategyKind, seed: u64, goal: Option<Goal>) -> Control {
        let strategy = registry::for_goal(strategy, goal.as_ref());
        let violations = strategy.patterns.violations || self.checks_atomic_sets;
        let predictions = matches!(goal, Some(Goal::Chance(ChanceGoal { sets: true, .. })));
        let stops_at_volatiles = matches!(goal, Some(Goal::Chance(ChanceGoal { volatiles: true, .. })));
        let patterns = Patterns { violations, predictions, ..strategy.patterns };
        let is_plain = patterns == Patterns::default();
        let points = if is_plain { self.points } else { self.points.with_fields(&self.sets) };
        let access_points = goal.as_ref().and_then(Goal::access_points);
        let access_points = access_points.map(|(points, classes)| (points, classes.to_vec()));
        let control = Control {
            strategy: strategy.strategy_name(),
            seed,
            pause: self.pause,
            depth: self.depth,
            goal,
            prevented: Vec::new(),
            schedule: None,
            is_patient: self.is_patient,
            steps: self.steps,
            volatiles: !matches!(points, Points::Auto | Points::Locks) || stops_at_volatiles,
            accesses: points.accesses(),
            instrumented: Vec::new(),
            units: patterns.violations,
            patterns,
            sets: if patterns.violations { self.sets.clone() } else { SetRules::default() },
        };
        match access_points {
            Some((points, instrumented)) => with_access_points(control, points, instrumented),
            None => control,
        }
    }

    /// How a run is controlled that discovers goals at these accesses, also those of these thread-unsafe classes, and races.
    pub(crate) fn discovery(
        &self,
        strategy: &StrategyKind,
        seed: u64,
        points: AccessPoints,
        instrumented: Vec<String>,
        races: bool,
    ) -> Control {
        let control = with_access_points(self.control(strategy, seed, None), points, instrumented);
        Control { patterns: Patterns { races, ..control.patterns }, ..control }
    }
}

/// The same run, with these accesses as scheduling points.
fn with_access_points(control: Control, points: AccessPoints, instrumented: Vec<String>) -> Control {
    let patterns = Patterns { interleavings: true, ..Patterns::default() };
    // Calls of atomics are accesses themselves, so the volatile accesses inside them need no scheduling points.
    let (units, sets) = (false, SetRules::default());
    Control { volatiles: false, accesses: points, instrumented, units, patterns, sets, ..control }
}

#[cfg(test)]
mod tests {
    use fissure_schedule::strategy::registry;

    use super::*;

    fn check(settings: &RunSettings, strategy: &str, expected: (AccessPoints, bool)) {
        let control = settings.control(registry::find(strategy).unwrap(), 1, None);
        assert_eq!((control.accesses, control.units), expected, "{strategy}");
    }

    #[test]
    fn the_goal_of_a_run_decides_on_its_strategy_and_points() {
        let check = |goal: &str, expected: (&str, AccessPoints, bool, Patterns)| {
            let control = RunSettings::default().control(registry::default(), 1, Some(goal.parse().unwrap()));
            let Control { strategy, accesses, volatiles, patterns, .. } = control;
            assert_eq!((strategy.as_str(), accesses, volatiles, patterns), expected, "{goal}");
        };
        let none = Patterns::default();
        let access = r#"{"site":"A.m:1","field":"A.x"}"#;
        let race = format!(r#"{{"race":{{"accesses":[{access},{access}]}}}}"#);
        check(&race, ("racefuzzer", AccessPoints::Fields, true, Patterns { races: true, ..none }));
        let sets = Patterns { violations: true, predictions: true, ..none };
        let goal = Goal::Chance(ChanceGoal::with_sets()).to_string();
        check(&goal, ("assetfuzzer", AccessPoints::Fields, true, sets));
        let goal = Goal::Chance(ChanceGoal::at_volatiles()).to_string();
        check(&goal, ("atomfuzzer", AccessPoints::None, true, none));
        let accesses = Patterns { interleavings: true, ..none };
        let goal = Goal::Chance(ChanceGoal::at_accesses(AccessPoints::All, Vec::new())).to_string();
        check(&goal, ("atomfuzzer", AccessPoints::All, false, accesses));
    }

    #[test]
    fn accesses_are_scheduling_points_where_a_strategy_or_checker_needs_them() {
        let plain = RunSettings::default();
        check(&plain, "atomfuzzer", (AccessPoints::None, false));
        check(&plain, "racefuzzer", (AccessPoints::Fields, false));
        check(&plain, "assetfuzzer", (AccessPoints::Fields, true));
        let sets = SetRules { contents: true, ..SetRules::default() };
        check(&RunSettings { sets, ..plain.clone() }, "assetfuzzer", (AccessPoints::All, true));
        check(&RunSettings { checks_atomic_sets: true, ..plain }, "random", (AccessPoints::Fields, true));
    }
}
