//! The watched classes and where the shadow words of their fields are kept.

use rustc_hash::{FxHashMap, FxHashSet};

/// How one field of a watched class is followed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Member {
    /// An instance field with a shadow field of this descriptor; the offset is set once it is known.
    Shadowed { descriptor: &'static str, offset: Option<i32> },
    /// A static field whose shadow word is in this cell.
    Cell(u32),
    /// A field whose accesses the monitor script may select.
    Observed,
    /// Volatile.
    Volatile,
    /// A field without a shadow word; every access to it is reported.
    Point,
    /// A final field, or a field of a class that could not be rewritten.
    Unwatched,
}

/// The target of a field reference.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Resolved {
    /// A field of a known class, by the class's number.
    Known(usize, Member),
    /// A field that is not watched.
    Unwatched,
    /// A class that has not been loaded yet.
    NotLoaded,
}

/// A watched class.
#[derive(Debug)]
pub(crate) struct ClassInfo {
    /// The internal name.
    pub(crate) name: String,
    /// The loader's number; 0 for the boot loader.
    loader: i64,
    superclass: Option<String>,
    members: FxHashMap<(String, String), Member>,
    /// The volatile ones among the members.
    volatiles: FxHashSet<(String, String)>,
}

impl ClassInfo {
    /// Whether the class declares a volatile field like this.
    pub(crate) fn has_volatile(&self, name: &str, descriptor: &str) -> bool {
        self.volatiles.contains(&(name.to_owned(), descriptor.to_owned()))
    }

    /// The number of the loader that defined it.
    pub(crate) fn loader(&self) -> i64 {
        self.loader
    }

    /// Whether this is the class with that name and loader.
    pub(crate) fn is(&self, loader: i64, name: &str) -> bool {
        self.loader == loader && self.name == name
    }
}

/// All watched classes.
#[derive(Debug, Default)]
pub(crate) struct Registry {
    classes: Vec<ClassInfo>,
    by_name: FxHashMap<String, Vec<usize>>,
    cells: FxHashMap<(i64, String, String, String), u32>,
}

/// The number of cells; all further static fields share the last one.
pub(crate) const MOST_CELLS: u32 = 1 << 20;

impl Registry {
    /// The cell of a static field. The first reference to the field, in its class or in another one, creates it.
    pub(crate) fn cell(&mut self, loader: i64, class: &str, name: &str, descriptor: &str) -> u32 {
        let next = self.cells.len() as u32 + 1;
        let key = (loader, class.to_owned(), name.to_owned(), descriptor.to_owned());
        *self.cells.entry(key).or_insert(if next < MOST_CELLS { next } else { MOST_CELLS - 1 })
    }

    /// Adds a class that was rewritten. A class that is redefined replaces its predecessor.
    pub(crate) fn add(
        &mut self,
        loader: i64,
        name: &str,
        superclass: Option<&str>,
        members: FxHashMap<(String, String), Member>,
        volatiles: FxHashSet<(String, String)>,
    ) {
        let superclass = superclass.map(str::to_owned);
        let info = ClassInfo { name: name.to_owned(), loader, superclass, members, volatiles };
        let numbers = self.by_name.entry(name.to_owned()).or_default();
        match numbers.iter().find(|&&number| self.classes[number].loader == loader) {
            Some(&number) => self.classes[number] = info,
            None => {
                numbers.push(self.classes.len());
                self.classes.push(info);
            }
        }
    }

    /// A class by its number.
    pub(crate) fn class(&self, number: usize) -> &ClassInfo {
        &self.classes[number]
    }

    /// How a field that a class declares is followed; `None` if the class is not known.
    pub(crate) fn declared(&self, loader: i64, class: &str, name: &str, descriptor: &str) -> Option<&Member> {
        let number =
            self.by_name.get(class)?.iter().find(|&&number| self.classes[number].loader == loader)?;
        self.classes[*number].members.get(&(name.to_owned(), descriptor.to_owned()))
    }

    /// The fields that a class declares and that have a shadow field, with its descriptor.
    pub(crate) fn shadowed(&self, loader: i64, class: &str) -> Vec<(String, &'static str)> {
        let numbers = self.by_name.get(class).map_or(&[][..], Vec::as_slice);
        let known = numbers.iter().map(|&number| &self.classes[number]).find(|known| known.loader == loader);
        let members = known.into_iter().flat_map(|known| &known.members);
        members
            .filter_map(|((name, _), member)| match member {
                Member::Shadowed { descriptor, .. } => Some((name.clone(), *descriptor)),
                _ => None,
            })
            .collect()
    }

    /// Resolves a field reference in a class of `loader`, searching the superclasses. `in_scope` says whether a class that is
    /// not known will be watched once it is loaded.
    pub(crate) fn resolve(
        &self,
        loader: i64,
        class: &str,
        name: &str,
        descriptor: &str,
        in_scope: impl Fn(&str) -> bool,
    ) -> Resolved {
        let mut class = class.to_owned();
        // A longer chain is a cycle of classes, which the JVM will reject.
        for _ in 0..1000 {
            let Some(number) = self.find(loader, &class) else {
                return if in_scope(&class) { Resolved::NotLoaded } else { Resolved::Unwatched };
            };
            let info = &self.classes[number];
            if let Some(member) = info.members.get(&(name.to_owned(), descriptor.to_owned())) {
                return match member {
                    Member::Unwatched => Resolved::Unwatched,
                    member => Resolved::Known(number, member.clone()),
                };
            }
            match &info.superclass {
                Some(superclass) => class = superclass.clone(),
                None => return Resolved::Unwatched,
            }
        }
        Resolved::Unwatched
    }

