//! The shadow word: the state of one memory location in 64 bits.
//!
//! ```text
//! bit 63    60 59            38 37        20 19        0
//!     | state |  owner         |  lock set  |   site    |
//! ```
//!
//! `owner` is a segment of a thread (see [`crate::order`]) while one thread owns the location, and the number
//! of a history (see [`crate::history`]) once several have accessed it. `site` is the site of the access that brought the
//! location into its state; comparisons ignore it.
//!
//! The layout is a contract with front ends that compare words outside of Rust: a change here requires a change of
//! the agent's hook classes.

/// How many bits number a site.
pub const SITE_BITS: u32 = 20;
/// How many bits number a lock set.
pub const SET_BITS: u32 = 18;
/// How many bits number a segment or a history.
pub const OWNER_BITS: u32 = 22;

const SITE_MASK: u64 = (1 << SITE_BITS) - 1;
const SET_MASK: u64 = (1 << SET_BITS) - 1;
const OWNER_MASK: u64 = (1 << OWNER_BITS) - 1;
const SET_SHIFT: u32 = SITE_BITS;
const OWNER_SHIFT: u32 = SITE_BITS + SET_BITS;
/// Where the state begins.
pub const STATE_SHIFT: u32 = SITE_BITS + SET_BITS + OWNER_BITS;

/// A location's state in the lock-set state machine.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[repr(u8)]
pub enum State {
    /// Never accessed.
    Virgin = 0,
    /// Read by one thread.
    Exclusive = 2,
    /// Read and written by one thread.
    ExclusiveModified = 3,
    /// Read by several threads.
    Shared = 4,
    /// Accessed by several threads, written by at least one.
    SharedModified = 5,
    /// A race was reported, or the location cannot be tracked any further: later accesses are ignored.
    Done = 8,
    /// A race was reported, and the location is tracked further to determine which of its accesses race.
    Followed = 9,
}

/// The state of one location.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub struct Word(pub u64);

impl Word {
    /// A location that was never accessed.
    pub const VIRGIN: Word = Word(0);
    /// A location whose accesses are ignored from now on.
    pub const DONE: Word = Word((State::Done as u64) << STATE_SHIFT);

    /// Packs a state. Numbers that do not fit are truncated; callers keep them in range.
    pub fn new(state: State, owner: u32, set: u32, site: u32) -> Word {
        Word(
            ((state as u64) << STATE_SHIFT)
                | ((u64::from(owner) & OWNER_MASK) << OWNER_SHIFT)
                | ((u64::from(set) & SET_MASK) << SET_SHIFT)
                | (u64::from(site) & SITE_MASK),
        )
    }

    /// The state. Bit patterns that encode no state count as [`State::Done`].
    pub fn state(self) -> State {
        match self.0 >> STATE_SHIFT {
            0 => State::Virgin,
            2 => State::Exclusive,
            3 => State::ExclusiveModified,
            4 => State::Shared,
            5 => State::SharedModified,
            9 => State::Followed,
            _ => State::Done,
        }
    }

    /// The segment or the history.
    pub fn owner(self) -> u32 {
        ((self.0 >> OWNER_SHIFT) & OWNER_MASK) as u32
    }

    /// The lock set.
    pub fn set(self) -> u32 {
        ((self.0 >> SET_SHIFT) & SET_MASK) as u32
    }

    /// The site of the access that led here.
    pub fn site(self) -> u32 {
        (self.0 & SITE_MASK) as u32
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_return_the_parts_they_were_packed_from() {
        let states = [
            State::Virgin,
            State::Exclusive,
            State::ExclusiveModified,
            State::Shared,
            State::SharedModified,
            State::Done,
            State::Followed,
        ];
        for state in states {
            for (owner, set, site) in [(0, 0, 0), (1, 2, 3), ((1 << 22) - 1, (1 << 18) - 1, (1 << 20) - 1)] {
                let word = Word::new(state, owner, set, site);
                assert_eq!((word.state(), word.owner(), word.set(), word.site()), (state, owner, set, site));
            }
        }
        assert_eq!(Word::new(State::Virgin, 0, 0, 0), Word::VIRGIN);
    }
}
