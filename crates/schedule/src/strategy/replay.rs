//! Follows a recorded schedule.

use std::{collections::VecDeque, fmt};

use fissure_model::{ids::ThreadId, recording::Recording};

use super::{
    Choice, Sequential, Strategy, View,
    registry::{StrategyError, StrategyKind},
};
use crate::random::Random;

/// The registration.
pub const REPLAY: StrategyKind = StrategyKind {
    name: "replay",
    about: "Follows a recorded schedule.",
    is_offered: false,
    build: |settings| {
        let recording: Recording = settings.schedule.as_deref().ok_or(StrategyError::NoSchedule)?.parse()?;
        Ok(Box::new(Replay::new(&recording)))
    },
    ..StrategyKind::PLAIN
};

/// Where an execution departed from its recording.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Departure {
    /// The number of the choice, from 1.
    pub choice: u64,
    /// The thread in the recording; `None` if the recording had ended.
    pub recorded: Option<ThreadId>,
    /// Whether the execution ended before the recording did.
    pub is_short: bool,
}

impl fmt::Display for Departure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.recorded {
            Some(thread) if self.is_short => write!(
                f,
                "this run ended after {} choices, but the recording continues with thread {}",
                self.choice - 1,
                thread.0
            ),
            Some(thread) => write!(
                f,
                "at choice {} the recording continues with thread {}, which cannot run in this run",
                self.choice, thread.0
            ),
            None => write!(f, "the recording ends after {} choices, but this run continues", self.choice - 1),
        }
    }
}

/// Follows a recording, and continues without preemptions once that is not possible.
#[derive(Debug)]
pub struct Replay {
    left: VecDeque<ThreadId>,
    choice: u64,
    departure: Option<Departure>,
}

impl Replay {
    /// Follows `recording` from its beginning.
    pub fn new(recording: &Recording) -> Self {
        Self { left: recording.choices().collect(), choice: 0, departure: None }
    }

    /// Whether the execution could not follow the recording.
    pub(crate) fn has_departed(&self) -> bool {
        self.departure.is_some()
    }

    /// Whether there are choices left to follow.
    pub(crate) fn goes_on(&self) -> bool {
        !self.left.is_empty()
    }

    fn depart(&mut self, recorded: Option<ThreadId>) {
        self.left.clear();
        self.departure.get_or_insert(Departure { choice: self.choice + 1, recorded, is_short: false });
    }
}

impl Strategy for Replay {
    fn choose(&mut self, view: &View<'_>, random: &mut Random) -> Choice {
        if self.departure.is_some() {
            return Sequential.choose(view, random);
        }
        let next = self.left.front().copied();
        match next {
            Some(thread) if view.candidates.iter().any(|candidate| candidate.thread == thread) => {
                self.left.pop_front();
                self.choice += 1;
                Choice::Run(thread)
            }
            Some(thread) if view.sleepers.contains(&thread) => Choice::Sleepers,
            next => {
                self.depart(next);
                Sequential.choose(view, random)
            }
        }
    }

    fn notify(&mut self, waiters: &[ThreadId], _random: &mut Random) -> usize {
        let index = self.left.front().and_then(|thread| waiters.iter().position(|waiter| waiter == thread));
        match index {
            Some(index) => {
                self.left.pop_front();
                self.choice += 1;
                index
            }
            None => {
                if self.departure.is_none() {
                    let next = self.left.front().copied();
                    self.depart(next);
                }
                0
            }
        }
    }

    /// Call this after the execution has ended: an unused rest of the recording counts as a departure.
    fn departure(&self) -> Option<Departure> {
        let recorded = self.left.front().copied();
        let rest = recorded.map(|_| Departure { choice: self.choice + 1, recorded, is_short: true });
        self.departure.or(rest)
    }
}
