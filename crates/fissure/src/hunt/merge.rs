//! The findings of many runs as one list: each once, with how sure it is, how often it was seen and the runs that show it.

use std::{
    cmp::Reverse,
    collections::{BTreeMap, BTreeSet},
};

use fissure_model::{
    finding::{Consequence, Finding, Kind, Status},
    goal::Goal,
    record::{Failure, RunEnd},
};

use super::{blame::Evidence, reference::References, run::Outcome};
use crate::collect::Jvm;

/// How many seeds are told of one finding.
const SEEDS: usize = 100;
/// How many schedules.
const SCHEDULES: usize = 3;

/// Findings by their ids.
#[derive(Debug, Default)]
pub(crate) struct Merged {
    findings: BTreeMap<String, Entry>,
    /// Failures that came after violations, which may be the reason of them, with the ids of these.
    explained: BTreeMap<String, (Entry, BTreeSet<String>)>,
    evidence: Evidence,
}

/// What is known of one finding.
#[derive(Debug)]
struct Entry {
    /// As the run tells it that shows it best.
    story: Finding,
    rank: Rank,
    /// The runs that made it happen, in the order of their seeds.
    hits: Vec<Hit>,
    /// In how many runs it was seen to be possible, or made to happen.
    seen: u64,
    /// A shorter schedule than that of the first run, which makes it happen as well.
    shorter: Option<String>,
}

impl Entry {
    fn new(story: &Finding) -> Self {
        let rank = (Status::Warning, false);
        Entry { story: story.clone(), rank, hits: Vec::new(), seen: 0, shorter: None }
    }

    /// A run tells the finding.
    fn add(&mut self, jvm: &Jvm, outcome: &Outcome, story: Finding, is_replayable: bool, is_first: bool) {
        let rank = (story.status, is_replayable);
        self.seen += u64::from(is_first);
        if story.status > Status::Warning {
            match self.hits.last_mut().filter(|hit| hit.seed == outcome.seed) {
                Some(hit) => hit.rank = hit.rank.max(rank),
                None => self.hits.push(Hit {
                    seed: outcome.seed,
                    target: outcome.target.clone(),
                    schedule: jvm.run.as_ref().map(|run| run.schedule.clone()).unwrap_or_default(),
                    rank,
                }),
            }
        }
        if rank > self.rank {
            (self.story, self.rank) = (story, rank);
        }
    }

    /// Adds the runs that show the same.
    fn unite(&mut self, other: Entry) {
        self.seen += other.seen;
        self.hits.extend(other.hits);
        self.hits.sort_by_key(|hit| hit.seed);
        self.hits.dedup_by_key(|hit| hit.seed);
        if other.rank > self.rank {
            (self.story, self.rank) = (other.story, other.rank);
        }
    }

    /// The finding happened, but what followed did not come of it.
    fn demote(&mut self) {
        self.story.status = Status::Confirmed;
        self.story.consequence = None;
        self.rank.0 = Status::Confirmed;
        for hit in &mut self.hits {
            hit.rank.0 = hit.rank.0.min(Status::Confirmed);
        }
    }
}

/// A finding and the run that shows it best.
#[derive(Debug)]
pub(crate) struct Shown {
    pub(crate) id: String,
    pub(crate) seed: u64,
    pub(crate) schedule: String,
    pub(crate) target: Option<Goal>,
    rank: Rank,
}

/// How well a run shows a finding; the greatest is best.
type Rank = (Status, bool);

/// A run that made a finding happen.
#[derive(Debug)]
struct Hit {
    seed: u64,
    target: Option<Goal>,
    schedule: String,
    rank: Rank,
}

/// How often a finding was seen.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Tally {
    /// Runs that made it happen.
    pub(crate) hits: u64,
    /// Runs in which it was at least possible.
    pub(crate) seen: u64,
}

