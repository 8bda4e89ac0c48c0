//! Fissure's output: reports and errors go to standard error, other formats to their files.
//!
//! Standard output belongs to the program under test; only commands that run none write there.

use std::{
    fs,
    io::{self, Write},
    path::{Path, PathBuf},
    process::ExitCode,
};

use anstream::{AutoStream, ColorChoice};
use fissure_report::{Report, SourceFinder, object, object::ObjectReport, text, text::Options};

use crate::{
    args::{Color, Stop},
    error::Error,
    verdict::Code,
};

/// The number of columns if the terminal does not report one.
const WIDTH: usize = 100;

/// Prints an error, in one sentence.
pub(crate) fn print_error(error: &Error) {
    say(&format!("fissure: {error}\n"));
}

/// Prints a remark while the program runs, in its own line.
pub(crate) fn remark(text: &str) {
    say(&format!("fissure: {text}\n"));
}

/// Ends a command line that is not executed.
pub(crate) fn stop(stop: &Stop) -> ExitCode {
    match stop {
        Stop::Answer(text) => match io::stdout().write_all(text.as_bytes()) {
            Ok(()) => Code::Clean.into(),
            Err(_) => Code::Error.into(),
        },
        Stop::Misuse(text) => {
            say(text);
            Code::Error.into()
        }
    }
}

/// The stream that a report is written to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Stream {
    /// Standard output, for commands that run no program.
    Output,
    /// Standard error, beside a program.
    Error,
}

/// Prints a program's output.
pub(crate) fn pass_on(printed: &[u8]) {
    // As for Fissure's own output: a closed standard error is no reason to fail.
    let _ = io::stderr().write_all(printed);
}

/// Shows a report.
pub(crate) fn show(
    report: &Report,
    stream: Stream,
    color: Color,
    verbose: bool,
    sources: &dyn SourceFinder,
) -> Result<(), Error> {
    let options = Options { width: width(stream), color: use_color(stream, color), verbose };
    let text = text::render(report, &options, sources);
    match stream {
        Stream::Output => print(&text)?,
        Stream::Error => {
            // The program may have left its last line open.
            let gap = if report.runs > 0 { "\n" } else { "" };
            say(&format!("{gap}{text}"));
        }
    }
    Ok(())
}

/// Shows the report about a class, on standard output: no program under test uses it.
pub(crate) fn show_object(
    report: &ObjectReport,
    notices: &[String],
    color: Color,
    verbose: bool,
) -> Result<(), Error> {
    let options = Options { width: width(Stream::Output), color: use_color(Stream::Output, color), verbose };
    print(&object::render(report, notices, &options))
}

fn print(text: &str) -> Result<(), Error> {
    match io::stdout().write_all(text.as_bytes()) {
        // A reader such as `head` may close the pipe early.
        Err(error) if error.kind() != io::ErrorKind::BrokenPipe => Err(Error::Output(error)),
        _ => Ok(()),
    }
}

/// A file that was found to be writable.
#[derive(Debug)]
pub(crate) struct OutputFile {
    /// The option that names it.
    option: &'static str,
    /// As the user named it.
    named: PathBuf,
    /// The real path, after symbolic links.
    target: PathBuf,
    /// Whether it is appended to: devices, pipes and open files must not be replaced.
    in_place: bool,
}

impl OutputFile {
    /// Checks that the file can be written, before a run whose report would be lost. No file is left behind.
    pub(crate) fn check(option: &'static str, path: &Path) -> Result<Self, Error> {
        let target = fs::canonicalize(path).unwrap_or_else(|_| path.to_owned());
        let there = fs::metadata(&target);
        // `/dev/stdout` leads to the file that is open there.
        let open = path.starts_with("/dev") || path.starts_with("/proc");
        let in_place = open || there.as_ref().is_ok_and(|there| !there.is_file());
        let file = OutputFile { option, named: path.to_owned(), target, in_place };
        let probe = match there {
            Ok(there) if there.is_dir() => Err(io::ErrorKind::IsADirectory.into()),
            _ if in_place => file.open().map(drop),
            _ if file.target.file_name().is_none() => Err(io::ErrorKind::InvalidFilename.into()),
            _ => file.temporary().map(drop),
        };
        probe.map_err(|source| file.error(source))?;
        Ok(file)
    }

    /// Writes the text, whole or not at all.
    pub(crate) fn write(&self, text: &str) -> Result<(), Error> {
        self.write_text(text).map_err(|source| self.error(source))
    }

    fn write_text(&self, text: &str) -> io::Result<()> {
        if self.in_place {
            return self.open()?.write_all(text.as_bytes());
        }
        let mut file = self.temporary()?;
        file.write_all(text.as_bytes())?;
        file.persist(&self.target).map_err(|error| error.error)?;
        Ok(())
    }

    fn open(&self) -> io::Result<fs::File> {
        fs::OpenOptions::new().append(true).open(&self.named)
    }

    fn temporary(&self) -> io::Result<tempfile::NamedTempFile> {
        use std::os::unix::fs::PermissionsExt;
        let folder = match self.target.parent() {
            Some(folder) if !folder.as_os_str().is_empty() => folder,
            _ => Path::new("."),
        };
        // The user's umask applies, as for any file that a command writes.
        tempfile::Builder::new()
            .prefix(".fissure-")
            .permissions(fs::Permissions::from_mode(0o666))
            .tempfile_in(folder)
    }

    fn error(&self, source: io::Error) -> Error {
        // The error of a temporary file names that file, which would only confuse.
        let source = io::Error::from(source.kind());
        Error::Write { option: self.option, path: self.named.display().to_string(), source }
    }
}

/// A closed standard error is no reason to fail: the exit code still gives the result.
fn say(text: &str) {
    let _ = io::stderr().write_all(text.as_bytes());
}

fn use_color(stream: Stream, color: Color) -> bool {
    match color {
        Color::Always => true,
        Color::Never => false,
        Color::Auto => {
            let choice = match stream {
                Stream::Output => AutoStream::choice(&io::stdout()),
                Stream::Error => AutoStream::choice(&io::stderr()),
            };
            choice != ColorChoice::Never
        }
    }
}

fn width(stream: Stream) -> usize {
    let size = match stream {
        Stream::Output => terminal_size::terminal_size_of(io::stdout()),
        Stream::Error => terminal_size::terminal_size_of(io::stderr()),
    };
    match size {
        Some((terminal_size::Width(columns), _)) => usize::from(columns).max(40),
        None => WIDTH,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(path: &Path, writable: bool) {
        let checked = OutputFile::check("--json", path);
        assert_eq!(checked.is_ok(), writable, "{path:?}: {checked:?}");
    }

    #[test]
    fn a_check_for_a_writable_file_leaves_nothing_behind() {
        let folder = tempfile::tempdir().unwrap();
        check(&folder.path().join("new.json"), true);
        check(&folder.path().join("missing").join("new.json"), false);
        check(folder.path(), false);
        check(Path::new("/dev/null"), true);
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 0);
    }

    #[test]
    fn writing_replaces_a_file_and_follows_links() {
        let folder = tempfile::tempdir().unwrap();
        let real = folder.path().join("real.json");
        let link = folder.path().join("link.json");
        fs::write(&real, "old").unwrap();
        std::os::unix::fs::symlink(&real, &link).unwrap();
        OutputFile::check("--json", &link).unwrap().write("new").unwrap();
        assert_eq!(fs::read_to_string(&real).unwrap(), "new");
        assert!(fs::symlink_metadata(&link).unwrap().is_symlink());
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 2);
    }
}
