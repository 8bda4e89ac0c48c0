//! The course of a hunt: in warm JVMs if that is possible, or else in new ones.

use fissure_hunt::{HuntResult, HuntSettings};
use fissure_model::iteration::Isolation;

use super::{
    Clock, Executed, hunt_in_processes,
    pool::Manner,
    run::Program,
    verified,
    warm::{self, WarmJvms},
};
use crate::{error::Error, progress::Progress};

/// The note that runs did not go on at the same time.
const ONE_AT_A_TIME: &str = "runs were executed one at a time, because a failure did not show again when its run was repeated alone: runs \
                             at the same time seem to disturb each other, by a port or a file";

/// A hunt in one program.
pub(crate) struct Course<'a> {
    pub(crate) settings: &'a HuntSettings,
    pub(crate) program: &'a Program<'a>,
    pub(crate) isolation: Isolation,
    pub(crate) manner: Manner,
    pub(crate) clock: Clock,
    /// Shows how far the hunt has come.
    pub(crate) progress: &'a dyn Fn(Clock) -> Progress,
}

/// The result of a hunt, with what is kept of its runs.
pub(crate) struct Hunted {
    pub(crate) result: HuntResult,
    pub(crate) executed: Executed,
    /// How the runs were executed, if not as they were meant to be.
    pub(crate) notices: Vec<String>,
}

impl Course<'_> {
    /// Hunts, in JVMs that an earlier hunt left if there are any.
    pub(crate) fn hunt(mut self, jvms: &mut WarmJvms) -> Result<Hunted, Error> {
        let mut notices = Vec::new();
        if self.isolation != Isolation::Jvm {
            match warm::hunt(&self, (self.progress)(self.clock), jvms)? {
                Ok((result, executed)) => return Ok(Hunted { result, executed, notices }),
                Err(reason) => {
                    // A JVM that stays may keep a port or a file.
                    jvms.end();
                    notices.push(format!("every run had its own JVM: {reason}"));
                }
            }
        }
        let (mut result, mut executed) = self.in_processes()?;
        if self.manner.jobs > 1 && !verified::show_again(self.program, self.settings, &result)? {
            notices.push(ONE_AT_A_TIME.to_owned());
            self.manner.jobs = 1;
            (result, executed) = self.in_processes()?;
        }
        Ok(Hunted { result, executed, notices })
    }

    fn in_processes(&mut self) -> Result<(HuntResult, Executed), Error> {
        self.clock.begin_again();
        let progress = (self.progress)(self.clock);
        hunt_in_processes(self.settings, self.program, self.manner, self.clock, progress)
    }
}
