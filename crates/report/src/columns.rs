//! An interleaving for the terminal: one column per thread, time downwards, an arrow at every thread switch.

use fissure_model::{
    finding::Finding,
    interleaving::{Interleaving, Step},
};

use crate::{
    names,
    steps::{self, Row},
    style::{Painter, Style},
    text::Options,
    words,
};

/// Columns on the left for the numbers of the sites.
const GUTTER: usize = 6;
/// Narrower columns would cut nearly every step, so a plain list is used instead. Six threads fit into 100 columns.
const NARROWEST: usize = 15;
/// Wider columns only move the threads further apart.
const WIDEST: usize = 46;

/// The interleaving as lines, each with its line break; empty if there is nothing to show.
pub(crate) fn render(finding: &Finding, options: &Options, painter: Painter) -> String {
    let Some(interleaving) = &finding.interleaving else { return String::new() };
    let rows = steps::rows(finding, interleaving, options.verbose);
    let mut threads: Vec<usize> = Vec::new();
    for row in &rows {
        if let Row::Step(at) = row
            && !threads.contains(&interleaving.steps[*at].thread)
        {
            threads.push(interleaving.steps[*at].thread);
        }
    }
    if threads.is_empty() {
        return String::new();
    }
    threads.sort_unstable();
    let numbers = steps::site_numbers(finding, interleaving);
    let width = (options.width.saturating_sub(GUTTER) / threads.len()).min(WIDEST);
    let table = Table { interleaving, numbers, threads, width, painter };
    if width < NARROWEST { table.list(&rows, options.width) } else { table.columns(&rows) }
}

struct Table<'a> {
    interleaving: &'a Interleaving,
    numbers: Vec<Option<usize>>,
    /// The threads that have a column, by their numbers.
    threads: Vec<usize>,
    width: usize,
    painter: Painter,
}

impl Table<'_> {
    fn columns(&self, rows: &[Row]) -> String {
        let mut text = " ".repeat(GUTTER);
        for &thread in &self.threads {
            let name = words::cut(&self.name(thread), self.width - 2);
            text.push_str(&self.painter.paint(self.style(thread), &name));
            text.push_str(&" ".repeat(self.width - words::columns(&name)));
        }
        text.truncate(text.trim_end().len());
        text.push('\n');
        for row in rows {
            let line = match row {
                Row::Folded(count) => self.folded(*count),
                Row::Switch(from, to) => self.switch(*from, *to),
                Row::Step(at) => self.step(*at),
            };
            text.push_str(line.trim_end());
            text.push('\n');
        }
        text
    }

    fn folded(&self, count: u64) -> String {
        let words = format!("┊ … {}", words::count(count, "step", "steps"));
        let mut line = " ".repeat(GUTTER) + &self.painter.paint(Style::Faint, &words);
        if self.threads.len() > 1 {
            line.push_str(&" ".repeat(self.width.saturating_sub(words::columns(&words))));
            line.push_str(&self.rails(1..self.threads.len(), '┊'));
        }
        line
    }

    fn switch(&self, from: usize, to: usize) -> String {
        let column = |thread| self.threads.iter().position(|&known| known == thread).unwrap_or_default();
        let (from_at, to_at) = (column(from), column(to));
        let (left, right) = (from_at.min(to_at), from_at.max(to_at));
        let length = (right - left) * self.width - 1;
        let middle = format!("{:─<length$}", "─ switch ");
        let arrow = if from_at < to_at { format!("└{middle}▶") } else { format!("◀{middle}┘") };
        let mut line = " ".repeat(GUTTER) + &self.rails(0..left, '│');
        line.push_str(&self.painter.paint(self.style(to), &arrow));
        line.push_str(&" ".repeat(self.width - 1));
        line.push_str(&self.rails(right + 1..self.threads.len(), '│'));
        line
    }

    fn step(&self, at: usize) -> String {
        let step = &self.interleaving.steps[at];
        let mut line = self.number(at);
        for (column, &thread) in self.threads.iter().enumerate() {
            if thread == step.thread {
                let (words, site) = cell(step, self.width - 3);
                let shown = 2 + words::columns(&words) + words::columns(&site);
                let words =
                    if step.role.is_some() { self.painter.paint(Style::Strong, &words) } else { words };
                let dot = self.painter.paint(self.style(thread), "●");
                line.push_str(&format!("{dot} {words}{}", self.painter.paint(Style::Faint, &site)));
                line.push_str(&" ".repeat(self.width - shown));
            } else {
                line.push_str(&self.rails(column..column + 1, '│'));
            }
        }
        line
    }

    /// The vertical lines of the threads that take no step in this row.
    fn rails(&self, columns: std::ops::Range<usize>, rail: char) -> String {
        let rail = self.painter.paint(Style::Faint, &rail.to_string());
        columns.map(|_| format!("{rail}{}", " ".repeat(self.width - 1))).collect()
    }

    fn list(&self, rows: &[Row], width: usize) -> String {
        let mut text = String::new();
        for row in rows {
            let line = match row {
                Row::Folded(count) => {
                    let words = format!("… {}", words::count(*count, "step", "steps"));
                    format!("{}{}", " ".repeat(GUTTER), self.painter.paint(Style::Faint, &words))
                }
                Row::Switch(_, to) => {
                    let words = format!("─▶ switch to {}", self.name(*to));
                    format!("{}{}", " ".repeat(GUTTER), self.painter.paint(self.style(*to), &words))
                }
                Row::Step(at) => {
                    let step = &self.interleaving.steps[*at];
                    let name = self.name(step.thread);
                    let left = width.saturating_sub(GUTTER + words::columns(&name) + 2).max(20);
                    let (words, site) = cell(step, left);
                    let name = self.painter.paint(self.style(step.thread), &name);
                    let site = self.painter.paint(Style::Faint, &site);
                    format!("{}{name}: {words}{site}", self.number(*at))
                }
            };
            text.push_str(line.trim_end());
            text.push('\n');
        }
        text
    }

    /// The number of the step's site, as wide as the gutter.
    fn number(&self, at: usize) -> String {
        match self.numbers.get(at).copied().flatten() {
            Some(number) => format!("{:>5} ", format!("({number})")),
            None => " ".repeat(GUTTER),
        }
    }

    fn name(&self, thread: usize) -> String {
        match self.interleaving.threads.get(thread).map(String::as_str) {
            Some("") | None => format!("thread {}", thread + 1),
            Some(name) => words::clean(name),
        }
    }

    fn style(&self, thread: usize) -> Style {
        Style::Thread(thread)
    }
}

