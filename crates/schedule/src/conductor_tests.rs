//! Tests of the conductor on simulated programs.

use fissure_model::{
    ids::{LockId, SiteId, ThreadId},
    recording::Recording,
};
use proptest::{prelude::*, strategy::Strategy as _};

use crate::{
    conductor::{Activity, Arrival, Conductor, Decision, Expectation, Parts},
    operation::{Operation, Wake},
    random::Random,
    simulation::{
        Does::{
            self, Acquire, AcquireEarlier, AcquireLater, AcquireLocal, AcquireRemote, Await, AwaitEvent,
            AwaitEventFor, Cause, Enter, Exit, Interrupt, Notify, NotifyAll, Park, Release, Sleep, Unpark,
            Wait, WaitFor, Yield,
        },
        FROM_OUTSIDE, LIMITS, Setup, Simulated, simulate, simulate_with,
    },
    strategy::{AtomFuzzer, Choice, Guided, Preemptions, Replay, Sequential, Strategy, Uniform, View},
    stuck::WaitsFor,
};

const ALWAYS: u32 = 1_000_000;
const HALF: u32 = 500_000;

/// The atomic block of the paper's figures on lock 0, with its first and second acquire at these sites.
const fn figure_block(site: u32) -> [Does; 6] {
    [Enter(site), Acquire(0, site + 1), Release(0), Acquire(0, site + 2), Release(0), Exit]
}

const FIGURE_1: [[Does; 6]; 2] = [figure_block(10), figure_block(20)];

/// Figure 2: the second thread first executes six empty synchronized blocks on other locks.
fn figure_2() -> Vec<Vec<Does>> {
    let mut second: Vec<Does> = (1..=6).flat_map(|lock| [Acquire(lock, lock), Release(lock)]).collect();
    second.extend(figure_block(20));
    vec![figure_block(10).to_vec(), second]
}

/// Figure 3: an additional lock protects both blocks.
fn figure_3() -> Vec<Vec<Does>> {
    let guarded = |site: u32| {
        let mut does = vec![Enter(site), Acquire(9, site + 3)];
        does.extend(&figure_block(site)[1..5]);
        does.extend([Release(9), Exit]);
        does
    };
    vec![guarded(10), guarded(20)]
}

fn slices(threads: &[Vec<Does>]) -> Vec<&[Does]> {
    threads.iter().map(Vec::as_slice).collect()
}

/// The share of 2,000 executions that show the pattern, per thousand.
fn rate(threads: &[&[Does]], strategy: impl Fn() -> Box<dyn Strategy>) -> usize {
    (0..2_000).filter(|seed| !simulate(threads, strategy(), *seed).violations.is_empty()).count() / 2
}

/// The exact probability of the pattern under uniformly random choices, computed from all interleavings of acquires.
fn exact(first: usize, second: usize, is_violated: &dyn Fn(&[bool]) -> bool) -> f64 {
    fn walk(path: &mut Vec<bool>, left: [usize; 2], is_violated: &dyn Fn(&[bool]) -> bool) -> f64 {
        let open: Vec<bool> = [false, true].into_iter().filter(|who| left[usize::from(*who)] > 0).collect();
        if open.is_empty() {
            return f64::from(u8::from(is_violated(path)));
        }
        let share = 1.0 / open.len() as f64;
        open.into_iter()
            .map(|who| {
                let mut rest = left;
                rest[usize::from(who)] -= 1;
                path.push(who);
                let chance = walk(path, rest, is_violated);
                path.pop();
                share * chance
            })
            .sum()
    }
    walk(&mut Vec::new(), [first, second], is_violated)
}

/// Whether an acquire of one thread lies between the last two acquires of the other.
fn last_two_are_split(path: &[bool]) -> bool {
    let steps = |who| path.iter().enumerate().filter(move |(_, other)| **other == who).map(|(step, _)| step);
    let last_two = |who| {
        let steps: Vec<usize> = steps(who).collect();
        (steps[steps.len() - 2], steps[steps.len() - 1])
    };
    let (first, second) = (last_two(false), last_two(true));
    let splits = |range: (usize, usize), other: (usize, usize)| {
        [other.0, other.1].iter().any(|step| (range.0..range.1).contains(step))
    };
    splits(first, second) || splits(second, first)
}

