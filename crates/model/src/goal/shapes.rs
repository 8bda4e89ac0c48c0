//! The shapes of goals at accesses: all that the engine knows about each of them, in one table.
//!
//! A shape says which accesses a goal has, by their roles. Everything else works by roles: the key in JSON and the accesses that must be
//! given, the marks of sites in a run, the strategy that pauses threads, and the order of attempts. Candidates of a shape are found by
//! `analysis::interleavings::finders`.

use super::{Act, GoalAccesses, GoalSite};

/// The shape of a goal at accesses.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Shape {
    /// Other threads run while a local access is delayed.
    Delay,
    /// A remote access comes before a local one.
    Reordering,
    /// A remote access lands between two local accesses.
    Interleaving,
    /// Two remote accesses of one thread land between two local accesses.
    DoubleInterleaving,
}

/// The role of an access in a goal. The number of a role is that of its mark in a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Role {
    /// The first local access.
    First,
    /// The remote access, or the first one of two.
    Remote,
    /// The last local access.
    Last,
    /// The second remote access.
    Second,
}

impl Role {
    /// All roles, by their numbers.
    pub const ALL: [Role; 4] = [Role::First, Role::Remote, Role::Last, Role::Second];

    /// The number, below the number of roles.
    pub fn number(self) -> usize {
        self as usize
    }

    /// The mark of a site with this role.
    pub fn bit(self) -> u8 {
        1 << self.number()
    }
}

/// A row of the table.
struct Row {
    shape: Shape,
    /// The key in JSON.
    name: &'static str,
    /// The accesses, in the order in which they happen if the goal is reached. The last local access is always one of them.
    roles: &'static [Role],
    /// How early goals of this shape are tried, the likeliest bugs first. The same rank decides which goal explains a failure best: two local
    /// accesses and a remote one explain more than a delay or a reordering. Double interleavings are rarely needed.
    rank: u8,
    /// How a run reaches the goal, in words.
    describe: fn(&GoalAccesses) -> String,
}

const SHAPES: [Row; 4] = [
    Row {
        shape: Shape::Interleaving,
        name: "interleaving",
        roles: &[Role::First, Role::Remote, Role::Last],
        rank: 0,
        describe: |accesses| {
            let remote = accesses.of(Role::Remote);
            let (happens, at) = (verb(remote.act), &remote.site);
            format!("{}, and another thread {happens} it in between, at {at}", both_local(accesses))
        },
    },
    Row {
        shape: Shape::Delay,
        name: "delay",
        roles: &[Role::Last],
        rank: 1,
        describe: |accesses| {
            let last = accesses.of(Role::Last);
            format!("the {} of {} at {} is delayed", noun(last.act), name(last), last.site)
        },
    },
    Row {
        shape: Shape::Reordering,
        name: "reordering",
        roles: &[Role::Remote, Role::Last],
        rank: 2,
        describe: |accesses| {
            let (remote, last) = (accesses.of(Role::Remote), accesses.of(Role::Last));
            let (early, late) = (participle(remote.act), participle(last.act));
            format!("{} is {early} at {} before it is {late} at {}", name(remote), remote.site, last.site)
        },
    },
    Row {
        shape: Shape::DoubleInterleaving,
        name: "double-interleaving",
        roles: &[Role::First, Role::Remote, Role::Second, Role::Last],
        rank: 3,
        describe: |accesses| {
            let (remote, second) = (accesses.of(Role::Remote), accesses.of(Role::Second));
            let (happens, at, again) = (verb(remote.act), &remote.site, &second.site);
            format!(
                "{}, and another thread {happens} it twice in between, at {at} and then at {again}",
                both_local(accesses)
            )
        },
    },
];

impl Shape {
    /// All shapes, by their ranks.
    pub fn all() -> impl Iterator<Item = Shape> {
        SHAPES.iter().map(|row| row.shape)
    }

