//! Carries out the conductor's decisions: the thread that it chose runs, and all others wait in native code.
//!
//! Threads of the program enter this module from the hook class `FissureControl` ([`natives`]), or from the JVM's callbacks when
//! they begin or end. One mutex protects the state and is held only during a decision; each thread waits for its turn at its own
//! [`Gate`]. The crate `control` observes the run and makes its report; it asks about the program through [`Program`];
//! [`watchdog`] detects a thread that does not return to a scheduling point.

mod callers;
mod calls;
pub(crate) mod course;
pub(crate) mod failure;
mod goal_sites;
mod idle;
pub(crate) mod natives;
mod program;
mod site_flags;
mod thread_unsafe;
mod watchdog;

use std::sync::{
    Arc, Mutex,
    atomic::{AtomicU64, Ordering},
};

use fissure_control::{ControlledRun, Results};
use fissure_model::{
    goal::Goal,
    ids::{LockId, ThreadId},
    record::{Record, RunEnd},
    settings::{Control as ControlSettings, Patterns},
};
use fissure_schedule::{
    conductor::{Conductor, Decision, Limits},
    observer::Observer,
    strategy::registry::{self, StrategyError},
};

pub(crate) use calls::{plan, plan_for_exploring, probes};
pub(crate) use site_flags::flags;

use jvmti_bindings::sys::jni::jobject;

use crate::{
    agent::{Agent, agent},
    conducting::gate::{self, Gate},
    iterations::unwinding,
    mutex::{Held, locked},
    vm::Jni,
};
use callers::Callers;
use course::Course;
use goal_sites::GoalSites;
use program::Program;

/// The name of the thread in which a JVM waits for the end of the program.
pub(crate) const ENDING_THREAD: &str = "DestroyJavaVM";

/// The scheduler's side of the agent: the state of all controlled threads.
pub(crate) struct Control {
    state: Mutex<State>,
    /// A release that the hook class stored here and that the conductor has not processed yet: the thread's number plus one in the upper
    /// half, the lock's number in the lower half; 0 if there is none. This saves a native call for every second operation.
    releases: AtomicU64,
    goal: Mutex<Option<Arc<Goal>>>,
    goal_sites: Mutex<GoalSites>,
    /// How far the run has come, if the JVM executes several.
    course: Option<Course>,
}

impl std::fmt::Debug for Control {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Control")
    }
}

pub(crate) struct State {
    pub(crate) run: ControlledRun,
    threads: Vec<ControlledThread>,
    callers: Callers,
    /// Whether no thread can run unless one outside of control wakes it.
    is_idle: bool,
    /// Threads that have ended for the conductor and perhaps not yet for the JVM; the next thread that runs waits until they have.
    dying: Vec<ThreadId>,
    /// A thread waits until the JVM has ended another.
    awaits_thread_end: bool,
    is_over: bool,
    /// Whether the results say that control was lost.
    is_uncontrolled: bool,
}

/// A thread, beside its state in the run.
#[derive(Debug, Default)]
struct ControlledThread {
    gate: Arc<Gate>,
    /// A global reference to the thread's object.
    reference: Option<usize>,
    /// Its thread id in the kernel, once it runs.
    kernel_thread: Option<i32>,
}

impl Control {
    /// Control by these settings. A recording that cannot be read, or an unknown strategy, is an error: another schedule in its place would
    /// prove nothing.
    pub(crate) fn new(settings: &ControlSettings, iterates: bool) -> Result<Self, StrategyError> {
        Ok(Self {
            state: Mutex::new(State::new(settings)?),
            releases: AtomicU64::new(0),
            goal: Mutex::new(settings.goal.clone().map(Arc::new)),
            goal_sites: Mutex::default(),
            course: iterates.then(Course::default),
        })
    }

