//! Preventions: what a controlled run keeps from happening, as a repair of the program would.
//!
//! A goal makes something happen, a prevention forbids it. A failure whose cause is prevented disappears in runs that are otherwise equal;
//! one that is only accompanied by it does not. Like goals, preventions name sites as text.

use serde::{Deserialize, Serialize};

use crate::goal::{AccessGoal, Act, GoalSite, Role, Shape};

/// How many preventions one run may have.
pub const MOST: usize = 3;

/// Something that the conductor keeps from happening in a run.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub enum Prevention {
    /// A remote access lands between two local ones. From the first local access to the last one, or until the thread leaves the method,
    /// no other thread makes a conflicting access to the location, as if both threads held one lock.
    Between {
        /// The first local access.
        first: GoalSite,
        /// The last local access.
        last: GoalSite,
        /// The remote accesses.
        remote: Vec<GoalSite>,
    },
    /// An access comes too early: it waits until the other one has happened.
    Early {
        /// The access that comes too early.
        early: GoalSite,
        /// The access that must come first.
        expected: GoalSite,
    },
    /// Threads acquire locks in a cycle: only one thread at a time is between its outer acquire and its inner one.
    Cycle {
        /// The sites of the outer acquires.
        outer: Vec<String>,
        /// The sites of the inner acquires.
        inner: Vec<String>,
    },
    /// `notify` wakes a thread that waits for something else: it wakes all waiting threads instead.
    SingleNotify,
    /// Another thread enters the monitor before a notified thread is back in it, and changes what it waited for: notified threads come first.
    Overtaken {
        /// The site of the wait.
        wait: String,
    },
    /// A notification comes before the wait and is lost: it is remembered for the next wait instead.
    LostNotify,
}

impl Prevention {
    /// The prevention of a goal at accesses; `None` for a delay. Every access of a thread before the one that comes too late can be delayed
    /// with the same effect, so a delay explains nothing.
    pub fn of(goal: &AccessGoal) -> Option<Self> {
        let site = |role| goal.get(role).cloned();
        match (goal.shape(), site(Role::First), site(Role::Remote)) {
            (Shape::Interleaving | Shape::DoubleInterleaving, Some(first), Some(remote)) => {
                let remote = std::iter::once(remote).chain(site(Role::Second)).collect();
                Some(Prevention::Between { first, last: goal.last().clone(), remote })
            }
            (Shape::Reordering, _, Some(early)) => {
                Some(Prevention::Early { early, expected: goal.last().clone() })
            }
            _ => None,
        }
    }

    /// The texts of the sites that have a role in the prevention.
    pub fn sites(&self) -> Vec<&str> {
        match self {
            Prevention::Between { first, last, remote } => {
                [first, last].into_iter().chain(remote).map(|site| site.site.as_str()).collect()
            }
            Prevention::Early { early, expected } => vec![&early.site, &expected.site],
            Prevention::Cycle { outer, inner } => outer.iter().chain(inner).map(String::as_str).collect(),
            Prevention::Overtaken { .. } | Prevention::SingleNotify | Prevention::LostNotify => Vec::new(),
        }
    }

    /// The part of an operation at a site in the prevention.
    pub fn part(&self, text: &str, act: Act, name: &str) -> Part {
        let is_meant = |site: &GoalSite| {
            site.act == act && site.site == text && (act == Act::Acquire || site.name == name)
        };
        let names = |sites: &[String]| act == Act::Acquire && sites.iter().any(|site| site == text);
        match self {
            Prevention::Between { first, last, remote } => {
                Part { begins: is_meant(first), ends: is_meant(last), is_remote: remote.iter().any(is_meant) }
            }
            Prevention::Early { early, expected } => {
                Part { begins: false, ends: is_meant(expected), is_remote: is_meant(early) }
            }
            Prevention::Cycle { outer, inner } => {
                Part { begins: names(outer), ends: names(inner), is_remote: names(outer) }
            }
            Prevention::Overtaken { .. } | Prevention::SingleNotify | Prevention::LostNotify => {
                Part::default()
            }
        }
    }

    /// Whether the local accesses, if there are two, are in one method.
    pub fn is_in_one_method(&self) -> bool {
        match self {
            Prevention::Between { first, last, .. } => method(&first.site) == method(&last.site),
            _ => true,
        }
    }
}

/// The method of a site.
fn method(site: &str) -> &str {
    site.rsplit_once(':').map_or(site, |(method, _)| method)
}

/// The part of an operation in a prevention.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Part {
    /// It begins the part of a thread that no other may disturb.
    pub begins: bool,
    /// It ends that part, or is the access that must come first.
    pub ends: bool,
    /// It must not happen meanwhile, or not before.
    pub is_remote: bool,
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::goal::Goal;

    fn check(goal: &str, expected: &str) {
        let Goal::Accesses(goal) = goal.parse().unwrap() else { panic!("{goal}") };
        let prevention = Prevention::of(&goal).unwrap();
        let text = serde_json::to_string(&prevention).unwrap();
        assert_eq!(text, expected);
        assert_eq!(serde_json::from_str::<Prevention>(&text).unwrap(), prevention);
    }

    #[test]
    fn every_shape_has_its_prevention() {
        let site = |line: u32, act: &str| format!(r#"{{"site":"A.m:{line}","act":"{act}","name":"x"}}"#);
        let (a, b, c, d) = (site(1, "read"), site(2, "write"), site(3, "write"), site(4, "write"));
        check(
            &format!(r#"{{"interleaving":{{"points":"all","first":{a},"remote":{b},"last":{c}}}}}"#),
            &format!(r#"{{"between":{{"first":{a},"last":{c},"remote":[{b}]}}}}"#),
        );
        check(
            &format!(
                r#"{{"double-interleaving":{{"points":"all","first":{a},"remote":{b},"second":{d},"last":{c}}}}}"#
            ),
            &format!(r#"{{"between":{{"first":{a},"last":{c},"remote":[{b},{d}]}}}}"#),
        );
        check(
            &format!(r#"{{"reordering":{{"points":"all","remote":{a},"last":{b}}}}}"#),
            &format!(r#"{{"early":{{"early":{a},"expected":{b}}}}}"#),
        );
        let delay = format!(r#"{{"delay":{{"points":"all","last":{b}}}}}"#);
        let Goal::Accesses(delay) = delay.parse().unwrap() else { panic!("{delay}") };
        assert_eq!(Prevention::of(&delay), None);
    }

    #[test]
    fn operations_have_parts_by_site_act_and_name() {
        let site = |line: u32, act| GoalSite { site: format!("A.m:{line}"), act, name: "x".to_owned() };
        let between = Prevention::Between {
            first: site(1, Act::Read),
            last: site(1, Act::Write),
            remote: vec![site(1, Act::Write)],
        };
        let check = |act, name, expected: [bool; 3]| {
            let part = between.part("A.m:1", act, name);
            assert_eq!([part.begins, part.ends, part.is_remote], expected, "{act:?} {name}");
        };
        check(Act::Read, "x", [true, false, false]);
        check(Act::Write, "x", [false, true, true]);
        check(Act::Write, "y", [false; 3]);
        check(Act::Acquire, "", [false; 3]);
        assert!(between.is_in_one_method());
    }
}
