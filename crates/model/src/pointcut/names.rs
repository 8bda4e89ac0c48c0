//! How the names of types are compared.

use crate::pattern::glob;

/// Whether a pattern of a name is the name of this type: with dots, nested classes with `$` or dots. A pattern without a dot means the
/// simple name.
pub(super) fn is_named(pattern: &str, name: &str) -> bool {
    let text = pattern.as_bytes();
    if pattern == "*" || glob(text, name.as_bytes()) {
        return true;
    }
    if name.contains('$') && glob(text, name.replace('$', ".").as_bytes()) {
        return true;
    }
    if let Some(rest) = pattern.strip_prefix("*..") {
        // `*..Account` means those without a package too.
        return is_named(rest, name) || glob(text, name.replace('$', ".").as_bytes());
    }
    !pattern.contains('.')
        && [name.rsplit('.').next(), name.rsplit(['.', '$']).next()]
            .into_iter()
            .flatten()
            .any(|simple| glob(text, simple.as_bytes()))
}

/// Whether the pattern says anything about a name.
pub(super) fn says_something(pattern: &str) -> bool {
    pattern.contains(|c: char| c != '*' && c != '.')
}

/// A type's element and how many dimensions of an array it has: `int[][]` is `int` and 2.
pub(super) fn element(name: &str) -> (&str, usize) {
    let element = name.trim_end_matches("[]");
    (element, (name.len() - element.len()) / 2)
}

/// Whether a type is no reference.
pub(super) fn is_primitive(name: &str) -> bool {
    matches!(name, "boolean" | "byte" | "char" | "short" | "int" | "long" | "float" | "double" | "void")
}
