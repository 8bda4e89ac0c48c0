//! `fissure report`: reads the reports of earlier runs, merges them, and shows or converts them.

use std::{fs, path::Path};

use fissure_report::{Report, json, triage::Baseline};

use crate::{
    args::ReportArguments,
    error::Error,
    output::{OutputFile, Stream},
    reporting::Reporting,
    verdict::Code,
};

/// Executes the command. An error means that the command line or one of its files was bad.
pub(crate) fn run(options: &ReportArguments) -> Result<Code, Error> {
    if options.update_baseline {
        return update_baseline(options);
    }
    let reporting = Reporting::prepare(&options.reporting)?;
    let report = read_all(options)?;
    reporting.finish(report, Stream::Output)
}

/// Writes the baseline. Its findings are known from then on, so none of them counts in the exit code.
fn update_baseline(options: &ReportArguments) -> Result<Code, Error> {
    let Some(path) = &options.reporting.baseline else { return Err(Error::NoBaseline) };
    let file = OutputFile::check("--baseline", path)?;
    let reporting = Reporting::prepare_without_baseline(&options.reporting)?;
    let mut report = read_all(options)?;
    if let Some(problem) = report.problem {
        return Err(Error::BlindBaseline(problem));
    }
    let mut judged = report.clone();
    reporting.judge(&mut judged);
    let baseline = Baseline::of(&judged);
    file.write(&baseline.render()?)?;
    report.notices.push(format!(
        "the baseline {} has {} now",
        path.display(),
        if baseline.len() == 1 { "1 finding".to_owned() } else { format!("{} findings", baseline.len()) }
    ));
    Reporting::prepare(&options.reporting)?.finish(report, Stream::Output)
}

fn read_all(options: &ReportArguments) -> Result<Report, Error> {
    let reports: Result<Vec<Report>, Error> = options.files.iter().map(|path| read(path)).collect();
    Ok(fissure_report::merge(reports?))
}

fn read(path: &Path) -> Result<Report, Error> {
    let error = |reason: String| Error::Unreadable { path: path.display().to_string(), reason };
    let text = fs::read_to_string(path).map_err(|source| error(source.to_string()))?;
    json::parse(&text).map_err(|wrong| error(wrong.to_string()))
}
