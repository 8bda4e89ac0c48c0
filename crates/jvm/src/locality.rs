//! The result of the static analysis, which ran before the program: accesses that only one thread can ever make are not instrumented.
//!
//! It is valid for the classes that were analysed. A class that was not analysed, or whose bytes differ, is instrumented in full. So is
//! every class that is loaded after it, because the unknown class may share their objects between threads.

use std::{
    collections::{BTreeMap, BTreeSet},
    fs, io,
    sync::{
        Mutex,
        atomic::{AtomicBool, AtomicU64, Ordering},
    },
};

use fissure_classfile::flow::content_hash;
use fissure_model::{coverage::StaticCoverage, locality};
use rustc_hash::{FxHashMap, FxHashSet};

use crate::mutex::locked;

/// The result for the whole program.
#[derive(Debug, Default)]
pub(crate) struct Locality {
    classes: FxHashMap<String, LocalClass>,
    /// Whether everything is instrumented nevertheless, to check the analysis.
    is_checked: bool,
    is_void: AtomicBool,
    conservative: BTreeMap<String, u64>,
    classes_unknown: AtomicU64,
    fields: Count,
    sites: Count,
    elements: Count,
    /// Sites that the analysis claims to be thread-local.
    claimed: Mutex<FxHashSet<u32>>,
    contradicted: Mutex<BTreeSet<u32>>,
}

/// The thread-local fields and accesses of a class.
#[derive(Debug)]
pub(crate) struct LocalClass {
    hash: u64,
    fields: FxHashSet<(String, String)>,
    sites: FxHashMap<(String, String), Vec<u16>>,
}

#[derive(Debug, Default)]
struct Count {
    all: AtomicU64,
    left: AtomicU64,
}

impl Count {
    fn add(&self, is_local: bool) {
        self.all.fetch_add(1, Ordering::Relaxed);
        self.left.fetch_add(u64::from(!is_local), Ordering::Relaxed);
    }
}

impl Locality {
    /// Reads the result of the analysis.
    pub(crate) fn read(path: &str, is_checked: bool) -> io::Result<Locality> {
        let read: locality::Locality = serde_json::from_str(&fs::read_to_string(path)?)?;
        let class = |class: locality::LocalClass| LocalClass {
            hash: class.hash,
            fields: class.fields.into_iter().collect(),
            sites: class
                .sites
                .into_iter()
                .map(|sites| ((sites.method, sites.descriptor), sites.offsets))
                .collect(),
        };
        let classes = read.classes.into_iter().map(|(name, known)| (name, class(known))).collect();
        Ok(Locality { classes, is_checked, conservative: read.conservative, ..Locality::default() })
    }

    /// The result for a class, by its internal name and its bytes.
    pub(crate) fn class(&self, name: &str, bytes: &[u8]) -> Option<&LocalClass> {
        let known = self.classes.get(name).filter(|known| known.hash == content_hash(bytes));
        if known.is_none() {
            self.classes_unknown.fetch_add(1, Ordering::Relaxed);
            self.is_void.store(true, Ordering::Relaxed);
        }
        known.filter(|_| !self.is_void.load(Ordering::Relaxed))
    }

    /// Whether a plain field that a class declares is left out.
    pub(crate) fn leaves_field(&self, class: Option<&LocalClass>, name: &str, descriptor: &str) -> bool {
        let is_local = class.is_some_and(|class| class.has_field(name, descriptor));
        self.fields.add(is_local);
        is_local && !self.is_checked
    }

    /// Whether a field is left out, without counting it.
    pub(crate) fn has_field(&self, class: Option<&LocalClass>, name: &str, descriptor: &str) -> bool {
        !self.is_checked && class.is_some_and(|class| class.has_field(name, descriptor))
    }

    /// Whether an access is thread-local.
    pub(crate) fn is_local(class: Option<&LocalClass>, method: &str, descriptor: &str, pc: u16) -> bool {
        let key = (method.to_owned(), descriptor.to_owned());
        class
            .and_then(|class| class.sites.get(&key))
            .is_some_and(|offsets| offsets.binary_search(&pc).is_ok())
    }

