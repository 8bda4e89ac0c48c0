//! One finding with the runs that show it.

use fissure_model::{
    finding::{Finding, FurtherFailure, Judgement, Status},
    goal::Goal,
    recording::Recording,
};

use crate::outcome::{Outcome, Process};

/// How many seeds a report gives for one finding.
pub(super) const SEEDS: usize = 100;
/// How many schedules.
pub(super) const SCHEDULES: usize = 3;

/// One finding, with the runs that show it.
#[derive(Debug)]
pub(super) struct Entry {
    /// The finding as the best run shows it.
    pub(super) finding: Finding,
    pub(super) rank: Rank,
    /// The first runs that made it happen, of each rank, in the order of their seeds.
    pub(super) hits: Vec<Hit>,
    /// How many runs made it happen, and the seed of the last of them.
    pub(super) count: u64,
    last_hit: Option<u64>,
    /// In how many runs it was possible, or made to happen.
    pub(super) seen: u64,
    /// A shorter schedule than that of the best run, which makes it happen as well.
    pub(super) shorter: Option<Recording>,
    pub(super) judgement: Option<Judgement>,
    /// Other failures with the same cause.
    pub(super) further: Vec<FurtherFailure>,
}

impl Entry {
    pub(super) fn new(finding: &Finding) -> Self {
        let rank = (Status::Warning, false);
        Entry {
            finding: finding.clone(),
            rank,
            hits: Vec::new(),
            count: 0,
            last_hit: None,
            seen: 0,
            shorter: None,
            judgement: None,
            further: Vec::new(),
        }
    }

    /// Adds a run that shows the finding.
    pub(super) fn add(
        &mut self,
        process: &Process,
        outcome: &Outcome,
        finding: Finding,
        is_replayable: bool,
        is_first: bool,
    ) {
        let rank = (finding.status, is_replayable);
        self.seen += u64::from(is_first);
        if finding.status > Status::Warning {
            self.note_hit(process, outcome, rank);
        }
        if rank > self.rank {
            (self.finding, self.rank) = (finding, rank);
        }
    }

    /// Notes a run that made the finding happen. A report has few of them, the first of the best, and still fewer schedules.
    fn note_hit(&mut self, process: &Process, outcome: &Outcome, rank: Rank) {
        let equals = self.hits.iter().filter(|hit| hit.rank == rank).take(SEEDS).count();
        let run = process.run.as_ref().filter(|_| equals < SCHEDULES);
        let hit = Hit {
            seed: outcome.seed,
            goal: outcome.goal.clone(),
            is_patient: outcome.is_patient,
            schedule: run.map(|run| run.schedule.clone()).unwrap_or_default(),
            rank,
        };
        let is_same = self.last_hit == Some(outcome.seed);
        self.last_hit = Some(outcome.seed);
        // A patient run has the seed of the run that it repeats.
        let known = self.hits.iter_mut().rfind(|known| known.seed == outcome.seed);
        match known.filter(|_| is_same || outcome.is_patient) {
            Some(known) if known.is_patient == hit.is_patient => known.rank = known.rank.max(rank),
            Some(known) if known.rank < rank => *known = hit,
            Some(_) => {}
            None => {
                self.count += u64::from(!is_same);
                if equals < SEEDS {
                    self.hits.push(hit);
                }
            }
        }
    }

    /// Adds the runs of another entry for the same finding.
    pub(super) fn merge(&mut self, other: Entry) {
        self.seen += other.seen;
        let all = self.hits.len() + other.hits.len();
        self.hits.extend(other.hits);
        self.hits.sort_by_key(|hit| hit.seed);
        self.hits.dedup_by_key(|hit| hit.seed);
        self.count += other.count - (all - self.hits.len()) as u64;
        if other.rank > self.rank {
            (self.finding, self.rank) = (other.finding, other.rank);
        }
    }

    /// Shows the finding by this run.
    pub(super) fn prefer(&mut self, outcome: &Outcome, finding: Finding) {
        let Some(run) = outcome.accounts().next() else { return };
        let known = self.hits.iter().position(|hit| hit.seed == outcome.seed);
        let rank = (finding.status, true);
        // It takes the place of a run of the search, because it does not count as a hit.
        if let Some(replaced) = known.or(self.hits.len().checked_sub(1)) {
            self.hits.remove(replaced);
        }
        self.hits.insert(
            0,
            Hit {
                seed: outcome.seed,
                goal: outcome.goal.clone(),
                is_patient: outcome.is_patient,
                schedule: run.schedule.clone(),
                rank,
            },
        );
        (self.finding, self.rank) = (finding, rank);
    }

    /// Keeps the finding, but without the failure that followed, because the failure has another cause.
    pub(super) fn demote(&mut self) {
        self.finding.status = Status::Confirmed;
        self.finding.consequence = None;
        self.rank.0 = Status::Confirmed;
        for hit in &mut self.hits {
            hit.rank.0 = hit.rank.0.min(Status::Confirmed);
        }
    }
}

/// How well a run shows a finding: its status, and whether the run can be replayed. The greatest is best.
pub(super) type Rank = (Status, bool);

/// A run that made a finding happen.
#[derive(Debug)]
pub(super) struct Hit {
    pub(super) seed: u64,
    pub(super) goal: Option<Goal>,
    pub(super) is_patient: bool,
    pub(super) schedule: Recording,
    pub(super) rank: Rank,
}
