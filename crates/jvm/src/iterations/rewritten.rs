//! The classes of the program as they were rewritten, so that the next run, which loads them anew, gets the same code with the same sites.

use std::sync::Mutex;

use rustc_hash::FxHashMap;

use crate::mutex::locked;

/// Rewritten classes, by the number of their loader and their name.
#[derive(Debug, Default)]
pub(crate) struct Rewritten {
    classes: Mutex<FxHashMap<(i64, String), Class>>,
}

/// A class, before and after.
#[derive(Debug)]
struct Class {
    original: Vec<u8>,
    /// `None` if it stays as it is.
    rewritten: Option<Vec<u8>>,
}

impl Rewritten {
    /// The result for a class, if the same bytes were rewritten before.
    pub(crate) fn find(&self, loader: i64, name: &str, bytes: &[u8]) -> Option<Option<Vec<u8>>> {
        let classes = locked(&self.classes);
        let class = classes.get(&(loader, name.to_owned()))?;
        (class.original == bytes).then(|| class.rewritten.clone())
    }

    /// Remembers the result for a class. The last one counts.
    pub(crate) fn add(&self, loader: i64, name: &str, bytes: &[u8], rewritten: Option<&[u8]>) {
        let class = Class { original: bytes.to_vec(), rewritten: rewritten.map(<[u8]>::to_vec) };
        locked(&self.classes).insert((loader, name.to_owned()), class);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_class_is_known_by_its_loader_its_name_and_its_bytes() {
        let known = Rewritten::default();
        known.add(1, "A", b"a", Some(b"b"));
        known.add(1, "B", b"a", None);
        assert_eq!(known.find(1, "A", b"a"), Some(Some(b"b".to_vec())));
        assert_eq!(known.find(1, "B", b"a"), Some(None));
        assert_eq!(known.find(1, "A", b"c"), None);
        assert_eq!(known.find(2, "A", b"a"), None);
        known.add(1, "A", b"c", None);
        assert_eq!((known.find(1, "A", b"a"), known.find(1, "A", b"c")), (None, Some(None)));
    }
}
