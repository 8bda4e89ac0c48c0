//! The search: examines and executes harnesses, small ones first, until one shows that a method is not atomic or the time is over.
//!
//! It goes in rounds. Every rank gets the same time in a round, twice that of the round before, so that frequent violations are seen at
//! once, rare ones get their time, and the few small harnesses are executed for longer than the many large ones. Harnesses that could
//! reveal something ([`Examination::could_reveal`]) come first; a few others are tried in every round, because the examination only
//! knows the usual ways in which methods misbehave.

mod single;

use std::{
    collections::BTreeSet,
    time::{Duration, Instant},
};

use fissure_object::{
    enumerate::{Alphabet, Enumeration, Harness, Operation, Rank},
    outcome::{Examination, Outcome, Outcomes},
    rules::Rules,
    shuffle::Shuffled,
    spec::{Domain, Role, Spec},
};

use fissure_report::object::RateReport;

use super::{
    driver::{Depth, RunEnd, Stressed},
    error::ObjectError,
    results::{Findings, PREEMPTIONS, Violation},
    session::Session,
};
use crate::{progress::Progress, signals};

pub(crate) use single::Exploration;
use single::smaller;

/// The limits of a search.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Bounds {
    /// The most invocations.
    pub(crate) invocations: usize,
    /// The most sequences.
    pub(crate) sequences: usize,
    /// The most values, if the user gives a number.
    pub(crate) values: Option<usize>,
    /// The time.
    pub(crate) budget: Duration,
    /// The seed that decides the order of the harnesses.
    pub(crate) seed: u64,
}

impl Bounds {
    /// The largest rank that is enumerated for a spec.
    pub(crate) fn largest(&self, spec: &Spec) -> Rank {
        let is_key = |domain: &Domain| matches!(domain, Domain::Scalar(Role::Key) | Domain::Special(_));
        // A range needs values inside and outside of it, and a read-only method may take a range with a single bound.
        let keys = |method: &fissure_object::spec::Method| {
            let keys = method.parameters.iter().filter(|domain| is_key(domain)).count();
            if method.seems_read_only { 2 * keys } else { keys }
        };
        let values = self.values.unwrap_or_else(|| 2 + spec.method.as_ref().map_or(0, keys).min(2));
        Rank { invocations: self.invocations, sequences: self.sequences, values }
    }
}

/// How harnesses are executed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Mode {
    /// Many times, under the operating system's scheduler.
    Stress,
    /// Under one schedule after the other.
    Controlled,
}

/// The outcome that shows that a harness is not atomic.
#[derive(Debug, Clone)]
struct Seen {
    outcome: Outcome,
    hits: u64,
    executions: u64,
    steps: Option<String>,
}

/// A harness that can be executed.
#[derive(Debug, Clone)]
struct Ready {
    harness: Harness,
    outcomes: Outcomes,
    epoch: usize,
    /// How likely it is to reveal a violation.
    promise: u32,
    /// The number of preemptions up to which its schedules were executed, if they were.
    explored: u32,
}

/// The harnesses of one rank.
struct Pool<'a> {
    enumeration: Enumeration<'a>,
    order: Shuffled,
    revealing: Vec<Ready>,
    plain: Vec<Ready>,
    /// Whether all harnesses of the rank were drawn.
    exhausted: bool,
    /// For how long each of them was executed, counting only rounds that executed all of them.
    each: Duration,
}

impl Pool<'_> {
    /// Whether every harness was executed for so long that the time is better spent on other ranks.
    fn is_done(&self) -> bool {
        self.exhausted && (self.each >= ENOUGH || self.revealing.len() + self.plain.len() == 0)
    }
}

/// The time for the harnesses of one rank in the first round; it doubles from round to round.
const SHARE: Duration = Duration::from_millis(48);

/// The shortest and the longest time for which a harness is executed.
const SHORTEST: Duration = Duration::from_millis(4);
const LONGEST: Duration = Duration::from_millis(500);

