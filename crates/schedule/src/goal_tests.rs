//! Tests of goals on simulated programs: both phases of AssetFuzzer and RaceFuzzer (predictions from random schedules, and runs
//! whose goal is a prediction), and the interleaver.

use std::collections::BTreeSet;

use fissure_analysis::atomic_sets::{patterns::Who, predict::Prediction};
use fissure_model::{goal::Shape, ids::SiteId, settings::Patterns};

use crate::{
    conductor::Decision,
    simulation::{
        Does::{self, Acquire, Begin, EndRead, EndWrite, EnterUnit, ExitUnit, Read, Release, Write, Yield},
        Setup, Simulated, simulate_with,
    },
    strategy::{AssetFuzzer, GoalRole, Interleaver, RaceFuzzer, Strategy, Uniform},
};

const PROFILING_RUNS: u64 = 10;
const RUNS: u64 = 20;

/// A unit whose accesses, written `Ra` or `Wb`, are at sites from `site` on. The lock is acquired for each access or for all of them
/// ("all"), and may be acquired inside of accesses of several steps ("inside").
fn unit(site: u32, accesses: &str, locks: &str) -> Vec<Does> {
    let mut steps = vec![EnterUnit(site)];
    let is_locked = matches!(locks, "all" | "all, inside");
    if is_locked {
        steps.push(Acquire(0, site + 50));
    }
    for (number, access) in (1..).zip(accesses.split(' ')) {
        let location = u32::from(access.as_bytes()[1]);
        let reads = access.starts_with('R');
        if locks.ends_with("inside") {
            let end = if reads { EndRead } else { EndWrite };
            let (begin, acquire) = (Begin(site + number), Acquire(0, site + 50 + number));
            steps.extend([begin, acquire, Release(0), end(location, site + number)]);
            continue;
        }
        if locks == "each" {
            steps.push(Acquire(0, site + 50 + number));
        }
        steps.push(if reads { Read(location, site + number) } else { Write(location, site + number) });
        if locks == "each" {
            steps.push(Release(0));
        }
    }
    if is_locked {
        steps.push(Release(0));
    }
    steps.push(ExitUnit(site));
    steps
}

/// Adds other steps before and after, so that random schedules rarely interleave the units.
fn padded(steps: Vec<Does>, before: usize, after: usize) -> Vec<Does> {
    [vec![Yield; before], steps, vec![Yield; after]].concat()
}

fn run(threads: &[Vec<Does>], strategy: Box<dyn Strategy>, seed: u64, setup: &Setup) -> Simulated {
    let slices: Vec<&[Does]> = threads.iter().map(Vec::as_slice).collect();
    simulate_with(&slices, strategy, seed, setup)
}

fn shown_patterns(result: &mut Simulated) -> BTreeSet<u8> {
    let mut shown = BTreeSet::new();
    let observer = result.conductor.observer().unwrap();
    while let Some(violation) = observer.take_violation() {
        shown.insert(violation.pattern().pattern);
    }
    shown
}

fn predict(threads: &[Vec<Does>]) -> Vec<Prediction> {
    let setup = Setup { patterns: Patterns { predictions: true, ..Patterns::default() }, ..Setup::default() };
    let mut predicted: Vec<Prediction> = Vec::new();
    for seed in 0..PROFILING_RUNS {
        let mut result = run(threads, Box::new(Uniform), seed, &setup);
        let (predictions, cut) = result.conductor.observer().unwrap().predictions();
        assert!(cut.is_nothing());
        for prediction in predictions {
            let is_same =
                |known: &Prediction| (known.word, &known.events) == (prediction.word, &prediction.events);
            if !predicted.iter().any(is_same) {
                predicted.push(prediction);
            }
        }
    }
    predicted
}

/// The roles of a program's operations in a prediction.
fn roles(prediction: &Prediction) -> Vec<(u32, GoalRole)> {
    let mut roles: Vec<(u32, GoalRole)> = Vec::new();
    let mut at = |site: SiteId, change: &dyn Fn(&mut GoalRole)| {
        let index = roles.iter().position(|(known, _)| *known == site.0).unwrap_or_else(|| {
            roles.push((site.0, GoalRole::default()));
            roles.len() - 1
        });
        change(&mut roles[index].1);
    };
    for (letter, event) in prediction.events.iter().enumerate() {
        at(event.site, &|role| role.letters |= 1 << letter);
    }
    for (letter, window) in prediction.windows.iter().enumerate() {
        window.iter().for_each(|site| at(*site, &|role| role.windows |= 1 << letter));
    }
    prediction.gate.iter().for_each(|(site, _)| at(*site, &|role| role.is_gate = true));
    roles
}

