//! The lock-set machines driven by a list of events.
//!
//! A front end that stores shadow words beside the data calls [`Machine::step`] itself; here a map holds the words, which
//! suffices for a recorded trace or a test.

use rustc_hash::{FxHashMap, FxHashSet};

use fissure_model::{
    event::{AccessKind, Event, LockMode},
    ids::{LocationId, LockId, ThreadId},
    settings::Analysis,
};

use crate::{
    lockset::{Access, Machine, Race},
    locksets::EMPTY,
    word::Word,
};

/// A race and its location.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LocatedRace {
    /// The location.
    pub location: LocationId,
    /// The two accesses.
    pub race: Race,
}

/// Runs a lock-set machine on a trace.
#[derive(Debug)]
pub struct TraceDetector {
    machine: Machine,
    words: FxHashMap<LocationId, Word>,
    threads: FxHashMap<ThreadId, ThreadId>,
    held: FxHashMap<ThreadId, Vec<(LockId, LockMode)>>,
    reported: FxHashSet<(LocationId, bool)>,
}

impl TraceDetector {
    /// A detector that has processed no events.
    pub fn new(analysis: Analysis) -> Self {
        TraceDetector {
            machine: Machine::new(analysis),
            words: FxHashMap::default(),
            threads: FxHashMap::default(),
            held: FxHashMap::default(),
            reported: FxHashSet::default(),
        }
    }

    /// Processes one event; returns a race that was not reported before.
    pub fn event(&mut self, event: &Event) -> Option<LocatedRace> {
        match *event {
            Event::Acquire { thread, lock, mode } => {
                self.held.entry(thread).or_default().push((lock, mode));
                None
            }
            Event::Release { thread, lock } => {
                let held = self.held.entry(thread).or_default();
                if let Some(at) = held.iter().rposition(|&(other, _)| other == lock) {
                    held.remove(at);
                }
                None
            }
            Event::Start { parent, child } => {
                let parent = self.thread(parent);
                let started = self.machine.start(parent);
                self.threads.insert(child, started);
                None
            }
            Event::Join { thread, ended } => {
                let (thread, ended) = (self.thread(thread), self.thread(ended));
                self.machine.join(thread, ended);
                None
            }
            Event::Access { thread, location, kind, site } => {
                let set = self.set(thread, kind);
                let known = self.thread(thread);
                let segment = self.machine.order.segment(known);
                let word = self.words.get(&location).copied().unwrap_or(Word::VIRGIN);
                let step = self.machine.step(word, Access { segment, kind, set, site: site.0 });
                self.words.insert(location, step.word);
                let race = step.race?;
                self.reported.insert((location, race.ordered)).then_some(LocatedRace { location, race })
            }
        }
    }

    /// The machine, to look up the lock sets and threads of a race.
    pub fn machine(&self) -> &Machine {
        &self.machine
    }

    fn thread(&mut self, thread: ThreadId) -> ThreadId {
        let machine = &mut self.machine;
        *self.threads.entry(thread).or_insert_with(|| machine.root())
    }

    fn set(&mut self, thread: ThreadId, kind: AccessKind) -> u32 {
        let sets = &mut self.machine.sets;
        self.held.get(&thread).map_or(EMPTY, |held| {
            held.iter()
                .filter(|(_, mode)| kind == AccessKind::Read || *mode == LockMode::Exclusive)
                .fold(EMPTY, |set, (lock, _)| sets.add(set, lock.0))
        })
    }
}

#[cfg(test)]
mod tests;
