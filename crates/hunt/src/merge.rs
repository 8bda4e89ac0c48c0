//! Merges the findings of many runs: each finding once, with its status, how often it was seen, and the runs that show it.

mod entry;

use std::{
    cmp::Reverse,
    collections::{BTreeMap, BTreeSet},
};

use fissure_model::{
    finding::{Consequence, Finding, FurtherFailure, Judgement, Kind, Status},
    goal::Goal,
    record::{Failure, RunEnd},
    recording::Recording,
};

use crate::{
    blame::{self, Evidence},
    causes::Verdict,
    outcome::{Outcome, Process},
    reference::References,
};
use entry::{Entry, Hit, Rank, SCHEDULES, SEEDS};

/// Findings by their ids.
#[derive(Debug, Default)]
pub(crate) struct Merged {
    findings: BTreeMap<String, Entry>,
    /// Failures that follow violations, which may be their cause, with the ids of these violations.
    explained: BTreeMap<String, (Entry, BTreeSet<String>)>,
    evidence: Evidence,
    /// The violations that failures follow, by the ids of the failures.
    followed: BTreeMap<String, BTreeSet<String>>,
    /// Failures that are told with the violation that is blamed for them.
    told: Vec<(String, Entry, BTreeSet<String>)>,
    /// Violations that are not the cause of the failures that follow them.
    acquitted: BTreeSet<String>,
}

/// A finding and the run that shows it best.
#[derive(Debug)]
pub(crate) struct Shown {
    pub(crate) id: String,
    pub(crate) seed: u64,
    pub(crate) schedule: Recording,
    pub(crate) goal: Option<Goal>,
    pub(crate) kind: Kind,
    /// The failure that followed.
    consequence: Option<Consequence>,
    rank: Rank,
}

impl Shown {
    /// The status of the finding.
    pub(crate) fn status(&self) -> Status {
        self.rank.0
    }
}

/// How many runs show a finding.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Tally {
    /// Runs that made it happen.
    pub hits: u64,
    /// Runs in which it was at least possible.
    pub seen: u64,
}

impl Merged {
    /// Adds the findings of a run.
    pub(crate) fn add(&mut self, outcome: &Outcome, references: &References) {
        if outcome.internal_errors().next().is_some() {
            return;
        }
        let is_replayable = outcome.is_replayable();
        self.evidence.add(outcome, references);
        let mut seen: Vec<String> = Vec::new();
        let mut seen_first = |id: &str| {
            let is_first = !seen.iter().any(|known| known == id);
            seen.push(id.to_owned());
            is_first
        };
        for (process, finding) in found(outcome, references) {
            let (mut status, mut consequence) = grade(outcome, finding, references);
            if self.acquitted.contains(&finding.id) {
                (status, consequence) = (status.min(Status::Confirmed), None);
            }
            let finding = Finding { status, consequence, ..finding.clone() };
            let is_first = seen_first(&finding.id);
            let entry = self.findings.entry(finding.id.clone()).or_insert_with(|| Entry::new(&finding));
            entry.add(process, outcome, finding, is_replayable, is_first);
        }
        for (process, finding, after) in all_failures(outcome, references) {
            let is_first = seen_first(&finding.id);
            self.followed.entry(finding.id.clone()).or_default().extend(after.iter().cloned());
            let entry = if after.is_empty() {
                self.findings.entry(finding.id.clone()).or_insert_with(|| Entry::new(&finding))
            } else {
                let (entry, causes) = self
                    .explained
                    .entry(finding.id.clone())
                    .or_insert_with(|| (Entry::new(&finding), BTreeSet::new()));
                causes.extend(after);
                entry
            };
            entry.add(process, outcome, finding, is_replayable, is_first);
        }
    }

