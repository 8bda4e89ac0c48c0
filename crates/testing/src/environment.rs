//! Commands that do the same wherever the tests run, and the tools that they need.

use std::{
    env,
    ffi::OsStr,
    fs,
    path::{Path, PathBuf},
    process::Command,
    sync::LazyLock,
};

/// Folders in which package managers install JDKs.
const JDK_FOLDERS: [&str; 3] = ["/usr/lib/jvm", "/usr/lib64/jvm", "/usr/java"];

/// Environment variables that affect JVMs, Fissure or its reports.
const VARIABLES: [&str; 24] = [
    "BUILDKITE_PARALLEL_JOB",
    "BUILDKITE_PARALLEL_JOB_COUNT",
    "CIRCLE_NODE_INDEX",
    "CIRCLE_NODE_TOTAL",
    "CI_NODE_INDEX",
    "CI_NODE_TOTAL",
    "CLASSPATH",
    "CLICOLOR",
    "CLICOLOR_FORCE",
    "FISSURE_AGENT",
    "FISSURE_LOG",
    "FISSURE_SHARDS",
    "JAVA_TOOL_OPTIONS",
    "JDK_JAVA_OPTIONS",
    "JOB_COMPLETION_INDEX",
    "NO_COLOR",
    "PARALLEL_SEQ",
    "SLURM_ARRAY_TASK_COUNT",
    "SLURM_ARRAY_TASK_ID",
    "SLURM_ARRAY_TASK_MAX",
    "SLURM_ARRAY_TASK_MIN",
    "SLURM_ARRAY_TASK_STEP",
    "SLURM_CONF",
    "_JAVA_OPTIONS",
];

/// A command that does the same in a shell and in the job of a CI system that numbers its jobs.
pub fn isolated(program: impl AsRef<OsStr>) -> Command {
    let mut command = Command::new(program);
    for variable in VARIABLES {
        command.env_remove(variable);
    }
    command
}

/// A program on the search path.
#[must_use]
pub fn find_on_path(name: &str) -> Option<PathBuf> {
    let path = env::var_os("PATH").unwrap_or_default();
    env::split_paths(&path).map(|folder| folder.join(name)).find(|candidate| candidate.is_file())
}

/// A tool of the JDK, by `JAVA_HOME` or by the search path.
///
/// # Panics
///
/// If there is none.
#[must_use]
pub fn jdk_tool(name: &str) -> PathBuf {
    let home = env::var_os("JAVA_HOME").map(|home| Path::new(&home).join("bin").join(name));
    home.filter(|tool| tool.is_file())
        .or_else(|| find_on_path(name))
        .unwrap_or_else(|| panic!("these tests need a JDK and there is no `{name}`: run `cargo xtask setup`"))
}

/// The JVMs to test on: the user's own, and those that `FISSURE_TEST_JAVAS` names (paths of `java`, separated by colons).
///
/// # Panics
///
/// If one of them is not there.
#[must_use]
pub fn javas() -> Vec<PathBuf> {
    let mut javas = vec![jdk_tool("java")];
    if let Some(more) = env::var_os("FISSURE_TEST_JAVAS") {
        javas.extend(env::split_paths(&more).filter(|path| !path.as_os_str().is_empty()));
    }
    for java in &javas {
        assert!(java.is_file(), "{} of FISSURE_TEST_JAVAS is no file", java.display());
    }
    javas
}

/// The `java` or `javac` of a JDK of at least this release: the user's own, one that `FISSURE_TEST_JAVAS` names, or the newest that is
/// installed. Programs that need a newer Java than the user's own run on it.
#[must_use]
pub fn newer_tool(name: &str, release: u32) -> Option<PathBuf> {
    /// The releases of all JDKs, with their folders of tools.
    static JDKS: LazyLock<Vec<(u32, PathBuf)>> = LazyLock::new(jdks);
    let enough = JDKS.iter().filter(|(there, _)| *there >= release);
    enough.map(|(_, folder)| folder.join(name)).find(|tool| tool.is_file())
}

fn jdks() -> Vec<(u32, PathBuf)> {
    let named = env::var_os("FISSURE_TEST_JAVAS").unwrap_or_default();
    let own = jdk_tool("java");
    let known = [own].into_iter().chain(env::split_paths(&named));
    let known = known.filter_map(|java| java.canonicalize().ok()?.parent().map(Path::to_owned));
    let mut known: Vec<(u32, PathBuf)> =
        known.filter_map(|folder| Some((release_of(folder.parent()?)?, folder))).collect();
    let entries = JDK_FOLDERS.iter().filter_map(|folder| fs::read_dir(folder).ok()).flatten().flatten();
    let homes = entries.filter_map(|entry| entry.path().canonicalize().ok());
    let mut installed: Vec<(u32, PathBuf)> =
        homes.filter_map(|home| Some((release_of(&home)?, home.join("bin")))).collect();
    installed.sort();
    known.extend(installed.into_iter().rev());
    known
}

/// The release of a JDK, by its file `release`.
fn release_of(home: &Path) -> Option<u32> {
    let text = fs::read_to_string(home.join("release")).ok()?;
    parse_version(text.lines().find(|line| line.starts_with("JAVA_VERSION="))?)
}

/// The release of a JVM, such as 17.
///
/// # Panics
///
/// If the JVM does not tell it.
#[must_use]
pub fn java_version(java: &Path) -> u32 {
    let output = isolated(java).arg("-version").output().expect("a JVM can be started");
    let text = String::from_utf8_lossy(&output.stderr).into_owned();
    parse_version(&text).unwrap_or_else(|| panic!("{} does not tell its version: {text}", java.display()))
}

fn parse_version(text: &str) -> Option<u32> {
    let version = text.split('"').nth(1)?;
    version.split(['.', '-', '+']).next()?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_are_parsed() {
        assert_eq!(parse_version("openjdk version \"17.0.15\" 2025-04-15\n"), Some(17));
        assert_eq!(parse_version("openjdk version \"25-ea\" 2025-09-16\n"), Some(25));
        assert_eq!(parse_version("Unrecognized option\n"), None);
    }

    #[test]
    fn the_users_own_jdk_is_preferred() {
        let own = jdk_tool("javac").canonicalize().unwrap();
        assert_eq!(newer_tool("javac", 11).and_then(|tool| tool.canonicalize().ok()), Some(own));
        assert_eq!(newer_tool("javac", 999), None);
        let home = tempfile::tempdir().unwrap();
        fs::write(home.path().join("release"), "IMPLEMENTOR=\"X\"\nJAVA_VERSION=\"21.0.8\"\n").unwrap();
        assert_eq!(release_of(home.path()), Some(21));
    }

    #[test]
    fn commands_do_not_inherit_what_jobs_set() {
        let command = isolated("true");
        assert!(command.get_envs().any(|(name, value)| name == "JAVA_TOOL_OPTIONS" && value.is_none()));
    }
}
