//! Atomizer: finds executions of blocks that cannot be reduced to serial ones.
//!
//! C. Flanagan and S. N. Freund, "Atomizer: A Dynamic Atomicity Checker For Multithreaded Programs", POPL 2004 (only the
//! summary was available); R. J. Lipton, "Reduction: A method of proving properties of parallel programs", 1975.
//!
//! Kept from the papers: an execution of a block is atomic if it consists of right movers, at most one non-mover, and left
//! movers. An acquire is a right mover, a release a left mover, an access that its lock protects a both-mover, and a racy
//! access a non-mover. The *commit* is the first action that is not a right mover; all actions before it can be moved up to
//! it. The first action after the commit that is not a left mover breaks the pattern.
//!
//! | action | mover |
//! |---|---|
//! | acquire / release | right / left |
//! | wait | left, then right |
//! | racy access, also to volatile fields and atomics | non |
//! | thread start / join | left / right |
//! | all others | both; they are not recorded as an [`Action`] |
//!
//! The refinements of the extended Atomizer are [`Refinement`]s: operations on re-entrant locks, on locks of a single thread,
//! and on locks that are always acquired under another one are both-movers. The last two use one idea: a lock is treated as
//! a location that its acquires write, and the lock-set machine decides whether that location races ([`Machine::step_lock`]).
//!
//! Where we deviate:
//! - Knowledge about locks and locations grows during a run, so that judging a block when it ends is too early: a block that
//!   a thread executes once before any other thread exists would always pass. An execution is kept ([`Reduction::ended`]) and
//!   judged again with each [`Fact`] that it depends on ([`Reduction::learn`]). The verdict at the end of a run therefore
//!   does not depend on when a block ended.
//! - Each block is judged separately, with its own commit. A block that breaks the pattern because a block inside of it does
//!   is not reported.
//! - Pairs of accesses decide which accesses race, not an empty lock set. If a variable is written under its lock and also
//!   read without it, the locked reads are both-movers, the unlocked reads and the writes are non-movers.
//!
//! [`Machine::step_lock`]: crate::lockset::Machine::step_lock

pub mod trace;

use rustc_hash::{FxHashMap, FxHashSet};
use smallvec::SmallVec;

use fissure_model::settings::Refinement;

/// An operation inside a block that may not be a both-mover. A number stands for a lock in one segment of a thread, because a
/// lock may be thread-local before the thread starts others.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Operation {
    /// A lock is acquired.
    Acquire(u32),
    /// A lock is released.
    Release(u32),
    /// A lock is acquired re-entrantly.
    AcquireAgain(u32),
    /// A re-entrant acquire is released.
    ReleaseAgain(u32),
    /// A lock is released, and acquired again after a notification.
    Wait(u32),
    /// A location is accessed. The number stands for all accesses that race if this one does; [`RACY`] if it is known to race.
    Access(u64),
    /// A thread is started.
    Start,
    /// A thread was joined.
    Join,
}

/// The number of an access that is known to race.
pub const RACY: u64 = 0;

/// One operation at its site.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Action {
    /// The operation.
    pub operation: Operation,
    /// The site.
    pub site: u32,
    /// A number for the front end, such as that of a stack. Comparisons of executions ignore it.
    pub note: u64,
}

/// A fact about locks or accesses that changes which mover an operation is. Facts stay true.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Fact {
    /// Several threads acquire a lock, unordered and without a common other lock.
    Contended(u32),
    /// Several threads acquire a lock, always under a common other lock. Relevant only without
    /// [`Refinement::ThreadLocalLock`].
    Protected(u32),
    /// The accesses with this number race.
    Racy(u64),
}

/// How an operation commutes with operations of other threads.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Mover {
    /// It can be moved in both directions.
    Both,
    /// It can be moved to a later time.
    Right,
    /// It can be moved to an earlier time.
    Left,
    /// It cannot be moved.
    Non,
    /// A left mover followed by a right mover.
    LeftThenRight,
}

/// Where a list of actions breaks the pattern, as indices.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Break {
    /// The first action that is not a right mover.
    pub commit: usize,
    /// The first action after it, or the same one, that is not a left mover.
    pub violation: usize,
}