    /// Begins another run, which knows nothing of the one before. No thread of that run is left; returns the references to its threads,
    /// for the caller to release.
    pub(crate) fn restart(
        &self,
        agent: &Agent,
        settings: &ControlSettings,
    ) -> Result<Vec<usize>, StrategyError> {
        let fresh = State::new(settings)?;
        let goal = settings.goal.clone().map(Arc::new);
        locked(&self.goal_sites).aim_at(agent, goal.as_deref());
        *locked(&self.goal) = goal;
        self.releases.store(0, Ordering::Release);
        let former = std::mem::replace(&mut *locked(&self.state), fresh);
        if let Some(course) = &self.course {
            course.begin();
        }
        Ok(former.threads.into_iter().filter_map(|thread| thread.reference).collect())
    }

    /// The goal of the run.
    pub(crate) fn goal(&self) -> Option<Arc<Goal>> {
        locked(&self.goal).clone()
    }

    /// Whether the current thread runs the program: it has the token, and does not load or link classes.
    pub(crate) fn runs_program(&self) -> bool {
        let mut state = self.state();
        let Some(thread) = state.run.conductor.running() else { return false };
        !state.run.is_in_region(thread)
            && state.thread(thread).kernel_thread == Some(natives::kernel_thread())
    }

    /// Whether the results of the run say that control was lost.
    pub(crate) fn is_uncontrolled(&self) -> bool {
        self.state().is_uncontrolled
    }

    /// How far the run has come, if the JVM executes several.
    pub(crate) fn course(&self) -> Option<&Course> {
        self.course.as_ref()
    }

    /// Whether the run is over and its threads are unwound.
    #[inline]
    pub(crate) fn unwinds(&self) -> bool {
        self.course.as_ref().is_some_and(Course::unwinds)
    }

    /// Waits for a thread's turn. A thread that is left over when the run is over is unwound.
    fn pass(&self, gate: &Gate) -> Held<'_, State> {
        gate.pass();
        if self.unwinds() {
            unwinding::unwind();
        }
        self.state()
    }

    /// Locks the state, after processing the release that the hook class may have stored.
    #[inline]
    pub(crate) fn state(&self) -> Held<'_, State> {
        let mut state = locked(&self.state);
        if let Some((thread, lock)) = stored_release(self.releases.load(Ordering::Acquire)) {
            // The hook class stores a release only while there is none, and only the holder of the mutex takes it.
            self.releases.store(0, Ordering::Release);
            if !self.unwinds() {
                state.run.conductor.release(thread, lock);
            }
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
                    return self.pass(&own);
                }
                gate.open();
            }
            Decision::Over => {
                state.run.note_end();
                if let Some(course) = &self.course {
                    course.note_last_end();
                }
            }
            Decision::Unchanged => {}
            Decision::Stuck => {
                if state.run.conductor.stuck().circle.is_empty() {
                    state.is_idle = true;
                } else {
                    self.end_run(&mut state, RunEnd::Deadlock);
                }
            }
            Decision::TooLong => self.end_run(&mut state, RunEnd::TooLong),
        }
        let Some(me) = me else { return state };
        let gate = state.gate(me);
        drop(state);
        self.pass(&gate)
    }

    /// Writes the results so far and ends the run, because no thread in it would. A JVM that executes only this run ends at once.
    fn end_run(&self, state: &mut State, end: RunEnd) {
        state.is_over = true;
        write_results(state, end);
        match &self.course {
            Some(course) => course.end(RunEnd::EXIT_CODE),
            // SAFETY: ends the process at once, without running exit handlers; all results have been written.
            None => unsafe { libc::_exit(RunEnd::EXIT_CODE) },
        }
    }

    /// One of several runs ends with an exit code.
    pub(crate) fn end_iteration(&self, exit: i32) {
        let mut state = self.state();
        if !state.is_over {
            state.is_over = true;
            write_results(&mut state, RunEnd::Finished);
            if let Some(course) = &self.course {
                course.end(exit);
            }
        }
    }

    /// The program ends the JVM, in the current thread. What the JVM does from here on is no part of the run.
    pub(crate) fn end_program(&self) {
        let mut state = self.state();
        if !state.is_over {
            state.is_over = true;
            write_results(&mut state, RunEnd::Finished);
        }
    }

    /// Called when the JVM ends.
    pub(crate) fn finish(&self) {
        self.end_program();
        let state = self.state();
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

    /// Called after an event outside of control that may let a thread go on. It has an effect only while no thread can run.
    fn outside(&self, mut state: Held<'_, State>) {
        if state.run.conductor.running().is_none() && state.is_idle {
            let decision = state.run.conductor.retry();
            drop(self.follow(state, None, decision));
        }
    }
}

