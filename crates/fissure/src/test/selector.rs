//! Which tests the user names on the command line.

use std::str::FromStr;

use super::listing::Test;

/// A part of the tests.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Selector {
    /// A tag, and nothing else: `tag:slow`.
    Tag(String),
    /// A pattern for classes, which may be the name of a tag as well, and a pattern for methods.
    Name { class: String, method: Option<String> },
}

impl FromStr for Selector {
    type Err = std::convert::Infallible;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        if let Some(tag) = text.strip_prefix("tag:") {
            return Ok(Selector::Tag(tag.to_owned()));
        }
        let (class, method) = match text.split_once('#') {
            Some((class, method)) => (class, Some(method.trim_end_matches("()").to_owned())),
            None => (text, None),
        };
        Ok(Selector::Name { class: class.to_owned(), method })
    }
}

impl Selector {
    /// Whether a test is meant.
    pub(crate) fn matches(&self, test: &Test) -> bool {
        match self {
            Selector::Tag(tag) => test.tags.contains(tag),
            Selector::Name { class, method: None } => {
                is_class(class, &test.class) || test.tags.contains(class)
            }
            Selector::Name { class, method: Some(method) } => {
                is_class(class, &test.class) && (is_like(method, &test.method) || is_like(method, &test.name))
            }
        }
    }

    /// The class that is named with its package, if there is one: it may be in a jar.
    pub(crate) fn class(&self) -> Option<&str> {
        match self {
            Selector::Name { class, .. } if class.contains('.') && !class.contains('*') => Some(class),
            _ => None,
        }
    }
}

/// Whether a pattern means a class: by its name with or without the package, or by its package. A nested class is meant with its outer one.
fn is_class(pattern: &str, class: &str) -> bool {
    if let Some(package) = pattern.strip_suffix("..*") {
        return class.strip_prefix(package).is_some_and(|rest| rest.starts_with('.'));
    }
    let names = |class: &str| {
        let simple = class.rsplit('.').next().unwrap_or_default();
        if pattern.contains('.') { is_like(pattern, class) } else { is_like(pattern, simple) }
    };
    let mut outer = class;
    loop {
        if names(outer) {
            return true;
        }
        match outer.rsplit_once('$') {
            Some((longer, _)) => outer = longer,
            None => return false,
        }
    }
}

/// Whether a name fits a pattern, in which `*` stands for any characters but dots.
fn is_like(pattern: &str, name: &str) -> bool {
    let Some((start, rest)) = pattern.split_once('*') else { return pattern == name };
    let Some(mut left) = name.strip_prefix(start) else { return false };
    loop {
        if is_like(rest, left) {
            return true;
        }
        let mut characters = left.chars();
        match characters.next() {
            Some(character) if character != '.' => left = characters.as_str(),
            _ => return false,
        }
    }
}

/// The names of tests that are most like one that does not exist.
pub(crate) fn nearest(wanted: &str, tests: &[Test]) -> String {
    let wanted = wanted.to_lowercase();
    let part = wanted.split('#').next().unwrap_or_default();
    let part = part.rsplit('.').find(|part| !part.is_empty() && *part != "*").unwrap_or_default();
    let mut names: Vec<&str> = tests.iter().map(|test| test.class.as_str()).collect();
    names.sort_unstable();
    names.dedup();
    let shared = |name: &str| {
        let name = name.rsplit('.').next().unwrap_or_default().to_lowercase();
        let length = part.chars().zip(name.chars()).take_while(|(a, b)| a == b).count();
        let is_inside = !part.is_empty() && name.contains(part);
        length + if is_inside { 100 } else { 0 }
    };
    names.sort_by_key(|name| std::cmp::Reverse(shared(name)));
    names.truncate(3);
    names.join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn test(class: &str, method: &str, tags: &[&str]) -> Test {
        Test {
            class: class.to_owned(),
            method: method.to_owned(),
            name: format!("{method}()"),
            tags: tags.iter().map(|tag| (*tag).to_owned()).collect(),
            ..Test::default()
        }
    }

    fn check(selector: &str, expected: bool) {
        let selector: Selector = selector.parse().unwrap();
        let subject = test("com.acme.pool.PoolTest$Closed", "lends", &["slow"]);
        assert_eq!(selector.matches(&subject), expected, "{selector:?}");
    }

    #[test]
    fn tests_are_selected_by_class_method_package_and_tag() {
        for selector in [
            "PoolTest",
            "Pool*",
            "PoolTest$Closed",
            "com.acme.pool.PoolTest",
            "com.acme.pool.*",
            "com.acme..*",
            "PoolTest#lends",
            "PoolTest#lends()",
            "*Test#l*s",
            "slow",
            "tag:slow",
        ] {
            check(selector, true);
        }
        for selector in [
            "Pool",
            "com.acme.*",
            "com.acme.pool..*x",
            "com.acm..*",
            "PoolTest#gives",
            "OtherTest#lends",
            "fast",
            "tag:PoolTest",
        ] {
            check(selector, false);
        }
    }

    #[test]
    fn names_that_are_nearly_right_are_suggested() {
        let tests =
            [test("a.AccountTest", "x", &[]), test("a.PoolTest", "x", &[]), test("b.Other", "x", &[])];
        assert!(nearest("PoolTests", &tests).starts_with("a.PoolTest"));
        assert!(nearest("a.account", &tests).starts_with("a.AccountTest"));
    }
}
