//! Runs of simulated programs: what they find, and how they explain it.

use fissure_model::{
    finding::{Finding, Kind, Status},
    goal::{Goal, Role},
    interleaving::Interleaving,
    record::RunEnd,
    settings::Patterns,
};
use fissure_schedule::{
    conductor::{Conductor, Limits},
    simulation::Does::{self, *},
    strategy::registry,
};

use crate::{
    ControlledRun, Results,
    simulated::{Program, execute, random},
};

/// The number of schedules that are tried.
const SEEDS: u64 = 60;

/// The results of the first seed for which something holds.
fn first(program: &Program<'_>, holds: impl Fn(&Results) -> bool) -> Option<Results> {
    (0..SEEDS).map(|seed| execute(program, seed).0).find(holds)
}

fn confirmed(results: &Results, kind: Kind) -> Option<&Finding> {
    results.findings.iter().find(|finding| finding.kind == kind && finding.status == Status::Confirmed)
}

/// The roles and lines of a finding's sites, with their threads.
fn sites(finding: &Finding) -> Vec<String> {
    let site = |site: &fissure_model::finding::Site| {
        format!("{} {}:{}", site.thread, site.role, site.line.unwrap_or_default())
    };
    finding.sites.iter().map(site).collect()
}

/// The steps of an interleaving that have a role: the thread, the role and the line.
fn roles(interleaving: &Interleaving) -> Vec<String> {
    let steps = interleaving.steps.iter().filter_map(|step| {
        let line = step.at.as_ref().and_then(|frame| frame.line).unwrap_or_default();
        Some(format!("{} {}:{line}", interleaving.threads[step.thread], step.role.as_ref()?))
    });
    steps.collect()
}

/// Checks that some schedule violates the pattern, with these sites, and that no schedule of the correct program does.
fn check(wrong: &Program<'_>, correct: &[&[Does]], kind: Kind, expected: &[&str]) -> Results {
    let correct = Program { threads: correct, ..*wrong };
    let alarm = first(&correct, |results| confirmed(results, kind).is_some());
    assert!(alarm.is_none(), "{alarm:#?}");
    let results =
        first(wrong, |results| confirmed(results, kind).is_some()).expect("no schedule violates it");
    let finding = confirmed(&results, kind).unwrap();
    assert_eq!(sites(finding), expected);
    results
}

#[test]
fn an_executed_lock_pattern_is_explained() {
    let remote: &[Does] = &[Acquire(1, 30), Release(1)];
    let wrong: &[Does] = &[Enter(20), Acquire(1, 21), Release(1), Acquire(1, 22), Release(1), Exit];
    let correct: &[Does] = &[Enter(20), Acquire(1, 21), Acquire(1, 22), Release(1), Release(1), Exit];
    let program = Program { threads: &[wrong, remote], ..Program::default() };
    let expected = ["T1 entered:20", "T1 acquired:21", "T2 interfered:30", "T1 reacquired:22"];
    let results = check(&program, &[correct, remote], Kind::AtomicityViolation, &expected);
    let finding = confirmed(&results, Kind::AtomicityViolation).unwrap();
    assert_eq!(finding.subject, "Program.m2");
    assert_eq!(finding.sites[1].locks[0].name, "Account@1");
    let interleaving = finding.interleaving.as_ref().unwrap();
    assert_eq!(interleaving.threads, ["T1", "T2"]);
    assert_eq!(roles(interleaving), expected);
    assert_eq!(results.run.reached.keys().collect::<Vec<_>>(), ["Program.m2:22"]);
}

