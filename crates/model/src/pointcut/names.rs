//! Comparison of patterns with the names of types.

use crate::pattern::glob;

/// Whether a pattern matches the name of this type. The name has dots; a nested class matches with `$` or with dots. A pattern without a
/// dot is compared with the simple name.
pub(super) fn is_named(pattern: &str, name: &str) -> bool {
    let text = pattern.as_bytes();
    if pattern == "*" || glob(text, name.as_bytes()) {
        return true;
    }
    if name.contains('$') && glob(text, name.replace('$', ".").as_bytes()) {
        return true;
    }
    if let Some(rest) = pattern.strip_prefix("*..") {
        // `*..Account` includes `Account` without a package.
        return is_named(rest, name) || glob(text, name.replace('$', ".").as_bytes());
    }
    !pattern.contains('.')
        && [name.rsplit('.').next(), name.rsplit(['.', '$']).next()]
            .into_iter()
            .flatten()
            .any(|simple| glob(text, simple.as_bytes()))
}

/// Whether the pattern contains more than wildcards, so that it restricts a name.
pub(super) fn says_something(pattern: &str) -> bool {
    pattern.contains(|c: char| c != '*' && c != '.')
}

/// The element type and the number of array dimensions of a type: `int[][]` is `int` and 2.
pub(super) fn element(name: &str) -> (&str, usize) {
    let element = name.trim_end_matches("[]");
    (element, (name.len() - element.len()) / 2)
}

/// Whether a type is primitive or `void`, not a reference type.
pub(super) fn is_primitive(name: &str) -> bool {
    matches!(name, "boolean" | "byte" | "char" | "short" | "int" | "long" | "float" | "double" | "void")
}
