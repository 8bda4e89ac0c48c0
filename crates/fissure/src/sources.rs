//! Finds source files, in folders that the user names and in usual ones.

use std::{
    cell::RefCell,
    collections::HashMap,
    env,
    ffi::OsString,
    fs,
    path::{Component, Path, PathBuf},
    rc::Rc,
};

use fissure_report::SourceFinder;

/// Folders of sources relative to the working directory.
const USUAL: [&str; 4] = ["", "src/main/java", "src/test/java", "src"];

/// Finds source files and caches their text.
#[derive(Debug)]
pub(crate) struct Sources {
    directory: PathBuf,
    folders: Vec<PathBuf>,
    /// Source files that the command itself names (`java Main.java`).
    files: Vec<PathBuf>,
    read: RefCell<HashMap<PathBuf, Option<Rc<str>>>>,
}

impl Sources {
    /// Searches the folders `named` by the user, then usual folders of `directory` and the class path of `command`, which is
    /// relative to `directory`.
    pub(crate) fn new(named: &[PathBuf], directory: &Path, command: &[OsString]) -> Self {
        let mut folders = named.to_vec();
        folders.extend(USUAL.iter().map(|usual| directory.join(usual)));
        folders.extend(
            class_path(command).into_iter().map(|entry| directory.join(entry)).filter(|path| path.is_dir()),
        );
        let files = command
            .iter()
            .map(|word| directory.join(word))
            .filter(|path| path.extension().is_some_and(|extension| extension == "java") && path.is_file())
            .collect();
        Sources { directory: directory.to_owned(), folders, files, read: RefCell::default() }
    }

    /// The first file that matches the class, and its text.
    fn find(&self, class: &str, file: &str) -> Option<(PathBuf, Rc<str>)> {
        // The name comes from a class file: it must not lead out of the folders.
        if file.is_empty() || file.contains('/') {
            return None;
        }
        let package = class.rsplit_once('.').map_or("", |(package, _)| package);
        let below = package.replace('.', "/");
        for folder in &self.folders {
            let path = folder.join(&below).join(file);
            if let Some(text) = self.read(&path) {
                return Some((path, text));
            }
            // A file of the same name outside the package's folder may belong to another class, so its package decides.
            let path = folder.join(file);
            if let Some(text) = self.read(&path).filter(|text| declared_package(text) == package) {
                return Some((path, text));
            }
        }
        let named = self.files.iter().filter(|path| path.file_name().is_some_and(|name| name == file));
        named
            .filter_map(|path| Some((path.clone(), self.read(path)?)))
            .find(|(_, text)| declared_package(text) == package)
    }

    fn read(&self, path: &Path) -> Option<Rc<str>> {
        if let Some(known) = self.read.borrow().get(path) {
            return known.clone();
        }
        let text = fs::read(path).ok().map(|bytes| Rc::from(String::from_utf8_lossy(&bytes)));
        self.read.borrow_mut().insert(path.to_owned(), text.clone());
        text
    }
}

impl SourceFinder for Sources {
    fn line(&self, class: &str, file: &str, line: u32) -> Option<String> {
        let index = usize::try_from(line).ok()?.checked_sub(1)?;
        let (_, text) = self.find(class, file)?;
        text.lines().nth(index).filter(|line| !line.trim().is_empty()).map(str::to_owned)
    }

    fn path(&self, class: &str, file: &str) -> Option<String> {
        let (path, _) = self.find(class, file)?;
        let path = path.strip_prefix(&self.directory).unwrap_or(&path);
        // A folder that the user wrote as `./src` should not appear in the path.
        let path: PathBuf = path.components().filter(|part| *part != Component::CurDir).collect();
        Some(path.to_string_lossy().into_owned())
    }
}

/// The package that a source file declares.
fn declared_package(text: &str) -> &str {
    text.lines()
        .filter_map(|line| line.trim().strip_prefix("package "))
        .map(|rest| rest.split(';').next().unwrap_or_default().trim())
        .next()
        .unwrap_or_default()
}

