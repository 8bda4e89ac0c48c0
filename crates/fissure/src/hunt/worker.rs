//! A JVM that executes one run after the other (see [`fissure_model::iteration`]).

use std::{
    collections::HashSet,
    fs::{File, OpenOptions},
    io::{self, BufRead, BufReader, ErrorKind, Read, Seek, SeekFrom, Write},
    os::unix::{
        net::{UnixListener, UnixStream},
        process::CommandExt,
    },
    path::Path,
    process::{Child, Stdio},
    thread,
    time::{Duration, Instant},
};

use fissure_hunt::{Ending, Outcome};
use fissure_model::{
    exit::Exit,
    iteration::{Answer, Isolation, IterationSettings, Request},
    record::Hello,
    settings::Control,
};
use tempfile::TempDir;

use super::{
    process::process,
    run::{Finished, KEPT, Program},
};
use crate::{abandoned, collect, error::Error, launch, run_folder, signals};

/// How often the socket, the JVM and the user are checked.
const INTERVAL: Duration = Duration::from_millis(4);

/// A JVM, ready for the next run.
#[derive(Debug)]
pub(crate) struct Worker {
    child: Child,
    connection: BufReader<UnixStream>,
    time_limit: Duration,
    hello: Option<Hello>,
    /// The records, standard output and standard error of the run that goes on.
    files: [File; 3],
    /// How many runs it has executed.
    pub(crate) runs: u64,
    /// The findings of which records were kept.
    kept: HashSet<String>,
    folder: TempDir,
}

/// What became of a request.
#[derive(Debug)]
pub(crate) enum Answered {
    /// The run has ended.
    Finished(Box<Finished>),
    /// The run has ended, and the JVM executes no more, for this reason. There is none if Fissure killed the JVM.
    Last(Box<Finished>, Option<String>),
    /// The run was not executed, and the JVM executes no more, for this reason.
    Retired(String),
    /// The JVM cannot repeat this program, for this reason.
    Refused(String),
    /// The JVM has ended without an answer.
    Died,
}

impl Worker {
    /// Starts a JVM for runs that are instrumented like this one; `None` if it ended, or reached the time limit, before it was ready.
    pub(crate) fn start(
        program: &Program<'_>,
        control: &Control,
        isolation: Isolation,
    ) -> Result<Option<Self>, Error> {
        let folder = run_folder::create_in(program.folder)?;
        let at = |name: &str| folder.path().join(name);
        let listener = UnixListener::bind(at("requests")).map_err(Error::Folder)?;
        listener.set_nonblocking(true).map_err(Error::Folder)?;
        let socket = at("requests").to_string_lossy().into_owned();
        let settings = at("settings.json");
        let kept = program.iterated.kept.clone();
        let iterations = IterationSettings { socket, isolation, kept };
        program.write_settings(control.clone(), Some(iterations), &settings)?;
        let mut command = launch::controlled(program.command, &program.agent, &settings)?;
        let [output, errors] = ["output", "errors"].map(|name| appended(&at(name)));
        let (output, errors) = (output.map_err(Error::Folder)?, errors.map_err(Error::Folder)?);
        let streams = [&output, &errors].map(File::try_clone);
        let [stdout, stderr] = streams;
        command.process_group(0).stdin(Stdio::null());
        program.directory.map(|directory| command.current_dir(directory));
        command.stdout(stdout.map_err(Error::Folder)?).stderr(stderr.map_err(Error::Folder)?);
        let mut child = launch::spawn(&mut command)?;
        let records = at(&format!("jvm-{}.jsonl", child.id()));
        let accepted = accept(&listener, &mut child, program.time_limit);
        let opened = accepted.and_then(|stream| {
            stream.set_read_timeout(Some(INTERVAL))?;
            Ok((BufReader::new(stream), appended(&records)?))
        });
        let Ok((connection, records)) = opened else {
            end(&mut child);
            return Ok(None);
        };
        let time_limit = program.time_limit;
        let files = [records, output, errors];
        Ok(Some(Self {
            child,
            connection,
            time_limit,
            hello: None,
            files,
            runs: 0,
            kept: HashSet::new(),
            folder,
        }))
    }

