//! The watched classes and where the state of their fields is kept.

use rustc_hash::{FxHashMap, FxHashSet};

/// How one field of a watched class is followed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Member {
    /// An instance field with a shadow of this descriptor beside it, at this offset once it is known.
    Shadowed { descriptor: &'static str, offset: Option<i32> },
    /// A static field whose state is in this cell.
    Cell(u32),
    /// A field that a monitor may ask about.
    Observed,
    /// Volatile.
    Volatile,
    /// Nothing is kept for it: every access is told.
    Point,
    /// Final, or in a class that had to be left alone.
    Unwatched,
}

/// What a field reference leads to.
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
    /// Those of the members that are volatile.
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

    /// Whether this is the class of that name and loader.
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

/// Static fields beyond this number are not watched.
pub(crate) const MOST_CELLS: u32 = 1 << 20;

impl Registry {
    /// The cell of a static field. Whoever refers to it first, the class itself or another one, makes it.
    pub(crate) fn cell(&mut self, loader: i64, class: &str, name: &str, descriptor: &str) -> u32 {
        let next = self.cells.len() as u32 + 1;
        let key = (loader, class.to_owned(), name.to_owned(), descriptor.to_owned());
        *self.cells.entry(key).or_insert(if next < MOST_CELLS { next } else { MOST_CELLS - 1 })
    }

    /// Takes note of a class that was rewritten. A class that is defined anew replaces its predecessor.
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

    /// How a field that a class declares is followed; nothing if the class is not known.
    pub(crate) fn declared(&self, loader: i64, class: &str, name: &str, descriptor: &str) -> Option<&Member> {
        let number =
            self.by_name.get(class)?.iter().find(|&&number| self.classes[number].loader == loader)?;
        self.classes[*number].members.get(&(name.to_owned(), descriptor.to_owned()))
    }

    /// The fields that a class declares and that have a shadow beside them, with its descriptor.
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

    /// Finds the field that a reference in a class of `loader` means, up the superclasses. `in_scope` tells whether
    /// a class that is not known will be watched once it is loaded.
    pub(crate) fn resolve(
        &self,
        loader: i64,
        class: &str,
        name: &str,
        descriptor: &str,
        in_scope: impl Fn(&str) -> bool,
    ) -> Resolved {
        let mut class = class.to_owned();
        // A chain longer than this is a circle of classes that the JVM will refuse.
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

    /// The class in scope that declares a field, watched or not, as a class of `loader` sees it by this class.
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

    /// Whether a class, as a class of `loader` sees it, is another one or inherits from it.
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

    /// Remembers where the shadow of a field lies.
    pub(crate) fn set_offset(&mut self, number: usize, name: &str, descriptor: &str, offset: i32) {
        let key = (name.to_owned(), descriptor.to_owned());
        if let Some(Member::Shadowed { offset: known, .. }) =
            self.classes.get_mut(number).and_then(|class| class.members.get_mut(&key))
        {
            *known = Some(offset);
        }
    }

    /// The class of that name that a class of `loader` sees: one of the same loader, or else the first known.
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
    fn fields_that_are_not_watched_are_declared_all_the_same() {
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
