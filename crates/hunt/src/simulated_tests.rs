//! Whole hunts on simulated programs: from reference runs to a minimised schedule of a blamed violation, without a front end.

use std::collections::BTreeSet;

use fissure_analysis::interleavings::{Act as CandidateAct, CandidateSite};
use fissure_model::{
    event::AccessKind,
    exit::Exit,
    finding::{Finding, Frame, Kind, Site, Status, fingerprint},
    goal::{AccessGoal, AcquireGoal, Act, Goal, GoalAccesses, GoalSite, Role},
    prevention::{Part, Prevention},
    record::{Cause, Failure, Run, RunEnd},
    settings::{AccessPoints, Control, Patterns},
};
use fissure_schedule::{
    conductor::{Decision, Parts},
    pattern::Violation,
    simulation::{
        Does::{self, Acquire, Enter, Exit as Leave, Load, Release, Sleep, Store},
        Setup, Simulated, simulate_with,
    },
    strategy::{
        GoalRole,
        registry::{self, StrategyError},
    },
};

use crate::{
    Aims, Ending, Found, HuntResult, HuntSettings, Outcome, Points, Process, RunSettings, Runner, Shard,
    hunt, run_in_order,
};

/// The variable that the threads increment.
const COUNTER: u32 = 1;
/// Its number as a location in goals.
const LOCATION: u64 = 1;

/// Executes simulated programs. When all threads have ended, the program checks that no increment was lost.
struct Simulation {
    threads: Vec<Vec<Does>>,
    increments: u64,
}

impl Runner for Simulation {
    type Error = StrategyError;

    fn run(
        &mut self,
        runs: &[Control],
        is_last: &(dyn Fn(&Outcome) -> bool + Sync),
    ) -> Result<Vec<Outcome>, StrategyError> {
        run_in_order(runs, is_last, |control| self.run_once(control))
    }
}

impl Simulation {
    fn run_once(&self, control: &Control) -> Result<Outcome, StrategyError> {
        let strategy = registry::build(control)?;
        let goal = control.goal.as_ref();
        let threads: Vec<Vec<Does>> = self.threads.iter().map(|steps| with_roles(steps, goal)).collect();
        let threads: Vec<&[Does]> = threads.iter().map(Vec::as_slice).collect();
        let setup = Setup {
            patterns: Patterns { interleavings: control.patterns.interleavings, ..Patterns::default() },
            roles: roles(goal),
            prevented: control.prevented.clone(),
            parts: parts(&control.prevented),
            has_quiet_variables: control.accesses == AccessPoints::None,
            is_patient: control.is_patient,
        };
        let mut simulated = simulate_with(&threads, strategy, control.seed, &setup);
        let findings: Vec<Finding> = simulated.violations.iter().map(finding).collect();
        let is_lost = simulated.variables[COUNTER as usize] < self.increments;
        let after = findings.iter().map(|finding| finding.id.clone()).collect();
        let failures = is_lost.then(|| failure(after)).into_iter().collect();
        let run = self.record(control, &mut simulated, failures);
        let ending = Ending::Ended(Exit::Code(i32::from(is_lost)));
        let process = Process { findings, run: Some(run), has_ended: true, ..Process::default() };
        let (seed, goal, is_patient) = (control.seed, control.goal.clone(), control.is_patient);
        Ok(Outcome { seed, goal, is_patient, ending, processes: vec![process] })
    }

    fn record(&self, control: &Control, simulated: &mut Simulated, failures: Vec<Failure>) -> Run {
        let candidates = simulated.conductor.observer().map(|observer| observer.interleavings().0);
        let mut goals: Vec<Goal> = Vec::new();
        for found in candidates.unwrap_or_default() {
            let accesses = GoalAccesses::new(found.shape, |role| found.get(role).map(goal_site)).unwrap();
            let goal = Goal::Accesses(AccessGoal {
                points: control.accesses,
                is_sequential: false,
                instrumented: Vec::new(),
                accesses,
                prefix: None,
            });
            if !goals.contains(&goal) {
                goals.push(goal);
            }
        }
        let conductor = &simulated.conductor;
        let reached = match (&control.goal, conductor.strategy().reached()) {
            (Some(Goal::Accesses(goal)), Some(choices)) => [(goal.last().key(), choices)].into(),
            _ => Default::default(),
        };
        Run {
            end: match simulated.end {
                Decision::Over => RunEnd::Finished,
                Decision::TooLong => RunEnd::TooLong,
                _ => RunEnd::Hang,
            },
            choices: conductor.choices(),
            steps: conductor.executed(),
            schedule: conductor.recording().clone(),
            uncontrolled: Vec::new(),
            departure: conductor.strategy().departure().map(|departure| departure.to_string()),
            is_hurried: conductor.is_hurried(),
            failures,
            pairs: self.pairs(),
            orders: Vec::new(),
            reached,
            goals,
            unguarded: Vec::new(),
            cut: Vec::new(),
            thrashings: conductor.strategy().thrashings(),
            prevention: conductor.prevention_facts(),
        }
    }

