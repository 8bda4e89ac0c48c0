//! All programs, their classes, the JVMs to run on, and the text of a failure.

use std::{
    collections::BTreeMap,
    ffi::OsString,
    path::{Path, PathBuf},
    process::Command,
    sync::{Arc, OnceLock, PoisonError, RwLock},
    time::Duration,
};

use fissure_testing::{
    Ended, Folder, OLDEST_RELEASE, Outcome, Program, Trial, compiled_once, java_version, javas, jdk_tool,
    newer_tool, run_to_end, shell_line,
};
use serde_json::Value;

use crate::common;

/// JVMs start faster with these options, on which the findings do not depend.
pub(crate) const QUICK_START: [&str; 2] = ["-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC"];

/// How many lines of standard error a failure shows.
const LAST_LINES: usize = 15;

/// All programs with headers.
pub(crate) struct Suite {
    folders: BTreeMap<Folder, Group>,
    javas: Vec<Arc<Java>>,
    /// Held for reading by tests that run beside others, and for writing by those that need all processors.
    processors: RwLock<()>,
}

/// The programs of a folder, and where they are compiled to once the first test needs it.
struct Group {
    programs: Arc<Vec<Program>>,
    classes: OnceLock<Result<PathBuf, String>>,
}

/// A JVM.
pub(crate) struct Java {
    pub(crate) path: PathBuf,
    /// The end of the names of its tests; nothing for the default JVM.
    label: String,
    release: OnceLock<u32>,
}

/// What a test is about.
pub(crate) struct Subject<'a> {
    pub(crate) folder: Folder,
    /// Its number among the programs of the folder.
    pub(crate) number: usize,
    pub(crate) java: &'a Arc<Java>,
    /// A part of the test's name in brackets.
    pub(crate) mode: Option<&'a str>,
    /// Whether no other test may run at the same time.
    pub(crate) needs_all_processors: bool,
}

/// A run of Fissure: its options, the command of the program, its input, and how long it may take.
pub(crate) struct Launch<'a> {
    pub(crate) options: Vec<OsString>,
    pub(crate) java: Vec<OsString>,
    pub(crate) stdin: &'a str,
    pub(crate) limit: Duration,
}

/// How a run ended, and its report; the error says why there is none.
pub(crate) struct Finished {
    pub(crate) command: Command,
    pub(crate) ended: Ended,
    pub(crate) report: Result<Value, String>,
}

impl Suite {
    /// Reads all programs. The error lists the headers that are not as they should be.
    pub(crate) fn read() -> Result<Self, String> {
        let mut folders = BTreeMap::new();
        for folder in Folder::DETECT.into_iter().chain([Folder::Hunt, Folder::Assets, Folder::Object]) {
            let programs = Arc::new(folder.programs()?);
            folders.insert(folder, Group { programs, classes: OnceLock::new() });
        }
        let javas = javas().into_iter().enumerate().map(|(number, path)| Arc::new(Java::new(number, path)));
        Ok(Suite { folders, javas: javas.collect(), processors: RwLock::new(()) })
    }

    pub(crate) fn programs(&self, folder: Folder) -> &Arc<Vec<Program>> {
        &self.folders[&folder].programs
    }

    /// The JVMs to test on; the first is the default one.
    pub(crate) fn javas(&self) -> &[Arc<Java>] {
        &self.javas
    }

    /// The folder with the classes of a folder's programs, which are compiled at the first call.
    pub(crate) fn classes(&self, folder: Folder) -> Result<&Path, String> {
        let group = &self.folders[&folder];
        let classes = group.classes.get_or_init(|| {
            let classes = Path::new(env!("CARGO_TARGET_TMPDIR")).join("programs").join(folder.name());
            compiled_once(&jdk_tool("javac"), &group.programs, &classes).map(|()| classes)
        });
        classes.as_deref().map_err(String::clone)
    }

    /// A test of one program.
    pub(crate) fn trial(
        self: &Arc<Self>,
        subject: &Subject<'_>,
        check: impl FnOnce(&Case<'_>) -> Result<(), String> + Send + 'static,
    ) -> Trial {
        let Subject { folder, number, java, mode, needs_all_processors } = *subject;
        let mode = mode.map(|mode| format!("[{mode}]")).unwrap_or_default();
        let name = format!("{}::{}{mode}{}", folder.name(), self.programs(folder)[number].name, java.label);
        let (suite, java) = (Arc::clone(self), Arc::clone(java));
        Trial::new(name.clone(), move || {
            // A test that failed while it held the lock has left nothing behind.
            let (_alone, _beside_others) = match needs_all_processors {
                true => (Some(suite.processors.write().unwrap_or_else(PoisonError::into_inner)), None),
                false => (None, Some(suite.processors.read().unwrap_or_else(PoisonError::into_inner))),
            };
            let program = &suite.programs(folder)[number];
            let java = match java.that_runs(program) {
                Ok(java) => java,
                Err(reason) => return Ok(Outcome::Skipped(reason)),
            };
            let classes = suite.classes(folder)?;
            check(&Case { name: &name, program, java: &java, classes }).map(|()| Outcome::Passed)
        })
    }
}

impl Java {
    fn new(number: usize, path: PathBuf) -> Self {
        let release = OnceLock::new();
        let label = match number {
            0 => String::new(),
            // Two JVMs may have the same release.
            number => format!("@{}-{number}", release.get_or_init(|| java_version(&path))),
        };
        Java { path, label, release }
    }

