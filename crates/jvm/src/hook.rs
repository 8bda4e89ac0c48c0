//! The hook classes: Java code that rewritten programs call.
//!
//! They are compiled from `hook/src` by `cargo xtask hook` and kept in the repository, so that building Fissure needs no
//! JDK. The agent defines them in the boot loader, in `java.lang`, before the JVM executes its first Java instruction, so
//! that every class of every module can call them.

use fissure_classfile::{AccessFlags, AddedField, Catcher, guard};

use jvmti_bindings::sys::jni::{JNIEnv, jclass, jobject};

use crate::{agent::guarded, vm::Jni};

/// The class with the methods that rewritten code calls.
pub(crate) const HOOK: &str = "java/lang/FissureHook";
/// Its superclass, with the hooks of synchronization.
const SYNCHRONIZATION: &str = "java/lang/FissureSynchronization";
/// The class with the methods that rewritten code calls in controlled runs, and with its native methods.
pub(crate) const CONTROL: &str = "java/lang/FissureControl";
/// The class with the methods that rewritten code calls while harnesses are explored, and with its native methods.
pub(crate) const EXPLORE: &str = "java/lang/FissureExplore";
/// The superclass of both, with the methods that block and wake threads, and the superclass of the former with its clock.
const SCHEDULED: &str = "java/lang/FissureScheduled";
const CLOCK: &str = "java/lang/FissureClock";
/// The superclass of the former with the calls in which threads wait for input.
const INPUT: &str = "java/lang/FissureInput";
/// The superclass of the former with the hooks for several runs in one JVM.
const ITERATED: &str = "java/lang/FissureIterated";
/// The superclass of `CONTROL`, with the hooks of `java.util.concurrent`.
const CONCURRENT: &str = "java/lang/FissureConcurrent";
/// The prefix of all hook classes.
pub(crate) const PREFIX: &str = "java/lang/Fissure";

/// Fields that are both synthetic and transient are hidden from reflection.
const HIDDEN: AccessFlags = AccessFlags::SYNTHETIC.union(AccessFlags::TRANSIENT);

/// The fields added to `java.lang.Thread`: the words that the fast path compares with shadow words, and the rest of the thread's state.
pub(crate) const THREAD_FIELDS: &[AddedField<'static>] = &[
    AddedField { name: "fissureRead", descriptor: "J", access: HIDDEN },
    AddedField { name: "fissureWrite", descriptor: "J", access: HIDDEN },
    AddedField { name: "fissureFresh", descriptor: "J", access: HIDDEN },
    AddedField { name: "fissureSettled", descriptor: "[J", access: HIDDEN },
    AddedField { name: "fissureState", descriptor: "Ljava/lang/FissureThread;", access: HIDDEN },
    AddedField { name: "fissureControl", descriptor: "J", access: HIDDEN },
];

macro_rules! classes {
    ($($name:literal),* $(,)?) => {
        &[$((concat!("java/lang/", $name), include_bytes!(concat!("../hook/classes/java/lang/", $name, ".class")))),*]
    };
}

/// The classes, each after its superclass.
const CLASSES: &[(&str, &[u8])] = classes![
    "FissureTable$Entry",
    "FissureTable$Numbered",
    "FissureTable",
    "FissureLocks$Numbered",
    "FissureLocks",
    "FissureElements",
    "FissureArrays$Shadow",
    "FissureArrays$Transition",
    "FissureArrays",
    "FissureOrder$Handed",
    "FissureOrder$Given",
    "FissureOrder",
    "FissureRounds$Phases",
    "FissureRounds",
    "FissureHandles$Known",
    "FissureHandles",
    "FissureClones$Layout",
    "FissureClones",
    "FissureBlocks",
    "FissureHeld",
    "FissureRecent",
    "FissureThread",
    "FissureMonitor",
    "FissureEngine",
    "FissureSynchronization",
    "FissureHook",
    "FissureChance",
    "FissureObjects",
    "FissureNames",
    "FissureHashes",
    "FissureNumbers",
    "FissureWaits",
    "FissureConductor",
    "FissureScheduled",
    "FissureClock",
    "FissureInput",
    "FissureUnwind",
    "FissureIterated",
    "FissureDriver",
    "FissureConcurrent",
    "FissureControl$Releases",
    "FissureControl",
    "FissureExplore",
    "FissureFailure",
    "FissureThrown",
];

/// The classes that rewritten code calls. No exception of Fissure leaves their methods.
const CALLED: [&str; 9] =
    [SYNCHRONIZATION, HOOK, SCHEDULED, CLOCK, INPUT, ITERATED, CONCURRENT, CONTROL, EXPLORE];

