//! Merges reports: of runs on several machines, or of the same program under several analyses.

use std::collections::HashMap;

use fissure_model::finding::{Finding, Outcome};

use crate::Report;

/// Merges reports: counts are added, and findings with the same id are merged.
///
/// If at least one report has a valid result, the problems of the others become notices. The merged report has a problem
/// only if all reports have one.
pub fn merge(reports: Vec<Report>) -> Report {
    let any_valid = reports.iter().any(|report| report.problem.is_none());
    let mut merged = Report::default();
    if let [first, others @ ..] = reports.as_slice()
        && others.iter().all(|other| (&other.command, &other.options) == (&first.command, &first.options))
    {
        // The commands to replay findings are built from it, so it is kept only if it applies to all of them.
        merged.command = first.command.clone();
        merged.options = first.options.clone();
    }
    let mut indices: HashMap<String, usize> = HashMap::new();
    for report in reports {
        merged.runs = merged.runs.saturating_add(report.runs);
        merged.campaigns.extend(report.campaigns);
        for range in report.seeds {
            if !merged.seeds.contains(&range) {
                merged.seeds.push(range);
            }
        }
        for (exit, count) in report.exits {
            let known = merged.exits.entry(exit).or_default();
            *known = known.saturating_add(count);
        }
        merged.jvms.extend(report.jvms);
        merged.coverage.add(&report.coverage);
        merged.next_step = merged.next_step.or(report.next_step);
        merged.tests.extend(report.tests);
        let problem = report.problem.filter(|problem| {
            if any_valid {
                push_once(&mut merged.notices, format!("one of the reports has no valid result: {problem}"));
            }
            !any_valid
        });
        merged.problem = merged.problem.or(problem);
        for error in report.internal_errors {
            push_once(&mut merged.internal_errors, error);
        }
        for notice in report.notices {
            push_once(&mut merged.notices, notice);
        }
        for finding in report.findings {
            match indices.get(&finding.id) {
                Some(&index) => merge_finding(&mut merged.findings[index], finding),
                None => {
                    indices.insert(finding.id.clone(), merged.findings.len());
                    merged.findings.push(finding);
                }
            }
        }
    }
    // In a hunt every run could have shown each finding, so the rate of a finding counts all of them.
    let runs = merged.seeds.iter().fold(0_u64, |sum, range| sum.saturating_add(range.count));
    for index in 0..merged.findings.len() {
        if merged.is_hunted(&merged.findings[index]) {
            merged.findings[index].runs = runs;
        }
    }
    merged
}

/// Adds the data of another report about the same finding; the stronger of the two provides the explanation.
fn merge_finding(known: &mut Finding, other: Finding) {
    let strength = |finding: &Finding| (!finding.ordered, finding.status, finding.interleaving.is_some());
    let (mut strong, weak) =
        if strength(&other) > strength(known) { (other, known.clone()) } else { (known.clone(), other) };
    strong.hits = strong.hits.saturating_add(weak.hits);
    strong.runs = strong.runs.saturating_add(weak.runs);
    strong.executions = match (strong.executions, weak.executions) {
        (Some(a), Some(b)) => Some(a.saturating_add(b)),
        (a, b) => a.or(b),
    };
    // `schedules[i]` belongs to `seeds[i]`, so a schedule may be added only while every seed so far has one.
    let scheduled = strong.schedules.len() == strong.seeds.len();
    let has_goals = !strong.goals.is_empty() || !weak.goals.is_empty();
    if has_goals {
        strong.goals.resize(strong.seeds.len(), None);
    }
    for (at, seed) in weak.seeds.iter().enumerate() {
        if !strong.seeds.contains(seed) {
            strong.seeds.push(*seed);
            if weak.patient_seeds.contains(seed) {
                strong.patient_seeds.push(*seed);
            }
            if has_goals {
                strong.goals.push(weak.goals.get(at).cloned().flatten());
            }
            if let Some(schedule) = weak.schedules.get(at).filter(|_| scheduled) {
                strong.schedules.push(schedule.clone());
            }
        }
    }
    for outcome in weak.outcomes {
        add_outcome(&mut strong.outcomes, outcome);
    }
    strong.consequence = strong.consequence.or(weak.consequence);
    strong.test = strong.test.or(weak.test);
    *known = strong;
}

