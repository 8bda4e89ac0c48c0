//! Finds the root of the user's project: classes in archives that were built below it belong to the application.

use std::{
    env,
    path::{Path, PathBuf},
};

use fissure_model::settings::Whereabouts;

/// Files and folders that only the root of a project has.
const ROOT_FILES: &[&str] = &[
    ".git",
    ".hg",
    ".mvn",
    ".svn",
    "MODULE.bazel",
    "WORKSPACE",
    "build.sbt",
    "gradlew",
    "mvnw",
    "settings.gradle",
    "settings.gradle.kts",
];

/// Files that each module of a project may have.
const BUILD_FILES: &[&str] =
    &["BUILD", "BUILD.bazel", "build.gradle", "build.gradle.kts", "build.xml", "pom.xml", "project.clj"];

/// The working directory and the root of its project.
pub(crate) fn whereabouts() -> Whereabouts {
    let Some(directory) = env::current_dir().and_then(|directory| directory.canonicalize()).ok() else {
        return Whereabouts::default();
    };
    let home = env::var_os("HOME").map(PathBuf::from).and_then(|home| home.canonicalize().ok());
    let root = root_of(&directory, home.as_deref(), |path| path.exists());
    let text = |path: &Path| path.to_str().map(str::to_owned);
    Whereabouts { directory: text(&directory), project: root.and_then(text) }
}

/// The root of the project that a directory belongs to: the nearest ancestor with a file that only the root of a project has, or else the
/// highest one up to which every directory has a build file. Neither the user's home nor `/` is a project.
fn root_of<'a>(directory: &'a Path, home: Option<&Path>, exists: impl Fn(&Path) -> bool) -> Option<&'a Path> {
    let has = |path: &Path, names: &[&str]| names.iter().any(|name| exists(&path.join(name)));
    let is_project = |path: &&Path| Some(*path) != home && path.parent().is_some();
    let ancestors = || directory.ancestors().take_while(is_project);
    let top = ancestors().find(|path| has(path, ROOT_FILES));
    top.or_else(|| {
        let nearest = ancestors().skip_while(|path| !has(path, BUILD_FILES));
        nearest.take_while(|path| has(path, BUILD_FILES)).last()
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(directory: &str, files: &[&str], expected: Option<&str>) {
        let exists = |path: &Path| files.iter().any(|file| Path::new(file) == path);
        let root = root_of(Path::new(directory), Some(Path::new("/home/me")), exists);
        assert_eq!(root, expected.map(Path::new), "{directory} {files:?}");
    }

    #[test]
    fn the_root_of_a_project_is_found() {
        check("/home/me/bank", &["/home/me/bank/pom.xml"], Some("/home/me/bank"));
        check("/home/me/bank/src/main", &["/home/me/bank/pom.xml"], Some("/home/me/bank"));
        let modules = ["/home/me/bank/pom.xml", "/home/me/bank/core/pom.xml"];
        check("/home/me/bank/core", &modules, Some("/home/me/bank"));
        let gradle = ["/home/me/bank/settings.gradle", "/home/me/bank/modules/core/build.gradle"];
        check("/home/me/bank/modules/core", &gradle, Some("/home/me/bank"));
        check("/home/me/notes", &[], None);
        check("/home/me/notes", &["/home/me/.git", "/home/me/pom.xml"], None);
        check("/", &["/pom.xml"], None);
    }
}
