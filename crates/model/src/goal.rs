//! What a controlled run looks for, as another run learned it. Places and methods are written as users know them, for the numbers
//! of a run mean nothing in another one.

use std::{fmt, str::FromStr};

use serde::{Deserialize, Serialize};

use crate::settings::{AccessPoints, Pair};

/// What is looked for.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(untagged)]
pub enum Goal {
    /// Two acquires of one lock.
    Pair(Pair),
    /// An atomic-set violation.
    Set(SetGoal),
    /// A race.
    Race(RaceGoal),
    /// One thread's access that comes in between two of another, or before one.
    AccessGoal(AccessGoal),
}

/// An access that is looked for.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct ExpectedAccess {
    /// The place, as in `com.acme.Account.withdraw:12`.
    pub place: String,
    /// The field, as in `com.acme.Account.balance`; an array's element has the name of its set's field, or none.
    pub field: String,
    /// Whether it is written.
    pub write: bool,
    /// The methods that led there, as a hash in hexadecimal.
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
    /// The two units of work, in the order of the pattern; of an access outside of all units the method that it is in.
    pub units: [String; 2],
    /// The events, in the order of the pattern.
    pub events: Vec<ExpectedAccess>,
    /// For each event but the last, where the locks are got that must be given back before the other unit goes on.
    pub windows: Vec<Vec<String>>,
    /// Where the second unit gets a lock that it must not have before the first event.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub gate: Option<Gate>,
}

/// Where a lock is got.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Gate {
    /// The place.
    pub place: String,
    /// The methods that led there, as a hash in hexadecimal.
    pub context: String,
}

/// A predicted race.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct RaceGoal {
    /// The two accesses.
    pub accesses: [ExpectedAccess; 2],
}

/// Accesses of two threads to one thing that could come in another order than they mostly do: one in between two others, or before
/// one, or everything else before one. Where both are made under one lock, the places are those where it is got.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct AccessGoal {
    /// The accesses that threads stop before, at which this was seen to be possible.
    pub points: AccessPoints,
    /// Whether threads are interrupted for its sake only; otherwise they are by chance as well.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub is_calm: bool,
    /// The classes that were looked into for it beside those in scope.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub inside: Vec<String>,
    /// What one thread does first; if there is nothing, the two others only change their order.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub first: Option<GoalSite>,
    /// What the other thread does in between; if there is nothing either, whatever others can do.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub between: Option<GoalSite>,
    /// What the first thread does after that.
    pub last: GoalSite,
    /// The choices that a run makes first, because they led there before.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub after: Option<String>,
}

/// A place where something is done that is looked for.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct GoalSite {
    /// The place, as in `com.acme.Account.withdraw:12`.
    pub place: String,
    /// What is done there.
    pub act: Act,
    /// The name of the field or variable that it is done to, if that is known: there may be several in one line.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub name: String,
}

/// What is done at a place.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Act {
    /// Something is read.
    Read,
    /// Something is written, or read and written at once.
    Write,
    /// A lock is got.
    Acquire,
}

/// How texts begin that say what is to come in between, by chance or without any other interruption.
const BETWEEN: &str = "between";
const CALM: &str = "calmly";

