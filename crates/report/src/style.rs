//! Colours, or none.

/// What a piece of text is, which decides its colour.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Style {
    /// The label of a finding that counts, and problems.
    Alarm,
    /// The label of a finding that thread start or join ordered.
    Mild,
    /// What the eye should fall on.
    Strong,
    /// Line numbers and gutters.
    Gutter,
    /// What may be skipped.
    Faint,
    /// The label of a finding that is only inferred.
    Warning,
    /// Something of the thread with this number.
    Thread(usize),
}

/// Colours of threads: told apart on dark and light backgrounds, and none of them is the alarm's.
const THREADS: [&str; 5] = ["36", "35", "32", "34", "33"];

/// Puts colours around text if they are wanted.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Painter {
    /// Whether colours are wanted.
    pub(crate) color: bool,
}

impl Painter {
    pub(crate) fn paint(self, style: Style, text: &str) -> String {
        if !self.color {
            return text.to_owned();
        }
        let code = match style {
            Style::Alarm => "1;31",
            Style::Mild => "33",
            Style::Warning => "1;33",
            Style::Strong => "1",
            Style::Gutter => "1;34",
            Style::Faint => "2",
            Style::Thread(number) => THREADS[number % THREADS.len()],
        };
        format!("\u{1b}[{code}m{text}\u{1b}[0m")
    }
}
