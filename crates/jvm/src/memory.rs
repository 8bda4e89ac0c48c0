//! Memory outside the Java heap that Java code reads and writes by address.

use std::{
    io,
    sync::atomic::{AtomicI32, AtomicI64, AtomicU8, AtomicU32, AtomicU64, Ordering},
};

/// Zeroed memory that lives as long as the JVM. A page uses no physical memory until it is first accessed.
#[derive(Debug)]
pub(crate) struct Table {
    address: usize,
    entries: usize,
}

impl Table {
    /// Allocates a table of so many entries of `size` bytes each.
    pub(crate) fn new(entries: usize, size: usize) -> io::Result<Table> {
        // SAFETY: an anonymous private mapping at an address of the kernel's choice touches no existing memory.
        let address = unsafe {
            libc::mmap(
                std::ptr::null_mut(),
                entries * size,
                libc::PROT_READ | libc::PROT_WRITE,
                libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | libc::MAP_NORESERVE,
                -1,
                0,
            )
        };
        if address == libc::MAP_FAILED {
            return Err(io::Error::last_os_error());
        }
        Ok(Table { address: address as usize, entries })
    }

    /// Its address.
    pub(crate) fn address(&self) -> usize {
        self.address
    }

    /// Sets a 32-bit entry.
    pub(crate) fn set_i32(&self, at: usize, value: i32) {
        if at < self.entries {
            // SAFETY: the entry lies inside the mapping, is aligned, and is never unmapped; Java code that
            // reads it concurrently sees the old or the new value.
            let entry = unsafe { &*((self.address + at * 4) as *const AtomicI32) };
            entry.store(value, Ordering::Release);
        }
    }

    /// Sets bits of an 8-bit entry; returns the previous value.
    pub(crate) fn set_bits(&self, at: usize, bits: u8) -> u8 {
        if at >= self.entries {
            return 0;
        }
        // SAFETY: the entry lies inside the mapping and is never unmapped; Java code only reads it.
        let entry = unsafe { &*((self.address + at) as *const AtomicU8) };
        entry.fetch_or(bits, Ordering::Relaxed)
    }

    /// The 64-bit entry at an index; 0 beyond the end.
    pub(crate) fn number(&self, at: usize) -> u64 {
        if at < self.entries { self.get_u64(at) } else { 0 }
    }

    /// A 32-bit entry; zero beyond the end.
    pub(crate) fn get_i32(&self, at: usize) -> i32 {
        if at >= self.entries {
            return 0;
        }
        // SAFETY: as above.
        let entry = unsafe { &*((self.address + at * 4) as *const AtomicI32) };
        entry.load(Ordering::Acquire)
    }

    /// Reads a 64-bit value; the index counts 8-byte units and must lie within the table.
    fn get_u64(&self, index: usize) -> u64 {
        // SAFETY: `quadruples` and `number` stay within the table; the value is aligned and never unmapped.
        let value = unsafe { &*((self.address + index * 8) as *const AtomicU64) };
        value.load(Ordering::Relaxed)
    }

    /// Iterates over the first `count` entries of a table with four 64-bit values per entry.
    pub(crate) fn quadruples(&self, count: usize) -> impl Iterator<Item = [u64; 4]> + '_ {
        (0..count.min(self.entries)).map(|at| std::array::from_fn(|part| self.get_u64(at * 4 + part)))
    }
}

/// A word of 64 bits in the data of the JVM's library, which stays loaded as long as the process runs; `None` if the address cannot be one.
pub(crate) fn long_of_library(address: usize) -> Option<&'static AtomicI64> {
    if address == 0 || !address.is_multiple_of(align_of::<AtomicI64>()) {
        return None;
    }
    // SAFETY: the JDK itself reads and writes this word by its address, atomically, as long as the process lives.
    Some(unsafe { AtomicI64::from_ptr(address as *mut i64) })
}

/// A word in the data of a library that is never unloaded, by its address.
pub(crate) fn word_of_library(address: usize) -> &'static AtomicU32 {
    // SAFETY: the address is that of an aligned word in writable memory that is mapped as long as the process lives; the library accesses
    // it by single loads and stores as well.
    unsafe { AtomicU32::from_ptr(address as *mut u32) }
}
