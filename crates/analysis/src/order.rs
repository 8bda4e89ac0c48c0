//! Happens-before between segments of threads.
//!
//! An execution of a thread is divided into segments, so that an access can be stamped with one small number and happens-before
//! holds between whole segments. A new segment begins when the thread starts or joins another one, and when it releases or
//! acquires a [synchronization object](Released): a task and its result, a latch, an element of a queue, a volatile field.
//! One thread [releases](Order::release) its clock into the object, another one [acquires](Order::acquire) it from there.
//!
//! Paper: C. Flanagan and S. N. Freund, "FastTrack: Efficient and Precise Dynamic Race Detection", PLDI 2009. Kept: an access is
//! stamped with the thread and its current time, and clocks are compared only if two accesses conflict. Deviations:
//! - The time of a thread is the number of a segment among all segments of the run, because that number has to fit into a
//!   shadow word. A segment without accesses needs no successor: the thread releases the time before it and continues.
//! - The front end decides what is a synchronization object. Locks that only exclude are none by default: two accesses that
//!   an unrelated lock happened to order are still reported, as the lock-set papers intend.
//! - [`Order::sampling`] bounds the number of segments: beyond a number of boundaries, a thread divides its execution only at
//!   every 16th, and then at every 256th one. Accesses after a release that began no segment count as before it, so that a
//!   race may be taken for ordered, and never the other way round.
//! - There is a second happens-before, by hand-over alone: starting and joining threads, tasks, queues and the like, without
//!   volatile fields and atomics. The accesses to these order themselves, which says nothing about another run.

use std::collections::VecDeque;

use fissure_model::ids::ThreadId;

use crate::{clock::Clock, word::OWNER_BITS};

/// A part of a thread's execution between two operations that order it with other threads.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Segment(pub u32);

/// What ordered two accesses. The front end numbers its own sources from [`Source::FIRST`] on.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Source(pub u32);

impl Source {
    /// The start of a thread.
    pub const START: Source = Source(0);
    /// Joining a thread.
    pub const JOIN: Source = Source(1);
    /// The first number that a front end may use.
    pub const FIRST: u32 = 2;
}

/// The joined clocks of all threads that released one synchronization object.
#[derive(Debug, Clone, Default)]
pub struct Released {
    all: Clock,
    /// What they knew by hand-over alone.
    handed: Clock,
}

/// A release of a synchronization object.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Release {
    /// Whether the object hands something over, unlike a volatile field or an atomic. One object may do both.
    pub hands_over: bool,
    /// Whether accesses are stamped with the current segment of the thread.
    pub has_accesses: bool,
}

/// An acquire of a synchronization object.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Acquire {
    /// What ordered the accesses, for reports.
    pub source: Source,
    /// Whether the object hands something over, unlike a volatile field or an atomic.
    pub hands_over: bool,
    /// Whether accesses are stamped with the current segment of the thread.
    pub has_accesses: bool,
}

/// The clocks of synchronization objects by number.
#[derive(Debug, Default)]
pub struct Synchronizers {
    clocks: Vec<Released>,
    /// The numbers that are not in use.
    free: Vec<u32>,
}

impl Synchronizers {
    /// Adds an object that nobody has released yet.
    pub fn add(&mut self) -> u32 {
        self.free.pop().unwrap_or_else(|| {
            self.clocks.push(Released::default());
            self.clocks.len() as u32 - 1
        })
    }

    /// The clock of an object.
    pub fn get_mut(&mut self, number: u32) -> &mut Released {
        let clock = self.clocks.get_mut(number as usize);
        clock.unwrap_or_else(|| panic!("synchronization object {number} was never added"))
    }

    /// Removes an object.
    pub fn remove(&mut self, number: u32) {
        *self.get_mut(number) = Released::default();
        self.free.push(number);
    }
}

#[derive(Debug)]
struct SegmentData {
    thread: ThreadId,
    /// The index of the segment among those of its thread, from 1.
    index: u32,
    /// For each other thread, the last segment that happens before this one; for the current segment of a thread, before its
    /// next operation. The thread itself has no entry, so that its segments can share a clock.
    clocks: Clocks,
    span: Segment,
}

/// What a segment knows of other threads.
#[derive(Debug, Clone, Default)]
struct Clocks {
    all: Clock,
    /// By hand-over alone.
    handed: Clock,
}

