//! A source line with carets below the word that the finding is about.

use std::ops::Range;

use fissure_model::finding::{Finding, Kind, Site};

use crate::{names, words};

/// A line of source as it is shown.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Excerpt {
    /// The line, cut to the width.
    line: String,
    /// The part that is marked.
    marked: Range<usize>,
}

impl Excerpt {
    /// The whole line.
    pub(crate) fn line(&self) -> &str {
        &self.line
    }

    /// The text before the marked part.
    pub(crate) fn before(&self) -> &str {
        &self.line[..self.marked.start]
    }

    /// The marked part.
    pub(crate) fn marked(&self) -> &str {
        &self.line[self.marked.clone()]
    }

    /// The text after the marked part.
    pub(crate) fn after(&self) -> &str {
        &self.line[self.marked.end..]
    }
}

/// The excerpt for a site of a finding from the text of its line.
pub(crate) fn excerpt(finding: &Finding, site: &Site, source: &str, width: usize) -> Excerpt {
    let line = words::source_line(source, width);
    for (word, mark) in words_to_mark(finding, site) {
        if let Some(marked) = find_word(&line, word, mark) {
            return Excerpt { marked, line };
        }
    }
    let start = line.len() - line.trim_start().len();
    let end = statement(&line).len().max(start);
    Excerpt { marked: start..end, line }
}

/// The occurrence of a word that is marked.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Mark {
    /// The first.
    First,
    /// The first that is assigned or updated.
    Written,
    /// The last that is not assigned: `balance = balance + 1` reads on the right.
    Read,
}

/// What a statement does with a variable.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Use {
    /// `x = …`
    Assigned,
    /// `x += …`, `x++`
    Updated,
    Other,
}

/// The words to mark, the most specific first, and which occurrence of each.
fn words_to_mark<'a>(finding: &'a Finding, site: &'a Site) -> Vec<(&'a str, Mark)> {
    match site.role.as_str() {
        "read" => vec![(accessed(finding, site), Mark::Read)],
        "write" => vec![(accessed(finding, site), Mark::Written)],
        "entered" => vec![("synchronized", Mark::First), (site.method.as_str(), Mark::First)],
        "acquire" | "acquired" | "reacquire" | "reacquired" | "interfere" | "interfered" => {
            vec![("synchronized", Mark::First), ("lock", Mark::First)]
        }
        role => match (role.split_once(' '), role.split('`').nth(1)) {
            (Some(("reads", _)), Some(name)) => vec![(name, Mark::Read)],
            (Some(("writes", _)), Some(name)) => vec![(name, Mark::Written)],
            (Some(("calls", _)), Some(call)) => {
                let (receiver, called) = call.rsplit_once('.').unwrap_or(("", call));
                vec![(call, Mark::First), (called, Mark::First), (receiver, Mark::First)]
            }
            _ => Vec::new(),
        },
    }
}

/// The field that is accessed at a site. A violation of an atomic set has one field per site.
fn accessed<'a>(finding: &'a Finding, site: &Site) -> &'a str {
    if finding.kind != Kind::AtomicSetViolation {
        return names::member(&finding.subject);
    }
    let index = finding.sites.iter().position(|other| std::ptr::eq(other, site));
    let access = index.and_then(|index| finding.accesses.get(index));
    // The name of an array element is the field followed by an index.
    access.map_or("", |access| names::member(&access.field).split('[').next().unwrap_or_default())
}

/// The position of a whole word in a line.
fn find_word(line: &str, word: &str, mark: Mark) -> Option<Range<usize>> {
    if word.is_empty() {
        return None;
    }
    let code = statement(line);
    let whole: Vec<Range<usize>> = code
        .match_indices(word)
        .map(|(at, _)| at..at + word.len())
        .filter(|at| {
            let before = code[..at.start].chars().next_back();
            let after = code[at.end..].chars().next();
            !before.is_some_and(is_part) && !after.is_some_and(is_part)
        })
        .collect();
    let is_written = |at: &&Range<usize>| use_of(code, at) != Use::Other;
    let is_read = |at: &&Range<usize>| use_of(code, at) != Use::Assigned;
    let found = match mark {
        Mark::First => whole.first(),
        Mark::Written => whole.iter().find(is_written).or(whole.first()),
        Mark::Read => whole.iter().rev().find(is_read).or(whole.last()),
    };
    found.cloned()
}

