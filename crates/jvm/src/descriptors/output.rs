//! Buffers of the program that are written to a descriptor.

use std::{io::IoSlice, slice};

use rustix::{
    io::{Errno, write, writev},
    net::{SendFlags, send},
};

use super::borrowed;

/// A pipe that is ready for output takes so many bytes at once (`PIPE_BUF`).
const PIPE_ROOM: usize = 4_096;

/// Memory of the program that is to be written.
#[derive(Debug)]
pub(crate) struct Buffers<'a>(Vec<&'a [u8]>);

impl Buffers<'_> {
    /// One buffer of `length` bytes, or the `length` buffers of a list as `writev` takes it.
    pub(crate) fn new(address: i64, length: i32, is_list: bool) -> Self {
        let (address, length) = (address as usize, usize::try_from(length).unwrap_or_default());
        if !is_list {
            return Self(vec![bytes(address, length)]);
        }
        let entries = if length == 0 {
            &[]
        } else {
            // SAFETY: the program's library passes an address with so many entries, as it does to the same system call.
            unsafe { slice::from_raw_parts(address as *const libc::iovec, length) }
        };
        Self(entries.iter().map(|entry| bytes(entry.iov_base as usize, entry.iov_len)).collect())
    }

    /// Writes in one system call, as the program's library would.
    pub(crate) fn write(&self, descriptor: i32) -> Result<usize, Errno> {
        match self.0[..] {
            [buffer] => write(borrowed(descriptor), buffer),
            _ => {
                let buffers: Vec<IoSlice<'_>> = self.0.iter().map(|buffer| IoSlice::new(buffer)).collect();
                writev(borrowed(descriptor), &buffers)
            }
        }
    }

    /// Writes everything, each part once there is room for some of it. If `make_room` returns false, the system call waits for room.
    pub(crate) fn write_in_parts(
        &self,
        descriptor: i32,
        mut make_room: impl FnMut() -> bool,
    ) -> Result<usize, Errno> {
        let mut written = 0;
        for buffer in &self.0 {
            let mut rest = *buffer;
            while !rest.is_empty() {
                let result = match make_room() {
                    true => write_part(descriptor, rest),
                    false => write(borrowed(descriptor), rest),
                };
                match result {
                    Ok(count) => {
                        written += count;
                        rest = rest.get(count..).unwrap_or_default();
                    }
                    Err(Errno::AGAIN | Errno::INTR) => {}
                    // The next call reports the error.
                    Err(_) if written > 0 => return Ok(written),
                    Err(error) => return Err(error),
                }
            }
        }
        Ok(written)
    }
}

fn bytes<'a>(address: usize, length: usize) -> &'a [u8] {
    if length == 0 {
        return &[];
    }
    // SAFETY: the program's library passes memory that it keeps until the native method returns, as it does to the same system call.
    unsafe { slice::from_raw_parts(address as *const u8, length) }
}

/// Writes as much as there is room for. The descriptor was ready for output.
fn write_part(descriptor: i32, bytes: &[u8]) -> Result<usize, Errno> {
    match send(borrowed(descriptor), bytes, SendFlags::DONTWAIT | SendFlags::NOSIGNAL) {
        Err(Errno::NOTSOCK) => write(borrowed(descriptor), &bytes[..bytes.len().min(PIPE_ROOM)]),
        result => result,
    }
}

/// The text of an error, as the C library words it.
pub(crate) fn error_text(number: i32) -> String {
    let text = std::io::Error::from_raw_os_error(number).to_string();
    text.split(" (os error").next().unwrap_or_default().to_owned()
}

#[cfg(test)]
mod tests {
    use std::{
        io::Read,
        os::{fd::AsRawFd, unix::net::UnixStream},
    };

    use super::*;
    use crate::descriptors::{Interest, wait};

    /// Writes more than fits, and reads whenever there is no room.
    fn check(writer: i32, mut reader: impl Read) {
        let sent: Vec<u8> = (0..1_000_000_u32).map(|number| number as u8).collect();
        let (mut received, mut waits) = (Vec::new(), 0);
        let room = || {
            if wait(&[Interest::output(writer)], std::time::Duration::ZERO) != [true] {
                waits += 1;
                let mut part = vec![0; 50_000];
                let count = reader.read(&mut part).unwrap();
                received.extend_from_slice(&part[..count]);
            }
            true
        };
        let (first, second) = sent.split_at(300_000);
        let list = [first, second]
            .map(|part| libc::iovec { iov_base: part.as_ptr().cast_mut().cast(), iov_len: part.len() });
        let buffers = Buffers::new(list.as_ptr() as i64, 2, true);
        assert_eq!(buffers.write_in_parts(writer, room), Ok(sent.len()));
        assert!(waits > 0);
        let mut rest = vec![0; sent.len() - received.len()];
        reader.read_exact(&mut rest).unwrap();
        received.extend(rest);
        assert!(received == sent);
    }

    #[test]
    fn a_full_socket_or_pipe_does_not_block_the_writer() {
        let (writer, reader) = UnixStream::pair().unwrap();
        check(writer.as_raw_fd(), reader);
        let (reader, writer) = std::io::pipe().unwrap();
        check(writer.as_raw_fd(), reader);
    }

    #[test]
    fn errors_have_their_usual_text() {
        assert_eq!(error_text(Errno::PIPE.raw_os_error()), "Broken pipe");
        let (writer, reader) = UnixStream::pair().unwrap();
        drop(reader);
        let buffers = Buffers::new([1_u8].as_ptr() as i64, 1, false);
        assert_eq!(buffers.write_in_parts(writer.as_raw_fd(), || true), Err(Errno::PIPE));
        assert_eq!(Buffers::new(0, 0, true).write(i32::MAX), Err(Errno::BADF));
    }
}
