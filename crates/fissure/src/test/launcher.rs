//! The Java program that lists the tests of a class path and executes one of them (`crates/fissure/launcher`).

use std::{
    fs,
    io::{self, Write},
    path::{Path, PathBuf},
};

use fissure_model::finding::fingerprint;
use zip::{CompressionMethod, ZipWriter, write::SimpleFileOptions};

use crate::{agent, error::Error};

/// The main class.
pub(crate) const MAIN: &str = "fissure.tests.TestMain";
/// The line that it prints if a test ends the JVM.
pub(crate) const EXITED: &str = "fissure: the test ended the JVM";

macro_rules! classes {
    ($($name:literal),* $(,)?) => {
        &[$((concat!("fissure/tests/", $name, ".class"), include_bytes!(concat!("../../launcher/classes/fissure/tests/", $name, ".class")))),*]
    };
}

/// Compiled from `launcher/src` by `cargo xtask hook`.
const CLASSES: &[(&str, &[u8])] =
    classes!["Framework", "JUnit4", "Listing", "Platform", "TestMain", "TestNg"];

/// Jars whose classes are loaded once for all runs in a warm JVM: those of JUnit, by the names of their files. They keep no state from
/// one execution to the next, and use no class of other jars. (TestNG keeps state and needs other libraries.)
const KEPT: [&str; 8] = [
    "apiguardian-api-",
    "hamcrest",
    "junit-4",
    "junit-jupiter",
    "junit-platform-",
    "junit-vintage-engine-",
    "jspecify-",
    "opentest4j-",
];

/// The archive of the launcher. It stays at the same place, because commands in reports name it; if there is no such place it is in
/// `folder`.
pub(crate) fn archive(folder: &Path) -> Result<PathBuf, Error> {
    let parts: Vec<String> = CLASSES.iter().map(|(name, bytes)| format!("{name} {bytes:?}")).collect();
    let parts: Vec<&str> = parts.iter().map(String::as_str).collect();
    let name = format!("launcher-{}.jar", fingerprint(&parts));
    if let Some(path) = agent::cache().and_then(|cache| write(&cache, &name).ok()) {
        return Ok(path);
    }
    write(folder, &name).map_err(Error::Folder)
}

fn write(folder: &Path, name: &str) -> io::Result<PathBuf> {
    let path = folder.join(name);
    if path.is_file() {
        return Ok(path);
    }
    fs::create_dir_all(folder)?;
    let mut writer = ZipWriter::new(tempfile::NamedTempFile::new_in(folder)?);
    let options = SimpleFileOptions::default().compression_method(CompressionMethod::Stored);
    for (name, bytes) in CLASSES {
        writer.start_file(*name, options).map_err(io::Error::other)?;
        writer.write_all(bytes)?;
    }
    let file = writer.finish().map_err(io::Error::other)?;
    file.persist(&path).map_err(|error| error.error)?;
    Ok(path)
}

/// The entries of a class path whose classes are loaded once for all runs in a warm JVM.
pub(crate) fn kept(class_path: &[String], launcher: &Path) -> Vec<String> {
    let is_kept = |entry: &&String| {
        let name = Path::new(entry).file_name().and_then(|name| name.to_str()).unwrap_or_default();
        name.ends_with(".jar") && KEPT.iter().any(|start| name.starts_with(start))
    };
    let kept = class_path.iter().filter(is_kept).cloned();
    kept.chain([launcher.to_string_lossy().into_owned()]).collect()
}

/// The name of a test as an argument of the launcher, which has ASCII characters only.
pub(crate) fn encoded(name: &str) -> String {
    let mut text = String::new();
    for unit in name.encode_utf16() {
        match u8::try_from(unit) {
            Ok(byte @ b' '..=b'~') if byte != b'\\' => text.push(char::from(byte)),
            _ => text.push_str(&format!("\\u{unit:04x}")),
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;

    #[test]
    fn names_of_tests_are_ascii() {
        let check = |name: &str, expected: &str| assert_eq!(encoded(name), expected);
        check("[engine:junit-jupiter]/[method:pays(int)]", "[engine:junit-jupiter]/[method:pays(int)]");
        check("zählt\\", "z\\u00e4hlt\\u005c");
        check("🙂", "\\ud83d\\ude42");
    }

    #[test]
    fn only_classes_of_junit_are_kept() {
        let path = ["/m2/junit-jupiter-engine-5.10.2.jar", "/p/target/classes", "/m2/guava-33.jar"];
        let path = path.map(str::to_owned);
        assert_eq!(
            kept(&path, Path::new("/c/launcher.jar")),
            ["/m2/junit-jupiter-engine-5.10.2.jar", "/c/launcher.jar"]
        );
    }

    /// The compiled classes must match their sources.
    #[test]
    fn the_compiled_launcher_is_up_to_date() {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("launcher");
        let mut sources = BTreeMap::new();
        for entry in fs::read_dir(folder.join("src/fissure/tests")).unwrap() {
            let entry = entry.unwrap();
            let name = format!("fissure/tests/{}", entry.file_name().into_string().unwrap());
            sources.insert(name, fs::read_to_string(entry.path()).unwrap());
        }
        let parts: Vec<&str> =
            sources.iter().flat_map(|(name, text)| [name.as_str(), text.as_str()]).collect();
        let recorded = fs::read_to_string(folder.join("classes/SOURCE_HASH")).unwrap();
        let hint = "run `cargo xtask hook` after changing the launcher's sources";
        assert_eq!(recorded.trim(), fingerprint(&parts), "{hint}");
        let compiled = fs::read_dir(folder.join("classes/fissure/tests")).unwrap().count();
        assert_eq!(compiled, CLASSES.len(), "every class of the launcher must be embedded");
    }
}
