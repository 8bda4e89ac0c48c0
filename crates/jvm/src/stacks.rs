//! Stacks, kept as raw frames and resolved to names only for reports.

use std::sync::{Mutex, PoisonError};

use rustc_hash::FxHashMap;

use fissure_model::finding::Frame;

use crate::{
    hook::PREFIX,
    vm::{Jni, RawFrame, Tool},
};

/// The number of frames that are read.
const DEPTH: usize = 64;
/// The number of frames that are read to find the caller of a method.
const CALLER_DEPTH: usize = 16;
/// The number of stacks that are kept per site; a report on an access by a further thread shows only the site.
const MOST_SAMPLES: usize = 64;

/// Threads and their stacks, by site.
type Stacks = FxHashMap<u32, Vec<(u32, Box<[RawFrame]>)>>;

/// One stack for each pair of a site and a thread.
#[derive(Debug, Default)]
pub(crate) struct Samples {
    stacks: Mutex<Stacks>,
}

impl Samples {
    /// Keeps the current thread's stack for a site, unless it has been kept before.
    pub(crate) fn take(&self, tool: Tool, thread: u32, site: u32) {
        let mut stacks = self.stacks.lock().unwrap_or_else(PoisonError::into_inner);
        let known = stacks.entry(site).or_default();
        if known.len() < MOST_SAMPLES && known.iter().all(|&(other, _)| other != thread) {
            known.push((thread, tool.stack(DEPTH).into_boxed_slice()));
        }
    }

    /// The stack of a thread at a site, with names.
    pub(crate) fn frames(&self, tool: Tool, thread: u32, site: u32) -> Vec<Frame> {
        let stack = {
            let stacks = self.stacks.lock().unwrap_or_else(PoisonError::into_inner);
            let known = stacks.get(&site).into_iter().flatten();
            known.into_iter().find(|(other, _)| *other == thread).map(|(_, stack)| stack.clone())
        };
        stack.map_or_else(Vec::new, |stack| named(tool, &stack))
    }
}

/// The current thread's stack as raw frames.
pub(crate) fn raw(tool: Tool) -> Vec<RawFrame> {
    tool.stack(DEPTH)
}

/// The current thread's stack, with names.
pub(crate) fn current(tool: Tool) -> Vec<Frame> {
    named(tool, &tool.stack(DEPTH))
}

/// Whether code outside of the JDK called the JDK's method whose hook is running. Frames of the method's own class, and of the
/// classes that only pass calls on, are not its caller.
pub(crate) fn is_called_from_outside(tool: Tool, jni: Jni) -> bool {
    let classes = tool.stack(CALLER_DEPTH).into_iter().map(|raw| {
        let (class, _) = tool.method(raw.method)?;
        let name = tool.class_name(class);
        jni.forget(class);
        name
    });
    is_outside(classes.map(|name| name.unwrap_or_default()))
}

/// The same for the names of the classes on a stack, innermost first.
fn is_outside(classes: impl Iterator<Item = String>) -> bool {
    let mut classes = classes.skip_while(|class| class.starts_with(PREFIX));
    let Some(called) = classes.next() else { return false };
    let caller = classes.find(|class| *class != called && !fissure_jdk::passes_calls_on(class));
    caller.is_some_and(|class| !fissure_jdk::is_jdk_name(&class.replace('/', ".")))
}

/// Resolves a stack to names, without Fissure's frames.
pub(crate) fn named(tool: Tool, stack: &[RawFrame]) -> Vec<Frame> {
    stack
        .iter()
        .filter_map(|&raw| {
            let (class, method) = tool.method(raw.method)?;
            let name = tool.class_name(class)?;
            if name.starts_with(PREFIX) {
                return None;
            }
            Some(Frame {
                class: stable_name(&name).replace('/', "."),
                method,
                file: tool.source_file(class),
                line: tool.line(raw),
            })
        })
        .collect()
}

/// The name of a class without the suffix that the JVM adds for hidden classes: an address or hash that differs in each run.
fn stable_name(name: &str) -> &str {
    let lambda = name.find("$$Lambda").unwrap_or(name.len());
    let end = name[lambda..].find('/').map_or(name.len(), |index| lambda + index);
    name[..end].split('.').next().unwrap_or(name)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(name: &str, expected: &str) {
        assert_eq!(stable_name(name), expected);
    }

    #[test]
    fn a_call_is_from_outside_if_its_caller_is() {
        let check = |classes: &[&str], expected| {
            let stack = ["java/lang/FissureHook"].iter().chain(classes).map(|class| (*class).to_owned());
            assert_eq!(is_outside(stack), expected, "{classes:?}");
        };
        let map = "java/util/concurrent/ConcurrentHashMap";
        check(&[map, "com/acme/Cache"], true);
        check(&[map, map, "com/acme/Cache"], true);
        check(&[map, "java/lang/invoke/MethodType", "com/acme/Cache"], false);
        check(&[map], false);
        let handle = "java/lang/invoke/VarHandleInts$FieldInstanceReadWrite";
        check(&[handle, "java/lang/invoke/VarHandleGuards", "com/acme/Cell"], true);
        check(&[handle, "java/lang/invoke/VarHandleGuards", "java/util/concurrent/FutureTask"], false);
        let updater = "java/util/concurrent/atomic/AtomicIntegerFieldUpdater$AtomicIntegerFieldUpdaterImpl";
        check(&[updater, "java/util/concurrent/atomic/AtomicIntegerFieldUpdater", "com/acme/Cell"], true);
    }

    #[test]
    fn names_of_hidden_classes_do_not_differ_between_runs() {
        check("com/acme/Main", "com/acme/Main");
        check("com/acme/Main$$Lambda.0x0000000054080210", "com/acme/Main$$Lambda");
        check("com/acme/Main$$Lambda$1.0x0000000800000a08", "com/acme/Main$$Lambda$1");
        check("com/acme/Main$$Lambda$1/544", "com/acme/Main$$Lambda$1");
        check("java/lang/invoke/LambdaForm$MH.0x0000000800000a08", "java/lang/invoke/LambdaForm$MH");
    }
}
