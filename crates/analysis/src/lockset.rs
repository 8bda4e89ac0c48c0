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
//!   further, for two other threads may yet race on it. If nothing of its history matters any more, the location
//!   starts anew as its writer's own.

use fissure_model::{event::AccessKind, settings::Analysis};

use crate::{
    history::{Entry, Histories, conflicts},
    locksets::{EMPTY, LockSets},
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
                let set = self.own_set(access.set, access.set);
                quiet(Word::new(state, access.segment.0, set, access.site))
            }
            State::Exclusive | State::ExclusiveModified => {
                let owner = Segment(word.owner());
                if self.order.thread_of(owner) == self.order.thread_of(access.segment) {
                    quiet(self.own_access(word, access))
                } else {
                    self.second_thread(word, owner, access)
                }
            }
            State::Shared | State::SharedModified => {
                let set = self.sets.intersect(word.set(), access.set);
                let modified = wrote || word.state() == State::SharedModified;
                self.shared(word.owner(), set, modified, access)
            }
        }
    }

    /// An access of the thread that owns the location alone.
    fn own_access(&mut self, word: Word, access: Access) -> Word {
        let state = if access.kind == AccessKind::Write { State::ExclusiveModified } else { word.state() };
        let set = self.own_set(word.set(), access.set);
        let unchanged = state == word.state() && set == word.set();
        let site = if unchanged { word.site() } else { access.site };
        Word::new(state, access.segment.0, set, site)
    }

    /// The first access of a second thread.
    fn second_thread(&mut self, word: Word, owner: Segment, access: Access) -> Step {
        let was_modified = word.state() == State::ExclusiveModified;
        let first = Entry { segment: owner, wrote: was_modified, site: word.site(), set: word.set() };
        let wrote = access.kind == AccessKind::Write;
        let (modified, set) = match self.analysis {
            Analysis::Racer => (was_modified || wrote, self.sets.intersect(word.set(), access.set)),
            Analysis::Eraser => (wrote, access.set),
        };
        match self.histories.of(&[first]) {
            Some(history) => self.shared(history, set, modified, access),
            None => Step { word: Word::DONE, race: None },
        }
    }

    /// An access to a location that several threads have touched, with the lock set it leaves.
    fn shared(&mut self, history: u32, set: u32, modified: bool, access: Access) -> Step {
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
        if set == EMPTY && modified && self.histories.entries(next) == [later] && later.wrote {
            let word = Word::new(State::ExclusiveModified, access.segment.0, EMPTY, access.site);
            return Step { word, race };
        }
        let state = if modified { State::SharedModified } else { State::Shared };
        Step { word: Word::new(state, next, set, access.site), race }
    }

    /// The race between the access at hand and the earlier access that shows it best: with no lock in common, rather one
    /// that is not ordered before it, rather a write.
    fn race(&mut self, history: u32, later: Entry, kind: AccessKind) -> Option<Race> {
        let thread = self.order.thread_of(later.segment);
        let mut best: Option<(bool, bool, Entry)> = None;
        for &earlier in self.histories.entries(history) {
            let apart = self.order.thread_of(earlier.segment) != thread
                && conflicts(&earlier, kind)
                && self.sets.intersect(earlier.set, later.set) == EMPTY;
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

    /// The lock set of a location that one thread owns. Eraser keeps none.
    fn own_set(&mut self, old: u32, held: u32) -> u32 {
        match self.analysis {
            Analysis::Racer => self.sets.intersect(old, held),
            Analysis::Eraser => EMPTY,
        }
    }
}