    /// The acquires that can land between two acquires of a block. Every run executes all of them.
    fn pairs(&self) -> Vec<AcquireGoal> {
        let mut pairs = BTreeSet::new();
        for (thread, steps) in self.threads.iter().enumerate() {
            for (lock, local) in reacquires(steps) {
                let others = self.threads.iter().enumerate().filter(|(other, _)| *other != thread);
                let remotes =
                    others.flat_map(|(_, steps)| acquires(steps)).filter(|(known, _)| *known == lock);
                pairs.extend(remotes.map(|(_, remote)| AcquireGoal::new(name(local), name(remote))));
            }
        }
        pairs.into_iter().collect()
    }
}

/// The locks that a thread acquires, with the sites.
fn acquires(steps: &[Does]) -> impl Iterator<Item = (u32, u32)> {
    steps.iter().filter_map(|does| match does {
        Acquire(lock, site) => Some((*lock, *site)),
        _ => None,
    })
}

/// The second acquires of a lock in one atomic block. No block contains another one.
fn reacquires(steps: &[Does]) -> Vec<(u32, u32)> {
    let mut found = Vec::new();
    for block in steps.split(|does| *does == Leave) {
        let begin = block.iter().position(|does| matches!(does, Enter(_)));
        let mut held: Vec<u32> = Vec::new();
        for (lock, site) in begin.map(|begin| acquires(&block[begin..])).into_iter().flatten() {
            if held.contains(&lock) {
                found.push((lock, site));
            }
            held.push(lock);
        }
    }
    found
}

/// The steps of a thread, with the roles of their acquires in the goal.
fn with_roles(steps: &[Does], goal: Option<&Goal>) -> Vec<Does> {
    let role = |does: &Does| match (goal, *does) {
        (Some(Goal::Acquires(pair)), Acquire(lock, site)) if name(site) == pair.local => {
            Does::AcquireLocal(lock, site)
        }
        (Some(Goal::Acquires(pair)), Acquire(lock, site)) if name(site) == pair.remote => {
            Does::AcquireRemote(lock, site)
        }
        (_, does) => does,
    };
    steps.iter().map(role).collect()
}

/// The roles of accesses in the goal, by their sites.
fn roles(goal: Option<&Goal>) -> Vec<(u32, GoalRole)> {
    let Some(Goal::Accesses(goal)) = goal else { return Vec::new() };
    let letters = |site: u32| {
        let is_meant = |role: &Role| goal.get(*role).is_some_and(|meant| meant.site == name(site));
        Role::ALL.into_iter().filter(is_meant).fold(0, |letters, role| letters | role.bit())
    };
    let role = |site| (site, GoalRole { letters: letters(site), location: LOCATION, ..GoalRole::default() });
    (0..10).map(role).filter(|(_, role)| role.letters != 0).collect()
}

/// The parts of operations in what a run prevents, by their sites. No site has two kinds of operations.
fn parts(prevented: &[Prevention]) -> Vec<(u32, Parts)> {
    let acts = [Act::Read, Act::Write, Act::Acquire];
    let part = |prevention: &Prevention, site: u32| {
        let parts = acts.map(|act| prevention.part(&name(site), act, ""));
        Part {
            begins: parts.iter().any(|part| part.begins),
            ends: parts.iter().any(|part| part.ends),
            is_remote: parts.iter().any(|part| part.is_remote),
        }
    };
    (0..40).map(|site| (site, Parts::of(prevented.iter().map(|known| part(known, site))))).collect()
}

fn name(site: u32) -> String {
    format!("Program.run:{site}")
}

fn goal_site((site, act): CandidateSite) -> GoalSite {
    let act = match act {
        CandidateAct::Access(AccessKind::Read) => Act::Read,
        CandidateAct::Access(AccessKind::Write) => Act::Write,
        CandidateAct::Acquire => Act::Acquire,
    };
    GoalSite { site: name(site.0), act, name: String::new() }
}