/// One execution of a block.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Execution {
    /// The site of the block.
    pub block: u32,
    /// The actions inside of it.
    pub actions: Vec<Action>,
    /// The executions of blocks inside of it, by their numbers.
    pub inner: Vec<u32>,
}

/// Keeps executions and determines which of them break the pattern.
#[derive(Debug)]
pub struct Reduction {
    rules: Rules,
    facts: FxHashSet<Fact>,
    executions: Vec<Kept>,
    /// The executions by the hash of their actions.
    known: FxHashMap<u64, SmallVec<[u32; 1]>>,
    /// How many executions of each block are kept.
    per_block: FxHashMap<u32, u32>,
    /// The executions to judge again once a fact is known.
    waiting: FxHashMap<Fact, Vec<u32>>,
    dropped: u64,
}

#[derive(Debug)]
struct Kept {
    execution: Execution,
    broken: Option<Break>,
}

#[derive(Debug, Clone, Copy)]
struct Rules {
    re_entrant: bool,
    thread_local: bool,
    protected: bool,
}

/// Executions beyond this number are judged only once, when they end.
const MOST_KEPT: usize = 1 << 14;
/// The same per block, because a block may use different locks in each execution.
const MOST_OF_ONE_BLOCK: u32 = 256;

/// Checks a list of actions against the pattern.
pub fn reduce(actions: &[Action], mover: impl Fn(Operation) -> Mover) -> Option<Break> {
    let mut commit = None;
    for (at, action) in actions.iter().enumerate() {
        match (mover(action.operation), commit) {
            (Mover::Both, _) | (Mover::Right, None) | (Mover::Left, Some(_)) => {}
            (Mover::Left | Mover::Non, None) => commit = Some(at),
            (Mover::LeftThenRight, None) => return Some(Break { commit: at, violation: at }),
            (Mover::Right | Mover::Non | Mover::LeftThenRight, Some(commit)) => {
                return Some(Break { commit, violation: at });
            }
        }
    }
    None
}

impl Reduction {
    /// Without any facts, and with some refinements disabled.
    pub fn new(without: &[Refinement]) -> Self {
        let has = |rule| !without.contains(&rule);
        Reduction {
            rules: Rules {
                re_entrant: has(Refinement::ReEntrant),
                thread_local: has(Refinement::ThreadLocalLock),
                protected: has(Refinement::ProtectedLock),
            },
            facts: FxHashSet::default(),
            executions: Vec::new(),
            known: FxHashMap::default(),
            per_block: FxHashMap::default(),
            waiting: FxHashMap::default(),
            dropped: 0,
        }
    }

    /// Adds an execution that has ended. Returns the number under which it, or an equal one, is kept (`None` if a bound was
    /// reached), and where it breaks the pattern by the facts known now.
    pub fn ended(&mut self, execution: Execution) -> (Option<u32>, Option<Break>) {
        let hash = hash(&execution);
        let same = |kept: &Kept| {
            let ours = execution.actions.iter().map(|action| (action.operation, action.site));
            let theirs = kept.execution.actions.iter().map(|action| (action.operation, action.site));
            kept.execution.block == execution.block && ours.eq(theirs)
        };
        let numbers = self.known.get(&hash).map_or(&[][..], |numbers| numbers);
        if let Some(&number) = numbers.iter().find(|&&number| same(&self.executions[number as usize])) {
            return (Some(number), self.broken(number));
        }
        let broken = self.judge(&execution);
        let of_this_block = self.per_block.entry(execution.block).or_default();
        if self.executions.len() >= MOST_KEPT || *of_this_block >= MOST_OF_ONE_BLOCK {
            self.dropped += 1;
            return (None, broken);
        }
        *of_this_block += 1;
        let number = self.executions.len() as u32;
        if broken.is_none() {
            for fact in self.open_facts(&execution.actions) {
                self.waiting.entry(fact).or_default().push(number);
            }
        }
        self.known.entry(hash).or_default().push(number);
        self.executions.push(Kept { execution, broken });
        (Some(number), broken)
    }

