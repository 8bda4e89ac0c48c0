//! Readers and writers: whether a method reads or writes the contents of its receiver (`contents.txt`).
//!
//! The agent asks for every call instruction of a class that it rewrites, so these questions look up hashed names.

use std::sync::LazyLock;

use rustc_hash::FxHashMap;

use crate::{
    files::{FileSection, file, loaded},
    format::DataError,
    pattern::matches_text,
    tables::ClassSet,
};

/// The effect of a method on the contents of its receiver.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Access {
    /// It only reads.
    Read,
    /// It may write.
    Write,
    /// It does not touch the contents.
    Neither,
}

/// The effect of a call on the contents of its receiver.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Use {
    /// Whether it reads or writes.
    pub access: Access,
    /// Whether the call passes each element to a callback, so that it reads the collection before it runs the caller's code.
    pub walks: bool,
}

/// The effect of a method on the contents of a collection; `None` if the class, which has its internal name, is no collection.
pub fn collection_use(class: &[u8], method: &[u8]) -> Option<Use> {
    CONTENTS.collections.find(class, method)
}

/// The effect of a method on an atomic, a variable handle's target, a thread-unsafe format or calendar, or, through an iterator, on a
/// collection; `None` for any other class and for methods without a row.
pub fn value_use(class: &[u8], method: &[u8]) -> Option<Use> {
    CONTENTS.values.find(class, method)
}

/// The effect of a method on its receiver, if a table describes the class, which has its internal name.
pub fn access_of(class: &str, method: &str) -> Option<Access> {
    let (class, method) = (class.as_bytes(), method.as_bytes());
    let contents = &*CONTENTS;
    let tables = [&contents.collections, &contents.values, &contents.arguments];
    tables.iter().find_map(|table| table.find(class, method)).map(|found| found.access)
}

/// Whether a method of this name only reads its receiver: according to its class, which has its internal name, or, if no table describes
/// the class, according to what methods of this name do as a rule.
pub fn only_reads(class: &str, method: &str) -> bool {
    match access_of(class, method) {
        Some(access) => access != Access::Write,
        None => CONTENTS.common.contains(&method),
    }
}

/// Whether a class, which has its internal name, is a collection.
pub fn is_collection(class: &[u8]) -> bool {
    CONTENTS.collections.classes.contains_key(class)
}

/// Whether a class, which has its internal name, is a string builder.
pub fn is_builder(class: &[u8]) -> bool {
    str::from_utf8(class).is_ok_and(|class| CONTENTS.builders.contains(class))
}

/// Whether a field of this class, which has its internal name, may refer to a collection.
pub fn may_hold(class: &[u8]) -> bool {
    is_collection(class) || str::from_utf8(class).is_ok_and(|class| CONTENTS.holders.contains(class))
}

/// The rows of collections, for the table in the documentation: patterns of names with their effects, in the order of the file.
pub fn collection_rows() -> &'static [(&'static str, Use)] {
    CONTENTS.collections.tables.first().map_or(&[], |names| &names.rows)
}

static CONTENTS: LazyLock<Contents> = LazyLock::new(|| loaded(Contents::load()));

pub(crate) struct Contents {
    collections: Table,
    values: Table,
    arguments: Table,
    builders: ClassSet,
    holders: ClassSet,
    /// Names of methods that are taken to read in every class.
    common: Vec<&'static str>,
}

impl Contents {
    pub(crate) fn load() -> Result<Self, DataError> {
        let mut file = file("contents.txt")?;
        let collections = Table::load([file.take("collections")?])?;
        let values = ["atomics", "formats", "handles", "iterators"];
        let values = values.into_iter().map(|name| file.take(name)).collect::<Result<Vec<_>, _>>()?;
        let values = Table::load(values)?;
        let arguments = Table::load([file.take("arguments")?])?;
        let contents = Contents {
            common: [&collections, &values, &arguments].into_iter().flat_map(Table::common).collect(),
            collections,
            values,
            arguments,
            builders: ClassSet::load(file.take("builders")?)?,
            holders: ClassSet::load(file.take("holders")?)?,
        };
        file.finish()?;
        Ok(contents)
    }
}

/// Classes with the effects of their methods.
#[derive(Default)]
struct Table {
    /// The number of the names of a class, by its internal name.
    classes: FxHashMap<Vec<u8>, usize>,
    tables: Vec<Names>,
}

