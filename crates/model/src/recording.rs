//! A schedule as text: the thread chosen at each choice. `0*12 1 0*3` is twelve times thread 0, once thread 1, three times
//! thread 0.

use std::{fmt, str::FromStr};

use serde::{Deserialize, Serialize};

use crate::ids::ThreadId;

/// A text with more choices is not a recording: no run makes so many.
const MOST_CHOICES: u64 = 100_000_000;

/// All choices of an execution. In records it is a text, and a record whose text is no schedule is not readable.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(into = "String", try_from = "String")]
pub struct Recording {
    /// Threads with the number of choices in a row; no thread twice in succession.
    parts: Vec<(ThreadId, u64)>,
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
        self.push_part(thread, 1);
    }

    /// Adds several choices of one thread.
    fn push_part(&mut self, thread: ThreadId, times: u64) {
        match self.parts.last_mut() {
            Some((last, known)) if *last == thread => *known += times,
            _ => self.parts.push((thread, times)),
        }
    }

    /// Whether there was no choice.
    pub fn is_empty(&self) -> bool {
        self.parts.is_empty()
    }

    /// The threads in order, each with the number of its choices in a row.
    pub fn parts(&self) -> &[(ThreadId, u64)] {
        &self.parts
    }

    /// How often another thread is chosen than before.
    pub fn switches(&self) -> usize {
        self.parts.len().saturating_sub(1)
    }

    /// The first choices, so many or fewer.
    #[must_use]
    pub fn first(&self, choices: u64) -> Recording {
        let mut left = choices;
        let cut = |&(thread, times): &(ThreadId, u64)| {
            let times = times.min(left);
            left -= times;
            (times > 0).then_some((thread, times))
        };
        self.parts.iter().map_while(cut).collect()
    }

    /// The choices one by one.
    pub fn choices(&self) -> impl Iterator<Item = ThreadId> {
        self.parts.iter().flat_map(|&(thread, times)| (0..times).map(move |_| thread))
    }
}

impl fmt::Display for Recording {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, (thread, times)) in self.parts.iter().enumerate() {
            let space = if index > 0 { " " } else { "" };
            match times {
                1 => write!(f, "{space}{}", thread.0)?,
                _ => write!(f, "{space}{}*{times}", thread.0)?,
            }
        }
        Ok(())
    }
}

impl FromIterator<(ThreadId, u64)> for Recording {
    fn from_iter<I: IntoIterator<Item = (ThreadId, u64)>>(parts: I) -> Self {
        let mut recording = Recording::default();
        for (thread, times) in parts {
            recording.push_part(thread, times);
        }
        recording
    }
}

impl From<Recording> for String {
    fn from(recording: Recording) -> String {
        recording.to_string()
    }
}

impl TryFrom<String> for Recording {
    type Error = RecordingError;

    fn try_from(text: String) -> Result<Self, RecordingError> {
        text.parse()
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
            recording.push_part(thread, times);
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
            assert!(serde_json::from_value::<Recording>(text.into()).is_err(), "{text}");
        }
    }

    #[test]
    fn the_beginning_of_a_recording_has_its_first_choices() {
        let recording: Recording = "0*3 1 0*2".parse().unwrap();
        for (choices, expected) in [(0, ""), (2, "0*2"), (3, "0*3"), (5, "0*3 1 0"), (9, "0*3 1 0*2")] {
            assert_eq!(recording.first(choices).to_string(), expected);
        }
    }

    #[test]
    fn neighbouring_parts_of_a_thread_are_one() {
        assert_eq!("0 0*2 1".parse::<Recording>().unwrap().to_string(), "0*3 1");
    }
}