impl Clocks {
    fn with(&self, thread: ThreadId, index: u32) -> Clocks {
        Clocks { all: self.all.with(thread.0, index), handed: self.handed.with(thread.0, index) }
    }

    fn join(&self, all: &Clock, handed: &Clock) -> Clocks {
        Clocks { all: self.all.join(all), handed: self.handed.join(handed) }
    }
}

impl SegmentData {
    /// The clocks with the entry of this segment itself.
    fn whole_clocks(&self) -> Clocks {
        self.clocks.with(self.thread, self.index)
    }

    /// Whether `other` happens before this segment, or is this segment.
    fn follows(&self, other: &SegmentData) -> bool {
        let known =
            if other.thread == self.thread { self.index } else { self.clocks.all.get(other.thread.0) };
        known >= other.index
    }

    /// The same by hand-over alone.
    fn is_handed(&self, other: &SegmentData) -> bool {
        let known =
            if other.thread == self.thread { self.index } else { self.clocks.handed.get(other.thread.0) };
        known >= other.index
    }
}

#[derive(Debug)]
struct ThreadData {
    current: Segment,
    span: Segment,
    /// How many releases and acquires could have divided the execution so far.
    boundaries: u32,
    /// What the thread acquired last, with its clock afterwards.
    recent: VecDeque<(Clock, Source)>,
    /// Whether older entries were dropped from `recent`.
    has_forgotten: bool,
}

/// All threads and their segments.
#[derive(Debug)]
pub struct Order {
    segments: Vec<SegmentData>,
    threads: Vec<ThreadData>,
    /// How many boundaries of each thread begin a new segment without exception.
    exact: u32,
    saturated: bool,
}

impl Default for Order {
    fn default() -> Self {
        Order::sampling(u32::MAX)
    }
}

/// From this number on, no thread divides its execution any further, because a segment costs about a hundred bytes.
const LIMIT: usize = 1 << 20;
/// Threads beyond this number of segments share the last one.
const LAST: usize = (1 << OWNER_BITS) - 1;
/// How many acquires of a thread are remembered to tell what ordered two accesses.
const REMEMBERED: usize = 32;

impl Order {
    /// An order in which the first `exact` boundaries of each thread begin a new segment, and only some of the later ones.
    pub fn sampling(exact: u32) -> Self {
        Order { segments: Vec::new(), threads: Vec::new(), exact, saturated: false }
    }

    /// Adds a thread whose parent is not known.
    pub fn root(&mut self) -> ThreadId {
        self.thread(Clocks::default(), None)
    }

    /// `parent` starts a thread: the parent's operations so far happen before all operations of the child.
    pub fn start(&mut self, parent: ThreadId) -> ThreadId {
        let child = self.thread(self.data(self.segment(parent)).whole_clocks(), Some(Source::START));
        self.divide(parent, None);
        child
    }

    /// `thread` has joined `ended`: all operations of `ended` happen before those of `thread` from here on.
    pub fn join(&mut self, thread: ThreadId, ended: ThreadId) {
        let last = self.data(self.segment(ended)).whole_clocks();
        let clocks = self.data(self.segment(thread)).clocks.join(&last.all, &last.handed);
        self.divide(thread, Some(clocks.clone()));
        self.remember(thread, clocks.all, Source::JOIN);
    }

    /// `thread` releases its clock into a synchronization object: its operations so far happen before those of a thread that
    /// acquires the object.
    pub fn release(&mut self, thread: ThreadId, into: &mut Released, how: Release) {
        let now = self.data(self.segment(thread));
        // Later accesses will be stamped with a segment that has none so far.
        let index = if how.has_accesses { now.index } else { now.index - 1 };
        let Clocks { all, handed } = now.clocks.with(thread, index);
        into.all = into.all.join(&all);
        if how.hands_over {
            into.handed = into.handed.join(&handed);
        }
        if how.has_accesses && self.is_divided(thread) {
            self.divide(thread, None);
        }
    }

