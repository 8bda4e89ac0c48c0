//! How much memory a script keeps.
//!
//! What a script allocates and frees is counted by the allocator while the script runs, on its own thread. So the count is what all its
//! values take together, wherever it keeps them. A library that runs monitors makes [`Counting`] its global allocator; in one that
//! does not, memory is bounded by the sizes of single values alone.

use std::{
    alloc::{GlobalAlloc, Layout, System},
    cell::Cell,
};

thread_local! {
    static IS_COUNTED: Cell<bool> = const { Cell::new(false) };
    static BYTES: Cell<isize> = const { Cell::new(0) };
}

/// The system's allocator, which counts what scripts allocate.
#[derive(Debug, Clone, Copy, Default)]
pub struct Counting;

fn count(change: isize) {
    // A thread that ends may have no such variables any more.
    let _ = IS_COUNTED.try_with(|is_counted| {
        if is_counted.get() {
            let _ = BYTES.try_with(|bytes| bytes.set(bytes.get().wrapping_add(change)));
        }
    });
}

// SAFETY: everything is left to the system's allocator; the variables that count are plain numbers that need no memory.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        count(layout.size() as isize);
        // SAFETY: the caller's promise is handed on.
        unsafe { System.alloc(layout) }
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        count(layout.size() as isize);
        // SAFETY: the caller's promise is handed on.
        unsafe { System.alloc_zeroed(layout) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        count(-(layout.size() as isize));
        // SAFETY: the caller's promise is handed on.
        unsafe { System.dealloc(pointer, layout) }
    }

    unsafe fn realloc(&self, pointer: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        count(size as isize - layout.size() as isize);
        // SAFETY: the caller's promise is handed on.
        unsafe { System.realloc(pointer, layout, size) }
    }
}

/// Something that was allocated elsewhere, and that a script may keep: it counts by its size while it is kept, and freeing it does
/// not count.
#[derive(Debug)]
pub(crate) struct Charged<T> {
    thing: Option<T>,
    size: isize,
}

impl<T> Charged<T> {
    pub(crate) fn new(thing: T, size: usize) -> Charged<T> {
        let size = size as isize;
        BYTES.set(BYTES.get().wrapping_add(size));
        Charged { thing: Some(thing), size }
    }
}

impl<T> std::ops::Deref for Charged<T> {
    type Target = T;

    fn deref(&self) -> &T {
        // It is there until it is dropped.
        self.thing.as_ref().expect("a charged thing")
    }
}

impl<T> Drop for Charged<T> {
    fn drop(&mut self) {
        BYTES.set(BYTES.get().wrapping_sub(self.size));
        let was_counted = IS_COUNTED.replace(false);
        drop(self.thing.take());
        IS_COUNTED.set(was_counted);
    }
}

/// What the scripts of this thread keep, in bytes.
pub(crate) fn kept() -> usize {
    usize::try_from(BYTES.get()).unwrap_or(0)
}

/// Begins to count for a new script of this thread.
pub(crate) fn begin() {
    BYTES.set(0);
}

/// Counts what `work` allocates and frees.
pub(crate) fn counted<T>(work: impl FnOnce() -> T) -> T {
    IS_COUNTED.set(true);
    let result = work();
    IS_COUNTED.set(false);
    result
}
