//! Who should run, among those who may.

mod assetfuzzer;
mod atomfuzzer;
mod guided;
mod interleaver;
mod preemptions;
mod racefuzzer;
mod replay;
mod sequential;
mod uniform;

pub use assetfuzzer::AssetFuzzer;
pub use atomfuzzer::{AtomFuzzer, Target};
pub use guided::Guided;
pub use interleaver::Interleaver;
pub use preemptions::{Explored, Preemptions};
pub use racefuzzer::RaceFuzzer;
pub use replay::{Departure, Replay};
pub use sequential::Sequential;
pub use uniform::Uniform;

use fissure_model::ids::{LockId, ThreadId};

use crate::{operation::Operation, random::Random};

/// A thread that may run now.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Candidate {
    /// Who.
    pub thread: ThreadId,
    /// What it would do.
    pub operation: Operation,
    /// Whether that acquires a lock again that the thread has acquired and given back in the same atomic block.
    pub reacquires: bool,
    /// Whether the thread holds another lock.
    pub is_nested: bool,
    /// Whether the thread is in an atomic block.
    pub in_block: bool,
    /// Which methods of interest the thread is in.
    pub context: u64,
    /// What it is to the pair of acquires that is looked for.
    pub target: Target,
    /// What it is to the accesses that are looked for.
    pub role: GoalRole,
    /// Whether the thread is in the midst of something that others see as a whole.
    pub stays: bool,
}

/// What an operation is to accesses that are looked for: those of a predicted atomic-set violation, or of a race.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct GoalRole {
    /// Which of the events it could be, one bit for each.
    pub letters: u8,
    /// After which of the events the lock that is got here must be given back, one bit for each.
    pub windows: u8,
    /// Whether a lock is got here that must not be held before the first event has happened.
    pub is_gate: bool,
    /// The atomic set, or the location, as a number.
    pub place: u64,
    /// The execution of a unit, as a number.
    pub unit: u64,
}

/// What a strategy sees when it chooses.
#[derive(Debug, Clone, Copy)]
pub struct View<'a> {
    /// Who may run, in the order of their numbers; at least one.
    pub candidates: &'a [Candidate],
    /// Who ran up to now, if that thread may go on.
    pub current: Option<ThreadId>,
    /// The thread that ran up to now has offered, or must be made, to let others go first.
    pub yields: bool,
    /// Threads that sleep, or else those that wait for a time: it can be made to pass so that they may run.
    pub sleepers: &'a [ThreadId],
    /// How many choices there have been before.
    pub step: u64,
}

/// What a strategy decides.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Choice {
    /// One of the candidates runs.
    Run(ThreadId),
    /// Time passes until the next sleeper may run; then there is another choice.
    Sleepers,
}

/// Decides who runs.
pub trait Strategy: Send {
    /// Chooses who runs next.
    fn choose(&mut self, view: &View<'_>, random: &mut Random) -> Choice;

    /// Whether a thread that was just started runs up to its first operation at once. Up to there it does nothing that others
    /// are meant to see, so that there is nothing to choose.
    fn starts_at_once(&self) -> bool {
        true
    }

    /// Chooses whom a notification wakes, by its place.
    fn notify(&mut self, waiters: &[ThreadId], random: &mut Random) -> usize {
        random.below(waiters.len())
    }

    /// A thread has got a lock that it did not hold, by an operation that was this to what is looked for.
    fn acquired(&mut self, _thread: ThreadId, _lock: LockId, _target: Target, _aim: GoalRole) {}

    /// A thread no longer holds a lock.
    fn released(&mut self, _thread: ThreadId, _lock: LockId) {}

    /// A thread executes an operation, whether it was chosen for that or was alone.
    fn executed(&mut self, _thread: ThreadId, _operation: &Operation, _aim: GoalRole) {}

    /// How many choices it took until what is looked for had happened for the last time, if it did.
    fn reached(&self) -> Option<u64> {
        None
    }

    /// How often threads had to be let go because nobody else could run.
    fn thrashings(&self) -> u64 {
        0
    }

    /// An execution is over. Says whether there is another one to come, of the same program from its beginning.
    fn next_execution(&mut self) -> bool {
        false
    }

    /// How far a search through many executions is, if the strategy is one.
    fn explored(&self) -> Option<Explored> {
        None
    }

    /// Where the execution departed from a recording, if the strategy follows one.
    fn departure(&self) -> Option<Departure> {
        None
    }
}

/// The candidates without the one that yields, unless it is alone.
pub(crate) fn willing(view: &View<'_>) -> Vec<Candidate> {
    let others = |candidate: &&Candidate| Some(candidate.thread) != view.current;
    let mut willing: Vec<Candidate> = Vec::new();
    if view.yields {
        willing.extend(view.candidates.iter().filter(others));
    }
    if willing.is_empty() {
        willing.extend(view.candidates);
    }
    willing
}

/// Those of them who are not held up. A thread that yields to others who are all held up goes on.
pub(crate) fn willing_but(view: &View<'_>, is_held: impl Fn(&Candidate) -> bool) -> Vec<Candidate> {
    let mut free = willing(view);
    free.retain(|candidate| !is_held(candidate));
    if free.is_empty() {
        free.extend(view.candidates.iter().filter(|candidate| !is_held(candidate)));
    }
    free
}