impl Merged {
    /// Adds what a run found.
    pub(crate) fn add(&mut self, outcome: &Outcome, references: &References) {
        if outcome.internal_errors().next().is_some() {
            return;
        }
        let is_replayable = outcome.is_told() && outcome.uncontrolled().next().is_none();
        self.evidence.add(outcome, references);
        let mut seen: Vec<String> = Vec::new();
        let mut seen_first = |id: &str| {
            let is_first = !seen.iter().any(|known| known == id);
            seen.push(id.to_owned());
            is_first
        };
        for (jvm, finding) in found(outcome, references) {
            let (status, consequence) = grade(outcome, finding, references);
            let story = Finding { status, consequence, ..finding.clone() };
            let is_first = seen_first(&story.id);
            let entry = self.findings.entry(story.id.clone()).or_insert_with(|| Entry::new(&story));
            entry.add(jvm, outcome, story, is_replayable, is_first);
        }
        for (jvm, finding, after) in all_failures(outcome, references) {
            let is_first = seen_first(&finding.id);
            let entry = if after.is_empty() {
                self.findings.entry(finding.id.clone()).or_insert_with(|| Entry::new(&finding))
            } else {
                let (entry, reasons) = self
                    .explained
                    .entry(finding.id.clone())
                    .or_insert_with(|| (Entry::new(&finding), BTreeSet::new()));
                reasons.extend(after);
                entry
            };
            entry.add(jvm, outcome, finding, is_replayable, is_first);
        }
    }

    /// Drops the blame of violations that happen in runs that end well just as often. Failures that nothing is to blame for are findings
    /// of their own.
    pub(crate) fn settle(&mut self) {
        for entry in self.findings.values_mut() {
            let is_violation = !matches!(entry.story.kind, Kind::Failure | Kind::Deadlock);
            if is_violation && entry.story.status == Status::Bug && self.evidence.is_bystander(&entry.story) {
                entry.demote();
            }
        }
        for (id, (entry, reasons)) in std::mem::take(&mut self.explained) {
            let is_blamed = |reason: &String| {
                self.findings.get(reason).is_some_and(|entry| entry.story.status == Status::Bug)
            };
            if reasons.iter().any(is_blamed) {
                continue;
            }
            match self.findings.get_mut(&id) {
                Some(known) => known.unite(entry),
                None => {
                    self.findings.insert(id, entry);
                }
            }
        }
    }

