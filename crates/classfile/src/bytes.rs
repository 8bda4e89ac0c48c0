//! Big-endian reading with bounds checks, and writing.

use crate::error::ClassError;

/// A cursor over untrusted bytes.
#[derive(Debug, Clone)]
pub(crate) struct Reader<'a> {
    bytes: &'a [u8],
    position: usize,
}

impl<'a> Reader<'a> {
    pub(crate) fn new(bytes: &'a [u8]) -> Self {
        Self { bytes, position: 0 }
    }

    pub(crate) fn at(bytes: &'a [u8], position: usize) -> Self {
        Self { bytes, position }
    }

    pub(crate) fn position(&self) -> usize {
        self.position
    }

    pub(crate) fn is_at_end(&self) -> bool {
        self.position >= self.bytes.len()
    }

    pub(crate) fn take(&mut self, length: usize) -> Result<&'a [u8], ClassError> {
        let end = self.position.checked_add(length).ok_or(ClassError::Truncated)?;
        let taken = self.bytes.get(self.position..end).ok_or(ClassError::Truncated)?;
        self.position = end;
        Ok(taken)
    }

    /// Everything between `from`, an earlier position, and here.
    pub(crate) fn since(&self, from: usize) -> &'a [u8] {
        self.bytes.get(from..self.position).unwrap_or_default()
    }

    pub(crate) fn u8(&mut self) -> Result<u8, ClassError> {
        match self.take(1)? {
            [byte] => Ok(*byte),
            _ => Err(ClassError::Truncated),
        }
    }

    pub(crate) fn u16(&mut self) -> Result<u16, ClassError> {
        match self.take(2)? {
            [a, b] => Ok(u16::from_be_bytes([*a, *b])),
            _ => Err(ClassError::Truncated),
        }
    }

    pub(crate) fn u32(&mut self) -> Result<u32, ClassError> {
        match self.take(4)? {
            [a, b, c, d] => Ok(u32::from_be_bytes([*a, *b, *c, *d])),
            _ => Err(ClassError::Truncated),
        }
    }

    /// Bytes prefixed by their four-byte length.
    pub(crate) fn counted_bytes(&mut self) -> Result<&'a [u8], ClassError> {
        let length = usize::try_from(self.u32()?).map_err(|_| ClassError::Truncated)?;
        self.take(length)
    }
}

/// The byte at `at`, or zero beyond the end; for operands whose presence has been checked before.
pub(crate) fn u8_at(bytes: &[u8], at: usize) -> u8 {
    bytes.get(at).copied().unwrap_or_default()
}

/// Two bytes at `at`, or zero beyond the end; for operands whose presence has been checked before.
pub(crate) fn u16_at(bytes: &[u8], at: usize) -> u16 {
    u16::from_be_bytes([u8_at(bytes, at), u8_at(bytes, at.saturating_add(1))])
}

/// Four bytes at `at`, or zero beyond the end; for operands whose presence has been checked before.
pub(crate) fn i32_at(bytes: &[u8], at: usize) -> i32 {
    let high = u32::from(u16_at(bytes, at));
    let low = u32::from(u16_at(bytes, at.saturating_add(2)));
    (high << 16 | low).cast_signed()
}

pub(crate) fn put_u16(out: &mut Vec<u8>, value: u16) {
    out.extend_from_slice(&value.to_be_bytes());
}

pub(crate) fn put_u32(out: &mut Vec<u8>, value: u32) {
    out.extend_from_slice(&value.to_be_bytes());
}

/// Overwrites a two-byte placeholder.
pub(crate) fn fill_u16(out: &mut [u8], at: usize, value: u16) {
    if let Some(placeholder) = out.get_mut(at..at + 2) {
        placeholder.copy_from_slice(&value.to_be_bytes());
    }
}

/// Overwrites a four-byte placeholder.
pub(crate) fn fill_u32(out: &mut [u8], at: usize, value: u32) {
    if let Some(placeholder) = out.get_mut(at..at + 4) {
        placeholder.copy_from_slice(&value.to_be_bytes());
    }
}
