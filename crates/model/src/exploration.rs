//! The progress of an exploration of schedules, which a front end gives to the driver of harnesses, and the driver to the command line, as
//! a list of numbers.

/// The progress of an exploration.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Progress {
    /// The executions.
    pub executions: u64,
    /// The different schedules with at most as many preemptions as were tried last.
    pub schedules: u64,
    /// The number of preemptions up to which all schedules were executed.
    pub complete: Option<u32>,
    /// Executions that diverged from the schedule that they repeated.
    pub diverged: u64,
    /// Executions that were cut because they took too long.
    pub cut: u64,
    /// Whether the harness started threads, which are not controlled.
    pub has_strays: bool,
    /// Whether no thread could run.
    pub is_stuck: bool,
}

/// How many numbers describe the progress.
pub const NUMBERS: usize = 7;

/// The index of the number that is 1 if no thread could run.
pub const STUCK: usize = 6;

impl Progress {
    /// The numbers, in their order.
    pub fn to_numbers(self) -> [i64; NUMBERS] {
        [
            self.executions.cast_signed(),
            self.schedules.cast_signed(),
            self.complete.map_or(-1, i64::from),
            self.diverged.cast_signed(),
            self.cut.cast_signed(),
            self.has_strays.into(),
            self.is_stuck.into(),
        ]
    }

    /// The progress that the numbers describe.
    pub fn from_numbers(numbers: [i64; NUMBERS]) -> Self {
        let [executions, schedules, complete, diverged, cut, strays, stuck] = numbers;
        Self {
            executions: executions.cast_unsigned(),
            schedules: schedules.cast_unsigned(),
            complete: u32::try_from(complete).ok(),
            diverged: diverged.cast_unsigned(),
            cut: cut.cast_unsigned(),
            has_strays: strays != 0,
            is_stuck: stuck != 0,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_read_as_they_are_written() {
        let progress = Progress { executions: 9, schedules: 4, diverged: 3, cut: 2, ..Progress::default() };
        for complete in [None, Some(0), Some(2)] {
            for (has_strays, is_stuck) in [(false, true), (true, false)] {
                let progress = Progress { complete, has_strays, is_stuck, ..progress };
                assert_eq!(Progress::from_numbers(progress.to_numbers()), progress);
                assert_eq!(progress.to_numbers()[STUCK], i64::from(is_stuck));
            }
        }
    }
}
