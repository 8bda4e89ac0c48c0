//! Signals and processes. Signals are forwarded to the program while it runs, so that stopping Fissure stops the program and Fissure
//! still reports. If several programs run at once, each leads a process group that is ended as a whole.

use std::{
    fs, io,
    process::Child,
    sync::{
        Arc, LazyLock,
        atomic::{AtomicBool, Ordering},
    },
};

use rustix::process::{Pid, Signal, WaitId, WaitIdOptions};
use signal_hook::{
    SigId,
    consts::{SIGHUP, SIGINT, SIGQUIT, SIGTERM},
    flag,
    iterator::{SignalsInfo, exfiltrator::WithOrigin},
    low_level::{
        self,
        siginfo::{Cause, Origin},
    },
};

/// The signals that are forwarded. SIGQUIT makes a JVM print its threads, and must not end Fissure.
const FORWARDED: [i32; 4] = [SIGINT, SIGTERM, SIGHUP, SIGQUIT];

/// The handlers that are installed once: signal-hook never gives a signal back to the system.
static HANDLERS: LazyLock<Handlers> = LazyLock::new(Handlers::install);

/// Whether a signal came while signals are only recorded.
static INTERRUPTED: LazyLock<Arc<AtomicBool>> = LazyLock::new(Arc::default);

/// Signals are caught for forwarding as long as this lives.
pub(crate) struct Forwarding {
    signals: SignalsInfo<WithOrigin>,
    interruptions: u32,
    _caught: Caught,
}

/// Signals are only recorded as long as this lives.
pub(crate) struct Interruption {
    flags: Vec<SigId>,
    _caught: Caught,
}

impl Forwarding {
    /// Starts to catch signals.
    pub(crate) fn install() -> io::Result<Self> {
        let caught = Caught::begin();
        Ok(Forwarding { signals: SignalsInfo::new(&HANDLERS.caught)?, interruptions: 0, _caught: caught })
    }

    /// Forwards signals that came before there was a process to forward them to.
    pub(crate) fn begin(&mut self, child: &Child) {
        self.forward_if(child, |_| true);
    }

    /// Forwards the signals that came since the last call. The child must not be reaped yet.
    pub(crate) fn forward(&mut self, child: &Child) {
        // The terminal sends its signals to the child as well: forwarding would double them.
        self.forward_if(child, |origin| origin.cause != Cause::Kernel);
    }

    /// How many signals asked to end.
    pub(crate) fn interruptions(&self) -> u32 {
        self.interruptions
    }

    fn forward_if(&mut self, child: &Child, is_forwarded: impl Fn(&Origin) -> bool) {
        for origin in self.signals.pending() {
            self.interruptions += u32::from(origin.signal != SIGQUIT);
            if is_forwarded(&origin)
                && let Some(signal) = Signal::from_named_raw(origin.signal)
            {
                send(Pid::from_child(child), signal);
            }
        }
    }
}

impl Interruption {
    /// Starts to catch signals.
    pub(crate) fn install() -> Self {
        INTERRUPTED.store(false, Ordering::SeqCst);
        let caught = Caught::begin();
        let flags = HANDLERS.caught.iter();
        let flags = flags.filter_map(|&signal| flag::register(signal, Arc::clone(&INTERRUPTED)).ok());
        Interruption { flags: flags.collect(), _caught: caught }
    }
}

impl Drop for Interruption {
    fn drop(&mut self) {
        for id in self.flags.drain(..) {
            low_level::unregister(id);
        }
    }
}

/// Whether a signal asked Fissure to end.
pub(crate) fn interrupted() -> bool {
    INTERRUPTED.load(Ordering::SeqCst)
}

/// Does something that only another signal interrupts. It is told whether a signal has come before.
pub(crate) fn despite_interruption<T>(work: impl FnOnce(bool) -> T) -> T {
    let is_interrupted = INTERRUPTED.swap(false, Ordering::SeqCst);
    let result = work(is_interrupted);
    INTERRUPTED.fetch_or(is_interrupted, Ordering::SeqCst);
    result
}

