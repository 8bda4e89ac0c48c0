//! The layout of the address space of programs that Fissure starts.

/// Disables address space randomisation for programs that are started from now on. A JVM sorts some of what it loads by address, so
/// that the order in which it loads classes would differ from run to run. If the kernel forbids it, randomisation stays on.
pub(crate) fn disable_randomisation() {
    // SAFETY: `personality` has no memory effects; it only changes the layout of programs that this process starts later.
    unsafe {
        let current = libc::personality(0xffff_ffff);
        if current >= 0 {
            libc::personality(current as libc::c_ulong | libc::ADDR_NO_RANDOMIZE as libc::c_ulong);
        }
    }
}
