//! Table 1 of the AssetFuzzer paper: eleven patterns that no serial order of two units explains.
//!
//! The paper states that an execution is atomic-set serializable if and only if it shows none of them. The statement holds for
//! units that write every location of the set if they write any. Without this condition, sequences such as
//! `W(a) W'(b) R(b) R'(a)` are missed: of all 616 unserializable sequences of four accesses by two units to two locations, 72
//! show none of the patterns (counted by a test below).
//!
//! If the table leaves open which of two locations the other unit accesses first, there are two words with the same number.

use fissure_model::event::AccessKind::{self, Read, Write};

/// The unit of an event.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Who {
    /// The unit whose event comes first, `u` in the table.
    First,
    /// The other one, `u'`.
    Second,
}

impl Who {
    /// The index in a pair.
    pub fn index(self) -> usize {
        match self {
            Who::First => 0,
            Who::Second => 1,
        }
    }
}

/// One event of a pattern.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Letter {
    /// The unit.
    pub who: Who,
    /// Read or write.
    pub kind: AccessKind,
    /// The location, 0 or 1.
    pub location: usize,
}

/// A pattern: its events in the order of the execution.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Word {
    /// Its number in the table, 1 to 11.
    pub pattern: u8,
    /// The events.
    pub letters: &'static [Letter],
}

impl Word {
    /// The index of the next event of the same unit after the one at this index.
    pub fn next_of_same(&self, index: usize) -> Option<usize> {
        let who = self.letters[index].who;
        (index + 1..self.letters.len()).find(|&later| self.letters[later].who == who)
    }

    /// Whether the next event after the one at this index belongs to the other unit.
    pub fn switches_after(&self, index: usize) -> bool {
        self.letters.get(index + 1).is_some_and(|next| next.who != self.letters[index].who)
    }

    /// The number of locations.
    pub fn locations(&self) -> usize {
        1 + usize::from(self.letters.iter().any(|letter| letter.location == 1))
    }
}

const fn u(kind: AccessKind, location: usize) -> Letter {
    Letter { who: Who::First, kind, location }
}

const fn v(kind: AccessKind, location: usize) -> Letter {
    Letter { who: Who::Second, kind, location }
}

const fn word(pattern: u8, letters: &'static [Letter]) -> Word {
    Word { pattern, letters }
}

/// All patterns.
pub const WORDS: [Word; 14] = [
    word(1, &[u(Read, 0), v(Write, 0), u(Write, 0)]),
    word(2, &[u(Read, 0), v(Write, 0), u(Read, 0)]),
    word(3, &[u(Write, 0), v(Read, 0), u(Write, 0)]),
    word(4, &[u(Write, 0), v(Write, 0), u(Read, 0)]),
    word(5, &[u(Write, 0), v(Write, 0), u(Write, 0)]),
    word(6, &[u(Write, 0), v(Write, 0), v(Write, 1), u(Write, 1)]),
    word(6, &[u(Write, 0), v(Write, 1), v(Write, 0), u(Write, 1)]),
    word(7, &[u(Write, 0), v(Write, 1), u(Write, 1), v(Write, 0)]),
    word(8, &[u(Write, 0), v(Read, 0), v(Read, 1), u(Write, 1)]),
    word(8, &[u(Write, 0), v(Read, 1), v(Read, 0), u(Write, 1)]),
    word(9, &[u(Read, 0), v(Write, 0), v(Write, 1), u(Read, 1)]),
    word(9, &[u(Read, 0), v(Write, 1), v(Write, 0), u(Read, 1)]),
    word(10, &[u(Read, 0), v(Write, 1), u(Read, 1), v(Write, 0)]),
    word(11, &[u(Write, 0), v(Read, 1), u(Write, 1), v(Read, 0)]),
];

#[cfg(test)]
mod tests {
    use super::*;

    /// Whether some serial order of the two units has the same conflicts.
    fn is_serializable(sequence: &[Letter]) -> bool {
        let mut orders = [false; 2];
        for (index, first) in sequence.iter().enumerate() {
            for second in &sequence[index + 1..] {
                let conflicts = first.location == second.location
                    && first.who != second.who
                    && (first.kind == Write || second.kind == Write);
                if conflicts {
                    orders[first.who.index()] = true;
                }
            }
        }
        orders != [true; 2]
    }

    #[test]
    fn no_word_is_serializable() {
        for word in &WORDS {
            assert!(!is_serializable(word.letters), "{word:?}");
            assert_eq!(word.letters[0], Letter { location: 0, who: Who::First, ..word.letters[0] });
            assert_eq!(word.letters.len(), 2 + word.locations(), "{word:?}");
        }
        let numbers: Vec<u8> = WORDS.iter().map(|word| word.pattern).collect();
        assert_eq!(numbers, [1, 2, 3, 4, 5, 6, 6, 7, 8, 8, 9, 9, 10, 11]);
    }

    /// All sequences of four events of two units on two locations.
    fn sequences() -> impl Iterator<Item = Vec<Letter>> {
        let letter = |number: usize| Letter {
            who: if number & 1 == 0 { Who::First } else { Who::Second },
            kind: if number & 2 == 0 { Read } else { Write },
            location: number >> 2 & 1,
        };
        (0..8_usize.pow(4)).map(move |number| (0..4).map(|index| letter(number >> (3 * index))).collect())
    }

    /// A unit that writes at all writes every location of the set: the condition under which the table is complete.
    fn writes_all_or_nothing(sequence: &[Letter], who: Who) -> bool {
        let writes = |location| {
            sequence.iter().any(|letter| (letter.who, letter.kind, letter.location) == (who, Write, location))
        };
        writes(0) == writes(1)
    }

    #[test]
    fn the_words_are_complete_for_units_that_write_all_or_nothing() {
        let (mut unserializable, mut missed) = (0, 0);
        for sequence in sequences() {
            let is_serializable = is_serializable(&sequence);
            let shows = WORDS.iter().any(|word| contains(&sequence, word));
            assert!(!(is_serializable && shows), "{sequence:?}");
            unserializable += u32::from(!is_serializable);
            missed += u32::from(!is_serializable && !shows);
            if [Who::First, Who::Second].into_iter().all(|who| writes_all_or_nothing(&sequence, who)) {
                assert_eq!(!is_serializable, shows, "{sequence:?}");
            }
        }
        assert_eq!((unserializable, missed), (616, 72));
    }

    /// Whether a sequence contains a word as a subsequence, up to exchanging the two units and the two locations.
    fn contains(sequence: &[Letter], word: &Word) -> bool {
        [Who::First, Who::Second].into_iter().any(|first| {
            (0..2).any(|zero| {
                let mut left = word.letters.iter().peekable();
                for letter in sequence {
                    let who = if letter.who == first { Who::First } else { Who::Second };
                    let same = Letter { who, kind: letter.kind, location: letter.location ^ zero };
                    left.next_if(|next| **next == same);
                }
                left.peek().is_none()
            })
        })
    }
}
