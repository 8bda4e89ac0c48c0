//! Lock-set race detection: the state machines of Racer and Eraser.
//!
//! Racer: E. Bodden and K. Havelund, "Racer: Effective Race Detection Using AspectJ", ISSTA 2008.
//! Eraser: S. Savage et al., "Eraser: A Dynamic Data Race Detector for Multithreaded Programs", TOCS 1997.
//!
//! Kept from the papers: a location's lock set is the intersection of the lock sets of all accesses so far; a race is
//! reported when it is empty in the state SharedModified. Racer refines the lock set from the first access on, so that
//! unlocked initialisation is not exempt:
//!
//! | state | access | next state |
//! |---|---|---|
//! | Virgin | read by t / write by t | Exclusive(t) / ExclusiveModified(t) |
//! | Exclusive(t) | write by t | ExclusiveModified(t) |
//! | Exclusive(t) | read / write by another | Shared / SharedModified |
//! | ExclusiveModified(t) | access by another | SharedModified |
//! | Shared | write | SharedModified |
//!
//! Eraser differs in two respects: ExclusiveModified(t) goes to Shared when another thread reads, and lock sets are
//! refined from the states Shared and SharedModified on only, starting with the locks of the access that led there.
//!
//! Where we deviate:
//! - A read lock protects reads, not writes: the front end decides which locks protect the current access.
//! - The accesses of a shared location are remembered per thread ([`crate::history`]), so that a report names both
//!   sites and states whether synchronization ordered them in this run ([`crate::order`]), and which one.
//! - An empty lock set alone is not enough: some earlier access of another thread must have had no lock in common with
//!   the current one, and one of the two must write. Three threads that hold two of three locks each leave the lock set
//!   empty and yet cannot race.
//! - After a report of unordered accesses the location is [`State::Done`]. After a report of ordered ones it is tracked
//!   further, because two other threads may still race on it.
//! - Which accesses of a racing location belong to the race is judged by the order of start and join alone, so that the
//!   executions of an atomic block stay comparable.
//! - To determine which accesses to a location race ([`Machine::following`]), the location is tracked beyond the first
//!   report as [`State::Followed`], and [`Machine::is_racy`] decides for one access. Initialisation is exempt there: the
//!   accesses of the first thread until a second thread accesses the location, if the first thread wrote and if it began
//!   without any lock or in a constructor. For volatile fields and atomics, only a beginning in a constructor is exempt.
//! - A location that one thread accesses under different locks has a history too, so that a report never gives a write
//!   the lock set of a read. Once one access covers all others, the location is in an exclusive state again.

use fissure_model::{event::AccessKind, ids::ThreadId, settings::Analysis};
use rustc_hash::FxHashSet;

use crate::{
    history::{Entry, Histories, conflicts},
    locksets::{ANY, EMPTY, LockSets},
    order::{Acquire, Order, Release, Segment, Source, Synchronizers},
    word::{State, Word},
};

/// An access to check.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Access {
    /// The current segment of the thread.
    pub segment: Segment,
    /// Read or write.
    pub kind: AccessKind,
    /// The lock set that protects this access.
    pub set: u32,
    /// The site.
    pub site: u32,
}

/// Two accesses that no common lock protects.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Race {
    /// The access that happened first.
    pub earlier: Entry,
    /// The current access.
    pub later: Entry,
    /// Whether every conflicting access is ordered before this one.
    pub ordered: bool,
    /// What ordered the two accesses, if they are ordered and it is known.
    pub source: Option<Source>,
}

/// The effect of an access on its location.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Step {
    /// The location's new state.
    pub word: Word,
    /// The race, if there is one.
    pub race: Option<Race>,
}

/// How a location is tracked.
#[derive(Debug, Clone, Copy)]
struct Mode {
    analysis: Analysis,
    /// Whether it is tracked beyond the first race.
    follows: bool,
    /// Whether the accesses of its first thread may be initialisation.
    has_initialisation: bool,
    /// Whether it is a lock, which only starting and joining threads order.
    is_lock: bool,
    /// Whether the order of accesses makes no difference.
    ignores_order: bool,
}

/// The state machine, and all state that locations share.
#[derive(Debug)]
pub struct Machine {
    mode: Mode,
    /// The sites in constructors.
    constructors: FxHashSet<u32>,
    /// The sites that access volatile fields or atomics.
    synchronizing: FxHashSet<u32>,
    /// The lock sets.
    pub sets: LockSets,
    /// The access histories.
    pub histories: Histories,
    /// Happens-before between the accesses of threads.
    pub order: Order,
    /// The order by start and join alone, for acquires of locks and for accesses in atomic blocks. Threads have the same numbers
    /// in both orders.
    coarse: Order,
    synchronizers: Synchronizers,
}

