//! The engine stands alone: hunts in simulated programs, from reference runs and candidates to the report of an explained finding, with no
//! front end and no process. [`object`] does the same for concurrent objects.

mod object;

use fissure_control::simulated::{Program, execute_with};
use fissure_hunt::{
    Aims, Ending, HuntResult, HuntSettings, Outcome, Points, Process, RunSettings, Runner, Shard, hunt,
    run_in_order,
};
use fissure_model::{
    exit::Exit,
    finding::{Finding, Kind, Status},
    goal::{Goal, Shape},
    settings::Control,
};
use fissure_report::{
    NoSources, Report,
    text::{self, Options},
};
use fissure_schedule::{
    simulation::Does::{self, Acquire, EnterUnit, ExitUnit, Read, Release, Write},
    strategy::registry::{self, StrategyError},
};

/// Executes the runs of a hunt in a simulated program.
struct Simulation<'a>(Program<'a>);

impl Runner for Simulation<'_> {
    type Error = StrategyError;

    fn run(
        &mut self,
        runs: &[Control],
        is_last: &(dyn Fn(&Outcome) -> bool + Sync),
    ) -> Result<Vec<Outcome>, StrategyError> {
        run_in_order(runs, is_last, |control| {
            let (results, _) = execute_with(&self.0, control)?;
            let code = i32::from(!results.run.failures.is_empty());
            let process = Process {
                findings: results.findings,
                run: Some(results.run),
                has_ended: true,
                ..Process::default()
            };
            let goal = control.goal.clone();
            let ending = Ending::Ended(Exit::Code(code));
            let (seed, is_patient) = (control.seed, control.is_patient);
            Ok(Outcome { seed, goal, is_patient, ending, processes: vec![process] })
        })
    }
}

/// Hunts with a strategy. Returns the number of runs and the findings.
fn hunt_with(threads: &[&[Does]], fails: fn(&[(u32, usize)]) -> bool, strategy: &str) -> (u64, Vec<Finding>) {
    let settings = HuntSettings {
        strategies: vec![registry::find(strategy).unwrap()],
        seed: 1,
        shard: Shard::WHOLE,
        runs: Some(24),
        reference_runs: 4,
        profiling_runs: 4,
        learns: true,
        until_bug: false,
        minimises: true,
        aims: Aims::FAILURES,
        only: Vec::new(),
        run: RunSettings { pause: 1_000_000, points: Points::Auto, steps: 1_000, ..RunSettings::default() },
    };
    let program = Program { threads, fields: &["low", "high"], fails, ..Program::default() };
    let HuntResult { problem, runs, found, .. } = hunt(&settings, &mut Simulation(program)).unwrap();
    assert_eq!(problem, None);
    (runs, found.into_iter().map(|found| found.finding).collect())
}

/// The same. Returns the kinds of the findings that were made to happen, and the report.
fn hunt_in(threads: &[&[Does]], fails: fn(&[(u32, usize)]) -> bool, strategy: &str) -> (Vec<Kind>, String) {
    let (runs, findings) = hunt_with(threads, fails, strategy);
    let shown = findings.iter().filter(|finding| finding.status > Status::Warning);
    let kinds = shown.map(|finding| finding.kind).collect();
    let report = Report { runs, findings, ..Report::default() };
    (kinds, text::render(&report, &Options { width: 100, color: false, verbose: false }, &NoSources))
}

fn check(report: &str, lines: &[&str]) {
    for line in lines {
        assert!(report.contains(line), "{line} is missing:\n{report}");
    }
}

/// Whether a write of one thread came between the read and the write of the other.
fn is_lost(done: &[(u32, usize)]) -> bool {
    let at = |thread: u32, step: usize| done.iter().position(|known| *known == (thread, step));
    let first = |thread: u32| done.iter().find(|(of, _)| *of == thread).map_or(0, |(_, step)| *step);
    let lost = |one: u32, other: u32| {
        let (read, write) = (at(one, first(one)), at(one, first(one) + 1));
        matches!((read, at(other, first(other) + 1), write), (Some(read), Some(remote), Some(write)) if read < remote && remote < write)
    };
    lost(0, 1) || lost(1, 0)
}

#[test]
fn a_lost_update_is_found_blamed_and_explained() {
    let increment: &[Does] = &[Read(0, 20), Write(0, 21)];
    let (kinds, report) = hunt_in(&[increment, increment], is_lost, "atomfuzzer");
    assert_eq!(kinds, [Kind::Failure], "{report}");
    check(&report, &["bug[failure]", "AssertionError", "writes Pair.low", "T1", "T2", ":21"]);
    let locked: &[Does] = &[Acquire(1, 10), Read(0, 20), Write(0, 21), Release(1)];
    let (kinds, report) = hunt_in(&[locked, locked], |_| false, "atomfuzzer");
    assert_eq!(kinds, [], "{report}");
}

/// Whether exactly two writes of the second thread came between the read and the write of the first.
fn is_overtaken_twice(done: &[(u32, usize)]) -> bool {
    let own: Vec<usize> = (0..done.len()).filter(|at| done[*at].0 == 0).collect();
    matches!(own[..], [.., read, write] if write - read == 3)
}

#[test]
fn a_failure_that_takes_two_remote_writes_is_found() {
    let check_and_act: &[Does] = &[Read(0, 20), Write(0, 21)];
    let writes: &[Does] = &[Write(0, 30), Write(0, 30), Write(0, 30), Write(0, 30)];
    let (_, findings) = hunt_with(&[check_and_act, writes], is_overtaken_twice, "atomfuzzer");
    let found = findings.iter().find(|finding| finding.kind == Kind::Failure).unwrap();
    let is_double =
        |goal: &Goal| matches!(goal, Goal::Accesses(goal) if goal.shape() == Shape::DoubleInterleaving);
    assert!(found.goals.iter().flatten().any(is_double), "{found:?}");
}

#[test]
fn an_atomic_set_violation_is_predicted_confirmed_and_explained() {
    let never = |_: &[(u32, usize)]| false;
    let update: &[Does] = &[EnterUnit(20), Write(0, 21), Write(1, 22), ExitUnit(20)];
    let read: &[Does] = &[EnterUnit(30), Read(0, 31), Read(1, 32), ExitUnit(30)];
    let (kinds, report) = hunt_in(&[update, read], never, "assetfuzzer");
    assert!(!kinds.is_empty() && kinds.iter().all(|kind| *kind == Kind::AtomicSetViolation), "{report}");
    check(&report, &["confirmed[atomic-set-violation]", "Pair", "T1", "T2", ":31"]);
    let guarded = |steps: &[Does]| [&[Acquire(1, 10)][..], steps, &[Release(1)]].concat();
    let (update, read) = (guarded(update), guarded(read));
    let (kinds, report) = hunt_in(&[&update, &read], never, "assetfuzzer");
    assert_eq!(kinds, [], "{report}");
}