    /// The class in scope that declares a field, watched or not, if a class of `loader` refers to it by this class.
    pub(crate) fn declaring(&self, loader: i64, class: &str, name: &str, descriptor: &str) -> Option<usize> {
        let key = (name.to_owned(), descriptor.to_owned());
        let mut class = class;
        for _ in 0..1000 {
            let number = self.find(loader, class)?;
            if self.classes[number].members.contains_key(&key) {
                return Some(number);
            }
            class = self.classes[number].superclass.as_deref()?;
        }
        None
    }

    /// Whether a class, as seen from a class of `loader`, is another one or inherits from it.
    pub(crate) fn inherits(&self, loader: i64, class: &str, from: &str) -> bool {
        let mut class = class;
        for _ in 0..1000 {
            if class == from {
                return true;
            }
            let superclass =
                self.find(loader, class).and_then(|number| self.classes[number].superclass.as_deref());
            match superclass {
                Some(superclass) => class = superclass,
                None => return false,
            }
        }
        false
    }

    /// Records the offset of a field's shadow word.
    pub(crate) fn set_offset(&mut self, number: usize, name: &str, descriptor: &str, offset: i32) {
        let key = (name.to_owned(), descriptor.to_owned());
        if let Some(Member::Shadowed { offset: known, .. }) =
            self.classes.get_mut(number).and_then(|class| class.members.get_mut(&key))
        {
            *known = Some(offset);
        }
    }

    /// The class of that name that a class of `loader` refers to: the one of the same loader, or else the first known.
    fn find(&self, loader: i64, class: &str) -> Option<usize> {
        let numbers = self.by_name.get(class)?;
        numbers
            .iter()
            .copied()
            .find(|&number| self.classes[number].loader == loader)
            .or(numbers.first().copied())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn members(entries: &[(&str, Member)]) -> FxHashMap<(String, String), Member> {
        entries.iter().map(|(name, member)| (((*name).to_owned(), "I".to_owned()), member.clone())).collect()
    }

    #[test]
    fn fields_are_found_in_superclasses_and_cells_are_shared() {
        let mut registry = Registry::default();
        let early = registry.cell(1, "a/Super", "count", "I");
        let cell = registry.cell(1, "a/Super", "count", "I");
        assert_eq!(early, cell);
        let in_scope = |name: &str| name.starts_with("a/");
        assert_eq!(registry.resolve(1, "a/Sub", "count", "I", in_scope), Resolved::NotLoaded);
        registry.add(1, "a/Sub", Some("a/Super"), members(&[]), FxHashSet::default());
        registry.add(
            1,
            "a/Super",
            Some("java/lang/Object"),
            members(&[("count", Member::Cell(cell))]),
            FxHashSet::default(),
        );
        assert_eq!(
            registry.resolve(1, "a/Sub", "count", "I", in_scope),
            Resolved::Known(1, Member::Cell(cell))
        );
        assert_eq!(registry.class(1).name, "a/Super");
        let inherits = |class, from| registry.inherits(1, class, from);
        assert!(inherits("a/Sub", "a/Sub") && inherits("a/Sub", "a/Super"));
        assert!(inherits("a/Sub", "java/lang/Object") && !inherits("a/Super", "a/Sub"));
        assert_eq!(registry.resolve(1, "a/Sub", "other", "I", in_scope), Resolved::Unwatched);
    }

    #[test]
    fn declaring_classes_of_unwatched_fields_are_found() {
        let mut registry = Registry::default();
        registry.add(1, "a/Sub", Some("a/Super"), members(&[]), FxHashSet::default());
        let items = members(&[("items", Member::Unwatched)]);
        registry.add(1, "a/Super", Some("java/lang/Object"), items, FxHashSet::default());
        assert_eq!(registry.declaring(1, "a/Sub", "items", "I"), Some(1));
        assert_eq!(registry.declaring(1, "a/Sub", "items", "J"), None);
        assert_eq!(registry.declaring(1, "b/Elsewhere", "items", "I"), None);
    }

    #[test]
    fn each_loader_sees_its_own_class() {
        let mut registry = Registry::default();
        registry.add(1, "a/A", None, members(&[("x", Member::Cell(1))]), FxHashSet::default());
        registry.add(2, "a/A", None, members(&[("x", Member::Cell(2))]), FxHashSet::default());
        let found = |loader| registry.resolve(loader, "a/A", "x", "I", |_| true);
        assert_eq!(found(2), Resolved::Known(1, Member::Cell(2)));
        assert_eq!(found(7), Resolved::Known(0, Member::Cell(1)));
        assert_eq!(registry.declared(2, "a/A", "x", "I"), Some(&Member::Cell(2)));
        assert_eq!(registry.declared(7, "a/A", "x", "I"), None);
    }
}