fn uniform() -> Box<dyn Strategy> {
    Box::new(Uniform)
}

fn atomfuzzer(chance: u32) -> impl Fn() -> Box<dyn Strategy> {
    move || Box::new(AtomFuzzer::new(chance))
}

fn check_near(measured: usize, expected: f64) {
    let expected = expected * 1_000.0;
    assert!((measured as f64 - expected).abs() < 35.0, "{measured} is not near {expected}");
}

#[test]
fn the_papers_figures_have_the_papers_probabilities() {
    let first: Vec<&[Does]> = FIGURE_1.iter().map(<[Does; 6]>::as_slice).collect();
    assert!((exact(2, 2, &last_two_are_split) - 0.5).abs() < 1e-9);
    check_near(rate(&first, uniform), 0.5);
    assert_eq!(rate(&first, atomfuzzer(ALWAYS)), 1_000);

    let second = figure_2();
    let expected = exact(2, 8, &last_two_are_split);
    assert!(expected < 0.05, "{expected}");
    check_near(rate(&slices(&second), uniform), expected);
    assert_eq!(rate(&slices(&second), atomfuzzer(ALWAYS)), 1_000);

    let third = figure_3();
    assert_eq!(rate(&slices(&third), uniform), 0);
    assert_eq!(rate(&slices(&third), atomfuzzer(ALWAYS)), 0);
}

#[test]
fn pausing_half_of_the_time_finds_less() {
    let second = figure_2();
    let rate = rate(&slices(&second), atomfuzzer(HALF));
    assert!((500..900).contains(&rate), "{rate}");
}

#[test]
fn pausing_the_remote_acquire_makes_it_land_in_a_block_that_begins_later() {
    let mut late: Vec<Does> = (1..=6).flat_map(|lock| [Acquire(lock, lock), Release(lock)]).collect();
    late.extend(figure_block(10));
    let early = [AcquireRemote(0, 30), Release(0)];
    let plain = [Acquire(0, 30), Release(0)];
    assert!(rate(&[&late, &plain], atomfuzzer(ALWAYS)) < 200);
    assert_eq!(rate(&[&late, &early], atomfuzzer(ALWAYS)), 1_000);
}

#[test]
fn pausing_works_if_local_and_remote_acquires_are_at_one_site() {
    let local = [Enter(10), AcquireRemote(0, 30), Release(0), AcquireRemote(0, 30), Release(0), Exit];
    let other = [AcquireRemote(0, 30), Release(0)];
    assert_eq!(rate(&[&local, &other], atomfuzzer(ALWAYS)), 1_000);
}

#[test]
fn sleepers_are_woken_to_execute_the_remote_acquire() {
    let sleeper = [Sleep(1_000_000_000), Acquire(0, 30), Release(0)];
    let rate = rate(&[&figure_block(10), &sleeper], atomfuzzer(ALWAYS));
    assert_eq!(rate, 1_000);
}

#[test]
fn in_a_patient_run_sleepers_are_not_woken_early() {
    let sleeper = [Sleep(1_000_000), Acquire(0, 30), Release(0)];
    let (block, setup) = (figure_block(10), Setup { is_patient: true, ..Setup::default() });
    let threads: [&[Does]; 2] = [&block, &sleeper];
    for seed in 0..50 {
        let result = simulate_with(&threads, Box::new(AtomFuzzer::new(ALWAYS)), seed, &setup);
        let slept = result.done.iter().position(|done| done.0 == 1 && done.1 == 1);
        assert!(result.done.iter().rposition(|done| done.0 == 0) < slept, "seed {seed}: {:?}", result.done);
        assert!(!result.conductor.is_hurried() && result.end == Decision::Over);
        // The recording is the same as that of a run that is not patient, so that the latter can follow it.
        let recording = result.conductor.recording().clone();
        let again = simulate(&threads, Box::new(Replay::new(&recording)), seed);
        assert_eq!(again.done, result.done, "seed {seed}");
        assert_eq!(again.conductor.strategy().departure(), None, "seed {seed}");
    }
}

#[test]
fn waiters_with_a_time_out_are_woken_to_execute_the_remote_acquire() {
    let waiter = [Acquire(0, 30), WaitFor(0, 5_000_000_000), Release(0)];
    let rate = rate(&[&waiter, &figure_block(10)], atomfuzzer(ALWAYS));
    assert_eq!(rate, 1_000);
}

