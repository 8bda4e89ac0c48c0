//! Finds the candidates of each shape of goal in the accesses to one location. A new shape needs a function here, and a row in the table of
//! `model::goal::shapes`.

use fissure_model::{
    event::AccessKind,
    goal::Shape,
    ids::{LockId, SiteId},
};
use rustc_hash::FxHashSet;

use super::{Access, Act, Candidate, CandidateSite, LocationState};
use crate::relaxed::{Held, Relaxed};

/// Finds the candidates of one shape.
type Finder = fn(&LocationState, &Relaxed) -> Vec<Candidate>;

/// One for each shape. Among candidates of equal rank, those of an earlier function come first.
pub(super) const FINDERS: [Finder; 4] = [interleavings, double_interleavings, delays, reorderings];

/// The ranks of delays, of reorderings, of double interleavings, and of reorderings of acquires: a lock mostly makes every order right.
const DELAY: u8 = 3;
const ORDER: u8 = 8;
const DOUBLE: u8 = 9;
const ORDER_OF_ACQUIRES: u8 = 11;

/// The unserializable triples of AVIO: a remote access that can land between two local ones.
fn interleavings(location: &LocationState, relaxed: &Relaxed) -> Vec<Candidate> {
    let mut found = Vec::new();
    for pair in &location.pairs {
        let (first, last) = (&location.accesses[pair.first], &location.accesses[pair.last]);
        for remote in location.accesses.iter().filter(|remote| remote.thread != first.thread) {
            let Some(rank) = rank(first.kind, remote.kind, last.kind) else { continue };
            let is_ordered = relaxed.is_before(remote.stamp.segment, first.stamp.segment)
                || relaxed.is_before(last.stamp.segment, remote.stamp.segment);
            let is_excluded = |held: &Held| pair.kept.contains(&held.lock);
            if is_ordered || remote.stamp.locks.iter().any(is_excluded) {
                continue;
            }
            found.push(match common(last, remote) {
                Some((lock, after, inside)) => {
                    let first_acquire = first.stamp.locks.iter().find(|held| held.lock == lock);
                    let first = first_acquire.map_or(first.site(), |held| (held.site, Act::Acquire));
                    let (remote, last) = ((inside, Act::Acquire), (after, Act::Acquire));
                    Candidate::new(Shape::Interleaving, [first, remote, last], rank + 1)
                }
                None => {
                    let sites = [first.site(), remote.site(), last.site()];
                    Candidate::new(Shape::Interleaving, sites, rank)
                }
            });
        }
    }
    found
}

/// Two writes of another thread that can land between a local read and the write that follows it: one of them may leave a state with
/// which the local thread copes, and only the second one a state that the thread takes for the old one, or that lacks what it expects.
fn double_interleavings(location: &LocationState, relaxed: &Relaxed) -> Vec<Candidate> {
    let mut found = Vec::new();
    for pair in &location.pairs {
        let (first, last) = (&location.accesses[pair.first], &location.accesses[pair.last]);
        if (first.kind, last.kind) != (AccessKind::Read, AccessKind::Write) {
            continue;
        }
        for (remote, second) in &location.double_writes {
            let (remote, second) = (&location.accesses[*remote], &location.accesses[*second]);
            let is_excluded = |held: &Held| pair.kept.contains(&held.lock);
            let mut locks = remote.stamp.locks.iter().chain(&*second.stamp.locks);
            if remote.thread == first.thread
                || relaxed.is_before(second.stamp.segment, first.stamp.segment)
                || relaxed.is_before(last.stamp.segment, remote.stamp.segment)
                || locks.any(is_excluded)
            {
                continue;
            }
            found.extend(match (common(last, remote), common(last, second)) {
                (None, None) => {
                    let sites = [first.site(), remote.site(), second.site(), last.site()];
                    Some(Candidate::new(Shape::DoubleInterleaving, sites, DOUBLE))
                }
                (Some((lock, after, one)), Some((again, _, other))) if lock == again => {
                    let first_acquire = first.stamp.locks.iter().find(|held| held.lock == lock);
                    let first = first_acquire.map_or(first.site(), |held| (held.site, Act::Acquire));
                    let sites = [first, (one, Act::Acquire), (other, Act::Acquire), (after, Act::Acquire)];
                    Some(Candidate::new(Shape::DoubleInterleaving, sites, DOUBLE + 1))
                }
                // Only some of the accesses need a lock: the sites of the others say too little.
                _ => None,
            });
        }
    }
    found
}

/// Accesses with a conflicting access of another thread: the access can be delayed while other threads run.
fn delays(location: &LocationState, relaxed: &Relaxed) -> Vec<Candidate> {
    let mut found = Vec::new();
    for access in &location.accesses {
        for other in location.conflicting(access, relaxed) {
            let last = common(access, other).map_or(access.site(), |(_, site, _)| (site, Act::Acquire));
            found.push(Candidate::new(Shape::Delay, [last], DELAY));
        }
    }
    found
}

/// Conflicting accesses that always happened in the same order, although the relaxed order does not enforce it. Under a common lock, its
/// acquires are reordered.
fn reorderings(location: &LocationState, relaxed: &Relaxed) -> Vec<Candidate> {
    let sites = |(earlier, later): &(usize, usize)| {
        (location.accesses[*earlier].site(), location.accesses[*later].site())
    };
    let seen: FxHashSet<(CandidateSite, CandidateSite)> = location.orders.iter().map(sites).collect();
    let mut orders: Vec<(usize, usize)> = location.orders.iter().copied().collect();
    orders.sort_unstable();
    let mut found = Vec::new();
    for (earlier, later) in orders {
        let (earlier, later) = (&location.accesses[earlier], &location.accesses[later]);
        let conflicts = AccessKind::Write == earlier.kind || AccessKind::Write == later.kind;
        if !conflicts
            || seen.contains(&(later.site(), earlier.site()))
            || relaxed.is_before(earlier.stamp.segment, later.stamp.segment)
        {
            continue;
        }
        let (remote, last, rank) = match common(earlier, later) {
            None => (later.site(), earlier.site(), ORDER),
            Some((_, one, other)) => ((other, Act::Acquire), (one, Act::Acquire), ORDER_OF_ACQUIRES),
        };
        // Threads that execute the same code under a lock come in any order.
        if remote != last {
            found.push(Candidate::new(Shape::Reordering, [remote, last], rank));
        }
    }
    found
}

/// The lock that two accesses hold and that excludes them from each other, and the sites of its acquires.
pub(super) fn common(one: &Access, other: &Access) -> Option<(LockId, SiteId, SiteId)> {
    one.stamp.locks.iter().find_map(|held| {
        let excluded = other.stamp.locks.iter().find(|other| held.excludes(other))?;
        Some((held.lock, held.site, excluded.site))
    })
}

/// The rank of three accesses in this order, if they are unserializable.
fn rank(first: AccessKind, remote: AccessKind, last: AccessKind) -> Option<u8> {
    use AccessKind::{Read, Write};
    match (first, remote, last) {
        (Read, Write, Write) => Some(0),
        (Read, Write, Read) => Some(2),
        (Write, Write, Read) => Some(4),
        (Write, Read, Write) => Some(6),
        _ => None,
    }
}
