//! Phase I of AssetFuzzer: predicts the patterns that other executions may show from one execution that need not show any.
//!
//! Paper: Z. Lai, S.C. Cheung and W.K. Chan, "Detecting Atomic-Set Serializability Violations in Multithreaded Programs through
//! Active Randomized Testing", ICSE 2010, section 4.1.
//!
//! Kept: the conjunction of the relaxed order (F_RHB), the locks (F_LS) and, for Phase II, the vulnerable window's locks. The
//! paper gives its formulas for the ninth pattern only. Here they are formed for each switch of a pattern from
//! one unit X to the other one Y, after the event p, where x is X's next event in the pattern, if there is one:
//!
//! - F_RHB: the relaxed order does not put Y's event before p.
//! - Y needs the locks that it must acquire while X is between p and x: those that it holds at its events there, and those that
//!   it acquires from the first to the last of them.
//! - F_LS: of the locks that X holds from p to x, none excludes a lock that Y needs.
//! - The window's locks are those that X holds at p and that exclude a lock that Y needs: Phase II pauses X once it has released
//!   them.
//!
//! Beyond the paper, a prediction names the acquire of Y's first lock that conflicts with the locks of the first event: if the
//! second unit holds that lock already, the first event cannot happen.
//!
//! The search examines each set separately, and within a set each pair of executions of units. Sets with equal profiles are
//! examined once.

use std::hash::{Hash, Hasher};

use fissure_model::{
    event::AccessKind,
    ids::{LockId, SiteId, ThreadId},
};
use rustc_hash::{FxHashMap, FxHashSet, FxHasher};

use super::{
    SetId, UnitId,
    patterns::{WORDS, Word},
    profile::{Cut, Event, Execution, Profile, SetProfile},
};
use crate::relaxed::{Held, Relaxed, kept};

/// How many combinations of events are examined per pair of executions, so that one pair does not exhaust the total bound.
const CHECKS_OF_A_PAIR: u64 = 200_000;

/// An event of a prediction.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Expected {
    /// The location in its set.
    pub location: u32,
    /// Read or write.
    pub kind: AccessKind,
    /// The site.
    pub site: SiteId,
    /// A hash of the calls that led to the access.
    pub context: u64,
}

/// A pattern that some other execution may show.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Prediction {
    /// The index of the word in [`WORDS`].
    pub word: usize,
    /// The first set that it was predicted for.
    pub set: SetId,
    /// The two units, in the order of the pattern; `None` for an access outside of all units.
    pub units: [Option<UnitId>; 2],
    /// The threads that executed them.
    pub threads: [ThreadId; 2],
    /// The events, in the order of the pattern.
    pub events: Vec<Expected>,
    /// For each event but the last, the acquire sites of the locks that its thread must release before the other one goes on.
    pub windows: Vec<Vec<SiteId>>,
    /// The site and calling context where the second unit acquires its first lock that conflicts with the locks of the first event.
    pub gate: Option<(SiteId, u64)>,
}

impl Prediction {
    /// The pattern.
    pub fn pattern(&self) -> &'static Word {
        &WORDS[self.word]
    }
}

impl Profile {
    /// Predicts the patterns that other executions may show, in the order of this execution's sets and units.
    pub fn predict(mut self, relaxed: &Relaxed) -> (Vec<Prediction>, Cut) {
        self.close();
        let mut search = Search {
            relaxed,
            checks: self.bounds.checks,
            left: 0,
            most: self.bounds.predictions,
            cut: self.cut,
            known: FxHashSet::default(),
            found: Vec::new(),
        };
        let mut seen = FxHashSet::default();
        for set in &self.order {
            let profile = &self.sets[set];
            let mut threads = profile.executions.iter().map(|execution| execution.thread);
            let first = threads.next();
            if threads.all(|thread| Some(thread) == first) || !seen.insert(signature(profile)) {
                continue;
            }
            search.search_set(*set, profile);
        }
        (search.found, search.cut)
    }
}

struct Search<'a> {
    relaxed: &'a Relaxed,
    /// How many combinations may still be examined.
    checks: u64,
    /// How many of them may still be examined for the current pair of executions.
    left: u64,
    most: usize,
    cut: Cut,
    known: FxHashSet<(usize, [Option<UnitId>; 2], Vec<Expected>)>,
    found: Vec<Prediction>,
}

