//! Linearizations: the orders of all invocations that keep each sequence and the order between sequences.

use crate::schema::closure;

/// All linearizations of sequences of these lengths, as lists of invocation numbers; invocations are numbered sequence
/// by sequence. `None` if there are more than `limit`.
pub fn linearizations(lengths: &[usize], order: &[(usize, usize)], limit: usize) -> Option<Vec<Vec<usize>>> {
    let mut search = Search {
        lengths,
        starts: starts(lengths),
        before: closure(lengths.len(), order),
        done: vec![0; lengths.len()],
        current: Vec::new(),
        found: Vec::new(),
        limit,
    };
    search.extend().then_some(search.found)
}

/// The number of the first invocation of each sequence.
pub(crate) fn starts(lengths: &[usize]) -> Vec<usize> {
    lengths
        .iter()
        .scan(0, |sum, length| {
            let start = *sum;
            *sum += length;
            Some(start)
        })
        .collect()
}

struct Search<'a> {
    lengths: &'a [usize],
    starts: Vec<usize>,
    before: Vec<Vec<bool>>,
    done: Vec<usize>,
    current: Vec<usize>,
    found: Vec<Vec<usize>>,
    limit: usize,
}

impl Search<'_> {
    /// Adds all linearizations with the current prefix; gives false if there are too many.
    fn extend(&mut self) -> bool {
        let mut ended = true;
        for next in 0..self.lengths.len() {
            if self.done[next] == self.lengths[next] {
                continue;
            }
            ended = false;
            let waits = |other: usize| self.before[other][next] && self.done[other] < self.lengths[other];
            if (0..self.lengths.len()).any(waits) {
                continue;
            }
            self.current.push(self.starts[next] + self.done[next]);
            self.done[next] += 1;
            let kept = self.extend();
            self.done[next] -= 1;
            self.current.pop();
            if !kept {
                return false;
            }
        }
        if ended {
            if self.found.len() == self.limit {
                return false;
            }
            self.found.push(self.current.clone());
        }
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(lengths: &[usize], order: &[(usize, usize)], expected: usize) {
        let all = linearizations(lengths, order, 10_000).unwrap();
        assert_eq!(all.len(), expected, "{lengths:?} {order:?}");
        assert_eq!(linearizations(lengths, order, expected - 1), None);
        let starts = starts(lengths);
        for one in &all {
            let position = |invocation: usize| one.iter().position(|&other| other == invocation).unwrap();
            for (sequence, &length) in lengths.iter().enumerate() {
                for step in 1..length {
                    assert!(position(starts[sequence] + step - 1) < position(starts[sequence] + step));
                }
            }
            for &(before, after) in order {
                assert!(position(starts[before] + lengths[before] - 1) < position(starts[after]));
            }
        }
    }

    #[test]
    fn the_number_of_linearizations_is_that_of_the_ordered_multinomial() {
        check(&[1], &[], 1);
        check(&[1, 3], &[], 4);
        check(&[3, 3], &[], 20);
        check(&[2, 2, 2], &[], 90);
        check(&[2, 2, 2], &[(0, 2), (1, 2)], 6);
        check(&[2, 2, 2], &[(0, 1), (0, 2)], 6);
        check(&[1, 1, 1], &[(0, 1)], 3);
        check(&[2, 3], &[(1, 0)], 1);
    }
}