    /// Stops blaming violations that are just as frequent in runs that end well. A failure for which no violation is blamed becomes a
    /// finding.
    pub(crate) fn settle(&mut self) {
        for entry in self.findings.values_mut() {
            let is_violation = !matches!(entry.finding.kind, Kind::Failure | Kind::Deadlock);
            if is_violation
                && entry.finding.status == Status::Bug
                && self.evidence.is_bystander(&entry.finding)
            {
                entry.demote();
            }
        }
        for (id, (entry, causes)) in std::mem::take(&mut self.explained) {
            let is_blamed = |cause: &String| {
                self.findings.get(cause).is_some_and(|entry| entry.finding.status == Status::Bug)
            };
            if causes.iter().any(is_blamed) {
                self.told.push((id, entry, causes));
                continue;
            }
            self.insert(id, entry);
        }
    }

    fn insert(&mut self, id: String, entry: Entry) {
        match self.findings.get_mut(&id) {
            Some(known) => known.merge(entry),
            None => {
                self.findings.insert(id, entry);
            }
        }
    }

    /// The finding with this id.
    pub(crate) fn finding(&self, id: &str) -> Option<&Finding> {
        self.findings.get(id).map(|entry| &entry.finding)
    }

    /// The runs that show a finding best: their seeds and goals, and whether they were patient.
    pub(crate) fn hits(&self, id: &str) -> Vec<(u64, Option<Goal>, bool)> {
        let Some(entry) = self.findings.get(id) else { return Vec::new() };
        let best = entry.hits.iter().filter(|hit| hit.rank == entry.rank);
        best.map(|hit| (hit.seed, hit.goal.clone(), hit.is_patient)).collect()
    }

    /// The violations that a failure follows in some run.
    pub(crate) fn violations_of(&self, id: &str) -> impl Iterator<Item = &Finding> {
        let followed = self.followed.get(id).into_iter().flatten();
        followed.filter_map(|violation| self.finding(violation))
    }

    /// Records what runs showed about the cause of a finding. `seen` are runs in which a cause was forced. Gives the id of the finding with the
    /// proved cause, which is another one if a violation was blamed wrongly.
    pub(crate) fn judge(
        &mut self,
        shown: &Shown,
        verdict: Verdict,
        seen: &[Outcome],
        references: &References,
    ) -> Option<String> {
        let Verdict { judgement, goal, is_bystander, .. } = verdict;
        let is_proved = !judgement.causes.is_empty();
        let is_clean = |outcome: &&Outcome| {
            outcome.goal == goal && outcome.is_replayable() && !outcome.is_hurried() && goal.is_some()
        };
        let best = seen
            .iter()
            .filter(is_clean)
            .filter_map(|outcome| Some((outcome, self.finding_in(outcome, shown, references)?)))
            .filter(|(_, finding)| finding.status >= shown.rank.0)
            .min_by_key(|(outcome, _)| outcome.accounts().map(|run| run.schedule.switches()).sum::<usize>());
        let best = best.map(|(outcome, finding)| (outcome.clone(), finding));
        let entry = self.findings.get_mut(&shown.id).expect("a finding that is judged is known");
        if let (true, Some((outcome, finding))) = (is_proved, best) {
            entry.prefer(&outcome, finding);
        }
        entry.judgement = Some(judgement);
        if is_proved && is_bystander {
            return self.acquit(&shown.id);
        }
        is_proved.then(|| shown.id.clone())
    }

    /// A violation is not the cause of the failure that was blamed on it: the failure is told by itself, with its cause. Gives its id.
    fn acquit(&mut self, id: &str) -> Option<String> {
        let entry = self.findings.get_mut(id).expect("a violation that is acquitted is known");
        entry.demote();
        let judgement = entry.judgement.take();
        self.acquitted.insert(id.to_owned());
        let is_blamed = |cause: &String| {
            self.findings.get(cause).is_some_and(|entry| entry.finding.status == Status::Bug)
        };
        let (told, free): (Vec<_>, Vec<_>) =
            std::mem::take(&mut self.told).into_iter().partition(|(.., causes)| causes.iter().any(is_blamed));
        self.told = told;
        let mut first = None;
        for (id, mut entry, _) in free {
            // Only the failure that was judged has the cause; whether others have it too is tried.
            if first.is_none() {
                entry.judgement.clone_from(&judgement);
                first = Some(id.clone());
            }
            self.insert(id, entry);
        }
        first
    }

