//! `--static`: finds the class files of a command, analyses them, and caches the result.

mod classes;
mod command;
#[cfg(test)]
mod jdk_knowledge;
mod jimage;

use std::{
    env,
    ffi::{OsStr, OsString},
    fs,
    io::{self, Write},
    path::{Path, PathBuf},
    process::Command,
    time::{Duration, Instant},
};

use fissure_classfile::flow::content_hash;
use fissure_model::locality::Locality;
use fissure_static::{Entry, Progress as Part, analyse};

use crate::{agent, launch, progress::Progress};
use classes::Classes;
use command::Main;
use jimage::ModuleFile;

/// Progress is shown if the analysis takes longer than this.
const PATIENCE: Duration = Duration::from_millis(500);

/// Variables whose options the JVM adds to those of the command line.
const ADDING: [&str; 3] = ["JAVA_TOOL_OPTIONS", "JDK_JAVA_OPTIONS", "_JAVA_OPTIONS"];

/// Why a program cannot be analysed before it runs.
#[derive(Debug, thiserror::Error)]
pub(crate) enum LocalityError {
    #[error(
        "--static cannot know the class path of '{0}': give the command as `java -cp … MainClass`, or leave --static out"
    )]
    NotJava(String),
    #[error("--static cannot read a command line that is not UTF-8: leave --static out")]
    Words,
    #[error("--static found no main class on the command line: give the command as `java -cp … MainClass`")]
    NoMainClass,
    #[error(
        "--static analyses class files, and {0} is a source file: compile it with javac and run the class, or leave \
         --static out"
    )]
    Source(String),
    #[error("--static cannot tell which classes {0} brings in: leave --static out")]
    Replaced(String),
    #[error("--static cannot read {path} ({reason}): check the class path, or leave --static out")]
    Read { path: String, reason: String },
    #[error(
        "--static found no class {0} with a main method on the class path: check its spelling and the class path"
    )]
    NoSuchMain(String),
    #[error("--static cannot read the classes of the JDK at {path} ({reason}): leave --static out")]
    Jdk { path: String, reason: String },
}

/// Analyses the program that a command runs, or takes the result from the cache. The result is written to a file in `folder`.
pub(crate) fn prepare(command: &[OsString], folder: &Path) -> Result<PathBuf, LocalityError> {
    let program = command.first().map(OsString::as_os_str).unwrap_or_default();
    if !launch::is_java(program) {
        return Err(LocalityError::NotJava(program.to_string_lossy().into_owned()));
    }
    let added = ADDING.iter().filter_map(|name| env::var(name).ok()).collect::<Vec<_>>().join(" ");
    let java = command::parse(&command[1..], Some(&added), env::var_os("CLASSPATH"))?;
    let home = java_home(program)?;
    let modules = home.join("lib").join("modules");
    let jdk_error =
        |error: io::Error| LocalityError::Jdk { path: home.display().to_string(), reason: error.to_string() };
    let jdk = fs::metadata(&modules).map_err(jdk_error)?;
    let release = fs::read_to_string(home.join("release")).unwrap_or_default();
    let module_file = ModuleFile::open(&modules).map_err(jdk_error)?;
    let mut classes = Classes::open(module_file, &java.class_path, &java.agents, feature(&release))?;
    let main = match java.main {
        Main::Class(name) => name,
        Main::Module(_, Some(name)) => name,
        Main::Archive(_) => classes.main.clone().ok_or(LocalityError::NoMainClass)?,
        Main::Module(..) => return Err(LocalityError::NoMainClass),
    };
    let services = classes.services();
    let (mut made, mut providers) = (services.of_jdk, services.all);
    made.extend(classes.agents.iter().map(|name| name.replace('.', "/")));
    let named = java.values.iter().filter(|value| classes.has(value)).map(|value| value.replace('.', "/"));
    made.extend(named);
    for names in [&mut made, &mut providers] {
        names.sort();
        names.dedup();
    }
    let entry = Entry { main: main.replace('.', "/"), made, providers };
    let key = format!(
        "{} {} {:?} {:016x} {} {:?} {release}",
        crate::VERSION,
        fissure_static::VERSION,
        entry,
        classes.hash,
        jdk.len(),
        jdk.modified().ok(),
    );
    let name = format!("static-{:016x}.json", content_hash(key.as_bytes()));
    let kept = agent::cache().map(|cache| cache.join(&name));
    let result = folder.join("locality.json");
    if let Some(kept) = &kept
        && let Ok(text) = fs::read_to_string(kept)
        && serde_json::from_str::<Locality>(&text).is_ok()
        && fs::write(&result, &text).is_ok()
    {
        return Ok(result);
    }
    let begun = Instant::now();
    let progress = Progress::of_task("static analysis");
    let locality = analyse(&mut classes, &entry, &mut |part| {
        if begun.elapsed() > PATIENCE {
            progress.show_task(describe(part));
        }
    });
    drop(progress);
    let locality = locality.map_err(|_| LocalityError::NoSuchMain(main))?;
    let unwritten = |error: io::Error| LocalityError::Read {
        path: result.display().to_string(),
        reason: error.to_string(),
    };
    let text = serde_json::to_string(&locality).map_err(|error| unwritten(error.into()))?;
    fs::write(&result, &text).map_err(unwritten)?;
    if let Some(kept) = kept {
        // A cache that cannot be written makes no difference to this run.
        let _ = keep(&kept, &text);
    }
    Ok(result)
}

