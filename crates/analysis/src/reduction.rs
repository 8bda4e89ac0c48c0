//! Atomizer: executions of blocks that cannot be reduced to ones that no other thread interrupted.
//!
//! C. Flanagan and S. N. Freund, "Atomizer: A Dynamic Atomicity Checker For Multithreaded Programs", POPL 2004 (the
//! summary is what was at hand); R. J. Lipton, "Reduction: A method of proving properties of parallel programs", 1975.
//!
//! Kept from the papers: an execution of a block is atomic if it consists of right movers, at most one non-mover, and left
//! movers. An acquire moves right, a release moves left, an access that its lock protects moves both ways, one
//! that races does not move. Everything up to the *commit*, the first action that does not move right, happens as if it
//! were just before it; the first action after the commit that does not move left breaks the pattern.
//!
//! | action | moves |
//! |---|---|
//! | acquire / release | right / left |
//! | wait | left, then right |
//! | access that races, also to volatile fields and atomics | not at all |
//! | thread start / join | left / right |
//! | everything else | both ways, and is no [`Action`] |
//!
//! The refinements of the extended Atomizer are [`Refinement`]s: re-entrant acquires, locks of one thread alone, and locks
//! that are always acquired under another one move both ways. The last two come from one idea: a lock is taken for a location
//! that its acquires write, and the lock-set machine tells whether that location races ([`Machine::step_lock`]).
//!
//! Where we deviate:
//! - What is known of locks and locations grows during a run, so that judging a block when it ends is too early: a thread
//!   that runs its block once before any other thread comes along would always pass. An execution that breaks the pattern
//!   if everything is shared is kept ([`Reduction::ended`]) and judged again with each [`Fact`] that it depends on
//!   ([`Reduction::learn`]). So the verdict at the end of a run does not depend on when a block ended.
//! - Blocks are judged one by one, each with its own phase. One that breaks because a block inside of it does is not
//!   reported.
//! - Which accesses race is told by pairs of accesses, not by an empty lock set: a variable that is written under its lock
//!   and read without it has reads under the lock that move both ways, reads without it and writes that do not.
//!
//! [`Machine::step_lock`]: crate::lockset::Machine::step_lock

pub mod trace;

use rustc_hash::{FxHashMap, FxHashSet};
use smallvec::SmallVec;

use fissure_model::settings::Refinement;

/// What a thread does inside a block, as far as it does not move both ways for sure. A lock is named by a number that stands for
/// it in one part of a thread's life, for the same lock may be the thread's own before it starts others.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Operation {
    /// A lock is acquired.
    Acquire(u32),
    /// A lock is given back.
    Release(u32),
    /// A lock that the thread holds already is acquired once more.
    AcquireAgain(u32),
    /// It is given back, but not for the last time.
    ReleaseAgain(u32),
    /// A lock is given back, and acquired again after a notification.
    Wait(u32),
    /// A location is accessed. The number stands for all that decides whether the access races; [`RACY`] if it does.
    Access(u64),
    /// A thread is started.
    Start,
    /// A thread was joined.
    Join,
}

/// Stands for an access that is known to race.
pub const RACY: u64 = 0;

/// One operation at its place.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Action {
    /// What is done.
    pub operation: Operation,
    /// Where in the code.
    pub site: u32,
    /// Whatever the front end wants to find again, such as the number of a stack. Takes no part in comparing executions.
    pub note: u64,
}

/// Something that was found out and changes how operations move. Facts stay true.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Fact {
    /// A lock is acquired by several threads, in no order and under no common other lock.
    Contended(u32),
    /// Several threads acquire a lock, always under a common other lock. Matters only without
    /// [`Refinement::ThreadLocalLock`].
    Protected(u32),
    /// The accesses that this number stands for race.
    Racy(u64),
}

/// How an operation moves.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Mover {
    /// Past operations of other threads in both directions.
    Both,
    /// To a later time.
    Right,
    /// To an earlier time.
    Left,
    /// Not at all.
    Non,
    /// Left, and then right.
    LeftThenRight,
}

/// Where the pattern is broken: places in a list of actions.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Break {
    /// The first action that does not move right.
    pub commit: usize,
    /// The first action after it, or the same one, that does not move left.
    pub violation: usize,
}

/// One execution of a block.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Execution {
    /// The block, by its site.
    pub block: u32,
    /// What was done in it.
    pub actions: Vec<Action>,
    /// The executions of blocks inside of it, by their numbers.
    pub inner: Vec<u32>,
}

/// Keeps executions and tells which of them break the pattern.
#[derive(Debug)]
pub struct Reduction {
    rules: Rules,
    facts: FxHashSet<Fact>,
    executions: Vec<Kept>,
    /// The executions of each hash of what they do.
    known: FxHashMap<u64, SmallVec<[u32; 1]>>,
    /// How many executions of each block are kept.
    per_block: FxHashMap<u32, u32>,
    /// Who is to be judged again.
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

/// Executions beyond this number are judged once, when they end.
const MOST_KEPT: usize = 1 << 14;
/// The same for one block, which may run on ever other locks.
const MOST_OF_ONE_BLOCK: u32 = 256;

/// Judges a list of actions.
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
    /// Knows nothing yet, and leaves out some refinements.
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

    /// Takes an execution that has ended. Gives the number under which it, or one that did the same, is kept (none if
    /// there were too many), and whether it breaks the pattern by what is known now.
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

    /// Takes note of a fact; gives the executions that break the pattern because of it, inner ones before outer ones.
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

    /// Where the execution of this number was first found to break the pattern, if it does.
    pub fn broken(&self, number: u32) -> Option<Break> {
        self.executions.get(number as usize).and_then(|kept| kept.broken)
    }

    /// All executions that break the pattern and have none inside that does: the ones to report, by all that is known now.
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

    /// How many executions were judged only once, because there were too many.
    pub fn dropped(&self) -> u64 {
        self.dropped
    }

    fn judge(&self, execution: &Execution) -> Option<Break> {
        reduce(&execution.actions, |operation| self.mover(operation))
    }

    /// How an operation moves by what is known now.
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
            Operation::Access(place) => unless(!self.facts.contains(&Fact::Racy(place)), Mover::Non),
            Operation::Start => Mover::Left,
            Operation::Join => Mover::Right,
        }
    }

    /// Whether no other thread can come between an acquire of this lock and the next.
    fn is_private(&self, lock: u32) -> bool {
        !self.facts.contains(&Fact::Contended(lock))
            && (self.rules.thread_local
                || self.rules.protected && self.facts.contains(&Fact::Protected(lock)))
    }

    /// What would have to be found out for some of these actions to move less than they do now.
    fn open_facts(&self, actions: &[Action]) -> FxHashSet<Fact> {
        let open = actions.iter().filter_map(|action| match action.operation {
            Operation::Acquire(lock)
            | Operation::Release(lock)
            | Operation::AcquireAgain(lock)
            | Operation::ReleaseAgain(lock)
            | Operation::Wait(lock) => Some(Fact::Contended(lock)),
            Operation::Access(place) if place != RACY => Some(Fact::Racy(place)),
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
