//! The counter of identity hashes. With `-XX:hashCode=3` the JVM numbers objects one after the other, when they are first asked for their
//! hash; a new process begins at the same number. The counter is a word in the data of the JVM's library: it is found by its value before
//! and after some hashes, and set back before every run.

use std::{
    fs::{self, File, OpenOptions},
    os::unix::fs::FileExt,
    path::Path,
};

/// The process's own memory as a file.
const MEMORY: &str = "/proc/self/mem";
/// How many hashes are taken between two looks at the counter.
const HASHES: u32 = 3;
/// The largest part of the memory to search.
const MOST_BYTES: u64 = 1 << 26;

/// The counter, and its value before the first run.
#[derive(Debug)]
pub(super) struct HashCounter {
    memory: File,
    address: u64,
    value: u32,
}

impl HashCounter {
    /// Finds the counter. `hash` gives the hash of a new object. `None` if there is no counter, or if it is not clear which word it is.
    pub(super) fn find(hash: impl Fn() -> Option<u32>) -> Option<Self> {
        let memory = OpenOptions::new().read(true).write(true).open(MEMORY).ok()?;
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
            [address] => Some(Self { memory, address, value }),
            _ => None,
        }
    }

    /// Gives the counter the value that it had before the first run.
    pub(super) fn restore(&self) {
        // A failure leaves the counter as it is; runs are then compared and found to differ.
        let _ = self.memory.write_all_at(&self.value.to_ne_bytes(), self.address);
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
    use std::sync::atomic::{AtomicU32, Ordering};

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
    fn a_word_is_found_by_its_address() {
        static COUNTER: AtomicU32 = AtomicU32::new(0x1234_5678);
        let memory = File::open(MEMORY).unwrap();
        let address = COUNTER.as_ptr() as u64;
        assert_eq!(word(&memory, address), Some(COUNTER.load(Ordering::Relaxed)));
        assert_eq!(words(&memory, (address, address + 4), 0x1234_5678), [address]);
        assert_eq!(words(&memory, (address, address + 4), 1), []);
    }
}
