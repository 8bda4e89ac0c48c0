//! Carries out the conductor's decisions: the thread that it chose runs, and all others wait in native code.
//!
//! Threads of the program enter this module from the hook class `FissureControl` ([`natives`]), or from the JVM's callbacks when
//! they begin or end. One mutex protects the state and is held only during a decision; each thread waits for its turn at its own
//! [`Gate`]. [`explanation`] writes the results of the run; [`watchdog`] detects a thread that does not return to a scheduling point.

mod calls;
mod contents;
mod explanation;
pub(crate) mod failure;
mod gate;
mod idle;
mod interleavings;
pub(crate) mod natives;
mod points;
mod set_explanation;
mod sets;
mod site_flags;
mod thread_unsafe;
mod watchdog;

use std::sync::{
    Arc, Mutex,
    atomic::{AtomicU64, Ordering},
};

use fissure_analysis::atomic_sets::patterns::{WORDS, Who};
use fissure_model::{
    goal::Goal,
    ids::{LockId, SiteId, ThreadId},
    record::RunEnd,
    settings::{Control as ControlSettings, Steering, Wanted},
};
use fissure_schedule::{
    conductor::{Conductor, Decision, Limits},
    observer::{self, Observer},
    recording::{Recording, RecordingError},
    strategy::{
        AssetFuzzer, AtomFuzzer, Guided, Interleaver, RaceFuzzer, Replay, Sequential, Strategy, Uniform,
    },
};

use rustc_hash::FxHashMap;

pub(crate) use calls::{plan, plan_for_exploring, probes};
pub(crate) use site_flags::flags;

use jvmti_bindings::sys::jni::jobject;

use crate::{
    mutex::{Held, locked},
    vm::Jni,
};
use contents::OpenCall;
use explanation::Explanation;
use gate::Gate;
use points::Points;
use sets::Sets;

/// The exit code of a run that Fissure ended because no thread could run, or because it had too many steps.
const ENDED_BY_FISSURE: i32 = 86;

/// The scheduler's side of the agent: the state of all controlled threads.
pub(crate) struct Control {
    state: Mutex<State>,
    /// A release that the hook class stored here and that the conductor has not processed yet: the thread's number plus one in the upper
    /// half, the lock's number in the lower half; 0 if there is none. This saves a native call for every second operation.
    releases: AtomicU64,
}

impl std::fmt::Debug for Control {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Control")
    }
}

pub(crate) struct State {
    pub(crate) conductor: Conductor,
    threads: Vec<ControlledThread>,
    pub(crate) explanation: Explanation,
    pub(crate) points: Points,
    sets: Sets,
    /// Names of locks, by number.
    locks: Vec<LockName>,
    /// The number of locks with each name that have a number.
    named: FxHashMap<String, u32>,
    /// Whether no thread can run unless one outside of control wakes it.
    is_idle: bool,
    /// Threads that have ended for the conductor and perhaps not yet for the JVM; the next thread that runs waits until they have.
    dying: Vec<ThreadId>,
    /// Threads that others wait for in the monitor of the thread's object, as `join` does.
    joined: Vec<(ThreadId, LockId)>,
    /// The reasons why a replay may differ from this run.
    uncontrolled: Vec<String>,
    /// The number of steps that the program took; set when it has ended.
    steps: Option<u64>,
    /// A thread waits until the JVM has ended another.
    awaits_thread_end: bool,
    is_over: bool,
}

/// The name of a lock in reports: `com.acme.Account@3`, or `com.acme.Account.class`.
#[derive(Debug, Default)]
pub(crate) struct LockName {
    pub(crate) name: String,
    /// Assigned when the program first uses the lock, so that it does not depend on what the JVM's own threads do.
    pub(crate) number: Option<u32>,
}

struct ControlledThread {
    gate: Arc<Gate>,
    /// The number of regions it is in during which other threads may wait for it inside of the JVM.
    regions: u32,
    /// The site of its current attempt to acquire a lock of `java.util.concurrent`.
    attempt_site: SiteId,
    /// The calls of collections that it is in.
    calls: Vec<OpenCall>,
    /// A global reference to the thread's object.
    reference: Option<usize>,
    /// Its thread id in the kernel, once it runs.
    kernel_thread: Option<i32>,
}

