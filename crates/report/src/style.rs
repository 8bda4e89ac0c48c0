//! Terminal colours.

/// The role of a piece of text, which decides its colour.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Style {
    /// The label of a confirmed finding or bug, and problems.
    Alarm,
    /// The label of a finding that thread start or join ordered.
    Mild,
    /// Emphasised text.
    Strong,
    /// Line numbers and gutters.
    Gutter,
    /// Details.
    Faint,
    /// The label of a warning.
    Warning,
    /// Text that belongs to the thread with this number.
    Thread(usize),
}

/// Colours of threads: distinguishable on dark and light backgrounds, and different from the colour of alarms.
const THREADS: [&str; 5] = ["36", "35", "32", "34", "33"];

/// Adds colour codes to text if colours are enabled.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Painter {
    /// Whether to use colours.
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
