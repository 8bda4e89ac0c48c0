//! Memory accesses as scheduling points, and the methods (units) that threads are in.
//!
//! A location is an object and a field, or an array and an index. Objects are numbered by the hook class, in the order in which
//! they are first accessed by a thread under control; fields are numbered here. Static fields are fields of object 0.

use std::collections::hash_map::Entry;

use rustc_hash::FxHashMap;

use fissure_classfile::SiteKind;
use fissure_model::ids::{LocationId, SiteId, ThreadId};
use fissure_schedule::operation::Operation;
use jvmti_bindings::sys::jni::{JNIEnv, jclass, jint, jlong};

use super::{
    State, contents, explanation, interleavings,
    natives::{controlled, schedule_with_role},
    sets,
    site_flags::{LIBRARY, QUIET},
};
use crate::{
    agent::Agent,
    mutex::locked,
    registry::{Member, Resolved},
    sites::Target,
};

/// Distinguishes the index of an array element from the number of a field.
const ELEMENT: u32 = 1 << 31;

/// A field that is accessed at some site.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Field {
    /// The class that declares it, with dots.
    pub(crate) class: String,
    pub(crate) name: String,
    pub(crate) is_volatile: bool,
}

/// The accesses at sites, the fields, and the methods that are known so far.
#[derive(Debug, Default)]
pub(crate) struct Points {
    sites: FxHashMap<u32, Point>,
    fields: Vec<Field>,
    numbers: FxHashMap<(i64, String, String), u32>,
    /// A hash of each method that is the same in every run, by the site where the method begins.
    keys: FxHashMap<u32, u64>,
    /// The fields that arrays and collections were read from, by the sites of accesses to their contents.
    sources: FxHashMap<u32, Option<u32>>,
    /// Names of collections and atomics that are not known by a field, by object number.
    contents: FxHashMap<u32, String>,
    /// The classes whose code works on the contents of those that are thread-unsafe.
    parts: FxHashMap<u32, Vec<String>>,
    /// The fields that are read at sites, if they may hold arrays or collections.
    holding: FxHashMap<u32, Option<u32>>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Point {
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
        if location.0 as u32 & ELEMENT != 0 {
            return None;
        }
        self.contents.get(&((location.0 >> 32) as u32)).map(String::as_str)
    }

    /// Names a collection or an atomic after the first site that uses it. Returns whether this was the first.
    pub(crate) fn name_contents(&mut self, agent: &Agent, object: u32, site: u32) -> bool {
        let Entry::Vacant(entry) = self.contents.entry(object) else { return false };
        let code = locked(&agent.code);
        entry.insert(match code.sites.get(site).map(|info| &info.target) {
            Some(Target::Field { class, name, .. }) => format!("{}.{name}", class.replace('/', ".")),
            Some(Target::Local(Some(name))) => name.to_string(),
            _ => "a collection or an atomic".to_owned(),
        });
        true
    }

    /// Records the classes whose code works on the contents of a thread-unsafe object.
    pub(crate) fn note_parts(&mut self, object: u32, parts: Vec<String>) {
        if !parts.is_empty() {
            self.parts.insert(object, parts);
        }
    }

    /// Those classes, for the object whose contents a location is.
    pub(crate) fn parts(&self, location: LocationId) -> &[String] {
        let object = (location.0 >> 32) as u32;
        let parts = self.parts.get(&object).filter(|_| sets::contents_of(object) == location);
        parts.map_or(&[], Vec::as_slice)
    }

    /// A field by its number.
    pub(crate) fn field_by_number(&self, number: u32) -> Option<&Field> {
        self.fields.get(number as usize)
    }

    /// Whether the access at a site is a write.
    pub(crate) fn is_write(&self, agent: &Agent, site: u32) -> bool {
        locked(&agent.code).sites.get(site).is_some_and(|info| info.kind == SiteKind::Write)
    }

    /// The number of the field that is read at a site, final or not, if its class is in scope.
    pub(crate) fn holding_field(&mut self, agent: &Agent, site: u32) -> Option<u32> {
        if let Some(known) = self.holding.get(&site) {
            return *known;
        }
        let code = locked(&agent.code);
        let info = code.sites.get(site)?;
        let Target::Field { class, name, descriptor } = &info.target else { return None };
        let number = code.registry.declaring(info.loader, class, name, descriptor);
        let field = number.map(|number| {
            let owner = code.registry.class(number);
            let is_volatile = owner.has_volatile(name, descriptor);
            let field = Field { class: owner.name.replace('/', "."), name: name.to_string(), is_volatile };
            self.number(owner.loader(), field)
        });
        self.holding.insert(site, field);
        field
    }

    /// The number of the field that the array or collection accessed at a site was read from, if that field was accessed before.
    pub(crate) fn source_of_element(&mut self, agent: &Agent, site: u32) -> Option<u32> {
        if let Some(known) = self.sources.get(&site) {
            return *known;
        }
        let code = locked(&agent.code);
        let info = code.sites.get(site)?;
        let Target::Field { class, name, descriptor } = &info.target else {
            self.sources.insert(site, None);
            return None;
        };
        let number = code.registry.declaring(info.loader, class, name, descriptor)?;
        let owner = code.registry.class(number);
        let key = (owner.loader(), owner.name.replace('/', "."), name.to_string());
        let source = self.numbers.get(&key).copied();
        if source.is_some() {
            self.sources.insert(site, source);
        }
        source
    }