#[test]
fn time_does_not_pass_for_long_time_outs_while_others_can_run() {
    let waiter = [Acquire(0, 30), WaitFor(0, 60_000_000_000), Release(0)];
    for seed in 0..50 {
        let result = simulate(&[&waiter, &figure_block(10)], Box::new(AtomFuzzer::new(ALWAYS)), seed);
        let last = |thread| result.done.iter().rposition(|done| done.0 == thread);
        assert!(last(1) < last(0), "seed {seed}");
    }
}

#[test]
fn a_thread_that_yields_once_lets_no_time_pass_and_one_that_polls_does() {
    let waiter = [Acquire(0, 30), WaitFor(0, 5_000_000_000), Release(0)];
    let polite = [Sleep(1_000_000), Yield, Acquire(0, 10), NotifyAll(0), Release(0)];
    for result in check_end(&[&waiter, &polite], Decision::Over) {
        assert!(result.wakes.contains(&(0, Wake::Called)), "{:?}", result.wakes);
    }
    let polls = [&[Acquire(1, 40), Release(1), Yield].repeat(20)[..], &[Acquire(2, 41), Release(2)]].concat();
    for result in check_end(&[&[Sleep(1_000_000), Acquire(1, 30), Release(1)], &polls], Decision::Over) {
        let last = |thread| result.done.iter().rposition(|done| done.0 == thread);
        assert!(last(0) < last(1), "{:?}", result.done);
    }
}

#[test]
fn periodic_sleepers_do_not_keep_a_thread_paused_for_ever() {
    let mut sleeper = Vec::new();
    for _ in 0..500 {
        sleeper.push(Sleep(1_000));
    }
    let result = simulate(&[&figure_block(10), &sleeper], Box::new(AtomFuzzer::new(ALWAYS)), 1);
    let ends = |thread| result.done.iter().rposition(|done| done.0 == thread);
    assert!(ends(0) < ends(1));
}

fn check_end(threads: &[&[Does]], expected: Decision) -> Vec<Simulated> {
    let strategies: [fn() -> Box<dyn Strategy>; 3] =
        [uniform, || Box::new(Sequential), || Box::new(AtomFuzzer::new(HALF))];
    let mut results = Vec::new();
    for strategy in strategies {
        for seed in 0..50 {
            let result = simulate(threads, strategy(), seed);
            assert_eq!(result.end, expected, "seed {seed}");
            results.push(result);
        }
    }
    results
}

#[test]
fn monitors_wait_and_notify() {
    let waiter = [Acquire(0, 1), Wait(0), Release(0)];
    let notifier = [Await(0), Acquire(0, 2), Notify(0), Release(0)];
    // The notifier waits for the end of the waiter, which waits to be notified.
    check_end(&[&waiter, &notifier], Decision::TooLong);
    let notifier = [Sleep(1_000_000), Acquire(0, 2), NotifyAll(0), Release(0)];
    for result in check_end(&[&waiter, &waiter, &notifier], Decision::Over) {
        assert_eq!(result.wakes.iter().filter(|wake| wake.1 == Wake::Called).count(), 2);
    }
    check_end(
        &[&waiter, &waiter, &[Sleep(1_000_000), Acquire(0, 2), Notify(0), Release(0)]],
        Decision::Stuck,
    );
}

#[test]
fn waits_end_by_time_and_by_interrupts() {
    for result in check_end(&[&[Acquire(0, 1), WaitFor(0, 5_000_000), Release(0)]], Decision::Over) {
        assert_eq!(result.wakes, [(0, Wake::TimedOut)]);
    }
    let interrupted: [&[Does]; 3] = [
        &[Acquire(0, 1), Wait(0), Release(0)],
        &[Sleep(1_000_000_000)],
        &[Sleep(1_000_000), Interrupt(0), Interrupt(1)],
    ];
    for result in check_end(&interrupted, Decision::Over) {
        assert!(result.wakes.contains(&(0, Wake::Interrupted)));
        assert!(result.wakes.contains(&(1, Wake::Interrupted)));
    }
}

#[test]
fn permits_are_kept_until_taken() {
    check_end(&[&[Park, Park], &[Unpark(0)]], Decision::Stuck);
    check_end(&[&[Sleep(5), Park], &[Unpark(0), Unpark(0)]], Decision::Over);
}

