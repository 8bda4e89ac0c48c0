//! What comes before what: the order that starting and joining threads gives, and the library's forms of it.
//!
//! A thread's life is cut into segments. A new one begins when the thread starts another or has joined one, so
//! that a whole segment either comes before a segment of another thread or it does not, and an access
//! can be stamped with one small number.
//!
//! Submitting a task and waiting for its result, opening a latch and passing it, putting something into a queue and taking
//! it out are starting and joining in other words: one thread [releases](Order::release) what it did so far, another one
//! [acquires](Order::acquire) it.

use fissure_model::ids::ThreadId;

use crate::{clock::Clock, word::OWNER_BITS};

/// A part of a thread's life between two operations that order it with others.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Segment(pub u32);

#[derive(Debug)]
struct SegmentData {
    thread: ThreadId,
    /// The place of the segment among those of its thread, from 1.
    index: u32,
    /// How far the other threads come before this segment. The thread itself has no entry, so that its segments can share
    /// a clock.
    clock: Clock,
}

impl SegmentData {
    /// The clock with what this segment itself adds to it.
    fn whole_clock(&self) -> Clock {
        self.clock.with(self.thread.0, self.index)
    }

    /// Whether all of `other` comes before this segment, or is it.
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

/// Segments beyond this number are not told apart any more: each costs about a hundred bytes.
const LIMIT: usize = 1 << 20;
const _: () = assert!(LIMIT < 1 << OWNER_BITS);

impl Order {
    /// A thread that nobody known started.
    pub fn root(&mut self) -> ThreadId {
        self.thread(Clock::default())
    }

    /// `parent` starts a thread: what the parent did so far comes before everything in it.
    pub fn start(&mut self, parent: ThreadId) -> ThreadId {
        let Some(&segment) = self.current.get(parent.0 as usize) else { return self.root() };
        let child = self.thread(self.segments[segment.0 as usize].whole_clock());
        self.advance(parent, None);
        child
    }

    /// `thread` has seen the end of `ended`: everything in that comes before what `thread` does from here on.
    pub fn join(&mut self, thread: ThreadId, ended: ThreadId) {
        if let Some(&last) = self.current.get(ended.0 as usize) {
            self.advance(thread, Some(last));
        }
    }

    /// `thread` hands over what it did so far, together with what others handed over `before` at the same place. Whoever
    /// acquires the segment that is given back comes after all of it.
    pub fn release(&mut self, thread: ThreadId, before: Option<Segment>) -> Segment {
        let Some(&now) = self.current.get(thread.0 as usize) else { return Segment(0) };
        let before = before.filter(|&before| !self.knows(now, before));
        let handed = match before {
            Some(before) => {
                let data = &self.segments[now.0 as usize];
                let (thread, index) = (data.thread, data.index);
                let clock = data.clock.join(&self.segments[before.0 as usize].whole_clock());
                self.segment_with(thread, index, clock)
            }
            None => now,
        };
        self.advance(thread, None);
        handed
    }

    /// `thread` takes over what was handed over as `handed`. A new segment begins if it did not know that before.
    pub fn acquire(&mut self, thread: ThreadId, handed: Segment) {
        let Some(&now) = self.current.get(thread.0 as usize) else { return };
        if !self.knows(now, handed) {
            self.advance(thread, Some(handed));
        }
    }

    /// The segment in which a thread is now.
    pub fn segment(&self, thread: ThreadId) -> Segment {
        self.current.get(thread.0 as usize).copied().unwrap_or(Segment(0))
    }

    /// The thread that a segment belongs to.
    pub fn thread_of(&self, segment: Segment) -> ThreadId {
        self.segments.get(segment.0 as usize).map_or(ThreadId(0), |data| data.thread)
    }

    /// Whether everything in `earlier` comes before everything in `later`, or they are parts of one thread in
    /// this order.
    pub fn is_before(&self, earlier: Segment, later: Segment) -> bool {
        let (Some(earlier), Some(later)) =
            (self.segments.get(earlier.0 as usize), self.segments.get(later.0 as usize))
        else {
            return false;
        };
        later.follows(earlier)
    }

    /// How many threads were seen.
    pub fn threads(&self) -> usize {
        self.current.len()
    }

    /// Whether there were more segments than can be told apart.
    pub fn is_saturated(&self) -> bool {
        self.saturated
    }

    /// Whether a segment comes after everything that another one, or what was handed over with it, comes after.
    fn knows(&self, now: Segment, other: Segment) -> bool {
        let (Some(now), Some(other)) =
            (self.segments.get(now.0 as usize), self.segments.get(other.0 as usize))
        else {
            return true;
        };
        now.follows(other) && now.whole_clock().includes(&other.clock)
    }

    fn thread(&mut self, inherited: Clock) -> ThreadId {
        let thread = ThreadId(self.current.len() as u32);
        let segment = self.segment_with(thread, 1, inherited);
        self.current.push(segment);
        thread
    }

    fn advance(&mut self, thread: ThreadId, joined: Option<Segment>) {
        let Some(&now) = self.current.get(thread.0 as usize) else { return };
        let data = &self.segments[now.0 as usize];
        let clock = match joined {
            Some(last) => data.clock.join(&self.segments[last.0 as usize].whole_clock()),
            None => data.clock.clone(),
        };
        let index = data.index + 1;
        let next = self.segment_with(thread, index, clock);
        self.current[thread.0 as usize] = next;
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
    fn what_a_parent_did_before_the_start_is_ordered_and_what_it_does_after_is_not() {
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
    fn what_is_handed_over_comes_before_what_is_done_with_it() {
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
    fn order_is_handed_down_through_threads() {
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
