//! The kinds of tables that the topics are loaded into: sets of classes, members of classes with their roles, and rules of which the first
//! that matches counts.

use rustc_hash::FxHashMap;

use crate::{
    files::FileSection,
    format::DataError,
    pattern::{ClassPattern, MethodPattern},
};

/// A set of classes.
#[derive(Debug)]
pub(crate) struct ClassSet {
    patterns: Vec<ClassPattern>,
}

impl ClassSet {
    pub(crate) fn load(from: FileSection) -> Result<Self, DataError> {
        let groups = &from.section.groups;
        if let Some(row) = groups.iter().find_map(|group| group.rows.first()) {
            return Err(from.error(row.line, "this section has only classes".to_owned()));
        }
        let patterns = groups.iter().flat_map(|group| &group.classes).map(|entry| entry.class).collect();
        Ok(ClassSet { patterns })
    }

    /// Whether a class, whose name may have dots or slashes, belongs to the set.
    pub(crate) fn contains(&self, class: &str) -> bool {
        self.patterns.iter().any(|pattern| pattern.matches(class))
    }
}

/// A method of a class, and its role.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Member<T> {
    /// The method's name.
    pub method: &'static str,
    /// Its descriptor; `None` for all methods of this name.
    pub descriptor: Option<&'static str>,
    /// What is known about it.
    pub role: T,
}

/// The members of classes with their roles.
#[derive(Debug)]
pub(crate) struct Members<T> {
    /// By internal name.
    by_class: FxHashMap<String, Vec<Member<T>>>,
    /// Of classes whose names match a pattern.
    by_pattern: Vec<(ClassPattern, Vec<Member<T>>)>,
    /// The internal names of the classes in the order of the file.
    classes: Vec<String>,
}

impl<T: Copy> Members<T> {
    /// Loads a section. `read` gets the words of a row, and returns one or more roles.
    pub(crate) fn load(
        from: FileSection,
        read: impl Fn(&[&'static str]) -> Option<Vec<T>>,
    ) -> Result<Self, DataError> {
        let mut loaded =
            Members { by_class: FxHashMap::default(), by_pattern: Vec::new(), classes: Vec::new() };
        for group in &from.section.groups {
            let mut members = Vec::new();
            for row in &group.rows {
                let roles = read(&row.words)
                    .ok_or_else(|| from.error(row.line, format!("unknown words: {}", row.words.join(" "))))?;
                if let Some(method) = row.methods.iter().find(|method| !method.is_name()) {
                    return Err(
                        from.error(row.line, format!("here methods have full names: {}", method.name))
                    );
                }
                for method in &row.methods {
                    let member = |&role| Member { method: method.name, descriptor: method.descriptor, role };
                    members.extend(roles.iter().map(member));
                }
            }
            for entry in &group.classes {
                match entry.class.name() {
                    Some(name) => {
                        let name = name.replace('.', "/");
                        if loaded.by_class.insert(name.clone(), members.clone()).is_some() {
                            return Err(from.error(entry.line, format!("{name} is there twice")));
                        }
                        loaded.classes.push(name);
                    }
                    None => loaded.by_pattern.push((entry.class, members.clone())),
                }
            }
        }
        Ok(loaded)
    }

    /// The members of a class, by its internal name.
    pub(crate) fn of(&self, class: &str) -> &[Member<T>] {
        if let Some(found) = self.by_class.get(class) {
            return found;
        }
        let matching = self.by_pattern.iter().find(|(pattern, _)| pattern.matches(class));
        matching.map_or(&[], |(_, members)| members)
    }

    /// All classes, by their internal names, with their members, in the order of the file.
    pub(crate) fn all(&self) -> impl Iterator<Item = (&str, &[Member<T>])> {
        self.classes.iter().map(|class| (class.as_str(), self.of(class)))
    }
}

/// Rules about methods. The first row that matches a method counts.
#[derive(Debug)]
pub(crate) struct Rules<T> {
    groups: Vec<RuleGroup<T>>,
    /// The numbers of the groups about a package, by its internal name.
    by_package: FxHashMap<String, Vec<u32>>,
    /// The numbers of the groups about several packages.
    anywhere: Vec<u32>,
}

#[derive(Debug)]
struct RuleGroup<T> {
    classes: Vec<ClassPattern>,
    rows: Vec<(Vec<MethodPattern>, T)>,
}

impl<T: Copy> Rules<T> {
    /// Loads a section. `read` gets the words of a row.
    pub(crate) fn load(
        from: FileSection,
        read: impl Fn(&[&'static str]) -> Option<T>,
    ) -> Result<Self, DataError> {
        let mut rules = Rules { groups: Vec::new(), by_package: FxHashMap::default(), anywhere: Vec::new() };
        for (number, group) in (0..).zip(&from.section.groups) {
            let mut rows = Vec::new();
            for row in &group.rows {
                let words = || from.error(row.line, format!("unknown words: {}", row.words.join(" ")));
                rows.push((row.methods.clone(), read(&row.words).ok_or_else(words)?));
            }
            for entry in &group.classes {
                let package = entry.class.text().rsplit_once('.').map_or("", |(package, _)| package);
                let groups =
                    match package.is_empty() || package.contains('*') || entry.class.text().contains("**") {
                        true => &mut rules.anywhere,
                        false => rules.by_package.entry(package.replace('.', "/")).or_default(),
                    };
                if groups.last() != Some(&number) {
                    groups.push(number);
                }
            }
            let classes = group.classes.iter().map(|entry| entry.class).collect();
            rules.groups.push(RuleGroup { classes, rows });
        }
        Ok(rules)
    }

    /// The rule for a method of a class, which has its internal name.
    pub(crate) fn find(&self, class: &str, name: &str, descriptor: &str) -> Option<T> {
        self.about(class).find_map(|group| {
            let is_meant = |(methods, _): &&(Vec<MethodPattern>, T)| {
                methods.iter().any(|method| method.matches(name, descriptor))
            };
            group.rows.iter().find(is_meant).map(|(_, rule)| *rule)
        })
    }

    /// Whether there are rules about a class, which has its internal name.
    pub(crate) fn describes(&self, class: &str) -> bool {
        self.about(class).next().is_some()
    }

    /// The groups about a class, in the order of the file.
    fn about(&self, class: &str) -> impl Iterator<Item = &RuleGroup<T>> {
        let package = class.rsplit_once('/').map_or("", |(package, _)| package);
        let mut inside = self.by_package.get(package).map_or(&[][..], Vec::as_slice).iter().peekable();
        let mut anywhere = self.anywhere.iter().peekable();
        let numbers = std::iter::from_fn(move || match (inside.peek(), anywhere.peek()) {
            (Some(first), Some(second)) if first > second => anywhere.next(),
            (Some(_), _) => inside.next(),
            (None, _) => anywhere.next(),
        });
        numbers
            .map(|&number| &self.groups[number as usize])
            .filter(move |group| group.classes.iter().any(|pattern| pattern.matches(class)))
    }
}