#[test]
fn a_run_without_the_violation_gives_goals_for_others() {
    let threads: &[&[Does]] = &[
        &[Enter(20), Acquire(1, 21), Release(1), Acquire(1, 22), Release(1), Exit],
        &[Acquire(1, 30), Release(1)],
    ];
    let program = Program { threads, ..Program::default() };
    let is_missed = |results: &Results| {
        confirmed(results, Kind::AtomicityViolation).is_none() && !results.run.pairs.is_empty()
    };
    let results = first(&program, is_missed).expect("every schedule violates it");
    let pair = &results.run.pairs[0];
    assert_eq!((pair.local.as_str(), pair.remote.as_str()), ("Program.m2:22", "Program.m3:30"));
    let warning = &results.findings[0];
    assert_eq!(
        (warning.status, sites(warning)),
        (Status::Warning, vec!["T1 entered:20".to_owned(), "T1 reacquired:22".to_owned()])
    );
}

#[test]
fn a_confirmed_finding_is_told_at_once() {
    let threads: &[&[Does]] = &[
        &[Enter(20), Acquire(1, 21), Release(1), Acquire(1, 22), Release(1), Exit],
        &[Acquire(1, 30), Release(1)],
    ];
    let program = Program { threads, ..Program::default() };
    let told: Vec<(Results, Vec<Finding>)> = (0..SEEDS).map(|seed| execute(&program, seed)).collect();
    assert!(told.iter().any(|(_, told)| !told.is_empty()));
    for (results, told) in told {
        let confirmed = results.findings.iter().filter(|finding| finding.status == Status::Confirmed);
        assert_eq!(confirmed.count(), told.len());
    }
}

const LOCAL: &[Does] = &[Read(0, 20), Write(0, 21)];
const REMOTE: &[Does] = &[Write(0, 30)];

/// Whether the write of the second thread came between the read and the write of the first.
fn is_lost(done: &[(u32, usize)]) -> bool {
    let at = |step| done.iter().position(|known| *known == step);
    matches!((at((0, 0)), at((1, 0)), at((0, 1))), (Some(read), Some(remote), Some(write)) if read < remote && remote < write)
}

#[test]
fn a_failure_has_the_steps_that_led_to_it() {
    let program = Program {
        threads: &[LOCAL, REMOTE],
        fields: &["count"],
        patterns: Patterns { interleavings: true, ..Patterns::default() },
        fails: is_lost,
    };
    let results = first(&program, |results| !results.run.failures.is_empty()).expect("no schedule fails");
    let failure = &results.run.failures[0];
    assert_eq!((failure.kind().name(), failure.own), ("AssertionError", Some(0)));
    let interleaving = failure.interleaving.as_ref().unwrap();
    let lines: Vec<(&str, Option<u32>)> = interleaving
        .steps
        .iter()
        .filter(|step| !step.object.is_empty())
        .map(|step| (step.object.as_str(), step.at.as_ref().and_then(|frame| frame.line)))
        .collect();
    let last = interleaving.steps.last().unwrap();
    assert_eq!((last.role.as_deref(), last.object.as_str()), (Some("failed"), "AssertionError"));
    assert!(
        lines.contains(&("Pair.count", Some(20))) && lines.contains(&("Pair.count", Some(30))),
        "{lines:?}"
    );
    let correct = Program { fails: |_| false, ..program };
    assert!(first(&correct, |results| !results.run.failures.is_empty()).is_none());
}

#[test]
fn interleavings_of_accesses_are_goals_for_other_runs() {
    let program = Program {
        threads: &[LOCAL, REMOTE],
        fields: &["count"],
        patterns: Patterns { interleavings: true, ..Patterns::default() },
        ..Program::default()
    };
    let results = first(&program, |results| !results.run.goals.is_empty()).expect("no candidate");
    let is_lost_update = |goal: &Goal| match goal {
        Goal::Accesses(goal) => {
            let site = |site: Option<&fissure_model::goal::GoalSite>| site.map(|site| site.site.clone());
            site(goal.first()).as_deref() == Some("Program.m2:20")
                && site(goal.get(Role::Remote)).as_deref() == Some("Program.m3:30")
                && goal.last().name == "count"
        }
        _ => false,
    };
    assert!(results.run.goals.iter().any(is_lost_update), "{:#?}", results.run.goals);
}

