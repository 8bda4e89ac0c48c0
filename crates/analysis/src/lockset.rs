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
//!   sites and states whether thread start or join ordered them in this run.
//! - An empty lock set alone is not enough: some earlier access of another thread must have had no lock in common with
//!   the current one, and one of the two must write. Three threads that hold two of three locks each leave the lock set
//!   empty and yet cannot race.
//! - After a report of unordered accesses the location is [`State::Done`]. After a report of ordered ones it is tracked
//!   further, because two other threads may still race on it.
//! - To determine which accesses to a location race ([`Machine::following`]), the location is tracked beyond the first
//!   report as [`State::Followed`], and [`Machine::is_racy`] decides for one access. Initialisation is exempt there: the
//!   accesses of the first thread until a second thread accesses the location, if the first thread wrote and if it began
//!   without any lock or in a constructor. For volatile fields and atomics, only a beginning in a constructor is exempt.
//! - A location that one thread accesses under different locks has a history too, so that a report never gives a write
//!   the lock set of a read. Once one access covers all others, the location is in an exclusive state again.

use fissure_model::{event::AccessKind, settings::Analysis};
use rustc_hash::FxHashSet;

use crate::{
    history::{Entry, Histories, conflicts},
    locksets::{ANY, EMPTY, LockSets},
    order::{Order, Segment},
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
    /// Whether thread start and join order every conflicting access before this one.
    pub ordered: bool,
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
    /// Happens-before between threads.
    pub order: Order,
}

impl Machine {
    /// A machine without any locations.
    pub fn new(analysis: Analysis) -> Self {
        Machine {
            mode: Mode { analysis, follows: false, has_initialisation: true },
            constructors: FxHashSet::default(),
            synchronizing: FxHashSet::default(),
            sets: LockSets::default(),
            histories: Histories::default(),
            order: Order::default(),
        }
    }

    /// The same, but locations are tracked beyond their first race.
    pub fn following(mut self) -> Self {
        self.mode.follows = true;
        self
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
    /// shared) under the locks that were held before. The state is [`State::Followed`] once two threads have acquired
    /// the lock without a common other lock and without an order between them.
    pub fn step_lock(&mut self, word: Word, access: Access) -> Word {
        let mode = Mode { analysis: Analysis::Racer, follows: true, has_initialisation: false };
        self.step_in(mode, word, access).word
    }

    /// Whether another thread acquires a lock in state `word` unordered with this segment. Before the first thread is started,
    /// and after the last one was joined, no lock is contended, even if threads contend for it in the meantime.
    pub fn is_contended(&self, word: Word, segment: Segment) -> bool {
        let thread = self.order.thread_of(segment);
        word.state() == State::Followed
            && self.histories.entries(word.owner()).iter().any(|other| {
                self.order.thread_of(other.segment) != thread
                    && !self.order.is_before(other.segment, segment)
                    && !self.order.is_before(segment, other.segment)
            })
    }

    /// Whether an access to a location in state `word` races with a remembered access of another thread that is not
    /// initialisation.
    pub fn is_racy(&mut self, word: Word, access: Access) -> bool {
        if word.state() != State::Followed {
            return false;
        }
        let thread = self.order.thread_of(access.segment);
        self.histories.entries(word.owner()).iter().any(|other| {
            !other.initial
                && self.order.thread_of(other.segment) != thread
                && conflicts(other, access.kind)
                && self.sets.intersect(other.set, access.set) == EMPTY
                && !self.order.is_before(other.segment, access.segment)
                && !self.order.is_before(access.segment, other.segment)
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
        let thread = self.order.thread_of(access.segment);
        let is_exclusive = entries.iter().all(|entry| self.order.thread_of(entry.segment) == thread);
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
                let is_own = self.order.thread_of(owner) == self.order.thread_of(access.segment);
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
                let next = self.follow(word.owner(), access).filter(|next| next.owner() != word.owner());
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
            let followed = if mode.follows { self.follow(history, access) } else { None };
            return Step { word: followed.unwrap_or(Word::DONE), race };
        }
        let Some(next) = self.histories.add(history, later, &self.order, &mut self.sets) else {
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
    fn follow(&mut self, history: u32, access: Access) -> Option<Word> {
        let next = self.histories.add(history, entry(access), &self.order, &mut self.sets)?;
        Some(Word::new(State::Followed, next, EMPTY, access.site))
    }

    /// The race between the current access and an earlier one without a common lock. An unordered earlier access is preferred,
    /// and among equals a write.
    fn race(&mut self, mode: Mode, history: u32, later: Entry, kind: AccessKind) -> Option<Race> {
        let thread = self.order.thread_of(later.segment);
        let mut best: Option<(bool, bool, Entry)> = None;
        for &earlier in self.histories.entries(history) {
            // Eraser reports a race if the earlier lock set is unknown, as in the paper.
            let is_racing = self.order.thread_of(earlier.segment) != thread
                && conflicts(&earlier, kind)
                && (self.sets.intersect(earlier.set, later.set) == EMPTY
                    || mode.analysis == Analysis::Eraser && earlier.set == ANY);
            if !is_racing {
                continue;
            }
            let unordered = !self.order.is_before(earlier.segment, later.segment);
            if best.is_none_or(|(other, wrote, _)| (unordered, earlier.wrote) > (other, wrote)) {
                best = Some((unordered, earlier.wrote, earlier));
            }
        }
        best.map(|(unordered, _, earlier)| Race { earlier, later, ordered: !unordered })
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
