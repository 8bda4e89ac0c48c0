//! The test class paths of a project: asked from its build tool once, and remembered until one of its files changes.

use std::{
    env, fs,
    path::{Path, PathBuf},
    time::SystemTime,
};

use fissure_model::finding::fingerprint;
use serde::{Deserialize, Serialize};

use super::{TestArguments, error::TestError, gradle, maven};
use crate::{agent, progress::Progress};

/// Folders in which no source and no build file of the project is.
const NO_SOURCES: [&str; 8] = [".git", ".gradle", ".idea", ".mvn", "build", "node_modules", "out", "target"];

/// A module of a project.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Module {
    /// Its folder, in which its tests run.
    pub(crate) directory: PathBuf,
    /// The class path of its tests.
    pub(crate) class_path: Vec<String>,
    /// The folders and archives on the class path that have tests.
    pub(crate) roots: Vec<PathBuf>,
    /// Whether only classes with the usual names of tests are meant, as for Maven.
    pub(crate) usual_names: bool,
}

/// The build tools.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Tool {
    Maven,
    Gradle,
}

/// The modules of the project, compiled unless the user does not want that.
pub(crate) fn modules(options: &TestArguments) -> Result<Vec<Module>, TestError> {
    let directory = env::current_dir().unwrap_or_default();
    if let Some(path) = &options.classpath {
        return Ok(vec![given(path, directory)?]);
    }
    let tool = tool_of(&directory).ok_or_else(|| TestError::NoBuildFile(directory.display().to_string()))?;
    let files = Files::of(&directory);
    let kept = agent::cache().map(|cache| cache.join(format!("tests-{}.json", files.key(&directory))));
    let begun = SystemTime::now();
    if let Some(modules) = kept.as_deref().and_then(|kept| remembered(kept, &files, options.no_build)) {
        return Ok(modules);
    }
    let progress = Progress::of_task(if options.no_build { "asking the build tool" } else { "building" });
    let modules = match tool {
        Tool::Maven => maven::modules(&directory, !options.no_build, &progress)?,
        Tool::Gradle => gradle::modules(&directory, !options.no_build, &progress)?,
    };
    if let Some(kept) = kept {
        remember(&kept, &modules, begun);
    }
    Ok(modules)
}

fn tool_of(directory: &Path) -> Option<Tool> {
    let has = |name: &str| directory.join(name).is_file();
    if has("pom.xml") {
        return Some(Tool::Maven);
    }
    let gradle = ["build.gradle", "build.gradle.kts", "settings.gradle", "settings.gradle.kts"];
    gradle.into_iter().any(has).then_some(Tool::Gradle)
}

/// The class path that the user gave.
fn given(path: &std::ffi::OsStr, directory: PathBuf) -> Result<Module, TestError> {
    let mut class_path = Vec::new();
    let mut roots = Vec::new();
    for entry in env::split_paths(path).filter(|entry| !entry.as_os_str().is_empty()) {
        let entry = directory.join(entry);
        if !entry.exists() {
            return Err(TestError::NoEntry(entry.display().to_string()));
        }
        let name = entry.file_name().and_then(|name| name.to_str()).unwrap_or_default();
        if entry.is_dir() || name.ends_with("-tests.jar") || name.ends_with("-test.jar") {
            roots.push(entry.clone());
        }
        class_path.push(entry.to_string_lossy().into_owned());
    }
    Ok(Module { directory, class_path, roots, usual_names: false })
}

/// The files of a project that decide about its class path, and when any of its files last changed.
struct Files {
    /// Path and content of the build files.
    build: Vec<String>,
    newest: SystemTime,
}

impl Files {
    fn of(directory: &Path) -> Self {
        let mut files = Files { build: Vec::new(), newest: SystemTime::UNIX_EPOCH };
        files.add(directory);
        files.build.sort();
        files
    }

