//! Table 1 of the AssetFuzzer paper: eleven patterns that no order of two units explains.
//!
//! The paper says that an execution is atomic-set serializable if and only if it shows none of them. That holds for units which
//! write every location of the set if they write any. Without this, sequences such as `W(a) W'(b) R(b) R'(a)` remain: of all 616
//! sequences of four accesses by two units to two locations that no order explains, 72 show none of the patterns (counted
//! by a test below).
//!
//! Where the table leaves open which of two locations comes first inside of the other unit, there are two words with the
//! same number.

use fissure_model::event::AccessKind::{self, Read, Write};

/// Whose event it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Who {
    /// The unit whose event comes first, `u` in the table.
    First,
    /// The other one, `u'`.
    Second,
}

impl Who {
    /// A place in a pair.
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
    /// Whose.
    pub who: Who,
    /// Read or write.
    pub kind: AccessKind,
    /// Which of the one or two locations, 0 or 1.
    pub location: usize,
}

/// A pattern: events in the order in which they happen.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Word {
    /// Its number in the table, 1 to 11.
    pub pattern: u8,
    /// The events.
    pub letters: &'static [Letter],
}

impl Word {
    /// The next event of the same unit after the one at this place.
    pub fn next_of_same(&self, place: usize) -> Option<usize> {
        let who = self.letters[place].who;
        (place + 1..self.letters.len()).find(|&later| self.letters[later].who == who)
    }

    /// Whether another unit goes on after the event at this place.
    pub fn switches_after(&self, place: usize) -> bool {
        self.letters.get(place + 1).is_some_and(|next| next.who != self.letters[place].who)
    }

    /// How many locations there are in it.
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

    /// Whether some order of the two units, one after the other, has the same conflicts.
    fn is_serializable(sequence: &[Letter]) -> bool {
        let mut orders = [false; 2];
        for (place, first) in sequence.iter().enumerate() {
            for second in &sequence[place + 1..] {
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
    fn no_word_can_be_explained_by_an_order_of_its_units() {
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
        (0..8_usize.pow(4)).map(move |number| (0..4).map(|place| letter(number >> (3 * place))).collect())
    }

    /// A unit that writes at all writes every location of the set, as the completeness of the table takes for granted.
    fn writes_all_or_nothing(sequence: &[Letter], who: Who) -> bool {
        let writes = |location| {
            sequence.iter().any(|letter| (letter.who, letter.kind, letter.location) == (who, Write, location))
        };
        writes(0) == writes(1)
    }

    #[test]
    fn the_words_are_all_there_is_for_units_that_write_all_or_nothing() {
        let (mut unexplained, mut missed) = (0, 0);
        for sequence in sequences() {
            let is_explained = is_serializable(&sequence);
            let shows = WORDS.iter().any(|word| contains(&sequence, word));
            assert!(!(is_explained && shows), "{sequence:?}");
            unexplained += u32::from(!is_explained);
            missed += u32::from(!is_explained && !shows);
            if [Who::First, Who::Second].into_iter().all(|who| writes_all_or_nothing(&sequence, who)) {
                assert_eq!(!is_explained, shows, "{sequence:?}");
            }
        }
        assert_eq!((unexplained, missed), (616, 72));
    }

    /// Whether a sequence has a word in it, whichever unit is the first and whichever location.
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