/// Receives the exceptions of Fissure's code.
const CATCHER: Catcher<'static> = Catcher { class: "java/lang/FissureFailure", name: "caught" };

/// Defines all hook classes; returns the name of the one that failed.
pub(crate) fn define(jni: Jni) -> Result<(), &'static str> {
    CLASSES.iter().try_for_each(|(name, bytes)| {
        let is_defined = match CALLED.contains(name) {
            true => guard(bytes, CATCHER).is_ok_and(|guarded| jni.define_class(name, &guarded.bytes)),
            false => jni.define_class(name, bytes),
        };
        if is_defined { Ok(()) } else { Err(*name) }
    })
}

/// A hook has thrown, and the hooks have switched themselves off. The JVM finds this by its name.
#[unsafe(no_mangle)]
extern "system" fn Java_java_lang_FissureFailure_report(
    environment: *mut JNIEnv,
    _class: jclass,
    description: jobject,
) {
    guarded((), |agent| agent.fail(&Jni::new(environment).text(description)));
}

#[cfg(test)]
mod tests {
    use std::{collections::BTreeMap, fs, path::Path};

    /// A missing class would be noticed only when it is used.
    #[test]
    fn every_hook_class_is_defined() {
        let classes = Path::new(env!("CARGO_MANIFEST_DIR")).join("hook/classes");
        let mut compiled: Vec<String> = fs::read_dir(classes.join("java/lang"))
            .unwrap()
            .map(|entry| entry.unwrap().file_name().into_string().unwrap())
            .map(|file| format!("java/lang/{}", file.trim_end_matches(".class")))
            .collect();
        let mut defined: Vec<&str> = super::CLASSES.iter().map(|(name, _)| *name).collect();
        compiled.sort();
        defined.sort();
        assert_eq!(compiled, defined);
    }

    /// The agent adds no handler to methods with results or with declared exceptions: these must catch Fissure's exceptions themselves.
    #[test]
    fn no_further_hook_is_without_a_handler() {
        let unguarded: Vec<String> = super::CLASSES
            .iter()
            .filter(|(name, _)| super::CALLED.contains(name))
            .flat_map(|(_, bytes)| super::guard(bytes, super::CATCHER).unwrap().unguarded)
            .map(|method| method.split('(').next().unwrap_or_default().to_owned())
            .filter(|name| ![CATCHING, INTERNAL, HARMLESS].concat().contains(&name.as_str()))
            .collect();
        assert!(unguarded.is_empty(), "{unguarded:?}");
    }

    /// Methods that catch Fissure's exceptions and then execute the real operation, or return what the JDK has.
    const CATCHING: &[&str] = &[
        "accept",
        "adjustment",
        "arrayRead",
        "arrayWrite",
        "awaitProcess",
        "currentTimeMillis",
        "epoll",
        "exit",
        "fresh",
        "freshDouble",
        "halt",
        "mainClass",
        "nanoTime",
        "notifyAll",
        "notifyOne",
        "orderedMethods",
        "poll",
        "reads",
        "readsChannel",
        "sleep",
        "sleepNanos",
        "stateOf",
        "visibleFields",
        "waitOn",
        "write",
        "writeVectors",
    ];
    /// Methods that only other hook classes or the JVM call.
    const INTERNAL: &[&str] =
        &["<clinit>", "begin", "descriptor", "introduce", "isBlock", "self", "thread", "written"];
    /// Methods that only fill an array with numbers, for which there is no real operation that they could execute instead, and one that
    /// asks a thread what it is.
    const HARMLESS: &[&str] = &["entropy", "randomSeed", "waitsByPoller"];

    /// The compiled classes must match the sources in the repository.
    #[test]
    fn the_compiled_hook_classes_are_up_to_date() {
        let hook = Path::new(env!("CARGO_MANIFEST_DIR")).join("hook");
        let mut sources = BTreeMap::new();
        for entry in fs::read_dir(hook.join("src/java/lang")).unwrap() {
            let entry = entry.unwrap();
            let name = format!("java/lang/{}", entry.file_name().into_string().unwrap());
            sources.insert(name, fs::read_to_string(entry.path()).unwrap());
        }
        let parts: Vec<&str> =
            sources.iter().flat_map(|(name, text)| [name.as_str(), text.as_str()]).collect();
        let recorded = fs::read_to_string(hook.join("classes/SOURCE_HASH")).unwrap();
        assert_eq!(
            recorded.trim(),
            fissure_model::finding::fingerprint(&parts),
            "run `cargo xtask hook` after changing the hook sources"
        );
    }
}