/// After so long, a harness is not expected to show anything new.
const ENOUGH: Duration = Duration::from_secs(2);

/// How many harnesses of a rank are examined at a time.
const BATCH: usize = 128;

/// A harness with more schedules than this is given up.
const MOST_SCHEDULES: u64 = 30_000;

/// The number of preemptions in schedules of a harness whose outcome may be due to the memory model.
const MANY: u32 = 8;

/// How often linearizations are repeated before a violation is reported.
const REPETITIONS: usize = 50;

/// The time for measuring the frequency of a violation.
const COUNTING: Duration = Duration::from_millis(200);

/// How long an order of calls is executed under different schedules of the threads that they start.
const SEQUENTIAL_TIME: Duration = Duration::from_secs(1);

/// A search for one method, or for the core.
pub(crate) struct Search<'a> {
    session: &'a mut Session,
    alphabet: &'a Alphabet,
    bounds: Bounds,
    started: Instant,
    findings: Findings,
    progress: &'a Progress,
    /// Whether a harness is executed for the whole time even if it shows a violation.
    patient: bool,
    mode: Mode,
    /// The current limit on the preemptions of controlled schedules.
    preemptions: u32,
    /// The methods whose calls are whole: no other sequence continues during them.
    whole: BTreeSet<String>,
}

impl<'a> Search<'a> {
    /// Prepares a search in a session that has the alphabet open.
    pub(crate) fn new(
        session: &'a mut Session,
        alphabet: &'a Alphabet,
        bounds: Bounds,
        mode: Mode,
        progress: &'a Progress,
    ) -> Self {
        let (started, findings) = (Instant::now(), Findings::default());
        Search {
            session,
            alphabet,
            bounds,
            started,
            findings,
            progress,
            patient: false,
            mode,
            preemptions: PREEMPTIONS,
            whole: BTreeSet::new(),
        }
    }

    /// Makes the calls of these methods whole in controlled schedules: no other sequence continues during them.
    pub(crate) fn set_whole(&mut self, methods: BTreeSet<String>) {
        self.whole = methods;
    }

    /// Searches through all ranks.
    pub(crate) fn run(self, spec: &Spec) -> Result<Findings, ObjectError> {
        match self.mode {
            Mode::Stress => self.run_stress(spec),
            Mode::Controlled => self.run_controlled(spec),
        }
    }

    fn run_stress(mut self, spec: &Spec) -> Result<Findings, ObjectError> {
        let mut pools = self.pools(spec);
        for round in 0_u32.. {
            let share = SHARE * (1 << round.min(8));
            pools.retain(|pool| !pool.is_done());
            // The time may be over before there is a single harness to execute.
            if pools.is_empty() || self.is_over() {
                break;
            }
            for pool in &mut pools {
                let many = (share.as_millis() / SHORTEST.as_millis()) as usize;
                self.fill(pool, many)?;
                let plain = if pool.revealing.is_empty() { share / 2 } else { share / 8 };
                for (list, share) in [(&mut pool.revealing, share), (&mut pool.plain, plain)] {
                    let number = list.len().min((share.as_millis() / SHORTEST.as_millis()) as usize).max(1);
                    let slice = (share / number as u32).min(LONGEST);
                    if number == list.len() {
                        pool.each += slice;
                    }
                    for at in chosen(list, number) {
                        if self.is_over() || self.execute(&mut list[at], slice)? {
                            return Ok(self.finish());
                        }
                    }
                }
            }
        }
        Ok(self.finish())
    }

