//! Forwards signals to the program while it runs, so that stopping Fissure stops the program and Fissure still reports. If several
//! programs run at once, each leads a process group that is ended as a whole.
//!
//! Signal handlers and `waitid` need unsafe code. The handler only uses atomics and `kill`, both of which are async-signal-safe.

use std::{
    io,
    mem::MaybeUninit,
    process::Child,
    ptr,
    sync::atomic::{AtomicBool, AtomicI32, AtomicU32, Ordering},
};

use libc::{c_int, c_void, sigaction, siginfo_t};

/// The signals that are forwarded. SIGQUIT makes a JVM print its threads, and must not end Fissure.
const FORWARDED: [c_int; 4] = [libc::SIGINT, libc::SIGTERM, libc::SIGHUP, libc::SIGQUIT];

/// The process that gets the signals; 0 while there is none.
static CHILD: AtomicI32 = AtomicI32::new(0);

/// A signal that came before there was a process to forward it to; 0 if none.
static PENDING: AtomicI32 = AtomicI32::new(0);

/// How many signals that ask to end came while signals are forwarded.
static INTERRUPTIONS: AtomicU32 = AtomicU32::new(0);

/// Whether a signal came while signals are only recorded.
static INTERRUPTED: AtomicBool = AtomicBool::new(false);

/// Disables address space randomisation for programs that are started from now on. A JVM sorts some of what it loads by address, so
/// that the order in which it loads classes would differ from run to run. If the kernel forbids it, randomisation stays on.
pub(crate) fn disable_address_randomisation() {
    // SAFETY: `personality` has no memory effects; it only changes the layout of programs that this process starts later.
    unsafe {
        let current = libc::personality(0xffff_ffff);
        if current >= 0 {
            libc::personality(current as libc::c_ulong | libc::ADDR_NO_RANDOMIZE as libc::c_ulong);
        }
    }
}

/// Signals are forwarded as long as this lives.
pub(crate) struct Forwarding {
    _handlers: Handlers,
}

/// Signals are only recorded as long as this lives.
pub(crate) struct Interruption {
    _handlers: Handlers,
}

/// A function that the system calls with a signal.
type Handler = extern "C" fn(c_int, *mut siginfo_t, *mut c_void);

/// The handlers that are installed, and the actions that they replaced.
struct Handlers {
    former: Vec<(c_int, sigaction)>,
}

impl Forwarding {
    /// Starts to catch signals.
    pub(crate) fn install() -> Self {
        PENDING.store(0, Ordering::SeqCst);
        INTERRUPTIONS.store(0, Ordering::SeqCst);
        Forwarding { _handlers: Handlers::install(forward) }
    }

    /// Forwards signals to `child` from now on.
    pub(crate) fn begin(&self, child: &Child) {
        CHILD.store(child.id().cast_signed(), Ordering::SeqCst);
        let early = PENDING.swap(0, Ordering::SeqCst);
        if early != 0 {
            send(child.id(), early);
        }
    }

    /// Stops forwarding, so that the child may be reaped.
    pub(crate) fn end(&self) {
        CHILD.store(0, Ordering::SeqCst);
    }

    /// How many signals asked to end.
    pub(crate) fn interruptions(&self) -> u32 {
        INTERRUPTIONS.load(Ordering::SeqCst)
    }
}

/// Waits until a child of this process has ended. The child is not reaped, so that the kernel cannot give its process id to another
/// process while the handler may use it.
pub(crate) fn wait_without_reaping(process: u32) {
    loop {
        let mut info = MaybeUninit::<siginfo_t>::uninit();
        // SAFETY: `info` is large enough and writable.
        let result =
            unsafe { libc::waitid(libc::P_PID, process, info.as_mut_ptr(), libc::WEXITED | libc::WNOWAIT) };
        if result == 0 || io::Error::last_os_error().kind() != io::ErrorKind::Interrupted {
            return;
        }
    }
}

/// Sends a signal to a process. The caller knows that the id still belongs to the process that it means.
pub(crate) fn send(process: u32, signal: c_int) {
    // SAFETY: `kill` has no memory effects.
    unsafe { libc::kill(process.cast_signed(), signal) };
}