    /// The key of goals of this shape in JSON.
    pub fn name(self) -> &'static str {
        self.row().name
    }

    /// The shape with this key.
    pub fn named(name: &str) -> Option<Shape> {
        SHAPES.iter().find(|row| row.name == name).map(|row| row.shape)
    }

    /// The accesses of a goal, in the order in which they happen if the goal is reached.
    pub fn roles(self) -> &'static [Role] {
        self.row().roles
    }

    /// Whether a goal has an access with this role.
    pub fn has(self, role: Role) -> bool {
        self.roles().contains(&role)
    }

    /// How early goals are tried and how well they explain a failure; the least is best.
    pub fn rank(self) -> u8 {
        self.row().rank
    }

    /// How a run reaches a goal with these accesses, in words.
    pub(super) fn describe(self, accesses: &GoalAccesses) -> String {
        (self.row().describe)(accesses)
    }

    fn row(self) -> &'static Row {
        SHAPES.iter().find(|row| row.shape == self).expect("every shape has a row in the table of shapes")
    }
}

/// The local accesses, which surround the remote ones.
fn both_local(accesses: &GoalAccesses) -> String {
    let (first, last) = (accesses.of(Role::First), accesses.of(Role::Last));
    let (before, after) = (participle(first.act), participle(last.act));
    format!("{} is {before} at {} and {after} at {}", name(first), first.site, last.site)
}

fn name(site: &GoalSite) -> String {
    match site.act {
        Act::Acquire => "a lock".to_owned(),
        _ if site.name.is_empty() => "something".to_owned(),
        _ => format!("`{}`", site.name),
    }
}

fn noun(act: Act) -> &'static str {
    match act {
        Act::Read => "read",
        Act::Write => "write",
        Act::Acquire => "acquire",
    }
}

fn participle(act: Act) -> &'static str {
    match act {
        Act::Read => "read",
        Act::Write => "written",
        Act::Acquire => "acquired",
    }
}

fn verb(act: Act) -> &'static str {
    match act {
        Act::Read => "reads",
        Act::Write => "writes",
        Act::Acquire => "acquires",
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::goal::Goal;

    #[test]
    fn the_table_has_every_shape_once() {
        let mut shapes: Vec<Shape> = Shape::all().collect();
        assert!(shapes.is_sorted_by_key(|shape| shape.rank()), "{shapes:?}");
        for shape in &shapes {
            assert_eq!(Shape::named(shape.name()), Some(*shape));
            assert!(shape.has(Role::Last), "{shape:?}");
        }
        shapes.sort();
        assert_eq!(shapes, [Shape::Delay, Shape::Reordering, Shape::Interleaving, Shape::DoubleInterleaving]);
        assert_eq!(Role::ALL.map(Role::number), [0, 1, 2, 3]);
    }

    #[test]
    fn goals_are_described_by_their_accesses() {
        fn check(goal: &str, expected: &str) {
            let goal: Goal = goal.parse().unwrap();
            let Goal::Accesses(goal) = goal else { panic!("{goal}") };
            assert_eq!(goal.describe(), expected);
        }
        let site = |act: &str, site: &str| format!(r#"{{"site":"{site}","act":"{act}","name":"x"}}"#);
        let (read, write) = (|at| site("read", at), |at| site("write", at));
        check(
            &format!(
                r#"{{"interleaving":{{"points":"fields","first":{},"remote":{},"last":{}}}}}"#,
                read("A.m:1"),
                write("A.n:2"),
                write("A.m:3")
            ),
            "`x` is read at A.m:1 and written at A.m:3, and another thread writes it in between, at A.n:2",
        );
        check(
            &format!(
                r#"{{"double-interleaving":{{"points":"fields","first":{},"remote":{},"second":{},"last":{}}}}}"#,
                read("A.m:1"),
                write("A.n:2"),
                write("A.n:4"),
                write("A.m:3")
            ),
            "`x` is read at A.m:1 and written at A.m:3, and another thread writes it twice in between, at A.n:2 and then at A.n:4",
        );
        check(
            &format!(
                r#"{{"reordering":{{"points":"fields","remote":{},"last":{}}}}}"#,
                read("A.n:2"),
                write("A.m:1")
            ),
            "`x` is read at A.n:2 before it is written at A.m:1",
        );
        check(
            r#"{"delay":{"points":"fields","last":{"site":"A.m:1","act":"acquire"}}}"#,
            "the acquire of a lock at A.m:1 is delayed",
        );
    }
}
