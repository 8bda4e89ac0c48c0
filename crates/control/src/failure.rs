//! Failures of a run: uncaught exceptions, failed tests and exit codes other than 0. The last steps before each failure are kept,
//! because they may be the only explanation that a run has.

use fissure_model::{
    finding::Frame,
    ids::ThreadId,
    interleaving::{Action, Interleaving},
    record::{Cause, Failure},
};

use fissure_schedule::trace::TraceStep;

use crate::{ControlledRun, front_end::FrontEnd};

/// How many steps of the failing thread are shown in any case, and among how many of the last steps they are sought.
const OWN_STEPS: usize = 4;
const NEAR: u64 = 200;

/// An exception, or an exit of the program.
#[derive(Debug)]
pub struct Thrown {
    /// What failed.
    pub cause: Cause,
    /// Its stack, innermost frame first.
    pub stack: Vec<Frame>,
    /// Whether a test failed with it.
    pub is_test: bool,
    /// The test that failed, if it is known.
    pub test: Option<String>,
}

impl ControlledRun {
    /// Records that an exception leaves a thread or fails a test, or that the program ends itself with a failure.
    pub fn failed(&mut self, front: &dyn FrontEnd, thread: ThreadId, thrown: Thrown) {
        let Thrown { cause, stack, is_test, test } = thrown;
        // Test frameworks report one failure at several points.
        if is_test && self.explanation.has_failure(&cause, &stack) {
            return;
        }
        match cause {
            Cause::Exit { .. } => self.conductor.exits(thread),
            Cause::Exception { .. } => self.conductor.throws(thread),
        }
        let step = self.conductor.trace().last();
        let mut failure = Failure {
            thread: self.conductor.name(thread).to_owned(),
            cause,
            own: own_frame(front, &stack),
            test,
            stack,
            after: Vec::new(),
            interleaving: None,
        };
        failure.interleaving = Some(self.steps_before_failure(front, thread, &failure));
        self.explanation.add_failure(failure, step);
    }

    /// The exit that a thread announced last was refused, so the program goes on.
    pub fn exit_refused(&mut self, thread: ThreadId) {
        self.explanation.retract_exit(self.conductor.name(thread));
    }

    /// The last steps before a failure, which is the last step itself.
    fn steps_before_failure(
        &self,
        front: &dyn FrontEnd,
        thread: ThreadId,
        failure: &Failure,
    ) -> Interleaving {
        // The failing thread may have read something that no other thread has written yet.
        let trace = self.conductor.trace();
        let own = trace.range(trace.last().saturating_sub(NEAR).max(1), trace.last());
        let own: Vec<u64> = own.filter(|(_, step)| step.thread == thread).map(|(number, _)| number).collect();
        let from = own.iter().rev().nth(OWN_STEPS).or(own.first()).copied().unwrap_or_default();
        let is_own = |number: u64, step: &TraceStep| {
            number >= from && step.thread == thread && step.location.is_some()
        };
        let mut interleaving = self.last_steps(front, is_own).interleaving;
        if let Some(last) = interleaving.steps.last_mut() {
            (last.action, last.object) = match &failure.cause {
                Cause::Exit { code } => (Action::Other, format!("ends the program with exit code {code}")),
                Cause::Exception { class, .. } => (Action::Throw, class.clone()),
            };
            last.at = failure.stack.first().cloned();
            last.role = Some("failed".to_owned());
        }
        interleaving
    }
}

/// The innermost frame of the program's own code. Classes that are instrumented on demand belong to libraries.
fn own_frame(front: &dyn FrontEnd, stack: &[Frame]) -> Option<usize> {
    stack.iter().position(|frame| front.is_in_scope(&frame.class) && !front.is_on_demand(&frame.class))
}
