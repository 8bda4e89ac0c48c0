//! A reference for race detection: slow, and simple enough to be seen to be right.
//!
//! It remembers every access with its locks and its vector clock, and compares each access with all earlier ones. Two accesses race if
//! different threads make them, one of them writes, no lock is common, and synchronization did not order them. Tests compare its verdicts
//! with those of the fast detector: both get the same events.
//!
//! Differences to [`crate::lockset`]: no bound on the number of remembered accesses, and no order by starting and joining threads, which
//! traces of one program need not contain.

use std::collections::{BTreeMap, BTreeSet};

use fissure_model::event::AccessKind;

/// What one thread does. `L` identifies locations.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Event<L> {
    /// An access to a location.
    Access(AccessKind, L),
    /// Acquires a lock.
    Acquire(u32),
    /// Releases a lock.
    Release(u32),
    /// Writes a volatile field: its operations so far happen before those of a thread that reads the field later.
    Publish(u32),
    /// Reads a volatile field.
    Observe(u32),
}

/// The locations on which accesses race. Threads are numbered from 0.
pub fn racing<L: Ord + Copy>(events: &[(usize, Event<L>)]) -> BTreeSet<L> {
    let mut threads: BTreeMap<usize, Thread> = BTreeMap::new();
    let mut published: BTreeMap<u32, Clock> = BTreeMap::new();
    let mut accesses: BTreeMap<L, Vec<Access>> = BTreeMap::new();
    let mut racing = BTreeSet::new();
    for &(number, event) in events {
        let thread = threads.entry(number).or_default();
        match event {
            Event::Access(kind, location) => {
                let access = Access {
                    thread: number,
                    time: thread.time,
                    wrote: kind == AccessKind::Write,
                    locks: thread.locks.iter().copied().collect(),
                };
                let earlier = accesses.entry(location).or_default();
                if earlier.iter().any(|earlier| earlier.races_with(&access, &thread.clock)) {
                    racing.insert(location);
                }
                earlier.push(access);
            }
            Event::Acquire(lock) => thread.locks.push(lock),
            Event::Release(lock) => {
                if let Some(at) = thread.locks.iter().rposition(|held| *held == lock) {
                    thread.locks.remove(at);
                }
            }
            Event::Publish(field) => {
                let clock = published.entry(field).or_default();
                join(clock, &thread.clock);
                join(clock, &Clock::from([(number, thread.time)]));
                thread.time += 1;
            }
            Event::Observe(field) => {
                if let Some(clock) = published.get(&field) {
                    join(&mut thread.clock, clock);
                }
            }
        }
    }
    racing
}

/// A location of a generated program: the object, and its field or element.
pub type Location<'t> = (u32, &'t str);

/// The events of a generated program, each with its thread.
pub type Program<'t> = Vec<(usize, Event<Location<'t>>)>;

/// Reads the events that generated programs print (`programs/differential`), by program. `None` if a line is not as it should be.
pub fn read_programs(text: &str) -> Option<Vec<Program<'_>>> {
    let mut programs = Vec::new();
    for line in text.lines() {
        let words: Vec<&str> = line.split(' ').collect();
        let [first, kind, rest @ ..] = words.as_slice() else { return None };
        if *first == "program" {
            programs.push(Vec::new());
            continue;
        }
        let number = rest.first()?.parse().ok()?;
        let event = match (*kind, rest.get(1)) {
            ("r", Some(place)) => Event::Access(AccessKind::Read, (number, *place)),
            ("w", Some(place)) => Event::Access(AccessKind::Write, (number, *place)),
            ("l", None) => Event::Acquire(number),
            ("u", None) => Event::Release(number),
            ("vw", None) => Event::Publish(number),
            ("vr", None) => Event::Observe(number),
            _ => return None,
        };
        programs.last_mut()?.push((first.parse().ok()?, event));
    }
    Some(programs)
}

