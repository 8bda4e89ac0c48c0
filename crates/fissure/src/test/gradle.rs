//! The test class paths of a Gradle project, which an init script prints.

use std::{
    fs,
    path::{Path, PathBuf},
    process::{Command, Stdio},
};

use super::{error::TestError, project::Module};
use crate::progress::Progress;

/// Adds a task to every project with a source set for tests. The launcher of the JUnit Platform is added as Gradle's own test task does it.
const SCRIPT: &str = r#"
allprojects { project ->
    project.afterEvaluate {
        def sets = project.extensions.findByName("sourceSets")
        def test = sets == null ? null : sets.findByName("test")
        if (test == null) return
        project.tasks.register("fissureClassPath") { task ->
            if (project.hasProperty("fissureBuilds")) task.dependsOn(test.classesTaskName)
            def classes = test.output.classesDirs
            def path = test.runtimeClasspath
            def directory = project.projectDir
            task.doLast {
                println("FISSURE\t" + directory + "\t" + classes.files.join("|") + "\t" + path.files.join("|"))
            }
        }
    }
}
"#;

/// The modules of the project in a folder. They are compiled if that `builds`.
pub(crate) fn modules(directory: &Path, builds: bool, progress: &Progress) -> Result<Vec<Module>, TestError> {
    let wrappers = directory.ancestors().map(|folder| folder.join("gradlew"));
    let gradle =
        wrappers.into_iter().find(|wrapper| wrapper.is_file()).unwrap_or_else(|| PathBuf::from("gradle"));
    let no_tool = |error: std::io::Error| TestError::NoBuildTool {
        tool: gradle.display().to_string(),
        reason: error.to_string(),
    };
    let folder = tempfile::tempdir().map_err(no_tool)?;
    let script = folder.path().join("fissure.gradle");
    fs::write(&script, SCRIPT).map_err(no_tool)?;
    let mut errors = String::new();
    for is_offline in [true, false] {
        progress.show_task(
            if is_offline { "gradle testClasses, offline" } else { "gradle testClasses" }.to_owned(),
        );
        let mut command = Command::new(&gradle);
        command.arg("--quiet").arg("--init-script").arg(&script).arg("fissureClassPath");
        command.current_dir(directory).stdin(Stdio::null());
        if is_offline {
            command.arg("--offline");
        }
        if builds {
            command.arg("-PfissureBuilds");
        }
        let output = command.output().map_err(no_tool)?;
        if output.status.success() {
            let modules = read(&String::from_utf8_lossy(&output.stdout));
            let found = modules.is_empty().then(|| TestError::NoClassPath { tool: "Gradle".to_owned() });
            return found.map_or(Ok(modules), Err);
        }
        errors = String::from_utf8_lossy(&output.stderr).into_owned();
        if errors.contains("Compilation failed") {
            break;
        }
    }
    Err(TestError::BuildFailed { tool: "gradle testClasses".to_owned(), reason: reason(&errors) })
}

fn read(output: &str) -> Vec<Module> {
    let line = |line: &str| {
        let parts: Vec<&str> = line.split('\t').collect();
        let [_, directory, roots, class_path] = parts[..] else { return None };
        let list = |text: &str| -> Vec<String> {
            text.split('|')
                .filter(|entry| !entry.is_empty() && Path::new(entry).exists())
                .map(str::to_owned)
                .collect()
        };
        let roots: Vec<PathBuf> = list(roots).into_iter().map(PathBuf::from).collect();
        (!roots.is_empty()).then(|| Module {
            directory: directory.into(),
            class_path: list(class_path),
            roots,
            usual_names: false,
        })
    };
    output.lines().filter(|text| text.starts_with("FISSURE\t")).filter_map(line).collect()
}

/// The first line that says what went wrong.
fn reason(errors: &str) -> String {
    let line = errors.lines().map(str::trim).find(|line| line.contains(": error:"));
    let after =
        || errors.lines().map(str::trim).skip_while(|line| !line.starts_with("* What went wrong")).nth(1);
    line.or_else(after).unwrap_or("run `gradle testClasses` to see why").to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn class_paths_are_read_from_the_output() {
        let folder = tempfile::tempdir().unwrap();
        let here = folder.path().display().to_string();
        let output = format!(
            "hello\nFISSURE\t/p/core\t{here}|/missing\t{here}|/missing.jar\nFISSURE\t/p/app\t/missing\t\n"
        );
        let [module] = &read(&output)[..] else { panic!() };
        assert_eq!(module.directory, Path::new("/p/core"));
        assert_eq!((&module.roots, &module.class_path), (&vec![here.clone().into()], &vec![here]));
    }

    #[test]
    fn the_reason_of_a_failure_is_found() {
        let check = |errors: &str, expected: &str| assert_eq!(reason(errors), expected);
        check("/p/A.java:3: error: ';' expected\n* What went wrong:\nx", "/p/A.java:3: error: ';' expected");
        check("FAILURE:\n* What went wrong:\nCould not resolve y.", "Could not resolve y.");
        check("", "run `gradle testClasses` to see why");
    }
}