    /// Searches through all ranks, executing every schedule of each harness once.
    fn run_controlled(mut self, spec: &Spec) -> Result<Findings, ObjectError> {
        let mut pools = self.pools(spec);
        for round in 0_u32.. {
            let share = SHARE * (1 << round.min(8));
            let mut is_done = true;
            for pool in &mut pools {
                self.fill(pool, 16 << round.min(8))?;
                is_done &= pool.exhausted;
                for (list, share) in [(&mut pool.revealing, share), (&mut pool.plain, share / 8)] {
                    // Most violations need a single preemption, and there are far fewer such schedules.
                    for preemptions in 1..=PREEMPTIONS {
                        let began = Instant::now();
                        self.preemptions = preemptions;
                        for at in chosen(list, list.len()) {
                            if self.is_over() {
                                return Ok(self.finish());
                            }
                            if list[at].explored + 1 != preemptions {
                                continue;
                            }
                            if began.elapsed() > share {
                                is_done = false;
                                break;
                            }
                            if self.execute(&mut list[at], Duration::MAX)? {
                                return Ok(self.finish());
                            }
                            list[at].explored = preemptions;
                        }
                    }
                }
            }
            if is_done || self.is_over() {
                break;
            }
        }
        Ok(self.finish())
    }

    /// Executes one harness for the whole budget, whatever it shows.
    pub(crate) fn one(mut self, harness: Harness) -> Result<Findings, ObjectError> {
        if let Some(mut ready) = self.examine(vec![harness])?.into_iter().map(|(ready, _)| ready).next() {
            self.patient = true;
            self.execute(&mut ready, self.bounds.budget)?;
        }
        Ok(self.finish())
    }

    fn finish(mut self) -> Findings {
        if self.findings.violation.is_none() {
            self.findings.elapsed = self.started.elapsed();
        }
        self.findings
    }

    fn is_over(&self) -> bool {
        self.started.elapsed() >= self.bounds.budget || signals::interrupted()
    }

