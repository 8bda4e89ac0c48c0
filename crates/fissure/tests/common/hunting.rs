//! A folder in which a test hunts in some of the programs.

use std::{
    fs,
    path::{Path, PathBuf},
    process::{Command, Output, Stdio},
    sync::OnceLock,
};

use super::{fissure, output_text, read_report};

/// A folder for one test.
pub(crate) struct Place {
    pub(crate) folder: tempfile::TempDir,
}

impl Place {
    pub(crate) fn new() -> Self {
        Place { folder: tempfile::tempdir().unwrap() }
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// Fissure in this folder.
    pub(crate) fn fissure(&self, arguments: &[&str]) -> Output {
        let mut fissure = fissure();
        // The cached result of an earlier version of the static analysis must not be used here.
        fissure.args(arguments).env("XDG_CACHE_HOME", self.path("cache"));
        fissure.current_dir(self.folder.path()).stdin(Stdio::null()).output().unwrap()
    }

    /// Hunts in one of the programs, and gives the exit code and the report.
    pub(crate) fn hunt(&self, options: &[&str], class: &str) -> (Option<i32>, String) {
        let json = self.path("report.json");
        let (json, classes) = (json.to_str().unwrap(), classes().to_str().unwrap());
        let all = [
            &["hunt", "--reference-runs", "4", "--json", json],
            options,
            &["--", "java", "-cp", classes, class],
        ]
        .concat();
        let output = self.fissure(&all);
        assert!(output.stdout.is_empty(), "the program's output is not Fissure's: {}", output_text(&output));
        let text = fs::read_to_string(json).unwrap_or_else(|_| panic!("no report: {}", output_text(&output)));
        read_report(&text);
        (output.status.code(), text)
    }

    pub(crate) fn replay(&self, options: &[&str], class: &str) -> Output {
        let classes = classes().to_str().unwrap();
        self.fissure(&[&["replay"], options, &["--", "java", "-cp", classes, class]].concat())
    }
}

/// The programs that tests hunt in.
const PROGRAMS: [&str; 13] = [
    "AccountTransfer",
    "AccountTransferFixed",
    "ArrayTotal",
    "DaemonInterferes",
    "ExecutorTasks",
    "ExitInThread",
    "LockOrder",
    "TicketCounter",
    "LazyExit",
    "LazyExitFixed",
    "CheckedMap",
    "CasCounter",
    "VolatileCounterFixed",
];

/// The programs' class files, compiled once.
pub(crate) fn classes() -> &'static Path {
    static CLASSES: OnceLock<PathBuf> = OnceLock::new();
    CLASSES.get_or_init(|| {
        let sources = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../programs/hunt");
        let classes = Path::new(env!("CARGO_TARGET_TMPDIR")).join("hunt-classes");
        fs::create_dir_all(&classes).unwrap();
        let output = Command::new("javac")
            .args(["-g", "-d"])
            .arg(&classes)
            .args(PROGRAMS.map(|name| sources.join(name).with_extension("java")))
            .output()
            .unwrap();
        assert!(output.status.success(), "{}", output_text(&output));
        classes
    })
}