    /// `thread` acquires the clock of a synchronization object. Returns whether this adds to what the thread knows.
    pub fn acquire(&mut self, thread: ThreadId, from: &Released, how: Acquire) -> bool {
        let now = self.segment(thread);
        let whole = self.data(now).whole_clocks();
        let is_new = !whole.all.includes(&from.all);
        let is_handed = how.hands_over && !whole.handed.includes(&from.handed);
        if !is_new && !is_handed {
            return false;
        }
        let nothing = Clock::default();
        let handed = if how.hands_over { &from.handed } else { &nothing };
        let clocks = self.data(now).clocks.join(&from.all, handed);
        if how.has_accesses && self.is_divided(thread) {
            self.divide(thread, Some(clocks.clone()));
        } else {
            self.segments[now.0 as usize].clocks = clocks.clone();
        }
        if is_new {
            self.remember(thread, clocks.all, how.source);
        }
        true
    }

    /// The current segment of a thread.
    pub fn segment(&self, thread: ThreadId) -> Segment {
        self.thread_data(thread).current
    }

    /// The thread that a segment belongs to.
    pub fn thread_of(&self, segment: Segment) -> ThreadId {
        self.data(segment).thread
    }

    /// Sets the segment of a thread in a coarser order of the same threads, which its segments from the current one on are part of.
    pub fn set_span(&mut self, thread: ThreadId, span: Segment) {
        let current = self.segment(thread);
        self.threads[thread.0 as usize].span = span;
        self.segments[current.0 as usize].span = span;
    }

    /// The segment in the coarser order that a segment is part of.
    pub fn span_of(&self, segment: Segment) -> Segment {
        self.data(segment).span
    }

    /// Whether `earlier` happens before `later`, by synchronization or by the order within one thread.
    pub fn is_before(&self, earlier: Segment, later: Segment) -> bool {
        self.data(later).follows(self.data(earlier))
    }

    /// Whether `earlier` happens before `later` by hand-over alone, or by the order within one thread.
    pub fn is_handed_over(&self, earlier: Segment, later: Segment) -> bool {
        self.data(later).is_handed(self.data(earlier))
    }

    /// What ordered a segment before the current one of a thread; `None` if they are not ordered, or if the thread acquired too
    /// much since then to remember it.
    pub fn source(&self, earlier: Segment, thread: ThreadId) -> Option<Source> {
        let earlier = self.data(earlier);
        let data = self.thread_data(thread);
        let first = data.recent.iter().position(|(clock, _)| clock.get(earlier.thread.0) >= earlier.index)?;
        (first > 0 || !data.has_forgotten).then(|| data.recent[first].1)
    }

    /// The number of threads.
    pub fn threads(&self) -> usize {
        self.threads.len()
    }

    /// Whether there were more segments than numbers, so that some boundaries or threads were not distinguished.
    pub fn is_saturated(&self) -> bool {
        self.saturated
    }

    /// Whether a boundary begins a new segment.
    fn is_divided(&mut self, thread: ThreadId) -> bool {
        let exact = self.exact;
        let data = &mut self.threads[thread.0 as usize];
        let number = data.boundaries;
        data.boundaries = number.saturating_add(1);
        match number {
            _ if number < exact => true,
            _ if number < exact.saturating_mul(16) => number.is_multiple_of(16),
            _ => number.is_multiple_of(256),
        }
    }

    fn remember(&mut self, thread: ThreadId, clock: Clock, source: Source) {
        let data = &mut self.threads[thread.0 as usize];
        if data.recent.len() == REMEMBERED {
            data.recent.pop_front();
            data.has_forgotten = true;
        }
        data.recent.push_back((clock, source));
    }

    fn thread(&mut self, inherited: Clocks, source: Option<Source>) -> ThreadId {
        let thread = ThreadId(self.threads.len() as u32);
        let (first, span) =
            (SegmentData { thread, index: 1, clocks: inherited.clone(), span: Segment(0) }, Segment(0));
        let current = self.add(first, LAST).unwrap_or(Segment(LAST as u32 - 1));
        let recent = source.map(|source| (inherited.all, source)).into_iter().collect();
        self.threads.push(ThreadData { current, span, boundaries: 0, recent, has_forgotten: false });
        thread
    }

