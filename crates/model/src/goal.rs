//! Goals: what a controlled run tries to make happen, usually because an earlier run showed it to be possible. Goals name sites and
//! methods as text, because the numbers of one run mean nothing in another.

use std::{fmt, str::FromStr};

use serde::{Deserialize, Serialize};

use crate::settings::AccessPoints;

/// A goal of one run.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(untagged)]
pub enum Goal {
    /// An interleaving or an order of acquires of one lock.
    Acquires(AcquireGoal),
    /// An atomic-set violation.
    Set(SetGoal),
    /// A race.
    Race(RaceGoal),
    /// An interleaving or an order of accesses, or a delay.
    Accesses(AccessGoal),
}

/// Acquires of one lock by two threads, at sites such as `com.acme.Account.withdraw:12`.
///
/// The goal is one of two: the remote acquire lands between two acquires of an atomic block; or the two acquires come in a rare order, the
/// local one (where a thread waits or notifies) only after the remote one.
#[derive(Debug, Clone, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct AcquireGoal {
    /// The site of the second acquire of the block, or of the later acquire.
    #[serde(rename = "again")]
    pub local: String,
    /// The site of the acquire that lands between, or comes earlier.
    #[serde(rename = "between")]
    pub remote: String,
    /// Whether only the order of the two matters.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub is_order: bool,
    /// The choices that a run makes first, because they led to the local acquire in an earlier run.
    #[serde(default, rename = "after", skip_serializing_if = "Option::is_none")]
    pub prefix: Option<String>,
}

/// An access that a goal expects.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct ExpectedAccess {
    /// The site, as in `com.acme.Account.withdraw:12`.
    pub place: String,
    /// The field, as in `com.acme.Account.balance`. An array element has the name of the field in its atomic set, or no name.
    pub field: String,
    /// Whether the access writes.
    pub write: bool,
    /// The calls that led to the access, as a hash in hexadecimal.
    #[serde(default)]
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
    pub place: String,
    /// The methods that led to the acquire, as a hash in hexadecimal.
    pub context: String,
}

/// A predicted race.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct RaceGoal {
    /// The two accesses.
    pub accesses: [ExpectedAccess; 2],
}

/// Accesses of two threads to one location, in a rare order. If both are made under one lock, the sites are those of its acquires.
///
/// The terms are those of AVIO (Lu et al., ASPLOS 2006): two local accesses of one thread, and the remote access of another that lands
/// between them. Forcing such an interleaving is the idea of CTrigger (Park et al., ASPLOS 2009).
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct AccessGoal {
    /// The accesses that are scheduling points in the run.
    pub points: AccessPoints,
    /// Whether the rest of the schedule is sequential; otherwise threads are preempted at random as well.
    #[serde(default, rename = "is_calm", skip_serializing_if = "std::ops::Not::not")]
    pub is_sequential: bool,
    /// The thread-unsafe classes whose accesses are scheduling points beside those in scope.
    #[serde(default, rename = "inside", skip_serializing_if = "Vec::is_empty")]
    pub instrumented: Vec<String>,
    /// The first local access; if there is none, the goal is a reordering or a delay.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub first: Option<GoalSite>,
    /// The remote access; if there is none, the local access is delayed while other threads run.
    #[serde(default, rename = "between", skip_serializing_if = "Option::is_none")]
    pub remote: Option<GoalSite>,
    /// The last local access.
    pub last: GoalSite,
    /// The choices that a run makes first, because they led to the last local access in an earlier run.
    #[serde(default, rename = "after", skip_serializing_if = "Option::is_none")]
    pub prefix: Option<String>,
}

/// The shape of an [`AccessGoal`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Shape {
    /// A remote access lands between two local accesses.
    Interleaving,
    /// Other threads run while a local access is delayed.
    Delay,
    /// A remote access comes before a local one.
    Reordering,
}

impl AccessGoal {
    /// The shape of the goal.
    pub fn shape(&self) -> Shape {
        match (&self.first, &self.remote) {
            (Some(_), _) => Shape::Interleaving,
            (None, Some(_)) => Shape::Reordering,
            (None, None) => Shape::Delay,
        }
    }
}