fn finding(violation: &Violation) -> Finding {
    let subject = name(violation.entered.0);
    let site = Site {
        role: "reacquired".to_owned(),
        thread: format!("T{}", violation.again.thread.0),
        class: "Program".to_owned(),
        method: "run".to_owned(),
        file: None,
        line: Some(violation.again.site.0),
        stack: Vec::new(),
        locks: Vec::new(),
    };
    let finding = Finding::new(Kind::AtomicityViolation, Status::Confirmed, "atomfuzzer", &subject);
    Finding { id: fingerprint(&["block", &subject]), sites: vec![site], ..finding }
}

/// The failure of the check at the end, after these violations.
fn failure(after: Vec<String>) -> Failure {
    let frame = Frame { class: "Program".to_owned(), method: "check".to_owned(), file: None, line: Some(99) };
    Failure {
        thread: "main".to_owned(),
        cause: Cause::Exception { class: "LostIncrement".to_owned(), message: String::new() },
        stack: vec![frame],
        own: None,
        test: None,
        after,
        interleaving: None,
    }
}

/// Hunts with pauses of this probability, in millionths.
fn check(threads: [Vec<Does>; 2], pause: u32, runs: u64) -> HuntResult {
    let result = hunted(&threads, pause, runs, true);
    assert!(result.has_discovered);
    result
}

/// The same for any number of threads, with or without goals that earlier runs showed to be possible.
fn hunted(threads: &[Vec<Does>], pause: u32, runs: u64, learns: bool) -> HuntResult {
    let settings = HuntSettings {
        strategies: vec![registry::default()],
        seed: 1,
        shard: Shard::WHOLE,
        runs: Some(runs),
        reference_runs: 4,
        profiling_runs: 0,
        learns,
        until_bug: false,
        seeks_causes: true,
        minimises: true,
        aims: Aims::FAILURES,
        only: Vec::new(),
        run: RunSettings { pause, points: Points::Auto, steps: 1_000, ..RunSettings::default() },
    };
    let mut simulation = Simulation { threads: threads.to_vec(), increments: 2 };
    let result = hunt(&settings, &mut simulation).unwrap();
    assert_eq!((result.problem.as_ref(), result.runs), (None, runs + result.facts.patient_runs));
    let references = result.references;
    assert_eq!((references.runs, references.failed, references.is_known), (4, 0, true));
    result
}

fn switches(found: &Found) -> usize {
    found.finding.schedules[0].split(' ').count() - 1
}

#[test]
fn a_lost_increment_is_found_by_a_goal_at_its_accesses() {
    let increment = vec![Load(COUNTER), Store(COUNTER)];
    let result = check([increment.clone(), increment], 1_000_000, 16);
    let [found] = &result.found[..] else { panic!("{:?}", result.found) };
    assert_eq!((found.finding.kind, found.finding.status), (Kind::Failure, Status::Bug));
    let judgement = found.finding.judgement.as_ref().unwrap();
    let [cause] = &judgement.causes[..] else { panic!("{judgement:?}") };
    let forced = cause.forced.unwrap();
    assert!(forced.runs > 0 && forced.fails == forced.runs, "{cause:?}");
    assert!(cause.prevented.runs >= 10 && cause.prevented.fails == 0, "{cause:?}");
    let Prevention::Between { first, last, .. } = &cause.prevention else { panic!("{cause:?}") };
    assert_eq!([&*first.site, &*last.site], ["Program.run:0", "Program.run:1"]);
    assert!(judgement.repair.is_some());
    assert!(switches(found) <= 5, "{:?}", found.finding.schedules);
    assert!(matches!(found.finding.goals[0], Some(Goal::Accesses(_))));
}

#[test]
fn a_bystander_is_not_the_cause() {
    // The second variable loses updates in the same runs, and no check depends on it.
    let harmless = [Load(2), Store(2)];
    for increment in [
        [&harmless[..], &[Load(COUNTER), Store(COUNTER)]].concat(),
        [&[Load(COUNTER)], &harmless[..], &[Store(COUNTER)]].concat(),
    ] {
        let sites: Vec<String> = (0..)
            .zip(&increment)
            .filter(|(_, does)| matches!(does, Load(COUNTER) | Store(COUNTER)))
            .map(|(site, _)| name(site))
            .collect();
        let result = check([increment.clone(), increment], 1_000_000, 48);
        let [found] = &result.found[..] else { panic!("{:?}", result.found) };
        let judgement = found.finding.judgement.as_ref().unwrap();
        let [cause] = &judgement.causes[..] else { panic!("{judgement:?}") };
        let Prevention::Between { first, last, .. } = &cause.prevention else { panic!("{cause:?}") };
        assert_eq!([&first.site, &last.site], [&sites[0], &sites[1]]);
    }
}

