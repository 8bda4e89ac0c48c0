//! File descriptors that threads of the program wait for: whether they are ready, and whether another thread of this process can make
//! them so.

pub(crate) mod output;
pub(crate) mod processes;

use std::{
    fs,
    os::fd::BorrowedFd,
    time::{Duration, Instant},
};

use fissure_schedule::conductor::Expectation;
use rustix::{
    event::{PollFd, PollFlags, Timespec, poll},
    fs::{FileType, OFlags, fcntl_getfl, fstat},
    io::Errno,
    net::{getpeername, getsockname},
};

/// What a thread waits for at a file descriptor.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Interest {
    /// The descriptor's number.
    pub(crate) descriptor: i32,
    /// The events, as the kernel's `poll` numbers them.
    pub(crate) events: u16,
}

impl Interest {
    /// Input, or a connection that can be accepted.
    pub(crate) fn input(descriptor: i32) -> Self {
        Self { descriptor, events: PollFlags::IN.bits() }
    }

    /// Room for output.
    pub(crate) fn output(descriptor: i32) -> Self {
        Self { descriptor, events: PollFlags::OUT.bits() }
    }

    /// The interest as one number.
    pub(crate) fn number(self) -> u64 {
        u64::from(self.events) << 32 | u64::from(self.descriptor.cast_unsigned())
    }

    /// The interest with this number.
    pub(crate) fn of_number(number: u64) -> Self {
        Self { descriptor: (number as u32).cast_signed(), events: (number >> 32) as u16 }
    }
}

/// The events of each interest that have happened, 0 for none, after waiting at most this long for the first; `None` waits for ever.
///
/// # Errors
/// A signal interrupted the wait, or a descriptor is not open.
pub(crate) fn ready(interests: &[Interest], limit: Option<Duration>) -> Result<Vec<u16>, Errno> {
    let mut waiting: Vec<PollFd<'_>> = interests.iter().map(|interest| poll_fd(*interest)).collect();
    let limit = limit.and_then(|limit| Timespec::try_from(limit).ok());
    poll(&mut waiting, limit.as_ref())?;
    Ok(waiting.iter().map(|waiting| waiting.revents().bits()).collect())
}

fn poll_fd(interest: Interest) -> PollFd<'static> {
    PollFd::from_borrowed_fd(borrowed(interest.descriptor), PollFlags::from_bits_retain(interest.events))
}

fn borrowed(descriptor: i32) -> BorrowedFd<'static> {
    // SAFETY: the number is only passed to system calls that report a closed descriptor as an error and change nothing; -1, the one number
    // that is not allowed, is replaced by another that is never open.
    unsafe { BorrowedFd::borrow_raw(if descriptor == -1 { i32::MAX } else { descriptor }) }
}

/// Waits for events of an epoll instance and stores them at an address that the program's library chose.
pub(crate) fn epoll_wait(epoll: i32, events: i64, count: i32, limit: Option<Duration>) -> Result<i32, Errno> {
    let limit = limit.map_or(-1, |limit| i32::try_from(limit.as_millis()).unwrap_or(i32::MAX));
    // SAFETY: the program's library passes an address with room for `count` events, as it does to the same system call.
    let found = unsafe { libc::epoll_wait(epoll, events as usize as *mut libc::epoll_event, count, limit) };
    let error =
        || Errno::from_raw_os_error(std::io::Error::last_os_error().raw_os_error().unwrap_or_default());
    if found < 0 { Err(error()) } else { Ok(found) }
}

/// Whether an operation on the descriptor blocks until it is possible. Files on a disk never block for long.
pub(crate) fn blocks(descriptor: i32) -> bool {
    let descriptor = borrowed(descriptor);
    let is_file =
        || fstat(descriptor).is_ok_and(|file| FileType::from_raw_mode(file.st_mode) == FileType::RegularFile);
    fcntl_getfl(descriptor).is_ok_and(|flags| !flags.contains(OFlags::NONBLOCK)) && !is_file()
}

/// Whether something outside of this process may make the descriptor ready: the other end of a connection or of a pipe is elsewhere, or
/// it is the descriptor of another process.
pub(crate) fn expects(descriptor: i32) -> Expectation {
    let Some(kind) = kind(descriptor) else { return Expectation::Nothing };
    let is_fed_from_outside = match kind.as_str() {
        "anon_inode:[eventpoll]" => {
            return members(descriptor).into_iter().map(expects).max().unwrap_or(Expectation::Nothing);
        }
        "anon_inode:[pidfd]" => return Expectation::End,
        kind if kind.starts_with("anon_inode:") => false,
        kind if kind.starts_with("socket:") => has_foreign_peer(descriptor),
        // Both ends of a pipe have the same name.
        kind if kind.starts_with("pipe:") => {
            descriptors().filter(|other| self::kind(*other).as_deref() == Some(kind)).count() < 2
        }
        _ => true,
    };
    if is_fed_from_outside { Expectation::Input } else { Expectation::Nothing }
}

