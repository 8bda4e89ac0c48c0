//! `fissure detect`: runs a program once and reports what the analyses infer from it.

use std::env;

use crate::{
    args::DetectArguments,
    error::Error,
    output::{self, JsonFile},
    sources::Sources,
    verdict::{self, Code},
    watch::{self, Task},
};

/// Carries the command out. An error means that the command line was bad and nothing was run.
pub(crate) fn run(options: &DetectArguments) -> Result<Code, Error> {
    if options.command.first().is_none_or(|program| program.is_empty()) {
        return Err(Error::NoCommand);
    }
    let analyses = options.analyses()?;
    for folder in &options.sources {
        if !folder.is_dir() {
            return Err(Error::Sources { path: folder.display().to_string() });
        }
    }
    let json = options.json.as_deref().map(JsonFile::check).transpose()?;
    let task = Task {
        command: &options.command,
        analyses,
        scope: &options.scope,
        watch: options.watched(),
        order: options.order.into(),
    };
    let report = watch::run(&task);

    let directory = env::current_dir().unwrap_or_default();
    let sources = Sources::new(&options.sources, &directory, &options.command);
    output::show(&report, options.color, options.verbose, &sources);
    if let Some(json) = json {
        json.write(&report)?;
    }
    Ok(if report.problem.is_some() { Code::Error } else { verdict::code(&report.findings, options.fail_on) })
}
