//! Annotations: type annotations inside of code, which refer to instructions and ranges of local variables, and annotations that
//! mark a method or class as atomic or intrinsic.

use crate::bytes::{Reader, put_u16};
use crate::constant_pool::ConstantPool;
use crate::error::MethodError;
use crate::structure::{Attribute, Attributes};
use crate::tables::Relocation;

const MALFORMED: MethodError = MethodError::Malformed("type annotation");
/// The deepest nesting of annotations and arrays that is read; real classes do not nest deeper.
const DEEPEST: u32 = 32;

/// Writes the content of a type annotation attribute for the new code.
pub(crate) fn relocate(
    content: &[u8],
    relocation: &Relocation<'_>,
    out: &mut Vec<u8>,
) -> Result<(), MethodError> {
    let mut reader = Reader::new(content);
    let count = reader.u16()?;
    put_u16(out, count);
    for _ in 0..count {
        relocate_target(&mut reader, relocation, out)?;
        let start = reader.position();
        let path_length = usize::from(reader.u8()?);
        reader.take(2 * path_length)?;
        skip_annotation(&mut reader, 0)?;
        out.extend_from_slice(reader.since(start));
    }
    if reader.is_at_end() { Ok(()) } else { Err(MALFORMED) }
}

/// Whether one of these attributes has an annotation with this simple name, in any package or class. Unreadable annotations
/// are ignored.
pub(crate) fn has_simple_name(attributes: &Attributes<'_>, pool: &ConstantPool<'_>, wanted: &[u8]) -> bool {
    attributes.iter().any(|attribute| {
        matches!(
            pool.utf8(attribute.name_index),
            Ok(b"RuntimeVisibleAnnotations" | b"RuntimeInvisibleAnnotations")
        ) && any_has_simple_name(attribute.content, pool, wanted).unwrap_or(false)
    })
}

/// Whether an attribute marks a method as intrinsic, so that the JVM may replace its code.
pub(crate) fn marks_intrinsic(attribute: &Attribute<'_>, pool: &ConstantPool<'_>) -> bool {
    pool.utf8(attribute.name_index) == Ok(b"RuntimeVisibleAnnotations")
        && [b"IntrinsicCandidate".as_slice(), b"HotSpotIntrinsicCandidate"]
            .iter()
            .any(|name| any_has_simple_name(attribute.content, pool, name).unwrap_or(false))
}

fn any_has_simple_name(content: &[u8], pool: &ConstantPool<'_>, wanted: &[u8]) -> Result<bool, MethodError> {
    let mut reader = Reader::new(content);
    for _ in 0..reader.u16()? {
        let descriptor = pool.utf8(reader.clone().u16()?)?;
        let name = descriptor.strip_prefix(b"L").and_then(|name| name.strip_suffix(b";"));
        let simple = name.and_then(|name| name.rsplit(|byte| matches!(byte, b'/' | b'$')).next());
        if simple == Some(wanted) {
            return Ok(true);
        }
        skip_annotation(&mut reader, 0)?;
    }
    Ok(false)
}

fn relocate_target(
    reader: &mut Reader<'_>,
    relocation: &Relocation<'_>,
    out: &mut Vec<u8>,
) -> Result<(), MethodError> {
    let kind = reader.u8()?;
    out.push(kind);
    match kind {
        // Local variables and resources: a table of ranges and slots.
        0x40 | 0x41 => {
            let count = reader.u16()?;
            put_u16(out, count);
            for _ in 0..count {
                let (start, length) = (reader.u16()?, reader.u16()?);
                let (start, length) = relocation.local_range(start, length).ok_or(MALFORMED)?;
                put_u16(out, start);
                put_u16(out, length);
                put_u16(out, reader.u16()?);
            }
        }
        // A catch clause, by its index in the exception table, which does not change.
        0x42 => put_u16(out, reader.u16()?),
        // An instruction; from 0x47 on followed by the index of a type argument.
        0x43..=0x4B => {
            put_u16(out, relocation.own(reader.u16()?).ok_or(MALFORMED)?);
            if kind >= 0x47 {
                out.push(reader.u8()?);
            }
        }
        _ => return Err(MALFORMED),
    }
    Ok(())
}

fn skip_annotation(reader: &mut Reader<'_>, depth: u32) -> Result<(), MethodError> {
    reader.u16()?;
    let pairs = reader.u16()?;
    for _ in 0..pairs {
        reader.u16()?;
        skip_value(reader, depth + 1)?;
    }
    Ok(())
}

fn skip_value(reader: &mut Reader<'_>, depth: u32) -> Result<(), MethodError> {
    if depth > DEEPEST {
        return Err(MALFORMED);
    }
    match reader.u8()? {
        b'B' | b'C' | b'D' | b'F' | b'I' | b'J' | b'S' | b'Z' | b's' | b'c' => {
            reader.u16()?;
        }
        b'e' => {
            reader.u32()?;
        }
        b'@' => skip_annotation(reader, depth)?,
        b'[' => {
            let count = reader.u16()?;
            for _ in 0..count {
                skip_value(reader, depth + 1)?;
            }
        }
        _ => return Err(MALFORMED),
    }
    Ok(())
}