impl Machine {
    /// A machine without any locations.
    pub fn new(analysis: Analysis) -> Self {
        Machine {
            mode: Mode {
                analysis,
                follows: false,
                has_initialisation: true,
                is_lock: false,
                ignores_order: false,
            },
            constructors: FxHashSet::default(),
            synchronizing: FxHashSet::default(),
            sets: LockSets::default(),
            histories: Histories::default(),
            order: Order::default(),
            coarse: Order::default(),
            synchronizers: Synchronizers::default(),
        }
    }

    /// The same, but with an order that is only sampled beyond `exact` boundaries of a thread ([`Order::sampling`]).
    pub fn sampling(mut self, exact: u32) -> Self {
        self.order = Order::sampling(exact);
        self
    }

    /// The same, but ordered accesses are races like any other, as in the papers.
    pub fn ignoring_order(mut self) -> Self {
        self.mode.ignores_order = true;
        self
    }

    /// The same, but locations are tracked beyond their first race.
    pub fn following(mut self) -> Self {
        self.mode.follows = true;
        self
    }

    /// Adds a thread whose parent is not known.
    pub fn root(&mut self) -> ThreadId {
        self.coarse.root();
        let thread = self.order.root();
        self.order.set_span(thread, self.coarse.segment(thread));
        thread
    }

    /// A thread starts another one.
    pub fn start(&mut self, parent: ThreadId) -> ThreadId {
        self.coarse.start(parent);
        let child = self.order.start(parent);
        for thread in [parent, child] {
            self.order.set_span(thread, self.coarse.segment(thread));
        }
        child
    }

    /// A thread has joined another one.
    pub fn join(&mut self, thread: ThreadId, ended: ThreadId) {
        self.coarse.join(thread, ended);
        self.order.join(thread, ended);
        self.order.set_span(thread, self.coarse.segment(thread));
    }

    /// A thread releases its clock into a synchronization object; one without a number gets it. Returns the number.
    pub fn release(&mut self, thread: ThreadId, synchronizer: Option<u32>, how: Release) -> u32 {
        let number = synchronizer.unwrap_or_else(|| self.synchronizers.add());
        self.order.release(thread, self.synchronizers.get_mut(number), how);
        number
    }

    /// A thread acquires the clock of a synchronization object. Returns whether this adds to what the thread knows.
    pub fn acquire(&mut self, thread: ThreadId, synchronizer: u32, how: Acquire) -> bool {
        self.order.acquire(thread, self.synchronizers.get_mut(synchronizer), how)
    }

    /// Forgets a synchronization object that no thread can reach any more. Its number is used again.
    pub fn forget(&mut self, synchronizer: u32) {
        self.synchronizers.remove(synchronizer);
    }

    /// The current segment of a thread in the order by start and join alone.
    pub fn span(&self, thread: ThreadId) -> Segment {
        self.coarse.segment(thread)
    }

    /// Registers a site in a constructor.
    pub fn add_constructor(&mut self, site: u32) {
        self.constructors.insert(site);
    }

    /// Registers a site that accesses a volatile field or an atomic: an access there without a lock does not indicate
    /// initialisation.
    pub fn add_synchronizing(&mut self, site: u32) {
        self.synchronizing.insert(site);
    }

    /// Processes one access to a location in state `word`.
    pub fn step(&mut self, word: Word, access: Access) -> Step {
        self.step_in(self.mode, word, access)
    }

    /// Processes an acquire of a lock, as if the lock were a location that its acquires write (or read, if the lock is
    /// shared) under the locks that were held before. Its segment is a [span](Machine::span). The state is [`State::Followed`] once two threads have acquired
    /// the lock without a common other lock and without an order between them.
    pub fn step_lock(&mut self, word: Word, access: Access) -> Word {
        let mode = Mode {
            analysis: Analysis::Racer,
            follows: true,
            has_initialisation: false,
            is_lock: true,
            ignores_order: false,
        };
        self.step_in(mode, word, access).word
    }

    /// Whether another thread acquires a lock in state `word` unordered with this segment. Before the first thread is started,
    /// and after the last one was joined, no lock is contended, even if threads contend for it in the meantime.
    pub fn is_contended(&self, word: Word, segment: Segment) -> bool {
        let order = &self.coarse;
        let thread = order.thread_of(segment);
        word.state() == State::Followed
            && self.histories.entries(word.owner()).iter().any(|other| {
                order.thread_of(other.segment) != thread
                    && !order.is_before(other.segment, segment)
                    && !order.is_before(segment, other.segment)
            })
    }

