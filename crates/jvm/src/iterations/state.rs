//! The state of the JDK that a new process has afresh, as far as it is in static fields: remembered before the first run, and restored
//! before every other (`process-state.txt` of the crate `jdk`).

use std::sync::atomic::{AtomicI64, Ordering};

use fissure_jdk::{Member, Restored};
use jvmti_bindings::sys::jni::jobject;

use crate::{
    memory,
    vm::{Jni, StaticField, StaticValue},
};

/// The seed of the JDK's own generators of random numbers. Any number is as good.
const SEED: i64 = 0x2545_F491_4F6C_DD1D;

/// Gives the generators of random numbers that the JDK itself has the same seed in every run, whenever the program first uses them.
pub(crate) fn seed(jni: Jni) {
    Generators::find(jni).seed(jni);
}

/// The JDK's own generators of random numbers, as far as this JDK has them.
#[derive(Debug)]
struct Generators {
    fields: Vec<StaticField>,
}

impl Generators {
    fn find(jni: Jni) -> Self {
        let mut fields = Vec::new();
        for (class, members) in fissure_jdk::restored_statics() {
            let seeded = members.iter().filter(|member| member.role.is_seeded);
            fields.extend(
                seeded.filter_map(|member| jni.static_field(class, member.method, member.role.descriptor)),
            );
        }
        Self { fields }
    }

    fn seed(&self, jni: Jni) {
        for field in &self.fields {
            let StaticValue::Object(object) = jni.static_value(*field) else { continue };
            let object = object as jobject;
            // A `Random` keeps its seed in an atomic number.
            let number = jni.object_field(object, c"seed", c"Ljava/util/concurrent/atomic/AtomicLong;");
            jni.set_number(number.unwrap_or(object), c"value", SEED);
            number.into_iter().for_each(|number| jni.forget(number));
            jni.release(object);
        }
    }
}

/// The ids of threads: what the JVM continues to count with every thread that is attached between two runs.
#[derive(Debug, Clone, Copy)]
pub(super) struct ThreadIds {
    /// The id of the main thread.
    main: i64,
    /// The counter, and its value when the program begins; `None` if this JDK's counter is not known.
    counter: Option<(Counter, i64)>,
}

/// Where the JDK counts threads.
#[derive(Debug, Clone, Copy)]
enum Counter {
    /// In a static field.
    Field(StaticField),
    /// In a word of the JVM, whose address the JDK has in a static field.
    Word(&'static AtomicI64),
}

impl ThreadIds {
    /// The ids at the beginning of the first run, in the thread that would call the program's main method.
    pub(super) fn new(jni: Jni, thread: jobject) -> Self {
        let main = jni.number_field(thread, c"tid").unwrap_or(1);
        let counter = |class: &str, member: &Member<Restored>| {
            let field = jni.static_field(class, member.method, member.role.descriptor)?;
            let StaticValue::Long(value) = jni.static_value(field) else { return None };
            if member.role.is_thread_id {
                return Some((Counter::Field(field), value));
            }
            let word = memory::long_of_library(usize::try_from(value).ok()?)?;
            Some((Counter::Word(word), word.load(Ordering::SeqCst)))
        };
        let statics = fissure_jdk::restored_statics();
        let mut members =
            statics.flat_map(|(class, members)| members.iter().map(move |member| (class, member)));
        let counter = members.find_map(|(class, member)| {
            let is_meant = member.role.is_thread_id || member.role.is_thread_id_address;
            if is_meant { counter(class, member) } else { None }
        });
        Self { main, counter }
    }

    /// The current thread becomes the main thread of a new run.
    pub(super) fn restore(self, jni: Jni, thread: jobject) {
        jni.set_number(thread, c"tid", self.main);
        match self.counter {
            Some((Counter::Field(field), value)) => jni.set_static(field, StaticValue::Long(value)),
            Some((Counter::Word(word), value)) => word.store(value, Ordering::SeqCst),
            None => {}
        }
    }
}

/// The remembered state.
#[derive(Debug)]
pub(super) struct SavedState {
    fields: Vec<Saved>,
    generators: Generators,
}

#[derive(Debug)]
struct Saved {
    field: StaticField,
    value: StaticValue,
    /// The value of the atomic number that the field holds.
    counter: Option<i64>,
    is_cleared: bool,
}

impl SavedState {
    /// Remembers the state. Fields that this JDK does not have are left out.
    pub(super) fn new(jni: Jni) -> Self {
        let mut fields = Vec::new();
        for (class, members) in fissure_jdk::restored_statics() {
            for member in members {
                let role = member.role;
                if role.is_seeded || role.is_thread_id || role.is_thread_id_address {
                    continue;
                }
                let Some(field) = jni.static_field(class, member.method, role.descriptor) else { continue };
                let value = jni.static_value(field);
                let counter = match value {
                    StaticValue::Object(object) if role.is_counter && object != 0 => {
                        jni.number_field(object as jobject, c"value")
                    }
                    _ => None,
                };
                fields.push(Saved { field, value, counter, is_cleared: role.is_cleared });
            }
        }
        Self { fields, generators: Generators::find(jni) }
    }

    /// Restores the state.
    pub(super) fn restore(&self, jni: Jni) {
        self.generators.seed(jni);
        for saved in &self.fields {
            match (saved.value, saved.counter) {
                (StaticValue::Object(object), Some(counter)) => {
                    jni.set_number(object as jobject, c"value", counter);
                }
                (value, _) => {
                    jni.set_static(saved.field, value);
                    if let (StaticValue::Object(object), true) = (value, saved.is_cleared)
                        && object != 0
                    {
                        jni.call_on(object as jobject, c"clear");
                    }
                }
            }
        }
    }
}
