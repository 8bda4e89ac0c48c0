//! Lock-set race detection: Racer, and Eraser beside it.
//!
//! Racer: E. Bodden and K. Havelund, "Racer: Effective Race Detection Using AspectJ", ISSTA 2008.
//! Eraser: S. Savage et al., "Eraser: A Dynamic Data Race Detector for Multithreaded Programs", TOCS 1997.
//!
//! Kept from the papers: a location's lock set is what all accesses so far had in common; a race is reported when
//! it is empty in the state SharedModified. Racer refines from the first access on and forgives no
//! initialisation:
//!
//! | state | access | next state |
//! |---|---|---|
//! | Virgin | read by t / write by t | Exclusive(t) / ExclusiveModified(t) |
//! | Exclusive(t) | write by t | ExclusiveModified(t) |
//! | Exclusive(t) | read / write by another | Shared / SharedModified |
//! | ExclusiveModified(t) | access by another | SharedModified |
//! | Shared | write | SharedModified |
//!
//! Eraser differs in two places: ExclusiveModified(t) goes to Shared when another thread reads, and lock sets are
//! refined from the states Shared and SharedModified on only, starting with the locks of the access that led there.
//!
//! Where we deviate:
//! - A read lock protects reads, not writes: the front end says which locks protect the access at hand.
//! - The accesses of a shared location are remembered per thread ([`crate::history`]), so that a report names both
//!   places and tells whether thread start or join ordered them in this run.
//! - An empty lock set alone is not enough: some earlier access of another thread must have had no lock in common with
//!   the one at hand, and one of the two must write. Three threads that hold two of three locks each leave the lock set
//!   empty and yet cannot race.
//! - After a report that was not ordered the location is [`State::Done`]. After an ordered one it is followed
//!   further, for two other threads may yet race on it.
//! - A thread that accesses its own location under different locks has a history too, so that a report never says of
//!   a write what was true of a read. Where one access covers all others, the location is its thread's own again.

use fissure_model::{event::AccessKind, settings::Analysis};

use crate::{
    history::{Entry, Histories, conflicts},
    locksets::{ANY, EMPTY, LockSets},
    order::{Order, Segment},
    word::{State, Word},
};

/// An access to be judged.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Access {
    /// The thread, as the part of its life it is in.
    pub segment: Segment,
    /// Read or write.
    pub kind: AccessKind,
    /// The locks that protect this access.
    pub set: u32,
    /// Where in the code.
    pub site: u32,
}

/// Two accesses that no common lock protects.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Race {
    /// The access that happened first.
    pub earlier: Entry,
    /// The access at hand.
    pub later: Entry,
    /// Whether thread start and join put every conflicting access before this one.
    pub ordered: bool,
}

/// What an access did to its location.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Step {
    /// The location's new state.
    pub word: Word,
    /// The race, if there is one.
    pub race: Option<Race>,
}

/// Everything that locations share.
#[derive(Debug)]
pub struct Machine {
    analysis: Analysis,
    /// The lock sets.
    pub sets: LockSets,
    /// Who touched what.
    pub histories: Histories,
    /// Threads and their order.
    pub order: Order,
}

impl Machine {
    /// A machine that has seen nothing.
    pub fn new(analysis: Analysis) -> Self {
        Machine {
            analysis,
            sets: LockSets::default(),
            histories: Histories::default(),
            order: Order::default(),
        }
    }

    /// Judges one access to a location in state `word`.
    pub fn step(&mut self, word: Word, access: Access) -> Step {
        let wrote = access.kind == AccessKind::Write;
        let quiet = |word| Step { word, race: None };
        match word.state() {
            State::Done => quiet(word),
            State::Virgin => {
                let state = if wrote { State::ExclusiveModified } else { State::Exclusive };
                let set = if self.analysis == Analysis::Racer { access.set } else { EMPTY };
                quiet(Word::new(state, access.segment.0, set, access.site))
            }
            State::Exclusive | State::ExclusiveModified => {
                let owner = Segment(word.owner());
                let is_own = self.order.thread_of(owner) == self.order.thread_of(access.segment);
                match (self.analysis, is_own) {
                    (Analysis::Racer, _) => {
                        let first = self.entry_of(word);
                        let set = self.sets.intersect(word.set(), access.set);
                        self.with_history(word, first, set, first.wrote || wrote, access)
                    }
                    (Analysis::Eraser, true) => {
                        let state = if wrote { State::ExclusiveModified } else { word.state() };
                        let site = if state == word.state() { word.site() } else { access.site };
                        quiet(Word::new(state, access.segment.0, EMPTY, site))
                    }
                    (Analysis::Eraser, false) => {
                        let first = self.entry_of(word);
                        self.with_history(word, first, access.set, wrote, access)
                    }
                }
            }
            State::Shared | State::SharedModified => {
                let set = self.sets.intersect(word.set(), access.set);
                let modified = wrote || word.state() == State::SharedModified;
                self.shared(word, word.owner(), set, modified, access)
            }
        }
    }

    /// The access that a location remembers while one thread owns it. Eraser does not know under which locks it was.
    fn entry_of(&self, word: Word) -> Entry {
        Entry {
            segment: Segment(word.owner()),
            wrote: word.state() == State::ExclusiveModified,
            site: word.site(),
            set: if self.analysis == Analysis::Racer { word.set() } else { ANY },
        }
    }

    /// An access to a location that remembers one access so far.
    fn with_history(&mut self, word: Word, first: Entry, set: u32, modified: bool, access: Access) -> Step {
        match self.histories.of(&[first]) {
            Some(history) => self.shared(word, history, set, modified, access),
            None => Step { word: Word::DONE, race: None },
        }
    }

    /// An access to a location with a history, with the lock set it leaves.
    fn shared(&mut self, word: Word, history: u32, set: u32, modified: bool, access: Access) -> Step {
        let later = Entry {
            segment: access.segment,
            wrote: access.kind == AccessKind::Write,
            site: access.site,
            set: access.set,
        };
        let race = if modified && set == EMPTY { self.race(history, later, access.kind) } else { None };
        if race.is_some_and(|race| !race.ordered) {
            return Step { word: Word::DONE, race };
        }
        let Some(next) = self.histories.add(history, later, &self.order, &mut self.sets) else {
            return Step { word: Word::DONE, race };
        };
        let entries = self.histories.entries(next);
        let word = match entries {
            // One access that matters is what a word can hold by itself.
            [only] if self.analysis == Analysis::Racer => {
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

    /// The race between the access at hand and the earlier access that shows it best: with no lock in common, rather one
    /// that is not ordered before it, rather a write.
    fn race(&mut self, history: u32, later: Entry, kind: AccessKind) -> Option<Race> {
        let thread = self.order.thread_of(later.segment);
        let mut best: Option<(bool, bool, Entry)> = None;
        for &earlier in self.histories.entries(history) {
            // What Eraser does not know it holds against the program, as the paper does.
            let apart = self.order.thread_of(earlier.segment) != thread
                && conflicts(&earlier, kind)
                && (self.sets.intersect(earlier.set, later.set) == EMPTY
                    || self.analysis == Analysis::Eraser && earlier.set == ANY);
            if !apart {
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
