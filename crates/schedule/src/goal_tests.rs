//! Both phases of AssetFuzzer and RaceFuzzer on small programs: what chance alone shows, what is predicted from it, and what
//! comes of steering into that.

use std::collections::BTreeSet;

use fissure_analysis::atomic_sets::{patterns::Who, predict::Prediction};
use fissure_model::goal::Shape;
use fissure_model::ids::SiteId;

use crate::{
    conductor::Decision,
    observer::Wanted,
    simulation::{
        Does::{self, Acquire, Begin, EndRead, EndWrite, EnterUnit, ExitUnit, Read, Release, Write, Yield},
        Looking, Result, simulate_looking,
    },
    strategy::{AssetFuzzer, GoalRole, Interleaver, RaceFuzzer, Strategy, Uniform},
};

const PROFILING_RUNS: u64 = 10;
const RUNS: u64 = 20;

/// A unit whose accesses, written `Ra` or `Wb`, are at sites from `site` on, each under a lock of its own or all under one. The
/// lock may be got inside of accesses that take some time.
fn unit(site: u32, accesses: &str, locks: &str) -> Vec<Does> {
    let mut does = vec![EnterUnit(site)];
    let is_locked = matches!(locks, "all" | "all, inside");
    if is_locked {
        does.push(Acquire(0, site + 50));
    }
    for (place, access) in (1..).zip(accesses.split(' ')) {
        let location = u32::from(access.as_bytes()[1]);
        let reads = access.starts_with('R');
        if locks.ends_with("inside") {
            let end = if reads { EndRead } else { EndWrite };
            let (begin, acquire) = (Begin(site + place), Acquire(0, site + 50 + place));
            does.extend([begin, acquire, Release(0), end(location, site + place)]);
            continue;
        }
        if locks == "each" {
            does.push(Acquire(0, site + 50 + place));
        }
        does.push(if reads { Read(location, site + place) } else { Write(location, site + place) });
        if locks == "each" {
            does.push(Release(0));
        }
    }
    if is_locked {
        does.push(Release(0));
    }
    does.push(ExitUnit(site));
    does
}

/// Something else to do before and after, so that chance alone seldom brings units together.
fn among_others(does: Vec<Does>, before: usize, after: usize) -> Vec<Does> {
    [vec![Yield; before], does, vec![Yield; after]].concat()
}

fn run(threads: &[Vec<Does>], strategy: Box<dyn Strategy>, seed: u64, looking: &Looking) -> Result {
    let slices: Vec<&[Does]> = threads.iter().map(Vec::as_slice).collect();
    simulate_looking(&slices, strategy, seed, looking)
}

fn patterns(result: &mut Result) -> BTreeSet<u8> {
    let mut shown = BTreeSet::new();
    let observer = result.conductor.observer().unwrap();
    while let Some(violation) = observer.take_violation() {
        shown.insert(violation.pattern().pattern);
    }
    shown
}