    /// Tells a failure with another finding that has the same cause. The finding with the least id remains, so that it is the same one
    /// whichever was found first. Gives its id.
    pub(crate) fn unite(&mut self, one: &str, other: &str) -> String {
        let (id, dropped) = if one <= other { (one, other) } else { (other, one) };
        let Some(dropped) = self.findings.remove(dropped) else { return id.to_owned() };
        let Some(kept) = self.findings.get_mut(id) else {
            let id = dropped.finding.id.clone();
            self.findings.insert(id.clone(), dropped);
            return id;
        };
        let Entry { finding, judgement, further, count, hits, seen, .. } = dropped;
        let is_proved =
            |judgement: &Option<Judgement>| judgement.as_ref().is_some_and(|it| !it.causes.is_empty());
        if is_proved(&judgement) && !is_proved(&kept.judgement) {
            kept.judgement = judgement;
        }
        kept.further.extend(further);
        kept.further.push(FurtherFailure {
            id: finding.id,
            kind: finding.kind,
            subject: finding.subject,
            consequence: finding.consequence,
            hits: count,
        });
        kept.further.sort_by(|a, b| a.id.cmp(&b.id));
        // A run may show both.
        let is_new = |hit: &&Hit| !kept.hits.iter().any(|known| known.seed == hit.seed);
        let added = hits.iter().filter(is_new).count() as u64;
        kept.count += added;
        kept.seen = (kept.seen + added).max(seen).max(kept.count);
        id.to_owned()
    }

    /// How many findings there are.
    pub(crate) fn len(&self) -> usize {
        self.findings.len() + self.explained.len()
    }

    /// The findings that can be replayed, the most certain first.
    pub(crate) fn shown(&self) -> Vec<Shown> {
        let best = |(id, entry): (&String, &Entry)| {
            let first = entry.hits.iter().min_by_key(|hit| Reverse(hit.rank))?;
            let shown = Shown {
                id: id.clone(),
                seed: first.seed,
                schedule: first.schedule.clone(),
                goal: first.goal.clone(),
                kind: entry.finding.kind,
                consequence: entry.finding.consequence.clone(),
                rank: first.rank,
            };
            (first.rank.1 && first.rank == entry.rank && !first.schedule.is_empty()).then_some(shown)
        };
        let mut shown: Vec<Shown> = self.findings.iter().filter_map(best).collect();
        shown.sort_by_key(|shown| Reverse(shown.rank));
        shown
    }

    /// Whether a run shows a finding as well as the run that shows it best.
    pub(crate) fn shows_as_well(&self, outcome: &Outcome, shown: &Shown, references: &References) -> bool {
        self.finding_in(outcome, shown, references).is_some_and(|finding| finding.status >= shown.rank.0)
    }

    /// Shows a finding by a run with a shorter schedule.
    pub(crate) fn shorten(
        &mut self,
        outcome: &Outcome,
        shown: &Shown,
        schedule: &Recording,
        references: &References,
    ) {
        let finding = self.finding_in(outcome, shown, references);
        let entry = self.findings.get_mut(&shown.id).expect("a finding that is shown is known");
        entry.finding = finding.expect("only runs that show the finding shorten its schedule");
        entry.shorter = Some(schedule.clone());
    }

    fn finding_in(&self, outcome: &Outcome, shown: &Shown, references: &References) -> Option<Finding> {
        let failures = failures(outcome, references);
        let unexplained = failures.iter().map(|(process, finding)| (*process, finding));
        let mut all = found(outcome, references).chain(unexplained);
        let (_, finding) = all.find(|(_, finding)| finding.id == shown.id)?;
        let (status, consequence) = grade(outcome, finding, references);
        Some(Finding { status, consequence, ..finding.clone() })
    }

