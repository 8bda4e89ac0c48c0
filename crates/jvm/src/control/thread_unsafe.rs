//! Thread-unsafe objects of classes outside of the application. A call of such an object is one access as long as no other thread
//! interferes, but many accesses inside. If threads use such an object without a common lock, later runs instrument its class.

use fissure_control::{Parts, ThreadUnsafe};
use jvmti_bindings::sys::jni::jobject;

use crate::{agent::Agent, vm::Jni};

/// No class hierarchy is as deep.
const DEEPEST: usize = 100;
/// Wrappers of wrappers are followed so far.
const WRAPPERS: usize = 8;

const KNOWN: ThreadUnsafe =
    ThreadUnsafe { is_excluded: fissure_jdk::is_thread_safe, delegate_of: fissure_jdk::delegate_of };

/// The classes whose code works on an object, or on the one that it wraps.
pub(super) fn parts_of(agent: &Agent, jni: Jni, object: jobject) -> Parts {
    let mut wrapped = None;
    for _ in 0..WRAPPERS {
        match wrapped_by(agent, jni, wrapped.unwrap_or(object)) {
            Some(next) => wrapped = Some(next),
            None => break,
        }
    }
    let classes = classes_of(agent, jni, wrapped.unwrap_or(object));
    Parts { classes, is_wrapped: wrapped.is_some() }
}

/// The object that a wrapper wraps. Nothing here runs Java code: the fields of the class come from JVMTI.
fn wrapped_by(agent: &Agent, jni: Jni, object: jobject) -> Option<jobject> {
    let mut next = Some(jni.class_of(object));
    for _ in 0..DEEPEST {
        let class = next?;
        let name = agent.tool.class_name(class).unwrap_or_default().replace('/', ".");
        if let Some(field) = fissure_jdk::wrapped_field(&name) {
            let fields = agent.tool.fields(class);
            let field = fields.into_iter().find(|known| known.name == field)?;
            return jni.object_in(object, &field);
        }
        next = jni.superclass(class);
        jni.forget(class);
    }
    None
}

/// The classes whose code works on an object, most derived first; empty if the object is not to be instrumented.
fn classes_of(agent: &Agent, jni: Jni, object: jobject) -> Vec<String> {
    let mut next = Some(jni.class_of(object));
    let classes = std::iter::from_fn(|| {
        let this = next?;
        let name = agent.tool.class_name(this).unwrap_or_default().replace('/', ".");
        next = jni.superclass(this);
        jni.forget(this);
        // `Object` has no state. A class in scope is instrumented anyway.
        let is_instrumented = agent.scope.covers(&name) && !agent.scope.is_on_demand(&name);
        next.is_some().then_some((name, is_instrumented))
    });
    KNOWN.parts(classes.take(DEEPEST))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_thread_unsafe_classes_are_instrumented() {
        fn check(class: &str, expected: &[&str]) {
            assert_eq!(KNOWN.parts([(class.to_owned(), false)].into_iter()), expected, "{class}");
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