    fn add(&mut self, folder: &Path) {
        let Ok(entries) = fs::read_dir(folder) else { return };
        for entry in entries.flatten() {
            let (path, name) = (entry.path(), entry.file_name());
            let name = name.to_string_lossy();
            let Ok(kind) = entry.file_type() else { continue };
            if kind.is_dir() {
                if !NO_SOURCES.contains(&name.as_ref()) {
                    self.add(&path);
                }
            } else if kind.is_file() {
                let changed = entry.metadata().and_then(|metadata| metadata.modified());
                self.newest = self.newest.max(changed.unwrap_or(SystemTime::UNIX_EPOCH));
                if is_build_file(&name) {
                    let content = fs::read(&path).unwrap_or_default();
                    self.build.push(format!("{} {}", path.display(), String::from_utf8_lossy(&content)));
                }
            }
        }
    }

    fn key(&self, directory: &Path) -> String {
        let directory = directory.display().to_string();
        let parts: Vec<&str> =
            [directory.as_str()].into_iter().chain(self.build.iter().map(String::as_str)).collect();
        fingerprint(&parts)
    }
}

fn is_build_file(name: &str) -> bool {
    let endings = [".gradle", ".gradle.kts", ".lockfile", ".versions.toml"];
    name == "pom.xml" || name == "gradle.properties" || endings.iter().any(|ending| name.ends_with(ending))
}

/// The modules as they were remembered, if they are still there and no file has changed since.
fn remembered(kept: &Path, files: &Files, whatever_changed: bool) -> Option<Vec<Module>> {
    let written = fs::metadata(kept).and_then(|metadata| metadata.modified()).ok()?;
    if files.newest >= written && !whatever_changed {
        return None;
    }
    let modules: Vec<Module> = serde_json::from_slice(&fs::read(kept).ok()?).ok()?;
    let is_there = |module: &Module| {
        let entries = module.class_path.iter().filter(|entry| entry.ends_with(".jar"));
        module.roots.iter().all(|root| root.exists()) && entries.map(Path::new).all(Path::exists)
    };
    modules.iter().all(is_there).then_some(modules)
}

/// Remembers the modules as of a time. A folder that cannot be written to only costs time.
fn remember(kept: &Path, modules: &[Module], begun: SystemTime) {
    let write = || {
        let folder = kept.parent().unwrap_or(Path::new("."));
        fs::create_dir_all(folder)?;
        let file = tempfile::NamedTempFile::new_in(folder)?;
        fs::write(file.path(), serde_json::to_vec(modules)?)?;
        let file = file.persist(kept).map_err(|error| error.error)?;
        file.set_modified(begun)
    };
    if let Err(error) = write() {
        tracing::info!(%error, "the class path is not remembered");
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_class_path_is_remembered_until_a_file_changes() {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path();
        fs::create_dir_all(root.join("src")).unwrap();
        fs::create_dir_all(root.join("target")).unwrap();
        fs::write(root.join("pom.xml"), "<project/>").unwrap();
        fs::write(root.join("src/A.java"), "class A {}").unwrap();
        let modules = vec![Module { directory: root.to_owned(), ..Module::default() }];
        let kept = root.join("target/kept.json");
        let begun = SystemTime::now() + std::time::Duration::from_secs(1);
        remember(&kept, &modules, begun);
        let files = Files::of(root);
        assert_eq!(remembered(&kept, &files, false), Some(modules.clone()));
        let later = Files { newest: begun, ..Files::of(root) };
        assert_eq!(remembered(&kept, &later, false), None);
        assert_eq!(remembered(&kept, &later, true), Some(modules));
        let key = files.key(root);
        fs::write(root.join("target/x.txt"), "ignored").unwrap();
        assert_eq!(Files::of(root).key(root), key);
        fs::write(root.join("pom.xml"), "<project></project>").unwrap();
        assert_ne!(Files::of(root).key(root), key);
    }

    #[test]
    fn tests_are_in_folders_and_in_archives_of_tests() {
        let folder = tempfile::tempdir().unwrap();
        for file in ["pool-1.jar", "pool-1-tests.jar"] {
            fs::write(folder.path().join(file), "").unwrap();
        }
        fs::create_dir(folder.path().join("classes")).unwrap();
        let module = given("classes:pool-1.jar:pool-1-tests.jar".as_ref(), folder.path().to_owned()).unwrap();
        let roots = ["classes", "pool-1-tests.jar"].map(|name| folder.path().join(name));
        assert_eq!(module.roots, roots);
        assert!(given("missing".as_ref(), folder.path().to_owned()).is_err());
    }
}