/// In how many runs the pattern of a prediction was shown, and how often paused threads had to be released.
fn steer(threads: &[Vec<Does>], prediction: &Prediction) -> (u64, u64) {
    let patterns = Patterns { violations: true, ..Patterns::default() };
    let setup = Setup { patterns, roles: roles(prediction), ..Setup::default() };
    let letters: Vec<Who> = prediction.pattern().letters.iter().map(|letter| letter.who).collect();
    let (mut hits, mut thrashings) = (0, 0);
    for seed in 0..RUNS {
        let mut result = run(threads, Box::new(AssetFuzzer::new(&letters)), seed, &setup);
        assert_eq!(result.end, Decision::Over);
        hits += u64::from(shown_patterns(&mut result).contains(&prediction.pattern().pattern));
        thrashings += result.conductor.strategy().thrashings();
    }
    (hits, thrashings)
}

fn by_chance(threads: &[Vec<Does>], pattern: u8) -> u64 {
    let patterns = Patterns { violations: true, ..Patterns::default() };
    let setup = Setup { patterns, ..Setup::default() };
    (0..RUNS)
        .filter(|seed| shown_patterns(&mut run(threads, Box::new(Uniform), *seed, &setup)).contains(&pattern))
        .count() as u64
}

const PAIRS: [(u8, &str, &str); 11] = [
    (1, "Ra Wa", "Wa"),
    (2, "Ra Ra", "Wa"),
    (3, "Wa Wa", "Ra"),
    (4, "Wa Ra", "Wa"),
    (5, "Wa Wa", "Wa"),
    (6, "Wa Wb", "Wa Wb"),
    (7, "Wa Wb", "Wb Wa"),
    (8, "Wa Wb", "Ra Rb"),
    (9, "Ra Rb", "Wa Wb"),
    (10, "Ra Rb", "Wb Wa"),
    (11, "Wa Wb", "Rb Ra"),
];

/// Checks that every run reaches the predicted violation, which random schedules do not.
fn check(threads: &[Vec<Does>], planted: u8) {
    let predictions = predict(threads);
    assert!(predictions.iter().any(|prediction| prediction.pattern().pattern == planted));
    for prediction in &predictions {
        let (hits, thrashings) = steer(threads, prediction);
        assert_eq!((hits, thrashings), (RUNS, 0), "{prediction:?} of {threads:?}");
    }
    assert!(by_chance(threads, planted) < RUNS / 2);
}

#[test]
fn every_prediction_is_reached() {
    for (planted, first, second) in PAIRS {
        for locks in ["none", "each", "inside"] {
            check(
                &[padded(unit(100, first, locks), 0, 20), padded(unit(200, second, locks), 20, 0)],
                planted,
            );
            check(
                &[padded(unit(100, first, locks), 20, 0), padded(unit(200, second, locks), 0, 20)],
                planted,
            );
        }
        // The second unit holds the lock across all of its events, the first one only for each event.
        if !matches!(planted, 7 | 10 | 11) {
            check(
                &[padded(unit(100, first, "each"), 20, 0), padded(unit(200, second, "all"), 0, 20)],
                planted,
            );
        }
    }
}

#[test]
fn units_under_a_common_lock_are_not_predicted() {
    for (_, first, second) in PAIRS {
        for locks in ["all", "all, inside"] {
            let threads = [unit(100, first, locks), unit(200, second, locks)];
            assert!(predict(&threads).is_empty());
        }
    }
}

#[test]
fn a_lock_acquired_inside_an_access_excludes_it_from_locked_units() {
    for (_, first, second) in PAIRS.into_iter().filter(|(_, _, second)| second.len() == 2) {
        let threads = [unit(100, first, "all, inside"), unit(200, second, "inside")];
        assert!(predict(&threads).is_empty(), "{first} and {second}");
    }
}