/// A site and the operation that a thread executes there.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct GoalSite {
    /// The site, as in `com.acme.Account.withdraw:12`.
    pub place: String,
    /// The operation.
    pub act: Act,
    /// The field or variable, if it is known: a line may access several.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub name: String,
}

/// The operation that a thread executes at a site.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Act {
    /// It reads.
    Read,
    /// It writes, or reads and writes at once.
    Write,
    /// It acquires a lock.
    Acquire,
}

/// The first word of an access goal's text: with random preemptions, or in an otherwise sequential schedule.
const RANDOM: &str = "random";
const SEQUENTIAL: &str = "sequential";
/// The same words in earlier versions.
const RANDOM_BEFORE: &str = "between";
const SEQUENTIAL_BEFORE: &str = "calmly";

impl AcquireGoal {
    /// A remote acquire that lands between two acquires of an atomic block.
    pub fn new(local: String, remote: String) -> Self {
        Self { local, remote, ..Self::default() }
    }
}

impl From<AcquireGoal> for Goal {
    fn from(goal: AcquireGoal) -> Self {
        Goal::Acquires(goal)
    }
}

impl fmt::Display for AcquireGoal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let separator = if self.is_order { "//" } else { "/" };
        write!(f, "{}{separator}{}", self.local, self.remote)?;
        self.prefix.as_ref().map_or(Ok(()), |prefix| write!(f, "@{prefix}"))
    }
}

impl FromStr for AcquireGoal {
    type Err = GoalError;

    /// Reads `LOCAL/REMOTE` or `LATER//EARLIER`, optionally followed by `@CHOICES`; no name in a JVM contains a slash.
    fn from_str(text: &str) -> Result<Self, GoalError> {
        let (sites, prefix) = match text.split_once('@') {
            Some((sites, prefix)) => (sites, Some(prefix.to_owned())),
            None => (text, None),
        };
        let (local, remote) = sites.split_once('/').ok_or(GoalError)?;
        let (remote, is_order) = remote.strip_prefix('/').map_or((remote, false), |rest| (rest, true));
        if local.is_empty() || remote.is_empty() || remote.contains('/') {
            return Err(GoalError);
        }
        Ok(AcquireGoal { local: local.to_owned(), remote: remote.to_owned(), is_order, prefix })
    }
}

impl fmt::Display for ExpectedAccess {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let kind = if self.write { 'W' } else { 'R' };
        write!(f, "{kind} {} {} {}", self.place, self.field, self.context)
    }
}

impl fmt::Display for GoalSite {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let act = match self.act {
            Act::Read => 'R',
            Act::Write => 'W',
            Act::Acquire => 'L',
        };
        write!(f, "{act} {}", self.place)?;
        if self.name.is_empty() { Ok(()) } else { write!(f, " {}", self.name) }
    }
}

impl fmt::Display for Goal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let joined = |events: &[ExpectedAccess]| {
            events.iter().map(ExpectedAccess::to_string).collect::<Vec<_>>().join(",")
        };
        match self {
            Goal::Acquires(goal) => goal.fmt(f),
            Goal::Race(race) => write!(f, "race|{}", joined(&race.accesses)),
            Goal::Accesses(AccessGoal {
                points,
                is_sequential,
                instrumented,
                first,
                remote,
                last,
                prefix,
            }) => {
                let points = match points {
                    AccessPoints::None => "locks",
                    AccessPoints::Fields => "fields",
                    AccessPoints::All => "elements",
                };
                let text =
                    |site: &Option<GoalSite>| site.as_ref().map(GoalSite::to_string).unwrap_or_default();
                let (first, remote) = (text(first), text(remote));
                write!(f, "{}|{points}", if *is_sequential { SEQUENTIAL } else { RANDOM })?;
                instrumented.iter().try_for_each(|class| write!(f, ",{class}"))?;
                write!(f, "|{first}|{remote}|{last}")?;
                prefix.as_ref().map_or(Ok(()), |prefix| write!(f, "|{prefix}"))
            }
            Goal::Set(goal) => {
                let gate = goal.gate.as_ref().map(|gate| format!("{} {}", gate.place, gate.context));
                let windows: Vec<String> = goal.windows.iter().map(|window| window.join(",")).collect();
                write!(
                    f,
                    "{}|{}|{}|{}|{}|{}|{}",
                    goal.pattern,
                    goal.set,
                    goal.units[0],
                    goal.units[1],
                    joined(&goal.events),
                    windows.join(";"),
                    gate.unwrap_or_default()
                )
            }
        }
    }
}