/// A step in at most so many columns: the verb, and the end of the name.
fn shortened(step: &str, width: usize) -> String {
    if words::columns(step) <= width {
        return step.to_owned();
    }
    match step.rsplit_once(' ') {
        Some((verb, name)) if words::columns(verb) + 4 <= width => {
            let innermost = names::innermost(name);
            let room = width - words::columns(verb) - 1;
            format!("{verb} {}", words::cut_left(innermost, room))
        }
        Some((_, name)) => words::cut_left(names::innermost(name), width),
        None => words::cut_left(step, width),
    }
}

/// The action and the site of a step, in at most `width` columns together.
fn cell(step: &Step, width: usize) -> (String, String) {
    let mut words = words::clean(&names::step(step));
    if words::columns(&words) > width
        && let Some(brief) = names::brief_access(step)
    {
        words = words::clean(&brief);
    }
    let length = words::columns(&words);
    let site = step.at.as_ref().map(|at| match (&at.file, at.line) {
        (Some(file), Some(line)) => format!("  {}:{line}", words::clean(file)),
        _ => String::new(),
    });
    let site = site.unwrap_or_default();
    if length + words::columns(&site) <= width {
        return (words, site);
    }
    // The line is kept in any case, and the end of a name says more than its beginning.
    let line = site.rsplit_once(':').map(|(_, line)| format!("  :{line}")).unwrap_or_default();
    let room = width.saturating_sub(words::columns(&line)).max(1);
    (shortened(&words, room), line)
}

#[cfg(test)]
mod tests {
    use fissure_model::{
        finding::{Frame, Kind, Status},
        interleaving::Action,
    };

    use super::*;

    #[test]
    fn wide_names_keep_the_columns_aligned() {
        let step = |thread, object: &str| Step {
            thread,
            action: Action::Write,
            object: object.to_owned(),
            called: None,
            at: Some(Frame {
                class: "銀行.口座".to_owned(),
                method: "入金".to_owned(),
                file: Some("口座.java".to_owned()),
                line: Some(7),
            }),
            role: None,
            folded: 0,
        };
        let interleaving = Interleaving {
            threads: vec!["支払い".to_owned(), "payer".to_owned()],
            steps: vec![
                step(0, "銀行.口座.残高"),
                step(1, "銀行.口座.とても長い名前の残高の合計"),
                step(0, "x.y"),
            ],
        };
        let finding = Finding {
            interleaving: Some(interleaving),
            ..Finding::new(Kind::AtomicityViolation, Status::Confirmed, "atomfuzzer", "銀行.口座.入金")
        };
        let options = Options { width: 70, color: false, verbose: true };
        let text = render(&finding, &options, Painter { color: false });
        // The second thread's name, its dots and its rails all begin in the same column.
        let column = |line: &str| {
            let marks = ["payer", "●", "│", "▶"];
            let at = marks.iter().filter_map(|mark| line.rfind(mark)).max();
            at.map(|at| words::columns(&line[..at]))
        };
        let lines: Vec<&str> = text.lines().filter(|line| !line.contains('◀')).collect();
        assert!(lines.len() >= 4, "{text}");
        for line in lines {
            assert_eq!(column(line), Some(GUTTER + 32), "{line}\n{text}");
        }
    }
}
