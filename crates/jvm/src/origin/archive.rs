//! The contents of an archive, as far as they distinguish its own classes from libraries that were packed into it.

use std::{
    fs::File,
    io::{BufReader, Read},
    path::Path,
};

use rustc_hash::FxHashSet;
use zip::ZipArchive;

/// The first bytes of an archive, and of an empty one.
const SIGNATURES: [&[u8]; 2] = [b"PK\x03\x04", b"PK\x05\x06"];
/// The largest part of a manifest that is read.
const LONGEST_MANIFEST: u64 = 1 << 20;

/// A Maven artifact whose metadata an archive holds.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Artifact {
    pub(crate) group: String,
    pub(crate) name: String,
}

/// The relevant contents of an archive.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Contents {
    /// Whether the application's classes are in a separate folder, as in archives of Spring Boot and of web applications.
    pub(crate) has_own_folder: bool,
    /// The artifacts that were packed into it.
    pub(crate) artifacts: Vec<Artifact>,
    /// The main class that its manifest names.
    pub(crate) main_class: Option<String>,
}

/// Whether a path is an archive, by its first bytes, because class paths may give it any name. An archive that no longer exists, or
/// that begins with a launch script, is recognized by its name.
pub(crate) fn is_archive(path: &str) -> bool {
    let mut beginning = [0; 4];
    let read = File::open(path).and_then(|mut file| file.read_exact(&mut beginning));
    read.is_ok() && SIGNATURES.contains(&&beginning[..])
        || super::is_named_archive(path) && !Path::new(path).is_dir()
}

/// Reads an archive; one that cannot be read has no contents.
pub(crate) fn read_contents(path: &str) -> Contents {
    let Some(mut archive) = open(path) else { return Contents::default() };
    let mut contents = Contents::default();
    for name in archive.file_names() {
        contents.has_own_folder |= super::OWN_FOLDERS.iter().any(|folder| name.starts_with(folder));
        if let Some(rest) = name.strip_prefix("META-INF/maven/")
            && let [group, name, _] = rest.splitn(3, '/').collect::<Vec<_>>()[..]
        {
            let artifact = Artifact { group: group.to_owned(), name: name.to_owned() };
            if !contents.artifacts.contains(&artifact) {
                contents.artifacts.push(artifact);
            }
        }
    }
    let mut manifest = String::new();
    if let Ok(entry) = archive.by_name("META-INF/MANIFEST.MF")
        && entry.take(LONGEST_MANIFEST).read_to_string(&mut manifest).is_ok()
    {
        // A line that begins with a blank continues the line before.
        let joined = manifest.replace("\r\n", "\n").replace("\n ", "");
        let main = joined.lines().find_map(|line| line.strip_prefix("Main-Class:"));
        contents.main_class = main.map(|class| class.trim().to_owned());
    }
    contents
}

/// The packages, with dots, for which an archive has files.
pub(crate) fn read_packages(path: &str) -> FxHashSet<String> {
    let Some(archive) = open(path) else { return FxHashSet::default() };
    let folder = |name: &str| name.rsplit_once('/').map(|(folder, _)| folder.replace('/', "."));
    let is_package = |folder: &String| !folder.starts_with("META-INF") && !folder.contains('-');
    archive.file_names().filter(|name| !name.ends_with('/')).filter_map(folder).filter(is_package).collect()
}

fn open(path: &str) -> Option<ZipArchive<BufReader<File>>> {
    ZipArchive::new(BufReader::new(File::open(path).ok()?)).ok()
}
