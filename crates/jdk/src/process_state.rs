//! The state of the JDK that a new process has afresh (`process-state.txt`).

use std::sync::LazyLock;

use crate::{
    files::{file, loaded},
    format::DataError,
    tables::{Member, Members},
};

/// How a static field is restored.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Restored {
    /// The descriptor of the field.
    pub descriptor: &'static str,
    /// Whether it holds an atomic number, whose value is restored.
    pub is_counter: bool,
    /// Whether it holds a collection, which is emptied as well.
    pub is_cleared: bool,
    /// Whether it holds a generator of random numbers, which gets the same seed in every run.
    pub is_seeded: bool,
    /// Whether it holds the next id of a thread, which is restored once the main thread exists.
    pub is_thread_id: bool,
    /// Whether it holds the address of a word with the next id of a thread.
    pub is_thread_id_address: bool,
}

/// The static fields to restore: internal names of classes with the names of their fields. A JDK need not have all of them.
pub fn restored_statics() -> impl Iterator<Item = (&'static str, &'static [Member<Restored>])> {
    STATE.statics.all()
}

static STATE: LazyLock<ProcessState> = LazyLock::new(|| loaded(ProcessState::load()));

pub(crate) struct ProcessState {
    statics: Members<Restored>,
}

impl ProcessState {
    pub(crate) fn load() -> Result<Self, DataError> {
        let mut file = file("process-state.txt")?;
        let statics = Members::load(file.take("statics")?, |words| Some(vec![restored(words)?]))?;
        file.finish()?;
        Ok(ProcessState { statics })
    }
}

fn restored(words: &[&'static str]) -> Option<Restored> {
    let (descriptor, marks) = words.split_first()?;
    let plain = Restored {
        descriptor,
        is_counter: false,
        is_cleared: false,
        is_seeded: false,
        is_thread_id: false,
        is_thread_id_address: false,
    };
    Some(match marks {
        [] => plain,
        ["counter"] => Restored { is_counter: true, ..plain },
        ["cleared"] => Restored { is_cleared: true, ..plain },
        ["seeded"] => Restored { is_seeded: true, ..plain },
        ["thread-id"] => Restored { is_thread_id: true, ..plain },
        ["thread-id-address"] => Restored { is_thread_id_address: true, ..plain },
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_have_descriptors_and_at_most_one_mark() {
        let plain = restored(&["I"]).unwrap();
        assert_eq!((plain.descriptor, plain.is_counter, plain.is_seeded), ("I", false, false));
        let counter = Restored { is_counter: true, ..plain };
        assert_eq!(restored(&["I", "counter"]), Some(counter));
        assert_eq!(restored(&["I", "counted"]), None);
        assert_eq!(restored(&[]), None);
        assert!(restored_statics().any(|(class, fields)| class == "java/lang/Thread" && fields.len() > 1));
    }
}
