//! Compares with Lincheck on the programs of this repository: the same classes and operations, small arguments, its model checker with
//! default settings. Lincheck is fetched by Maven; without it the comparison is left out.

use std::{
    fs,
    path::Path,
    time::{Duration, Instant},
};

use anyhow::{Context, Result};

use crate::{
    jdk::Jdk,
    real::class_path,
    workspace::{root, succeed},
};

const ARTIFACT: &str = "org.jetbrains.lincheck:lincheck:3.4";

/// The longest time for a class, in seconds.
const MOST: u64 = 60;

/// A class: how it is made, its operations as `result name parameters`, and whether it is correct.
pub(crate) struct Subject {
    pub(crate) class: &'static str,
    made: &'static str,
    operations: &'static [(&'static str, &'static str, &'static [&'static str])],
    pub(crate) is_correct: bool,
}

const INVENTORY: &[(&str, &str, &[&str])] = &[
    ("void", "restock", &["String", "int"]),
    ("boolean", "reserve", &["String"]),
    ("int", "available", &["String"]),
];
const CACHE: &[(&str, &str, &[&str])] =
    &[("void", "put", &["String", "int"]), ("Integer", "get", &["String"]), ("int", "size", &[])];
const METER: &[(&str, &str, &[&str])] =
    &[("void", "mark", &["int"]), ("long", "total", &[]), ("long", "peak", &[])];
const DIRECTORY: &[(&str, &str, &[&str])] = &[
    ("void", "register", &["String", "int"]),
    ("Integer", "lookup", &["String"]),
    ("int", "size", &[]),
    ("boolean", "rename", &["String", "String"]),
];
const PERMITS: &[(&str, &str, &[&str])] =
    &[("boolean", "tryTake", &[]), ("void", "give", &[]), ("int", "left", &[])];

/// The classes to compare.
pub(crate) const SUBJECTS: &[Subject] = &[
    Subject { class: "Inventory", made: "new Inventory()", operations: INVENTORY, is_correct: false },
    Subject {
        class: "InventoryFixed",
        made: "new InventoryFixed()",
        operations: INVENTORY,
        is_correct: true,
    },
    Subject { class: "BoundedCache", made: "new BoundedCache(2)", operations: CACHE, is_correct: false },
    Subject {
        class: "BoundedCacheFixed",
        made: "new BoundedCacheFixed(2)",
        operations: CACHE,
        is_correct: true,
    },
    Subject { class: "Meter", made: "Meter.create()", operations: METER, is_correct: false },
    Subject { class: "MeterFixed", made: "MeterFixed.create()", operations: METER, is_correct: true },
    Subject { class: "Directory", made: "new Directory()", operations: DIRECTORY, is_correct: false },
    Subject {
        class: "DirectoryFixed",
        made: "new DirectoryFixed()",
        operations: DIRECTORY,
        is_correct: true,
    },
    Subject { class: "Permits", made: "Permits.builder().build()", operations: PERMITS, is_correct: false },
    Subject {
        class: "PermitsFixed",
        made: "PermitsFixed.builder().build()",
        operations: PERMITS,
        is_correct: true,
    },
];

/// Lincheck, ready to run.
pub(crate) struct Lincheck<'a> {
    jdk: &'a Jdk,
    path: String,
    folder: &'a Path,
}

/// What Lincheck says about a class.
pub(crate) struct Verdict {
    /// Whether it found something; `None` if the time was over.
    pub(crate) found: Option<bool>,
    /// The time, including the start of the JVM.
    pub(crate) time: Duration,
}

impl<'a> Lincheck<'a> {
    /// Fetches Lincheck, and compiles the classes and their tests.
    pub(crate) fn prepare(jdk: &'a Jdk, folder: &'a Path, classes: &Path) -> Result<Self> {
        let libraries = class_path(&[ARTIFACT.to_owned()], &folder.join("lincheck"))?;
        let tests = folder.join("tests");
        fs::create_dir_all(&tests).context("cannot make a folder for the tests")?;
        let path = format!("{libraries}:{}:{}", classes.display(), tests.display());
        let mut javac = jdk.tool("javac");
        javac.args(["-nowarn", "-cp", &path, "-d"]).arg(&tests);
        for subject in SUBJECTS {
            let file = tests.join(format!("{}Test.java", subject.class));
            fs::write(&file, subject.test()).context("cannot write a test")?;
            javac.arg(file);
        }
        succeed(&mut javac)?;
        Ok(Lincheck { jdk, path, folder })
    }

    /// Checks one class.
    pub(crate) fn check(&self, subject: &Subject) -> Result<Verdict> {
        let began = Instant::now();
        let mut java = self.jdk.tool("java");
        java.args(["-cp", &self.path, &format!("{}Test", subject.class)]);
        let log = fs::File::create(self.folder.join("lincheck.log")).context("cannot write the log")?;
        let mut child = java.stdout(log.try_clone()?).stderr(log).spawn().context("cannot start java")?;
        loop {
            if let Some(status) = child.try_wait()? {
                return Ok(Verdict { found: status.code().map(|code| code == 1), time: began.elapsed() });
            }
            if began.elapsed() > Duration::from_secs(MOST) {
                child.kill()?;
                child.wait()?;
                return Ok(Verdict { found: None, time: began.elapsed() });
            }
            std::thread::sleep(Duration::from_millis(10));
        }
    }
}

impl Subject {
    /// The source of the program that the tests compile.
    pub(crate) fn source(&self) -> std::path::PathBuf {
        root().join("programs/object").join(format!("{}.java", self.class))
    }

    /// The test, which ends with exit code 1 if Lincheck finds a violation.
    fn test(&self) -> String {
        let class = self.class;
        let mut text = format!(
            "import org.jetbrains.lincheck.datastructures.*;\n\npublic class {class}Test {{\n    private final {class} object = {};\n\n",
            self.made
        );
        for (result, name, parameters) in self.operations {
            let declared = parameters.iter().enumerate().map(|(at, one)| match *one {
                "String" => format!("@Param(gen = StringGen.class, conf = \"1:ab\") String p{at}"),
                other => format!("@Param(gen = IntGen.class, conf = \"0:1\") {other} p{at}"),
            });
            let declared = declared.collect::<Vec<_>>().join(", ");
            let passed = (0..parameters.len()).map(|at| format!("p{at}")).collect::<Vec<_>>().join(", ");
            let returns = if *result == "void" { "" } else { "return " };
            text.push_str(&format!(
                "    @Operation\n    public {result} {name}({declared}) {{\n        {returns}object.{name}({passed});\n    }}\n\n"
            ));
        }
        text.push_str(&format!(
            "    public static void main(String[] arguments) {{\n        try {{\n            \
             new org.jetbrains.kotlinx.lincheck.LinChecker({class}Test.class, new ModelCheckingOptions()).check();\n        \
             }} catch (Throwable found) {{\n            System.out.println(found);\n            System.exit(1);\n        }}\n        \
             System.exit(0);\n    }}\n}}\n"
        ));
        text
    }
}