    /// Whether an access to a location in state `word` races with a remembered access of another thread that is not
    /// initialisation. Atomic blocks are judged by the order of start and join alone, so the segment is a [span](Machine::span).
    pub fn is_racy(&mut self, word: Word, access: Access) -> bool {
        if word.state() != State::Followed {
            return false;
        }
        let thread = self.coarse.thread_of(access.segment);
        self.histories.entries(word.owner()).iter().any(|other| {
            let span = self.order.span_of(other.segment);
            !other.initial
                && self.coarse.thread_of(span) != thread
                && conflicts(other, access.kind)
                && self.sets.intersect(other.set, access.set) == EMPTY
                && !self.coarse.is_before(span, access.segment)
                && !self.coarse.is_before(access.segment, span)
        })
    }

    /// Whether a site was registered as in a constructor.
    pub fn is_constructor(&self, site: u32) -> bool {
        self.constructors.contains(&site)
    }

    /// Whether the accesses so far to a location in state `word` may be its initialisation.
    pub fn is_initial(&self, word: Word) -> bool {
        word.state() == State::ExclusiveModified
            && (self.constructors.contains(&word.site())
                || (self.mode.analysis == Analysis::Eraser || word.set() == EMPTY)
                    && !self.synchronizing.contains(&word.site()))
    }

    /// Whether another thread than this one is known to have accessed the location.
    pub fn has_others(&self, word: Word, segment: Segment) -> bool {
        let thread = self.order.thread_of(segment);
        match word.state() {
            State::Virgin | State::Done => false,
            State::Exclusive | State::ExclusiveModified => {
                self.order.thread_of(Segment(word.owner())) != thread
            }
            State::Shared | State::SharedModified | State::Followed => {
                let entries = self.histories.entries(word.owner());
                entries.iter().any(|entry| self.order.thread_of(entry.segment) != thread)
            }
        }
    }

    /// Whether an access is still part of the initialisation of a location that only one thread has accessed, under
    /// different locks.
    fn is_still_initial(&self, mode: Mode, history: u32, access: Access) -> bool {
        let entries = self.histories.entries(history);
        let order = if mode.is_lock { &self.coarse } else { &self.order };
        let thread = order.thread_of(access.segment);
        let is_exclusive = entries.iter().all(|entry| order.thread_of(entry.segment) == thread);
        let wrote = access.kind == AccessKind::Write || entries.iter().any(|entry| entry.wrote);
        let is_unlocked = access.set == EMPTY && !self.synchronizing.contains(&access.site);
        mode.has_initialisation
            && is_exclusive
            && wrote
            && (is_unlocked
                || self.constructors.contains(&access.site)
                || entries.iter().any(|entry| entry.initial))
    }

    fn step_in(&mut self, mode: Mode, word: Word, access: Access) -> Step {
        let wrote = access.kind == AccessKind::Write;
        let quiet = |word| Step { word, race: None };
        match word.state() {
            State::Done => quiet(word),
            State::Virgin => {
                let state = if wrote { State::ExclusiveModified } else { State::Exclusive };
                let set = if mode.analysis == Analysis::Racer { access.set } else { EMPTY };
                quiet(Word::new(state, access.segment.0, set, access.site))
            }
            State::Exclusive | State::ExclusiveModified => {
                let owner = Segment(word.owner());
                let order = if mode.is_lock { &self.coarse } else { &self.order };
                let is_own = order.thread_of(owner) == order.thread_of(access.segment);
                match (mode.analysis, is_own) {
                    (Analysis::Racer, _) => {
                        let first = self.entry_of(mode, word);
                        let set = self.sets.intersect(word.set(), access.set);
                        self.with_history(mode, word, first, set, first.wrote || wrote, access)
                    }
                    (Analysis::Eraser, true) => {
                        let state = if wrote { State::ExclusiveModified } else { word.state() };
                        let site = if state == word.state() { word.site() } else { access.site };
                        quiet(Word::new(state, access.segment.0, EMPTY, site))
                    }
                    (Analysis::Eraser, false) => {
                        let first = self.entry_of(mode, word);
                        self.with_history(mode, word, first, access.set, wrote, access)
                    }
                }
            }
            State::Shared | State::SharedModified => {
                let set = self.sets.intersect(word.set(), access.set);
                let modified = wrote || word.state() == State::SharedModified;
                self.shared(mode, word, word.owner(), set, modified, access)
            }
            State::Followed => {
                let next =
                    self.follow(mode, word.owner(), access).filter(|next| next.owner() != word.owner());
                quiet(next.unwrap_or(word))
            }
        }
    }