/// A thread that waits for a lock inside an access has not made the access yet.
#[test]
fn an_access_happens_when_it_ends() {
    let locked = [vec![Acquire(0, 90)], unit(100, "Wa Wa", "none"), vec![Release(0)]].concat();
    let patterns = Patterns { violations: true, ..Patterns::default() };
    let setup = Setup { patterns, ..Setup::default() };
    for seed in 0..100 {
        let threads = [locked.clone(), unit(200, "Ra", "inside")];
        let mut result = run(&threads, Box::new(Uniform), seed, &setup);
        assert_eq!(result.end, Decision::Over);
        assert!(shown_patterns(&mut result).is_empty(), "seed {seed}");
    }
}

#[test]
fn threads_with_the_same_code_can_have_both_roles() {
    for locks in ["none", "each"] {
        let threads = [padded(unit(100, "Ra Wa", locks), 0, 20), padded(unit(100, "Ra Wa", locks), 20, 0)];
        check(&threads, 1);
    }
}

#[test]
fn an_execution_is_a_function_of_its_seed() {
    let threads = [unit(100, "Ra Rb", "each"), padded(unit(200, "Wb Wa", "each"), 5, 5)];
    let prediction = &predict(&threads)[0];
    let setup = Setup { roles: roles(prediction), ..Setup::default() };
    let letters: Vec<Who> = prediction.pattern().letters.iter().map(|letter| letter.who).collect();
    for seed in 0..20 {
        let recorded = || {
            let result = run(&threads, Box::new(AssetFuzzer::new(&letters)), seed, &setup);
            (result.conductor.recording().to_string(), result.done)
        };
        assert_eq!(recorded(), recorded());
    }
}

/// In how many runs two threads were stopped before racing accesses at the same time.
fn races(threads: &[Vec<Does>], strategy: impl Fn() -> Box<dyn Strategy>, roles: &[(u32, GoalRole)]) -> u64 {
    let patterns = Patterns { races: true, ..Patterns::default() };
    let setup = Setup { patterns, roles: roles.to_vec(), ..Setup::default() };
    (0..RUNS)
        .filter(|seed| {
            let mut result = run(threads, strategy(), *seed, &setup);
            assert_eq!(result.end, Decision::Over);
            result.conductor.observer().unwrap().take_race().is_some()
        })
        .count() as u64
}

#[test]
fn racing_accesses_are_brought_together() {
    let locked = |steps: Vec<Does>, lock| [vec![Acquire(lock, 9)], steps, vec![Release(lock)]].concat();
    let threads = [padded(locked(vec![Write(1, 11)], 1), 0, 20), padded(locked(vec![Read(1, 12)], 2), 20, 0)];
    let setup = Setup { patterns: Patterns { races: true, ..Patterns::default() }, ..Setup::default() };
    let mut profiled = run(&threads, Box::new(Uniform), 1, &setup);
    let (pairs, _) = profiled.conductor.observer().unwrap().racing_pairs();
    assert_eq!(pairs.iter().map(|pair| pair.sites.map(|site| site.0)).collect::<Vec<_>>(), [[11, 12]]);
    let role = |letters| GoalRole { letters, location: 1, ..GoalRole::default() };
    let roles = [(11, role(1)), (12, role(2))];
    assert_eq!(races(&threads, || Box::new(RaceFuzzer::new()), &roles), RUNS);
    assert!(races(&threads, || Box::new(Uniform), &[]) < RUNS / 2);
    // A common lock prevents the race under every strategy.
    let threads = [locked(vec![Write(1, 11)], 1), locked(vec![Read(1, 12)], 1)];
    assert_eq!(races(&threads, || Box::new(RaceFuzzer::new()), &roles), 0);
}

/// In how many runs with a goal of this shape the steps came in this order.
fn interleavings(
    threads: &[Vec<Does>],
    shape: Shape,
    roles: &[(u32, GoalRole)],
    expected: &[(u32, usize)],
) -> u64 {
    orders(threads, || Interleaver::new(shape, 1_000_000), roles, expected)
}

/// In how many runs steps came in this order.
fn orders(
    threads: &[Vec<Does>],
    interleaver: impl Fn() -> Interleaver,
    roles: &[(u32, GoalRole)],
    expected: &[(u32, usize)],
) -> u64 {
    let setup = Setup { roles: roles.to_vec(), ..Setup::default() };
    (0..RUNS)
        .filter(|seed| {
            let result = run(threads, Box::new(interleaver()), *seed, &setup);
            assert_eq!(result.end, Decision::Over);
            let indices: Vec<usize> = expected
                .iter()
                .filter_map(|wanted| result.done.iter().position(|done| done == wanted))
                .collect();
            indices.len() == expected.len() && indices.is_sorted()
        })
        .count() as u64
}

