//! Goals: what a controlled run tries to make happen, usually because an earlier run showed it to be possible. Goals name sites and
//! methods as text, because the numbers of one run mean nothing in another.
//!
//! As text, in settings, records, reports and on the command line, a goal is one JSON object whose only key is the kind of the goal:
//! `{"delay":{"points":"fields","last":{"site":"com.acme.Main.run:12","act":"write","name":"total"}}}`. [`former`] reads the texts
//! of earlier versions.

mod accesses;
mod former;
mod shapes;

use std::{collections::BTreeMap, fmt, str::FromStr};

use serde::{Deserialize, Deserializer, Serialize, Serializer};

pub use accesses::{AccessGoal, Act, GoalAccesses, GoalSite};
pub use shapes::{Role, Shape};

use crate::settings::AccessPoints;

/// A goal of one run.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Goal {
    /// An interleaving or an order of acquires of one lock.
    Acquires(AcquireGoal),
    /// An atomic-set violation.
    Set(SetGoal),
    /// A race.
    Race(RaceGoal),
    /// An interleaving or an order of accesses, or a delay.
    Accesses(AccessGoal),
    /// Nothing in particular: chance decides at every access.
    Chance(ChanceGoal),
}

/// Acquires of one lock by two threads, at sites such as `com.acme.Account.withdraw:12`.
///
/// The goal is one of two: the remote acquire lands between two acquires of an atomic block; or the two acquires come in a rare order, the
/// local one (where a thread waits or notifies) only after the remote one.
#[derive(Debug, Clone, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct AcquireGoal {
    /// The site of the second acquire of the block, or of the later acquire.
    pub local: String,
    /// The site of the acquire that lands between, or comes earlier.
    pub remote: String,
    /// Whether only the order of the two matters.
    #[serde(default, rename = "order", skip_serializing_if = "std::ops::Not::not")]
    pub is_order: bool,
    /// The choices that a run makes first, because they led to the local acquire in an earlier run.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub prefix: Option<String>,
}

/// An access that a goal expects.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct ExpectedAccess {
    /// The site, as in `com.acme.Account.withdraw:12`.
    #[serde(alias = "place")]
    pub site: String,
    /// The field, as in `com.acme.Account.balance`. An array element has the name of the field in its atomic set, or no name.
    pub field: String,
    /// Whether the access writes.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub write: bool,
    /// The calls that led to the access, as a hash in hexadecimal.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub context: String,
}

/// A predicted atomic-set violation.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct SetGoal {
    /// The pattern, 1 to 11.
    pub pattern: u8,
    /// The class whose fields form the set.
    pub set: String,
    /// The two units of work, in the order of the pattern. For an access outside of all units: the method that contains it.
    pub units: [String; 2],
    /// The events, in the order of the pattern.
    pub events: Vec<ExpectedAccess>,
    /// For each event but the last: the sites that acquire the locks which must be released before the other unit goes on.
    pub windows: Vec<Vec<String>>,
    /// The site where the second unit acquires a lock that it must not hold before the first event.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub gate: Option<Gate>,
}

/// An acquire of a lock.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Gate {
    /// The site.
    #[serde(alias = "place")]
    pub site: String,
    /// The methods that led to the acquire, as a hash in hexadecimal.
    pub context: String,
}

/// A predicted race.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct RaceGoal {
    /// The two accesses.
    pub accesses: [ExpectedAccess; 2],
}

/// A run in which accesses are scheduling points and chance decides.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ChanceGoal {
    /// The accesses that are scheduling points in the run.
    pub points: AccessPoints,
    /// The thread-unsafe classes whose accesses are scheduling points beside those in scope.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub instrumented: Vec<String>,
    /// Whether a checker looks for atomic-set violations in the run, which also predicts others.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub sets: bool,
    /// Whether volatile fields and atomics are scheduling points in place of accesses, also those inside of library classes.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub volatiles: bool,
}

impl ChanceGoal {
    /// These accesses are scheduling points, also those of these thread-unsafe classes.
    pub fn at_accesses(points: AccessPoints, instrumented: Vec<String>) -> Self {
        Self { points, instrumented, sets: false, volatiles: false }
    }

    /// A checker looks for atomic-set violations.
    pub fn with_sets() -> Self {
        Self { sets: true, ..Self::at_accesses(AccessPoints::Fields, Vec::new()) }
    }

