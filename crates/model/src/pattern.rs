//! Patterns by which users name classes and methods: `com.acme.Account`, `Account`, `com.acme.*`, `com.acme..*`, `*Service`.
//!
//! - A pattern without a dot names a class by its simple name, in any package.
//! - `*` stands for any part of one name, `..` for any number of packages.
//! - A plain package name (`com.acme`) covers the package and everything below it.
//! - A class covers its nested classes: `com.acme.Account` matches `com.acme.Account$Entry`.
//! - As a pattern of methods, a class or package stands for all of its methods, and `Account.transfer` for one method.

use std::{fmt, str::FromStr};

use serde::{Deserialize, Serialize};

/// A pattern over class names.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct Pattern {
    text: String,
}

/// Why a text is not a valid pattern.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PatternError {
    /// The text that was given.
    pub text: String,
    /// The problem.
    pub problem: &'static str,
}

impl fmt::Display for PatternError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "'{}' is no class pattern: {}", self.text, self.problem)
    }
}

impl std::error::Error for PatternError {}

impl FromStr for Pattern {
    type Err = PatternError;

    fn from_str(text: &str) -> Result<Self, PatternError> {
        let problem = if text.is_empty() {
            Some("it is empty")
        } else if text.contains("...") {
            Some("three dots in a row; use '..' to match any packages")
        } else if text.starts_with('.') || text.ends_with('.') {
            Some("it starts or ends with a dot; to cover a package write 'com.acme..*'")
        } else if text.chars().any(|c| !(c.is_alphanumeric() || "_$.*".contains(c))) {
            Some("it may contain only names, dots, '$' and '*'")
        } else {
            None
        };
        match problem {
            Some(problem) => Err(PatternError { text: text.to_owned(), problem }),
            None => Ok(Pattern { text: text.to_owned() }),
        }
    }
}

impl TryFrom<String> for Pattern {
    type Error = PatternError;

    fn try_from(text: String) -> Result<Self, PatternError> {
        text.parse()
    }
}

impl From<Pattern> for String {
    fn from(pattern: Pattern) -> String {
        pattern.text
    }
}

impl fmt::Display for Pattern {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

impl Pattern {
    /// Whether the pattern covers a class, given with dots (`com.acme.Account$Entry`).
    pub fn matches(&self, class: &str) -> bool {
        let text = self.text.as_str();
        if !text.contains('.') {
            let simple = class.rsplit('.').next().unwrap_or(class);
            if covers(text, simple) {
                return true;
            }
        }
        covers(text, class)
    }

    /// Whether the pattern covers a method: by its class, or by both names.
    pub fn matches_method(&self, class: &str, method: &str) -> bool {
        self.matches(class) || self.names_method(class, method)
    }

    /// Whether the pattern names the method itself and not only its class.
    pub fn names_method(&self, class: &str, method: &str) -> bool {
        let Some((of, name)) = self.text.rsplit_once('.') else { return false };
        // The first part of `a..b` still ends with a dot.
        let of = of.strip_suffix('.').unwrap_or(of);
        !of.is_empty()
            && glob(name.as_bytes(), method.as_bytes())
            && Pattern { text: of.to_owned() }.matches_exactly(class)
    }

    /// Whether the pattern is the name of this class and not of a package or class around it.
    fn matches_exactly(&self, class: &str) -> bool {
        let simple = class.rsplit(['.', '$']).next().unwrap_or(class);
        let text = self.text.as_bytes();
        glob(text, class.as_bytes())
            || !self.text.contains('.')
                && (glob(text, simple.as_bytes())
                    || class.rsplit('.').next().is_some_and(|nested| glob(text, nested.as_bytes())))
    }
}

/// Whether `text` covers `name` itself, a class nested in it, or a class in the package it names.
fn covers(text: &str, name: &str) -> bool {
    if glob(text.as_bytes(), name.as_bytes()) {
        return true;
    }
    name.char_indices()
        .filter(|&(at, c)| at > 0 && (c == '$' || c == '.'))
        .any(|(at, _)| glob(text.as_bytes(), &name.as_bytes()[..at]))
}

/// Matches `*` within one name and `..` across packages.
pub(crate) fn glob(text: &[u8], name: &[u8]) -> bool {
    match text {
        [] => name.is_empty(),
        [b'.', b'.', rest @ ..] => {
            // `..` matches a single dot as well: `a..b` covers `a.b`.
            name.first() == Some(&b'.') && glob_after_dots(rest, name)
        }
        [b'*', rest @ ..] => {
            let end = name.iter().position(|&c| c == b'.').unwrap_or(name.len());
            (0..=end).any(|at| glob(rest, &name[at..]))
        }
        [c, rest @ ..] => name.first() == Some(c) && glob(rest, &name[1..]),
    }
}

fn glob_after_dots(rest: &[u8], name: &[u8]) -> bool {
    (0..name.len()).any(|at| name[at] == b'.' && glob(rest, &name[at + 1..]))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(pattern: &str, class: &str, expected: bool) {
        let pattern: Pattern = pattern.parse().unwrap();
        assert_eq!(pattern.matches(class), expected, "{pattern} on {class}");
    }

    #[test]
    fn patterns_cover_the_classes_they_name() {
        check("com.acme.Account", "com.acme.Account", true);
        check("com.acme.Account", "com.acme.Account$Entry", true);
        check("com.acme.Account", "com.acme.Accounts", false);
        check("Account", "com.acme.Account", true);
        check("Account", "Account", true);
        check("Account", "com.acme.Account$Entry", true);
        check("com.acme", "com.acme.deep.Account", true);
        check("com.acme.*", "com.acme.Account", true);
        check("com.acme..*", "com.acme.Account", true);
        check("com.acme..*", "com.acme.deep.down.Account", true);
        check("com.acme..*", "com.acmes.Account", false);
        check("com..Account", "com.acme.Account", true);
        check("*Service", "com.acme.UserService", true);
        check("com.*.Account", "com.acme.Account", true);
        check("com.*.Account", "com.acme.deep.Account", false);
    }

    fn check_method(pattern: &str, class: &str, method: &str, expected: (bool, bool)) {
        let pattern: Pattern = pattern.parse().unwrap();
        let found = (pattern.matches_method(class, method), pattern.names_method(class, method));
        assert_eq!(found, expected, "{pattern} on {class}.{method}");
    }

    #[test]
    fn methods_are_named_by_themselves_or_by_their_class() {
        check_method("com.acme.Account.transfer", "com.acme.Account", "transfer", (true, true));
        check_method("Account.transfer", "com.acme.Account", "transfer", (true, true));
        check_method("Account.transfer", "com.acme.Bank$Account", "transfer", (true, true));
        check_method("Account.transfer", "com.acme.Account", "close", (false, false));
        check_method("Account.trans*", "com.acme.Account", "transfer", (true, true));
        check_method("*.transfer", "Account", "transfer", (true, true));
        check_method("com.acme.Account", "com.acme.Account", "transfer", (true, false));
        check_method("Account", "com.acme.Account", "transfer", (true, false));
        check_method("com.acme..*", "com.acme.deep.Account", "transfer", (true, false));
        check_method("com.acme.*", "com.acme.Account", "transfer", (true, false));
        check_method("com.acme.transfer", "com.acme.Account", "transfer", (false, false));
    }

    #[test]
    fn invalid_patterns_are_refused_with_a_reason() {
        for text in ["", "a...b", ".a", "a.", "a b", "a/b"] {
            assert!(text.parse::<Pattern>().is_err(), "{text}");
        }
    }
}
