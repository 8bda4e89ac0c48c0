//! Reporting for all commands with findings: judges, shows and writes them, and gives the exit code.
//!
//! The options are checked and files read before the program runs, so that a long run is never lost to a typing error.

use std::{
    env,
    ffi::OsString,
    fs,
    path::{Path, PathBuf},
};

use clap::Args;
use fissure_model::pointcut::Pointcut;
use fissure_report::{
    Report, html, json, junit,
    object::ObjectReport,
    sarif,
    triage::{self, Baseline},
};

use crate::{
    VERSION,
    args::{Color, FailOn, ScopeList},
    config::Config,
    error::Error,
    log,
    observed_run::ObservedRun,
    output::{self, OutputFile, Stream},
    sources::Sources,
    verdict::{self, Code},
};

/// The options about reports, the same for every command.
#[derive(Debug, Clone, Args)]
#[command(next_help_heading = "Reports")]
pub(crate) struct ReportingArguments {
    /// A folder with source files, to show the lines. May be repeated; usual places are searched anyway.
    #[arg(long, value_name = "DIR")]
    pub(crate) sources: Vec<PathBuf>,

    /// Write the report as JSON to this file.
    #[arg(long, value_name = "FILE")]
    pub(crate) json: Option<PathBuf>,

    /// Write the report as one HTML file that needs nothing else.
    #[arg(long, value_name = "FILE")]
    pub(crate) html: Option<PathBuf>,

    /// Write the report as SARIF 2.1.0, for code hosts and editors.
    #[arg(long, value_name = "FILE")]
    pub(crate) sarif: Option<PathBuf>,

    /// Write the report as JUnit XML, for CI systems.
    #[arg(long, value_name = "FILE")]
    pub(crate) junit: Option<PathBuf>,

    /// Report and count only findings that are not in this file; `fissure report --update-baseline` writes it.
    #[arg(long, value_name = "FILE")]
    pub(crate) baseline: Option<PathBuf>,

    /// The configuration with suppressions, instead of fissure.toml in the working directory.
    #[arg(long, value_name = "FILE")]
    pub(crate) config: Option<PathBuf>,

    /// Which findings make the exit code 1: warnings, also those that thread start or join ordered, only confirmed ones (the
    /// default for a hunt, without races and atomic-set violations that nobody asked for and that caused no failure), only bugs, or none.
    #[arg(long, value_name = "WHAT")]
    pub(crate) fail_on: Option<FailOn>,

    /// When to use colour.
    #[arg(long, value_name = "WHEN", default_value = "auto")]
    pub(crate) color: Color,

    /// Show whole stacks, all steps, ordered findings in full, and what was left alone.
    #[arg(long)]
    pub(crate) verbose: bool,
}

/// The options about reports, checked, with the files that they name.
#[derive(Debug)]
pub(crate) struct Reporting {
    color: Color,
    verbose: bool,
    fail_on: FailOn,
    source_folders: Vec<PathBuf>,
    config: Config,
    baseline: Option<Baseline>,
    json: Option<OutputFile>,
    html: Option<OutputFile>,
    sarif: Option<OutputFile>,
    junit: Option<OutputFile>,
}

impl Reporting {
    /// Checks the options and reads the files that they name.
    pub(crate) fn prepare(arguments: &ReportingArguments) -> Result<Self, Error> {
        Self::prepare_with(arguments, arguments.baseline.is_some())
    }

    /// The same, where only confirmed findings count by default; races and atomic-set violations that caused no failure count only if
    /// the user `asks` for them.
    pub(crate) fn prepare_for_hunt(arguments: &ReportingArguments, asks: bool) -> Result<Self, Error> {
        let default = if asks { FailOn::Confirmed } else { FailOn::ConfirmedOrFailed };
        let fail_on = arguments.fail_on.unwrap_or(default);
        Ok(Reporting { fail_on, ..Self::prepare(arguments)? })
    }

    /// The same, for a baseline that is about to be written and need not exist.
    pub(crate) fn prepare_without_baseline(arguments: &ReportingArguments) -> Result<Self, Error> {
        Self::prepare_with(arguments, false)
    }

