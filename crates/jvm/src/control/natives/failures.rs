//! Exceptions that leave a thread or fail a test, and exits of the program.

use fissure_model::record::Cause;
use jvmti_bindings::sys::jni::{JNIEnv, jboolean, jclass, jint, jlong, jobject};

use super::super::{Control, failure};
use crate::{
    conducting::natives::{Call, conducted, scheduled},
    iterations::unwinding,
    planted,
    vm::Jni,
};

pub(super) extern "system" fn throwing(
    environment: *mut JNIEnv,
    _class: jclass,
    thread: jlong,
    exception: jobject,
    message: jobject,
    stack: jobject,
    is_test: jboolean,
) {
    conducted((), environment, thread, |control: &Control, Call { agent, thread, .. }| {
        let jni = Jni::new(environment);
        let [class, message, stack] = [exception, message, stack].map(|text| jni.text(text));
        let thrown = failure::thrown(Cause::Exception { class, message }, &stack, is_test != 0);
        let mut state = control.state();
        let (run, program) = state.parts(agent);
        run.failed(&program, thread, thrown);
    });
}

/// The thread is about to end the program with an exit code that means failure.
pub(super) extern "system" fn exits(
    environment: *mut JNIEnv,
    _class: jclass,
    thread: jlong,
    status: jint,
    stack: jobject,
) {
    conducted((), environment, thread, |control: &Control, Call { agent, thread, .. }| {
        let jni = Jni::new(environment);
        if planted::fault(jni, "exit") {
            return;
        }
        let stack = jni.text(stack);
        let thrown = failure::thrown(Cause::Exit { code: status }, &stack, false);
        let mut state = control.state();
        let (run, program) = state.parts(agent);
        run.failed(&program, thread, thrown);
    });
}

/// A security manager refused the exit, so the program goes on.
pub(super) extern "system" fn exit_refused(environment: *mut JNIEnv, _class: jclass, thread: jlong) {
    conducted((), environment, thread, |control: &Control, Call { thread, .. }| {
        control.state().run.exit_refused(thread);
    });
}

/// The program ends the JVM. If that executes several runs, only this run ends, and the thread is unwound.
pub(super) extern "system" fn ends(environment: *mut JNIEnv, _class: jclass, thread: jlong, status: jint) {
    scheduled((), environment, thread, |control: &Control, Call { agent, .. }| {
        if agent.iterations.is_none() {
            return control.end_program();
        }
        control.end_iteration(status);
        unwinding::unwind();
    });
}
