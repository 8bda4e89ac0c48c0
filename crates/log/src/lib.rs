//! Fissure's log of its own work: what the command line and the agent did, for a person who looks for a defect of Fissure.
//!
//! The log is off unless the user asks for it. It goes to a file in the run's folder and never to the standard streams, which belong to the
//! program under test. Both processes write with the macros of `tracing`; no hot path does.

use std::{
    fmt, fs,
    path::{Path, PathBuf},
    str::FromStr,
    sync::Mutex,
};

use tracing::{level_filters::LevelFilter, subscriber};
use tracing_subscriber::{
    filter::Targets,
    fmt::time::Uptime,
    layer::{Layer, SubscriberExt},
    registry,
};

/// The environment variable with a filter, for commands that cannot be given `--log`.
pub const VARIABLE: &str = "FISSURE_LOG";

/// The events that are logged: a level, or levels by crate, as in `debug` or `fissure_jvm=trace,fissure=info`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Filter(String);

/// A text that is not a filter.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FilterError {
    text: String,
}

impl fmt::Display for FilterError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "'{}' is not a log filter; give a level (error, warn, info, debug, trace), or levels by crate as in fissure_jvm=trace",
            self.text
        )
    }
}

impl std::error::Error for FilterError {}

impl Filter {
    /// The text of the filter.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl FromStr for Filter {
    type Err = FilterError;

    fn from_str(text: &str) -> Result<Self, FilterError> {
        let text = text.trim();
        let error = || FilterError { text: text.to_owned() };
        // `Targets` reads any single word as the name of a target, so that a misspelt level would switch everything on.
        let is_known = |part: &str| match part.split('=').collect::<Vec<_>>()[..] {
            [level] | [_, level] => !level.is_empty() && level.parse::<LevelFilter>().is_ok(),
            _ => false,
        };
        if !text.split(',').all(is_known) {
            return Err(error());
        }
        text.parse::<Targets>().map_err(|_| error())?;
        Ok(Filter(text.to_owned()))
    }
}

/// Logs to this file from here on, in the whole process. Only the first call has an effect.
///
/// # Errors
/// The file cannot be created.
pub fn start(filter: &Filter, file: &Path) -> std::io::Result<()> {
    let log = fs::OpenOptions::new().create(true).append(true).open(file)?;
    let targets = filter.0.parse::<Targets>().map_err(std::io::Error::other)?;
    let lines = tracing_subscriber::fmt::layer()
        .with_writer(Mutex::new(log))
        .with_ansi(false)
        .with_timer(Uptime::default())
        .with_thread_ids(true);
    // A second call fails, and the first log continues.
    let _ = subscriber::set_global_default(registry().with(lines.with_filter(targets)));
    Ok(())
}

/// The name of the command line's log in a run's folder.
pub fn command_line_log(folder: &Path) -> PathBuf {
    folder.join("fissure.log")
}

/// The name of the log of an agent in its run's folder.
pub fn agent_log(folder: &Path, process: u32) -> PathBuf {
    folder.join(format!("jvm-{process}.log"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(text: &str, is_filter: bool) {
        assert_eq!(text.parse::<Filter>().is_ok(), is_filter, "{text}");
    }

    #[test]
    fn filters_are_levels_or_levels_by_crate() {
        for text in
            ["debug", "TRACE", "off", "fissure=info,fissure_jvm=trace", "warn,fissure_jvm::control=debug"]
        {
            check(text, true);
        }
        for text in ["", "  ", "loud", "fissure", "fissure=loud", "debug,", "=", "fissure_jvm=trace=debug,x"]
        {
            check(text, false);
        }
    }

    #[test]
    fn events_that_pass_the_filter_are_in_the_file() {
        let file = std::env::temp_dir().join(format!("fissure-log-test-{}", std::process::id()));
        start(&"fissure_log=debug".parse().unwrap(), &file).unwrap();
        tracing::debug!(seed = 7, "a run begins");
        tracing::trace!("too fine");
        tracing::error!(target: "elsewhere", "not asked for");
        let text = fs::read_to_string(&file).unwrap();
        fs::remove_file(&file).unwrap();
        assert!(text.contains("DEBUG") && text.contains("a run begins seed=7"), "{text}");
        assert_eq!(text.lines().count(), 1, "{text}");
    }
}
