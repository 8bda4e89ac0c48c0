//! Properties that hold for every trace.

use proptest::{collection::vec, prelude::*};

use fissure_model::{
    event::{AccessKind, Event, LockMode},
    ids::{LocationId, LockId, SiteId, ThreadId},
};

use super::{
    AtomicityDetector, Violation,
    tests::{Step, feed},
};

const MAIN: ThreadId = ThreadId(0);
const THREADS: u32 = 3;
const LOCKS: u32 = 4;

fn acquire(thread: ThreadId, lock: LockId) -> Step {
    Step::Event(Event::Acquire { thread, lock, mode: LockMode::Exclusive })
}

fn release(thread: ThreadId, lock: LockId) -> Step {
    Step::Event(Event::Release { thread, lock })
}

fn access(thread: ThreadId, location: u32, kind: AccessKind) -> Step {
    Step::Event(Event::Access { thread, location: LocationId(u64::from(location)), kind, site: SiteId(0) })
}

fn starts() -> Vec<Step> {
    (1..=THREADS).map(|child| Step::Event(Event::Start { parent: MAIN, child: ThreadId(child) })).collect()
}

/// Runs steps, each with its site.
fn run(steps: impl IntoIterator<Item = (Step, u32)>) -> Vec<Violation> {
    let mut detector = AtomicityDetector::new(&[]);
    for (step, site) in steps {
        feed(&mut detector, step, site);
    }
    detector.violations()
}

/// One block that is executed serially: its thread, its locks, and its uses of one of the locks, which access the lock's variable or
/// acquire the lock re-entrantly.
#[derive(Debug, Clone)]
struct SerialBlock {
    thread: u32,
    locks: Vec<u32>,
    uses: Vec<(usize, Use)>,
}

#[derive(Debug, Clone, Copy)]
enum Use {
    Read,
    Write,
    Again,
}

fn serial_block() -> impl Strategy<Value = SerialBlock> {
    let uses = prop_oneof![Just(Use::Read), Just(Use::Write), Just(Use::Again)];
    (1..=THREADS, vec(0..LOCKS, 1..4), vec((0..3_usize, uses), 0..6))
        .prop_map(|(thread, locks, uses)| SerialBlock { thread, locks, uses })
}

/// All locks are acquired before any is released, and a variable is named by its one lock.
fn steps_of(block: &SerialBlock, site: u32) -> Vec<Step> {
    let thread = ThreadId(block.thread);
    let lock = |at: usize| LockId(block.locks[at]);
    let mut steps = vec![acquire(thread, lock(0)), Step::Enter(thread, site, Some(lock(0)))];
    steps.extend((1..block.locks.len()).map(|at| acquire(thread, lock(at))));
    for &(at, what) in &block.uses {
        let lock = lock(at % block.locks.len());
        match what {
            Use::Read => steps.push(access(thread, lock.0, AccessKind::Read)),
            Use::Write => steps.push(access(thread, lock.0, AccessKind::Write)),
            Use::Again => steps.extend([acquire(thread, lock), release(thread, lock)]),
        }
    }
    steps.extend((1..block.locks.len()).rev().map(|at| release(thread, lock(at))));
    steps.extend([Step::Exit(thread), release(thread, lock(0))]);
    steps
}

/// The next operation of a thread; operations that are not possible are skipped.
#[derive(Debug, Clone, Copy)]
enum Choice {
    Lock(u32),
    Unlock,
    Access(u32, bool),
    Enter,
    Exit,
    Wait,
}

fn choice() -> impl Strategy<Value = Choice> {
    prop_oneof![
        3 => (0..LOCKS).prop_map(Choice::Lock),
        3 => Just(Choice::Unlock),
        4 => (0..3_u32, any::<bool>()).prop_map(|(location, write)| Choice::Access(location, write)),
        2 => Just(Choice::Enter),
        1 => Just(Choice::Exit),
        1 => Just(Choice::Wait),
    ]
}

