//! Objects of other people's classes that are not made for several threads. What is one access as long as nobody interferes is many
//! inside, so that whoever lets threads use such an object without a common lock has to be shown what happens there.

use fissure_model::ids::LocationId;
use jvmti_bindings::sys::jni::{JNIEnv, jobject};

use super::State;
use crate::{agent::Agent, vm::Jni};

/// How the names of those begin that are made for several threads, that hold nothing, that hand everything on to another object, or that the
/// JVM itself depends on.
const GUARDED: &[&str] = &[
    "java.lang.StringBuffer",
    "java.lang.invoke.",
    "java.util.Arrays$",
    "java.util.Collections$",
    "java.util.Hashtable",
    "java.util.ImmutableCollections",
    "java.util.Properties",
    "java.util.Stack",
    "java.util.Vector",
    "java.util.concurrent.",
    "jdk.internal.",
    "sun.",
];

/// Those that leave the work to an object of another class.
const DELEGATING: &[(&str, &str)] = &[
    ("java.util.HashSet", "java.util.HashMap"),
    ("java.util.LinkedHashSet", "java.util.LinkedHashMap"),
    ("java.util.TreeSet", "java.util.TreeMap"),
];

/// No hierarchy is as deep.
const DEEPEST: usize = 100;

/// The classes that an object is made of, its own first; none if it is made for several threads.
pub(super) fn parts_of(agent: &Agent, environment: *mut JNIEnv, object: jobject) -> Vec<String> {
    let jni = Jni::new(environment);
    let mut parts = Vec::new();
    let mut class = Some(jni.class_of(object));
    while let Some(this) = class.filter(|_| parts.len() < DEEPEST) {
        let name = agent.tool.class_name(this).unwrap_or_default().replace('/', ".");
        class = jni.superclass(this);
        jni.forget(this);
        if parts.is_empty() && is_guarded(&name) {
            break;
        }
        // What is in scope is looked into as it is.
        let is_seen = agent.scope.covers(&name) && !agent.scope.is_inside(&name);
        if class.is_some() && !is_seen {
            add(&mut parts, &name);
        }
    }
    parts
}

/// The classes of objects that threads used without a common lock though they are not made for it, each once.
pub(super) fn unguarded(state: &mut State) -> Vec<String> {
    let found = state.conductor.observer().map(|observer| observer.unguarded()).unwrap_or_default();
    let parts = |location| state.points.parts(location).iter().cloned();
    let mut classes: Vec<String> = found.into_iter().map(LocationId).flat_map(parts).collect();
    classes.sort();
    classes.dedup();
    classes
}

fn is_guarded(class: &str) -> bool {
    GUARDED.iter().any(|prefix| class.starts_with(prefix))
}

fn add(parts: &mut Vec<String>, class: &str) {
    // What is in a class works on the class's own fields.
    let outer = class.split('$').next().unwrap_or(class);
    let delegates = DELEGATING.iter().filter(|(name, _)| *name == outer).map(|(_, delegate)| *delegate);
    parts.push(outer.to_owned());
    parts.extend(delegates.map(str::to_owned));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_is_not_made_for_threads_is_looked_into() {
        fn check(class: &str, expected: &[&str]) {
            let mut parts = Vec::new();
            if !is_guarded(class) {
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