    /// Volatile fields and atomics are scheduling points.
    pub fn at_volatiles() -> Self {
        Self { volatiles: true, ..Self::at_accesses(AccessPoints::None, Vec::new()) }
    }
}

impl AcquireGoal {
    /// A remote acquire that lands between two acquires of an atomic block.
    pub fn new(local: String, remote: String) -> Self {
        Self { local, remote, ..Self::default() }
    }
}

impl Goal {
    /// The texts of the sites that the goal names: only these have a role in it.
    pub fn sites(&self) -> Vec<&str> {
        let mut sites: Vec<&str> = match self {
            Goal::Chance(_) => Vec::new(),
            Goal::Acquires(pair) => vec![&pair.local, &pair.remote],
            Goal::Accesses(goal) => goal.sites().iter().map(|site| site.site.as_str()).collect(),
            Goal::Race(race) => race.accesses.iter().map(|access| access.site.as_str()).collect(),
            Goal::Set(goal) => {
                let events = goal.events.iter().map(|event| event.site.as_str());
                let gate = goal.gate.iter().map(|gate| gate.site.as_str());
                let windows = goal.windows.iter().flatten().map(String::as_str);
                events.chain(gate).chain(windows).collect()
            }
        };
        sites.sort_unstable();
        sites.dedup();
        sites
    }

    /// The accesses that are scheduling points in the run, and the thread-unsafe classes with further ones, if the goal decides on them.
    pub fn access_points(&self) -> Option<(AccessPoints, &[String])> {
        match self {
            Goal::Accesses(goal) => Some((goal.points, &goal.instrumented)),
            Goal::Chance(goal) if !goal.sets && !goal.volatiles => Some((goal.points, &goal.instrumented)),
            Goal::Chance(_) | Goal::Acquires(_) | Goal::Set(_) | Goal::Race(_) => None,
        }
    }
}

impl From<AcquireGoal> for Goal {
    fn from(goal: AcquireGoal) -> Self {
        Goal::Acquires(goal)
    }
}

/// A goal as it is written.
#[derive(Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
enum Tagged {
    Acquires(AcquireGoal),
    AtomicSet(SetGoal),
    Race(RaceGoal),
    Chance(ChanceGoal),
    /// A goal at accesses: the only key is the name of its shape.
    #[serde(untagged)]
    Accesses(BTreeMap<String, accesses::Written>),
}

impl From<&Goal> for Tagged {
    fn from(goal: &Goal) -> Self {
        match goal {
            Goal::Acquires(goal) => Tagged::Acquires(goal.clone()),
            Goal::Set(goal) => Tagged::AtomicSet(goal.clone()),
            Goal::Race(goal) => Tagged::Race(goal.clone()),
            Goal::Chance(goal) => Tagged::Chance(goal.clone()),
            Goal::Accesses(goal) => Tagged::Accesses([(goal.shape().name().to_owned(), goal.into())].into()),
        }
    }
}

impl TryFrom<Tagged> for Goal {
    type Error = GoalError;

    fn try_from(tagged: Tagged) -> Result<Self, GoalError> {
        match tagged {
            Tagged::Acquires(goal) => Ok(Goal::Acquires(goal)),
            Tagged::AtomicSet(goal) => checked(goal).map(Goal::Set),
            Tagged::Race(goal) => Ok(Goal::Race(goal)),
            Tagged::Chance(goal) => Ok(Goal::Chance(goal)),
            Tagged::Accesses(goal) if goal.len() == 1 => {
                let (name, written) = goal.into_iter().next().ok_or(GoalError)?;
                written.goal(Shape::named(&name).ok_or(GoalError)?).map(Goal::Accesses)
            }
            Tagged::Accesses(_) => Err(GoalError),
        }
    }
}

/// The goal, if its pattern exists and has so many events.
fn checked(goal: SetGoal) -> Result<SetGoal, GoalError> {
    let is_possible = (1..=11).contains(&goal.pattern) && (3..=4).contains(&goal.events.len());
    if is_possible { Ok(goal) } else { Err(GoalError) }
}

impl Serialize for Goal {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        Tagged::from(self).serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for Goal {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        /// A goal of this version or of the one before.
        #[derive(Deserialize)]
        #[serde(untagged)]
        enum Known {
            Tagged(Tagged),
            Former(former::Object),
        }
        let goal = match Known::deserialize(deserializer)? {
            Known::Tagged(goal) => goal.try_into(),
            Known::Former(goal) => goal.try_into(),
        };
        goal.map_err(serde::de::Error::custom)
    }
}

