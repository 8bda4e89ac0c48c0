//! Atomizer driven by a list of events.
//!
//! A front end that cannot afford to process every access calls [`Reduction`] itself with selected ones; here every event is
//! processed, which suffices for a recorded trace or a test.

use rustc_hash::FxHashMap;

use fissure_model::{
    event::{AccessKind, Event, LockMode},
    ids::{LocationId, LockId, ThreadId},
    settings::{Analysis, Refinement},
};

use super::{Action, Break, Execution, Fact, Operation, Reduction};
use crate::{
    lockset::{Access, Machine},
    locksets::EMPTY,
    order::Segment,
    word::{State, Word},
};

/// A block whose execution cannot be reduced.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Violation {
    /// The block.
    pub block: u32,
    /// The site of the commit.
    pub commit: u32,
    /// The site of the action that breaks the pattern.
    pub violation: u32,
}

/// Runs Atomizer on a trace.
#[derive(Debug)]
pub struct AtomicityDetector {
    machine: Machine,
    reduction: Reduction,
    protected_rule: bool,
    words: FxHashMap<LocationId, Word>,
    lock_words: FxHashMap<LockId, Word>,
    /// The numbers of locks in segments of threads.
    uses: FxHashMap<(LockId, Segment), u32>,
    numbers: FxHashMap<ThreadId, ThreadId>,
    threads: FxHashMap<ThreadId, Thread>,
    /// The accesses inside blocks, by location.
    open: FxHashMap<LocationId, Vec<(u64, Access)>>,
    last_access: u64,
}

#[derive(Debug, Default)]
struct Thread {
    held: Vec<(LockId, LockMode)>,
    blocks: Vec<Block>,
}

#[derive(Debug)]
struct Block {
    site: u32,
    lock: Option<LockId>,
    waited: bool,
    actions: Vec<Action>,
    inner: Vec<u32>,
}

impl AtomicityDetector {
    /// A detector with some refinements disabled.
    pub fn new(without: &[Refinement]) -> Self {
        AtomicityDetector {
            machine: Machine::new(Analysis::Racer).following(),
            reduction: Reduction::new(without),
            protected_rule: !without.contains(&Refinement::ProtectedLock),
            words: FxHashMap::default(),
            lock_words: FxHashMap::default(),
            uses: FxHashMap::default(),
            numbers: FxHashMap::default(),
            threads: FxHashMap::default(),
            open: FxHashMap::default(),
            last_access: 0,
        }
    }

    /// A block begins. The block of a lock begins after the acquire and ends before the release.
    pub fn enter(&mut self, thread: ThreadId, site: u32, lock: Option<LockId>) {
        let block = Block { site, lock, waited: false, actions: Vec::new(), inner: Vec::new() };
        self.threads.entry(thread).or_default().blocks.push(block);
    }

    /// The innermost block ends. A block that waited on its own lock is not expected to be atomic.
    pub fn exit(&mut self, thread: ThreadId) {
        let state = self.threads.entry(thread).or_default();
        let Some(block) = state.blocks.pop() else { return };
        let mut inner = block.inner.clone();
        if !block.waited {
            let execution = Execution { block: block.site, actions: block.actions, inner: block.inner };
            inner.extend(self.reduction.ended(execution).0);
        }
        if let Some(outer) = state.blocks.last_mut() {
            outer.inner.extend(inner);
        }
    }

    /// The thread waits on a lock that it holds.
    pub fn wait(&mut self, thread: ThreadId, lock: LockId, site: u32) {
        for block in &mut self.threads.entry(thread).or_default().blocks {
            block.waited |= block.lock == Some(lock);
        }
        let number = self.use_of(thread, lock);
        self.act(thread, Operation::Wait(number), site);
    }

    /// Processes one event.
    pub fn event(&mut self, event: &Event, site: u32) {
        match *event {
            Event::Acquire { thread, lock, mode } => self.acquire(thread, lock, mode, site),
            Event::Release { thread, lock } => {
                let held = &mut self.threads.entry(thread).or_default().held;
                let Some(at) = held.iter().rposition(|&(other, _)| other == lock) else { return };
                held.remove(at);
                let is_last = held.iter().all(|&(other, _)| other != lock);
                let release = if is_last { Operation::Release } else { Operation::ReleaseAgain };
                let number = self.use_of(thread, lock);
                self.act(thread, release(number), site);
            }
            Event::Start { parent, child } => {
                let number = self.number(parent);
                let started = self.machine.start(number);
                self.numbers.insert(child, started);
                self.act(parent, Operation::Start, site);
            }
            Event::Join { thread, ended } => {
                let (number, ended) = (self.number(thread), self.number(ended));
                self.machine.join(number, ended);
                self.act(thread, Operation::Join, site);
            }
            Event::Access { thread, location, kind, .. } => self.access(thread, location, kind, site),
        }
    }