/// The objects of generated programs with races, counted for each field; elements count for the array that holds them.
pub fn racing_objects(programs: &[Program<'_>]) -> BTreeMap<String, u64> {
    let mut counts = BTreeMap::new();
    for events in programs {
        let objects: BTreeSet<(u32, &str)> = racing(events)
            .into_iter()
            .map(|(object, place)| (object, if matches!(place, "a" | "b") { place } else { "items" }))
            .collect();
        for (_, field) in objects {
            *counts.entry(field.to_owned()).or_default() += 1;
        }
    }
    counts
}

/// By thread, the last time that is known of it.
type Clock = BTreeMap<usize, u32>;

fn join(clock: &mut Clock, other: &Clock) {
    for (&thread, &time) in other {
        let known = clock.entry(thread).or_default();
        *known = time.max(*known);
    }
}

struct Thread {
    /// Counts from 1, so that 0 stands for nothing.
    time: u32,
    clock: Clock,
    /// In the order of acquires; a lock is here as often as it was acquired.
    locks: Vec<u32>,
}

impl Default for Thread {
    fn default() -> Self {
        Thread { time: 1, clock: Clock::new(), locks: Vec::new() }
    }
}

struct Access {
    thread: usize,
    time: u32,
    wrote: bool,
    locks: BTreeSet<u32>,
}

impl Access {
    /// Whether it races with a later access by a thread with this clock.
    fn races_with(&self, later: &Access, clock: &Clock) -> bool {
        let is_ordered = clock.get(&self.thread).is_some_and(|known| *known >= self.time);
        self.thread != later.thread
            && (self.wrote || later.wrote)
            && self.locks.is_disjoint(&later.locks)
            && !is_ordered
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Each event as thread, kind and number: `r` and `w` access a location, `l` and `u` acquire and release, `p` and `o` publish and observe.
    fn check(events: &str, expected: &[u32]) {
        let events: Vec<(usize, Event<u32>)> = events
            .split(' ')
            .map(|event| {
                let number = event[2..].parse().unwrap();
                let kind = match &event[1..2] {
                    "r" => Event::Access(AccessKind::Read, number),
                    "w" => Event::Access(AccessKind::Write, number),
                    "l" => Event::Acquire(number),
                    "u" => Event::Release(number),
                    "p" => Event::Publish(number),
                    _ => Event::Observe(number),
                };
                (event[..1].parse().unwrap(), kind)
            })
            .collect();
        assert_eq!(racing(&events).into_iter().collect::<Vec<_>>(), expected);
    }

    #[test]
    fn generated_programs_are_read_and_judged() {
        let text = "program 1\n0 w 0 a\n0 vw 0\n1 vr 0\n1 w 0 a\n0 w 1 7\n1 l 2\n1 r 1 7\n1 u 2\nprogram 2\n0 w 0 b\n1 w 0 b";
        let programs = read_programs(text).unwrap();
        assert_eq!(programs.iter().map(Vec::len).collect::<Vec<_>>(), [8, 2]);
        let expected = BTreeMap::from([("b".to_owned(), 1), ("items".to_owned(), 1)]);
        assert_eq!(racing_objects(&programs), expected);
        assert_eq!(read_programs("program 1\n0 x 0 a"), None);
        assert_eq!(read_programs("0 w 0 a"), None);
    }

    #[test]
    fn accesses_race_without_a_common_lock_and_without_order() {
        check("0w1 1w1 0r2 1r2", &[1]);
        check("0r1 1w1 0w2 0w2", &[1]);
        check("0l5 0w1 0u5 1l5 1w1 1u5", &[]);
        check("0l5 0w1 0u5 1l6 1w1 1u6", &[1]);
        check("0l5 0l5 0u5 0w1 0u5 1l5 1w1 1u5", &[]);
        check("0w1 0p9 1o9 1w1", &[]);
        check("0w1 0p9 0w1 1o9 1w1", &[1]);
        check("0w1 1o9 0p9 1w1", &[1]);
        check("0w1 0p9 1o9 1p8 2o8 2w1", &[]);
    }
}