impl Control {
    /// Control by these settings. A recording that cannot be read is an error: another schedule in its place would prove nothing.
    pub(crate) fn new(settings: &ControlSettings) -> Result<Self, RecordingError> {
        let strategy: Box<dyn Strategy> = match settings.steering {
            Steering::Random => Box::new(Uniform),
            Steering::Atomfuzzer => {
                let (rest, beginning): (Box<dyn Strategy>, _) = match &settings.target {
                    Some(Goal::Accesses(goal)) => {
                        let interleaver = match goal.is_sequential {
                            true => Interleaver::sequential(goal.shape()),
                            false => Interleaver::new(goal.shape(), settings.pause),
                        };
                        (Box::new(interleaver), goal.prefix.as_deref())
                    }
                    Some(Goal::Acquires(pair)) => {
                        (Box::new(AtomFuzzer::new(settings.pause)), pair.prefix.as_deref())
                    }
                    _ => (Box::new(AtomFuzzer::new(settings.pause)), None),
                };
                match beginning.map(str::parse::<Recording>).transpose()? {
                    Some(beginning) => Box::new(Guided::new(&beginning, rest)),
                    None => rest,
                }
            }
            Steering::Assetfuzzer => Box::new(AssetFuzzer::new(&letters(settings))),
            Steering::Racefuzzer => Box::new(RaceFuzzer::new()),
            Steering::Sequential => Box::new(Sequential),
            Steering::Replay => {
                let recording: Recording = settings.schedule.as_deref().unwrap_or_default().parse()?;
                Box::new(Replay::new(&recording))
            }
        };
        let mut conductor = Conductor::new(strategy, settings.seed, Limits { steps: settings.steps });
        let Wanted { predictions, violations, races, interleavings } = settings.wanted;
        if settings.wanted != Wanted::default() {
            let wanted = observer::Wanted { predictions, violations, races, interleavings };
            conductor.observe_with(Observer::new(wanted));
        }
        Ok(Self {
            state: Mutex::new(State {
                conductor,
                threads: Vec::new(),
                explanation: Explanation::default(),
                points: Points::default(),
                sets: Sets::new(&settings.sets),
                locks: vec![LockName::default()],
                named: FxHashMap::default(),
                is_idle: false,
                dying: Vec::new(),
                joined: Vec::new(),
                uncontrolled: Vec::new(),
                steps: None,
                awaits_thread_end: false,
                is_over: false,
            }),
            releases: AtomicU64::new(0),
        })
    }

