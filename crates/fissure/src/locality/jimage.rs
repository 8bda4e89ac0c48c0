//! Reads class files of a JDK from its file `lib/modules`.
//!
//! The format ("jimage") has been the same since JDK 9: a header, two hash tables, the attributes of each resource, names, and the
//! resources, some of them compressed. The hash tables are not used: all resources are listed once.

use std::{
    collections::HashMap,
    fs::File,
    io::{self, Read},
    os::unix::fs::FileExt,
    path::Path,
};

use flate2::read::ZlibDecoder;

const MAGIC: u32 = 0xCAFE_DADA;
const COMPRESSED_MAGIC: u32 = 0xCAFE_FAFA;
const HEADER: usize = 28;
/// Magic number, two sizes, two offsets and a flag.
const COMPRESSION_HEADER: usize = 29;

/// Kinds of attributes.
const MODULE: u8 = 1;
const PARENT: u8 = 2;
const BASE: u8 = 3;
const EXTENSION: u8 = 4;
const OFFSET: u8 = 5;
const COMPRESSED: u8 = 6;
const UNCOMPRESSED: u8 = 7;

/// The classes of a JDK.
#[derive(Debug)]
pub(crate) struct ModuleFile {
    file: File,
    /// Where the resources begin.
    start: u64,
    strings: Vec<u8>,
    is_little: bool,
    classes: HashMap<String, Position>,
    /// The descriptors of the modules.
    descriptors: Vec<Position>,
}

#[derive(Debug, Clone, Copy)]
struct Position {
    /// The offset of its module's name.
    module: u32,
    offset: u64,
    compressed: u64,
    size: u64,
}

impl ModuleFile {
    pub(crate) fn open(path: &Path) -> io::Result<Self> {
        let file = File::open(path)?;
        let mut header = [0; HEADER];
        file.read_exact_at(&mut header, 0)?;
        let is_little = match [u32::from_le_bytes, u32::from_be_bytes].map(|read| number(&header, 0, read)) {
            [MAGIC, _] => true,
            [_, MAGIC] => false,
            _ => return Err(wrong("it is not a jimage file")),
        };
        let read = if is_little { u32::from_le_bytes } else { u32::from_be_bytes };
        let [entries, locations, strings] = [16, 20, 24].map(|at| number(&header, at, read) as usize);
        // Each entry of the table has a number in each of the two hash tables.
        let length = entries.checked_mul(8).and_then(|size| size.checked_add(locations));
        let length = length.and_then(|size| size.checked_add(strings)).filter(|size| *size < 1 << 30);
        let mut index = vec![0; length.ok_or_else(|| wrong("its tables are too large"))?];
        file.read_exact_at(&mut index, HEADER as u64)?;
        let start = (HEADER + index.len()) as u64;
        let (tables, names) = index.split_at(index.len() - strings);
        let (tables, attributes) = tables.split_at(entries * 8);
        let mut classes = HashMap::new();
        let mut descriptors = Vec::new();
        for entry in tables[entries * 4..].chunks_exact(4) {
            let at = number(entry, 0, read) as usize;
            if let Some((name, position)) = location(attributes.get(at..).unwrap_or_default(), names) {
                if name == "module-info" {
                    descriptors.push(position);
                } else {
                    classes.entry(name).or_insert(position);
                }
            }
        }
        Ok(ModuleFile { file, start, strings: names.to_vec(), is_little, classes, descriptors })
    }

    /// Whether there is a class of that internal name.
    pub(crate) fn has(&self, class: &str) -> bool {
        self.classes.contains_key(class)
    }

    /// The class of that internal name.
    pub(crate) fn class(&self, class: &str) -> Option<io::Result<Vec<u8>>> {
        self.classes.get(class).map(|position| self.read(*position))
    }

    /// The module of the class of that internal name.
    pub(crate) fn module(&self, class: &str) -> Option<&str> {
        self.classes.get(class).and_then(|position| text(&self.strings, position.module as usize))
    }

    /// The descriptors of all modules.
    pub(crate) fn descriptors(&self) -> Vec<Vec<u8>> {
        self.descriptors.iter().filter_map(|position| self.read(*position).ok()).collect()
    }

    /// The internal names of all classes.
    #[cfg(test)]
    pub(crate) fn names(&self) -> impl Iterator<Item = &str> {
        self.classes.keys().map(String::as_str)
    }

