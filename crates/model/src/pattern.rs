//! How users name classes: `com.acme.Account`, `Account`, `com.acme.*`, `com.acme..*`, `*Service`.
//!
//! - A pattern without a dot names a class by its simple name, in whatever package.
//! - `*` stands for any part of one name, `..` for any number of packages in between.
//! - A plain package name (`com.acme`) covers the package and everything below it.
//! - A class covers its nested classes: `com.acme.Account` matches `com.acme.Account$Entry`.

use std::{fmt, str::FromStr};

use serde::{Deserialize, Serialize};

/// A pattern over class names.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct Pattern {
    text: String,
}

/// Why a text is no pattern.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PatternError {
    /// The text that was given.
    pub text: String,
    /// What is wrong with it.
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
            Some("three dots in a row; use '..' for any packages in between")
        } else if text.starts_with('.') || text.ends_with('.') {
            Some("it starts or ends with a dot; to cover a package write 'com.acme..*'")
        } else if text.chars().any(|c| !(c.is_alphanumeric() || "_$.*".contains(c))) {
            Some("only names, dots, '$' and '*' may stand in it")
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
fn glob(text: &[u8], name: &[u8]) -> bool {
    match text {
        [] => name.is_empty(),
        [b'.', b'.', rest @ ..] => {
            // `a..b` covers `a.b` too: one dot of the name is all that `..` needs.
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
    fn patterns_cover_what_they_name() {
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

    #[test]
    fn nonsense_is_refused_with_a_reason() {
        for text in ["", "a...b", ".a", "a.", "a b", "a/b"] {
            assert!(text.parse::<Pattern>().is_err(), "{text}");
        }
    }
}