    /// All findings, for a strategy that made so many runs.
    pub(crate) fn finish(self, strategy: &str, runs: u64) -> Vec<(Finding, Tally)> {
        let finish = |mut entry: Entry| {
            let tally = Tally { hits: entry.count, seen: entry.seen };
            // The best run comes first, because reports explain the finding by it; equals keep their order.
            entry.hits.sort_by_key(|hit| Reverse(hit.rank));
            entry.hits.truncate(SEEDS);
            let shorter = entry.shorter.take();
            let shortened = shorter.is_some();
            if let (Some(first), Some(shorter)) = (entry.hits.first_mut(), shorter) {
                first.schedule = shorter;
            }
            let goals: Vec<Option<Goal>> = entry.hits.iter().map(|hit| hit.goal.clone()).collect();
            let patient = entry.hits.iter().filter(|hit| hit.is_patient).map(|hit| hit.seed);
            let finding = Finding {
                analysis: strategy.to_owned(),
                hits: if tally.hits > 0 { tally.hits } else { tally.seen },
                runs,
                seeds: entry.hits.iter().map(|hit| hit.seed).collect(),
                patient_seeds: patient.collect(),
                goals: if goals.iter().any(Option::is_some) { goals } else { Vec::new() },
                schedules: entry
                    .hits
                    .into_iter()
                    .take(SCHEDULES)
                    .map(|hit| hit.schedule.to_string())
                    .collect(),
                shortened,
                judgement: entry.judgement.take(),
                further: std::mem::take(&mut entry.further),
                ..entry.finding
            };
            (finding, tally)
        };
        self.findings.into_values().map(finish).collect()
    }
}

/// Whether a run shows the failure of a finding.
pub(crate) fn shows_failure_of(outcome: &Outcome, shown: &Shown, references: &References) -> bool {
    match (shown.kind, &shown.consequence) {
        (Kind::Deadlock, _) => references.new_end(outcome.end()).is_some(),
        (Kind::Failure, _) | (_, None) => {
            all_failures(outcome, references).iter().any(|(_, finding, _)| finding.id == shown.id)
        }
        (_, Some(consequence)) => blame::has_consequence(outcome, consequence, references),
    }
}

/// Whether a run shows a bug.
pub(crate) fn shows_bug(outcome: &Outcome, references: &References) -> bool {
    failures(outcome, references).iter().any(|(_, finding)| finding.status == Status::Bug)
        || found(outcome, references).any(|(_, finding)| grade(outcome, finding, references).0 == Status::Bug)
}

/// Whether a run shows a bug, or a failure that some reference runs show and others do not.
pub(crate) fn shows_failure_or_bug(outcome: &Outcome, references: &References) -> bool {
    shows_bug(outcome, references) || shows_failure(outcome, references)
}

/// Whether a run shows a failure that not every reference run shows.
pub(crate) fn shows_failure(outcome: &Outcome, references: &References) -> bool {
    !failures(outcome, references).is_empty()
        || found(outcome, references).any(|(_, finding)| finding.kind == Kind::Deadlock)
}

/// The findings of a run, without the hang of a program that hangs in every reference run.
fn found<'a>(
    outcome: &'a Outcome,
    references: &'a References,
) -> impl Iterator<Item = (&'a Process, &'a Finding)> {
    let findings = outcome
        .processes
        .iter()
        .flat_map(|process| process.findings.iter().map(move |finding| (process, finding)));
    findings.filter(|(process, finding)| {
        let hangs =
            finding.kind == Kind::Deadlock && process.run.as_ref().is_some_and(|run| run.end == RunEnd::Hang);
        !hangs || !references.always_hangs()
    })
}

/// Uncaught exceptions and exit codes that not every reference run shows, and that follow no violation.
pub(crate) fn failures<'a>(outcome: &'a Outcome, references: &References) -> Vec<(&'a Process, Finding)> {
    let all = all_failures(outcome, references).into_iter();
    all.filter(|(_, _, after)| after.is_empty()).map(|(process, finding, _)| (process, finding)).collect()
}