    /// Executes a run of a program that is started with the same command, apart from its arguments.
    pub(crate) fn run(&mut self, program: &Program<'_>, control: &Control) -> Result<Answered, Error> {
        self.runs += 1;
        let arguments = program.iterated.arguments.clone();
        let request = serde_json::to_vec(&Request { control: control.clone(), arguments });
        let mut request = request.map_err(|error| Error::Folder(error.into()))?;
        request.push(b'\n');
        if self.connection.get_mut().write_all(&request).is_err() {
            return Ok(Answered::Died);
        }
        let begun = Instant::now();
        let mut line = Vec::new();
        let stopped = loop {
            match self.connection.read_until(b'\n', &mut line) {
                Ok(0) => break None,
                Ok(_) if line.ends_with(b"\n") => break None,
                Ok(_) => {}
                Err(error) if matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::TimedOut) => {}
                Err(_) => break None,
            }
            if signals::interrupted() {
                break Some(Ending::Interrupted);
            }
            if begun.elapsed() > self.time_limit {
                break Some(Ending::TimeLimit);
            }
        };
        if let Some(ending) = stopped {
            end(&mut self.child);
            return Ok(Answered::Last(Box::new(self.finished(control, ending, [u64::MAX; 2])?), None));
        }
        Ok(match serde_json::from_slice(&line) {
            Ok(Answer::Retired { reason }) => Answered::Retired(reason),
            Ok(Answer::Refused { reason }) => Answered::Refused(reason),
            Ok(Answer::Ended { exit, printed, retired }) => {
                let finished = Box::new(self.finished(control, Ending::Ended(Exit::Code(exit)), printed)?);
                match retired {
                    None => Answered::Finished(finished),
                    retired => Answered::Last(finished, retired),
                }
            }
            Err(_) => Answered::Died,
        })
    }

    /// The result of the run, and empty files for the next one.
    fn finished(&mut self, control: &Control, ending: Ending, printed: [u64; 2]) -> Result<Finished, Error> {
        let [records, output, errors] = &mut self.files;
        let records = taken(records, u64::MAX).map_err(Error::Folder)?;
        let mut jvm = collect::parse(&records);
        if !jvm.ended {
            run_folder::check_room(self.folder.path())?;
        }
        let mut has_news = false;
        for finding in &jvm.findings {
            has_news |= self.kept.insert(finding.id.clone());
        }
        if has_news {
            abandoned::keep_run(self.folder.path(), self.runs, &records);
        }
        match &jvm.hello {
            Some(hello) => self.hello = Some(hello.clone()),
            None => jvm.hello = self.hello.clone(),
        }
        let [output_length, errors_length] = printed.map(|length| length.min(KEPT as u64));
        let mut printed = taken(output, output_length).map_err(Error::Folder)?;
        printed.extend(taken(errors, errors_length).map_err(Error::Folder)?);
        let (seed, goal, is_patient) = (control.seed, control.goal.clone(), control.is_patient);
        let outcome = Outcome { seed, goal, is_patient, ending, processes: vec![process(jvm)] };
        Ok(Finished { outcome, output: printed })
    }
}

impl Drop for Worker {
    fn drop(&mut self) {
        end(&mut self.child);
    }
}

/// Ends a JVM and all processes that it started.
fn end(child: &mut Child) {
    signals::kill_group(child);
    let _ = child.wait();
}

fn appended(path: &Path) -> io::Result<File> {
    OpenOptions::new().create(true).read(true).append(true).open(path)
}

/// The beginning of a file to which another process appends, and which is empty from here on.
fn taken(file: &mut File, most: u64) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    file.seek(SeekFrom::Start(0))?;
    file.take(most).read_to_end(&mut bytes)?;
    file.set_len(0)?;
    Ok(bytes)
}

/// Waits until the JVM connects.
fn accept(listener: &UnixListener, child: &mut Child, limit: Duration) -> io::Result<UnixStream> {
    let begun = Instant::now();
    loop {
        match listener.accept() {
            Ok((stream, _)) => {
                stream.set_nonblocking(false)?;
                return Ok(stream);
            }
            Err(error) if error.kind() == ErrorKind::WouldBlock => {}
            Err(error) => return Err(error),
        }
        if signals::has_ended(child)? || signals::interrupted() || begun.elapsed() > limit {
            return Err(io::Error::from(ErrorKind::TimedOut));
        }
        thread::sleep(INTERVAL / 4);
    }
}