    fn release(&self) -> u32 {
        *self.release.get_or_init(|| java_version(&self.path))
    }

    /// This JVM, or in place of the default one a newer one if the program needs it; the error says why none runs it. Every supported JVM
    /// runs most programs, so that it need not be asked for its release.
    fn that_runs(&self, program: &Program) -> Result<PathBuf, String> {
        let needed = program.release();
        if needed <= OLDEST_RELEASE || needed <= self.release() && newer_tool("javac", needed).is_some() {
            return Ok(self.path.clone());
        }
        let is_default = self.label.is_empty();
        let newer = newer_tool("javac", needed).filter(|_| is_default);
        newer.map(|javac| javac.with_file_name("java")).ok_or_else(|| match is_default {
            true => format!("it needs a JDK {needed}, and there is none"),
            false => format!("it needs Java {needed}, and this is Java {}", self.release()),
        })
    }
}

/// A program on a JVM.
pub(crate) struct Case<'a> {
    pub(crate) name: &'a str,
    pub(crate) program: &'a Program,
    pub(crate) java: &'a Path,
    pub(crate) classes: &'a Path,
}

impl Case<'_> {
    /// The command that starts the program, with more options of the JVM.
    pub(crate) fn java_command(&self, options: &[&str]) -> Vec<OsString> {
        let header = &self.program.header;
        let mut words = vec![self.java.as_os_str().to_owned()];
        words.extend(options.iter().map(OsString::from));
        words.extend(header.java_options.iter().map(OsString::from));
        words.extend([
            "-cp".into(),
            self.classes.as_os_str().to_owned(),
            OsString::from(&self.program.class),
        ]);
        words.extend(header.arguments.iter().map(OsString::from));
        words
    }

    /// An error with everything that helps to understand the problems, if there are any.
    pub(crate) fn result(&self, problems: &[String], finished: &Finished) -> Result<(), String> {
        if problems.is_empty() {
            return Ok(());
        }
        let mut text = format!("{} on {}\n", self.program.path.display(), self.java.display());
        let mut list = |title: &str, mark: &str, lines: &mut dyn Iterator<Item = String>| {
            text.push_str(&format!("  {title}\n"));
            lines.for_each(|line| text.push_str(&format!("    {mark} {line}\n")));
        };
        list("what is wrong:", "-", &mut problems.iter().cloned());
        list("expected, by its header:", "|", &mut self.program.lines.iter().cloned());
        let findings = finished.report.as_ref().ok().and_then(|report| report["findings"].as_array());
        list("found:", "|", &mut findings.into_iter().flatten().map(describe));
        let again = format!("cargo test -p fissure --test programs -- --exact '{}'", self.name);
        list("again:", "$", &mut [again, shell_line(&finished.command)].into_iter());
        let stderr = String::from_utf8_lossy(&finished.ended.stderr);
        let lines: Vec<&str> = stderr.lines().collect();
        let last = &lines[lines.len().saturating_sub(LAST_LINES)..];
        list("the end of its standard error:", "|", &mut last.iter().map(|&line| line.to_owned()));
        Err(text)
    }
}

impl Launch<'_> {
    /// Runs Fissure, with a cache of its own: the cached result of an earlier version of the static analysis must not be used.
    pub(crate) fn run(self) -> Finished {
        let folder = tempfile::tempdir().expect("a temporary folder can be made");
        let json = folder.path().join("report.json");
        let mut command = common::fissure();
        command.args(&self.options).arg("--json").arg(&json).arg("--").args(&self.java);
        command.env("XDG_CACHE_HOME", folder.path());
        let ended = run_to_end(&mut command, self.stdin, self.limit);
        let report = std::fs::read(&json).map_err(|error| error.to_string());
        let report = report.and_then(|text| serde_json::from_slice(&text).map_err(|error| error.to_string()));
        Finished { command, ended, report }
    }
}

/// A finding in a line.
fn describe(finding: &Value) -> String {
    let word = |key: &str| finding[key].as_str().unwrap_or_default().to_owned();
    let ordered = if finding["ordered"] == true { " (ordered)" } else { "" };
    let pattern =
        finding["pattern"].as_u64().map(|pattern| format!(" pattern {pattern}")).unwrap_or_default();
    format!("{} {} {} {}{pattern}{ordered}", word("status"), word("analysis"), word("kind"), word("subject"))
}