    fn prepare_with(arguments: &ReportingArguments, with_baseline: bool) -> Result<Self, Error> {
        for folder in &arguments.sources {
            if !folder.is_dir() {
                return Err(Error::Sources { path: folder.display().to_string() });
            }
        }
        let config = Config::load(arguments.config.as_deref())?;
        let baseline = match (&arguments.baseline, &config.baseline) {
            (Some(path), _) if with_baseline => Some(read_baseline(path)?),
            (None, Some(path)) => Some(read_baseline(path)?),
            _ => None,
        };
        let file = |option: &'static str, path: &Option<PathBuf>| {
            path.as_deref().map(|path| OutputFile::check(option, path)).transpose()
        };
        Ok(Reporting {
            color: arguments.color,
            verbose: arguments.verbose,
            fail_on: arguments.fail_on.unwrap_or(FailOn::Warning),
            source_folders: arguments.sources.iter().chain(&config.sources).cloned().collect(),
            baseline,
            json: file("--json", &arguments.json)?,
            html: file("--html", &arguments.html)?,
            sarif: file("--sarif", &arguments.sarif)?,
            junit: file("--junit", &arguments.junit)?,
            config,
        })
    }

    /// Searches these folders too for source files.
    pub(crate) fn add_sources(&mut self, folders: impl IntoIterator<Item = PathBuf>) {
        self.source_folders.extend(folders);
    }

    /// Judges the findings by baseline and suppressions, shows the report, writes the files, and gives the exit code.
    pub(crate) fn finish(self, mut report: Report, stream: Stream) -> Result<Code, Error> {
        self.judge(&mut report);
        log::note_in(&mut report);
        let directory = env::current_dir().unwrap_or_default();
        let command: Vec<OsString> = report.command.iter().map(OsString::from).collect();
        let sources = Sources::new(&self.source_folders, &directory, &command);
        output::show(&report, stream, self.color, self.verbose, &sources)?;
        self.write(&report, None, &sources)
    }

    /// The same for one run of a program, on standard error. A run that failed or was cut short is not
    /// clean, whatever `--fail-on` says.
    pub(crate) fn finish_run(self, observed: ObservedRun) -> Result<Code, Error> {
        let ObservedRun { mut report, doubt } = observed;
        self.judge(&mut report);
        if report.problem.is_none() && verdict::code(&report, self.fail_on) == Code::Clean {
            report.problem = doubt.map(|doubt| doubt.sentence(!report.findings.is_empty()));
        }
        self.finish(report, Stream::Error)
    }

    /// The same for the methods of an object, which the report lists in a table.
    pub(crate) fn finish_object(self, mut report: Report, object: &ObjectReport) -> Result<Code, Error> {
        self.judge(&mut report);
        let (known, suppressed) = report.triage.counts();
        for (count, where_to) in [(known, "in the baseline"), (suppressed, "suppressed")] {
            if count > 0 {
                let which = if count == 1 { "finding is" } else { "findings are" };
                report.notices.push(format!("{count} {which} {where_to} and not counted"));
            }
        }
        log::note_in(&mut report);
        output::show_object(object, &report.notices, self.color, self.verbose)?;
        let directory = env::current_dir().unwrap_or_default();
        self.write(&report, Some(object), &Sources::new(&self.source_folders, &directory, &[]))
    }

    /// Writes the files and gives the exit code.
    fn write(
        &self,
        report: &Report,
        object: Option<&ObjectReport>,
        sources: &Sources,
    ) -> Result<Code, Error> {
        if let Some(file) = &self.json {
            file.write(&json::render_with(report, object, VERSION)?)?;
        }
        if let Some(file) = &self.html {
            file.write(&html::render(report, VERSION, sources)?)?;
        }
        if let Some(file) = &self.sarif {
            file.write(&sarif::render(report, VERSION, sources)?)?;
        }
        let counts = |finding: &_| verdict::counts(finding, self.fail_on);
        if let Some(file) = &self.junit {
            file.write(&junit::render(report, sources, &counts)?)?;
        }
        Ok(if report.problem.is_some() { Code::Error } else { verdict::code(report, self.fail_on) })
    }

    /// The scope of the command line, or else that of the configuration.
    pub(crate) fn scope(&self, lists: &[ScopeList]) -> Vec<Pointcut> {
        if lists.is_empty() { self.config.scope.clone() } else { ScopeList::all(lists) }
    }

    /// Decides which findings of a report are new, by baseline and suppressions.
    pub(crate) fn judge(&self, report: &mut Report) {
        triage::judge(report, self.baseline.as_ref(), &self.config.suppress);
    }
}

fn read_baseline(path: &Path) -> Result<Baseline, Error> {
    let error = |reason: String| Error::Baseline { path: path.display().to_string(), reason };
    let text = fs::read_to_string(path).map_err(|source| error(source.to_string()))?;
    Baseline::parse(&text).map_err(|wrong| error(wrong.to_string()))
}