fn add_outcome(outcomes: &mut Vec<Outcome>, other: Outcome) {
    match outcomes.iter_mut().find(|known| known.outcome == other.outcome) {
        Some(known) => known.count = known.count.saturating_add(other.count),
        None => outcomes.push(other),
    }
}

fn push_once(notices: &mut Vec<String>, notice: String) {
    if !notices.contains(&notice) {
        notices.push(notice);
    }
}

#[cfg(test)]
mod tests {
    use fissure_model::{
        finding::{Kind, Status},
        goal::{AcquireGoal, Goal},
    };

    use super::*;
    use crate::{Exit, SeedRange};

    fn finding(id: &str, status: Status, seeds: &[u64]) -> Finding {
        Finding {
            id: id.to_owned(),
            hits: 2,
            runs: seeds.len() as u64,
            seeds: seeds.to_vec(),
            schedules: seeds.iter().map(|seed| format!("s{seed}")).collect(),
            ..Finding::new(Kind::AtomicityViolation, status, "atomfuzzer", "A.m")
        }
    }

    fn report(first: u64, findings: Vec<Finding>, problem: Option<&str>) -> Report {
        Report {
            command: vec!["java".to_owned()],
            runs: 10,
            seeds: vec![SeedRange { first, count: 10, step: 1 }],
            exits: [(Exit::Code(0), 10)].into(),
            problem: problem.map(str::to_owned),
            notices: vec!["noted".to_owned()],
            findings,
            ..Report::default()
        }
    }

    #[test]
    fn counts_are_added_and_findings_merged() {
        let merged = merge(vec![
            report(1, vec![finding("a", Status::Confirmed, &[1, 2])], None),
            report(11, vec![finding("a", Status::Bug, &[12]), finding("b", Status::Bug, &[13])], None),
        ]);
        assert_eq!((merged.runs, merged.exits[&Exit::Code(0)], merged.seeds.len()), (20, 20, 2));
        assert_eq!(merged.notices, ["noted"]);
        let a = &merged.findings[0];
        assert_eq!((a.status, a.hits, a.runs), (Status::Bug, 4, 20));
        assert_eq!(a.seeds, [12, 1, 2]);
        assert_eq!(a.schedules, ["s12", "s1", "s2"]);
        assert!(a.goals.is_empty());
        assert_eq!(merged.findings.len(), 2);
    }

    #[test]
    fn goals_stay_aligned_with_their_seeds() {
        let goal = || Goal::from(AcquireGoal::new("A.m:1".to_owned(), "A.n:2".to_owned()));
        let has_goals =
            |seed| Finding { goals: vec![Some(goal())], ..finding("a", Status::Confirmed, &[seed]) };
        let free = finding("a", Status::Confirmed, &[1, 2]);
        let merged_targets = |first: Finding, second: Finding| {
            merge(vec![report(1, vec![first], None), report(11, vec![second], None)]).findings.remove(0).goals
        };
        assert_eq!(merged_targets(free.clone(), has_goals(11)), [None, None, Some(goal())]);
        assert_eq!(merged_targets(has_goals(11), free), [Some(goal()), None, None]);
    }

    #[test]
    fn only_a_common_command_is_kept() {
        let other = Report { command: vec!["mvn".to_owned()], ..report(1, Vec::new(), None) };
        assert_eq!(merge(vec![report(1, Vec::new(), None), report(2, Vec::new(), None)]).command, ["java"]);
        assert!(merge(vec![report(1, Vec::new(), None), other]).command.is_empty());
    }

    #[test]
    fn one_valid_report_is_enough() {
        let invalid = || report(1, Vec::new(), Some("nothing was instrumented"));
        let merged = merge(vec![invalid(), report(1, Vec::new(), None)]);
        assert_eq!(merged.problem, None);
        assert!(
            merged
                .notices
                .contains(&"one of the reports has no valid result: nothing was instrumented".to_owned())
        );
        assert_eq!(merge(vec![invalid(), invalid()]).problem.as_deref(), Some("nothing was instrumented"));
    }
}
