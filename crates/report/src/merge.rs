//! Several reports as one: runs of many machines, or the same program under several analyses.

use std::collections::HashMap;

use fissure_model::finding::{Finding, Outcome};

use crate::Report;

/// Puts reports together: counts add up and findings unite by their ids.
///
/// A report whose run means nothing does not spoil the others: its problem becomes a notice. Only if none of them means
/// anything has the whole a problem.
pub fn merge(reports: Vec<Report>) -> Report {
    let any_good = reports.iter().any(|report| report.problem.is_none());
    let mut whole = Report::default();
    if let [first, others @ ..] = reports.as_slice()
        && others.iter().all(|other| (&other.command, &other.options) == (&first.command, &first.options))
    {
        // A command that showed only a part of the findings would mislead as the way to see all of them again.
        whole.command = first.command.clone();
        whole.options = first.options.clone();
    }
    let mut places: HashMap<String, usize> = HashMap::new();
    for report in reports {
        whole.runs = whole.runs.saturating_add(report.runs);
        whole.campaigns.extend(report.campaigns);
        for range in report.seeds {
            if !whole.seeds.contains(&range) {
                whole.seeds.push(range);
            }
        }
        for (exit, count) in report.exits {
            let known = whole.exits.entry(exit).or_default();
            *known = known.saturating_add(count);
        }
        whole.jvms.extend(report.jvms);
        whole.coverage.add(&report.coverage);
        whole.next_step = whole.next_step.or(report.next_step);
        let problem = report.problem.filter(|problem| {
            if any_good {
                push_once(&mut whole.notices, format!("one of the reports means nothing: {problem}"));
            }
            !any_good
        });
        whole.problem = whole.problem.or(problem);
        for error in report.internal_errors {
            push_once(&mut whole.internal_errors, error);
        }
        for notice in report.notices {
            push_once(&mut whole.notices, notice);
        }
        for finding in report.findings {
            match places.get(&finding.id) {
                Some(&place) => unite(&mut whole.findings[place], finding),
                None => {
                    places.insert(finding.id.clone(), whole.findings.len());
                    whole.findings.push(finding);
                }
            }
        }
    }
    // A run that did not show a finding of a hunt had its chance to.
    let runs = whole.seeds.iter().fold(0_u64, |sum, range| sum.saturating_add(range.count));
    for place in 0..whole.findings.len() {
        if whole.is_hunted(&whole.findings[place]) {
            whole.findings[place].runs = runs;
        }
    }
    whole
}

/// Adds what another run says about the same finding: the stronger of the two tells the explanation.
fn unite(known: &mut Finding, other: Finding) {
    let strength = |finding: &Finding| (!finding.ordered, finding.status, finding.interleaving.is_some());
    let (mut strong, weak) =
        if strength(&other) > strength(known) { (other, known.clone()) } else { (known.clone(), other) };
    strong.hits = strong.hits.saturating_add(weak.hits);
    strong.runs = strong.runs.saturating_add(weak.runs);
    strong.executions = match (strong.executions, weak.executions) {
        (Some(a), Some(b)) => Some(a.saturating_add(b)),
        (a, b) => a.or(b),
    };
    // Seeds and schedules belong together. Only seeds with a schedule may stand before those without.
    let scheduled = strong.schedules.len() == strong.seeds.len();
    let targeted = !strong.targets.is_empty() || !weak.targets.is_empty();
    if targeted {
        strong.targets.resize(strong.seeds.len(), None);
    }
    for (at, seed) in weak.seeds.iter().enumerate() {
        if !strong.seeds.contains(seed) {
            strong.seeds.push(*seed);
            if targeted {
                strong.targets.push(weak.targets.get(at).cloned().flatten());
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
        goal::Goal,
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
    fn counts_add_and_findings_unite() {
        let whole = merge(vec![
            report(1, vec![finding("a", Status::Confirmed, &[1, 2])], None),
            report(11, vec![finding("a", Status::Bug, &[12]), finding("b", Status::Bug, &[13])], None),
        ]);
        assert_eq!((whole.runs, whole.exits[&Exit::Code(0)], whole.seeds.len()), (20, 20, 2));
        assert_eq!(whole.notices, ["noted"]);
        let a = &whole.findings[0];
        assert_eq!((a.status, a.hits, a.runs), (Status::Bug, 4, 20));
        assert_eq!(a.seeds, [12, 1, 2]);
        assert_eq!(a.schedules, ["s12", "s1", "s2"]);
        assert!(a.targets.is_empty());
        assert_eq!(whole.findings.len(), 2);
    }

    #[test]
    fn targets_stay_beside_their_seeds() {
        let target = || "A.m:1/A.n:2".parse::<Goal>().unwrap();
        let targeted =
            |seed| Finding { targets: vec![Some(target())], ..finding("a", Status::Confirmed, &[seed]) };
        let free = finding("a", Status::Confirmed, &[1, 2]);
        let united = |first: Finding, second: Finding| {
            merge(vec![report(1, vec![first], None), report(11, vec![second], None)])
                .findings
                .remove(0)
                .targets
        };
        assert_eq!(united(free.clone(), targeted(11)), [None, None, Some(target())]);
        assert_eq!(united(targeted(11), free), [Some(target()), None, None]);
    }

    #[test]
    fn only_a_common_command_is_kept() {
        let other = Report { command: vec!["mvn".to_owned()], ..report(1, Vec::new(), None) };
        assert_eq!(merge(vec![report(1, Vec::new(), None), report(2, Vec::new(), None)]).command, ["java"]);
        assert!(merge(vec![report(1, Vec::new(), None), other]).command.is_empty());
    }

    #[test]
    fn one_good_report_is_enough() {
        let blind = || report(1, Vec::new(), Some("blind"));
        let whole = merge(vec![blind(), report(1, Vec::new(), None)]);
        assert_eq!(whole.problem, None);
        assert!(whole.notices.contains(&"one of the reports means nothing: blind".to_owned()));
        assert_eq!(merge(vec![blind(), blind()]).problem.as_deref(), Some("blind"));
    }
}
