//! The checker for the patterns that an execution shows: the runtime monitor with which the AssetFuzzer paper compares (RM). Here it
//! decides whether a violation has happened.
//!
//! Paper: C. Hammer, J. Dolby, M. Vaziri and F. Tip, "Dynamic Detection of Atomic-Set-Serializability Violations", ICSE 2008.
//!
//! Kept: every pair of units, every pair of locations and every pattern is checked, and a pattern is reported only when its last
//! event has happened. Deviation: instead of an automaton per combination, each unit records the times of its accesses, and each
//! access is checked as the last event of a pattern whose other events are recorded already. Accesses of one kind to one location
//! count as one if no other thread accesses the set between them.
//!
//! A unit that has ended is kept while a unit of another thread is open whose first access to the set came before its last one.

use fissure_model::{
    event::AccessKind,
    ids::{SiteId, ThreadId},
};
use rustc_hash::{FxHashMap, FxHashSet};
use smallvec::SmallVec;

use super::{
    Access, Occurrence, SetId, UnitId,
    patterns::{Letter, WORDS, Who, Word},
};

/// How many accesses of one kind to one location are kept per execution of a unit.
const MARKS: usize = 16;
/// How many executions of units are kept per set.
const EXECUTIONS: usize = 64;

/// An event of a pattern that was executed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Happened {
    /// The thread.
    pub thread: ThreadId,
    /// The location in its set.
    pub location: u32,
    /// Read or write.
    pub kind: AccessKind,
    /// The site.
    pub site: SiteId,
    /// A hash of the calls that led to the access.
    pub context: u64,
    /// The number of the step, as counted by the front end.
    pub step: u64,
}

/// A pattern that was executed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Violation {
    /// The index of the word in [`WORDS`].
    pub word: usize,
    /// The set.
    pub set: SetId,
    /// The two units, in the order of the pattern; `None` for an access outside of all units.
    pub units: [Option<UnitId>; 2],
    /// The events, in the order of the pattern and of the execution.
    pub events: Vec<Happened>,
}

impl Violation {
    /// The pattern.
    pub fn pattern(&self) -> &'static Word {
        &WORDS[self.word]
    }
}

/// A pattern, its units, and the locations and sites of its events.
type Key = (usize, [Option<UnitId>; 2], SmallVec<[(u32, SiteId); 4]>);

/// Checks all sets for all patterns.
#[derive(Debug, Default)]
pub struct Checker {
    sets: FxHashMap<SetId, State>,
    /// For each thread, its open executions of units and the sets that they accessed.
    open: Vec<Vec<(u64, SetId)>>,
    reported: FxHashSet<Key>,
    time: u64,
    forgotten: u64,
}

#[derive(Debug, Default)]
struct State {
    executions: Vec<Execution>,
    /// Counts how often the accessing thread changes.
    turn: u64,
    last: Option<ThreadId>,
}

#[derive(Debug)]
struct Execution {
    thread: ThreadId,
    occurrence: Occurrence,
    is_open: bool,
    first: u64,
    latest: u64,
    /// By location and kind.
    marks: Vec<((u32, AccessKind), Marks)>,
}

type Marks = SmallVec<[Mark; 2]>;

#[derive(Debug, Clone, Copy)]
struct Mark {
    time: u64,
    turn: u64,
    happened: Happened,
}

impl Execution {
    fn marks(&self, location: u32, kind: AccessKind) -> &[Mark] {
        self.marks.iter().find(|(key, _)| *key == (location, kind)).map_or(&[], |(_, marks)| marks)
    }

    fn add(&mut self, mark: Mark) {
        self.latest = mark.time;
        let key = (mark.happened.location, mark.happened.kind);
        let index = self.marks.iter().position(|(known, _)| *known == key).unwrap_or_else(|| {
            self.marks.push((key, SmallVec::new()));
            self.marks.len() - 1
        });
        let marks = &mut self.marks[index].1;
        if marks.last().is_some_and(|last| last.turn == mark.turn) {
            return;
        }
        if marks.len() == MARKS {
            marks.pop();
        }
        marks.push(mark);
    }
}

