//! Goals at accesses: an interleaving, a reordering or a delay.

use serde::{Deserialize, Serialize};

use super::{GoalError, Role, Shape};
use crate::settings::AccessPoints;

/// Accesses of two threads to one location, in a rare order. If both are made under one lock, the sites are those of its acquires.
///
/// The terms are those of AVIO (Lu et al., ASPLOS 2006): two local accesses of one thread, and the remote access of another that lands
/// between them. Forcing such an interleaving is the idea of CTrigger (Park et al., ASPLOS 2009).
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct AccessGoal {
    /// The accesses that are scheduling points in the run.
    pub points: AccessPoints,
    /// Whether the rest of the schedule is sequential; otherwise threads are preempted at random as well.
    pub is_sequential: bool,
    /// The thread-unsafe classes whose accesses are scheduling points beside those in scope.
    pub instrumented: Vec<String>,
    /// The accesses.
    pub accesses: GoalAccesses,
    /// The choices that a run makes first, because they led to the last local access in an earlier run.
    pub prefix: Option<String>,
}

/// The accesses of an [`AccessGoal`]: those that its shape has.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct GoalAccesses {
    shape: Shape,
    /// In the order of the roles of the shape.
    sites: Vec<GoalSite>,
}

/// A site and the operation that a thread executes there.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct GoalSite {
    /// The site, as in `com.acme.Account.withdraw:12`.
    #[serde(alias = "place")]
    pub site: String,
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

impl GoalAccesses {
    /// The accesses of a goal of this shape; `None` if one is missing or the shape has no such access.
    pub fn new(shape: Shape, mut site: impl FnMut(Role) -> Option<GoalSite>) -> Option<Self> {
        let mut sites = Role::ALL.map(&mut site);
        let has_all = Role::ALL.iter().all(|role| shape.has(*role) == sites[role.number()].is_some());
        let sites = shape.roles().iter().filter_map(|role| sites[role.number()].take()).collect();
        has_all.then_some(Self { shape, sites })
    }

    /// The access with this role, if the shape has one.
    pub fn get(&self, role: Role) -> Option<&GoalSite> {
        self.shape.roles().iter().position(|known| *known == role).map(|index| &self.sites[index])
    }

    /// All accesses, in the order in which they happen if the goal is reached.
    pub fn sites(&self) -> &[GoalSite] {
        &self.sites
    }

    /// The access with a role that the shape has.
    pub(super) fn of(&self, role: Role) -> &GoalSite {
        self.get(role).expect("a goal has all accesses of its shape")
    }
}

impl AccessGoal {
    /// The access with this role, if the goal has one.
    pub fn get(&self, role: Role) -> Option<&GoalSite> {
        self.accesses.get(role)
    }

    /// The first local access, if there are two.
    pub fn first(&self) -> Option<&GoalSite> {
        self.get(Role::First)
    }

    /// The last local access.
    pub fn last(&self) -> &GoalSite {
        self.accesses.of(Role::Last)
    }

    /// All accesses, in the order in which they happen if the goal is reached.
    pub fn sites(&self) -> &[GoalSite] {
        self.accesses.sites()
    }

    /// The shape of the goal.
    pub fn shape(&self) -> Shape {
        self.accesses.shape
    }

    /// How a run reaches the goal, in words.
    pub fn describe(&self) -> String {
        self.shape().describe(&self.accesses)
    }
}

impl GoalSite {
    /// The name of the access in [`crate::record::Run::reached`].
    pub fn key(&self) -> String {
        let act = match self.act {
            Act::Read => "read",
            Act::Write => "write",
            Act::Acquire => "acquire",
        };
        format!("{act} {} {}", self.site, self.name)
    }
}

/// An [`AccessGoal`] as it is written.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Written {
    points: AccessPoints,
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    sequential: bool,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    instrumented: Vec<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    first: Option<GoalSite>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    remote: Option<GoalSite>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    second: Option<GoalSite>,
    last: GoalSite,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    prefix: Option<String>,
}

impl From<&AccessGoal> for Written {
    fn from(goal: &AccessGoal) -> Self {
        Written {
            points: goal.points,
            sequential: goal.is_sequential,
            instrumented: goal.instrumented.clone(),
            first: goal.get(Role::First).cloned(),
            remote: goal.get(Role::Remote).cloned(),
            second: goal.get(Role::Second).cloned(),
            last: goal.last().clone(),
            prefix: goal.prefix.clone(),
        }
    }
}

impl Written {
    /// The goal, if it is written with the accesses of its shape.
    pub(super) fn goal(self, shape: Shape) -> Result<AccessGoal, GoalError> {
        let Written { points, sequential, instrumented, first, remote, second, last, prefix } = self;
        let site = |role| match role {
            Role::First => first.clone(),
            Role::Remote => remote.clone(),
            Role::Second => second.clone(),
            Role::Last => Some(last.clone()),
        };
        let accesses = GoalAccesses::new(shape, site).ok_or(GoalError)?;
        Ok(AccessGoal { points, is_sequential: sequential, instrumented, accesses, prefix })
    }
}
