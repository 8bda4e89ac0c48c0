//! Schemas: sequences of invocations, with a partial order between the sequences (Section 3.1 of the paper).

use std::fmt;

use crate::value::{Value, separated};

/// One call of a method with its arguments.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Invocation {
    /// The method's name; if several methods share name and number of parameters, with the types of its parameters
    /// in angle brackets: `remove<int>`.
    pub method: String,
    /// The arguments.
    pub arguments: Vec<Value>,
}

/// A harness with the names of its methods: sequences that run concurrently, as far as the order between them permits.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Schema {
    /// The sequences; each is executed by its own thread.
    pub sequences: Vec<Vec<Invocation>>,
    /// Pairs of sequences, by their numbers from 0: the first ends before the second begins.
    pub order: Vec<(usize, usize)>,
}

/// Why a schema is invalid.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum SchemaError {
    /// There is no sequence, or a sequence has no invocation.
    #[error("a harness needs at least one sequence, and each sequence at least one invocation")]
    Empty,
    /// The order refers to a sequence that does not exist.
    #[error("there is no sequence {0}: they are counted from 0")]
    NoSuchSequence(usize),
    /// The order has a cycle.
    #[error("the order between the sequences has a cycle")]
    Circle,
}

impl Schema {
    /// A schema with a valid order.
    ///
    /// # Errors
    /// If a sequence is empty, or the order is no partial order.
    pub fn new(sequences: Vec<Vec<Invocation>>, order: Vec<(usize, usize)>) -> Result<Self, SchemaError> {
        if sequences.is_empty() || sequences.iter().any(Vec::is_empty) {
            return Err(SchemaError::Empty);
        }
        let numbers = order.iter().flat_map(|&(before, after)| [before, after]);
        if let Some(number) = numbers.into_iter().find(|&number| number >= sequences.len()) {
            return Err(SchemaError::NoSuchSequence(number));
        }
        let closed = closure(sequences.len(), &order);
        if (0..sequences.len()).any(|number| closed[number][number]) {
            return Err(SchemaError::Circle);
        }
        Ok(Schema { sequences, order })
    }

    /// The sequences in groups, if the order is that each group ends before the next one begins: `[a()] < [b()], [c()]`.
    pub fn groups(&self) -> Option<Vec<Vec<usize>>> {
        let number = self.sequences.len();
        let before = closure(number, &self.order);
        let depth = |one: usize| (0..number).filter(|&other| before[other][one]).count();
        let depths: Vec<usize> = (0..number).map(depth).collect();
        let mut levels = depths.clone();
        levels.sort_unstable();
        levels.dedup();
        let of_level = |level: &usize| (0..number).filter(|&one| depths[one] == *level).collect();
        let groups: Vec<Vec<usize>> = levels.iter().map(of_level).collect();
        let level = |one: usize| groups.iter().position(|group| group.contains(&one));
        let is_grouped =
            (0..number).all(|one| (0..number).all(|other| before[one][other] == (level(one) < level(other))));
        is_grouped.then_some(groups)
    }

    /// How many invocations there are.
    pub fn invocations(&self) -> usize {
        self.sequences.iter().map(Vec::len).sum()
    }
}

/// `table[i][j]`: sequence i comes before sequence j, directly or transitively.
pub(crate) fn closure(sequences: usize, order: &[(usize, usize)]) -> Vec<Vec<bool>> {
    let mut before = vec![vec![false; sequences]; sequences];
    for &(first, second) in order {
        before[first][second] = true;
    }
    for middle in 0..sequences {
        for first in 0..sequences {
            for second in 0..sequences {
                before[first][second] |= before[first][middle] && before[middle][second];
            }
        }
    }
    before
}

impl fmt::Display for Invocation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}(", self.method)?;
        separated(f, &self.arguments, |f, argument| write!(f, "{argument}"))?;
        f.write_str(")")
    }
}

impl fmt::Display for Schema {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let groups = self.groups().filter(|groups| groups.len() > 1);
        let all = || vec![(0..self.sequences.len()).collect()];
        for (at, group) in groups.clone().unwrap_or_else(all).iter().enumerate() {
            f.write_str(if at > 0 { " < " } else { "" })?;
            for (at, &number) in group.iter().enumerate() {
                f.write_str(if at > 0 { ", [" } else { "[" })?;
                for (at, invocation) in self.sequences[number].iter().enumerate() {
                    write!(f, "{}{invocation}", if at > 0 { "; " } else { "" })?;
                }
                f.write_str("]")?;
            }
        }
        if groups.is_none() && !self.order.is_empty() {
            f.write_str(", {")?;
            separated(f, &self.order, |f, (before, after)| write!(f, "{before}<{after}"))?;
            f.write_str("}")?;
        }
        Ok(())
    }
}
