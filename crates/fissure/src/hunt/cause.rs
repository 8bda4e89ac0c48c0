//! The cause of a failure in words.

use fissure_hunt::goals::Cause;
use fissure_model::goal::{Act, GoalAccesses, GoalSite};

/// The cause of a failure: how runs reach the goal that makes it happen, and how many of them failed.
pub(crate) fn describe(cause: &Cause) -> String {
    let Cause { goal, reached, tried } = cause;
    let name = |site: &GoalSite| match site.act {
        Act::Acquire => "a lock".to_owned(),
        _ if site.name.is_empty() => "something".to_owned(),
        _ => format!("`{}`", site.name),
    };
    let done = participle(goal.last().act);
    let noun = match goal.last().act {
        Act::Read => "read",
        Act::Write => "write",
        Act::Acquire => "acquire",
    };
    let at = &goal.last().site;
    let text = match &goal.accesses {
        GoalAccesses::Interleaving { first, remote, .. } => {
            let first_done = participle(first.act);
            let (remote_verb, remote_site) = (verb(remote.act), &remote.site);
            format!(
                "{} is {first_done} at {} and {done} at {at}, and another thread {remote_verb} it in between, at {remote_site}",
                name(first),
                first.site
            )
        }
        GoalAccesses::DoubleInterleaving { first, remote, second, .. } => {
            let first_done = participle(first.act);
            let (remote_verb, remote_site, second_site) = (verb(remote.act), &remote.site, &second.site);
            format!(
                "{} is {first_done} at {} and {done} at {at}, and another thread {remote_verb} it twice in between, at {remote_site} and then \
                 at {second_site}",
                name(first),
                first.site
            )
        }
        GoalAccesses::Reordering { remote, .. } => {
            let (early, site) = (participle(remote.act), &remote.site);
            format!("{} is {early} at {site} before it is {done} at {at}", name(remote))
        }
        GoalAccesses::Delay { last } => format!("the {noun} of {} at {at} is delayed", name(last)),
    };
    let where_it_is = if goal.instrumented.is_empty() { "" } else { ", in a thread-unsafe object" };
    format!("{text}{where_it_is} ({reached} of {tried} runs)")
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
    use fissure_model::goal::Goal;

    use super::*;

    #[test]
    fn a_cause_is_described_by_its_accesses() {
        fn check(goal: &str, expected: &str) {
            let goal: Goal = goal.parse().unwrap();
            let Goal::Accesses(goal) = goal else { panic!("{goal}") };
            assert_eq!(describe(&Cause { goal, reached: 2, tried: 2 }), expected);
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
            "`x` is read at A.m:1 and written at A.m:3, and another thread writes it in between, at A.n:2 (2 of 2 runs)",
        );
        check(
            &format!(
                r#"{{"double-interleaving":{{"points":"fields","first":{},"remote":{},"second":{},"last":{}}}}}"#,
                read("A.m:1"),
                write("A.n:2"),
                write("A.n:4"),
                write("A.m:3")
            ),
            "`x` is read at A.m:1 and written at A.m:3, and another thread writes it twice in between, at A.n:2 and then at A.n:4 (2 of 2 runs)",
        );
        check(
            &format!(
                r#"{{"reordering":{{"points":"fields","remote":{},"last":{}}}}}"#,
                read("A.n:2"),
                write("A.m:1")
            ),
            "`x` is read at A.n:2 before it is written at A.m:1 (2 of 2 runs)",
        );
        check(
            &format!(r#"{{"delay":{{"points":"fields","instrumented":["B"],"last":{}}}}}"#, write("B.m:1")),
            "the write of `x` at B.m:1 is delayed, in a thread-unsafe object (2 of 2 runs)",
        );
        check(
            r#"{"delay":{"points":"fields","last":{"site":"A.m:1","act":"acquire"}}}"#,
            "the acquire of a lock at A.m:1 is delayed (2 of 2 runs)",
        );
    }
}