    /// The findings that can be replayed, the surest first.
    pub(crate) fn shown(&self) -> Vec<Shown> {
        let best = |(id, entry): (&String, &Entry)| {
            let first = entry.hits.iter().min_by_key(|hit| Reverse(hit.rank))?;
            let shown = Shown {
                id: id.clone(),
                seed: first.seed,
                schedule: first.schedule.clone(),
                target: first.target.clone(),
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
        self.story_in(outcome, shown, references).is_some_and(|story| story.status >= shown.rank.0)
    }

    /// Tells a finding as a run with a shorter schedule shows it.
    pub(crate) fn retell(
        &mut self,
        outcome: &Outcome,
        shown: &Shown,
        schedule: &str,
        references: &References,
    ) {
        let story = self.story_in(outcome, shown, references);
        if let (Some(entry), Some(story)) = (self.findings.get_mut(&shown.id), story) {
            entry.story = story;
            entry.shorter = Some(schedule.to_owned());
        }
    }

    fn story_in(&self, outcome: &Outcome, shown: &Shown, references: &References) -> Option<Finding> {
        let failures = failures(outcome, references);
        let unexplained = failures.iter().map(|(jvm, finding)| (*jvm, finding));
        let mut all = found(outcome, references).chain(unexplained);
        let (_, finding) = all.find(|(_, finding)| finding.id == shown.id)?;
        let (status, consequence) = grade(outcome, finding, references);
        Some(Finding { status, consequence, ..finding.clone() })
    }

    /// Everything that was found in so many runs, told by a strategy.
    pub(crate) fn finish(self, strategy: &str, runs: u64) -> Vec<(Finding, Tally)> {
        let finish = |mut entry: Entry| {
            let tally = Tally { hits: entry.hits.len() as u64, seen: entry.seen };
            // The best run comes first, for it is the one that is told; equals stay in their order.
            entry.hits.sort_by_key(|hit| Reverse(hit.rank));
            entry.hits.truncate(SEEDS);
            if let (Some(first), Some(shorter)) = (entry.hits.first_mut(), entry.shorter.take()) {
                first.schedule = shorter;
            }
            let targets: Vec<Option<Goal>> = entry.hits.iter().map(|hit| hit.target.clone()).collect();
            let finding = Finding {
                analysis: strategy.to_owned(),
                hits: if tally.hits > 0 { tally.hits } else { tally.seen },
                runs,
                seeds: entry.hits.iter().map(|hit| hit.seed).collect(),
                targets: if targets.iter().any(Option::is_some) { targets } else { Vec::new() },
                schedules: entry.hits.into_iter().take(SCHEDULES).map(|hit| hit.schedule).collect(),
                ..entry.story
            };
            (finding, tally)
        };
        self.findings.into_values().map(finish).collect()
    }
}

/// Whether a run shows a bug.
pub(crate) fn shows_bug(outcome: &Outcome, references: &References) -> bool {
    failures(outcome, references).iter().any(|(_, finding)| finding.status == Status::Bug)
        || found(outcome, references).any(|(_, finding)| grade(outcome, finding, references).0 == Status::Bug)
}

/// Whether something went wrong in a run that does not in every schedule.
pub(crate) fn shows_failure(outcome: &Outcome, references: &References) -> bool {
    !failures(outcome, references).is_empty()
        || found(outcome, references).any(|(_, finding)| finding.kind == Kind::Deadlock)
}

/// What a run found. A program that always gets stuck without interference does so by itself.
fn found<'a>(
    outcome: &'a Outcome,
    references: &'a References,
) -> impl Iterator<Item = (&'a Jvm, &'a Finding)> {
    let findings = outcome.jvms.iter().flat_map(|jvm| jvm.findings.iter().map(move |finding| (jvm, finding)));
    findings.filter(|(jvm, finding)| {
        let hangs =
            finding.kind == Kind::Deadlock && jvm.run.as_ref().is_some_and(|run| run.end == RunEnd::Hang);
        !hangs || !references.always_hangs()
    })
}

/// Exceptions that nobody caught and exit codes, that do not come in every schedule, and that no violation went before.
pub(crate) fn failures<'a>(outcome: &'a Outcome, references: &References) -> Vec<(&'a Jvm, Finding)> {
    let all = all_failures(outcome, references).into_iter();
    all.filter(|(_, _, after)| after.is_empty()).map(|(jvm, finding, _)| (jvm, finding)).collect()
}

/// Exceptions that nobody caught and exit codes, that do not come in every schedule, with the ids of the violations that went before.
/// Where time was made to pass for the sake of a sleeper, they may be Fissure's own doing, and are none.
fn all_failures<'a>(outcome: &'a Outcome, references: &References) -> Vec<(&'a Jvm, Finding, Vec<String>)> {
    let mut found: Vec<(&Jvm, Finding, Vec<String>)> = Vec::new();
    for jvm in &outcome.jvms {
        let Some(run) = jvm.run.as_ref().filter(|run| !run.is_hurried) else { continue };
        // A program whose test or thread has failed ends itself with an exit code that says so.
        let is_exit = |failure: &Failure| failure.exit_code().is_some();
        let has_reason =
            run.failures.iter().any(|failure| !is_exit(failure) && !references.knows_failure(failure));
        for failure in run.failures.iter().filter(|failure| !(has_reason && is_exit(failure))) {
            let Some(finding) = references.unexplained(failure) else { continue };
            if found.iter().all(|(_, known, _)| known.id != finding.id) {
                let after = failure.after.iter().filter(|id| !id.is_empty()).cloned().collect();
                found.push((jvm, finding, after));
            }
        }
    }
    let mut controlled = outcome.jvms.iter().filter(|jvm| jvm.run.is_some());
    let is_hurried = outcome.accounts().any(|run| run.is_hurried);
    if let (Some(jvm), false) = (controlled.next(), is_hurried)
        && let Some(finding) = references.unexplained_exit(outcome)
    {
        let findings = outcome.jvms.iter().flat_map(|jvm| &jvm.findings);
        let after = findings.filter(|finding| finding.is_proven()).map(|finding| finding.id.clone());
        found.push((jvm, finding, after.collect()));
    }
    found
}