/// A text that describes no goal.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct GoalError;

impl fmt::Display for GoalError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(
            "copy the goal from the report, where it stands beside the seed, and quote it; two acquires have a slash between their sites",
        )
    }
}

impl std::error::Error for GoalError {}

impl FromStr for ExpectedAccess {
    type Err = GoalError;

    fn from_str(text: &str) -> Result<Self, GoalError> {
        match text.split(' ').collect::<Vec<_>>()[..] {
            [kind @ ("R" | "W"), place, field, context] if !place.is_empty() => Ok(ExpectedAccess {
                place: place.to_owned(),
                field: field.to_owned(),
                write: kind == "W",
                context: context.to_owned(),
            }),
            _ => Err(GoalError),
        }
    }
}

impl FromStr for GoalSite {
    type Err = GoalError;

    fn from_str(text: &str) -> Result<Self, GoalError> {
        let (act, place, name) = match text.split(' ').collect::<Vec<_>>()[..] {
            [act, place] if !place.is_empty() => (act, place, ""),
            [act, place, name] if !place.is_empty() && !name.is_empty() => (act, place, name),
            _ => return Err(GoalError),
        };
        let act = match act {
            "R" => Act::Read,
            "W" => Act::Write,
            "L" => Act::Acquire,
            _ => return Err(GoalError),
        };
        Ok(GoalSite { place: place.to_owned(), act, name: name.to_owned() })
    }
}

impl FromStr for Goal {
    type Err = GoalError;