impl Interruption {
    /// Starts to catch signals.
    pub(crate) fn install() -> Self {
        INTERRUPTED.store(false, Ordering::SeqCst);
        Interruption { _handlers: Handlers::install(note) }
    }
}

/// Whether a signal asked Fissure to end.
pub(crate) fn interrupted() -> bool {
    INTERRUPTED.load(Ordering::SeqCst)
}

/// Whether a child has ended. It is not reaped, so that its process id, which is also that of its group, is not given away.
pub(crate) fn has_ended(child: &Child) -> io::Result<bool> {
    // SAFETY: siginfo_t is plain data for which all zeroes is a valid value.
    let mut info: siginfo_t = unsafe { MaybeUninit::zeroed().assume_init() };
    let options = libc::WEXITED | libc::WNOWAIT | libc::WNOHANG;
    // SAFETY: `info` is large enough and writable.
    if unsafe { libc::waitid(libc::P_PID, child.id(), &mut info, options) } != 0 {
        return Err(io::Error::last_os_error());
    }
    // SAFETY: the call succeeded, and left the process id at zero if the child had not ended.
    Ok(unsafe { info.si_pid() } != 0)
}

/// Kills all processes of the group that a child leads, which must not be reaped yet.
pub(crate) fn kill_group(child: &Child) {
    // SAFETY: `kill` has no memory effects, and the child is not reaped yet, so the group's id is still its own.
    unsafe { libc::kill(-child.id().cast_signed(), libc::SIGKILL) };
}

impl Handlers {
    /// Installs a handler for the signals; those that are ignored (as under nohup) stay ignored.
    fn install(handler: Handler) -> Self {
        let mut former = Vec::new();
        for signal in FORWARDED {
            let mut old = MaybeUninit::<sigaction>::uninit();
            // SAFETY: a null new action only asks for the present one, which is written to `old`.
            if unsafe { libc::sigaction(signal, ptr::null(), old.as_mut_ptr()) } != 0 {
                continue;
            }
            // SAFETY: the call succeeded, so `old` has been written.
            let old = unsafe { old.assume_init() };
            if old.sa_sigaction == libc::SIG_IGN {
                continue;
            }
            // SAFETY: sigaction is plain data for which all zeroes is a valid value.
            let mut new: sigaction = unsafe { MaybeUninit::zeroed().assume_init() };
            new.sa_sigaction = handler as usize;
            new.sa_flags = libc::SA_SIGINFO | libc::SA_RESTART;
            // SAFETY: `new` is a complete action whose handler has the signature that SA_SIGINFO asks for.
            if unsafe { libc::sigaction(signal, &new, ptr::null_mut()) } == 0 {
                former.push((signal, old));
            }
        }
        Handlers { former }
    }
}

impl Drop for Handlers {
    fn drop(&mut self) {
        for (signal, old) in &self.former {
            // SAFETY: `old` is the action that the system gave us for this very signal.
            unsafe { libc::sigaction(*signal, old, ptr::null_mut()) };
        }
    }
}

extern "C" fn note(_signal: c_int, _info: *mut siginfo_t, _context: *mut c_void) {
    INTERRUPTED.store(true, Ordering::SeqCst);
}

extern "C" fn forward(signal: c_int, info: *mut siginfo_t, _context: *mut c_void) {
    if signal != libc::SIGQUIT {
        INTERRUPTIONS.fetch_add(1, Ordering::SeqCst);
    }
    let child = CHILD.load(Ordering::SeqCst);
    if child == 0 {
        PENDING.store(signal, Ordering::SeqCst);
        return;
    }
    // SAFETY: the system passes a valid pointer to a handler that was installed with SA_SIGINFO.
    let by_kernel = unsafe { (*info).si_code } > 0;
    // The terminal sends its signals to the child as well: forwarding would double them.
    if by_kernel {
        return;
    }
    // SAFETY: errno is this thread's own; it is put back because the interrupted code may be about to read it.
    unsafe {
        let errno = libc::__errno_location();
        let saved = *errno;
        libc::kill(child, signal);
        *errno = saved;
    }
}