#[test]
fn lock_cycles_are_reported() {
    let first = [Acquire(0, 1), Sleep(1_000), Acquire(1, 2), Release(1), Release(0)];
    let second = [Acquire(1, 3), Sleep(1_000), Acquire(0, 4), Release(0), Release(1)];
    for result in check_end(&[&first, &second], Decision::Stuck) {
        let stuck = result.conductor.stuck();
        assert_eq!(stuck.circle, [ThreadId(0), ThreadId(1)]);
        assert!(stuck.threads.iter().all(|thread| matches!(thread.waits_for, WaitsFor::Lock(_))));
    }
}

#[test]
fn pausing_closes_lock_cycles() {
    let deadlocks = |threads: &[&[Does]]| {
        let ends = (0..200).map(|seed| simulate(threads, Box::new(AtomFuzzer::new(ALWAYS)), seed).end);
        ends.filter(|end| *end == Decision::Stuck).count()
    };
    let first = |second: Does| [Acquire(0, 1), second, Release(1), Release(0)];
    let second = |second: Does| [Acquire(1, 3), second, Release(0), Release(1)];
    assert_eq!(deadlocks(&[&first(AcquireLocal(1, 2)), &second(AcquireRemote(0, 4))]), 200);
    assert!(deadlocks(&[&first(Acquire(1, 2)), &second(Acquire(0, 4))]) < 150);
    let philosopher =
        |left: u32, right: u32| [Acquire(left, 1), AcquireRemote(right, 2), Release(right), Release(left)];
    let table = [philosopher(0, 1), philosopher(1, 2), philosopher(2, 3), philosopher(3, 0)];
    let table: Vec<&[Does]> = table.iter().map(|philosopher| philosopher.as_slice()).collect();
    assert_eq!(deadlocks(&table), 200);
}

#[test]
fn activities_of_threads_are_reported() {
    let check = |threads: &[&[Does]], expected: &[Activity]| {
        let result = simulate(threads, Box::new(Sequential), 1);
        let activity = |thread: usize| result.conductor.activity(ThreadId(thread as u32));
        assert_eq!((0..threads.len()).map(activity).collect::<Vec<_>>(), expected);
    };
    check(&[&[Acquire(0, 1), Wait(0)], &[Park], &[]], &[Activity::Waits, Activity::Waits, Activity::Ended]);
    let keeps = [Acquire(0, 1), Park];
    let wants = [Sleep(1_000), Acquire(0, 2), Release(0)];
    check(&[&keeps, &wants], &[Activity::Waits, Activity::Blocked]);
}

#[test]
fn a_thread_that_yields_lets_others_run_first() {
    check_end(&[&[Await(1)], &[Acquire(0, 1), Release(0), Yield, Sleep(1_000_000)]], Decision::Over);
}

#[test]
fn recordings_replay_and_departures_are_reported() {
    let threads = figure_2();
    let original = simulate(&slices(&threads), Box::new(Uniform), 5);
    let recording: Recording = original.conductor.recording().to_string().parse().unwrap();
    let again = simulate(&slices(&threads), Box::new(Replay::new(&recording)), 99);
    assert_eq!(again.done, original.done);
    assert_eq!(again.conductor.strategy().departure(), None);
    let wrong: Recording = "0 5 1".parse().unwrap();
    let other = simulate(&slices(&threads), Box::new(Replay::new(&wrong)), 99);
    let departure = other.conductor.strategy().departure().unwrap();
    assert_eq!((departure.choice, departure.recorded), (2, Some(ThreadId(5))));
    let longer: Recording = format!("{recording} 1 0").parse().unwrap();
    let short = simulate(&slices(&threads), Box::new(Replay::new(&longer)), 99);
    let departure = short.conductor.strategy().departure().unwrap();
    assert!(departure.is_short && departure.recorded == Some(ThreadId(1)), "{departure}");
    assert_eq!(departure.choice, original.conductor.choices() + 1);
}