    /// Reads the text that `Display` writes; no name in a JVM contains a bar, a comma or a blank.
    fn from_str(text: &str) -> Result<Self, GoalError> {
        let events =
            |text: &str| text.split(',').map(str::parse).collect::<Result<Vec<ExpectedAccess>, GoalError>>();
        match text.split('|').collect::<Vec<_>>()[..] {
            ["race", accesses] => {
                let accesses = events(accesses)?.try_into().map_err(|_| GoalError)?;
                Ok(Goal::Race(RaceGoal { accesses }))
            }
            [
                kind @ (RANDOM | SEQUENTIAL | RANDOM_BEFORE | SEQUENTIAL_BEFORE),
                points,
                first,
                remote,
                last,
                ref prefix @ ..,
            ] if prefix.len() < 2 => {
                let mut words = points.split(',');
                let points = match words.next().unwrap_or_default() {
                    "locks" => AccessPoints::None,
                    "fields" => AccessPoints::Fields,
                    "elements" => AccessPoints::All,
                    _ => return Err(GoalError),
                };
                let instrumented: Vec<String> = words.map(str::to_owned).collect();
                if instrumented.iter().any(String::is_empty) {
                    return Err(GoalError);
                }
                let site = |text: &str| if text.is_empty() { Ok(None) } else { text.parse().map(Some) };
                let (first, remote, last) = (site(first)?, site(remote)?, last.parse()?);
                if first.is_some() && remote.is_none() {
                    return Err(GoalError);
                }
                let prefix = prefix.first().map(|prefix| (*prefix).to_owned());
                let is_sequential = matches!(kind, SEQUENTIAL | SEQUENTIAL_BEFORE);
                Ok(Goal::Accesses(AccessGoal {
                    points,
                    is_sequential,
                    instrumented,
                    first,
                    remote,
                    last,
                    prefix,
                }))
            }
            [pattern, set, first, second, accesses, windows, gate] => {
                let pattern =
                    pattern.parse().ok().filter(|pattern| (1..=11).contains(pattern)).ok_or(GoalError)?;
                let sites = |window: &str| {
                    window.split(',').filter(|site| !site.is_empty()).map(str::to_owned).collect()
                };
                let events = events(accesses)?;
                let gate = match gate.split_once(' ') {
                    Some((place, context)) => {
                        Some(Gate { place: place.to_owned(), context: context.to_owned() })
                    }
                    None if gate.is_empty() => None,
                    None => return Err(GoalError),
                };
                if !(3..=4).contains(&events.len()) {
                    return Err(GoalError);
                }
                Ok(Goal::Set(SetGoal {
                    pattern,
                    set: set.to_owned(),
                    units: [first.to_owned(), second.to_owned()],
                    events,
                    windows: windows.split(';').map(sites).collect(),
                    gate,
                }))
            }
            [acquires] => acquires.parse().map(Goal::Acquires),
            _ => Err(GoalError),
        }
    }
}

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
    fn goals_of_earlier_versions_are_read() {
        let check = |before: &str, now: &str| assert_eq!(before.parse::<Goal>().unwrap().to_string(), now);
        check("between|fields||W a.B.d:2|W a.B.c:1", "random|fields||W a.B.d:2|W a.B.c:1");
        check("calmly|fields||W a.B.d:2|W a.B.c:1", "sequential|fields||W a.B.d:2|W a.B.c:1");
        let json = r#"{"points":"all","is_calm":true,"between":{"place":"p","act":"read"},"last":{"place":"q","act":"write"}}"#;
        let goal: Goal = serde_json::from_str(json).unwrap();
        assert_eq!(goal.to_string(), "sequential|elements||R p|W q");
    }

    #[test]
    fn goals_are_read_as_they_are_written() {
        check("a.B.c:1/a.B.d:2", true);
        check("a.B.c/a.B.c", true);
        check("a.B.c//a.B$D.<init>:22", true);
        check("a/b@0*3 1", true);
        check("a.B.c", false);
        check("/a.B.c", false);
        check("a.B.c/", false);
        check("a/b/c", false);
        check("a///b", false);
        check("race|R a.B.c:1 a.B.x ,W a.B.d:2 a.B.x ", true);
        check("race|R a.B.c:1 a.B.x ", false);
        let set = "9|a.B|a.B.<init>|a.B.d|R a.B.c:1 a.B.x 1f,W a.B.d:2 a.B.x 2,W a.B.d:3 a.B.y 2,R a.B.e:4 a.B.y 1f";
        check(&format!("{set}|a.B.c:1,a.B.q:2;;|a.B.d:1 2"), true);
        check(&format!("{set}|;;|a.B.d:1"), false);
        check(&format!("{set}|;;|"), true);
        check("random|fields|R a.B.c:1|W a.B.d:2|W a.B.c:1", true);
        check("random|elements||L a.B.d:2|L a.B.c:1", true);
        check("random|elements|||W a.B.c:1", true);
        check("random|elements|||W a.B.c:1 x|0*3 1", true);
        check("random|elements,java.util.HashMap,a.B|||W a.B.c:1 x", true);
        check("random|elements,|||W a.B.c:1 x", false);
        check("sequential|fields|R a.B.c:1|W a.B.d:2|W a.B.c:1", true);
        check("random|elements|||W a.B.c:1 x y", false);
        check("random|elements|R a.B.c:1||W a.B.c:1", false);
        check("random|nowhere||W a.B.d:2|W a.B.c:1", false);
        check("random|fields||X a.B.d:2|W a.B.c:1", false);
        check("random|fields|R a.B.c:1|W a.B.d:2|", false);
        check("12|a.B|u|v|R p f 1,W p f 2,W p f 1|;|", false);
        check("1|a.B|u|v|R p f 1|;|", false);
        check("1|a.B|u|v", false);
        check("", false);
    }
}
