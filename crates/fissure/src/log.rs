//! Fissure's log: off by default; with `--log` or `FISSURE_LOG` it is in the folder of the run, which is then kept.

use std::{
    env,
    path::{Path, PathBuf},
    sync::OnceLock,
};

use fissure_log::{Filter, VARIABLE, command_line_log};
use fissure_report::Report;

use crate::error::Error;

static FILTER: OnceLock<Filter> = OnceLock::new();
static FOLDER: OnceLock<PathBuf> = OnceLock::new();

/// Takes the filter of the command line, or else of the environment.
pub(crate) fn switch_on(option: Option<Filter>) -> Result<(), Error> {
    let filter = match (option, env::var(VARIABLE)) {
        (Some(filter), _) => filter,
        (None, Ok(text)) if !text.trim().is_empty() => text.parse().map_err(Error::LogFilter)?,
        _ => return Ok(()),
    };
    // A process has one command line, so there is no filter yet.
    let _ = FILTER.set(filter);
    Ok(())
}

/// The filter, if there is a log.
pub(crate) fn filter() -> Option<&'static Filter> {
    FILTER.get()
}

/// Begins the log in a run's folder. Returns whether the folder has to be kept.
pub(crate) fn begin(folder: &Path) -> Result<bool, Error> {
    let Some(filter) = filter() else { return Ok(false) };
    fissure_log::start(filter, &command_line_log(folder)).map_err(Error::Folder)?;
    let _ = FOLDER.set(folder.to_owned());
    tracing::info!(version = crate::VERSION, arguments = ?env::args_os(), "fissure");
    Ok(true)
}

/// Where the log is, for messages.
pub(crate) fn where_it_is() -> Option<String> {
    FOLDER.get().map(|folder| format!("Fissure's log is in {}", folder.display()))
}

/// Says in a report where the log is, or how to get one if Fissure itself has failed.
pub(crate) fn note_in(report: &mut Report) {
    if let Some(notice) = where_it_is() {
        report.notices.push(notice);
    } else if !report.internal_errors.is_empty() {
        report
            .notices
            .push("to see what led to Fissure's failure, run the same command with --log debug".to_owned());
    }
}