#[test]
fn an_increment_under_a_lock_loses_nothing() {
    let increment = vec![Acquire(0, 7), Load(COUNTER), Store(COUNTER), Release(0)];
    let result = check([increment.clone(), increment], 1_000_000, 16);
    assert!(result.found.is_empty(), "{:?}", result.found);
}

#[test]
fn a_failure_beside_a_thread_that_sleeps_counts_if_a_patient_run_shows_it() {
    let counts = |lock| {
        let harmless = [Enter(5), Acquire(1, 6), Release(1), Acquire(1, 8), Release(1), Leave];
        let other = [Acquire(3, 10), Release(3)];
        [&harmless[..], &[Acquire(lock, 7), Load(COUNTER)], &other, &[Store(COUNTER), Release(lock)]].concat()
    };
    // While the only thread of the first phase is paused before its second acquire, time passes for the periodic thread.
    let periodic = [Sleep(100_000_000), Acquire(2, 9), Release(2)].repeat(8);
    let result = hunted(&[counts(11), counts(12), periodic.clone()], 1_000_000, 16, false);
    let found: Vec<_> = result.found.iter().filter(|found| found.finding.kind == Kind::Failure).collect();
    let [found] = found[..] else { panic!("{:?}", result.found) };
    assert_eq!(found.finding.status, Status::Bug);
    assert!(!found.finding.patient_seeds.is_empty(), "{:?}", found.finding);
    assert!(found.finding.patient_seeds.iter().all(|seed| found.finding.seeds.contains(seed)));
    assert!(result.facts.uncounted.is_empty(), "{:?}", result.facts.uncounted);
    let result = hunted(&[counts(0), counts(0), periodic], 1_000_000, 16, false);
    assert!(result.found.iter().all(|found| found.finding.kind != Kind::Failure), "{:?}", result.found);
}

#[test]
fn a_failure_that_needs_an_early_time_out_does_not_count() {
    // The second thread relies on the time that the first one sleeps.
    let first = vec![Sleep(1_000_000_000), Load(COUNTER), Store(COUNTER)];
    let second = vec![
        Enter(5),
        Acquire(1, 6),
        Release(1),
        Load(COUNTER),
        Acquire(1, 8),
        Store(COUNTER),
        Release(1),
        Leave,
    ];
    let result = check([first, second], 1_000_000, 16);
    assert!(result.found.iter().all(|found| found.finding.kind != Kind::Failure), "{:?}", result.found);
    assert!(result.facts.patient_runs > 0 && result.facts.has_uncounted_failures(), "{:?}", result.facts);
}

/// An atomic block that releases its lock between reading and writing the counter, and beside it one whose interleaving is harmless.
fn blocks(is_split: bool) -> Vec<Does> {
    let between = if is_split { vec![Release(0), Acquire(0, 2)] } else { Vec::new() };
    [
        vec![Enter(5), Acquire(1, 6), Release(1), Acquire(1, 7), Release(1), Leave],
        vec![Enter(1), Acquire(0, 3), Load(COUNTER)],
        between,
        vec![Store(COUNTER), Release(0), Leave],
    ]
    .concat()
}

#[test]
fn a_block_that_is_not_atomic_is_blamed_and_a_harmless_one_is_not() {
    let result = check([blocks(true), blocks(true)], 0, 32);
    let status = |subject| {
        let found = result.found.iter().find(|found| found.finding.subject == name(subject));
        found.map(|found| (found.finding.status, found.finding.consequence.is_some()))
    };
    assert_eq!(status(1), Some((Status::Bug, true)), "{:?}", result.found);
    assert_eq!(status(5), Some((Status::Confirmed, false)), "{:?}", result.found);
    assert_eq!(result.found.len(), 2, "{:?}", result.found);
    let shortened = &result.strategies[0].shortened;
    assert!(!shortened.is_empty() && shortened.iter().all(|it| it.after < it.before), "{shortened:?}");
}

#[test]
fn a_block_that_keeps_its_lock_is_not_blamed() {
    let result = check([blocks(false), blocks(false)], 0, 32);
    let found: Vec<_> = result.found.iter().map(|found| (found.finding.kind, found.finding.status)).collect();
    assert_eq!(found, [(Kind::AtomicityViolation, Status::Confirmed)]);
}

#[test]
fn the_same_settings_give_the_same_hunt() {
    let findings = || {
        let result = check([blocks(true), blocks(true)], 0, 32);
        result.found.into_iter().map(|found| found.finding).collect::<Vec<_>>()
    };
    assert_eq!(findings(), findings());
}