    /// Locks the state, after processing the release that the hook class may have stored.
    #[inline]
    pub(crate) fn state(&self) -> Held<'_, State> {
        let mut state = locked(&self.state);
        let release = self.releases.load(Ordering::Acquire);
        if let Some(thread) = ((release >> 32) as u32).checked_sub(1) {
            // The hook class stores a release only while there is none, and only the holder of the mutex takes it.
            self.releases.store(0, Ordering::Release);
            state.conductor.release(ThreadId(thread), LockId(release as u32));
        }
        state
    }

    /// Carries out a decision. If `me` has to wait, this returns when its turn has come.
    fn follow<'a>(
        &'a self,
        mut state: Held<'a, State>,
        me: Option<ThreadId>,
        decision: Decision,
    ) -> Held<'a, State> {
        if decision != Decision::Unchanged {
            state.is_idle = false;
        }
        match decision {
            Decision::Run(thread) if Some(thread) == me => return state,
            Decision::Run(thread) => {
                let gate = state.gate(thread);
                // The mutex is released first, because the thread that goes on locks it at once.
                if let Some(me) = me {
                    let own = state.gate(me);
                    drop(state);
                    gate.open();
                    own.pass();
                    return self.state();
                }
                gate.open();
            }
            Decision::Over => state.note_end(),
            Decision::Unchanged => {}
            Decision::Stuck => {
                if state.conductor.stuck().circle.is_empty() {
                    state.is_idle = true;
                } else {
                    end_run(state, RunEnd::Deadlock);
                }
            }
            Decision::TooLong => end_run(state, RunEnd::TooLong),
        }
        let Some(me) = me else { return state };
        let gate = state.gate(me);
        drop(state);
        gate.pass();
        self.state()
    }

    /// Called when the JVM ends.
    pub(crate) fn finish(&self) {
        let mut state = self.state();
        if !state.is_over {
            state.is_over = true;
            explanation::write_results(&mut state, RunEnd::Finished);
        }
        gate::end(state.threads.iter().map(|thread| &*thread.gate));
    }

    /// Ends control in the middle of the run: all threads run freely, and only the real monitors synchronize them.
    pub(crate) fn let_all_go(&self, jni: Option<Jni>) {
        let threads: Vec<usize> = {
            let mut state = locked(&self.state);
            state.is_over = true;
            gate::open_all(state.threads.iter().map(|thread| &*thread.gate));
            state.threads.iter().filter_map(|thread| thread.reference).collect()
        };
        // The model may hold permits that the JVM does not know. A superfluous permit only makes a thread check its condition again.
        if let Some(jni) = jni {
            threads.into_iter().for_each(|thread| jni.unpark(thread as jobject));
        }
    }

    /// Called after an event outside of control that may let a thread go on.
    fn outside(&self, mut state: Held<'_, State>) {
        if state.conductor.running().is_none() && state.is_idle {
            let reason = "a thread that Fissure does not control woke a thread that it controls";
            state.lose_control(reason);
            let decision = state.conductor.retry();
            drop(self.follow(state, None, decision));
        }
    }
}

impl State {
    fn gate(&mut self, thread: ThreadId) -> Arc<Gate> {
        self.thread(thread).gate.clone()
    }

    #[inline]
    fn thread(&mut self, thread: ThreadId) -> &mut ControlledThread {
        let place = thread.0 as usize;
        if place >= self.threads.len() {
            self.add_threads(place + 1);
        }
        &mut self.threads[place]
    }

    #[cold]
    fn add_threads(&mut self, count: usize) {
        self.threads.resize_with(count, || ControlledThread {
            gate: Arc::default(),
            regions: 0,
            attempt_site: SiteId(0),
            calls: Vec::new(),
            reference: None,
            kernel_thread: None,
        });
    }

    /// Gives a lock a number that distinguishes it from others with the same name.
    #[inline]
    fn name_lock(&mut self, lock: LockId) {
        if self.locks.get(lock.0 as usize).is_some_and(|lock| lock.number.is_none()) {
            self.name_new_lock(lock);
        }
    }

    #[cold]
    fn name_new_lock(&mut self, lock: LockId) {
        let lock = &mut self.locks[lock.0 as usize];
        let count = self.named.entry(lock.name.clone()).or_default();
        *count += 1;
        lock.number = Some(*count);
    }

    /// Called when all threads that the program waits for have ended. Later steps belong to the JVM's shutdown and are not counted;
    /// parts of the shutdown may have begun earlier.
    fn note_end(&mut self) {
        let steps = self.conductor.trace().last();
        self.steps.get_or_insert(steps);
    }

    /// Records why a replay may differ from this run.
    fn lose_control(&mut self, reason: &str) {
        if !self.uncontrolled.iter().any(|known| known == reason) {
            self.uncontrolled.push(reason.to_owned());
        }
    }
}

/// The unit that executes each event of the run's goal, in order. All words of one pattern agree in this; they differ in locations.
fn letters(settings: &ControlSettings) -> Vec<Who> {
    let Some(Goal::Set(goal)) = &settings.target else { return Vec::new() };
    let word = WORDS.iter().find(|word| word.pattern == goal.pattern);
    word.map_or_else(Vec::new, |word| word.letters.iter().map(|letter| letter.who).collect())
}

/// Writes the results so far and ends the process, because no thread in it would.
fn end_run(mut state: Held<'_, State>, end: RunEnd) -> ! {
    state.is_over = true;
    explanation::write_results(&mut state, end);
    // SAFETY: ends the process at once, without running exit handlers; all results have been written.
    unsafe { libc::_exit(ENDED_BY_FISSURE) }
}