/// The kernel's name for the file behind a descriptor.
fn kind(descriptor: i32) -> Option<String> {
    Some(fs::read_link(format!("/proc/self/fd/{descriptor}")).ok()?.to_string_lossy().into_owned())
}

/// The open descriptors of this process.
fn descriptors() -> impl Iterator<Item = i32> {
    let folder = fs::read_dir("/proc/self/fd").into_iter().flatten();
    folder.flatten().filter_map(|entry| entry.file_name().to_str()?.parse().ok())
}

/// The descriptors that an epoll instance waits for.
fn members(epoll: i32) -> Vec<i32> {
    let text = fs::read_to_string(format!("/proc/self/fdinfo/{epoll}")).unwrap_or_default();
    let member = |line: &str| line.strip_prefix("tfd:")?.split_ascii_whitespace().next()?.parse().ok();
    text.lines().filter_map(member).collect()
}

/// Whether a socket is connected to a socket that this process does not have.
fn has_foreign_peer(descriptor: i32) -> bool {
    let Ok(Some(peer)) = getpeername(borrowed(descriptor)) else {
        // It listens, or is not connected.
        return false;
    };
    !descriptors()
        .any(|other| other != descriptor && getsockname(borrowed(other)).is_ok_and(|own| own == peer))
}

/// Waits until one of the interests is ready, or until the limit; returns which are.
pub(crate) fn wait(interests: &[Interest], limit: Duration) -> Vec<bool> {
    let end = Instant::now() + limit;
    loop {
        let left = end.saturating_duration_since(Instant::now());
        match ready(interests, Some(left)) {
            Ok(events) => return events.into_iter().map(|events| events != 0).collect(),
            Err(Errno::INTR) => {}
            // A descriptor that cannot be polled does not keep its thread waiting: the operation itself reports what is wrong.
            Err(_) => return vec![true; interests.len()],
        }
    }
}

#[cfg(test)]
mod tests {
    use std::{
        io::Write,
        net::{TcpListener, TcpStream},
        os::fd::AsRawFd,
        process::{Command, Stdio},
    };

    use super::*;

    const SOON: Duration = Duration::from_secs(5);

    fn is_ready(descriptor: &impl AsRawFd) -> bool {
        wait(&[Interest::input(descriptor.as_raw_fd())], Duration::ZERO) == [true]
    }

    #[test]
    fn a_connection_is_ready_once_its_peer_has_sent() {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        assert!(!is_ready(&listener));
        let mut client = TcpStream::connect(listener.local_addr().unwrap()).unwrap();
        assert!(is_ready(&listener));
        let (server, _) = listener.accept().unwrap();
        assert!(!is_ready(&server) && !is_ready(&client));
        client.write_all(b"hello").unwrap();
        assert!(is_ready(&server) && !is_ready(&client));
        for descriptor in [listener.as_raw_fd(), server.as_raw_fd(), client.as_raw_fd()] {
            assert_eq!(expects(descriptor), Expectation::Nothing);
            assert!(blocks(descriptor));
        }
        server.set_nonblocking(true).unwrap();
        assert!(!blocks(server.as_raw_fd()));
        drop(client);
        assert!(is_ready(&server), "the end of the input can be read");
    }

    #[test]
    fn pipes_of_other_processes_are_fed_from_outside() {
        let mut child = Command::new("cat").stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
        let output = child.stdout.take().unwrap();
        assert_eq!(expects(output.as_raw_fd()), Expectation::Input);
        child.stdin.take().unwrap().write_all(b"x").unwrap();
        assert_eq!(wait(&[Interest::input(output.as_raw_fd())], SOON), [true]);
        child.wait().unwrap();
        let (reader, writer) = std::io::pipe().unwrap();
        assert_eq!(expects(reader.as_raw_fd()), Expectation::Nothing);
        drop(writer);
    }

    #[test]
    fn interests_have_numbers() {
        for interest in
            [Interest::input(0), Interest { descriptor: i32::MAX, events: u16::MAX }, Interest::input(-1)]
        {
            assert_eq!(Interest::of_number(interest.number()), interest);
        }
    }

    #[test]
    fn a_closed_descriptor_keeps_no_thread_waiting() {
        assert_eq!(wait(&[Interest::input(i32::MAX)], SOON), [true]);
        assert!(expects(i32::MAX) == Expectation::Nothing && !blocks(i32::MAX));
    }
}
