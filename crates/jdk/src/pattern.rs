//! Patterns of the names of classes and methods.

/// A pattern of class names.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ClassPattern {
    text: &'static str,
    /// The part before the first `*`.
    begin: &'static str,
    /// The part after `begin`.
    rest: &'static str,
}

impl ClassPattern {
    /// Reads a pattern.
    pub(crate) fn new(text: &'static str) -> Result<Self, String> {
        if text.contains('/') {
            return Err(format!("class names are written with dots: {text}"));
        }
        let (begin, rest) = text.split_at(text.find('*').unwrap_or(text.len()));
        Ok(ClassPattern { text, begin, rest })
    }

    /// The pattern as the data file has it.
    pub fn text(&self) -> &'static str {
        self.text
    }

    /// The name of the class, if the pattern is one.
    pub fn name(&self) -> Option<&'static str> {
        self.rest.is_empty().then_some(self.text)
    }

    /// Whether a class has such a name. Its name may have dots or slashes.
    pub fn matches(&self, class: &str) -> bool {
        let class = class.as_bytes();
        let (begin, rest) = (self.begin.as_bytes(), self.rest.as_bytes());
        match class.split_at_checked(begin.len()) {
            Some((head, tail)) if is_same(begin, head) => match rest {
                b"" => tail.is_empty(),
                b"**" => true,
                b"*" => !tail.iter().any(|byte| is_separator(*byte)),
                _ => matches_glob(rest, tail),
            },
            _ => false,
        }
    }
}

fn is_separator(byte: u8) -> bool {
    matches!(byte, b'.' | b'/')
}

/// Whether both are the same up to dots and slashes.
fn is_same(pattern: &[u8], name: &[u8]) -> bool {
    pattern.iter().zip(name).all(|(pattern, name)| pattern == name || *pattern == b'.' && *name == b'/')
}

/// Whether a name matches a pattern with stars. Patterns are short, so trying all positions is no problem.
fn matches_glob(pattern: &[u8], name: &[u8]) -> bool {
    match pattern {
        [] => name.is_empty(),
        [b'*', b'*', rest @ ..] => (0..=name.len()).any(|skipped| matches_glob(rest, &name[skipped..])),
        [b'*', rest @ ..] => {
            let end = name.iter().position(|byte| is_separator(*byte)).unwrap_or(name.len());
            (0..=end).any(|skipped| matches_glob(rest, &name[skipped..]))
        }
        [first, rest @ ..] => name
            .split_first()
            .is_some_and(|(head, tail)| is_same(&[*first], &[*head]) && matches_glob(rest, tail)),
    }
}

/// A pattern of method names, and of descriptors if it has one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct MethodPattern {
    /// The pattern of names.
    pub name: &'static str,
    /// The pattern of descriptors; `None` for any.
    pub descriptor: Option<&'static str>,
}

impl MethodPattern {
    /// Reads a pattern.
    pub(crate) fn new(text: &'static str) -> Result<Self, String> {
        let (name, descriptor) = match text.find('(') {
            Some(at) => (&text[..at], Some(&text[at..])),
            None => (text, None),
        };
        match descriptor {
            Some(descriptor) if !descriptor.contains(')') => {
                Err(format!("the descriptor lacks its `)`: {text}"))
            }
            _ => Ok(MethodPattern { name, descriptor }),
        }
    }

    /// Whether the pattern is a name and not one of many.
    pub fn is_name(&self) -> bool {
        !self.name.contains('*')
    }

    /// Whether a method has such a name.
    pub fn names(&self, name: &str) -> bool {
        matches_text(self.name.as_bytes(), name.as_bytes())
    }

    /// Whether a method has such a name and descriptor.
    pub fn matches(&self, name: &str, descriptor: &str) -> bool {
        self.names(name)
            && self.descriptor.is_none_or(|pattern| matches_text(pattern.as_bytes(), descriptor.as_bytes()))
    }
}

/// Whether a text matches a pattern in which `*` stands for any characters.
pub(crate) fn matches_text(pattern: &[u8], text: &[u8]) -> bool {
    match pattern.iter().position(|byte| *byte == b'*') {
        None => pattern == text,
        Some(star) => {
            let rest = &pattern[star + 1..];
            text.starts_with(&pattern[..star])
                && (rest.is_empty() || (star..=text.len()).any(|at| matches_text(rest, &text[at..])))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(pattern: &'static str, class: &str, expected: bool) {
        let found = ClassPattern::new(pattern).unwrap();
        for class in [class.to_owned(), class.replace('.', "/")] {
            assert_eq!(found.matches(&class), expected, "{pattern} on {class}");
        }
    }

    #[test]
    fn stars_stand_for_parts_of_class_names() {
        check("java.util.List", "java.util.List", true);
        check("java.util.List", "java.util.ListIterator", false);
        check("java.util.Calendar*", "java.util.Calendar$Builder", true);
        check("java.util.*", "java.util.Vector", true);
        check("java.util.*", "java.util.jar.JarFile", false);
        check("java.util.**", "java.util.jar.JarFile", true);
        check("java.**Exception", "java.sql.SQLException", true);
        check("java.**Exception", "java.sql.SQLExceptions", false);
        check("java.lang.invoke.VarHandle*$Array", "java.lang.invoke.VarHandleInts$Array", true);
        check("java.lang.invoke.VarHandle*$Array", "java.lang.invoke.VarHandles", false);
        check("java.util.List", "javaXutil.List", false);
    }

    #[test]
    fn methods_are_named_with_or_without_a_descriptor() {
        let check = |pattern: &'static str, name: &str, descriptor: &str, expected: bool| {
            let found = MethodPattern::new(pattern).unwrap();
            assert_eq!(found.matches(name, descriptor), expected, "{pattern} on {name}{descriptor}");
        };
        check("get", "get", "()I", true);
        check("get", "getAll", "()I", false);
        check("get*", "getAll", "()I", true);
        check("*Value", "intValue", "()I", true);
        check("get*Instance", "getInstance", "()I", true);
        check("lock()V", "lock", "()V", true);
        check("lock()V", "lock", "(J)V", false);
        check("*(*)Ljava/lang/Thread;", "getOwner", "()Ljava/lang/Thread;", true);
        check("doPrivileged(*Action;)*", "doPrivileged", "(LAction;)LObject;", true);
        check("doPrivileged(*Action;)*", "doPrivileged", "(LAction;LContext;)LObject;", false);
    }
}
