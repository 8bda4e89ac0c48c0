//! One controlled run, in its own process group and folder and with a time limit.

use std::{
    ffi::OsString,
    io::Read,
    os::unix::process::CommandExt,
    path::{Path, PathBuf},
    process::{Child, Stdio},
    sync::mpsc::{Receiver, channel},
    thread,
    time::{Duration, Instant},
};

use fissure_hunt::{Ending, Outcome};
use fissure_model::{
    iteration::IterationSettings,
    pattern::Pattern,
    pointcut::Pointcut,
    settings::{Control, ControlledSettings, Mode, Settings},
};

use super::process::process;
use crate::{abandoned, collect, error::Error, launch, project, run_folder, signals};

/// How often the end of a run is checked for.
const INTERVAL: Duration = Duration::from_millis(4);
/// How much of the program's output is kept, for each of its two streams.
pub(super) const KEPT: usize = 16 * 1024;
/// How long to wait for the end of the program's output once all its processes are gone.
const OUTPUT_GRACE: Duration = Duration::from_secs(2);

/// The program, and the agent that it runs with.
#[derive(Debug, Clone)]
pub(crate) struct Program<'a> {
    pub(crate) command: &'a [OsString],
    /// The working directory, if it is not Fissure's.
    pub(crate) directory: Option<&'a Path>,
    pub(crate) scope: &'a [Pointcut],
    pub(crate) atomic: &'a [Pattern],
    pub(crate) time_limit: Duration,
    pub(crate) agent: PathBuf,
    /// The results of the static analysis.
    pub(crate) locality: Option<PathBuf>,
    /// The folder for the folders of the runs.
    pub(crate) folder: &'a Path,
    pub(crate) iterated: Iterated,
    /// Whether a debugger may stop its threads: then nothing is concluded from time that passes.
    pub(crate) is_debugged: bool,
}

/// What its runs in a warm JVM have of their own.
#[derive(Debug, Clone, Default)]
pub(crate) struct Iterated {
    /// The entries of the class path whose classes all runs share.
    pub(crate) kept: Vec<String>,
    /// The arguments of the program, if its JVM executes it with others too.
    pub(crate) arguments: Option<Vec<String>>,
}

/// The handling of the program's output.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Print {
    /// Keep its beginning.
    Keep,
    /// Show it as it comes.
    Show,
}

/// A run that has ended.
#[derive(Debug)]
pub(crate) struct Finished {
    /// The result.
    pub(crate) outcome: Outcome,
    /// The beginning of the program's output, if that was kept.
    pub(crate) output: Vec<u8>,
}

impl Program<'_> {
    /// Runs the program once.
    pub(crate) fn run(&self, control: Control, print: Print) -> Result<Finished, Error> {
        let folder = run_folder::create_in(self.folder)?;
        let (seed, goal, is_patient) = (control.seed, control.goal.clone(), control.is_patient);
        tracing::info!(seed, goal = goal.as_ref().map(tracing::field::display), folder = ?folder.path(), "a run begins");
        let settings = folder.path().join("settings.json");
        self.write_settings(control, None, &settings)?;
        let mut command = launch::controlled(self.command, &self.agent, &settings)?;
        // The terminal signals its foreground process group; a run has its own group, so that Fissure ends runs one by one.
        command.process_group(0).stdin(Stdio::null());
        self.directory.map(|directory| command.current_dir(directory));
        if print == Print::Keep {
            command.stdout(Stdio::piped()).stderr(Stdio::piped());
        }
        let mut child = launch::spawn(&mut command)?;
        let streams = [child.stdout.take().map(keep), child.stderr.take().map(keep)];
        let ending = self.wait_for(&mut child);
        let ending = ending.map_err(|source| launch::wait_error(&command, source))?;
        let mut printed = Vec::new();
        for stream in streams.into_iter().flatten() {
            printed.extend(stream.recv_timeout(OUTPUT_GRACE).unwrap_or_default());
        }
        let jvms = collect::read_folder(folder.path()).map_err(Error::Folder)?;
        if jvms.iter().any(|jvm| !jvm.ended) {
            run_folder::check_room(folder.path())?;
        }
        if jvms.iter().any(|jvm| !jvm.findings.is_empty()) {
            abandoned::keep_records(folder.path(), self.folder);
        }
        tracing::info!(seed, ?ending, jvms = jvms.len(), "a run has ended");
        let processes = jvms.into_iter().map(process).collect();
        Ok(Finished { outcome: Outcome { seed, goal, is_patient, ending, processes }, output: printed })
    }

    /// Writes the settings of a JVM, for one run or for several.
    pub(super) fn write_settings(
        &self,
        control: Control,
        iterations: Option<IterationSettings>,
        file: &Path,
    ) -> Result<(), Error> {
        let settings = Settings {
            scope: self.scope.to_vec(),
            whereabouts: project::whereabouts(),
            mode: Mode::Control(Box::new(ControlledSettings {
                control,
                atomic: self.atomic.to_vec(),
                locality: self.locality.as_deref().map(run_folder::locality_file),
                supervisor: std::process::id(),
                iterations,
                is_debugged: self.is_debugged,
            })),
            log: run_folder::log_filter(),
        };
        run_folder::write_settings(&settings, file)
    }

    /// Waits until the program ends, and kills it at the time limit or if Fissure is interrupted.
    fn wait_for(&self, child: &mut Child) -> std::io::Result<Ending> {
        let begun = Instant::now();
        let stopped = loop {
            if signals::has_ended(child)? {
                break None;
            }
            if signals::interrupted() {
                break Some(Ending::Interrupted);
            }
            if begun.elapsed() > self.time_limit {
                break Some(Ending::TimeLimit);
            }
            thread::sleep(INTERVAL);
        };
        // Kill processes that the program left in the background, so that they do not disturb the next run.
        signals::kill_group(child);
        let status = child.wait()?;
        Ok(stopped.unwrap_or(Ending::Ended(launch::exit(status))))
    }
}

/// Reads a stream to its end in a thread, which sends the beginning.
fn keep(mut stream: impl Read + Send + 'static) -> Receiver<Vec<u8>> {
    let (sender, receiver) = channel();
    thread::spawn(move || {
        let mut kept = Vec::new();
        let mut part = [0; 4096];
        while let Ok(length @ 1..) = stream.read(&mut part) {
            let room = KEPT - kept.len();
            kept.extend_from_slice(&part[..length.min(room)]);
        }
        // The receiver may have timed out, if a process that escaped the group kept the stream open.
        let _ = sender.send(kept);
    });
    receiver
}
