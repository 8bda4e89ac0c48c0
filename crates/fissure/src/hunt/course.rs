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
use crate::{error::Error, progress::Progress, signals};

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
    /// Whether findings did not show again when their runs were repeated.
    pub(crate) has_unrepeated: bool,
}

impl Course<'_> {
    /// Hunts, in JVMs that an earlier hunt left if there are any.
    pub(crate) fn hunt(mut self, jvms: &mut WarmJvms) -> Result<Hunted, Error> {
        let mut notices = Vec::new();
        let mut warm = None;
        if self.isolation != Isolation::Jvm {
            match warm::hunt(&self, (self.progress)(self.clock), jvms)? {
                Ok(hunted) => warm = Some(hunted),
                Err(reason) => {
                    // A JVM that stays may keep a port or a file.
                    jvms.end();
                    notices.push(format!("every run had its own JVM: {reason}"));
                }
            }
        }
        let (mut result, executed, is_verified) = match warm {
            Some((result, executed)) => (result, executed, true),
            None => self.in_processes_that_may_disturb_each_other(&mut notices)?,
        };
        let unrepeated =
            signals::despite_interruption(|is_interrupted| match is_verified && !is_interrupted {
                true => Ok(None),
                false => verified::grade(self.program, self.settings, &mut result, is_interrupted),
            })?;
        let has_unrepeated = unrepeated.is_some();
        notices.extend(unrepeated);
        Ok(Hunted { result, executed, notices, has_unrepeated })
    }

    /// Hunts in new JVMs: several at the same time, or one after the other if findings do not show again when their runs are repeated
    /// alone. Returns also whether the findings were repeated.
    fn in_processes_that_may_disturb_each_other(
        &mut self,
        notices: &mut Vec<String>,
    ) -> Result<(HuntResult, Executed, bool), Error> {
        let (result, executed) = self.in_processes()?;
        if self.manner.jobs == 1 {
            return Ok((result, executed, false));
        }
        if verified::show_again(self.program, self.settings, &result)? {
            return Ok((result, executed, true));
        }
        notices.push(ONE_AT_A_TIME.to_owned());
        self.manner.jobs = 1;
        let (result, executed) = self.in_processes()?;
        Ok((result, executed, false))
    }

    fn in_processes(&mut self) -> Result<(HuntResult, Executed), Error> {
        self.clock.begin_again();
        let progress = (self.progress)(self.clock);
        hunt_in_processes(self.settings, self.program, self.manner, self.clock, progress)
    }
}
