//! A source line with carets below the word that the finding is about.

use fissure_model::finding::{Finding, Kind, Site};

use crate::{names, words};

/// A line of source as it is shown.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Excerpt {
    /// The line, cut to the width.
    pub(crate) line: String,
    /// Columns before the first caret.
    pub(crate) start: usize,
    /// How many carets.
    pub(crate) length: usize,
}

/// The excerpt for a site of a finding from the text of its line.
pub(crate) fn excerpt(finding: &Finding, site: &Site, source: &str, width: usize) -> Excerpt {
    let line = words::source_line(source, width);
    for (word, last) in words_to_mark(finding, site) {
        if let Some(start) = find_word(&line, word, last) {
            return Excerpt { start, length: word.chars().count(), line };
        }
    }
    let start = line.chars().take_while(|c| c.is_whitespace()).count();
    let length = statement(&line).chars().count().saturating_sub(start).max(1);
    Excerpt { line, start, length }
}

/// The words to mark, the most specific first, and for each whether to mark its last occurrence.
fn words_to_mark<'a>(finding: &'a Finding, site: &'a Site) -> Vec<(&'a str, bool)> {
    match site.role.as_str() {
        // `balance = balance + 1` writes on the left and reads on the right.
        "read" | "write" => vec![(accessed(finding, site), site.role == "read")],
        "entered" => vec![("synchronized", false), (site.method.as_str(), false)],
        "acquire" | "acquired" | "reacquire" | "reacquired" | "interfere" | "interfered" => {
            vec![("synchronized", false), ("lock", false)]
        }
        _ => Vec::new(),
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

/// The position of a whole word in a line, counted in characters.
fn find_word(line: &str, word: &str, last: bool) -> Option<usize> {
    if word.is_empty() {
        return None;
    }
    let part = |c: char| c.is_alphanumeric() || c == '_' || c == '$';
    let code = statement(line);
    let mut whole = code.match_indices(word).filter(|(at, _)| {
        let before = code[..*at].chars().next_back();
        let after = code[at + word.len()..].chars().next();
        !before.is_some_and(part) && !after.is_some_and(part)
    });
    let found = if last { whole.last() } else { whole.next() };
    found.map(|(at, _)| code[..at].chars().count())
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
        let carets = " ".repeat(excerpt.start) + &"^".repeat(excerpt.length);
        assert_eq!(carets, expected, "{role} in {source}");
    }

    #[test]
    fn carets_mark_the_accessed_word() {
        check("write", "  balance = balance + x;", "  ^^^^^^^");
        check("read", "  balance = balance + x;", "            ^^^^^^^");
        check("read", "  sum(rebalance, balance2); // balance", "  ^^^^^^^^^^^^^^^^^^^^^^^^^");
        check("write", "  ä.balance++;", "    ^^^^^^^");
        check("entered", "  void deposit(int x) {", "       ^^^^^^^");
        check("entered", "  synchronized void deposit() {", "  ^^^^^^^^^^^^");
        check("other", "\tfoo();  ", "    ^^^^^^");
        check("other", "// only", "^^^^^^^");
    }
}
