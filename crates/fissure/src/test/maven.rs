//! The test class paths of a Maven project.
//!
//! Maven's compiler plugin, which every build of Java has, tells them in the log of `mvn -X test-compile`: each module's tests are compiled
//! with their whole class path. So no other plugin is needed, and modules that depend on each other are resolved as in a build.

use std::{
    path::{Path, PathBuf},
    process::{Command, Stdio},
};

use super::{error::TestError, project::Module};
use crate::progress::Progress;

/// The goal that compiles tests, in the line that tells its configuration.
const GOAL: &str = ":testCompile' with basic configurator";
/// How a line of the configuration begins.
const PARAMETER: &str = "(f) ";

/// The modules of the project in a folder. They are compiled if that `builds`.
pub(crate) fn modules(directory: &Path, builds: bool, progress: &Progress) -> Result<Vec<Module>, TestError> {
    let maven = maven_of(directory);
    let mut text = String::new();
    for is_offline in [true, false] {
        progress
            .show_task(if is_offline { "mvn test-compile, offline" } else { "mvn test-compile" }.to_owned());
        let mut command = Command::new(&maven);
        command.args(["--batch-mode", "-X", "test-compile"]).current_dir(directory).stdin(Stdio::null());
        if is_offline {
            command.arg("--offline");
        }
        if !builds {
            command.args(["-Dmaven.main.skip=true", "-Dmaven.test.skip=true"]);
        }
        let output = command.output().map_err(|error| TestError::NoBuildTool {
            tool: maven.display().to_string(),
            reason: error.to_string(),
        })?;
        text = String::from_utf8_lossy(&output.stdout).into_owned();
        if output.status.success() {
            let modules = read(&text);
            let found = modules.is_empty().then(|| TestError::NoClassPath { tool: "Maven".to_owned() });
            return found.map_or(Ok(modules), Err);
        }
        // Errors in the sources do not go away with the network.
        if text.contains("COMPILATION ERROR") {
            break;
        }
    }
    let reason = reason(&text);
    Err(TestError::BuildFailed { tool: "mvn test-compile".to_owned(), reason })
}

/// Fetches an artifact, `group:name:version`, with what it depends on; returns whether that worked.
pub(crate) fn fetch(directory: &Path, artifact: &str) -> bool {
    let mut command = Command::new(maven_of(directory));
    command.args(["--batch-mode", "--quiet", "dependency:get"]).arg(format!("-Dartifact={artifact}"));
    command.current_dir(directory).stdin(Stdio::null());
    command.output().is_ok_and(|output| output.status.success())
}

/// The project's own wrapper, or the Maven on the path.
fn maven_of(directory: &Path) -> PathBuf {
    let wrappers = directory.ancestors().map(|folder| folder.join("mvnw"));
    wrappers.into_iter().find(|wrapper| wrapper.is_file()).unwrap_or_else(|| PathBuf::from("mvn"))
}

/// The modules that the log of a build tells.
fn read(log: &str) -> Vec<Module> {
    let mut modules = Vec::new();
    let mut lines = log.lines().map(plain);
    while let Some(line) = lines.next() {
        if !line.contains(GOAL) {
            continue;
        }
        let mut module = Module { usual_names: true, ..Module::default() };
        for line in lines.by_ref() {
            let Some((name, value)) = parameter(&line) else {
                if line.contains("end configuration") {
                    break;
                }
                continue;
            };
            match name {
                "basedir" => module.directory = PathBuf::from(value),
                "outputDirectory" => module.roots = vec![PathBuf::from(value)],
                // The name differs between versions of the plugin.
                "classpathElements" | "testPath" => module.class_path = list(value),
                _ => {}
            }
        }
        // A module without tests, such as the parent of others, has no folder for their classes.
        if !module.class_path.is_empty() && module.roots.iter().any(|root| root.is_dir()) {
            modules.push(module);
        }
    }
    modules
}

/// A line of the log without colours.
fn plain(line: &str) -> String {
    let mut text = String::new();
    let mut rest = line;
    while let Some((before, after)) = rest.split_once('\u{1b}') {
        text.push_str(before);
        rest = after.split_once('m').map_or("", |(_, after)| after);
    }
    text + rest
}

fn parameter(line: &str) -> Option<(&str, &str)> {
    let (_, rest) = line.split_once(PARAMETER)?;
    rest.split_once(" = ")
}

fn list(value: &str) -> Vec<String> {
    let inner = value.trim().strip_prefix('[').and_then(|value| value.strip_suffix(']')).unwrap_or_default();
    inner.split(", ").filter(|entry| !entry.is_empty()).map(str::to_owned).collect()
}

/// The first error of a build, in one line.
fn reason(log: &str) -> String {
    let lines = log.lines().map(plain);
    let errors: Vec<String> =
        lines.filter_map(|line| Some(line.strip_prefix("[ERROR] ")?.trim().to_owned())).collect();
    let is_telling = |line: &&String| !line.is_empty() && !line.contains("COMPILATION ERROR");
    let first = errors.iter().find(is_telling).cloned();
    first.unwrap_or_else(|| "run `mvn test-compile` to see why".to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn class_paths_are_read_from_the_log() {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path().join("core/target/test-classes");
        std::fs::create_dir_all(&root).unwrap();
        let (base, root) = (folder.path().join("core"), root.display().to_string());
        let log = format!(
            "[INFO] Scanning\n\
             [\u{1b}[1mDEBUG\u{1b}[m] Configuring mojo 'org.apache.maven.plugins:maven-compiler-plugin:3.1:compile' with basic configurator -->\n\
             [DEBUG]   (f) classpathElements = [/wrong]\n\
             [DEBUG] -- end configuration --\n\
             [DEBUG] Configuring mojo 'org.apache.maven.plugins:maven-compiler-plugin:3.11.0:testCompile' with basic configurator -->\n\
             [DEBUG]   (f) basedir = {}\n\
             [DEBUG]   (s) source = 11\n\
             [DEBUG]   (f) outputDirectory = {root}\n\
             [DEBUG]   (f) testPath = [{root}, /m2/a b.jar]\n\
             [DEBUG] -- end configuration --\n\
             [DEBUG] Configuring mojo 'org.apache.maven.plugins:maven-compiler-plugin:3.11.0:testCompile' with basic configurator -->\n\
             [DEBUG]   (f) outputDirectory = /missing/target/test-classes\n\
             [DEBUG]   (f) testPath = [/x]\n\
             [DEBUG] -- end configuration --\n",
            base.display()
        );
        let expected = Module {
            directory: base,
            class_path: vec![root.clone(), "/m2/a b.jar".to_owned()],
            roots: vec![root.into()],
            usual_names: true,
        };
        assert_eq!(read(&log), [expected]);
    }

    #[test]
    fn the_first_error_that_says_something_is_told() {
        let log =
            "[ERROR] COMPILATION ERROR : \n[ERROR] /p/A.java:[3,5] ';' expected\n[ERROR] Failed to execute";
        assert_eq!(reason(log), "/p/A.java:[3,5] ';' expected");
        assert_eq!(reason("[INFO] nothing"), "run `mvn test-compile` to see why");
    }
}
