//! The identity hashes of a controlled program. With `-XX:hashCode=3` the JVM numbers objects one after the other, when they are first asked
//! for their hash. But which objects of the JDK and of the JVM get a hash during a run, and when, differs: classes that were loaded before are
//! not loaded again, and a JVM that executes several runs has hashed many objects before.
//!
//! So the objects that the program asks for their hash are numbered apart from all others. The agent takes the place of the JDK's two native
//! methods for hashes, which are called only for objects without one, and sets the JVM's counter to the program's next number
//! meanwhile. The counter is a word in the data of the JVM's library: it is found by its value before and after some hashes. Where it is
//! not found, hashes are as the JVM gives them.

use std::{
    fs::{self, File},
    os::unix::fs::FileExt,
    path::Path,
    sync::atomic::{AtomicU32, Ordering},
};

use jvmti_bindings::sys::jni::{JNIEnv, jclass, jint, jobject};

use crate::{
    agent::{Agent, agent},
    memory,
    vm::{Jni, NativeHash},
};

/// The process's own memory as a file.
const MEMORY: &str = "/proc/self/mem";
/// How many hashes are taken between two looks at the counter.
const HASHES: u32 = 3;
/// The largest part of the memory to search.
const MOST_BYTES: u64 = 1 << 26;
/// The hash before the first of the program.
const PROGRAM: u32 = 1 << 20;

/// The JVM's counter, and the program's.
#[derive(Debug)]
pub(crate) struct Hashes {
    counter: &'static AtomicU32,
    program: AtomicU32,
    /// The JVM's function that gives an object its hash.
    native: NativeHash,
}

impl Hashes {
    /// Keeps the program's hashes apart from here on; `None` if that is not possible in this JVM.
    pub(crate) fn install(jni: Jni) -> Option<Self> {
        let native = NativeHash::find()?;
        let counter = memory::word_of_library(find_counter(|| jni.identity_hash())?);
        let identity = (c"identityHashCode", c"(Ljava/lang/Object;)I", identity_hash as *mut _);
        let hash = (c"hashCode", c"()I", hash_code as *mut _);
        let classes = [(c"java/lang/System", identity), (c"java/lang/Object", hash)];
        let is_bound = |(class, method)| {
            jni.find_class(class).is_some_and(|class| jni.register_natives(class, &[method]))
        };
        classes.into_iter().all(is_bound).then(|| Self { counter, program: AtomicU32::new(PROGRAM), native })
    }

    /// The program begins: its objects get the same hashes in every run.
    pub(crate) fn begin(&self) {
        self.program.store(PROGRAM, Ordering::Relaxed);
    }

    /// The hash of an object, which may be new.
    pub(crate) fn of(&self, environment: *mut JNIEnv, object: jobject, is_of_program: bool) -> jint {
        if !is_of_program {
            return self.native.of(environment, object);
        }
        // Only the thread that has the token is here.
        let own = self.counter.swap(self.program.load(Ordering::Relaxed), Ordering::Relaxed);
        let hash = self.native.of(environment, object);
        self.program.store(self.counter.swap(own, Ordering::Relaxed), Ordering::Relaxed);
        hash
    }
}

/// Stands in for `System.identityHashCode`.
extern "system" fn identity_hash(environment: *mut JNIEnv, _class: jclass, object: jobject) -> jint {
    hash(environment, object)
}

/// Stands in for `Object.hashCode`.
extern "system" fn hash_code(environment: *mut JNIEnv, object: jobject) -> jint {
    hash(environment, object)
}

fn hash(environment: *mut JNIEnv, object: jobject) -> jint {
    // Even an agent that has failed must give a hash.
    let is_of_program = || agent().is_some_and(is_asked_by_program);
    match Agent::hashes() {
        Some(hashes) => hashes.of(environment, object, !object.is_null() && is_of_program()),
        None => NativeHash::find().map_or(0, |native| native.of(environment, object)),
    }
}

fn is_asked_by_program(agent: &Agent) -> bool {
    agent.control.as_ref().is_some_and(|control| control.runs_program())
}

