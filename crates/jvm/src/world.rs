//! The classes against which pointcuts are evaluated: supertypes and fields of the classes that were loaded so far.

use rustc_hash::{FxHashMap, FxHashSet};

use fissure_classfile::{AccessFlags, ClassSummary};
use fissure_model::pointcut::{Answer, FieldPoint, World};

/// A class that was loaded.
#[derive(Debug)]
struct Known {
    /// Superclass and interfaces, with dots.
    supertypes: Vec<String>,
    /// Access flags by name and descriptor.
    fields: FxHashMap<(String, String), AccessFlags>,
}

/// The loaded classes, by their names with dots. Classes of one name in several loaders are not distinguished.
#[derive(Debug, Default)]
pub(crate) struct Classes {
    known: FxHashMap<String, Known>,
    /// Fields that only one thread can ever access in each object, if a static analysis ran: class with dots, and name.
    confined: FxHashSet<(String, String)>,
}

impl Classes {
    pub(crate) fn add(&mut self, summary: &ClassSummary) {
        let dotted = |name: &String| name.replace('/', ".");
        let supertypes = summary.super_name.iter().chain(&summary.interfaces).map(dotted).collect();
        let fields = summary
            .fields
            .iter()
            .map(|field| ((field.name.clone(), field.descriptor.clone()), field.access))
            .collect();
        self.known.insert(dotted(&summary.name), Known { supertypes, fields });
    }

    /// Adds the fields of a class that the static analysis found to be thread-local.
    pub(crate) fn confine<'a>(&mut self, class: &str, fields: impl Iterator<Item = &'a str>) {
        self.confined.extend(fields.map(|field| (class.to_owned(), field.to_owned())));
    }

    /// Whether a class was loaded since the agent started, or was added.
    pub(crate) fn knows(&self, class: &str) -> bool {
        class == "java.lang.Object" || self.known.contains_key(class)
    }

    /// Adds a class of which only its direct supertypes are known; all names with dots.
    pub(crate) fn add_supertypes(&mut self, class: String, supertypes: Vec<String>) {
        self.known.entry(class).or_insert_with(|| Known { supertypes, fields: FxHashMap::default() });
    }

    /// The class that declares a field, searched from `class` upwards, and the field's access flags.
    pub(crate) fn declaring(&self, class: &str, name: &str, descriptor: &str) -> Option<(&str, AccessFlags)> {
        let key = (name.to_owned(), descriptor.to_owned());
        let mut next = vec![class];
        // No class has so many supertypes; the limit ends the search if corrupt classes form a cycle.
        for _ in 0..1000 {
            let class = next.pop()?;
            let (class, known) = self.known.get_key_value(class)?;
            if let Some(access) = known.fields.get(&key) {
                return Some((class, *access));
            }
            next.extend(known.supertypes.iter().rev().map(String::as_str));
        }
        None
    }
}

impl World for Classes {
    fn supertypes(&self, class: &str, is_found: &mut dyn FnMut(&str) -> bool) -> bool {
        let mut is_complete = true;
        let mut next = vec![class];
        for _ in 0..1000 {
            let Some(class) = next.pop() else { return is_complete };
            match self.known.get(class) {
                Some(known) => {
                    for supertype in &known.supertypes {
                        if is_found(supertype) {
                            return is_complete;
                        }
                        next.push(supertype);
                    }
                }
                None => is_complete &= class == "java.lang.Object",
            }
        }
        false
    }

    /// A field whose declaration is not known yet may be shared.
    fn may_be_shared(&self, field: &FieldPoint<'_>, _class: Option<&str>) -> Answer {
        let declaring = field.declaring.unwrap_or_default();
        let is_confined = self.confined.contains(&(declaring.to_owned(), field.name.to_owned()));
        if is_confined && !field.is_element { Answer::No } else { Answer::Yes }
    }
}

/// A field as the code names it, with its declaration as far as it is known.
pub(crate) fn field_point<'a>(
    classes: &'a Classes,
    owner: &'a str,
    name: &'a str,
    descriptor: &str,
    of_type: &'a str,
    is_static: bool,
) -> FieldPoint<'a> {
    let declared = classes.declaring(owner, name, descriptor);
    FieldPoint {
        owner,
        declaring: declared.map(|(class, _)| class),
        name,
        of_type: Some(of_type),
        access: declared.map(|(_, access)| access.bits()),
        is_static,
        is_element: false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use fissure_classfile::FieldSummary;

    fn class(name: &str, super_name: &str, interfaces: &[&str], field: &str) -> ClassSummary {
        ClassSummary {
            name: name.to_owned(),
            super_name: Some(super_name.to_owned()),
            interfaces: interfaces.iter().map(|&name| name.to_owned()).collect(),
            access: AccessFlags::PUBLIC,
            major: 55,
            source_file: None,
            fields: vec![FieldSummary {
                name: field.to_owned(),
                descriptor: "I".to_owned(),
                access: AccessFlags::STATIC,
            }],
        }
    }

    #[test]
    fn supertypes_and_fields_are_known_once_classes_are_added() {
        let mut classes = Classes::default();
        let found = |classes: &Classes, class: &str, wanted: &str| {
            let mut is_found = false;
            let is_complete = classes.supertypes(class, &mut |name| {
                is_found |= name == wanted;
                is_found
            });
            (is_found, is_complete)
        };
        classes.add(&class("a/Sub", "a/Super", &["a/Face"], "x"));
        assert_eq!(found(&classes, "a.Sub", "a.Face"), (true, true));
        assert_eq!(found(&classes, "a.Sub", "a.Other"), (false, false));
        assert_eq!(classes.declaring("a.Sub", "y", "I"), None);
        classes.add(&class("a/Super", "java/lang/Object", &[], "y"));
        classes.add(&class("a/Face", "java/lang/Object", &[], "z"));
        assert_eq!(found(&classes, "a.Sub", "a.Other"), (false, true));
        assert_eq!(classes.declaring("a.Sub", "y", "I"), Some(("a.Super", AccessFlags::STATIC)));
        assert_eq!(classes.declaring("a.Sub", "y", "J"), None);
    }

    #[test]
    fn thread_local_fields_are_not_shared() {
        let mut classes = Classes::default();
        classes.add(&class("a/Super", "java/lang/Object", &[], "y"));
        classes.add(&class("a/Sub", "a/Super", &[], "x"));
        classes.confine("a.Super", ["y"].into_iter());
        let shared = |owner: &str, name: &str| {
            classes.may_be_shared(&field_point(&classes, owner, name, "I", "int", false), None)
        };
        assert_eq!(shared("a.Sub", "y"), Answer::No);
        assert_eq!(shared("a.Sub", "x"), Answer::Yes);
        assert_eq!(shared("a.Unknown", "y"), Answer::Yes);
    }
}