    /// The access that the word of a location in an exclusive state remembers. Eraser does not record its lock set.
    fn entry_of(&self, mode: Mode, word: Word) -> Entry {
        Entry {
            segment: Segment(word.owner()),
            wrote: word.state() == State::ExclusiveModified,
            site: word.site(),
            set: if mode.analysis == Analysis::Racer { word.set() } else { ANY },
            initial: mode.has_initialisation && self.is_initial(word),
        }
    }

    /// Processes an access to a location whose word remembers one access.
    fn with_history(
        &mut self,
        mode: Mode,
        word: Word,
        first: Entry,
        set: u32,
        modified: bool,
        access: Access,
    ) -> Step {
        match self.histories.of(&[first]) {
            Some(history) => self.shared(mode, word, history, set, modified, access),
            None => Step { word: Word::DONE, race: None },
        }
    }

    /// Processes an access to a location with a history; `set` is the location's lock set after the access.
    fn shared(
        &mut self,
        mode: Mode,
        word: Word,
        history: u32,
        set: u32,
        modified: bool,
        access: Access,
    ) -> Step {
        let later = Entry { initial: self.is_still_initial(mode, history, access), ..entry(access) };
        let race = if modified && set == EMPTY { self.race(mode, history, later, access.kind) } else { None };
        if race.is_some_and(|race| !race.ordered) {
            let followed = if mode.follows { self.follow(mode, history, access) } else { None };
            return Step { word: followed.unwrap_or(Word::DONE), race };
        }
        let order = if mode.is_lock { &self.coarse } else { &self.order };
        let Some(next) = self.histories.add(history, later, order, &mut self.sets) else {
            return Step { word: Word::DONE, race };
        };
        let entries = self.histories.entries(next);
        let word = match entries {
            // A word can hold a single access without a history.
            [only] if mode.analysis == Analysis::Racer => {
                let state = if only.wrote { State::ExclusiveModified } else { State::Exclusive };
                Word::new(state, only.segment.0, only.set, only.site)
            }
            _ => {
                let state = if modified { State::SharedModified } else { State::Shared };
                let changed = (state, next, set) != (word.state(), word.owner(), word.set());
                Word::new(state, next, set, if changed { access.site } else { word.site() })
            }
        };
        Step { word, race }
    }

    /// Processes an access to a location with a known race; `None` if the table of histories is full.
    fn follow(&mut self, mode: Mode, history: u32, access: Access) -> Option<Word> {
        let order = if mode.is_lock { &self.coarse } else { &self.order };
        let next = self.histories.add(history, entry(access), order, &mut self.sets)?;
        Some(Word::new(State::Followed, next, EMPTY, access.site))
    }

    /// The race between the current access and an earlier one without a common lock. An unordered earlier access is preferred,
    /// and among equals a write.
    fn race(&mut self, mode: Mode, history: u32, later: Entry, kind: AccessKind) -> Option<Race> {
        let order = if mode.is_lock { &self.coarse } else { &self.order };
        let thread = order.thread_of(later.segment);
        let is_synchronizing = mode.follows && !mode.is_lock && self.synchronizing.contains(&later.site);
        let mut best: Option<(bool, bool, Entry)> = None;
        for &earlier in self.histories.entries(history) {
            // Eraser reports a race if the earlier lock set is unknown, as in the paper.
            let is_racing = order.thread_of(earlier.segment) != thread
                && conflicts(&earlier, kind)
                && (self.sets.intersect(earlier.set, later.set) == EMPTY
                    || mode.analysis == Analysis::Eraser && earlier.set == ANY);
            if !is_racing {
                continue;
            }
            // A volatile field or an atomic orders its own accesses, which are no movers nevertheless, unless the object that it
            // belongs to was handed over.
            let is_ordered = match is_synchronizing {
                true => order.is_handed_over(earlier.segment, later.segment),
                false => order.is_before(earlier.segment, later.segment),
            };
            let unordered = mode.ignores_order || !is_ordered;
            if best.is_none_or(|(other, wrote, _)| (unordered, earlier.wrote) > (other, wrote)) {
                best = Some((unordered, earlier.wrote, earlier));
            }
        }
        best.map(|(unordered, _, earlier)| {
            let source = if unordered { None } else { order.source(earlier.segment, thread) };
            Race { earlier, later, ordered: !unordered, source }
        })
    }
}

fn entry(access: Access) -> Entry {
    Entry {
        segment: access.segment,
        wrote: access.kind == AccessKind::Write,
        site: access.site,
        set: access.set,
        initial: false,
    }
}