impl State {
    fn new(settings: &ControlSettings) -> Result<Self, StrategyError> {
        let strategy = registry::build(settings)?;
        let mut conductor = Conductor::new(strategy, settings.seed, Limits::of(settings));
        conductor.listen_to(Box::new(natives::Descriptors));
        if settings.patterns != Patterns::default() {
            conductor.observe_with(Observer::new(settings.patterns));
        }
        Ok(Self {
            run: ControlledRun::new(conductor, settings),
            threads: Vec::new(),
            callers: Callers::default(),
            is_idle: false,
            dying: Vec::new(),
            awaits_thread_end: false,
            is_over: false,
            is_uncontrolled: false,
        })
    }

    /// The run, and the program as the run asks about it.
    #[inline]
    fn parts<'a>(&'a mut self, agent: &'a Agent) -> (&'a mut ControlledRun, Program<'a>) {
        (&mut self.run, Program { agent, threads: &self.threads })
    }

    /// The reference to a thread's object, if the run has it.
    pub(crate) fn reference_of(&mut self, thread: ThreadId) -> Option<usize> {
        self.thread(thread).reference
    }

    /// The gate at which a thread waits for its turn.
    pub(crate) fn gate_of(&mut self, thread: ThreadId) -> Arc<Gate> {
        self.gate(thread)
    }

    fn gate(&mut self, thread: ThreadId) -> Arc<Gate> {
        self.thread(thread).gate.clone()
    }

    #[inline]
    fn thread(&mut self, thread: ThreadId) -> &mut ControlledThread {
        let index = thread.0 as usize;
        if index >= self.threads.len() {
            self.add_threads(index + 1);
        }
        &mut self.threads[index]
    }

    #[cold]
    fn add_threads(&mut self, count: usize) {
        self.threads.resize_with(count, ControlledThread::default);
    }
}

/// The release in the cell that the hook class stores releases in.
#[inline]
pub(crate) fn stored_release(cell: u64) -> Option<(ThreadId, LockId)> {
    ((cell >> 32) as u32).checked_sub(1).map(|thread| (ThreadId(thread), LockId(cell as u32)))
}

/// Writes the results of the run.
fn write_results(state: &mut State, end: RunEnd) {
    let Some(agent) = agent() else { return };
    let (run, program) = state.parts(agent);
    let Results { findings, run: result } = run.results(&program, end);
    tracing::info!(
        end = ?result.end,
        choices = result.choices,
        steps = result.steps,
        findings = findings.len(),
        failures = result.failures.len(),
        uncontrolled = ?result.uncontrolled,
        "the controlled run has ended"
    );
    for finding in findings {
        agent.output.write(&Record::Finding(Box::new(finding)));
    }
    state.is_uncontrolled = !result.uncontrolled.is_empty();
    let steps = result.steps;
    agent.output.write(&Record::Run(Box::new(result)));
    agent.output.write(&Record::Coverage(Box::new(agent.coverage_of(own_threads(state), steps))));
    agent.output.write(&Record::End);
}

/// The number of threads that belong to the program.
fn own_threads(state: &State) -> usize {
    let conductor = &state.run.conductor;
    let names = (0..conductor.threads()).map(|number| conductor.name(ThreadId(number as u32)));
    names.filter(|name| *name != ENDING_THREAD).count()
}
