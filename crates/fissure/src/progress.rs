//! The line that shows how far a command has come: on standard error, if that is a terminal, and only while no program writes there.

use std::{
    fmt::{self, Write},
    time::Duration,
};

use indicatif::{ProgressBar, ProgressFinish, ProgressState, ProgressStyle, style::ProgressTracker};

/// How far a command has come. The line disappears when this is dropped.
#[derive(Debug)]
pub(crate) struct Progress {
    bar: ProgressBar,
}

impl Progress {
    /// The progress to a number of runs, with rate and remaining time.
    pub(crate) fn of_runs(all: u64) -> Self {
        let rate = |state: &ProgressState, out: &mut dyn Write| write_rate(out, state.per_sec(), "runs");
        let left = |state: &ProgressState, out: &mut dyn Write| write_left(out, "about", state.eta());
        let style = style("fissure: {pos} of {len} runs{rate}{left}").with_key("rate", Key(rate));
        let progress = Progress::start(ProgressBar::new(all), style.with_key("left", Key(left)));
        progress.bar.tick();
        progress
    }

    /// The progress of a hunt of at most this length, with rate and remaining time.
    pub(crate) fn of_hunt(budget: Duration) -> Self {
        let rate = |state: &ProgressState, out: &mut dyn Write| write_rate(out, state.per_sec(), "runs");
        let left = move |state: &ProgressState, out: &mut dyn Write| {
            write_left(out, "at most", budget.saturating_sub(state.elapsed()))
        };
        let style = style("fissure: {human_pos} runs{rate}{left}").with_key("rate", Key(rate));
        let progress = Progress::start(ProgressBar::no_length(), style.with_key("left", Key(left)));
        progress.bar.tick();
        progress
    }

    /// The progress of a number of tests that are executed once.
    pub(crate) fn of_tests(all: u64) -> Self {
        let style = style("fissure: {pos} of {len} tests executed once");
        Progress::start(ProgressBar::new(all), style)
    }

    /// The progress of the hunt in one of several tests, of at most this length.
    pub(crate) fn of_test(test: &str, budget: Option<Duration>) -> Self {
        let rate = |state: &ProgressState, out: &mut dyn Write| write_rate(out, state.per_sec(), "schedules");
        let left = move |state: &ProgressState, out: &mut dyn Write| match budget {
            Some(budget) => write_left(out, "at most", budget.saturating_sub(state.elapsed())),
            None => Ok(()),
        };
        let style = style("fissure: {prefix}: {human_pos} schedules{rate}{left}").with_key("rate", Key(rate));
        let bar = ProgressBar::no_length().with_prefix(test.to_owned());
        Progress::start(bar, style.with_key("left", Key(left)))
    }

    /// The progress of a search of at most this length, with rate and remaining time.
    pub(crate) fn of_search(name: &str, budget: Duration) -> Self {
        let rate =
            |state: &ProgressState, out: &mut dyn Write| write_rate(out, state.per_sec(), "executions");
        let left = move |state: &ProgressState, out: &mut dyn Write| {
            write_left(out, "at most", budget.saturating_sub(state.elapsed()))
        };
        let style = style("{prefix}: {msg}, {human_pos} executions{rate}{left}").with_key("rate", Key(rate));
        let bar = ProgressBar::no_length().with_prefix(name.to_owned());
        Progress::start(bar, style.with_key("left", Key(left)))
    }

    /// The progress of a task in words.
    pub(crate) fn of_task(name: &str) -> Self {
        let bar = ProgressBar::no_length().with_prefix(name.to_owned());
        Progress::start(bar, style("fissure: {prefix}: {msg}"))
    }

    fn start(bar: ProgressBar, style: ProgressStyle) -> Self {
        Progress { bar: bar.with_style(style).with_finish(ProgressFinish::AndClear) }
    }

    /// Counts a run.
    pub(crate) fn step(&self) {
        // Some runs are not planned in advance.
        if self.bar.length().is_some_and(|all| self.bar.position() >= all) {
            self.bar.inc_length(1);
        }
        self.bar.inc(1);
    }

