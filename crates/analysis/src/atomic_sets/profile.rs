//! A bounded profile of an execution's accesses to each atomic set: equal executions of units are kept once, and of
//! repeated accesses inside of one execution only the first few and the last.
//!
//! Everything here is bounded. [`Cut`] counts what a bound omitted, because predictions may then be missing.

use std::hash::{Hash, Hasher};

use fissure_model::{
    event::AccessKind,
    ids::{SiteId, ThreadId},
};
use rustc_hash::{FxHashMap, FxHashSet, FxHasher};

use super::{Access, Occurrence, SetId, UnitId};
use crate::{
    order::Segment,
    relaxed::{Held, Locks, Stamp},
};

/// The bounds of a profile.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Bounds {
    /// Sets.
    pub sets: usize,
    /// Different executions of units, per set.
    pub executions: usize,
    /// Different accesses, per execution and set.
    pub accesses: usize,
    /// Lock acquires of a thread inside of units.
    pub acquires: usize,
    /// Combinations of accesses that the prediction examines.
    pub checks: u64,
    /// Predictions.
    pub predictions: usize,
}

impl Default for Bounds {
    fn default() -> Self {
        Bounds {
            sets: 50_000,
            executions: 64,
            accesses: 96,
            acquires: 4_096,
            checks: 4_000_000,
            predictions: 1_000,
        }
    }
}

/// The numbers of items that were omitted because of a bound.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Cut {
    /// Executions on sets that are not in the profile.
    pub sets: u64,
    /// Executions of units on sets in the profile.
    pub executions: u64,
    /// Accesses of executions in the profile.
    pub accesses: u64,
    /// Acquires of locks.
    pub acquires: u64,
    /// Pairs of executions that were not compared, or not to the end.
    pub checks: u64,
    /// Predictions.
    pub predictions: u64,
}

impl Cut {
    /// Whether nothing was omitted.
    pub fn is_nothing(&self) -> bool {
        *self == Cut::default()
    }
}

/// How many accesses by the same code to the same location are kept per execution, including the last one.
const ALIKE: usize = 4;
/// How many executions are kept that differ only in their segments, including the last one.
const ALIKE_EXECUTIONS: usize = 4;

/// An access as it is kept.
#[derive(Debug, Clone)]
pub(super) struct Event {
    pub(super) location: u32,
    pub(super) kind: AccessKind,
    pub(super) site: SiteId,
    pub(super) context: u64,
    pub(super) segment: Segment,
    pub(super) locks: Locks,
    /// The time when it happened first.
    pub(super) first: u64,
    /// The time when it happened last.
    pub(super) last: u64,
}

impl Event {
    fn is_by_same_code(&self, access: &Access) -> bool {
        (self.location, self.kind, self.site, self.context)
            == (access.location, access.kind, access.site, access.context)
    }

    fn is_under(&self, stamp: &Stamp) -> bool {
        self.segment == stamp.segment && self.locks == stamp.locks
    }
}

/// The accesses of one execution of a unit to one set.
#[derive(Debug, Clone)]
pub(super) struct Execution {
    pub(super) thread: ThreadId,
    pub(super) unit: Option<UnitId>,
    number: u64,
    pub(super) events: Vec<Event>,
    /// The acquires from its first to its last access, with their times.
    pub(super) acquires: Vec<(u64, Held)>,
}

impl Execution {
    /// A hash of its operations that ignores the numbers of acquires and, unless `with_order` is set, the segments.
    fn signature(&self, with_order: bool) -> u64 {
        let mut hasher = FxHasher::default();
        (self.thread, self.unit).hash(&mut hasher);
        let mut times: Vec<u64> = Vec::new();
        for event in &self.events {
            (event.location, event.kind, event.site, event.context, event.first < event.last)
                .hash(&mut hasher);
            if with_order {
                event.segment.hash(&mut hasher);
            }
            for held in event.locks.iter() {
                let known = times.iter().position(|time| *time == held.time);
                let name = known.unwrap_or_else(|| {
                    times.push(held.time);
                    times.len() - 1
                });
                (held.lock, held.mode, held.site, name).hash(&mut hasher);
            }
        }
        for (at, held) in &self.acquires {
            let before = self.events.iter().filter(|event| event.first < *at).count();
            (before, held.lock, held.mode).hash(&mut hasher);
        }
        hasher.finish()
    }
}

/// The executions on one set.
#[derive(Debug, Default)]
pub(super) struct SetProfile {
    pub(super) executions: Vec<Execution>,
    known: FxHashSet<u64>,
    alike: FxHashMap<u64, Vec<usize>>,
}

/// The profile of one execution of the program.
#[derive(Debug, Default)]
pub struct Profile {
    pub(super) bounds: Bounds,
    pub(super) cut: Cut,
    pub(super) sets: FxHashMap<SetId, SetProfile>,
    /// The sets in the order of their first executions.
    pub(super) order: Vec<SetId>,
    threads: Vec<Thread>,
    time: u64,
}

#[derive(Debug, Default)]
struct Thread {
    open: Vec<(SetId, Execution)>,
    acquires: Vec<(u64, Held)>,
}