impl From<Pair> for Goal {
    fn from(pair: Pair) -> Self {
        Goal::Pair(pair)
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
            Goal::Pair(pair) => pair.fmt(f),
            Goal::Race(race) => write!(f, "race|{}", joined(&race.accesses)),
            Goal::AccessGoal(AccessGoal { points, is_calm, inside, first, between, last, after }) => {
                let points = match points {
                    AccessPoints::None => "locks",
                    AccessPoints::Fields => "fields",
                    AccessPoints::All => "elements",
                };
                let told =
                    |site: &Option<GoalSite>| site.as_ref().map(GoalSite::to_string).unwrap_or_default();
                let (first, between) = (told(first), told(between));
                write!(f, "{}|{points}", if *is_calm { CALM } else { BETWEEN })?;
                inside.iter().try_for_each(|class| write!(f, ",{class}"))?;
                write!(f, "|{first}|{between}|{last}")?;
                after.as_ref().map_or(Ok(()), |after| write!(f, "|{after}"))
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

/// A text that says nothing to look for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct GoalError;

impl fmt::Display for GoalError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(
            "write it as the report gives it beside the seed, in quotes; two places are written with a slash between them",
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

    /// Reads what `Display` writes; no name in a JVM has a bar, a comma or a blank in it.
    fn from_str(text: &str) -> Result<Self, GoalError> {
        let events =
            |text: &str| text.split(',').map(str::parse).collect::<Result<Vec<ExpectedAccess>, GoalError>>();
        match text.split('|').collect::<Vec<_>>()[..] {
            ["race", accesses] => {
                let accesses = events(accesses)?.try_into().map_err(|_| GoalError)?;
                Ok(Goal::Race(RaceGoal { accesses }))
            }
            [kind @ (BETWEEN | CALM), points, first, between, last, ref after @ ..] if after.len() < 2 => {
                let mut words = points.split(',');
                let points = match words.next().unwrap_or_default() {
                    "locks" => AccessPoints::None,
                    "fields" => AccessPoints::Fields,
                    "elements" => AccessPoints::All,
                    _ => return Err(GoalError),
                };
                let inside: Vec<String> = words.map(str::to_owned).collect();
                if inside.iter().any(String::is_empty) {
                    return Err(GoalError);
                }
                let site = |text: &str| if text.is_empty() { Ok(None) } else { text.parse().map(Some) };
                let (first, between, last) = (site(first)?, site(between)?, last.parse()?);
                if first.is_some() && between.is_none() {
                    return Err(GoalError);
                }
                let after = after.first().map(|after| (*after).to_owned());
                let is_calm = kind == CALM;
                Ok(Goal::AccessGoal(AccessGoal { points, is_calm, inside, first, between, last, after }))
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
            [pair] => pair.parse().map(Goal::Pair).map_err(|_| GoalError),
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
    fn goals_are_read_as_they_are_written() {
        check("a.B.c:1/a.B.d:2", true);
        check("race|R a.B.c:1 a.B.x ,W a.B.d:2 a.B.x ", true);
        check("race|R a.B.c:1 a.B.x ", false);
        let set = "9|a.B|a.B.<init>|a.B.d|R a.B.c:1 a.B.x 1f,W a.B.d:2 a.B.x 2,W a.B.d:3 a.B.y 2,R a.B.e:4 a.B.y 1f";
        check(&format!("{set}|a.B.c:1,a.B.q:2;;|a.B.d:1 2"), true);
        check(&format!("{set}|;;|a.B.d:1"), false);
        check(&format!("{set}|;;|"), true);
        check("between|fields|R a.B.c:1|W a.B.d:2|W a.B.c:1", true);
        check("between|elements||L a.B.d:2|L a.B.c:1", true);
        check("between|elements|||W a.B.c:1", true);
        check("between|elements|||W a.B.c:1 x|0*3 1", true);
        check("between|elements,java.util.HashMap,a.B|||W a.B.c:1 x", true);
        check("between|elements,|||W a.B.c:1 x", false);
        check("calmly|fields|R a.B.c:1|W a.B.d:2|W a.B.c:1", true);
        check("between|elements|||W a.B.c:1 x y", false);
        check("between|elements|R a.B.c:1||W a.B.c:1", false);
        check("between|nowhere||W a.B.d:2|W a.B.c:1", false);
        check("between|fields||X a.B.d:2|W a.B.c:1", false);
        check("between|fields|R a.B.c:1|W a.B.d:2|", false);
        check("12|a.B|u|v|R p f 1,W p f 2,W p f 1|;|", false);
        check("1|a.B|u|v|R p f 1|;|", false);
        check("1|a.B|u|v", false);
        check("", false);
    }
}