    /// The blocks that are not atomic by the facts known now, each with its sites, in a fixed order.
    pub fn violations(&self) -> Vec<Violation> {
        let violation = |(_, execution, broken): (u32, &Execution, Break)| Violation {
            block: execution.block,
            commit: execution.actions[broken.commit].site,
            violation: execution.actions[broken.violation].site,
        };
        let mut violations: Vec<Violation> = self.reduction.innermost().map(violation).collect();
        violations.sort();
        violations.dedup();
        violations
    }

    fn acquire(&mut self, thread: ThreadId, lock: LockId, mode: LockMode, site: u32) {
        let kind = if mode == LockMode::Exclusive { AccessKind::Write } else { AccessKind::Read };
        let set = if self.protected_rule { self.set(thread, kind) } else { EMPTY };
        let held = &mut self.threads.entry(thread).or_default().held;
        let is_first = held.iter().all(|&(other, _)| other != lock);
        held.push((lock, mode));
        if !is_first {
            let number = self.use_of(thread, lock);
            self.act(thread, Operation::AcquireAgain(number), site);
            return;
        }
        let number = self.number(thread);
        let access = Access { segment: self.machine.span(number), kind, set, site };
        let word = self.lock_words.get(&lock).copied().unwrap_or(Word::VIRGIN);
        let next = self.machine.step_lock(word, access);
        self.lock_words.insert(lock, next);
        let number = self.use_of(thread, lock);
        for (&(used, segment), &number) in &self.uses {
            if used != lock {
                continue;
            }
            if self.machine.is_contended(next, segment) {
                self.reduction.learn(Fact::Contended(number));
            } else if matches!(next.state(), State::Shared | State::SharedModified) && next.set() != EMPTY {
                self.reduction.learn(Fact::Protected(number));
            }
        }
        self.act(thread, Operation::Acquire(number), site);
    }

    /// The number of a lock in the thread's current segment.
    fn use_of(&mut self, thread: ThreadId, lock: LockId) -> u32 {
        let thread = self.number(thread);
        let segment = self.machine.span(thread);
        let next = self.uses.len() as u32;
        let number = *self.uses.entry((lock, segment)).or_insert(next);
        if self.lock_words.get(&lock).is_some_and(|&word| self.machine.is_contended(word, segment)) {
            self.reduction.learn(Fact::Contended(number));
        }
        number
    }

    fn access(&mut self, thread: ThreadId, location: LocationId, kind: AccessKind, site: u32) {
        let set = self.set(thread, kind);
        let number = self.number(thread);
        let access = Access { segment: self.machine.order.segment(number), kind, set, site };
        let word = self.words.get(&location).copied().unwrap_or(Word::VIRGIN);
        let next = self.machine.step(word, access).word;
        self.words.insert(location, next);
        if !self.machine.is_initial(next) && !self.threads.entry(thread).or_default().blocks.is_empty() {
            self.last_access += 1;
            let judged = Access { segment: self.machine.span(number), ..access };
            self.open.entry(location).or_default().push((self.last_access, judged));
            self.act(thread, Operation::Access(self.last_access), site);
        }
        for &(number, earlier) in self.open.get(&location).map_or(&[][..], Vec::as_slice) {
            if self.machine.is_racy(next, earlier) {
                self.reduction.learn(Fact::Racy(number));
            }
        }
    }

    fn act(&mut self, thread: ThreadId, operation: Operation, site: u32) {
        for block in &mut self.threads.entry(thread).or_default().blocks {
            block.actions.push(Action { operation, site, note: 0 });
        }
    }

    fn number(&mut self, thread: ThreadId) -> ThreadId {
        let machine = &mut self.machine;
        *self.numbers.entry(thread).or_insert_with(|| machine.root())
    }

    fn set(&mut self, thread: ThreadId, kind: AccessKind) -> u32 {
        let sets = &mut self.machine.sets;
        self.threads.get(&thread).map_or(EMPTY, |thread| {
            let protects =
                |(_, mode): &&(LockId, LockMode)| kind == AccessKind::Read || *mode == LockMode::Exclusive;
            thread.held.iter().filter(protects).fold(EMPTY, |set, (lock, _)| sets.add(set, lock.0))
        })
    }
}

#[cfg(test)]
mod properties;
#[cfg(test)]
mod tests;
