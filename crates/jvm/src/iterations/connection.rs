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

    /// The next request; `None` if there are no more, or if the command line ended in the middle of one.
    pub(super) fn request(&mut self) -> Option<Request> {
        let mut line = String::new();
        self.reader.read_line(&mut line).ok().filter(|_| line.ends_with('\n'))?;
        Some(parse(&line))
    }

    /// Answers. If the command line is gone, the next request will be missing.
    pub(super) fn answer(&mut self, answer: &Answer) {
        let mut line = serde_json::to_vec(answer).expect("an answer has only numbers and texts");
        line.push(b'\n');
        let _ = self.writer.write_all(&line);
    }
}

/// Settings that the command line wrote have told that both sides are of the same version.
fn parse(line: &str) -> Request {
    serde_json::from_str(line).unwrap_or_else(|error| panic!("a request cannot be read ({error}): {line}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    #[should_panic(expected = "a request cannot be read")]
    fn a_request_that_cannot_be_read_is_a_failure() {
        parse("{}");
    }
}
