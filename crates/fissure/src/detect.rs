//! `fissure detect`: runs a program once and reports the findings of the analyses.

use crate::{
    args::DetectArguments,
    error::Error,
    reporting::Reporting,
    verdict::Code,
    watch::{self, Task},
};

/// Carries the command out. An error means that the command line was bad and nothing was run.
pub(crate) fn run(options: &DetectArguments) -> Result<Code, Error> {
    if options.command.first().is_none_or(|program| program.is_empty()) {
        return Err(Error::NoCommand);
    }
    let analyses = options.analyses()?;
    let reporting = Reporting::prepare(&options.reporting)?;
    let scope = reporting.scope(&options.scope);
    let task = Task {
        command: &options.command,
        analyses,
        scope: &scope,
        watch: options.watched(),
        order: options.order.into(),
        monitor: None,
        is_static: options.is_static,
        is_checked: options.check_static,
        time_limit: options.time_limit,
    };
    reporting.finish_run(watch::run(&task))
}