impl Profile {
    /// An empty profile with these bounds.
    pub fn new(bounds: Bounds) -> Self {
        Self { bounds, ..Self::default() }
    }

    /// A thread has acquired a lock that it did not hold.
    pub fn acquired(&mut self, thread: ThreadId, held: Held) {
        let at = self.tick();
        let limit = self.bounds.acquires;
        let thread = self.thread(thread);
        if thread.open.is_empty() {
            return;
        }
        if thread.acquires.len() < limit {
            thread.acquires.push((at, held));
        } else {
            self.cut.acquires += 1;
        }
    }

    /// A thread accesses a set.
    pub fn access(&mut self, access: &Access, stamp: &Stamp) {
        let at = self.tick();
        let limit = self.bounds.accesses;
        let thread = self.thread(access.thread);
        let is_open = |(set, execution): &(SetId, Execution)| {
            *set == access.set && execution.number == access.unit.number
        };
        let index = thread.open.iter().position(is_open).unwrap_or_else(|| {
            let execution = Execution {
                thread: access.thread,
                unit: access.unit.unit,
                number: access.unit.number,
                events: Vec::new(),
                acquires: Vec::new(),
            };
            thread.open.push((access.set, execution));
            thread.open.len() - 1
        });
        let events = &mut thread.open[index].1.events;
        let event = Event {
            location: access.location,
            kind: access.kind,
            site: access.site,
            context: access.context,
            segment: stamp.segment,
            locks: stamp.locks.clone(),
            first: at,
            last: at,
        };
        let is_cut = !add(events, event, access, stamp, limit);
        self.cut.accesses += u64::from(is_cut);
        if access.unit.unit.is_none() {
            self.ended(access.thread, access.unit);
        }
    }

    /// An execution of a unit has ended.
    pub fn ended(&mut self, thread: ThreadId, occurrence: Occurrence) {
        let thread = self.thread(thread);
        let mut ended = Vec::new();
        let mut index = 0;
        while index < thread.open.len() {
            if thread.open[index].1.number != occurrence.number {
                index += 1;
                continue;
            }
            let (set, mut execution) = thread.open.swap_remove(index);
            execution.take_acquires(&thread.acquires);
            ended.push((set, execution));
        }
        if thread.open.is_empty() {
            thread.acquires.clear();
        }
        ended.into_iter().for_each(|(set, execution)| self.keep(set, execution));
    }

    /// The omissions so far.
    pub fn cut(&self) -> Cut {
        self.cut
    }

    /// Ends all executions that have not ended.
    pub(super) fn close(&mut self) {
        for number in 0..self.threads.len() {
            let mut thread = std::mem::take(&mut self.threads[number]);
            thread.open.sort_by_key(|(set, execution)| (*set, execution.number));
            for (set, mut execution) in thread.open {
                execution.take_acquires(&thread.acquires);
                self.keep(set, execution);
            }
        }
    }

    fn keep(&mut self, set: SetId, execution: Execution) {
        if !self.sets.contains_key(&set) {
            if self.sets.len() >= self.bounds.sets {
                self.cut.sets += 1;
                return;
            }
            self.order.push(set);
        }
        let profile = self.sets.entry(set).or_default();
        if !profile.known.insert(execution.signature(true)) {
            return;
        }
        let alike = profile.alike.entry(execution.signature(false)).or_default();
        if alike.len() >= ALIKE_EXECUTIONS {
            profile.executions[alike[ALIKE_EXECUTIONS - 1]] = execution;
        } else if profile.executions.len() < self.bounds.executions {
            alike.push(profile.executions.len());
            profile.executions.push(execution);
        } else {
            self.cut.executions += 1;
        }
    }

    fn tick(&mut self) -> u64 {
        self.time += 1;
        self.time
    }

    fn thread(&mut self, thread: ThreadId) -> &mut Thread {
        let index = thread.0 as usize;
        if index >= self.threads.len() {
            self.threads.resize_with(index + 1, Thread::default);
        }
        &mut self.threads[index]
    }
}

impl Execution {
    fn take_acquires(&mut self, acquires: &[(u64, Held)]) {
        let first = self.events.iter().map(|event| event.first).min().unwrap_or(0);
        let last = self.events.iter().map(|event| event.last).max().unwrap_or(0);
        let inside = acquires.iter().filter(|(at, _)| (first..=last).contains(at));
        self.acquires = inside.copied().collect();
    }
}

/// Adds an event to an execution; returns false if a bound prevented that.
fn add(events: &mut Vec<Event>, event: Event, access: &Access, stamp: &Stamp, limit: usize) -> bool {
    let mut alike = 0;
    let mut last_alike = None;
    for (index, known) in events.iter_mut().enumerate() {
        if !known.is_by_same_code(access) {
            continue;
        }
        if known.is_under(stamp) {
            known.last = event.last;
            return true;
        }
        alike += 1;
        last_alike = Some(index);
    }
    match last_alike {
        Some(index) if alike >= ALIKE => events[index] = event,
        _ if events.len() < limit => events.push(event),
        _ => return false,
    }
    true
}
