//! Small helpers for readable sentences: counts, lists, wrapping, and text that is safe to print.

use std::borrow::Cow;

use textwrap::{Options, WordSeparator, WordSplitter, WrapAlgorithm};
use unicode_width::{UnicodeWidthChar, UnicodeWidthStr};

/// `1 JVM`, `2 JVMs`, `1,234 locations`.
pub(crate) fn count(number: u64, one: &str, many: &str) -> String {
    format!("{} {}", thousands(number), if number == 1 { one } else { many })
}

/// `once`, `twice`, `1,234 times`.
pub(crate) fn times(count: u64) -> String {
    match count {
        1 => "once".to_owned(),
        2 => "twice".to_owned(),
        more => format!("{} times", thousands(more)),
    }
}

/// A number with a comma between groups of three digits.
pub fn thousands(number: u64) -> String {
    let digits = number.to_string();
    let mut text = String::with_capacity(digits.len() + digits.len() / 3);
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// `a`, `a and b`, `a, b and c`.
pub(crate) fn list(items: &[String]) -> String {
    match items {
        [] => String::new(),
        [one] => one.clone(),
        [most @ .., last] => format!("{} and {last}", most.join(", ")),
    }
}

/// The end of a text in at most so many columns.
pub(crate) fn cut_left(text: &str, width: usize) -> String {
    if columns(text) <= width {
        return text.to_owned();
    }
    let mut kept: Vec<char> = Vec::new();
    let mut room = width.saturating_sub(1);
    for c in text.chars().rev() {
        let Some(left) = room.checked_sub(c.width().unwrap_or_default()) else { break };
        room = left;
        kept.push(c);
    }
    kept.push('…');
    kept.into_iter().rev().collect()
}

/// Text of the program under test, made safe for a terminal: control characters and characters that change the text
/// direction are escaped.
pub(crate) fn clean(text: &str) -> String {
    let mut cleaned = String::with_capacity(text.len());
    for c in text.chars() {
        if needs_escape(c) {
            cleaned.extend(c.escape_default());
        } else {
            cleaned.push(c);
        }
    }
    cleaned
}

/// Whether a character is a control character or changes the text direction.
fn needs_escape(c: char) -> bool {
    let direction = matches!(c, '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}');
    c.is_control() || direction
}

/// A source line that is safe to print: tabs become spaces, and the line is cut to `width`.
pub(crate) fn source_line(line: &str, width: usize) -> String {
    cut(&clean(&line.trim_end().replace('\t', "    ")), width)
}

/// The number of columns that a text takes on a terminal: Chinese, Japanese and Korean characters take two each.
pub(crate) fn columns(text: &str) -> usize {
    text.width()
}

/// A text followed by blanks up to `width` columns.
pub(crate) fn pad(text: &str, width: usize) -> String {
    format!("{text}{}", " ".repeat(width.saturating_sub(columns(text))))
}

/// The beginning of a text, in at most `width` columns; an ellipsis replaces the rest.
pub(crate) fn cut(text: &str, width: usize) -> String {
    if columns(text) <= width {
        return text.to_owned();
    }
    let mut cut = String::new();
    let mut room = width.saturating_sub(1);
    for c in text.chars() {
        let Some(left) = room.checked_sub(c.width().unwrap_or_default()) else { break };
        room = left;
        cut.push(c);
    }
    cut.push('…');
    cut
}

/// A word quoted for a POSIX shell.
pub(crate) fn shell_word(word: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "_-+=./:,@%^".contains(c);
    if !word.is_empty() && word.chars().all(plain) {
        return word.to_owned();
    }
    if word.chars().any(needs_escape) {
        // A terminal would not show a line break or an escape code as such, so both are escaped.
        let escaped: String = word
            .chars()
            .map(|c| match c {
                '\'' | '\\' => format!("\\{c}"),
                c if needs_escape(c) => {
                    let mut bytes = [0; 4];
                    c.encode_utf8(&mut bytes).bytes().map(|byte| format!("\\x{byte:02x}")).collect()
                }
                c => c.to_string(),
            })
            .collect();
        return format!("$'{escaped}'");
    }
    format!("'{}'", word.replace('\'', "'\\''"))
}

/// Breaks `text` at spaces into lines of at most `width` columns; a longer word gets a line to itself.
pub(crate) fn wrap(text: &str, width: usize) -> Vec<String> {
    // Names and commands must stay whole, so that they can be copied.
    let options = Options::new(width)
        .break_words(false)
        .word_separator(WordSeparator::AsciiSpace)
        .word_splitter(WordSplitter::NoHyphenation)
        .wrap_algorithm(WrapAlgorithm::FirstFit);
    let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
    if text.is_empty() {
        return Vec::new();
    }
    textwrap::wrap(&text, options).into_iter().map(Cow::into_owned).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_agree_with_their_nouns() {
        assert_eq!(count(0, "class", "classes"), "0 classes");
        assert_eq!(count(1, "class", "classes"), "1 class");
        assert_eq!(count(1000, "class", "classes"), "1,000 classes");
        assert_eq!(thousands(999), "999");
        assert_eq!(thousands(1_234_567), "1,234,567");
    }

    #[test]
    fn lists_end_with_and() {
        let items = ["a".to_owned(), "b".to_owned(), "c".to_owned()];
        assert_eq!(list(&items[..1]), "a");
        assert_eq!(list(&items[..2]), "a and b");
        assert_eq!(list(&items), "a, b and c");
    }

    #[test]
    fn control_characters_are_escaped() {
        assert_eq!(clean("a\u{1b}[31mb\n"), "a\\u{1b}[31mb\\n");
        assert_eq!(clean("\u{202e}ab"), "\\u{202e}ab");
        assert_eq!(source_line("\tx = 1; \r", 80), "    x = 1;");
        assert_eq!(source_line("abcdef", 4), "abc…");
    }

    #[test]
    fn words_are_quoted_for_a_shell() {
        assert_eq!(shell_word("-Dx=1"), "-Dx=1");
        assert_eq!(shell_word(""), "''");
        assert_eq!(shell_word("com.acme..*"), "'com.acme..*'");
        assert_eq!(shell_word("it's $HOME"), "'it'\\''s $HOME'");
        assert_eq!(shell_word("a\nb'"), "$'a\\x0ab\\''");
    }

    #[test]
    fn long_text_is_wrapped_between_words() {
        assert_eq!(wrap("aa bb cc", 5), ["aa bb", "cc"]);
        assert_eq!(wrap("aaaaaaaa b", 5), ["aaaaaaaa", "b"]);
        assert_eq!(wrap("a-b-c-d  e\tf", 5), ["a-b-c-d", "e f"]);
        assert_eq!(wrap("", 5), [""; 0]);
    }

    #[test]
    fn wide_characters_take_two_columns() {
        assert_eq!(wrap("口座 残高 x", 9), ["口座 残高", "x"]);
        assert_eq!(wrap("口座 残高 x", 8), ["口座", "残高 x"]);
        assert_eq!(cut("口座の残高", 10), "口座の残高");
        assert_eq!(cut("口座の残高", 9), "口座の残…");
        assert_eq!(cut("口座の残高", 8), "口座の…");
        assert_eq!(pad("口座", 6), "口座  ");
        assert_eq!(pad("abc", 2), "abc");
    }
}