#[test]
fn a_violation_of_an_atomic_set_is_explained() {
    let writer: &[Does] = &[EnterUnit(20), Write(0, 21), Write(1, 22), ExitUnit(20)];
    let reader: &[Does] = &[EnterUnit(30), Read(0, 31), Read(1, 32), ExitUnit(30)];
    let program = Program {
        threads: &[writer, reader],
        fields: &["left", "right"],
        patterns: Patterns { violations: true, ..Patterns::default() },
        ..Program::default()
    };
    let locked_writer: &[Does] =
        &[EnterUnit(20), Acquire(1, 23), Write(0, 21), Write(1, 22), Release(1), ExitUnit(20)];
    let locked_reader: &[Does] =
        &[EnterUnit(30), Acquire(1, 33), Read(0, 31), Read(1, 32), Release(1), ExitUnit(30)];
    let results = first(&program, |results| confirmed(results, Kind::AtomicSetViolation).is_some());
    let results = results.expect("no schedule violates it");
    let finding = confirmed(&results, Kind::AtomicSetViolation).unwrap();
    assert_eq!(finding.subject, "Pair");
    let units: Vec<&str> = finding.accesses.iter().map(|access| access.unit.as_str()).collect();
    assert!(units.contains(&"Program.m2") && units.contains(&"Program.m3"), "{units:?}");
    let interleaving = finding.interleaving.as_ref().unwrap();
    assert_eq!(roles(interleaving), sites(finding));
    let correct = Program { threads: &[locked_writer, locked_reader], ..program };
    assert!(first(&correct, |results| !results.findings.is_empty()).is_none());
}

#[test]
fn a_deadlock_names_the_locks() {
    let program = Program {
        threads: &[
            &[Acquire(1, 20), Acquire(2, 21), Release(2), Release(1), Acquire(3, 40), Release(3)],
            &[Acquire(2, 30), Acquire(1, 31), Release(1), Release(2), Acquire(3, 50), Release(3)],
        ],
        ..Program::default()
    };
    let results = first(&program, |results| results.run.end == RunEnd::Deadlock).expect("no deadlock");
    let finding = confirmed(&results, Kind::Deadlock).unwrap();
    // The acquires of the locks that the threads hold, and then where they wait.
    let [held, waits] = &finding.sites.chunks(2).collect::<Vec<_>>()[..] else { panic!("{finding:?}") };
    for site in *held {
        assert!(site.role.starts_with("holds lock Account@"), "{}", site.role);
    }
    for site in *waits {
        assert!(site.role.starts_with("waits for lock Account@"), "{}", site.role);
        assert_eq!(site.locks.len(), 1);
    }
    let is_candidate =
        |results: &Results| results.run.end == RunEnd::Finished && !results.run.pairs.is_empty();
    let finished = first(&program, is_candidate).expect("no run without a deadlock has a candidate");
    let pair = &finished.run.pairs[0];
    assert_eq!((pair.local.as_str(), pair.remote.as_str()), ("Program.m2:21", "Program.m3:31"));
}

#[test]
fn a_lost_notification_is_a_hang() {
    let program = Program {
        threads: &[&[Acquire(1, 20), Wait(1), Release(1)], &[Acquire(1, 30), Notify(1), Release(1)]],
        ..Program::default()
    };
    let results = first(&program, |results| results.run.end == RunEnd::Hang).expect("no hang");
    let finding = confirmed(&results, Kind::Deadlock).unwrap();
    assert_eq!(finding.sites[0].role, "waits to be notified Account@1");
    assert!(first(&program, |results| results.run.end == RunEnd::Finished).is_some());
}

fn run_without_steps() -> ControlledRun {
    let settings = random(&Program::default(), 0);
    let strategy = registry::build(&settings).unwrap();
    ControlledRun::new(Conductor::new(strategy, 0, Limits { steps: 1, is_patient: false }), &settings)
}

#[test]
#[should_panic(expected = "field 3 was never numbered; there are 0")]
fn a_field_without_a_number_is_a_failure() {
    run_without_steps().field_name(3);
}