    fn number(&mut self, loader: i64, field: Field) -> u32 {
        let key = (loader, field.class.clone(), field.name.clone());
        *self.numbers.entry(key).or_insert_with(|| {
            self.fields.push(field);
            self.fields.len() as u32 - 1
        })
    }

    /// The kind of access at a site.
    fn point(&mut self, agent: &Agent, site: u32) -> Point {
        if let Some(known) = self.sites.get(&site) {
            return *known;
        }
        let code = locked(&agent.code);
        let Some(info) = code.sites.get(site) else { return Point::Ignored };
        let is_write = info.kind == SiteKind::Write;
        let Target::Field { class, name, descriptor } = &info.target else {
            self.sites.insert(site, Point::Element { is_write });
            return Point::Element { is_write };
        };
        if info.is_element {
            self.sites.insert(site, Point::Element { is_write });
            return Point::Element { is_write };
        }
        let in_scope = |class: &str| agent.scope.covers(&class.replace('/', "."));
        let point = match code.registry.resolve(info.loader, class, name, descriptor, in_scope) {
            Resolved::Known(number, Member::Point) => {
                let owner = code.registry.class(number);
                let is_volatile = owner.has_volatile(name, descriptor);
                let field =
                    Field { class: owner.name.replace('/', "."), name: name.to_string(), is_volatile };
                Point::Field { number: self.number(owner.loader(), field), is_write, is_volatile }
            }
            Resolved::Known(..) | Resolved::Unwatched => Point::Ignored,
            // The access itself loads the class of a static field; the next access resolves it again.
            Resolved::NotLoaded => {
                let field =
                    Field { class: class.replace('/', "."), name: name.to_string(), is_volatile: false };
                let number = self.number(info.loader, field);
                return Point::Field { number, is_write, is_volatile: false };
            }
        };
        self.sites.insert(site, point);
        point
    }

    /// A hash of the method that begins at a site, the same in every run.
    fn key(&mut self, agent: &Agent, site: u32) -> u64 {
        *self.keys.entry(site).or_insert_with(|| {
            let code = locked(&agent.code);
            let name =
                code.sites.get(site).map(|info| format!("{}.{}:{:?}", info.class, info.method, info.line));
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

/// The flags of a site; `None` if accesses there are no scheduling points.
pub(super) fn flags_of(agent: &Agent, state: &mut State, thread: ThreadId, site: jint) -> Option<i32> {
    let flags = agent.offsets.get_i32(site as usize);
    // Inside of a region in which others may wait in the JVM, a thread's accesses differ from run to run.
    if flags & QUIET != 0 || state.thread(thread).regions > 0 {
        return None;
    }
    (flags & LIBRARY == 0 || !explanation::serves_the_jdk(agent, state)).then_some(flags)
}

/// A thread is about to access a field of an object or an element of an array.
pub(super) extern "system" fn access(
    _environment: *mut JNIEnv,
    _class: jclass,
    thread: jlong,
    object: jint,
    index: jint,
    site: jint,
) {
    controlled((), thread, |agent, control, thread| {
        let mut state = control.state();
        if interleavings::is_skipped(agent, &state, thread) {
            return;
        }
        let Some(flags) = flags_of(agent, &mut state, thread, site) else { return };
        contents::close_finished(agent, &mut state, thread);
        let (place, is_write, may_spin) = match state.points.point(agent, site as u32) {
            Point::Ignored => return,
            Point::Field { number, is_write, is_volatile } => (number, is_write, is_volatile || !is_write),
            Point::Element { is_write } => (index as u32 | ELEMENT, is_write, !is_write),
        };
        let location = LocationId(u64::from(object as u32) << 32 | u64::from(place));
        let site = SiteId(site as u32);
        let operation = if may_spin && state.conductor.spins(thread, site) {
            Operation::Yield { site }
        } else {
            Operation::Access { location, is_write, site }
        };
        let is_for_interleavings = interleavings::are_wanted(agent);
        let role = match is_for_interleavings {
            true => interleavings::role(agent, location, flags),
            false => sets::role(agent, &mut state, thread, location, site, flags),
        };
        let mut state = schedule_with_role(agent, control, state, thread, operation, flags, role);
        if let Operation::Yield { .. } = operation {
            let operation = Operation::Access { location, is_write, site };
            state = schedule_with_role(agent, control, state, thread, operation, flags, role);
        }
        if is_for_interleavings {
            interleavings::touched(&mut state, thread, location, is_write, site);
        } else {
            sets::accessed(agent, &mut state, thread, location, is_write, site);
        }
    });
}

/// A method begins.
pub(super) extern "system" fn enter_unit(
    _environment: *mut JNIEnv,
    _class: jclass,
    thread: jlong,
    site: jint,
) {
    controlled((), thread, |agent, control, thread| {
        let mut state = control.state();
        contents::enters(agent, &mut state, thread);
        let key = state.points.key(agent, site as u32);
        state.conductor.enter_unit(thread, SiteId(site as u32), key);
    });
}

/// A method ends.
pub(super) extern "system" fn exit_unit(
    _environment: *mut JNIEnv,
    _class: jclass,
    thread: jlong,
    site: jint,
) {
    controlled((), thread, |agent, control, thread| {
        let mut state = control.state();
        let site = SiteId(site as u32);
        contents::leaves(agent, &mut state, thread, site);
        state.conductor.exit_unit(thread, site);
    });
}