#[test]
fn a_guided_run_follows_its_prefix() {
    let threads = figure_2();
    let original = simulate(&slices(&threads), Box::new(Uniform), 5);
    let recording = original.conductor.recording();
    let first: Vec<ThreadId> = recording.choices().take(4).collect();
    let text: Vec<String> = first.iter().map(|thread| thread.0.to_string()).collect();
    let beginning: Recording = text.join(" ").parse().unwrap();
    for seed in 0..20 {
        let guided = simulate(&slices(&threads), Box::new(Guided::new(&beginning, uniform())), seed);
        let choices: Vec<ThreadId> = guided.conductor.recording().choices().take(4).collect();
        assert_eq!(choices, first, "seed {seed}");
        assert_eq!(guided.end, Decision::Over);
    }
}

#[test]
fn reorderings_are_reached() {
    let ends = |threads: &[&[Does]], expected| {
        let end = |seed| simulate(threads, Box::new(AtomFuzzer::new(ALWAYS)), seed).end;
        (0..200).filter(|seed| end(*seed) == expected).count()
    };
    // The notification is lost if it comes before the wait.
    let waiter = |acquire: Does| [Sleep(1), acquire, Wait(0), Release(0)];
    let notifier = |acquire: Does| [Sleep(2), acquire, Notify(0), Release(0)];
    assert_eq!(ends(&[&waiter(AcquireLater(0, 1)), &notifier(AcquireEarlier(0, 2))], Decision::Stuck), 200);
    assert_eq!(ends(&[&waiter(AcquireEarlier(0, 1)), &notifier(AcquireLater(0, 2))], Decision::Over), 200);
    // An impossible reordering does not block a thread for ever.
    let first = [AcquireLater(0, 1), Release(0), Unpark(1)];
    let second = [Park, AcquireEarlier(0, 2), Release(0)];
    assert_eq!(ends(&[&first, &second], Decision::Over), 200);
}

/// Threads that acquire and release locks properly nested, wait with a time-out, notify and sleep.
fn programs() -> impl proptest::strategy::Strategy<Value = Vec<Vec<Does>>> {
    let step = (0_u8..6, 0_u32..3);
    let thread = proptest::collection::vec(step, 0..12).prop_map(|steps| {
        let mut does = Vec::new();
        let mut held = Vec::new();
        for (site, (kind, lock)) in (1..).zip(steps) {
            match kind {
                0 | 1 => {
                    held.push(lock);
                    does.push(Acquire(lock, site));
                }
                2 => does.extend(held.pop().map(Release)),
                3 => does.extend(held.last().map(|lock| WaitFor(*lock, 1_000))),
                4 => does.extend(held.last().map(|lock| NotifyAll(*lock))),
                _ => does.push(Sleep(u64::from(lock) * 1_000)),
            }
        }
        does.extend(held.into_iter().rev().map(Release));
        does
    });
    proptest::collection::vec(thread, 1..4)
}

/// Whether no two threads were ever in one monitor at the same time.
fn excludes(threads: &[&[Does]], done: &[(u32, usize)]) -> bool {
    let mut owners: [Vec<u32>; 3] = Default::default();
    done.iter().all(|&(thread, step)| {
        match threads[thread as usize][step] {
            Acquire(lock, _) => owners[lock as usize].push(thread),
            Release(lock) => {
                owners[lock as usize].pop();
            }
            _ => {}
        }
        owners.iter().all(|owners| owners.iter().all(|owner| *owner == owners[0]))
    })
}

proptest! {
    #[test]
    fn executions_are_legal_and_follow_from_the_seed(threads in programs(), seed in 0_u64..1_000) {
        let threads = slices(&threads);
        let has_waits = threads.iter().any(|thread| thread.iter().any(|does| matches!(does, WaitFor(..))));
        for strategy in [uniform, || Box::new(AtomFuzzer::new(HALF)) as Box<dyn Strategy>] {
            let result = simulate(&threads, strategy(), seed);
            prop_assert!(matches!(result.end, Decision::Over | Decision::Stuck));
            if result.end == Decision::Stuck {
                prop_assert!(!result.conductor.stuck().circle.is_empty());
            }
            // A waiting thread has released its monitor, which this simple check does not model.
            prop_assert!(has_waits || excludes(&threads, &result.done));
            let again = simulate(&threads, strategy(), seed);
            prop_assert_eq!(&again.done, &result.done);
            let replay = simulate(&threads, Box::new(Replay::new(result.conductor.recording())), seed + 1);
            prop_assert_eq!(&replay.done, &result.done);
            prop_assert_eq!(replay.conductor.strategy().departure(), None);
        }
    }
}