    /// Adds a fact; returns the executions that break the pattern because of it, inner ones before outer ones.
    pub fn learn(&mut self, fact: Fact) -> Vec<u32> {
        if !self.facts.insert(fact) {
            return Vec::new();
        }
        let mut broken = Vec::new();
        for number in self.waiting.remove(&fact).unwrap_or_default() {
            let at = number as usize;
            if self.executions[at].broken.is_some() {
                continue;
            }
            let verdict = self.judge(&self.executions[at].execution);
            self.executions[at].broken = verdict;
            if verdict.is_some() {
                broken.push(number);
            }
        }
        broken
    }

    /// Whether a fact is known.
    pub fn knows(&self, fact: Fact) -> bool {
        self.facts.contains(&fact)
    }

    /// The execution of this number.
    pub fn execution(&self, number: u32) -> Option<&Execution> {
        self.executions.get(number as usize).map(|kept| &kept.execution)
    }

    /// Where the execution of this number first broke the pattern, if it does.
    pub fn broken(&self, number: u32) -> Option<Break> {
        self.executions.get(number as usize).and_then(|kept| kept.broken)
    }

    /// All executions to report by the facts known now: those that break the pattern while no execution inside of them does.
    pub fn innermost(&self) -> impl Iterator<Item = (u32, &Execution, Break)> {
        (0..self.executions.len() as u32).filter(|&number| self.is_innermost(number)).filter_map(|number| {
            let execution = self.execution(number)?;
            Some((number, execution, self.judge(execution)?))
        })
    }

    /// Whether an execution breaks the pattern and none inside of it does.
    pub fn is_innermost(&self, number: u32) -> bool {
        self.broken(number).is_some()
            && self
                .execution(number)
                .is_some_and(|execution| execution.inner.iter().all(|&inner| self.broken(inner).is_none()))
    }

    /// How many executions were judged only once because of a bound.
    pub fn dropped(&self) -> u64 {
        self.dropped
    }

    fn judge(&self, execution: &Execution) -> Option<Break> {
        reduce(&execution.actions, |operation| self.mover(operation))
    }

    /// Which mover an operation is by the facts known now.
    fn mover(&self, operation: Operation) -> Mover {
        let unless = |both: bool, mover| if both { Mover::Both } else { mover };
        match operation {
            Operation::Acquire(lock) => unless(self.is_private(lock), Mover::Right),
            Operation::Release(lock) => unless(self.is_private(lock), Mover::Left),
            Operation::Wait(lock) => unless(self.is_private(lock), Mover::LeftThenRight),
            Operation::AcquireAgain(lock) => {
                unless(self.rules.re_entrant || self.is_private(lock), Mover::Right)
            }
            Operation::ReleaseAgain(lock) => {
                unless(self.rules.re_entrant || self.is_private(lock), Mover::Left)
            }
            Operation::Access(RACY) => Mover::Non,
            Operation::Access(access) => unless(!self.facts.contains(&Fact::Racy(access)), Mover::Non),
            Operation::Start => Mover::Left,
            Operation::Join => Mover::Right,
        }
    }

    /// Whether no other thread can acquire this lock between two acquires of one thread.
    fn is_private(&self, lock: u32) -> bool {
        !self.facts.contains(&Fact::Contended(lock))
            && (self.rules.thread_local
                || self.rules.protected && self.facts.contains(&Fact::Protected(lock)))
    }

    /// The facts, not known yet, that would restrict how some of these actions move.
    fn open_facts(&self, actions: &[Action]) -> FxHashSet<Fact> {
        let open = actions.iter().filter_map(|action| match action.operation {
            Operation::Acquire(lock)
            | Operation::Release(lock)
            | Operation::AcquireAgain(lock)
            | Operation::ReleaseAgain(lock)
            | Operation::Wait(lock) => Some(Fact::Contended(lock)),
            Operation::Access(access) if access != RACY => Some(Fact::Racy(access)),
            Operation::Access(_) | Operation::Start | Operation::Join => None,
        });
        open.filter(|fact| !self.facts.contains(fact)).collect()
    }
}

fn hash(execution: &Execution) -> u64 {
    use std::hash::{Hash, Hasher};
    let mut hasher = rustc_hash::FxHasher::default();
    execution.block.hash(&mut hasher);
    for action in &execution.actions {
        (action.operation, action.site).hash(&mut hasher);
    }
    hasher.finish()
}