impl Search<'_> {
    fn search_set(&mut self, set: SetId, profile: &SetProfile) {
        for first in &profile.executions {
            // The second unit can be a single access outside of all units, but the first one needs two accesses to interleave with.
            if first.unit.is_none() {
                continue;
            }
            for second in profile.executions.iter().filter(|second| second.thread != first.thread) {
                let allowance = self.checks.min(CHECKS_OF_A_PAIR);
                self.left = allowance;
                for word in 0..WORDS.len() {
                    let pair = [first, second];
                    self.extend(set, word, &pair, &mut Vec::new(), &mut [None; 2]);
                }
                self.checks -= allowance - self.left;
                self.cut.checks += u64::from(self.left == 0);
            }
        }
    }

    /// Extends a partial match: chooses events for the remaining letters of a word.
    fn extend<'e>(
        &mut self,
        set: SetId,
        number: usize,
        pair: &[&'e Execution; 2],
        chosen: &mut Vec<&'e Event>,
        locations: &mut [Option<u32>; 2],
    ) {
        let word = &WORDS[number];
        let index = chosen.len();
        let Some(letter) = word.letters.get(index) else {
            self.conclude(set, number, pair, chosen);
            return;
        };
        for event in &pair[letter.who.index()].events {
            if event.kind != letter.kind {
                continue;
            }
            let other = locations[1 - letter.location];
            let fits = match locations[letter.location] {
                Some(location) => location == event.location,
                None => other != Some(event.location),
            };
            let previous = (0..index).rev().find(|&earlier| word.letters[earlier].who == letter.who);
            let follows = previous.is_none_or(|earlier| chosen[earlier].first < event.last);
            let is_switch = index > 0 && word.switches_after(index - 1);
            // F_RHB.
            if !fits
                || !follows
                || is_switch && self.relaxed.is_before(event.segment, chosen[index - 1].segment)
            {
                continue;
            }
            if self.left == 0 {
                return;
            }
            self.left -= 1;
            let before = *locations;
            locations[letter.location] = Some(event.location);
            chosen.push(event);
            self.extend(set, number, pair, chosen, locations);
            chosen.pop();
            *locations = before;
        }
    }

    fn conclude(&mut self, set: SetId, number: usize, pair: &[&Execution; 2], chosen: &[&Event]) {
        let word = &WORDS[number];
        let events: Vec<Expected> = chosen
            .iter()
            .map(|event| Expected {
                location: event.location,
                kind: event.kind,
                site: event.site,
                context: event.context,
            })
            .collect();
        let key = (number, [pair[0].unit, pair[1].unit], events);
        if self.known.contains(&key) {
            return;
        }
        let Some(windows) = windows(word, pair, chosen) else { return };
        if self.found.len() >= self.most {
            self.cut.predictions += 1;
            return;
        }
        let (_, units, events) = key.clone();
        self.known.insert(key);
        let gate = chosen[1].locks.iter().find(|held| excludes_any(held, &chosen[0].locks));
        // A gate at an acquire that the first unit executes as well would block the first unit itself.
        let acquire = |held: &Held| (held.site, held.context);
        let gate = gate.map(acquire).filter(|gate| chosen[0].locks.iter().all(|own| acquire(own) != *gate));
        self.found.push(Prediction {
            word: number,
            set,
            units,
            threads: [pair[0].thread, pair[1].thread],
            events,
            windows,
            gate,
        });
    }
}

/// The acquire sites of each window's locks, if the locks permit all switches (F_LS).
fn windows(word: &Word, pair: &[&Execution; 2], chosen: &[&Event]) -> Option<Vec<Vec<SiteId>>> {
    let mut windows = Vec::new();
    for index in 0..chosen.len() - 1 {
        let mut window = Vec::new();
        if word.switches_after(index)
            && let Some(next) = word.next_of_same(index)
        {
            let other = pair[word.letters[index + 1].who.index()];
            let need = need(other, &chosen[index + 1..next]);
            if kept(&chosen[index].locks, &chosen[next].locks).any(|held| excludes_any(held, &need)) {
                return None;
            }
            let released = chosen[index].locks.iter().filter(|held| excludes_any(held, &need));
            window.extend(released.map(|held| held.site));
        }
        windows.push(window);
    }
    Some(windows)
}

/// The locks that a unit must hold or acquire from the first to the last of these events.
fn need(execution: &Execution, events: &[&Event]) -> Vec<Held> {
    let mut need: Vec<Held> = events.iter().flat_map(|event| event.locks.iter().copied()).collect();
    if let [first, .., last] = events {
        // Both may have happened repeatedly; the interval between the closest occurrences counts, if there is one.
        let (from, to) =
            if first.last < last.first { (first.last, last.first) } else { (first.first, last.last) };
        let inside = execution.acquires.iter().filter(|(at, _)| (from..=to).contains(at));
        need.extend(inside.map(|(_, held)| *held));
    }
    need
}

fn excludes_any(held: &Held, others: &[Held]) -> bool {
    others.iter().any(|other| held.excludes(other))
}

/// A hash of the executions on a set that ignores the identity of the object and of its locks.
fn signature(profile: &SetProfile) -> u64 {
    let mut hasher = FxHasher::default();
    let mut locks: FxHashMap<LockId, usize> = FxHashMap::default();
    let mut times: FxHashMap<u64, usize> = FxHashMap::default();
    for execution in &profile.executions {
        (execution.thread, execution.unit, execution.events.len()).hash(&mut hasher);
        // Only the order of times is hashed, because absolute times depend on other threads.
        let mut sorted: Vec<u64> = execution.acquires.iter().map(|(at, _)| *at).collect();
        sorted.extend(execution.events.iter().flat_map(|event| [event.first, event.last]));
        sorted.sort_unstable();
        let rank = |at: u64| sorted.partition_point(|time| *time < at);
        let mut held = |held: &Held, hasher: &mut FxHasher| {
            let (new_lock, new_time) = (locks.len(), times.len());
            let lock = *locks.entry(held.lock).or_insert(new_lock);
            let time = *times.entry(held.time).or_insert(new_time);
            (lock, time, held.mode, held.site).hash(hasher);
        };
        for event in &execution.events {
            (event.location, event.kind, event.site, event.context, event.segment).hash(&mut hasher);
            (rank(event.first), rank(event.last)).hash(&mut hasher);
            event.locks.iter().for_each(|lock| held(lock, &mut hasher));
        }
        for (at, lock) in &execution.acquires {
            rank(*at).hash(&mut hasher);
            held(lock, &mut hasher);
        }
    }
    hasher.finish()
}
