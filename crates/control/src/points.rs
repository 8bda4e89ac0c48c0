//! The fields and methods that the program's accesses and calls name.
//!
//! A location is an object and a field, or an array and an index. Objects are numbered by the front end, in the order in which
//! they are first accessed by a thread under control; fields are numbered here. Static fields are fields of object 0.

use std::collections::{BTreeSet, hash_map::Entry};

use fissure_model::ids::{LocationId, SiteId};
use rustc_hash::FxHashMap;

use crate::{
    front_end::{Accessed, Declared, DeclaredField, Field, FrontEnd, Variable},
    sets,
    thread_unsafe::Parts,
};

/// The accesses at sites, the fields, and the methods that are known so far.
#[derive(Debug, Default)]
pub(crate) struct Points {
    sites: FxHashMap<SiteId, Point>,
    fields: Vec<Field>,
    numbers: FxHashMap<(i64, String, String), u32>,
    /// A hash of each method that is the same in every run, by the site where the method begins.
    keys: FxHashMap<SiteId, u64>,
    /// The fields that arrays and collections were read from, by the sites of accesses to their contents.
    sources: FxHashMap<SiteId, Option<u32>>,
    /// Names of collections and atomics that are not known by a field, by object number.
    contents: FxHashMap<u32, String>,
    /// The classes whose code works on the contents of those that are thread-unsafe.
    parts: FxHashMap<u32, Vec<String>>,
    /// The classes of thread-unsafe objects that the program uses through wrappers.
    wrapped: BTreeSet<String>,
    /// The fields that are read at sites, if they may hold arrays or collections.
    holding: FxHashMap<SiteId, Option<u32>>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Point {
    /// The access is no scheduling point: its field is final or not in scope.
    Ignored,
    Field {
        number: u32,
        is_write: bool,
        is_volatile: bool,
    },
    Element {
        is_write: bool,
    },
}

impl Points {
    /// The field of a location; `None` if it is not a field.
    pub(crate) fn field(&self, location: LocationId) -> Option<&Field> {
        self.fields.get(location.0 as u32 as usize)
    }

    /// The name of the collection or atomic whose contents a location is, if it has one.
    pub(crate) fn contents_name(&self, location: LocationId) -> Option<&str> {
        if sets::is_element(location) {
            return None;
        }
        self.contents.get(&((location.0 >> 32) as u32)).map(String::as_str)
    }

    /// Names a collection or an atomic after the first site that uses it. Returns whether this was the first.
    pub(crate) fn name_contents(&mut self, front: &dyn FrontEnd, object: u32, site: SiteId) -> bool {
        let Entry::Vacant(entry) = self.contents.entry(object) else { return false };
        entry.insert(match front.site(site).and_then(|site| site.variable) {
            Some(Variable { class: Some(class), name }) => format!("{class}.{name}"),
            Some(Variable { class: None, name }) => name,
            None => "a collection or an atomic".to_owned(),
        });
        true
    }

    /// Records the classes whose code works on the contents of a thread-unsafe object, or of the one that it wraps.
    pub(crate) fn note_parts(&mut self, object: u32, parts: Parts) {
        if parts.is_wrapped {
            self.wrapped.extend(parts.classes);
        } else if !parts.classes.is_empty() {
            self.parts.insert(object, parts.classes);
        }
    }

    /// The classes of thread-unsafe objects that the program uses through wrappers.
    pub(crate) fn wrapped(&self) -> &BTreeSet<String> {
        &self.wrapped
    }

    /// Those classes, for the object whose contents a location is.
    pub(crate) fn parts(&self, location: LocationId) -> &[String] {
        let object = (location.0 >> 32) as u32;
        let parts = self.parts.get(&object).filter(|_| sets::contents_of(object) == location);
        parts.map_or(&[], Vec::as_slice)
    }

    /// A field by its number.
    pub(crate) fn field_by_number(&self, number: u32) -> &Field {
        let field = self.fields.get(number as usize);
        field.unwrap_or_else(|| panic!("field {number} was never numbered; there are {}", self.fields.len()))
    }

    /// The number of the field that is read at a site, final or not, if its class is in scope.
    pub(crate) fn holding_field(&mut self, front: &dyn FrontEnd, site: SiteId) -> Option<u32> {
        if let Some(known) = self.holding.get(&site) {
            return *known;
        }
        let field = match front.declared_field(site) {
            Declared::Field(field) => Some(self.number(field)),
            Declared::NoField | Declared::NotLoaded => None,
        };
        self.holding.insert(site, field);
        field
    }

    /// The number of the field that the array or collection accessed at a site was read from, if that field was accessed before.
    pub(crate) fn source_of_element(&mut self, front: &dyn FrontEnd, site: SiteId) -> Option<u32> {
        if let Some(known) = self.sources.get(&site) {
            return *known;
        }
        let source = match front.declared_field(site) {
            Declared::NoField => {
                self.sources.insert(site, None);
                return None;
            }
            Declared::NotLoaded => return None,
            Declared::Field(DeclaredField { namespace, field }) => {
                self.numbers.get(&(namespace, field.class, field.name)).copied()
            }
        };
        if source.is_some() {
            self.sources.insert(site, source);
        }
        source
    }

    fn number(&mut self, DeclaredField { namespace, field }: DeclaredField) -> u32 {
        let key = (namespace, field.class.clone(), field.name.clone());
        *self.numbers.entry(key).or_insert_with(|| {
            self.fields.push(field);
            self.fields.len() as u32 - 1
        })
    }

    /// The kind of access at a site.
    #[inline]
    pub(crate) fn point(&mut self, front: &dyn FrontEnd, site: SiteId) -> Point {
        match self.sites.get(&site) {
            Some(known) => *known,
            None => self.new_point(front, site),
        }
    }

    #[cold]
    fn new_point(&mut self, front: &dyn FrontEnd, site: SiteId) -> Point {
        let is_write = front.is_write(site);
        let point = match front.accessed(site) {
            Accessed::Ignored => Point::Ignored,
            Accessed::Element => Point::Element { is_write },
            Accessed::Field(field) => {
                let is_volatile = field.field.is_volatile;
                Point::Field { number: self.number(field), is_write, is_volatile }
            }
            // The access loads the class, and the next one resolves the field again.
            Accessed::NotLoaded(field) => {
                return Point::Field { number: self.number(field), is_write, is_volatile: false };
            }
        };
        self.sites.insert(site, point);
        point
    }

    /// A hash of the method that begins at a site, the same in every run.
    pub(crate) fn key(&mut self, front: &dyn FrontEnd, site: SiteId) -> u64 {
        *self.keys.entry(site).or_insert_with(|| {
            let name = front
                .site(site)
                .map(|site| format!("{}.{}:{:?}", site.frame.class, site.frame.method, site.frame.line));
            stable_hash(name.unwrap_or_default().as_bytes())
        })
    }
}

/// The 64-bit FNV-1a hash: the same number for the same bytes, in every run and on every machine.
fn stable_hash(bytes: &[u8]) -> u64 {
    bytes
        .iter()
        .fold(0xcbf2_9ce4_8422_2325, |hash, byte| (hash ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3))
}
