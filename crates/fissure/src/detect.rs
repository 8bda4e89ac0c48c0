//! `fissure detect`: runs a program once and reports the races that an analysis infers.

use crate::{
    args::DetectArguments,
    error::Error,
    output::Stream,
    reporting::Reporting,
    verdict::Code,
    watch::{self, Task},
};

/// Carries the command out. An error means that the command line was bad and nothing was run.
pub(crate) fn run(options: &DetectArguments) -> Result<Code, Error> {
    if options.command.first().is_none_or(|program| program.is_empty()) {
        return Err(Error::NoCommand);
    }
    let analysis = match options.analysis.as_slice() {
        [first, others @ ..] if others.iter().all(|other| other == first) => (*first).into(),
        _ => return Err(Error::SeveralAnalyses),
    };
    let reporting = Reporting::prepare(&options.reporting)?;
    let task = Task {
        command: &options.command,
        analysis,
        scope: &options.scope,
        watch: options.watched(),
        order: options.order.into(),
    };
    reporting.finish(watch::run(&task), Stream::Error)
}
