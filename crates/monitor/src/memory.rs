//! The memory that a script keeps.
//!
//! The allocator counts what a script allocates and frees while the script runs, on its own thread. So the count is the size of all its
//! values together, wherever the script keeps them. A library that runs monitor scripts makes [`Counting`] its global allocator; without
//! it, memory is bounded only by the sizes of single values.

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
    // The thread-local variables of a thread that ends may be destroyed already.
    let _ = IS_COUNTED.try_with(|is_counted| {
        if is_counted.get() {
            let _ = BYTES.try_with(|bytes| bytes.set(bytes.get().wrapping_add(change)));
        }
    });
}

// SAFETY: all calls are forwarded to the system's allocator; the thread-local counters are plain numbers that never allocate.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        count(layout.size() as isize);
        // SAFETY: the caller's obligations are those of the forwarded call.
        unsafe { System.alloc(layout) }
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        count(layout.size() as isize);
        // SAFETY: the caller's obligations are those of the forwarded call.
        unsafe { System.alloc_zeroed(layout) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        count(-(layout.size() as isize));
        // SAFETY: the caller's obligations are those of the forwarded call.
        unsafe { System.dealloc(pointer, layout) }
    }

    unsafe fn realloc(&self, pointer: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        count(size as isize - layout.size() as isize);
        // SAFETY: the caller's obligations are those of the forwarded call.
        unsafe { System.realloc(pointer, layout, size) }
    }
}

/// A value that was allocated while nothing was counted, and that a script may keep: its size counts while it is kept, and freeing it
/// does not count.
#[derive(Debug)]
pub(crate) struct Charged<T> {
    value: Option<T>,
    size: isize,
}

impl<T> Charged<T> {
    pub(crate) fn new(value: T, size: usize) -> Charged<T> {
        let size = size as isize;
        BYTES.set(BYTES.get().wrapping_add(size));
        Charged { value: Some(value), size }
    }
}

impl<T> std::ops::Deref for Charged<T> {
    type Target = T;

    fn deref(&self) -> &T {
        // The value is there until `drop`.
        self.value.as_ref().expect("the value of a `Charged` is taken only when it is dropped")
    }
}

impl<T> Drop for Charged<T> {
    fn drop(&mut self) {
        BYTES.set(BYTES.get().wrapping_sub(self.size));
        let was_counted = IS_COUNTED.replace(false);
        drop(self.value.take());
        IS_COUNTED.set(was_counted);
    }
}

/// The size of what the scripts of this thread keep, in bytes.
pub(crate) fn kept() -> usize {
    usize::try_from(BYTES.get()).unwrap_or(0)
}

/// Resets the count for a new script of this thread.
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
