//! Thread-unsafe objects of classes outside of the application. A call of such an object is one access as long as no other thread
//! interferes, but many accesses inside. If threads use such an object without a common lock, later runs instrument its class. They also
//! do so if the program uses a wrapper of such an object, because library code may reach the object without the wrapper's lock, on behalf of
//! a call that the program makes on another object: `mine.containsAll(wrapper)`.

/// The classes whose code works on an object that the program calls.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Parts {
    /// The classes, most derived first; empty if they are not to be instrumented.
    pub classes: Vec<String>,
    /// Whether they are those of an object that the called one wraps.
    pub is_wrapped: bool,
}

/// What a front end knows about the classes of its platform.
#[derive(Debug, Clone, Copy)]
pub struct ThreadUnsafe {
    /// Whether a class is not instrumented: it is thread-safe, has no state, delegates to another object, or the platform itself depends on
    /// it.
    pub is_excluded: fn(&str) -> bool,
    /// The class of the object that a class delegates to, if it does.
    pub delegate_of: fn(&str) -> Option<&'static str>,
}

impl ThreadUnsafe {
    /// The classes whose code works on an object, most derived first; empty if the object is not to be instrumented. `classes` are the
    /// object's class and its superclasses, each with whether it is instrumented anyway, without the root of all classes.
    pub fn parts(&self, classes: impl Iterator<Item = (String, bool)>) -> Vec<String> {
        let mut parts = Vec::new();
        for (class, is_instrumented) in classes {
            if parts.is_empty() && (self.is_excluded)(&class) {
                break;
            }
            if !is_instrumented {
                self.add(&mut parts, &class);
            }
        }
        parts
    }

    fn add(&self, parts: &mut Vec<String>, class: &str) {
        // Inner classes work on the fields of their outer class.
        let outer = class.split('$').next().unwrap_or(class);
        parts.push(outer.to_owned());
        parts.extend((self.delegate_of)(outer).map(str::to_owned));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_thread_unsafe_classes_are_instrumented() {
        let known = ThreadUnsafe {
            is_excluded: |class| class.starts_with("safe."),
            delegate_of: |class| (class == "plain.Set").then_some("plain.Map"),
        };
        let check = |classes: &[(&str, bool)], expected: &[&str]| {
            let classes =
                classes.iter().map(|(class, is_instrumented)| ((*class).to_owned(), *is_instrumented));
            assert_eq!(known.parts(classes), expected);
        };
        check(&[("plain.List", false), ("plain.Base", false)], &["plain.List", "plain.Base"]);
        check(&[("plain.List$Part", false)], &["plain.List"]);
        check(&[("plain.Set", false)], &["plain.Set", "plain.Map"]);
        check(&[("safe.List", false), ("plain.Base", false)], &[]);
        check(&[("own.List", true), ("plain.List", false)], &["plain.List"]);
        // A class that the application derives from a thread-safe one.
        check(&[("own.List", true), ("safe.List", false), ("plain.Base", false)], &[]);
        check(&[("plain.List", false), ("safe.Base", false)], &["plain.List", "safe.Base"]);
    }
}