    /// Whether thread-local accesses are left out.
    pub(crate) fn leaves_out(&self) -> bool {
        !self.is_checked
    }

    /// Counts an access to a field or an array element.
    pub(crate) fn count(&self, is_element: bool, is_local: bool) {
        if is_element { self.elements.add(is_local) } else { self.sites.add(is_local) }
    }

    /// Records a site that the analysis claims to be thread-local and that is instrumented to check this.
    pub(crate) fn claim(&self, site: u32) {
        locked(&self.claimed).insert(site);
    }

    /// Two threads have accessed one location at these sites.
    pub(crate) fn met(&self, sites: [u32; 2]) {
        if self.is_checked {
            let claimed = locked(&self.claimed);
            let wrong = sites.into_iter().filter(|site| claimed.contains(site));
            locked(&self.contradicted).extend(wrong);
        }
    }

    /// Sites that the analysis wrongly claims to be thread-local.
    pub(crate) fn contradicted(&self) -> Vec<u32> {
        locked(&self.contradicted).iter().copied().collect()
    }

    /// The number of fields and accesses, and how many of them are instrumented.
    pub(crate) fn coverage(&self) -> StaticCoverage {
        let get = |count: &AtomicU64| count.load(Ordering::Relaxed);
        StaticCoverage {
            fields: get(&self.fields.all),
            fields_watched: get(&self.fields.left),
            sites: get(&self.sites.all),
            sites_watched: get(&self.sites.left),
            elements: get(&self.elements.all),
            elements_watched: get(&self.elements.left),
            classes_unknown: get(&self.classes_unknown),
            conservative: self.conservative.clone(),
        }
    }
}

impl LocalClass {
    /// The names of the declared fields that only one thread can ever access in each object.
    pub(crate) fn fields(&self) -> impl Iterator<Item = &str> {
        self.fields.iter().map(|(name, _)| name.as_str())
    }

    fn has_field(&self, name: &str, descriptor: &str) -> bool {
        self.fields.contains(&(name.to_owned(), descriptor.to_owned()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn example(is_checked: bool) -> Locality {
        let class = LocalClass {
            hash: content_hash(b"bytes"),
            fields: [("x".to_owned(), "I".to_owned())].into_iter().collect(),
            sites: [(("run".to_owned(), "()V".to_owned()), vec![3, 9])].into_iter().collect(),
        };
        let classes = [("a/A".to_owned(), class)].into_iter().collect();
        Locality { classes, is_checked, ..Locality::default() }
    }

    #[test]
    fn thread_local_accesses_are_left_out_and_counted() {
        let locality = example(false);
        let class = locality.class("a/A", b"bytes");
        assert!(locality.leaves_field(class, "x", "I") && !locality.leaves_field(class, "y", "I"));
        for (pc, expected) in [(3, true), (4, false), (9, true)] {
            assert_eq!(Locality::is_local(class, "run", "()V", pc), expected);
            locality.count(false, expected);
        }
        assert!(!Locality::is_local(class, "run", "(I)V", 3));
        let coverage = locality.coverage();
        assert_eq!((coverage.fields, coverage.fields_watched), (2, 1));
        assert_eq!((coverage.sites, coverage.sites_watched), (3, 1));
    }

    #[test]
    fn a_class_that_was_not_analysed_invalidates_the_result() {
        let locality = example(false);
        assert!(locality.class("a/A", b"bytes").is_some());
        assert!(locality.class("a/B", b"bytes").is_none());
        assert!(locality.class("a/A", b"bytes").is_none());
        assert_eq!(locality.coverage().classes_unknown, 1);
    }

    #[test]
    fn claims_are_checked_against_the_run() {
        let locality = example(true);
        let class = locality.class("a/A", b"bytes");
        assert!(!locality.leaves_field(class, "x", "I"));
        locality.claim(7);
        locality.met([5, 6]);
        assert!(locality.contradicted().is_empty());
        locality.met([5, 7]);
        assert_eq!(locality.contradicted(), [7]);
    }
}