/// The effects of methods by their names.
#[derive(Default)]
struct Names {
    exact: FxHashMap<&'static [u8], Use>,
    patterns: Vec<(&'static [u8], Use)>,
    rows: Vec<(&'static str, Use)>,
    common: Vec<&'static str>,
}

impl Table {
    fn load(sections: impl IntoIterator<Item = FileSection>) -> Result<Self, DataError> {
        let mut table = Table::default();
        for from in sections {
            for group in &from.section.groups {
                let mut names = Names::default();
                for row in &group.rows {
                    let (words, is_common) = match row.words.split_last() {
                        Some((&"common", words)) => (words, true),
                        _ => (&row.words[..], false),
                    };
                    let effect = effect(words).ok_or_else(|| {
                        from.error(row.line, format!("unknown words: {}", row.words.join(" ")))
                    })?;
                    let methods = row.methods.iter().filter(|_| is_common);
                    names.common.extend(methods.map(|method| method.name));
                    for method in &row.methods {
                        names.add(method.name, effect).map_err(|message| from.error(row.line, message))?;
                    }
                }
                for entry in &group.classes {
                    let name = entry
                        .class
                        .name()
                        .ok_or_else(|| from.error(entry.line, "here classes have full names".to_owned()))?;
                    table.classes.insert(name.replace('.', "/").into_bytes(), table.tables.len());
                }
                table.tables.push(names);
            }
        }
        Ok(table)
    }

    fn find(&self, class: &[u8], method: &[u8]) -> Option<Use> {
        self.tables[*self.classes.get(class)?].find(method)
    }

    fn common(&self) -> impl Iterator<Item = &'static str> {
        self.tables.iter().flat_map(|names| &names.common).copied()
    }
}

impl Names {
    /// Adds a row. Exact names are looked up first, so none may follow a pattern that says otherwise about it.
    fn add(&mut self, name: &'static str, effect: Use) -> Result<(), String> {
        if self.find(name.as_bytes()).is_some_and(|known| known != effect) {
            return Err(format!("an earlier row says otherwise about {name}"));
        }
        self.rows.push((name, effect));
        match name.contains('*') {
            true => self.patterns.push((name.as_bytes(), effect)),
            false => drop(self.exact.insert(name.as_bytes(), effect)),
        }
        Ok(())
    }

    fn find(&self, method: &[u8]) -> Option<Use> {
        let matching = || self.patterns.iter().find(|(pattern, _)| matches_text(pattern, method));
        self.exact.get(method).copied().or_else(|| matching().map(|(_, found)| *found))
    }
}

fn effect(words: &[&str]) -> Option<Use> {
    let (access, walks) = match words {
        ["read"] => (Access::Read, false),
        ["read", "walks"] => (Access::Read, true),
        ["write"] => (Access::Write, false),
        ["neither"] => (Access::Neither, false),
        _ => return None,
    };
    Some(Use { access, walks })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(class: &str, method: &str, expected: Option<Access>) {
        assert_eq!(access_of(class, method), expected, "{class}.{method}");
    }

    #[test]
    fn methods_read_or_write() {
        check("java/util/List", "size", Some(Access::Read));
        check("java/util/List", "subList", Some(Access::Read));
        check("java/util/List", "removeLast", Some(Access::Write));
        check("java/util/Vector", "somethingNew", Some(Access::Write));
        check("java/util/ArrayList", "ensureCapacity", Some(Access::Neither));
        check("java/util/concurrent/atomic/AtomicInteger", "intValue", Some(Access::Read));
        check("java/text/SimpleDateFormat", "parse", Some(Access::Write));
        check("java/security/MessageDigest", "update", Some(Access::Write));
        check("java/security/MessageDigest", "getAlgorithm", Some(Access::Read));
        check("java/lang/invoke/VarHandle", "getAndAdd", Some(Access::Write));
        check("java/util/Map$Entry", "setValue", Some(Access::Write));
        check("java/util/Optional", "get", None);
        check("com/acme/List", "add", None);
    }

    #[test]
    fn unknown_classes_are_judged_by_the_names_of_their_methods() {
        assert!(only_reads("com/acme/Thing", "size") && !only_reads("com/acme/Thing", "store"));
        assert!(only_reads("java/util/List", "lastIndexOf") && !only_reads("com/acme/Thing", "lastOfAll"));
    }

    #[test]
    fn a_row_must_not_contradict_an_earlier_one() {
        let mut names = Names::default();
        let (read, write) = (effect(&["read"]).unwrap(), effect(&["write"]).unwrap());
        names.add("get*", write).unwrap();
        assert!(names.add("get", read).is_err() && names.add("size", read).is_ok());
    }
}
