//! The socket between the command line and a JVM that executes several runs: one line of JSON for each message.

use std::{
    io::{BufRead, BufReader, Write},
    os::unix::net::UnixStream,
};

use fissure_model::iteration::{Answer, Request};

/// The JVM's end of the socket.
#[derive(Debug)]
pub(super) struct Connection {
    reader: BufReader<UnixStream>,
    writer: UnixStream,
}

impl Connection {
    /// Connects to the command line; `None` if it does not listen any more.
    pub(super) fn open(path: &str) -> Option<Self> {
        let writer = UnixStream::connect(path).ok()?;
        Some(Self { reader: BufReader::new(writer.try_clone().ok()?), writer })
    }

    /// The next request; `None` if there are no more, or if it cannot be read: the two sides are then not of the same version.
    pub(super) fn request(&mut self) -> Option<Request> {
        let mut line = String::new();
        self.reader.read_line(&mut line).ok().filter(|length| *length > 0)?;
        serde_json::from_str(&line).ok()
    }

    /// Answers. If the command line is gone, the next request will be missing.
    pub(super) fn answer(&mut self, answer: &Answer) {
        if let Ok(mut line) = serde_json::to_vec(answer) {
            line.push(b'\n');
            let _ = self.writer.write_all(&line);
        }
    }
}