/// Finds the counter's address. `hash` gives the hash of a new object. `None` if there is no counter, or if it is not clear which word it is.
fn find_counter(hash: impl Fn() -> Option<u32>) -> Option<usize> {
    let memory = File::open(MEMORY).ok()?;
    let parts = data_of_library(&fs::read_to_string("/proc/self/maps").ok()?, "libjvm.so");
    let mut value = hash()?;
    let mut places: Vec<u64> = parts.iter().flat_map(|part| words(&memory, *part, value)).collect();
    for _ in 0..2 {
        for _ in 0..HASHES {
            let next = hash()?;
            if next != value + 1 {
                return None;
            }
            value = next;
        }
        places.retain(|place| word(&memory, *place) == Some(value));
    }
    match places[..] {
        [address] => Some(address as usize),
        _ => None,
    }
}

/// The writable data of a library, by the process's memory map: its own pages and the zeroed pages after them.
fn data_of_library(map: &str, library: &str) -> Vec<(u64, u64)> {
    let mut parts = Vec::new();
    let mut follows = false;
    for line in map.lines() {
        let mut words = line.split_ascii_whitespace();
        let (Some(range), Some(access)) = (words.next(), words.next()) else { continue };
        let path = words.nth(3).unwrap_or_default();
        let is_own = Path::new(path).file_name().is_some_and(|name| name == library);
        let bounds = range.split_once('-').and_then(|(from, to)| {
            Some((u64::from_str_radix(from, 16).ok()?, u64::from_str_radix(to, 16).ok()?))
        });
        let is_meant = is_own || follows && path.is_empty();
        if let (Some((from, to)), true, true) = (bounds, is_meant, access.starts_with("rw"))
            && to - from <= MOST_BYTES
        {
            parts.push((from, to));
        }
        follows = is_own;
    }
    parts
}

/// The addresses of the words with this value in a part of the memory.
fn words(memory: &File, (from, to): (u64, u64), value: u32) -> Vec<u64> {
    let mut bytes = vec![0; (to - from) as usize];
    if memory.read_exact_at(&mut bytes, from).is_err() {
        return Vec::new();
    }
    let wanted = value.to_ne_bytes();
    (0..)
        .step_by(4)
        .zip(bytes.chunks_exact(4))
        .filter(|(_, word)| *word == wanted)
        .map(|(at, _)| from + at)
        .collect()
}

fn word(memory: &File, address: u64) -> Option<u32> {
    let mut bytes = [0; 4];
    memory.read_exact_at(&mut bytes, address).ok()?;
    Some(u32::from_ne_bytes(bytes))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_data_of_a_library_is_recognized() {
        let map = "\
10000000-10001000 r-xp 00000000 08:01 1 /opt/jdk/lib/server/libjvm.so
10002000-10003000 rw-p 00002000 08:01 1 /opt/jdk/lib/server/libjvm.so
10003000-10005000 rw-p 00000000 00:00 0 
20000000-20001000 rw-p 00000000 00:00 0 
30000000-30001000 rw-p 00000000 08:01 2 /lib/libc.so.6
30001000-30002000 rw-p 00000000 00:00 0 [heap]";
        let expected = [(0x1000_2000, 0x1000_3000), (0x1000_3000, 0x1000_5000)];
        assert_eq!(data_of_library(map, "libjvm.so"), expected);
        assert!(data_of_library(map, "libnone.so").is_empty());
    }

    #[test]
    fn a_word_is_found_by_its_address() {
        static COUNTER: AtomicU32 = AtomicU32::new(0x1234_5678);
        let memory = File::open(MEMORY).unwrap();
        let address = COUNTER.as_ptr() as u64;
        assert_eq!(word(&memory, address), Some(COUNTER.load(Ordering::Relaxed)));
        assert_eq!(words(&memory, (address, address + 4), 0x1234_5678), [address]);
        assert!(words(&memory, (address, address + 4), 1).is_empty());
    }
}