#[test]
fn interleavings_reorderings_and_delays_are_reached() {
    let role = |letters| GoalRole { letters, location: 1, ..GoalRole::default() };
    let others = |steps: Vec<Does>| padded(steps, 10, 10);
    let threads = [others(vec![Read(1, 11), Write(1, 12)]), others(vec![Write(1, 13)])];
    let between = [(11, role(1)), (13, role(2)), (12, role(4))];
    let expected = [(0, 10), (1, 10), (0, 11)];
    assert_eq!(interleavings(&threads, Shape::Interleaving, &between, &expected), RUNS);
    assert!(interleavings(&threads, Shape::Interleaving, &[], &expected) < RUNS / 2);
    // Both remote accesses land, at two sites or at one.
    let threads =
        [others(vec![Read(1, 11), Write(1, 12)]), others(vec![Write(1, 13), Read(2, 15), Write(1, 14)])];
    let both = [(11, role(1)), (13, role(2)), (12, role(4)), (14, role(8))];
    let expected = [(0, 10), (1, 10), (1, 12), (0, 11)];
    assert_eq!(interleavings(&threads, Shape::DoubleInterleaving, &both, &expected), RUNS);
    assert!(interleavings(&threads, Shape::Interleaving, &between, &expected) < RUNS / 2);
    let threads = [others(vec![Read(1, 11), Write(1, 12)]), others(vec![Write(1, 13), Write(1, 13)])];
    let one_site = [(11, role(1)), (13, role(2 | 8)), (12, role(4))];
    let expected = [(0, 10), (1, 10), (1, 11), (0, 11)];
    assert_eq!(interleavings(&threads, Shape::DoubleInterleaving, &one_site, &expected), RUNS);
    // The remote access comes late, and the local access waits for it.
    let threads = [vec![Write(1, 11)], padded(vec![Read(1, 12)], 20, 0)];
    let order = [(12, role(2)), (11, role(4))];
    assert_eq!(interleavings(&threads, Shape::Reordering, &order, &[(1, 20), (0, 0)]), RUNS);
    let anything = [(11, role(4))];
    assert_eq!(interleavings(&threads, Shape::Delay, &anything, &[(1, 20), (0, 0)]), RUNS);
}

#[test]
fn sequential_runs_preempt_no_other_thread() {
    let role = |letters| GoalRole { letters, location: 1, ..GoalRole::default() };
    // The writer publishes an incomplete object: a reader observes that only between the two writes.
    let threads =
        [padded(vec![Write(1, 11), Write(2, 12)], 10, 10), padded(vec![Read(1, 13), Read(2, 14)], 10, 10)];
    let delayed = [(12, role(4))];
    let seen_too_early = [(0, 10), (1, 10), (1, 11), (0, 11)];
    assert!(orders(&threads, || Interleaver::new(Shape::Delay, 1_000_000), &delayed, &seen_too_early) < RUNS);
    let hits = orders(&threads, || Interleaver::sequential(Shape::Delay), &delayed, &seen_too_early);
    // The schedule may run the reader first, which misses the goal.
    assert!(hits > RUNS / 3, "{hits}");
    let between = [(11, role(1)), (13, role(2)), (12, role(4))];
    let threads = [vec![Read(1, 11), Write(1, 12)], vec![Write(1, 13)]];
    let expected = [(0, 0), (1, 0), (0, 1)];
    assert_eq!(orders(&threads, || Interleaver::sequential(Shape::Interleaving), &between, &expected), RUNS);
}

#[test]
fn unreachable_goals_do_not_block_threads() {
    let role = |letters| GoalRole { letters, location: 1, ..GoalRole::default() };
    let threads = [vec![Read(1, 11), Write(1, 12)], vec![Read(1, 13)]];
    // The remote site of the goal accesses another location.
    for (shape, letters) in [
        (Shape::Interleaving, 2),
        (Shape::Reordering, 2),
        (Shape::Delay, 2),
        (Shape::DoubleInterleaving, 2),
        (Shape::DoubleInterleaving, 8),
    ] {
        let elsewhere = GoalRole { location: 2, ..role(letters) };
        let roles = [(11, role(1)), (13, elsewhere), (12, role(4))];
        assert_eq!(interleavings(&threads, shape, &roles, &[(0, 0), (0, 1)]), RUNS);
    }
}