/// A strategy with a defect: it makes the same choice whether it is possible or not.
struct Always(Choice);

impl Strategy for Always {
    fn choose(&mut self, _view: &View<'_>, _random: &mut Random) -> Choice {
        self.0
    }
}

#[test]
#[should_panic(expected = "the strategy chose thread 7, which cannot run")]
fn a_choice_that_is_no_candidate_is_reported() {
    simulate(&[&FIGURE_1[0], &FIGURE_1[1]], Box::new(Always(Choice::Run(ThreadId(7)))), 1);
}

#[test]
#[should_panic(expected = "no thread waits for a time")]
fn time_that_passes_for_no_thread_is_reported() {
    simulate(&[&FIGURE_1[0], &FIGURE_1[1]], Box::new(Always(Choice::Sleepers)), 1);
}

#[test]
#[should_panic(expected = "thread 3 was never announced")]
fn an_operation_of_an_unknown_thread_is_reported() {
    Conductor::new(Box::new(Sequential), 1, LIMITS).unpark(None, ThreadId(3));
}

#[test]
#[should_panic(expected = "thread 0 is started, but it was started before")]
fn a_second_start_is_reported() {
    let mut conductor = Conductor::new(Box::new(Sequential), 1, LIMITS);
    let thread = conductor.announce("main", false);
    conductor.start(thread, None);
    conductor.start(thread, None);
}

#[test]
fn a_thread_that_waits_for_an_event_runs_once_it_has_happened() {
    let client: &[Does] = &[Yield, Cause(1), AwaitEvent(2), Yield];
    let server: &[Does] = &[AwaitEvent(1), Yield, Cause(2)];
    for seed in 0..100 {
        let result = simulate(&[client, server], Box::new(Uniform), seed);
        assert_eq!(result.end, Decision::Over, "{seed}");
        assert_eq!(result.wakes, [(1, Wake::Called), (0, Wake::Called)], "{seed}");
        assert!(!result.conductor.has_late_events());
    }
}

#[test]
fn an_event_that_never_happens_leaves_its_thread_stuck_or_times_out() {
    let waiting: &[Does] = &[AwaitEvent(1)];
    let result = simulate(&[waiting, &[Yield]], Box::new(Uniform), 1);
    assert_eq!(result.end, Decision::Stuck);
    assert_eq!(result.conductor.stuck().threads[0].waits_for, WaitsFor::Event);
    let timed: &[Does] = &[AwaitEventFor(1, 1_000_000_000)];
    let result = simulate(&[timed, &[Sleep(10), Yield, Sleep(20)]], Box::new(Uniform), 1);
    assert_eq!((result.end, result.wakes.last()), (Decision::Over, Some(&(0, Wake::TimedOut))));
}

#[test]
fn only_an_interruptible_wait_for_an_event_ends_by_an_interrupt() {
    let interrupts: &[Does] = &[Sleep(1_000_000), Interrupt(0)];
    let result = simulate(&[&[AwaitEvent(1)], interrupts], Box::new(Uniform), 1);
    assert_eq!((result.end, result.wakes.last()), (Decision::Over, Some(&(0, Wake::Interrupted))));
    let result = simulate(&[&[AwaitEventFor(1, 1_000_000_000)], interrupts], Box::new(Uniform), 1);
    assert_eq!((result.end, result.wakes.last()), (Decision::Over, Some(&(0, Wake::TimedOut))));
}

#[test]
fn time_does_not_jump_while_an_event_from_outside_is_expected() {
    let timed: &[Does] = &[AwaitEventFor(FROM_OUTSIDE, 1_000_000_000)];
    let mut result = simulate(&[timed, &[Sleep(2_000_000_000)]], Box::new(Uniform), 1);
    assert_eq!(result.end, Decision::Stuck);
    assert_eq!(result.conductor.expected_event(), Expectation::Input);
    assert_eq!(result.conductor.wait_for_events(500_000_000), Decision::Stuck);
    assert_eq!(result.conductor.wait_for_events(600_000_000), Decision::Run(ThreadId(0)));
    assert_eq!(result.conductor.take_wake(ThreadId(0)), Some(Wake::TimedOut));
    assert!(result.conductor.has_late_events());
}

