//! A schedule as text: the thread chosen at each choice. `0*12 1 0*3` is twelve times thread 0, once thread 1, three times
//! thread 0.

use std::{fmt, str::FromStr};

use fissure_model::ids::ThreadId;

/// A text with more choices is not a recording: no run makes so many.
const MOST_CHOICES: u64 = 100_000_000;

/// All choices of an execution.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Recording {
    runs: Vec<(ThreadId, u64)>,
}

/// A text that is not a valid recording.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RecordingError {
    /// The invalid part.
    pub part: String,
}

impl fmt::Display for RecordingError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "'{}' is not part of a schedule; write thread numbers and repetitions as in `0*12 1 0*3`",
            self.part
        )
    }
}

impl std::error::Error for RecordingError {}

impl Recording {
    /// Adds a choice.
    pub fn push(&mut self, thread: ThreadId) {
        match self.runs.last_mut() {
            Some((last, times)) if *last == thread => *times += 1,
            _ => self.runs.push((thread, 1)),
        }
    }

    /// The choices one by one.
    pub fn choices(&self) -> impl Iterator<Item = ThreadId> {
        self.runs.iter().flat_map(|&(thread, times)| (0..times).map(move |_| thread))
    }
}

impl fmt::Display for Recording {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, (thread, times)) in self.runs.iter().enumerate() {
            let space = if index > 0 { " " } else { "" };
            match times {
                1 => write!(f, "{space}{}", thread.0)?,
                _ => write!(f, "{space}{}*{times}", thread.0)?,
            }
        }
        Ok(())
    }
}

impl FromStr for Recording {
    type Err = RecordingError;

    fn from_str(text: &str) -> Result<Self, RecordingError> {
        let mut recording = Recording::default();
        let mut choices: u64 = 0;
        for part in text.split_ascii_whitespace() {
            let invalid = || RecordingError { part: part.to_owned() };
            let (thread, times) = part.split_once('*').unwrap_or((part, "1"));
            let thread = ThreadId(thread.parse().map_err(|_| invalid())?);
            let times = times.parse().ok().filter(|times| *times > 0).ok_or_else(invalid)?;
            choices = choices.saturating_add(times);
            if choices > MOST_CHOICES {
                return Err(invalid());
            }
            recording.runs.push((thread, times));
        }
        Ok(recording)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn recordings_round_trip_through_text() {
        let mut recording = Recording::default();
        for thread in [0, 0, 0, 1, 0, 2, 2] {
            recording.push(ThreadId(thread));
        }
        assert_eq!(recording.to_string(), "0*3 1 0 2*2");
        assert_eq!("0*3 1 0 2*2".parse(), Ok(recording.clone()));
        assert_eq!(recording.choices().map(|thread| thread.0).collect::<Vec<_>>(), [0, 0, 0, 1, 0, 2, 2]);
        assert_eq!("".parse::<Recording>(), Ok(Recording::default()));
    }

    #[test]
    fn invalid_texts_are_refused() {
        for text in ["x", "1*", "1*0", "1**2", "-1", "1 2*y", "0*18446744073709551615"] {
            assert!(text.parse::<Recording>().is_err(), "{text}");
        }
    }
}