/// Uncaught exceptions and exit codes that not every reference run shows, with the ids of the violations that they follow. There are none
/// if Fissure woke a sleeping thread early, because that may be their cause.
fn all_failures<'a>(
    outcome: &'a Outcome,
    references: &References,
) -> Vec<(&'a Process, Finding, Vec<String>)> {
    let mut found: Vec<(&Process, Finding, Vec<String>)> = Vec::new();
    for process in &outcome.processes {
        let Some(run) = process.run.as_ref().filter(|run| !run.is_hurried) else { continue };
        // If a test or a thread failed, the exit code of the program only follows from that.
        let is_exit = |failure: &Failure| failure.exit_code().is_some();
        let has_cause =
            run.failures.iter().any(|failure| !is_exit(failure) && !references.knows_failure(failure));
        for failure in run.failures.iter().filter(|failure| !(has_cause && is_exit(failure))) {
            let Some(finding) = references.unexplained(failure) else { continue };
            if found.iter().all(|(_, known, _)| known.id != finding.id) {
                let after = failure.after.iter().filter(|id| !id.is_empty()).cloned().collect();
                found.push((process, finding, after));
            }
        }
    }
    let mut controlled = outcome.processes.iter().filter(|process| process.run.is_some());
    if let (Some(process), false) = (controlled.next(), outcome.is_hurried())
        && let Some(finding) = references.unexplained_exit(outcome)
    {
        let findings = outcome.findings();
        let after = findings.filter(|finding| finding.is_proven()).map(|finding| finding.id.clone());
        found.push((process, finding, after.collect()));
    }
    found
}

