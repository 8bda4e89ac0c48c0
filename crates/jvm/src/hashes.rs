//! The identity hashes of a controlled program. With `-XX:hashCode=3` the JVM numbers objects one after the other, when they are first asked
//! for their hash. But which objects of the JDK get a hash during a run, and when, differs: classes that were loaded before are not loaded
//! again, and a JVM that executes several runs has hashed many objects before.
//!
//! So the program's objects are numbered apart from those that are hashed while classes are loaded and linked, and from the JDK's
//! internal locks (hook class `FissureHashes`). The counter is a word in the data of the JVM's library: it is found by its value
//! before and after some hashes. Where it is not found, hashes are as the JVM gives them.

use std::{
    fs::{self, File},
    os::unix::fs::FileExt,
    path::Path,
    sync::atomic::{AtomicBool, AtomicU32, Ordering},
};

use crate::memory;

/// The process's own memory as a file.
const MEMORY: &str = "/proc/self/mem";
/// How many hashes are taken between two looks at the counter.
const HASHES: u32 = 3;
/// The largest part of the memory to search.
const MOST_BYTES: u64 = 1 << 26;

/// The hash before the first of the program, and before the first in a region. Internal locks come between them.
const PROGRAM: u32 = 1 << 16;
const REGION: u32 = 1 << 23;

/// The counter, and the values that it has for those who do not use it now.
#[derive(Debug)]
pub(crate) struct Hashes {
    counter: &'static AtomicU32,
    other: AtomicU32,
    is_in_region: AtomicBool,
}

impl Hashes {
    /// Finds the counter. `hash` gives the hash of a new object. `None` if there is no counter, or if it is not clear which word it is.
    pub(crate) fn find(hash: impl Fn() -> Option<u32>) -> Option<Self> {
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
            [address] => Some(Self {
                counter: memory::word_of_library(address as usize),
                other: AtomicU32::new(REGION),
                is_in_region: AtomicBool::new(false),
            }),
            _ => None,
        }
    }

    /// The program begins: its objects get the same hashes in every run.
    pub(crate) fn begin(&self) {
        self.counter.store(PROGRAM, Ordering::Relaxed);
        self.other.store(REGION, Ordering::Relaxed);
        self.is_in_region.store(false, Ordering::Relaxed);
    }

    /// A thread goes on that is, or is not, in a region in which classes are loaded or linked.
    #[inline]
    pub(crate) fn select(&self, is_in_region: bool) {
        // Only the thread that has the token is here.
        if self.is_in_region.swap(is_in_region, Ordering::Relaxed) != is_in_region {
            let other = self.other.load(Ordering::Relaxed);
            self.other.store(self.counter.swap(other, Ordering::Relaxed), Ordering::Relaxed);
        }
    }

    /// The address of the counter.
    pub(crate) fn address(&self) -> usize {
        self.counter.as_ptr() as usize
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
        assert_eq!(data_of_library(map, "libnone.so"), []);
    }

    #[test]
    fn regions_have_hashes_of_their_own() {
        static COUNTER: AtomicU32 = AtomicU32::new(7);
        let hashes =
            Hashes { counter: &COUNTER, other: AtomicU32::new(0), is_in_region: AtomicBool::new(true) };
        let next = || COUNTER.fetch_add(1, Ordering::Relaxed) + 1;
        hashes.begin();
        assert_eq!(next(), PROGRAM + 1);
        hashes.select(true);
        assert_eq!(next(), REGION + 1);
        hashes.select(true);
        assert_eq!(next(), REGION + 2);
        hashes.select(false);
        assert_eq!(next(), PROGRAM + 2);
        hashes.select(true);
        assert_eq!(next(), REGION + 3);
    }

    #[test]
    fn a_word_is_found_by_its_address() {
        static COUNTER: AtomicU32 = AtomicU32::new(0x1234_5678);
        let memory = File::open(MEMORY).unwrap();
        let address = COUNTER.as_ptr() as u64;
        assert_eq!(word(&memory, address), Some(COUNTER.load(Ordering::Relaxed)));
        assert_eq!(words(&memory, (address, address + 4), 0x1234_5678), [address]);
        assert_eq!(words(&memory, (address, address + 4), 1), []);
    }
}