impl Checker {
    /// A thread has accessed a set. Returns the patterns that this access completes and that were not reported before.
    pub fn access(&mut self, access: &Access, step: u64) -> Vec<Violation> {
        self.time += 1;
        let state = self.sets.entry(access.set).or_default();
        if state.last != Some(access.thread) {
            state.turn += 1;
            state.last = Some(access.thread);
        }
        let happened = Happened {
            thread: access.thread,
            location: access.location,
            kind: access.kind,
            site: access.site,
            context: access.context,
            step,
        };
        let mark = Mark { time: self.time, turn: state.turn, happened };
        let own = |execution: &Execution| {
            execution.thread == access.thread && execution.occurrence.number == access.unit.number
        };
        let index = state.executions.iter().position(own).unwrap_or_else(|| {
            state.executions.push(Execution {
                thread: access.thread,
                occurrence: access.unit,
                is_open: access.unit.unit.is_some(),
                first: mark.time,
                latest: mark.time,
                marks: Vec::new(),
            });
            if access.unit.unit.is_some() {
                let thread = access.thread.0 as usize;
                if thread >= self.open.len() {
                    self.open.resize_with(thread + 1, Vec::new);
                }
                self.open[thread].push((access.unit.number, access.set));
            }
            state.executions.len() - 1
        });
        let mut found = Vec::new();
        for other in state.executions.iter().filter(|other| other.thread != access.thread) {
            let executions = [&state.executions[index], other];
            for (number, word) in WORDS.iter().enumerate() {
                let Some(events) = complete(word, executions, mark) else { continue };
                let [own, other] = executions.map(|execution| execution.occurrence.unit);
                let is_first = word.letters[word.letters.len() - 1].who == Who::First;
                let units = if is_first { [own, other] } else { [other, own] };
                let sites = events.iter().map(|event| (event.location, event.site)).collect();
                if self.reported.insert((number, units, sites)) {
                    found.push(Violation { word: number, set: access.set, units, events });
                }
            }
        }
        state.executions[index].add(mark);
        self.forgotten += state.forget();
        if state.executions.is_empty() {
            self.sets.remove(&access.set);
        }
        found
    }

    /// An execution of a unit has ended.
    pub fn ended(&mut self, thread: ThreadId, occurrence: Occurrence) {
        let Some(open) = self.open.get_mut(thread.0 as usize) else { return };
        let sets = &mut self.sets;
        open.retain(|(number, set)| {
            if *number != occurrence.number {
                return true;
            }
            if let Some(state) = sets.get_mut(set) {
                let own = |execution: &&mut Execution| {
                    execution.thread == thread && execution.occurrence.number == *number
                };
                state.executions.iter_mut().filter(own).for_each(|execution| execution.is_open = false);
                state.forget();
                if state.executions.is_empty() {
                    sets.remove(set);
                }
            }
            false
        });
    }

    /// How many executions of units were dropped because of a bound although they could still have been part of a pattern.
    pub fn forgotten(&self) -> u64 {
        self.forgotten
    }
}

impl State {
    /// Drops the executions that cannot be part of a pattern any more; returns how many others a bound forced out.
    fn forget(&mut self) -> u64 {
        let open: SmallVec<[(ThreadId, u64); 8]> = self
            .executions
            .iter()
            .filter(|execution| execution.is_open)
            .map(|execution| (execution.thread, execution.first))
            .collect();
        self.executions.retain(|execution| {
            execution.is_open
                || open.iter().any(|(thread, first)| *thread != execution.thread && *first < execution.latest)
        });
        let excess = self.executions.len().saturating_sub(EXECUTIONS);
        let mut left = excess;
        self.executions.retain(|execution| {
            let goes = left > 0 && !execution.is_open;
            left -= usize::from(goes);
            !goes
        });
        (excess - left) as u64
    }
}

/// The events of a word if `last`, an access of the first of the two executions, completes it.
fn complete(word: &Word, executions: [&Execution; 2], last: Mark) -> Option<Vec<Happened>> {
    let (final_letter, before) = word.letters.split_last()?;
    if final_letter.kind != last.happened.kind {
        return None;
    }
    let of = |who: Who| if who == final_letter.who { executions[0] } else { executions[1] };
    let mut locations = [None; 2];
    locations[final_letter.location] = Some(last.happened.location);
    if word.locations() == 1 {
        return fill(before, of, locations, last);
    }
    let others = executions[1].marks.iter().map(|((location, _), _)| *location);
    let mut tried: SmallVec<[u32; 8]> = SmallVec::new();
    for location in others.filter(|location| *location != last.happened.location) {
        if tried.contains(&location) {
            continue;
        }
        tried.push(location);
        locations[1 - final_letter.location] = Some(location);
        let events = fill(before, of, locations, last);
        if events.is_some() {
            return events;
        }
    }
    None
}

/// Finds events for all letters but the last: each is the earliest after its predecessor, which succeeds if any choice does.
fn fill<'e>(
    letters: &[Letter],
    of: impl Fn(Who) -> &'e Execution,
    locations: [Option<u32>; 2],
    last: Mark,
) -> Option<Vec<Happened>> {
    let mut events = Vec::with_capacity(letters.len() + 1);
    let mut time = 0;
    for letter in letters {
        let marks = of(letter.who).marks(locations[letter.location]?, letter.kind);
        let mark = marks.iter().find(|mark| mark.time > time)?;
        time = mark.time;
        events.push(mark.happened);
    }
    if time >= last.time {
        return None;
    }
    events.push(last.happened);
    Some(events)
}
