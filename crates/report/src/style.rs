//! Terminal colours.

use anstyle::AnsiColor;

/// The role of a piece of text, which decides its colour.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Style {
    /// The label of a confirmed finding or bug, and problems.
    Alarm,
    /// The label of a finding whose accesses were ordered.
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
const THREADS: [AnsiColor; 5] =
    [AnsiColor::Cyan, AnsiColor::Magenta, AnsiColor::Green, AnsiColor::Blue, AnsiColor::Yellow];

impl From<Style> for anstyle::Style {
    fn from(style: Style) -> Self {
        match style {
            Style::Alarm => AnsiColor::Red.on_default().bold(),
            Style::Mild => AnsiColor::Yellow.on_default(),
            Style::Warning => AnsiColor::Yellow.on_default().bold(),
            Style::Strong => Self::new().bold(),
            Style::Gutter => AnsiColor::Blue.on_default().bold(),
            Style::Faint => Self::new().dimmed(),
            Style::Thread(number) => THREADS[number % THREADS.len()].on_default(),
        }
    }
}

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
        let style = anstyle::Style::from(style);
        format!("{style}{text}{style:#}")
    }
}
