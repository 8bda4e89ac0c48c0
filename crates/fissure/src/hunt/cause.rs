//! The cause of a failure in words.

use fissure_hunt::goals::Cause;

/// The cause of a failure: how runs reach the goal that makes it happen, and how many of them failed.
pub(crate) fn describe(cause: &Cause) -> String {
    let Cause { goal, reached, tried } = cause;
    let where_it_is = if goal.instrumented.is_empty() { "" } else { ", in a thread-unsafe object" };
    format!("{}{where_it_is} ({reached} of {tried} runs)", goal.describe())
}

#[cfg(test)]
mod tests {
    use fissure_model::goal::Goal;

    use super::*;

    #[test]
    fn a_cause_is_described_by_its_goal() {
        fn check(goal: &str, expected: &str) {
            let goal: Goal = goal.parse().unwrap();
            let Goal::Accesses(goal) = goal else { panic!("{goal}") };
            assert_eq!(describe(&Cause { goal, reached: 2, tried: 3 }), expected);
        }
        let write = r#"{"site":"B.m:1","act":"write","name":"x"}"#;
        check(
            &format!(r#"{{"delay":{{"points":"fields","last":{write}}}}}"#),
            "the write of `x` at B.m:1 is delayed (2 of 3 runs)",
        );
        check(
            &format!(r#"{{"delay":{{"points":"fields","instrumented":["B"],"last":{write}}}}}"#),
            "the write of `x` at B.m:1 is delayed, in a thread-unsafe object (2 of 3 runs)",
        );
    }
}