    fn pools(&self, spec: &Spec) -> Vec<Pool<'a>> {
        let largest = self.bounds.largest(spec);
        let mut ranks = Vec::new();
        for invocations in 2..=largest.invocations {
            for sequences in 2..=largest.sequences.min(invocations) {
                ranks.extend((1..=largest.values).map(|values| Rank { invocations, sequences, values }));
            }
        }
        let pool = |rank: &Rank| {
            let enumeration = Enumeration::new(spec, self.alphabet, *rank, Rules::ALL);
            let order = Shuffled::new(enumeration.numbers(), self.bounds.seed);
            Pool {
                enumeration,
                order,
                revealing: Vec::new(),
                plain: Vec::new(),
                exhausted: false,
                each: Duration::ZERO,
            }
        };
        ranks.iter().map(pool).collect()
    }

    /// Examines harnesses until there are enough that could reveal something, or enough were examined in this round.
    fn fill(&mut self, pool: &mut Pool<'_>, many: usize) -> Result<(), ObjectError> {
        let enough = 4 * many;
        let most = pool.revealing.len() + pool.plain.len() + 32 * many;
        while !pool.exhausted
            && !self.is_over()
            && pool.revealing.len() < enough
            && pool.revealing.len() + pool.plain.len() < most
        {
            let mut batch = Vec::new();
            let mut drawn = 0;
            while batch.len() < BATCH && drawn < 64 * BATCH {
                let Some(number) = pool.order.next() else {
                    pool.exhausted = true;
                    break;
                };
                drawn += 1;
                batch.extend(pool.enumeration.harness(number));
            }
            let examined = self.examine(batch)?;
            for (ready, reveals) in examined {
                if reveals { pool.revealing.push(ready) } else { pool.plain.push(ready) }
            }
            if drawn == 64 * BATCH {
                break;
            }
        }
        Ok(())
    }

    /// The harnesses with their atomic outcomes, and whether each could reveal something.
    fn examine(&mut self, harnesses: Vec<Harness>) -> Result<Vec<(Ready, bool)>, ObjectError> {
        let examinations: Vec<(Harness, Examination)> = harnesses
            .into_iter()
            .filter_map(|harness| Some((harness.clone(), Examination::new(&harness, self.alphabet)?)))
            .collect();
        let runs = || examinations.iter().flat_map(|(_, examination)| examination.runs());
        let epoch = self.session.ensure_all(runs)?;
        let mut ready = Vec::new();
        for (harness, examination) in examinations {
            match examination.outcomes(self.session.results()) {
                Some(outcomes) => {
                    let promise = examination.promise(&outcomes, self.session.results());
                    ready.push((Ready { harness, outcomes, epoch, promise, explored: 0 }, promise > 0));
                }
                None => self.findings.undetermined += 1,
            }
        }
        Ok(ready)
    }

    /// Executes a harness; gives whether it shows a violation.
    fn execute(&mut self, ready: &mut Ready, time: Duration) -> Result<bool, ObjectError> {
        if ready.epoch != self.session.epoch {
            match self.examine(vec![ready.harness.clone()])?.pop() {
                Some((again, _)) => *ready = again,
                None => return Ok(false),
            }
        }
        self.progress.show_search(self.findings.harnesses, self.findings.executions);
        self.findings.harnesses += u64::from(ready.explored == 0);
        let Some(seen) = self.violates(ready, time)? else { return Ok(false) };
        self.findings.elapsed = self.started.elapsed();
        let (ready, seen) =
            if self.patient { (ready.clone(), seen) } else { self.shrink(ready.clone(), seen)? };
        let violation = self.count(&ready, seen)?;
        self.findings.violation = Some(violation);
        Ok(true)
    }

    /// An outcome that is not atomic, if the harness shows one and sequential executions confirm that it is none of theirs.
    fn violates(&mut self, ready: &Ready, time: Duration) -> Result<Option<Seen>, ObjectError> {
        let executed = match self.mode {
            Mode::Stress => {
                let stressed = self.session.stress(&ready.harness, &ready.outcomes, time, self.patient)?;
                stressed.map(|stressed| (stressed, None))
            }
            Mode::Controlled => self.explore(ready, time)?,
        };
        let how = match self.mode {
            Mode::Stress => "when executed by several threads",
            Mode::Controlled => "under some schedule",
        };
        let trouble = match &executed {
            None => Some(format!("did not end {how}")),
            Some((stressed, _)) if stressed.problem == "stuck" => Some(format!("did not end {how}")),
            Some((stressed, _)) if !stressed.problem.is_empty() => {
                Some(format!("failed with {} {how}", stressed.problem))
            }
            _ => None,
        };
        if let Some(trouble) = trouble {
            self.findings.stuck.push(format!("{} {trouble}", self.alphabet.schema(&ready.harness)));
        }
        let Some((stressed, steps)) = executed.filter(|(stressed, _)| stressed.problem.is_empty()) else {
            return Ok(None);
        };
        self.findings.executions += stressed.executions;
        if self.patient && self.mode == Mode::Stress {
            self.findings.rate = rate(&stressed);
        }
        let mut non_atomic =
            stressed.outcomes.iter().filter(|(outcome, _)| !ready.outcomes.contains(outcome));
        // Recorded steps belong to the first outcome that is not atomic.
        let reported =
            if steps.is_some() { non_atomic.next() } else { non_atomic.max_by_key(|(_, count)| *count) };
        let Some((outcome, hits)) = reported else { return Ok(None) };
        if self.is_confirmed(ready, outcome)? {
            let (outcome, hits) = (outcome.clone(), *hits);
            return Ok(Some(Seen { outcome, hits, executions: stressed.executions, steps }));
        }
        Ok(None)
    }

    /// Executes a harness under all schedules, as far as there is time. Gives the outcomes, and the steps of a violation.
    fn explore(
        &mut self,
        ready: &Ready,
        time: Duration,
    ) -> Result<Option<(Stressed, Option<String>)>, ObjectError> {
        let left = self.bounds.budget.saturating_sub(self.started.elapsed());
        let depth = Depth {
            preemptions: self.preemptions,
            executions: if self.patient { u64::MAX >> 1 } else { MOST_SCHEDULES },
            time: left.max(SHORTEST).min(time),
            patient: self.patient,
            whole: self.whole_calls(&ready.harness),
        };
        let Some(explored) = self.session.explore(&ready.harness, &ready.outcomes, &depth)? else {
            return Ok(None);
        };
        let schedules = &mut self.findings.schedules;
        schedules.cut += explored.cut;
        let is_new = self.preemptions == PREEMPTIONS;
        schedules.diverged += u64::from(is_new && explored.diverged > 0);
        schedules.strays += u64::from(is_new && explored.has_strays);
        if explored.complete == Some(PREEMPTIONS) && explored.diverged == 0 && !explored.has_strays {
            schedules.harnesses += 1;
            schedules.schedules += explored.schedules;
        } else if explored.steps.is_empty() && self.preemptions == PREEMPTIONS {
            schedules.unfinished += 1;
        }
        let steps = Some(explored.steps).filter(|steps| !steps.is_empty());
        Ok(Some((explored.stressed, steps)))
    }

    /// The calls of a harness that are whole.
    fn whole_calls(&self, harness: &Harness) -> Vec<usize> {
        let is_whole = |one: &Operation| self.whole.contains(self.alphabet.method_name(*one));
        let operations = harness.operations();
        operations.iter().enumerate().filter(|(_, one)| is_whole(one)).map(|(at, _)| at).collect()
    }

    /// Whether no sequential execution has this outcome: neither many repetitions in one thread, nor executions with a thread for
    /// each sequence.
    fn is_confirmed(&mut self, ready: &Ready, outcome: &Outcome) -> Result<bool, ObjectError> {
        let epoch = self.session.epoch;
        let operations = ready.harness.operations();
        let all: Vec<Vec<usize>> =
            ready.outcomes.atomic.iter().flat_map(|(_, linearizations)| linearizations.clone()).collect();
        let runs: Vec<_> =
            all.iter().map(|run| run.iter().map(|&one| operations[one]).collect::<Vec<_>>()).collect();
        let waiting = Examination::sequential(&ready.harness)
            .map_or_else(Vec::new, |examination| examination.waiting_runs(self.session.results()));
        let ends = self.session.run(&runs, REPETITIONS)?;
        let has_ended = ends.iter().all(|end| matches!(end, RunEnd::Results(_)));
        // An order in which a call waits must still wait after a longer time.
        let waits = self.session.run(&waiting, REPETITIONS)?;
        let still_waits = waits.iter().all(|end| matches!(end, RunEnd::Waits(_)));
        if !has_ended || !still_waits || epoch != self.session.epoch {
            self.findings.undetermined += 1;
            return Ok(false);
        }
        let relayed = self.session.relay(&ready.harness, &all, 4)?;
        let as_before = |outcomes: Vec<Outcome>| outcomes.iter().all(|one| ready.outcomes.contains(one));
        if epoch != self.session.epoch || !relayed.is_some_and(as_before) {
            self.findings.thread_dependent += 1;
            return Ok(false);
        }
        if self.mode == Mode::Controlled && !self.is_sequential(ready)? {
            self.findings.undetermined += 1;
            return Ok(false);
        }
        Ok(!ready.outcomes.contains(outcome))
    }

    /// Whether the calls have the same results in each order whatever the schedule of threads that they start: a thread that still runs
    /// after the call that started it may change the results of later calls, though no two calls are concurrent.
    fn is_sequential(&mut self, ready: &Ready) -> Result<bool, ObjectError> {
        let operations = ready.harness.operations();
        let depth = Depth {
            preemptions: PREEMPTIONS,
            executions: MOST_SCHEDULES,
            time: SEQUENTIAL_TIME,
            patient: false,
            whole: Vec::new(),
        };
        for (outcome, linearizations) in &ready.outcomes.atomic {
            for run in linearizations {
                let calls = run.iter().map(|&one| operations[one]).collect();
                let expected: Outcome = run.iter().map(|&one| outcome[one]).collect();
                let harness = Harness { sequences: vec![calls], order: Vec::new(), target: None };
                let only = Outcomes { atomic: vec![(expected, Vec::new())] };
                let explored = self.session.explore(&harness, &only, &depth)?;
                let is_same = explored.is_some_and(|explored| {
                    explored.stressed.problem.is_empty()
                        && explored.stressed.outcomes.iter().all(|(outcome, _)| only.contains(outcome))
                });
                if !is_same {
                    return Ok(false);
                }
            }
        }
        Ok(true)
    }

    /// Removes invocations as long as the rest still shows a violation.
    fn shrink(&mut self, mut ready: Ready, mut seen: Seen) -> Result<(Ready, Seen), ObjectError> {
        'again: loop {
            for smaller in smaller(&ready.harness) {
                // Under controlled schedules every harness takes little time.
                let candidate = match self.mode {
                    Mode::Controlled => self.examine_sequentially(smaller)?,
                    Mode::Stress => {
                        let examined = self.examine(vec![smaller])?;
                        examined.into_iter().find(|(_, reveals)| *reveals).map(|(ready, _)| ready)
                    }
                };
                let Some(candidate) = candidate else { continue };
                if let Some(smaller) = self.violates(&candidate, COUNTING / 4)? {
                    (ready, seen) = (candidate, smaller);
                    continue 'again;
                }
            }
            return Ok((ready, seen));
        }
    }

    /// Executes the harness once more, to measure the frequency of the violation.
    fn count(&mut self, ready: &Ready, seen: Seen) -> Result<Violation, ObjectError> {
        let Seen { outcome, mut hits, mut executions, steps } = seen;
        let in_words = |session: &Session, outcome: &Outcome| -> Vec<String> {
            outcome.iter().map(|&number| session.text(number).to_owned()).collect()
        };
        let words = in_words(self.session, &outcome);
        let atomic = ready.outcomes.atomic.iter();
        let atomic = atomic.map(|(one, runs)| (in_words(self.session, one), runs.clone())).collect();
        let mut counts = Vec::new();
        if !self.patient
            && self.mode == Mode::Stress
            && let Some(stressed) = self.session.stress(&ready.harness, &ready.outcomes, COUNTING, true)?
        {
            hits += stressed.outcomes.iter().find(|(one, _)| *one == outcome).map_or(0, |(_, count)| *count);
            executions += stressed.executions;
            for (one, count) in &stressed.outcomes {
                counts.push((in_words(self.session, one), *count, ready.outcomes.contains(one)));
            }
            counts.sort();
        }
        let harness = ready.harness.clone();
        Ok(Violation { harness, outcome: words, hits, executions, atomic, counts, steps, cause: None })
    }
}

/// How fast a harness was executed; nothing if the time was too short to measure.
fn rate(stressed: &Stressed) -> Option<RateReport> {
    let a_second = |executions: u64, time: Duration| {
        (!time.is_zero()).then(|| (executions as f64 / time.as_secs_f64()).round())
    };
    let (later, time) = stressed.later;
    Some(RateReport {
        whole: a_second(stressed.executions, stressed.elapsed)?,
        second_half: a_second(later, time)?,
    })
}

/// So many harnesses of a list: the most promising one and the next one of the shuffle in turn, because the most promising ones are
/// often alike.
fn chosen(list: &[Ready], number: usize) -> Vec<usize> {
    let mut best: Vec<usize> = (0..list.len()).collect();
    best.sort_by_key(|&at| std::cmp::Reverse(list[at].promise));
    let mut taken = vec![false; list.len()];
    let both = best.iter().copied().enumerate().flat_map(|(next, best)| [best, next]);
    both.filter(|&at| !std::mem::replace(&mut taken[at], true)).take(number).collect()
}
