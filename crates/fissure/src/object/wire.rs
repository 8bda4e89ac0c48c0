//! The protocol of the driver: big-endian numbers; texts and lists are preceded by their length.

use std::{
    io::{self, BufReader, Read},
    process::ChildStdout,
};

/// The driver did not answer: it has ended, or was stopped.
#[derive(Debug, thiserror::Error)]
#[error("the JVM has ended")]
pub(crate) struct WireError(#[from] io::Error);

/// The limit on the length of lists and texts in an answer.
const LONGEST: i32 = 1 << 26;

/// Reads the driver's answers.
#[derive(Debug)]
pub(crate) struct Reader {
    input: BufReader<ChildStdout>,
}

impl Reader {
    /// Reads from the driver's standard output.
    pub(crate) fn new(input: ChildStdout) -> Self {
        Reader { input: BufReader::with_capacity(1 << 16, input) }
    }

    fn bytes<const N: usize>(&mut self) -> Result<[u8; N], WireError> {
        let mut bytes = [0; N];
        self.input.read_exact(&mut bytes)?;
        Ok(bytes)
    }

    /// One byte.
    pub(crate) fn byte(&mut self) -> Result<u8, WireError> {
        let [byte] = self.bytes()?;
        Ok(byte)
    }

    /// A number of 32 bits.
    pub(crate) fn int(&mut self) -> Result<i32, WireError> {
        self.bytes().map(i32::from_be_bytes)
    }

    /// A number of 64 bits.
    pub(crate) fn long(&mut self) -> Result<i64, WireError> {
        self.bytes().map(i64::from_be_bytes)
    }

    /// So many numbers of 64 bits.
    pub(crate) fn longs<const N: usize>(&mut self) -> Result<[i64; N], WireError> {
        let mut numbers = [0; N];
        for number in &mut numbers {
            *number = self.long()?;
        }
        Ok(numbers)
    }

    fn length(&mut self) -> Result<usize, WireError> {
        let length = self.int()?;
        if (0..=LONGEST).contains(&length) {
            return Ok(length as usize);
        }
        Err(io::Error::from(io::ErrorKind::InvalidData).into())
    }

    /// A text.
    pub(crate) fn text(&mut self) -> Result<String, WireError> {
        let mut bytes = vec![0; self.length()?];
        self.input.read_exact(&mut bytes)?;
        Ok(String::from_utf8_lossy(&bytes).into_owned())
    }

    /// A list.
    pub(crate) fn list<T>(
        &mut self,
        mut item: impl FnMut(&mut Self) -> Result<T, WireError>,
    ) -> Result<Vec<T>, WireError> {
        (0..self.length()?).map(|_| item(self)).collect()
    }
}

/// A request to the driver, collected before it is sent.
#[derive(Debug, Default)]
pub(crate) struct Message {
    /// The bytes so far.
    pub(crate) bytes: Vec<u8>,
}

impl Message {
    /// Starts a command.
    pub(crate) fn new(command: u8) -> Self {
        Message { bytes: vec![command] }
    }

    /// One byte.
    pub(crate) fn byte(&mut self, value: u8) {
        self.bytes.push(value);
    }

    /// A number of 32 bits.
    pub(crate) fn int(&mut self, value: usize) {
        self.bytes.extend_from_slice(&(value as i32).to_be_bytes());
    }

    /// A number of 64 bits.
    pub(crate) fn long(&mut self, value: i64) {
        self.bytes.extend_from_slice(&value.to_be_bytes());
    }

    /// Bytes, preceded by their number.
    pub(crate) fn blob(&mut self, bytes: &[u8]) {
        self.int(bytes.len());
        self.bytes.extend_from_slice(bytes);
    }

    /// A text.
    pub(crate) fn text(&mut self, text: &str) {
        self.blob(text.as_bytes());
    }

    /// Numbers, preceded by their count.
    pub(crate) fn numbers(&mut self, numbers: impl ExactSizeIterator<Item = usize>) {
        self.int(numbers.len());
        numbers.for_each(|number| self.int(number));
    }
}