/// A run of all threads in which a lock has one owner at a time and in which locks and blocks are well nested.
fn interleave(choices: &[(u32, Choice)]) -> Vec<Step> {
    let mut steps = starts();
    let mut nesting: Vec<Vec<Option<LockId>>> = vec![Vec::new(); THREADS as usize + 1];
    for &(number, choice) in choices {
        let thread = ThreadId(number);
        let (own, others): (Vec<_>, Vec<_>) =
            nesting.iter().enumerate().partition(|&(other, _)| other == number as usize);
        let is_free = |lock: LockId| others.iter().all(|(_, nested)| !nested.contains(&Some(lock)));
        let top = own[0].1.last().copied();
        match (choice, top) {
            (Choice::Lock(lock), _) if is_free(LockId(lock)) => {
                steps.push(acquire(thread, LockId(lock)));
                nesting[number as usize].push(Some(LockId(lock)));
            }
            (Choice::Unlock, Some(Some(lock))) => {
                steps.push(release(thread, lock));
                nesting[number as usize].pop();
            }
            (Choice::Access(location, write), _) => {
                let kind = if write { AccessKind::Write } else { AccessKind::Read };
                steps.push(access(thread, location, kind));
            }
            (Choice::Enter, _) => {
                steps.push(Step::Enter(thread, steps.len() as u32, top.flatten()));
                nesting[number as usize].push(None);
            }
            (Choice::Exit, Some(None)) => {
                steps.push(Step::Exit(thread));
                nesting[number as usize].pop();
            }
            (Choice::Wait, Some(Some(lock))) => steps.push(Step::Wait(thread, lock)),
            _ => {}
        }
    }
    steps
}

/// The thread of a step, and the lock or location that it touches.
fn touches(step: &Step) -> (ThreadId, Option<(bool, u64)>) {
    match *step {
        Step::Event(Event::Acquire { thread, lock, .. } | Event::Release { thread, lock })
        | Step::Wait(thread, lock) => (thread, Some((true, u64::from(lock.0)))),
        Step::Event(Event::Access { thread, location, .. }) => (thread, Some((false, location.0))),
        Step::Event(Event::Start { parent, .. }) => (parent, None),
        Step::Event(Event::Join { thread, .. }) | Step::Enter(thread, ..) | Step::Exit(thread) => {
            (thread, None)
        }
    }
}

fn are_independent(one: &Step, other: &Step) -> bool {
    let is_start = |step: &Step| matches!(step, Step::Event(Event::Start { .. }));
    let ((one_thread, one_thing), (other_thread, other_thing)) = (touches(one), touches(other));
    !is_start(one)
        && !is_start(other)
        && one_thread != other_thread
        && (one_thing.is_none() || one_thing != other_thing)
}

proptest! {
    #[test]
    fn serial_blocks_with_one_lock_per_variable_are_never_reported(
        blocks in vec(serial_block(), 1..12),
    ) {
        let blocks = blocks.iter().enumerate().flat_map(|(site, block)| steps_of(block, site as u32));
        let steps = starts().into_iter().chain(blocks).enumerate().map(|(site, step)| (step, site as u32));
        prop_assert_eq!(run(steps), []);
    }

    #[test]
    fn the_order_of_independent_events_does_not_matter(
        choices in vec((1..=THREADS, choice()), 1..60),
        swaps in vec(any::<prop::sample::Index>(), 0..200),
    ) {
        let mut steps: Vec<(Step, u32)> =
            interleave(&choices).into_iter().enumerate().map(|(site, step)| (step, site as u32)).collect();
        let before = run(steps.iter().copied());
        for swap in swaps {
            let at = swap.index(steps.len());
            if at + 1 < steps.len() && are_independent(&steps[at].0, &steps[at + 1].0) {
                steps.swap(at, at + 1);
            }
        }
        prop_assert_eq!(run(steps.iter().copied()), before);
    }
}
