//! Thread-unsafe objects of classes outside of the application. A call of such an object is one access as long as no other thread
//! interferes, but many accesses inside. If threads use such an object without a common lock, later runs instrument its class.

use fissure_model::ids::LocationId;
use jvmti_bindings::sys::jni::{JNIEnv, jobject};

use super::State;
use crate::{agent::Agent, vm::Jni};

/// No class hierarchy is as deep.
const DEEPEST: usize = 100;

/// The classes whose code works on an object, most derived first; empty if the object is not to be instrumented.
pub(super) fn parts_of(agent: &Agent, environment: *mut JNIEnv, object: jobject) -> Vec<String> {
    let jni = Jni::new(environment);
    let mut parts = Vec::new();
    let mut class = Some(jni.class_of(object));
    while let Some(this) = class.filter(|_| parts.len() < DEEPEST) {
        let name = agent.tool.class_name(this).unwrap_or_default().replace('/', ".");
        class = jni.superclass(this);
        jni.forget(this);
        if parts.is_empty() && fissure_jdk::is_thread_safe(&name) {
            break;
        }
        // A class in scope is instrumented anyway.
        let is_in_scope = agent.scope.covers(&name) && !agent.scope.is_on_demand(&name);
        if class.is_some() && !is_in_scope {
            add(&mut parts, &name);
        }
    }
    parts
}

/// The classes of thread-unsafe objects that threads used without a common lock, without duplicates.
pub(super) fn unguarded(state: &mut State) -> Vec<String> {
    let found = state.conductor.observer().map(|observer| observer.unguarded()).unwrap_or_default();
    let parts = |location| state.points.parts(location).iter().cloned();
    let mut classes: Vec<String> = found.into_iter().map(LocationId).flat_map(parts).collect();
    classes.sort();
    classes.dedup();
    classes
}

fn add(parts: &mut Vec<String>, class: &str) {
    // Inner classes work on the fields of their outer class.
    let outer = class.split('$').next().unwrap_or(class);
    parts.push(outer.to_owned());
    parts.extend(fissure_jdk::delegate_of(outer).map(str::to_owned));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_thread_unsafe_classes_are_instrumented() {
        fn check(class: &str, expected: &[&str]) {
            let mut parts = Vec::new();
            if !fissure_jdk::is_thread_safe(class) {
                add(&mut parts, class);
            }
            assert_eq!(parts, expected, "{class}");
        }
        check("java.util.ArrayList", &["java.util.ArrayList"]);
        check("java.util.ArrayList$SubList", &["java.util.ArrayList"]);
        check("java.util.HashSet", &["java.util.HashSet", "java.util.HashMap"]);
        check("java.util.concurrent.ConcurrentHashMap", &[]);
        check("java.util.Collections$SynchronizedMap", &[]);
        check("java.util.Vector", &[]);
        check("java.lang.invoke.VarHandleInts$FieldInstanceReadWrite", &[]);
    }
}