fn predict(threads: &[Vec<Does>]) -> Vec<Prediction> {
    let looking = Looking { wanted: Wanted { predictions: true, ..Wanted::default() }, ..Looking::default() };
    let mut predicted: Vec<Prediction> = Vec::new();
    for seed in 0..PROFILING_RUNS {
        let mut result = run(threads, Box::new(Uniform), seed, &looking);
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

/// What the operations of a program are to a prediction.
fn aims(prediction: &Prediction) -> Vec<(u32, GoalRole)> {
    let mut aims: Vec<(u32, GoalRole)> = Vec::new();
    let mut at = |site: SiteId, change: &dyn Fn(&mut GoalRole)| {
        let place = aims.iter().position(|(place, _)| *place == site.0).unwrap_or_else(|| {
            aims.push((site.0, GoalRole::default()));
            aims.len() - 1
        });
        change(&mut aims[place].1);
    };
    for (letter, event) in prediction.events.iter().enumerate() {
        at(event.site, &|role| role.letters |= 1 << letter);
    }
    for (letter, window) in prediction.windows.iter().enumerate() {
        window.iter().for_each(|site| at(*site, &|role| role.windows |= 1 << letter));
    }
    prediction.gate.iter().for_each(|(site, _)| at(*site, &|role| role.is_gate = true));
    aims
}

/// In how many runs the pattern of a prediction was shown, and how often threads had to be let go.
fn steer(threads: &[Vec<Does>], prediction: &Prediction) -> (u64, u64) {
    let wanted = Wanted { violations: true, ..Wanted::default() };
    let looking = Looking { wanted, aims: aims(prediction) };
    let letters: Vec<Who> = prediction.pattern().letters.iter().map(|letter| letter.who).collect();
    let (mut hits, mut thrashings) = (0, 0);
    for seed in 0..RUNS {
        let mut result = run(threads, Box::new(AssetFuzzer::new(&letters)), seed, &looking);
        assert_eq!(result.end, Decision::Over);
        hits += u64::from(patterns(&mut result).contains(&prediction.pattern().pattern));
        thrashings += result.conductor.strategy().thrashings();
    }
    (hits, thrashings)
}

fn by_chance(threads: &[Vec<Does>], pattern: u8) -> u64 {
    let wanted = Wanted { violations: true, ..Wanted::default() };
    let looking = Looking { wanted, ..Looking::default() };
    (0..RUNS)
        .filter(|seed| patterns(&mut run(threads, Box::new(Uniform), *seed, &looking)).contains(&pattern))
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

/// Every prediction comes true in every run, which chance alone does not achieve.
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
fn whatever_is_predicted_is_steered_into() {
    for (planted, first, second) in PAIRS {
        for locks in ["none", "each", "inside"] {
            check(
                &[
                    among_others(unit(100, first, locks), 0, 20),
                    among_others(unit(200, second, locks), 20, 0),
                ],
                planted,
            );
            check(
                &[
                    among_others(unit(100, first, locks), 20, 0),
                    among_others(unit(200, second, locks), 0, 20),
                ],
                planted,
            );
        }
        // The other holds the lock for all of its events, the first only for each.
        if !matches!(planted, 7 | 10 | 11) {
            check(
                &[
                    among_others(unit(100, first, "each"), 20, 0),
                    among_others(unit(200, second, "all"), 0, 20),
                ],
                planted,
            );
        }
    }
}

#[test]
fn what_is_locked_as_a_whole_is_not_even_predicted() {
    for (_, first, second) in PAIRS {
        for locks in ["all", "all, inside"] {
            let threads = [unit(100, first, locks), unit(200, second, locks)];
            assert!(predict(&threads).is_empty());
        }
    }
}

#[test]
fn the_lock_that_an_access_gets_for_itself_keeps_it_out() {
    for (_, first, second) in PAIRS.into_iter().filter(|(_, _, second)| second.len() == 2) {
        let threads = [unit(100, first, "all, inside"), unit(200, second, "inside")];
        assert!(predict(&threads).is_empty(), "{first} and {second}");
    }
}

/// Whoever waits for a lock that an access needs has not made the access yet.
#[test]
fn an_access_happens_when_it_ends() {
    let locked = [vec![Acquire(0, 90)], unit(100, "Wa Wa", "none"), vec![Release(0)]].concat();
    let wanted = Wanted { violations: true, ..Wanted::default() };
    let looking = Looking { wanted, ..Looking::default() };
    for seed in 0..100 {
        let threads = [locked.clone(), unit(200, "Ra", "inside")];
        let mut result = run(&threads, Box::new(Uniform), seed, &looking);
        assert_eq!(result.end, Decision::Over);
        assert!(patterns(&mut result).is_empty(), "seed {seed}");
    }
}

#[test]
fn threads_with_the_same_code_can_play_both_parts() {
    for locks in ["none", "each"] {
        let threads =
            [among_others(unit(100, "Ra Wa", locks), 0, 20), among_others(unit(100, "Ra Wa", locks), 20, 0)];
        check(&threads, 1);
    }
}

#[test]
fn an_execution_is_a_function_of_its_seed() {
    let threads = [unit(100, "Ra Rb", "each"), among_others(unit(200, "Wb Wa", "each"), 5, 5)];
    let prediction = &predict(&threads)[0];
    let looking = Looking { aims: aims(prediction), ..Looking::default() };
    let letters: Vec<Who> = prediction.pattern().letters.iter().map(|letter| letter.who).collect();
    for seed in 0..20 {
        let recorded = || {
            let result = run(&threads, Box::new(AssetFuzzer::new(&letters)), seed, &looking);
            (result.conductor.recording().to_string(), result.done)
        };
        assert_eq!(recorded(), recorded());
    }
}

/// In how many runs two threads stood before racing accesses at once.
fn races(threads: &[Vec<Does>], strategy: impl Fn() -> Box<dyn Strategy>, aims: &[(u32, GoalRole)]) -> u64 {
    let wanted = Wanted { races: true, ..Wanted::default() };
    let looking = Looking { wanted, aims: aims.to_vec() };
    (0..RUNS)
        .filter(|seed| {
            let mut result = run(threads, strategy(), *seed, &looking);
            assert_eq!(result.end, Decision::Over);
            result.conductor.observer().unwrap().take_race().is_some()
        })
        .count() as u64
}

#[test]
fn racing_accesses_are_brought_together() {
    let locked = |does: Vec<Does>, lock| [vec![Acquire(lock, 9)], does, vec![Release(lock)]].concat();
    let threads = [
        among_others(locked(vec![Write(1, 11)], 1), 0, 20),
        among_others(locked(vec![Read(1, 12)], 2), 20, 0),
    ];
    let looking = Looking { wanted: Wanted { races: true, ..Wanted::default() }, ..Looking::default() };
    let mut profiled = run(&threads, Box::new(Uniform), 1, &looking);
    let (pairs, _) = profiled.conductor.observer().unwrap().racing_pairs();
    assert_eq!(pairs.iter().map(|pair| pair.sites.map(|site| site.0)).collect::<Vec<_>>(), [[11, 12]]);
    let role = |letters| GoalRole { letters, place: 1, ..GoalRole::default() };
    let aims = [(11, role(1)), (12, role(2))];
    assert_eq!(races(&threads, || Box::new(RaceFuzzer::new()), &aims), RUNS);
    assert!(races(&threads, || Box::new(Uniform), &[]) < RUNS / 2);
    // A common lock keeps them apart, whoever steers.
    let threads = [locked(vec![Write(1, 11)], 1), locked(vec![Read(1, 12)], 1)];
    assert_eq!(races(&threads, || Box::new(RaceFuzzer::new()), &aims), 0);
}

/// In how many runs the steps of the first thread at two places had one of the second in between.
fn interleavings(
    threads: &[Vec<Does>],
    shape: Shape,
    aims: &[(u32, GoalRole)],
    expected: &[(u32, usize)],
) -> u64 {
    orders(threads, || Interleaver::new(shape, 1_000_000), aims, expected)
}

/// In how many runs steps came in this order.
fn orders(
    threads: &[Vec<Does>],
    interleaver: impl Fn() -> Interleaver,
    aims: &[(u32, GoalRole)],
    expected: &[(u32, usize)],
) -> u64 {
    let looking = Looking { wanted: Wanted::default(), aims: aims.to_vec() };
    (0..RUNS)
        .filter(|seed| {
            let result = run(threads, Box::new(interleaver()), *seed, &looking);
            assert_eq!(result.end, Decision::Over);
            let places: Vec<usize> = expected
                .iter()
                .filter_map(|wanted| result.done.iter().position(|done| done == wanted))
                .collect();
            places.len() == expected.len() && places.is_sorted()
        })
        .count() as u64
}

#[test]
fn accesses_come_in_between_and_before_others() {
    let role = |letters| GoalRole { letters, place: 1, ..GoalRole::default() };
    let others = |does: Vec<Does>| among_others(does, 10, 10);
    let threads = [others(vec![Read(1, 11), Write(1, 12)]), others(vec![Write(1, 13)])];
    let between = [(11, role(1)), (13, role(2)), (12, role(4))];
    let expected = [(0, 10), (1, 10), (0, 11)];
    assert_eq!(interleavings(&threads, Shape::Interleaving, &between, &expected), RUNS);
    assert!(interleavings(&threads, Shape::Interleaving, &[], &expected) < RUNS / 2);
    // The first of them comes late, and whoever it is to come before waits for it.
    let threads = [vec![Write(1, 11)], among_others(vec![Read(1, 12)], 20, 0)];
    let order = [(12, role(2)), (11, role(4))];
    assert_eq!(interleavings(&threads, Shape::Reordering, &order, &[(1, 20), (0, 0)]), RUNS);
    let anything = [(11, role(4))];
    assert_eq!(interleavings(&threads, Shape::Delay, &anything, &[(1, 20), (0, 0)]), RUNS);
}

#[test]
fn calm_runs_interrupt_nobody_else() {
    let role = |letters| GoalRole { letters, place: 1, ..GoalRole::default() };
    // Something is there before it is complete, which only whoever comes later than the one and earlier than the other sees.
    let threads = [
        among_others(vec![Write(1, 11), Write(2, 12)], 10, 10),
        among_others(vec![Read(1, 13), Read(2, 14)], 10, 10),
    ];
    let delayed = [(12, role(4))];
    let seen_too_early = [(0, 10), (1, 10), (1, 11), (0, 11)];
    assert!(orders(&threads, || Interleaver::new(Shape::Delay, 1_000_000), &delayed, &seen_too_early) < RUNS);
    let hits = orders(&threads, || Interleaver::sequential(Shape::Delay), &delayed, &seen_too_early);
    // The other one may go first.
    assert!(hits > RUNS / 3, "{hits}");
    let between = [(11, role(1)), (13, role(2)), (12, role(4))];
    let threads = [vec![Read(1, 11), Write(1, 12)], vec![Write(1, 13)]];
    let expected = [(0, 0), (1, 0), (0, 1)];
    assert_eq!(orders(&threads, || Interleaver::sequential(Shape::Interleaving), &between, &expected), RUNS);
}

#[test]
fn nobody_waits_for_ever_for_what_does_not_come() {
    let role = |letters| GoalRole { letters, place: 1, ..GoalRole::default() };
    let threads = [vec![Read(1, 11), Write(1, 12)], vec![Read(1, 13)]];
    // The place that is looked for does not exist, or another thing is accessed there.
    for (shape, letters) in [(Shape::Interleaving, 2), (Shape::Reordering, 2), (Shape::Delay, 2)] {
        let elsewhere = GoalRole { place: 2, ..role(letters) };
        let aims = [(11, role(1)), (13, elsewhere), (12, role(4))];
        assert_eq!(interleavings(&threads, shape, &aims, &[(0, 0), (0, 1)]), RUNS);
    }
}