/// How sure a finding is, seen from one run.
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
    use crate::hunt::testing::Sketch;

    fn merged(controls: &[Sketch], runs: &[Sketch]) -> Vec<(Finding, Tally)> {
        let mut references = References::default();
        controls.iter().for_each(|control| references.add(&control.outcome()));
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
        let told = found.map(|finding| (finding.status, finding.hits, finding.seeds.as_slice()));
        assert_eq!(told, expected, "{runs:?}");
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
    fn violations_of_all_runs_are_not_blamed_and_the_failure_is_told_by_itself() {
        check(&[broken(), executed()], Some((Status::Confirmed, 2, &[1, 2])));
        let all = merged(&[Sketch::default()], &[broken(), executed()]);
        let failure = all.iter().find(|(finding, _)| finding.id != "f").map(|(finding, _)| finding);
        let told = failure.map(|finding| (finding.kind, finding.status, finding.seeds.as_slice()));
        assert_eq!(told, Some((Kind::Failure, Status::Bug, &[1_u64][..])));
        assert_eq!(merged(&[Sketch::default()], &[broken(), broken()]).len(), 1);
    }

    #[test]
    fn killed_runs_show_what_they_showed_and_no_more() {
        let killed = Sketch { exit: None, ..broken() };
        check(&[killed], Some((Status::Confirmed, 1, &[1])));
    }

    #[test]
    fn stuck_programs_are_bugs_unless_they_are_always_stuck() {
        let stuck = |end| Sketch { end, exit: Some(86), stuck: true, ..Sketch::default() };
        let check = |controls: &[Sketch], end, expected: Option<Status>| {
            let all = merged(controls, &[stuck(end)]);
            assert_eq!(all.first().map(|(finding, _)| finding.status), expected, "{controls:?} {end:?}");
        };
        check(&[Sketch::default()], RunEnd::Deadlock, Some(Status::Bug));
        check(&[Sketch::default()], RunEnd::Hang, Some(Status::Bug));
        check(&[stuck(RunEnd::Deadlock)], RunEnd::Deadlock, Some(Status::Confirmed));
        check(&[stuck(RunEnd::Hang)], RunEnd::Hang, None);
        check(&[stuck(RunEnd::Hang)], RunEnd::Deadlock, Some(Status::Bug));
        check(&[stuck(RunEnd::Hang), Sketch::default()], RunEnd::Hang, Some(Status::Confirmed));
    }

    #[test]
    fn what_fails_in_some_orders_is_no_bug_but_is_told() {
        let failing = Sketch { failures: &["Boom 1 "], ..Sketch::default() };
        let check = |controls: &[Sketch], expected: Option<Status>| {
            let all = merged(controls, &[failing]);
            assert_eq!(all.first().map(|(finding, _)| finding.status), expected, "{controls:?}");
        };
        check(&[Sketch::default()], Some(Status::Bug));
        check(&[Sketch::default(), failing], Some(Status::Confirmed));
        check(&[failing], None);
    }

    #[test]
    fn what_a_run_looked_for_stands_beside_its_seed() {
        let targeted = Sketch { target: Some("a/b"), ..executed() };
        let all = merged(&[Sketch::default()], &[executed(), targeted, executed(), executed(), executed()]);
        let finding = &all[0].0;
        assert_eq!(finding.targets.len(), 5);
        assert_eq!(finding.targets[1], Some("a/b".parse().unwrap()));
        assert_eq!(finding.schedules, ["0*3 1", "0*3 1", "0*3 1"]);
        let all = merged(&[Sketch::default()], &[executed()]);
        assert!(all[0].0.targets.is_empty());
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
