//! Executes several controlled runs in one JVM, one after the other, on request of the command line (see [`fissure_model::iteration`]).
//!
//! The launcher calls the driver, the hook class `FissureDriver`, in place of the program's main method. The driver's thread is not
//! controlled. For every request it begins a new run, restores the JDK's state ([`state`]), makes a new class loader, and starts a main thread that is attached
//! to the JVM just as the launcher's is. The program's end, by itself, by `System.exit` or by a deadlock, ends the run; the threads that are
//! left over are unwound ([`unwinding`]). A JVM that cannot be cleaned up says so in its answer and executes nothing more.

mod connection;
mod rewritten;
mod session;
pub(crate) mod state;
pub(crate) mod unwinding;

use fissure_model::iteration::{Isolation, IterationSettings};
use jvmti_bindings::sys::jni::{JNIEnv, jboolean, jclass, jobject};

use crate::{agent::guarded, vm::Jni};
use rewritten::Rewritten;
use session::Session;

/// What the agent of a JVM that executes several runs has beside control.
#[derive(Debug)]
pub(crate) struct Iterations {
    settings: IterationSettings,
    /// The classes of the program as they were rewritten.
    pub(crate) rewritten: Rewritten,
}

impl Iterations {
    pub(crate) fn new(settings: IterationSettings) -> Self {
        Self { settings, rewritten: Rewritten::default() }
    }

    /// Whether every run has its own classes.
    fn renews_classes(&self) -> bool {
        self.settings.isolation == Isolation::Classes
    }
}

/// The launcher has called the driver, with the main class and the arguments of the program. Returns when there are no more requests. The
/// JVM finds this by its name.
#[unsafe(no_mangle)]
extern "system" fn Java_java_lang_FissureDriver_drive(
    environment: *mut JNIEnv,
    _class: jclass,
    program: jobject,
    arguments: jobject,
) {
    guarded((), |agent| {
        if let (Some(iterations), Some(control)) = (&agent.iterations, &agent.control) {
            Session { agent, control, iterations, jni: Jni::new(environment), program, arguments }.serve();
        }
    });
}

/// Whether this JVM executes several runs. The JVM finds this by its name.
#[unsafe(no_mangle)]
extern "system" fn Java_java_lang_FissureDriver_isWanted(
    _environment: *mut JNIEnv,
    _class: jclass,
) -> jboolean {
    guarded(0, |agent| jboolean::from(agent.iterations.is_some()))
}