/// The class path entries of a `java` command line, or of the environment.
fn class_path(command: &[OsString]) -> Vec<PathBuf> {
    const OPTIONS: [&str; 3] = ["-cp", "-classpath", "--class-path"];
    let mut found = Vec::new();
    let mut words = command.iter().skip(1).map(|word| word.to_string_lossy());
    while let Some(word) = words.next() {
        if OPTIONS.contains(&word.as_ref()) {
            found.extend(words.next().map(|value| value.into_owned()));
        } else if let Some(value) = word.strip_prefix("--class-path=") {
            found.push(value.to_owned());
        }
    }
    if found.is_empty() {
        found.extend(env::var("CLASSPATH"));
    }
    found.iter().flat_map(|value| env::split_paths(value).collect::<Vec<_>>()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A folder with files whose first line is their path.
    fn folder() -> tempfile::TempDir {
        let folder = tempfile::tempdir().unwrap();
        for path in [
            "named/com/acme/Account.java",
            "named/Flat.java",
            "src/main/java/com/acme/Service.java",
            "src/main/java/com/acme/Account.java",
            "classes/Main.java",
            "scripts/Script.java",
        ] {
            let file = folder.path().join(path);
            fs::create_dir_all(file.parent().unwrap()).unwrap();
            let package = if path == "named/Flat.java" { "\npackage com.flat;" } else { "" };
            fs::write(file, format!("// {path}{package}\n")).unwrap();
        }
        folder
    }

    fn check(class: &str, file: &str, expected: Option<&str>) {
        let folder = folder();
        let root = folder.path();
        let command = ["java", "-cp", "missing:classes", "scripts/Script.java"].map(OsString::from);
        let sources = Sources::new(&[root.join("named")], root, &command);
        let expected = expected.map(|path| format!("// {path}"));
        assert_eq!(sources.line(class, file, 1), expected, "{class} in {file}");
    }

    #[test]
    fn files_are_found_where_they_usually_are() {
        check("com.acme.Account", "Account.java", Some("named/com/acme/Account.java"));
        check("com.acme.Account$Inner", "Account.java", Some("named/com/acme/Account.java"));
        check("com.acme.Service", "Service.java", Some("src/main/java/com/acme/Service.java"));
        check("com.flat.Flat", "Flat.java", Some("named/Flat.java"));
        check("Main", "Main.java", Some("classes/Main.java"));
        check("Script", "Script.java", Some("scripts/Script.java"));
    }

    #[test]
    fn files_of_other_classes_are_not_found() {
        check("com.other.Flat", "Flat.java", None);
        check("com.acme.Main", "Main.java", None);
        check("Main", "../classes/Main.java", None);
        check("Main", "", None);
    }

    #[test]
    fn lines_out_of_range_are_not_found() {
        let folder = folder();
        let sources = Sources::new(&[folder.path().join("named")], folder.path(), &[]);
        assert_eq!(sources.line("com.acme.Account", "Account.java", 0), None);
        assert_eq!(sources.line("com.acme.Account", "Account.java", 99), None);
    }

    #[test]
    fn paths_are_relative_where_they_can_be() {
        let folder = folder();
        let sources = Sources::new(&[], folder.path(), &[]);
        let path = sources.path("com.acme.Service", "Service.java");
        assert_eq!(path.as_deref(), Some("src/main/java/com/acme/Service.java"));
        assert_eq!(sources.path("com.acme.Nothing", "Nothing.java"), None);
    }

    #[test]
    fn class_paths_are_read_from_the_command() {
        let check = |line: &str, expected: &[&str]| {
            let command: Vec<OsString> = line.split(' ').map(OsString::from).collect();
            assert_eq!(
                class_path(&command),
                expected.iter().map(PathBuf::from).collect::<Vec<_>>(),
                "{line}"
            );
        };
        check("java -cp a:b Main", &["a", "b"]);
        check("java -classpath a Main", &["a"]);
        check("java --class-path a Main", &["a"]);
        check("java --class-path=a:b Main", &["a", "b"]);
    }
}