/// Sends a signal to a process. The caller knows that the id still belongs to the process that it means; it may have ended meanwhile.
pub(crate) fn send(process: Pid, signal: Signal) {
    let _ = rustix::process::kill_process(process, signal);
}

/// Waits until a child of this process has ended. The child is not reaped, so that the kernel cannot give its process id to another
/// process while signals may be sent to it.
pub(crate) fn wait_without_reaping(process: Pid) {
    let options = WaitIdOptions::EXITED | WaitIdOptions::NOWAIT;
    while matches!(rustix::process::waitid(WaitId::Pid(process), options), Err(rustix::io::Errno::INTR)) {}
}

/// Whether a child has ended. It is not reaped, so that its process id, which is also that of its group, is not given away.
pub(crate) fn has_ended(child: &Child) -> io::Result<bool> {
    let options = WaitIdOptions::EXITED | WaitIdOptions::NOWAIT | WaitIdOptions::NOHANG;
    Ok(rustix::process::waitid(WaitId::Pid(Pid::from_child(child)), options)?.is_some())
}

/// Kills all processes of the group that a child leads, which must not be reaped yet.
pub(crate) fn kill_group(child: &Child) {
    // It fails if the group has no process that can be killed, and then nothing is left to do.
    let _ = rustix::process::kill_process_group(Pid::from_child(child), Signal::KILL);
}

struct Handlers {
    /// The signals that are caught: those that were ignored when Fissure started, as under nohup, stay ignored.
    caught: Vec<i32>,
    /// Whether a signal does what it would do without a handler.
    is_default: Arc<AtomicBool>,
}

impl Handlers {
    fn install() -> Self {
        let is_default = Arc::new(AtomicBool::new(true));
        let ignored = ignored(&fs::read_to_string("/proc/self/status").unwrap_or_default());
        let wanted = FORWARDED.into_iter().filter(|signal| ignored & (1 << (signal - 1)) == 0);
        let caught = wanted
            .filter(|&signal| flag::register_conditional_default(signal, Arc::clone(&is_default)).is_ok());
        Handlers { caught: caught.collect(), is_default }
    }
}

/// As long as this lives, signals do not do what they would do without a handler.
struct Caught;

impl Caught {
    fn begin() -> Self {
        HANDLERS.is_default.store(false, Ordering::SeqCst);
        Caught
    }
}

impl Drop for Caught {
    fn drop(&mut self) {
        HANDLERS.is_default.store(true, Ordering::SeqCst);
    }
}

/// The ignored signals in the text of `/proc/self/status`: bit n - 1 stands for signal n.
fn ignored(status: &str) -> u64 {
    let mask = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    mask.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok()).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use std::{
        os::unix::process::ExitStatusExt,
        process::Command,
        thread,
        time::{Duration, Instant},
    };

    use super::*;

    #[test]
    fn ignored_signals_are_read_from_the_status() {
        assert_eq!(ignored("Name:\tfissure\nSigIgn:\t0000000000000005\nSigCgt:\t0\n"), 0b101);
        assert_eq!(ignored("Name:\tfissure\n"), 0);
    }

    #[test]
    fn signals_before_and_after_the_start_of_the_program_are_forwarded() {
        let mut forwarding = Forwarding::install().unwrap();
        for is_early in [true, false] {
            let raise = || send(rustix::process::getpid(), Signal::TERM);
            if is_early {
                raise();
            }
            let mut child = Command::new("sleep").arg("60").spawn().unwrap();
            assert!(!has_ended(&child).unwrap());
            forwarding.begin(&child);
            if !is_early {
                raise();
            }
            let begun = Instant::now();
            while !has_ended(&child).unwrap() {
                assert!(begun.elapsed() < Duration::from_secs(30), "the signal was not forwarded");
                forwarding.forward(&child);
                thread::sleep(Duration::from_millis(10));
            }
            assert_eq!(child.wait().unwrap().signal(), Some(SIGTERM));
        }
        assert_eq!(forwarding.interruptions(), 2);
    }
}