/// The status of a finding as one run shows it, with the failure that followed.
fn grade(outcome: &Outcome, finding: &Finding, references: &References) -> (Status, Option<Consequence>) {
    if finding.status == Status::Warning {
        return (Status::Warning, None);
    }
    let consequence = match finding.kind {
        Kind::Failure => return (finding.status, finding.consequence.clone()),
        Kind::Deadlock => references.new_end(outcome.end()),
        _ => references.consequence(outcome, &finding.id),
    };
    (if consequence.is_some() { Status::Bug } else { Status::Confirmed }, consequence)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{Sketch, pair};

    fn merged(reference_runs: &[Sketch], runs: &[Sketch]) -> Vec<(Finding, Tally)> {
        let mut references = References::default();
        reference_runs.iter().for_each(|run| references.add(&run.outcome()));
        let mut merged = Merged::default();
        for (seed, run) in (1..).zip(runs) {
            merged.add(&Outcome { seed, ..run.outcome() }, &references);
        }
        merged.settle();
        merged.finish("atomfuzzer", runs.len() as u64)
    }

    /// Finding `f` of these runs: its status, its hits, and its seeds.
    fn check(runs: &[Sketch], expected: Option<(Status, u64, &[u64])>) {
        let all = merged(&[Sketch::default()], runs);
        let found = all.iter().find(|(finding, _)| finding.id == "f").map(|(finding, _)| finding);
        let summary = found.map(|finding| (finding.status, finding.hits, finding.seeds.as_slice()));
        assert_eq!(summary, expected, "{runs:?}");
        for (finding, tally) in &all {
            assert_eq!((finding.runs, finding.analysis.as_str()), (runs.len() as u64, "atomfuzzer"));
            assert!(tally.hits <= tally.seen && tally.seen <= finding.runs, "{tally:?}");
            assert_eq!(finding.status == Status::Bug, finding.consequence.is_some());
        }
    }

    fn possible() -> Sketch {
        Sketch { possible: &["f"], ..Sketch::default() }
    }

    fn executed() -> Sketch {
        Sketch { confirmed: &["f"], ..Sketch::default() }
    }

    fn broken() -> Sketch {
        Sketch { failures: &["Boom 7 f"], ..executed() }
    }

    #[test]
    fn the_surest_run_decides_and_comes_first() {
        check(&[], None);
        check(&[possible(), Sketch::default(), possible()], Some((Status::Warning, 2, &[])));
        check(&[possible(), executed(), executed()], Some((Status::Confirmed, 2, &[2, 3])));
        check(&[executed(), possible(), broken(), broken()], Some((Status::Bug, 3, &[3, 4, 1])));
        check(&[broken(), executed(), possible()], Some((Status::Bug, 2, &[1, 2])));
    }

    #[test]
    fn runs_that_can_be_replayed_are_preferred() {
        let lost = Sketch { uncontrolled: &["native"], ..broken() };
        check(&[lost, broken()], Some((Status::Bug, 2, &[2, 1])));
        check(&[lost, executed(), possible()], Some((Status::Bug, 2, &[1, 2])));
        check(&[lost], Some((Status::Bug, 1, &[1])));
    }

    #[test]
    fn a_violation_of_all_runs_is_not_blamed_and_the_failure_is_a_finding() {
        check(&[broken(), executed()], Some((Status::Confirmed, 2, &[1, 2])));
        let all = merged(&[Sketch::default()], &[broken(), executed()]);
        let failure = all.iter().find(|(finding, _)| finding.id != "f").map(|(finding, _)| finding);
        let summary = failure.map(|finding| (finding.kind, finding.status, finding.seeds.as_slice()));
        assert_eq!(summary, Some((Kind::Failure, Status::Bug, &[1_u64][..])));
        assert_eq!(merged(&[Sketch::default()], &[broken(), broken()]).len(), 1);
    }

    #[test]
    fn killed_runs_keep_their_findings_but_show_no_failure() {
        let killed = Sketch { exit: None, ..broken() };
        check(&[killed], Some((Status::Confirmed, 1, &[1])));
    }

    #[test]
    fn stuck_programs_are_bugs_unless_they_are_always_stuck() {
        let stuck = |end| Sketch { end, exit: Some(RunEnd::EXIT_CODE), stuck: true, ..Sketch::default() };
        let check = |reference_runs: &[Sketch], end, expected: Option<Status>| {
            let all = merged(reference_runs, &[stuck(end)]);
            assert_eq!(
                all.first().map(|(finding, _)| finding.status),
                expected,
                "{reference_runs:?} {end:?}"
            );
        };
        check(&[Sketch::default()], RunEnd::Deadlock, Some(Status::Bug));
        check(&[Sketch::default()], RunEnd::Hang, Some(Status::Bug));
        check(&[stuck(RunEnd::Deadlock)], RunEnd::Deadlock, Some(Status::Confirmed));
        check(&[stuck(RunEnd::Hang)], RunEnd::Hang, None);
        check(&[stuck(RunEnd::Hang)], RunEnd::Deadlock, Some(Status::Bug));
        check(&[stuck(RunEnd::Hang), Sketch::default()], RunEnd::Hang, Some(Status::Confirmed));
    }

    #[test]
    fn a_failure_of_some_reference_runs_is_confirmed_but_no_bug() {
        let failing = Sketch { failures: &["Boom 1 "], ..Sketch::default() };
        let check = |reference_runs: &[Sketch], expected: Option<Status>| {
            let all = merged(reference_runs, &[failing]);
            assert_eq!(all.first().map(|(finding, _)| finding.status), expected, "{reference_runs:?}");
        };
        check(&[Sketch::default()], Some(Status::Bug));
        check(&[Sketch::default(), failing], Some(Status::Confirmed));
        check(&[failing], None);
    }

    #[test]
    fn the_goal_of_a_run_stands_beside_its_seed() {
        let with_goal = Sketch { goal: Some("a/b"), ..executed() };
        let all = merged(&[Sketch::default()], &[executed(), with_goal, executed(), executed(), executed()]);
        let finding = &all[0].0;
        assert_eq!(finding.goals.len(), 5);
        assert_eq!(finding.goals[1], Some(pair("a/b").into()));
        assert_eq!(finding.schedules, ["0*3 1", "0*3 1", "0*3 1"]);
        let all = merged(&[Sketch::default()], &[executed()]);
        assert!(all[0].0.goals.is_empty());
    }

    #[test]
    fn a_bug_is_seen_in_the_run_that_shows_it() {
        let mut references = References::default();
        references.add(&Sketch::default().outcome());
        assert!(shows_bug(&broken().outcome(), &references));
        assert!(!shows_bug(&executed().outcome(), &references));
        assert!(!shows_bug(&possible().outcome(), &references));
    }
}