/// Whether a character can be part of a name.
fn is_part(c: char) -> bool {
    c.is_alphanumeric() || c == '_' || c == '$'
}

/// What the code does with the variable whose name is at a position.
fn use_of(code: &str, at: &Range<usize>) -> Use {
    const UPDATES: [&str; 13] =
        ["++", "--", "+=", "-=", "*=", "/=", "%=", "&=", "|=", "^=", "<<=", ">>=", ">>>="];
    let after = after_indices(&code[at.end..]);
    let is_qualifier = |c: char| is_part(c) || c == '.';
    let before = code[..at.start].trim_end_matches(is_qualifier).trim_end();
    if UPDATES.iter().any(|update| after.starts_with(update))
        || before.ends_with("++")
        || before.ends_with("--")
    {
        Use::Updated
    } else if after.starts_with('=') && !after.starts_with("==") {
        Use::Assigned
    } else {
        Use::Other
    }
}

/// The code after the indices of an array element: `[i][j]`.
fn after_indices(code: &str) -> &str {
    let mut rest = code.trim_start();
    while rest.starts_with('[') {
        let mut depth = 0;
        let end = rest.find(|c: char| {
            depth += i32::from(c == '[') - i32::from(c == ']');
            depth == 0
        });
        match end {
            Some(end) => rest = rest[end + 1..].trim_start(),
            None => return "",
        }
    }
    rest
}

/// The line without a comment at its end.
fn statement(line: &str) -> &str {
    // Slashes inside a string literal are rare and do little harm: fewer carets are shown.
    let code = line.split(" //").next().unwrap_or(line).trim_end();
    if code.trim().is_empty() { line } else { code }
}

#[cfg(test)]
mod tests {
    use fissure_model::finding::Status;

    use super::*;

    fn check(role: &str, source: &str, expected: &str) {
        let finding = Finding::new(Kind::DataRace, Status::Warning, "racer", "com.acme.Account.balance");
        let site = Site {
            role: role.to_owned(),
            thread: "T".to_owned(),
            class: "com.acme.Account".to_owned(),
            method: "deposit".to_owned(),
            file: None,
            line: None,
            stack: Vec::new(),
            locks: Vec::new(),
        };
        let excerpt = excerpt(&finding, &site, source, 80);
        let column = |text: &str| words::columns(text);
        let carets = " ".repeat(column(excerpt.before())) + &"^".repeat(column(excerpt.marked()));
        assert_eq!(carets, expected, "{role} in {source}");
        assert_eq!([excerpt.before(), excerpt.marked(), excerpt.after()].concat(), excerpt.line());
    }

    #[test]
    fn carets_mark_the_accessed_word() {
        check("write", "  balance = balance + x;", "  ^^^^^^^");
        check("read", "  balance = balance + x;", "            ^^^^^^^");
        check("read", "  sum(rebalance, balance2); // balance", "  ^^^^^^^^^^^^^^^^^^^^^^^^^");
        check("write", "  ä.balance++;", "    ^^^^^^^");
        check("write", "口座.balance = 残高;", "     ^^^^^^^");
        check("entered", "  void deposit(int x) {", "       ^^^^^^^");
        check("entered", "  synchronized void deposit() {", "  ^^^^^^^^^^^^");
        check("other", "\tfoo();  ", "    ^^^^^^");
        check("other", "// only", "^^^^^^^");
    }

    #[test]
    fn carets_tell_a_write_from_a_read() {
        check("write", "this.balance = other.balance;", "     ^^^^^^^");
        check("read", "this.balance = other.balance;", "                     ^^^^^^^");
        check("write", "if (balance == 0) balance = 1;", "                  ^^^^^^^");
        check("read", "if (balance == 0) balance = 1;", "    ^^^^^^^");
        check("write", "int old = balance; balance = old + 1;", "                   ^^^^^^^");
        check("read", "int old = balance; balance = old + 1;", "          ^^^^^^^");
        check("write", "log(balance, ++this.balance);", "                    ^^^^^^^");
        check("write", "sum = balance <= 1 ? 0 : (balance >>= 1);", "                          ^^^^^^^");
        check("write", "x = balance[i]; balance[a[i]] [j] = x;", "                ^^^^^^^");
        check("read", "balance += x;", "^^^^^^^");
        check("read", "balance = x;", "^^^^^^^");
        check("write", "add(balance);", "    ^^^^^^^");
    }
}
