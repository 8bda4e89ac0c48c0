//! Vector clocks with structural sharing.
//!
//! A program may start a hundred thousand threads, and each of them inherits the clock of its parent.
//! A flat vector would be copied in full at each start; here a clock is a persistent tree, so that
//! copying it is free and changing one entry copies one path.

use std::sync::Arc;

const BITS: u32 = 4;
const FAN: usize = 1 << BITS;

#[derive(Debug)]
enum Node {
    Leaf([u32; FAN]),
    Branch([Option<Arc<Node>>; FAN]),
}

/// A map from thread numbers to counts; the default count is zero.
#[derive(Debug, Clone, Default)]
pub struct Clock {
    root: Option<Arc<Node>>,
    /// Levels of branches above the leaves.
    height: u32,
}

impl Clock {
    /// The count of one thread.
    pub fn get(&self, thread: u32) -> u32 {
        if !fits(thread, self.height) {
            return 0;
        }
        let mut node = self.root.as_deref();
        let mut height = self.height;
        loop {
            match node {
                None => return 0,
                Some(Node::Leaf(counts)) => return counts[slot(thread, 0)],
                Some(Node::Branch(children)) => {
                    node = children[slot(thread, height)].as_deref();
                    height -= 1;
                }
            }
        }
    }

    /// The clock with one count raised to at least `count`.
    #[must_use]
    pub fn with(&self, thread: u32, count: u32) -> Clock {
        let mut clock = self.clone();
        while !fits(thread, clock.height) {
            clock.grow();
        }
        let root = with(clock.root.as_deref(), clock.height, thread, count);
        Clock { root: Some(root), height: clock.height }
    }

    /// The larger count of both clocks for every thread.
    #[must_use]
    pub fn join(&self, other: &Clock) -> Clock {
        let (mut left, mut right) = (self.clone(), other.clone());
        while left.height < right.height {
            left.grow();
        }
        while right.height < left.height {
            right.grow();
        }
        Clock { root: join(&left.root, &right.root), height: left.height }
    }

    /// Whether no count of `other` is larger than the count of the same thread in this clock.
    pub fn includes(&self, other: &Clock) -> bool {
        let (mut left, mut right) = (self.clone(), other.clone());
        while left.height < right.height {
            left.grow();
        }
        while right.height < left.height {
            right.grow();
        }
        includes(left.root.as_ref(), right.root.as_ref())
    }

    fn grow(&mut self) {
        if let Some(root) = self.root.take() {
            let mut children: [Option<Arc<Node>>; FAN] = Default::default();
            children[0] = Some(root);
            self.root = Some(Arc::new(Node::Branch(children)));
        }
        self.height += 1;
    }
}

fn fits(thread: u32, height: u32) -> bool {
    let bits = BITS * (height + 1);
    bits >= u32::BITS || thread >> bits == 0
}

fn slot(thread: u32, height: u32) -> usize {
    ((thread >> (BITS * height)) as usize) & (FAN - 1)
}

fn with(node: Option<&Node>, height: u32, thread: u32, count: u32) -> Arc<Node> {
    if height == 0 {
        let mut counts = match node {
            Some(Node::Leaf(counts)) => *counts,
            _ => [0; FAN],
        };
        let entry = &mut counts[slot(thread, 0)];
        *entry = count.max(*entry);
        return Arc::new(Node::Leaf(counts));
    }
    let mut children = match node {
        Some(Node::Branch(children)) => children.clone(),
        _ => Default::default(),
    };
    let child = &mut children[slot(thread, height)];
    *child = Some(with(child.as_deref(), height - 1, thread, count));
    Arc::new(Node::Branch(children))
}

fn includes(larger: Option<&Arc<Node>>, smaller: Option<&Arc<Node>>) -> bool {
    let Some(smaller) = smaller else { return true };
    if larger.is_some_and(|larger| Arc::ptr_eq(larger, smaller)) {
        return true;
    }
    match (larger.map(|node| &**node), &**smaller) {
        (Some(Node::Leaf(a)), Node::Leaf(b)) => a.iter().zip(b).all(|(a, b)| a >= b),
        (Some(Node::Branch(a)), Node::Branch(b)) => {
            a.iter().zip(b).all(|(a, b)| includes(a.as_ref(), b.as_ref()))
        }
        (_, Node::Leaf(b)) => b.iter().all(|&count| count == 0),
        (_, Node::Branch(b)) => b.iter().all(|child| includes(None, child.as_ref())),
    }
}

fn join(left: &Option<Arc<Node>>, right: &Option<Arc<Node>>) -> Option<Arc<Node>> {
    let (Some(a), Some(b)) = (left, right) else {
        return left.clone().or_else(|| right.clone());
    };
    if Arc::ptr_eq(a, b) {
        return left.clone();
    }
    match (&**a, &**b) {
        (Node::Leaf(a), Node::Leaf(b)) => {
            Some(Arc::new(Node::Leaf(std::array::from_fn(|at| a[at].max(b[at])))))
        }
        (Node::Branch(a), Node::Branch(b)) => {
            Some(Arc::new(Node::Branch(std::array::from_fn(|at| join(&a[at], &b[at])))))
        }
        // Both trees have the same height here, so that this pairing does not occur.
        _ => left.clone(),
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn a_clock_is_a_map_of_maxima(
            left in proptest::collection::vec((0u32..5000, 1u32..9), 0..40),
            right in proptest::collection::vec((0u32..5000, 1u32..9), 0..40),
        ) {
            let build = |entries: &[(u32, u32)]| entries.iter().fold(Clock::default(), |c, &(t, n)| c.with(t, n));
            let joined = build(&left).join(&build(&right));
            let mut expected = BTreeMap::new();
            for &(thread, count) in left.iter().chain(&right) {
                let entry = expected.entry(thread).or_insert(0);
                *entry = count.max(*entry);
            }
            prop_assert!(joined.includes(&build(&left)) && joined.includes(&build(&right)));
            let within = expected.iter().all(|(&thread, &count)| build(&left).get(thread) >= count);
            prop_assert_eq!(build(&left).includes(&build(&right)), within);
            for thread in (0..5000).step_by(7).chain(expected.keys().copied()) {
                prop_assert_eq!(joined.get(thread), expected.get(&thread).copied().unwrap_or(0));
            }
        }
    }

    #[test]
    fn large_thread_numbers_are_stored() {
        let clock = Clock::default().with(u32::MAX, 3).with(0, 1);
        assert_eq!((clock.get(u32::MAX), clock.get(0), clock.get(17)), (3, 1, 0));
    }
}
