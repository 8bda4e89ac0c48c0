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

use fissure_model::{
    goal::Goal,
    pattern::Pattern,
    pointcut::Pointcut,
    record::{Run, RunEnd},
    settings::{Control, ControlledSettings, Mode, Settings},
};
use fissure_report::Exit;

use crate::{
    collect::{self, Jvm},
    error::Error,
    launch, project, run_folder, signals,
};

/// How often the end of a run is checked for.
const INTERVAL: Duration = Duration::from_millis(4);
/// How much of the program's output is kept, for each of its two streams.
const KEPT: usize = 16 * 1024;
/// How long to wait for the end of the program's output once all its processes are gone.
const OUTPUT_GRACE: Duration = Duration::from_secs(2);

/// The program, and the agent that it runs with.
#[derive(Debug)]
pub(crate) struct Program<'a> {
    pub(crate) command: &'a [OsString],
    pub(crate) scope: &'a [Pointcut],
    pub(crate) atomic: &'a [Pattern],
    pub(crate) time_limit: Duration,
    pub(crate) agent: PathBuf,
    /// The results of the static analysis.
    pub(crate) locality: Option<PathBuf>,
    /// The folder for the folders of the runs.
    pub(crate) folder: &'a Path,
}

/// The handling of the program's output.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Print {
    /// Keep its beginning.
    Keep,
    /// Show it as it comes.
    Show,
}

/// How a run ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Ending {
    /// The program ended, or was ended by the conductor.
    Ended(Exit),
    /// It took too long and was killed.
    TimeLimit,
    /// Fissure was interrupted.
    Interrupted,
}

/// The result of one run.
#[derive(Debug)]
pub(crate) struct Outcome {
    /// The seed of its random choices.
    pub(crate) seed: u64,
    /// The goal that it tried to reach.
    pub(crate) goal: Option<Goal>,
    /// How it ended.
    pub(crate) ending: Ending,
    /// The records of its JVMs.
    pub(crate) jvms: Vec<Jvm>,
    /// The beginning of its output, if that was kept.
    pub(crate) printed: Vec<u8>,
}

impl Outcome {
    /// The records of its controlled JVMs about their runs.
    pub(crate) fn accounts(&self) -> impl Iterator<Item = &Run> {
        self.jvms.iter().filter_map(|jvm| jvm.run.as_ref())
    }

    /// How the conductor ended the run: the worst end of its JVMs.
    pub(crate) fn end(&self) -> RunEnd {
        let ends = [RunEnd::Deadlock, RunEnd::Hang, RunEnd::TooLong];
        ends.into_iter().find(|end| self.accounts().any(|run| run.end == *end)).unwrap_or(RunEnd::Finished)
    }

    /// The program's exit code or signal; `None` if Fissure ended the run.
    pub(crate) fn own_exit(&self) -> Option<Exit> {
        match self.ending {
            Ending::Ended(exit) if self.end() == RunEnd::Finished => Some(exit),
            _ => None,
        }
    }

    /// Failures of Fissure: such a run says nothing about the program.
    pub(crate) fn internal_errors(&self) -> impl Iterator<Item = &String> {
        self.jvms.iter().flat_map(|jvm| &jvm.internal_errors)
    }

    /// Whether every watched JVM recorded its whole run.
    pub(crate) fn is_complete(&self) -> bool {
        let mut watched = self.jvms.iter().filter(|jvm| jvm.watched()).peekable();
        watched.peek().is_some() && watched.all(|jvm| jvm.ended && jvm.run.is_some())
    }

    /// Why another run with this seed and goal may differ.
    pub(crate) fn uncontrolled(&self) -> impl Iterator<Item = &str> {
        self.accounts().flat_map(|run| &run.uncontrolled).map(String::as_str)
    }
}

impl Program<'_> {
    /// Runs the program once.
    pub(crate) fn run(&self, control: Control, print: Print) -> Result<Outcome, Error> {
        let folder = run_folder::create_in(self.folder)?;
        let (seed, goal) = (control.seed, control.target.clone());
        tracing::info!(seed, goal = goal.as_ref().map(tracing::field::display), folder = ?folder.path(), "a run begins");
        let settings = folder.path().join("settings.json");
        self.write_settings(control, &settings)?;
        let mut process = launch::controlled(self.command, &self.agent, &settings)?;
        // The terminal signals its foreground process group; a run has its own group, so that Fissure ends runs one by one.
        process.process_group(0).stdin(Stdio::null());
        if print == Print::Keep {
            process.stdout(Stdio::piped()).stderr(Stdio::piped());
        }
        let mut child = launch::spawn(&mut process)?;
        let streams = [child.stdout.take().map(keep), child.stderr.take().map(keep)];
        let ending = self.wait_for(&mut child);
        let ending = ending.map_err(|source| launch::wait_error(&process, source))?;
        let mut printed = Vec::new();
        for stream in streams.into_iter().flatten() {
            printed.extend(stream.recv_timeout(OUTPUT_GRACE).unwrap_or_default());
        }
        let jvms = collect::read_folder(folder.path()).map_err(Error::Folder)?;
        tracing::info!(seed, ?ending, jvms = jvms.len(), "a run has ended");
        Ok(Outcome { seed, goal, ending, jvms, printed })
    }

    fn write_settings(&self, control: Control, file: &Path) -> Result<(), Error> {
        let settings = Settings {
            scope: self.scope.to_vec(),
            whereabouts: project::whereabouts(),
            mode: Mode::Control(Box::new(ControlledSettings {
                control,
                atomic: self.atomic.to_vec(),
                locality: self.locality.as_deref().map(run_folder::locality_file),
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