    /// Begins a new segment of a thread, with a new clock if there is one. If there are too many, the current one goes on.
    fn divide(&mut self, thread: ThreadId, clocks: Option<Clocks>) {
        let now = self.segment(thread);
        let data = self.data(now);
        let clocks = clocks.unwrap_or_else(|| data.clocks.clone());
        let span = self.thread_data(thread).span;
        match self.add(SegmentData { thread, index: data.index + 1, clocks: clocks.clone(), span }, LIMIT) {
            Some(next) => self.threads[thread.0 as usize].current = next,
            None => self.segments[now.0 as usize].clocks = clocks,
        }
    }

    fn thread_data(&self, thread: ThreadId) -> &ThreadData {
        let data = self.threads.get(thread.0 as usize);
        data.unwrap_or_else(|| panic!("thread {} was never added to the order", thread.0))
    }

    /// A segment's data. Only [`Order`] assigns numbers of segments, so an unknown one is a defect of the front end.
    fn data(&self, segment: Segment) -> &SegmentData {
        let data = self.segments.get(segment.0 as usize);
        data.unwrap_or_else(|| panic!("segment {} was never begun", segment.0))
    }

    /// Adds a segment unless there are too many.
    fn add(&mut self, segment: SegmentData, limit: usize) -> Option<Segment> {
        if self.segments.len() >= limit {
            self.saturated = true;
            return None;
        }
        self.segments.push(segment);
        Some(Segment(self.segments.len() as u32 - 1))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn by(source: Source, has_accesses: bool) -> Acquire {
        Acquire { source, hands_over: true, has_accesses }
    }

    fn releasing(has_accesses: bool) -> Release {
        Release { hands_over: true, has_accesses }
    }

    #[test]
    fn only_some_objects_hand_over() {
        let mut order = Order::default();
        let main = order.root();
        let (left, right) = (order.start(main), order.start(main));
        let first = order.segment(left);
        let (mut flag, mut queue) = (Released::default(), Released::default());
        order.release(left, &mut flag, releasing(true));
        assert!(order.acquire(right, &flag, Acquire { hands_over: false, ..by(Source(7), true) }));
        let seen = order.segment(right);
        assert!(order.is_before(first, seen) && !order.is_handed_over(first, seen));
        // An object that is released without a hand-over hands nothing over.
        let mut both = Released::default();
        order.release(left, &mut both, Release { hands_over: false, has_accesses: true });
        order.acquire(right, &both, by(Source(8), true));
        assert!(!order.is_handed_over(first, order.segment(right)));
        // The thread knows this already, but not by hand-over.
        order.release(left, &mut queue, releasing(true));
        assert!(order.acquire(right, &queue, by(Source(8), true)));
        let taken = order.segment(right);
        assert!(order.is_handed_over(first, taken) && !order.is_handed_over(first, seen));
        assert!(!order.acquire(right, &queue, by(Source(8), true)));
        assert!(order.is_handed_over(order.segment(main), order.segment(main)));
        // Joining hands everything over.
        order.join(main, right);
        assert!(order.is_handed_over(first, order.segment(main)));
    }

    #[test]
    fn a_start_orders_the_parents_earlier_operations_and_not_its_later_ones() {
        let mut order = Order::default();
        let main = order.root();
        let before = order.segment(main);
        let child = order.start(main);
        let (after, inside) = (order.segment(main), order.segment(child));
        assert!(order.is_before(before, inside));
        assert!(order.is_before(before, after));
        assert!(!order.is_before(after, inside) && !order.is_before(inside, after));
        assert_eq!(order.source(before, child), Some(Source::START));
        assert_eq!(order.source(after, child), None);
        order.join(main, child);
        assert!(order.is_before(inside, order.segment(main)));
        assert_eq!(order.source(inside, main), Some(Source::JOIN));
        assert_eq!(order.thread_of(inside), child);
    }

    #[test]
    fn a_release_happens_before_its_acquire() {
        let mut order = Order::default();
        let main = order.root();
        let (left, right, last) = (order.start(main), order.start(main), order.start(main));
        let (a, b) = (order.segment(left), order.segment(right));
        let mut object = Released::default();
        order.release(left, &mut object, releasing(true));
        let (after, first) = (order.segment(left), object.clone());
        order.release(right, &mut object, releasing(true));
        assert!(order.acquire(last, &object, by(Source(7), true)));
        let taken = order.segment(last);
        assert!(order.is_before(a, taken) && order.is_before(b, taken));
        assert!(!order.is_before(after, taken) && !order.is_before(taken, a));
        assert_eq!((order.source(a, last), order.source(after, last)), (Some(Source(7)), None));
        assert!(!order.acquire(last, &first, by(Source(8), true)));
        assert_eq!(order.segment(last), taken);
    }

    #[test]
    fn accesses_after_a_release_without_accesses_before_it_are_not_ordered() {
        let mut order = Order::default();
        let main = order.root();
        let (left, right) = (order.start(main), order.start(main));
        let mut object = Released::default();
        order.release(left, &mut object, releasing(false));
        let later = order.segment(left);
        order.acquire(right, &object, by(Source(7), false));
        assert!(!order.is_before(later, order.segment(right)));
        // The thread's clock up to then is passed on nevertheless.
        let mut other = Released::default();
        order.release(left, &mut other, releasing(true));
        order.acquire(right, &other, by(Source(7), false));
        let mut relayed = Released::default();
        order.release(right, &mut relayed, releasing(false));
        order.acquire(main, &relayed, by(Source(8), false));
        assert!(order.is_before(later, order.segment(main)));
        assert_eq!(order.source(later, main), Some(Source(8)));
    }

    #[test]
    fn only_some_boundaries_divide_the_execution_of_a_thread_that_has_many() {
        let mut order = Order::sampling(4);
        let main = order.root();
        let child = order.start(main);
        let mut object = Released::default();
        let mut segments = Vec::new();
        for _ in 0..100 {
            order.release(child, &mut object, releasing(true));
            segments.push(order.segment(child));
        }
        segments.dedup();
        // The first four, then those with the numbers 16, 32 and 48; the next one would have the number 256.
        assert_eq!(segments.len(), 7);
        // Accesses in a segment that goes on count as released.
        order.acquire(main, &object, by(Source(7), true));
        assert!(order.is_before(order.segment(child), order.segment(main)));
        // Nothing is lost: what the thread acquires meanwhile is passed on with the next release.
        let before = order.segment(main);
        let mut back = Released::default();
        order.release(main, &mut back, releasing(true));
        order.acquire(child, &back, by(Source(8), true));
        assert!(order.is_before(before, order.segment(child)));
    }

    #[test]
    fn a_source_that_was_forgotten_is_not_guessed() {
        let mut order = Order::default();
        let main = order.root();
        let child = order.start(main);
        let first = order.segment(main);
        let mut object = Released::default();
        for number in 0..2 * REMEMBERED as u32 {
            order.release(main, &mut object, releasing(true));
            order.acquire(child, &object, by(Source(Source::FIRST + number), true));
        }
        assert!(order.is_before(first, order.segment(child)));
        assert_eq!(order.source(first, child), None);
    }

    #[test]
    fn the_number_of_a_forgotten_object_is_used_again_without_its_clock() {
        let mut order = Order::default();
        let main = order.root();
        let child = order.start(main);
        let mut objects = Synchronizers::default();
        let first = objects.add();
        order.release(main, objects.get_mut(first), releasing(true));
        objects.remove(first);
        let second = objects.add();
        assert_eq!(first, second);
        assert!(!order.acquire(child, objects.get_mut(second), by(Source(7), true)));
        assert_ne!(objects.add(), second);
    }

    #[test]
    #[should_panic(expected = "thread 3 was never added")]
    fn an_unknown_thread_is_reported() {
        Order::default().segment(ThreadId(3));
    }

    #[test]
    #[should_panic(expected = "segment 9 was never begun")]
    fn an_unknown_segment_is_reported() {
        let mut order = Order::default();
        let main = order.root();
        let own = order.segment(main);
        order.is_before(own, Segment(9));
    }

    #[test]
    fn order_is_transitive_across_threads() {
        let mut order = Order::default();
        let main = order.root();
        let first = order.segment(main);
        let child = order.start(main);
        let grandchild = order.start(child);
        let inner = order.segment(grandchild);
        assert!(order.is_before(first, inner));
        order.join(child, grandchild);
        order.join(main, child);
        assert!(order.is_before(inner, order.segment(main)));
        let sibling = order.start(main);
        assert!(order.is_before(inner, order.segment(sibling)));
        let stranger = order.root();
        assert!(!order.is_before(first, order.segment(stranger)));
    }
}