/// Opens a class path, and the JDK that a `java` belongs to behind it.
pub(crate) fn open_classes(java: &Path, class_path: &[PathBuf]) -> Result<Classes, LocalityError> {
    let home = java_home(java.as_os_str())?;
    let jdk_error =
        |error: io::Error| LocalityError::Jdk { path: home.display().to_string(), reason: error.to_string() };
    let modules = ModuleFile::open(&home.join("lib").join("modules")).map_err(jdk_error)?;
    let release = fs::read_to_string(home.join("release")).unwrap_or_default();
    Classes::open(modules, class_path, &[], feature(&release))
}

/// Writes a result so that no other process sees an incomplete file.
fn keep(path: &Path, text: &str) -> io::Result<()> {
    let folder = path.parent().unwrap_or(Path::new("/"));
    fs::create_dir_all(folder)?;
    let mut file = tempfile::NamedTempFile::new_in(folder)?;
    file.write_all(text.as_bytes())?;
    file.persist(path).map_err(|error| error.error)?;
    Ok(())
}

/// The feature number of the JDK that a `java` belongs to, if the path of `java` shows that.
pub(crate) fn java_feature(program: &OsStr) -> Option<u32> {
    let home = java_home_by_path(program)?;
    fs::read_to_string(home.join("release")).ok().map(|release| feature(&release))
}

/// The home of the JDK that a `java` belongs to, by its path. A `java` that is a script belongs to none.
fn java_home_by_path(program: &OsStr) -> Option<PathBuf> {
    let path = Path::new(program);
    let found = if path.components().count() > 1 {
        Some(path.to_owned())
    } else {
        let folders = env::var_os("PATH").unwrap_or_default();
        env::split_paths(&folders).map(|folder| folder.join(path)).find(|file| file.is_file())
    };
    let real = found.and_then(|file| file.canonicalize().ok())?;
    real.parent().and_then(Path::parent).filter(|home| home.join("lib/modules").is_file()).map(Path::to_owned)
}

/// The home of the JDK that a `java` belongs to: found by its path, or else printed by `java`.
fn java_home(program: &OsStr) -> Result<PathBuf, LocalityError> {
    let unknown =
        |reason: String| LocalityError::Jdk { path: program.to_string_lossy().into_owned(), reason };
    if let Some(home) = java_home_by_path(program) {
        return Ok(home);
    }
    // `java` may be a script that chooses a JDK.
    let output = Command::new(program)
        .args(["-XshowSettings:properties", "-version"])
        .output()
        .map_err(|error| unknown(error.to_string()))?;
    let text = String::from_utf8_lossy(&output.stderr).into_owned();
    let home = text.lines().find_map(|line| line.trim().strip_prefix("java.home = "));
    home.map(PathBuf::from).ok_or_else(|| unknown("it does not print its java.home".to_owned()))
}

/// The feature number of a Java version, such as 17, from the file `release`.
fn feature(release: &str) -> u32 {
    let version = release.lines().find_map(|line| line.strip_prefix("JAVA_VERSION="));
    let digits = version.unwrap_or_default().trim_matches('"');
    digits.split(['.', '-', '+']).next().and_then(|number| number.parse().ok()).unwrap_or(11)
}

/// A part of the analysis, in words.
fn describe(part: Part) -> String {
    match part {
        Part::Reaching => "finding reachable methods".to_owned(),
        Part::Methods(done, all) => format!("{done} of {all} methods"),
        Part::Solving => "finding shared locations".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use fissure_static::{TableCheck, check_modules, check_table};

    use super::*;

    #[test]
    fn versions_are_read() {
        for (release, expected) in [
            ("JAVA_VERSION=\"17.0.15\"\nX", 17),
            ("A\nJAVA_VERSION=\"25\"", 25),
            ("JAVA_VERSION=\"26-ea\"", 26),
            ("", 11),
        ] {
            assert_eq!(feature(release), expected, "{release}");
        }
    }

    /// Checks the table of the JDK's effects against the code of each JVM of the tests.
    #[test]
    #[allow(clippy::print_stdout, reason = "the test prints the rows that cannot be decided")]
    fn the_table_agrees_with_the_jdk() {
        let javas = env::var_os("FISSURE_TEST_JAVAS").unwrap_or_else(|| "java".into());
        let mut contradictions = Vec::new();
        for java in env::split_paths(&javas) {
            let Ok(home) = java_home(java.as_os_str()) else { continue };
            let modules = ModuleFile::open(&home.join("lib").join("modules")).unwrap();
            let mut names: Vec<String> = modules.names().map(str::to_owned).collect();
            names.sort();
            let mut classes = Classes::open(modules, &[], &[], 11).unwrap();
            // If the table said otherwise about these rows, the check must find a contradiction.
            for doubted in
                ["java/lang/ThreadLocal", "java/lang/System", "java/util/Timer", "java/util/TimeZone"]
            {
                let check = check_table(&mut classes, &[doubted.to_owned()], &[doubted]);
                assert!(!check.contradictions.is_empty(), "{doubted}: {check:?}");
            }
            let check = check_table(&mut classes, &names, &[]);
            let TableCheck { agreed, undecided, harmless, native, looked_into, .. } = check;
            println!(
                "{}: {agreed} methods do what their rows say, {undecided} cannot be decided, {harmless} are known to do no \
                 harm, {native} are native; {looked_into} methods were analysed",
                home.display()
            );
            assert!(agreed > 1000 && agreed > undecided, "{check:?}");
            contradictions.extend(check.contradictions);
            contradictions.extend(check_modules(&mut classes, &names));
        }
        contradictions.sort();
        contradictions.dedup();
        assert!(contradictions.is_empty(), "{}", contradictions.join("\n"));
    }

    #[test]
    fn other_commands_are_refused_with_the_next_step() {
        let folder = tempfile::tempdir().unwrap();
        let error = prepare(&["mvn".into(), "test".into()], folder.path()).unwrap_err();
        assert!(error.to_string().contains("`java -cp … MainClass`"));
    }
}
