//! Happens-before between segments of threads, by thread start and join and their counterparts in libraries.
//!
//! An execution of a thread is divided into segments. A new segment begins when the thread starts another thread or has
//! joined one, so that happens-before holds between whole segments and an access can be stamped with one small number.
//!
//! Submitting a task and waiting for its result, counting down a latch and awaiting it, putting an element into a queue and
//! taking it out order threads like start and join: one thread [releases](Order::release) its clock, another one
//! [acquires](Order::acquire) it.

use fissure_model::ids::ThreadId;

use crate::{clock::Clock, word::OWNER_BITS};

/// A part of a thread's execution between two operations that order it with other threads.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Segment(pub u32);

#[derive(Debug)]
struct SegmentData {
    thread: ThreadId,
    /// The index of the segment among those of its thread, from 1.
    index: u32,
    /// For each other thread, the last segment that happens before this one. The thread itself has no entry, so that its
    /// segments can share a clock.
    clock: Clock,
}

impl SegmentData {
    /// The clock with the entry of this segment itself.
    fn whole_clock(&self) -> Clock {
        self.clock.with(self.thread.0, self.index)
    }

    /// Whether `other` happens before this segment, or is this segment.
    fn follows(&self, other: &SegmentData) -> bool {
        let known = if other.thread == self.thread { self.index } else { self.clock.get(other.thread.0) };
        known >= other.index
    }
}

/// All threads and their segments.
#[derive(Debug, Default)]
pub struct Order {
    segments: Vec<SegmentData>,
    /// The current segment of each thread.
    current: Vec<Segment>,
    saturated: bool,
}

/// Segments beyond this number share one number, because each costs about a hundred bytes.
const LIMIT: usize = 1 << 20;
const _: () = assert!(LIMIT < 1 << OWNER_BITS);

impl Order {
    /// Adds a thread whose parent is not known.
    pub fn root(&mut self) -> ThreadId {
        self.thread(Clock::default())
    }

    /// `parent` starts a thread: the parent's operations so far happen before all operations of the child.
    pub fn start(&mut self, parent: ThreadId) -> ThreadId {
        let child = self.thread(self.data(self.segment(parent)).whole_clock());
        self.advance(parent, None);
        child
    }

    /// `thread` has joined `ended`: all operations of `ended` happen before those of `thread` from here on.
    pub fn join(&mut self, thread: ThreadId, ended: ThreadId) {
        self.advance(thread, Some(self.segment(ended)));
    }

    /// `thread` releases its clock, joined with the clock that other threads released `before` at the same object. All of
    /// these operations happen before those of a thread that acquires the returned segment.
    pub fn release(&mut self, thread: ThreadId, before: Option<Segment>) -> Segment {
        let now = self.segment(thread);
        let before = before.filter(|&before| !self.knows(now, before));
        let handed = match before {
            Some(before) => {
                let data = self.data(now);
                let (thread, index) = (data.thread, data.index);
                let clock = data.clock.join(&self.data(before).whole_clock());
                self.segment_with(thread, index, clock)
            }
            None => now,
        };
        self.advance(thread, None);
        handed
    }

    /// `thread` acquires the clock that was released as `handed`. A new segment begins unless the clock is known already.
    pub fn acquire(&mut self, thread: ThreadId, handed: Segment) {
        let now = self.segment(thread);
        if !self.knows(now, handed) {
            self.advance(thread, Some(handed));
        }
    }

    /// The current segment of a thread.
    pub fn segment(&self, thread: ThreadId) -> Segment {
        let segment = self.current.get(thread.0 as usize).copied();
        segment.unwrap_or_else(|| panic!("thread {} was never added to the order", thread.0))
    }

    /// The thread that a segment belongs to.
    pub fn thread_of(&self, segment: Segment) -> ThreadId {
        self.data(segment).thread
    }

    /// Whether `earlier` happens before `later`, by synchronization or by the order within one thread.
    pub fn is_before(&self, earlier: Segment, later: Segment) -> bool {
        self.data(later).follows(self.data(earlier))
    }

    /// The number of threads.
    pub fn threads(&self) -> usize {
        self.current.len()
    }

    /// Whether there were more segments than numbers, so that some share one.
    pub fn is_saturated(&self) -> bool {
        self.saturated
    }

    /// Whether the clock of `now` includes the segment `other` and its whole clock, so that acquiring `other` adds nothing.
    fn knows(&self, now: Segment, other: Segment) -> bool {
        let (now, other) = (self.data(now), self.data(other));
        now.follows(other) && now.whole_clock().includes(&other.clock)
    }

    fn thread(&mut self, inherited: Clock) -> ThreadId {
        let thread = ThreadId(self.current.len() as u32);
        let segment = self.segment_with(thread, 1, inherited);
        self.current.push(segment);
        thread
    }

    fn advance(&mut self, thread: ThreadId, joined: Option<Segment>) {
        let data = self.data(self.segment(thread));
        let clock = match joined {
            Some(last) => data.clock.join(&self.data(last).whole_clock()),
            None => data.clock.clone(),
        };
        let index = data.index + 1;
        let next = self.segment_with(thread, index, clock);
        self.current[thread.0 as usize] = next;
    }

    /// A segment's data. Only [`Order`] assigns numbers of segments, so an unknown one is a defect of the front end.
    fn data(&self, segment: Segment) -> &SegmentData {
        let data = self.segments.get(segment.0 as usize);
        data.unwrap_or_else(|| panic!("segment {} was never begun", segment.0))
    }

    fn segment_with(&mut self, thread: ThreadId, index: u32, inherited: Clock) -> Segment {
        if self.segments.len() >= LIMIT {
            self.saturated = true;
            return Segment(LIMIT as u32 - 1);
        }
        self.segments.push(SegmentData { thread, index, clock: inherited });
        Segment(self.segments.len() as u32 - 1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

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
        order.join(main, child);
        assert!(order.is_before(inside, order.segment(main)));
        assert_eq!(order.thread_of(inside), child);
    }

    #[test]
    fn a_release_happens_before_its_acquire() {
        let mut order = Order::default();
        let main = order.root();
        let (left, right, last) = (order.start(main), order.start(main), order.start(main));
        let (a, b) = (order.segment(left), order.segment(right));
        let handed = order.release(left, None);
        let after = order.segment(left);
        let both = order.release(right, Some(handed));
        order.acquire(last, both);
        let taken = order.segment(last);
        assert!(order.is_before(a, taken) && order.is_before(b, taken));
        assert!(!order.is_before(after, taken) && !order.is_before(taken, a));
        order.acquire(last, handed);
        assert_eq!(order.segment(last), taken);
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
        order.acquire(main, Segment(9));
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