    fn read(&self, position: Position) -> io::Result<Vec<u8>> {
        let length = if position.compressed == 0 { position.size } else { position.compressed };
        if length > 1 << 28 {
            return Err(wrong("a class is too large"));
        }
        let mut bytes = vec![0; length as usize];
        self.file.read_exact_at(&mut bytes, self.start + position.offset)?;
        // A resource that was compressed several times has a header before each layer.
        while position.compressed != 0 && bytes.len() > COMPRESSION_HEADER {
            let read = if self.is_little { u32::from_le_bytes } else { u32::from_be_bytes };
            if number(&bytes, 0, read) != COMPRESSED_MAGIC {
                break;
            }
            match text(&self.strings, number(&bytes, 20, read) as usize) {
                Some("zip") => {
                    let mut plain = Vec::new();
                    ZlibDecoder::new(&bytes[COMPRESSION_HEADER..]).take(1 << 28).read_to_end(&mut plain)?;
                    bytes = plain;
                }
                other => {
                    let other = other.unwrap_or("unknown");
                    return Err(wrong(&format!("its classes have the unsupported compression '{other}'")));
                }
            }
        }
        Ok(bytes)
    }
}

/// The name and the position of a resource, if it is a class.
fn location(attributes: &[u8], names: &[u8]) -> Option<(String, Position)> {
    let mut values = [0u64; 8];
    let mut at = 0;
    loop {
        let head = *attributes.get(at)?;
        let kind = head >> 3;
        if kind == 0 {
            break;
        }
        let length = usize::from(head & 7) + 1;
        let bytes = attributes.get(at + 1..at + 1 + length)?;
        let value = bytes.iter().fold(0, |value, byte| value << 8 | u64::from(*byte));
        *values.get_mut(usize::from(kind))? = value;
        at += 1 + length;
    }
    let name = |kind: u8| text(names, values[usize::from(kind)] as usize);
    if name(EXTENSION)? != "class" {
        return None;
    }
    let (parent, base) = (name(PARENT)?, name(BASE)?);
    let class = if parent.is_empty() { base.to_owned() } else { format!("{parent}/{base}") };
    let value = |kind: u8| values[usize::from(kind)];
    let position = Position {
        module: value(MODULE) as u32,
        offset: value(OFFSET),
        compressed: value(COMPRESSED),
        size: value(UNCOMPRESSED),
    };
    Some((class, position))
}

fn text(names: &[u8], at: usize) -> Option<&str> {
    let rest = names.get(at..)?;
    let end = rest.iter().position(|byte| *byte == 0)?;
    std::str::from_utf8(&rest[..end]).ok()
}

fn number(bytes: &[u8], at: usize, read: fn([u8; 4]) -> u32) -> u32 {
    bytes.get(at..at + 4).and_then(|bytes| bytes.try_into().ok()).map_or(0, read)
}

fn wrong(reason: &str) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, reason)
}

#[cfg(test)]
mod tests {
    use fissure_classfile::module::read_module;

    use super::*;

    #[test]
    fn the_classes_of_a_jdk_are_read() {
        let java =
            std::process::Command::new("java").args(["-XshowSettings:properties", "-version"]).output();
        let Ok(output) = java else { return };
        let text = String::from_utf8_lossy(&output.stderr).into_owned();
        let home = text.lines().find_map(|line| line.trim().strip_prefix("java.home = ")).unwrap();
        let modules = ModuleFile::open(&Path::new(home).join("lib/modules")).unwrap();
        for class in ["java/lang/Object", "java/util/concurrent/ForkJoinPool$WorkQueue"] {
            let bytes = modules.class(class).unwrap().unwrap();
            assert_eq!(bytes[..4], [0xCA, 0xFE, 0xBA, 0xBE], "{class}");
        }
        assert!(!modules.has("java/lang/Nonsense"));
        assert_eq!(modules.module("java/lang/Object"), Some("java.base"));
        assert!(
            modules.descriptors().iter().any(|bytes| {
                read_module(bytes).unwrap().is_some_and(|module| module.name == "java.base")
            })
        );
    }

    #[test]
    fn other_files_are_refused() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("modules");
        for content in [&b"short"[..], &[0; 64], &[0xDA, 0xDA, 0xFE, 0xCA, 0, 0, 1, 0, 255, 255, 255, 255]] {
            std::fs::write(&file, content).unwrap();
            assert!(ModuleFile::open(&file).is_err());
        }
    }
}
