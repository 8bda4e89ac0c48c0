//! Decides which violations can be the cause of a failure that follows them, by comparing runs.
//!
//! A failing run shows many violations, and most of them are bystanders: they happen in runs that end well, too. A violation is
//! blamed for a failure only if the failure is more frequent in runs with the violation than in runs without it; one that happens in
//! every run, failing or not, is never blamed.

use std::collections::BTreeSet;

use fissure_model::{
    finding::{Consequence, FailureKind, Finding, Frame},
    record::Failure,
};

use crate::{outcome::Outcome, reference::References};

/// The runs to compare.
#[derive(Debug, Default)]
pub(crate) struct Evidence {
    runs: Vec<Facts>,
}

/// The violations and failures of one run.
#[derive(Debug)]
struct Facts {
    /// The ids of the violations that happened.
    violations: BTreeSet<String>,
    /// The failures that no reference run shows.
    consequences: Vec<Key>,
}

/// The kind and the innermost frame, by which failures are compared.
type Key = (FailureKind, Option<Frame>);

impl Evidence {
    /// Records a run.
    pub(crate) fn add(&mut self, outcome: &Outcome, references: &References) {
        let findings = outcome.findings();
        let consequences = consequences(outcome, references);
        self.runs.push(Facts {
            violations: findings
                .filter(|finding| finding.is_proven())
                .map(|finding| finding.id.clone())
                .collect(),
            consequences,
        });
    }

    /// Whether a violation is not the cause of the failure that follows it.
    pub(crate) fn is_bystander(&self, finding: &Finding) -> bool {
        let Some(consequence) = finding.consequence.as_ref().map(key) else { return false };
        let count = |has_violation: bool, fails: bool| {
            let fits = |run: &&Facts| {
                run.violations.contains(&finding.id) == has_violation
                    && run.consequences.contains(&consequence) == fails
            };
            self.runs.iter().filter(fits).count()
        };
        let [with_failing, with_passing] = [count(true, true), count(true, false)];
        let [without_failing, without_passing] = [count(false, true), count(false, false)];
        let (with, without) = (with_failing + with_passing, without_failing + without_passing);
        match without {
            0 => with_passing > 0,
            _ => with_failing * without <= without_failing * with,
        }
    }
}

/// Whether a run shows this failure.
pub(crate) fn has_consequence(outcome: &Outcome, consequence: &Consequence, references: &References) -> bool {
    consequences(outcome, references).contains(&key(consequence))
}

/// The failures of a run that no reference run shows.
fn consequences(outcome: &Outcome, references: &References) -> Vec<Key> {
    let failures = outcome.accounts().flat_map(|run| &run.failures);
    let news = failures.filter(|failure| !references.knows_failure(failure));
    let mut consequences: Vec<Key> = news.map(key_of_failure).collect();
    consequences.extend(references.new_end(outcome.end()).as_ref().map(key));
    consequences.extend(references.new_exit(outcome).as_ref().map(|(_, consequence)| key(consequence)));
    consequences
}

fn key(consequence: &Consequence) -> Key {
    (consequence.kind.clone(), consequence.stack.first().cloned())
}

fn key_of_failure(failure: &Failure) -> Key {
    (failure.kind(), failure.stack.first().cloned())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::Sketch;

    /// Runs as words: `v` for the violation, `f` for the failure, `-` for neither.
    fn check(runs: &str, expected: bool) {
        let mut references = References::default();
        references.add(&Sketch::default().outcome());
        let mut evidence = Evidence::default();
        let mut blamed = None;
        for run in runs.split(' ') {
            let sketch = Sketch {
                confirmed: if run.contains('v') { &["v"] } else { &[] },
                failures: if run.contains('f') { &["Boom 7 v"] } else { &[] },
                ..Sketch::default()
            };
            let outcome = sketch.outcome();
            evidence.add(&outcome, &references);
            if run == "vf" {
                let consequence = references.consequence(&outcome, "v");
                blamed = Some(Finding { consequence, ..outcome.processes[0].findings[0].clone() });
            }
        }
        assert_eq!(evidence.is_bystander(&blamed.unwrap()), expected, "{runs}");
    }

    #[test]
    fn a_violation_of_all_runs_is_not_blamed() {
        check("vf vf v", true);
        check("vf vf vf", false);
        check("vf", false);
    }

    #[test]
    fn a_failure_must_be_more_frequent_with_the_violation() {
        check("vf - -", false);
        check("vf v - -", false);
        check("vf v f -", true);
        check("vf v v f f f", true);
        check("vf vf f - - -", false);
    }
}