#[test]
fn readers_hold_a_shared_lock_side_by_side() {
    let mut conductor = Conductor::new(Box::new(Sequential), 1, LIMITS);
    let readers = ["first", "second"].map(|name| conductor.announce(name, false));
    for reader in readers {
        conductor.acquired(reader, LockId(1), SiteId(1), true);
    }
    conductor.release(readers[0], LockId(1));
    let held = readers.map(|reader| conductor.held(reader).count());
    assert_eq!(held, [0, 1]);
}

#[test]
fn a_thread_that_is_not_controlled_wakes_another_when_no_thread_can_run() {
    let park = Operation::Park { until: None, site: SiteId(1) };
    let sleep = Operation::Sleep { until: 1_000_000_000, site: SiteId(2) };
    let arrive = |conductor: &mut Conductor, thread, operation| {
        let (acquire_role, role) = Default::default();
        conductor.arrive(
            thread,
            Arrival { operation, is_quiet: false, stays: false, acquire_role, role, parts: Parts::default() },
        )
    };
    type Wakes = fn(&mut Conductor, ThreadId);
    let wakes: [(Wakes, Wake); 2] = [
        (|conductor, thread| conductor.unpark_from_outside(thread), Wake::Called),
        (|conductor, thread| conductor.interrupt_from_outside(thread), Wake::Interrupted),
    ];
    for (wake, expected) in wakes {
        let mut conductor = Conductor::new(Box::new(Sequential), 1, LIMITS);
        let [first, second] = ["first", "second"].map(|name| conductor.announce(name, false));
        conductor.adopt(first);
        conductor.start(second, Some(first));
        assert_eq!(arrive(&mut conductor, first, park), Decision::Run(second));
        wake(&mut conductor, first);
        let step = Operation::Step { site: SiteId(3) };
        assert_eq!(arrive(&mut conductor, second, step), Decision::Run(second));
        assert!(!conductor.has_foreign_wakes());
        assert_eq!(arrive(&mut conductor, second, sleep), Decision::Run(first));
        assert!(conductor.has_foreign_wakes());
        assert_eq!(conductor.take_wake(first), Some(expected));
    }
}

#[test]
fn a_notification_from_outside_wakes_those_that_still_wait() {
    let result =
        simulate(&[&[Acquire(1, 1), Wait(1), Release(1)], &[Acquire(1, 2), Wait(1)]], Box::new(Uniform), 1);
    let mut conductor = result.conductor;
    assert_eq!(result.end, Decision::Stuck);
    assert!(!conductor.notify_from_outside(LockId(2), true));
    assert!(conductor.notify_from_outside(LockId(1), true));
    conductor.notify(None, LockId(1), false, SiteId(1));
    assert!(matches!(conductor.retry(), Decision::Run(_)));
    assert!(!conductor.has_foreign_wakes(), "the other notification is enough for one thread");
}

#[test]
fn threads_that_are_left_finish_without_choices_and_without_time() {
    let mut conductor = Conductor::new(Box::new(Preemptions::new(2)), 0, LIMITS);
    let [first, second, third] = ["first", "second", "third"].map(|name| conductor.announce(name, false));
    [first, second, third].into_iter().for_each(|thread| conductor.prepare(thread));
    assert!(conductor.knows(third) && !conductor.knows(ThreadId(3)));
    assert_eq!(conductor.retry(), Decision::Run(first));
    conductor.finish();
    assert_eq!(conductor.end(first), Decision::Run(second));
    let site = SiteId(1);
    let arrive = |operation| {
        let (acquire_role, role) = Default::default();
        Arrival { operation, is_quiet: false, stays: false, acquire_role, role, parts: Parts::default() }
    };
    // A thread that can go on does, and one that waits for a time is left.
    assert_eq!(conductor.arrive(second, arrive(Operation::Step { site })), Decision::Run(second));
    let sleep = Operation::Sleep { until: 1_000_000_000, site };
    assert_eq!(conductor.arrive(second, arrive(sleep)), Decision::Run(third));
    assert_eq!(conductor.end(third), Decision::Stuck);
    // The only choice of the strategy was the first one.
    assert!(conductor.repeat());
    assert_eq!(conductor.strategy().explored().unwrap().executions, 1);
}
