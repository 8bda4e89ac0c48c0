//! `fissure test --repeat-failure`: one schedule of one test again, for a debugger if the user wants that.

use std::{
    env,
    ffi::OsStr,
    fs,
    path::{Path, PathBuf},
};

use fissure_model::finding::fingerprint;
use fissure_report::{Report, json};

use super::{TestArguments, error::TestError};
use crate::{
    VERSION, agent,
    error::Error,
    replay::{self, ReplayArguments},
    verdict::Code,
};

/// Repeats a finding.
pub(crate) fn run(options: &TestArguments, named: &OsStr) -> Result<Code, Error> {
    let text = named.to_string_lossy();
    let findings = if text.contains('#') || Path::new(named).exists() {
        named.to_owned()
    } else {
        let last = last_report().filter(|path| path.is_file()).ok_or(TestError::NoLastReport)?;
        let mut findings = last.into_os_string();
        findings.push("#");
        findings.push(named);
        findings
    };
    let arguments = ReplayArguments {
        findings: Some(findings),
        seed: None,
        goal: None,
        schedule: None,
        patient: false,
        debug: options.debug,
        scheduling: options.scheduling.clone(),
        reporting: options.reporting.clone(),
        command: Vec::new(),
    };
    replay::run(&arguments)
}

/// The command that repeats a finding, up to its id.
pub(crate) fn command(report: Option<&Path>) -> String {
    let Some(report) = report else { return "fissure test --repeat-failure ".to_owned() };
    let name = report.display().to_string();
    let is_plain = name.chars().all(|c| c.is_ascii_alphanumeric() || "/._-".contains(c));
    let name = if is_plain { name } else { format!("'{}'", name.replace('\'', r"'\''")) };
    format!("fissure test --repeat-failure {name}#")
}

/// The same, for a finding that is named with its report.
pub(crate) fn command_of(named: Option<&OsStr>) -> String {
    let text = named.map(|named| named.to_string_lossy().into_owned()).unwrap_or_default();
    let report = text.rsplit_once('#').map_or(text.as_str(), |(report, _)| report);
    let is_last = last_report().is_some_and(|last| last == Path::new(report));
    command((!is_last).then(|| Path::new(report)))
}

/// Keeps a report, so that its findings can be repeated without naming it. A folder that cannot be written to is no reason to fail.
pub(crate) fn keep(report: &Report) {
    let write = |path: PathBuf| {
        let folder = path.parent().unwrap_or(Path::new("."));
        fs::create_dir_all(folder)?;
        let file = tempfile::NamedTempFile::new_in(folder)?;
        fs::write(file.path(), json::render(report, VERSION)?)?;
        file.persist(&path).map(drop).map_err(|error| error.error)
    };
    if !report.findings.is_empty()
        && let Some(Err(error)) = last_report().map(write)
    {
        tracing::info!(%error, "the report is not kept");
    }
}

/// The file of the last report in this folder.
fn last_report() -> Option<PathBuf> {
    let directory = env::current_dir().ok()?.display().to_string();
    agent::cache().map(|cache| cache.join(format!("last-{}.json", fingerprint(&[&directory]))))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn commands_name_the_report_if_there_is_one() {
        let check =
            |report: Option<&str>, expected: &str| assert_eq!(command(report.map(Path::new)), expected);
        check(None, "fissure test --repeat-failure ");
        check(Some("out/f.json"), "fissure test --repeat-failure out/f.json#");
        check(Some("my f.json"), "fissure test --repeat-failure 'my f.json'#");
    }
}