impl fmt::Display for Goal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&serde_json::to_string(self).map_err(|_| fmt::Error)?)
    }
}

impl FromStr for Goal {
    type Err = GoalError;

    /// Reads the text that `Display` writes, and the texts of the version before.
    fn from_str(text: &str) -> Result<Self, GoalError> {
        match text.trim_start().starts_with('{') {
            true => serde_json::from_str(text).map_err(|_| GoalError),
            false => former::parse(text),
        }
    }
}

/// A text that describes no goal.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct GoalError;

impl fmt::Display for GoalError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(
            "copy the goal from the report, where it stands beside the seed, and put it in single quotes: it is JSON that begins with the \
             kind of the goal, as in '{\"race\":…}'",
        )
    }
}

impl std::error::Error for GoalError {}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(text: &str, is_read: bool) {
        let goal = text.parse::<Goal>();
        assert_eq!(goal.is_ok(), is_read, "{text}");
        if let Ok(goal) = goal {
            assert_eq!(goal.to_string(), text);
        }
    }

    #[test]
    fn goals_are_read_as_they_are_written() {
        check(r#"{"acquires":{"local":"a.B.c:1","remote":"a.B.d:2"}}"#, true);
        check(
            r#"{"acquires":{"local":"a.B.c","remote":"a.B$D.<init>:22","order":true,"prefix":"0*3 1"}}"#,
            true,
        );
        check(r#"{"acquires":{"local":"a.B.c"}}"#, false);
        let access = |text: &str| format!(r#"{{"site":"a.B.c:1","act":"write"{text}}}"#);
        let (write, named) = (access(""), access(r#","name":"x""#));
        check(
            &format!(
                r#"{{"interleaving":{{"points":"fields","first":{write},"remote":{named},"last":{write}}}}}"#
            ),
            true,
        );
        check(&format!(r#"{{"interleaving":{{"points":"fields","first":{write},"last":{write}}}}}"#), false);
        let double =
            |sites: &str| format!(r#"{{"double-interleaving":{{"points":"all",{sites}"last":{write}}}}}"#);
        check(&double(&format!(r#""first":{write},"remote":{named},"second":{named},"#)), true);
        check(&double(&format!(r#""first":{write},"remote":{named},"#)), false);
        check(&double(&format!(r#""remote":{write},"second":{named},"#)), false);
        check(
            &format!(
                r#"{{"reordering":{{"points":"all","sequential":true,"remote":{write},"last":{named}}}}}"#
            ),
            true,
        );
        check(&format!(r#"{{"reordering":{{"points":"all","last":{named}}}}}"#), false);
        check(
            &format!(
                r#"{{"delay":{{"points":"all","instrumented":["java.util.HashMap"],"last":{named},"prefix":"0*3 1"}}}}"#
            ),
            true,
        );
        check(&format!(r#"{{"delay":{{"points":"all","remote":{write},"last":{named}}}}}"#), false);
        check(&format!(r#"{{"delay":{{"points":"nowhere","last":{named}}}}}"#), false);
        check(&format!(r#"{{"delay":{{"points":"all","last":{named},"next":1}}}}"#), false);
        let event = r#"{"site":"a.B.c:1","field":"a.B.x","write":true,"context":"1f"}"#;
        let read = r#"{"site":"a.B.c:1","field":"a.B.x"}"#;
        check(&format!(r#"{{"race":{{"accesses":[{event},{read}]}}}}"#), true);
        check(&format!(r#"{{"race":{{"accesses":[{read}]}}}}"#), false);
        let set = |pattern: u8, events: &str| {
            format!(
                r#"{{"atomic-set":{{"pattern":{pattern},"set":"a.B","units":["a.B.c","a.B.d"],"events":[{events}],"windows":[["a.B.q:2"],[]],"gate":{{"site":"a.B.d:1","context":"2"}}}}}}"#
            )
        };
        check(&set(9, &[event; 4].join(",")), true);
        check(&set(12, &[event; 4].join(",")), false);
        check(&set(1, event), false);
        check(&format!(r#"{{"unknown":{{"points":"all","last":{named}}}}}"#), false);
        let delay = format!(r#""delay":{{"points":"all","last":{named}}}"#);
        check(
            &format!(r#"{{{delay},"reordering":{{"points":"all","remote":{write},"last":{named}}}}}"#),
            false,
        );
        check("{}", false);
        check(r#"{"unknown":{}}"#, false);
        check("{", false);
        check("", false);
    }
}