    /// Shows the numbers of a search so far.
    pub(crate) fn show_search(&self, harnesses: u64, executions: u64) {
        self.bar.set_message(format!("{harnesses} harnesses"));
        self.bar.set_position(executions);
    }

    /// Prints a line above, if the line is shown.
    pub(crate) fn tell(&self, line: &str) {
        self.bar.println(line);
    }

    /// Shows a task's present part.
    pub(crate) fn show_task(&self, part: String) {
        self.bar.set_message(part);
    }

    /// Erases the line for good.
    pub(crate) fn clear(&self) {
        self.bar.finish_and_clear();
    }
}

/// A part of the line that a function writes.
#[derive(Clone)]
struct Key<F>(F);

impl<F> ProgressTracker for Key<F>
where
    F: Fn(&ProgressState, &mut dyn Write) -> fmt::Result + Clone + Send + Sync + 'static,
{
    fn clone_box(&self) -> Box<dyn ProgressTracker> {
        Box::new(self.clone())
    }

    fn tick(&mut self, _state: &ProgressState, _now: std::time::Instant) {}

    fn reset(&mut self, _state: &ProgressState, _now: std::time::Instant) {}

    fn write(&self, state: &ProgressState, out: &mut dyn Write) {
        // Writing to a string cannot fail.
        let _ = (self.0)(state, out);
    }
}

/// The style of a template, which is a constant of this module.
fn style(template: &str) -> ProgressStyle {
    ProgressStyle::with_template(template).expect("the templates are checked by a test")
}

/// `, 12 runs/s`; per minute if that is more telling; nothing as long as the rate is not known.
fn write_rate(out: &mut dyn Write, per_second: f64, unit: &str) -> fmt::Result {
    match per_second {
        rate if rate >= 10.0 => write!(out, ", {rate:.0} {unit}/s"),
        rate if rate >= 1.0 => write!(out, ", {rate:.1} {unit}/s"),
        rate if rate > 0.0 => write!(out, ", {:.1} {unit}/min", rate * 60.0),
        _ => Ok(()),
    }
}

/// `, about 5 s left`; nothing if no time is left or nothing is known about it.
fn write_left(out: &mut dyn Write, how: &str, left: Duration) -> fmt::Result {
    match left.as_secs() {
        0 => Ok(()),
        seconds @ 1..=119 => write!(out, ", {how} {seconds} s left"),
        seconds @ 120..=7_199 => write!(out, ", {how} {} min left", seconds.div_ceil(60)),
        seconds => write!(out, ", {how} {} h left", seconds.div_ceil(3_600)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(write: impl Fn(&mut dyn Write) -> fmt::Result, expected: &str) {
        let mut text = String::new();
        write(&mut text).unwrap();
        assert_eq!(text, expected);
    }

    #[test]
    fn rates_have_a_telling_unit() {
        for (rate, expected) in
            [(0.0, ""), (0.25, ", 15.0 runs/min"), (2.54, ", 2.5 runs/s"), (1_234.6, ", 1235 runs/s")]
        {
            check(|out| write_rate(out, rate, "runs"), expected);
        }
    }

    #[test]
    fn the_remaining_time_has_a_telling_unit() {
        for (seconds, expected) in [
            (0, ""),
            (5, ", about 5 s left"),
            (119, ", about 119 s left"),
            (121, ", about 3 min left"),
            (7_200, ", about 2 h left"),
        ] {
            check(|out| write_left(out, "about", Duration::from_secs(seconds)), expected);
        }
    }

    #[test]
    fn runs_that_were_not_planned_are_counted() {
        let progress = Progress::of_runs(1);
        progress.step();
        assert_eq!((progress.bar.position(), progress.bar.length()), (1, Some(1)));
        progress.step();
        assert_eq!((progress.bar.position(), progress.bar.length()), (2, Some(2)));
        Progress::of_hunt(Duration::from_secs(5)).step();
        Progress::of_search("size", Duration::from_secs(5)).show_search(1, 2);
        Progress::of_task("static analysis").show_task("finding reachable methods".to_owned());
    }
}
