//! The class files that the program would load, in the order in which the JVM searches for them.

use std::{
    borrow::Cow,
    collections::{BTreeSet, HashMap, HashSet},
    fs::{self, File},
    io::Read,
    path::{Path, PathBuf},
};

use fissure_classfile::{flow::content_hash, module::read_module};
use fissure_static::{ClassSource, Origin};
use zip::ZipArchive;

use super::{LocalityError, jimage::ModuleFile};

/// The largest size of a class file.
const MOST_BYTES: u64 = 1 << 26;

/// A folder or an archive of the class path.
enum Entry {
    Folder(PathBuf),
    Archive(ZipArchive<File>, HashMap<String, usize>),
}

/// The opened class path, with the JDK.
pub(crate) struct Classes {
    modules: ModuleFile,
    entries: Vec<Entry>,
    /// The main class that the manifest of the first archive names.
    pub(crate) main: Option<String>,
    /// Classes that the manifests of agents name.
    pub(crate) agents: Vec<String>,
    /// A hash of all files in the class path.
    pub(crate) hash: u64,
}

impl Classes {
    /// Opens a class path. Entries that do not exist are skipped, as the JVM does.
    pub(crate) fn open(
        modules: ModuleFile,
        class_path: &[PathBuf],
        agents: &[PathBuf],
        release: u32,
    ) -> Result<Self, LocalityError> {
        let mut classes = Classes { modules, entries: Vec::new(), main: None, agents: Vec::new(), hash: 0 };
        let mut seen = HashSet::new();
        let mut waiting: Vec<PathBuf> = expand(class_path);
        let agent_names: HashSet<&PathBuf> = agents.iter().collect();
        waiting.extend(agents.iter().cloned());
        let mut next = 0;
        while let Some(path) = waiting.get(next).cloned() {
            next += 1;
            let Ok(real) = path.canonicalize() else { continue };
            if !seen.insert(real.clone()) {
                continue;
            }
            if real.is_dir() {
                classes.add_folder(real, release)?;
                continue;
            }
            let manifest = classes.add_archive(&real, release)?;
            if next == 1 {
                classes.main = manifest.get("Main-Class").map(|name| name.trim().to_owned());
                classes
                    .agents
                    .extend(manifest.get("Launcher-Agent-Class").map(|name| name.trim().to_owned()));
            }
            if agent_names.contains(&path) {
                classes.agents.extend(manifest.get("Premain-Class").map(|name| name.trim().to_owned()));
            }
            let folder = real.parent().unwrap_or(Path::new("/"));
            for entry in manifest.get("Class-Path").iter().flat_map(|value| value.split_whitespace()) {
                let entry = entry.strip_prefix("file:").unwrap_or(entry);
                waiting.push(folder.join(entry.replace("%20", " ")));
            }
        }
        Ok(classes)
    }

    fn mix(&mut self, name: &str, bytes: &[u8]) {
        let hash = content_hash(name.as_bytes()).rotate_left(17) ^ content_hash(bytes);
        self.hash = (self.hash.rotate_left(5) ^ hash).wrapping_mul(0x9E37_79B9_7F4A_7C15);
    }

    /// Adds a folder of classes, or a folder of modules with its archives.
    fn add_folder(&mut self, folder: PathBuf, release: u32) -> Result<(), LocalityError> {
        let mut files = BTreeSet::new();
        walk(&folder, &mut files, 0);
        for file in &files {
            let is_relevant = file.extension().is_some_and(|extension| extension == "class")
                || file.to_string_lossy().contains("META-INF/");
            if is_relevant {
                let bytes = fs::read(file).unwrap_or_default();
                self.mix(&file.to_string_lossy(), &bytes);
            }
        }
        self.entries.push(Entry::Folder(folder.clone()));
        // A module path names the folder of its archives. On a class path the JVM would ignore them, but additional classes do no
        // harm.
        for file in files.iter().filter(|file| file.parent() == Some(folder.as_path())) {
            if file.extension().is_some_and(|extension| extension == "jar") {
                self.add_archive(file, release)?;
            }
        }
        // Unpacked modules are in folders below.
        let below: BTreeSet<PathBuf> = files
            .iter()
            .filter(|file| file.file_name().is_some_and(|name| name == "module-info.class"))
            .filter_map(|file| file.parent().map(Path::to_owned))
            .filter(|parent| *parent != folder)
            .collect();
        self.entries.extend(below.into_iter().map(Entry::Folder));
        Ok(())
    }

    /// Adds an archive, and gives its manifest.
    fn add_archive(&mut self, path: &Path, release: u32) -> Result<HashMap<String, String>, LocalityError> {
        let unreadable = |reason: String| LocalityError::Read { path: path.display().to_string(), reason };
        let bytes = fs::read(path).map_err(|error| unreadable(error.to_string()))?;
        self.mix(&path.to_string_lossy(), &bytes);
        drop(bytes);
        let file = File::open(path).map_err(|error| unreadable(error.to_string()))?;
        // The JVM skips files that are no archives.
        let Ok(mut archive) = ZipArchive::new(file) else { return Ok(HashMap::new()) };
        let manifest = manifest(&mut archive);
        let is_multi = manifest.get("Multi-Release").is_some_and(|value| value.trim() == "true");
        let mut index: HashMap<String, (u32, usize)> = HashMap::new();
        for number in 0..archive.len() {
            let Some(name) = archive.name_for_index(number) else { continue };
            let (version, name) = match name.strip_prefix("META-INF/versions/") {
                Some(rest) => match rest.split_once('/') {
                    Some((version, name)) => (version.parse().unwrap_or(u32::MAX), name),
                    None => continue,
                },
                None => (0, name),
            };
            if version > 0 && (!is_multi || version > release) {
                continue;
            }
            if let Some(class) = name.strip_suffix(".class") {
                let entry = index.entry(class.to_owned()).or_insert((version, number));
                if entry.0 <= version {
                    *entry = (version, number);
                }
            }
        }
        let index = index.into_iter().map(|(name, (_, number))| (name, number)).collect();
        self.entries.push(Entry::Archive(archive, index));
        Ok(manifest)
    }

    /// A class of the class path, by its internal name.
    fn on_path(&mut self, name: &str) -> Option<Vec<u8>> {
        for entry in &mut self.entries {
            match entry {
                Entry::Folder(folder) => {
                    let path = folder.join(format!("{name}.class"));
                    // Names come from class files, and must not lead out of the folder.
                    if !name.split('/').any(|part| part == "..")
                        && let Ok(bytes) = fs::read(path)
                    {
                        return Some(bytes);
                    }
                }
                Entry::Archive(archive, index) => {
                    if let Some(&number) = index.get(name) {
                        let mut bytes = Vec::new();
                        let file = archive.by_index(number).ok()?;
                        file.take(MOST_BYTES).read_to_end(&mut bytes).ok()?;
                        return Some(bytes);
                    }
                }
            }
        }
        None
    }

    /// The module descriptors of the program.
    fn own_descriptors(&mut self) -> Vec<Vec<u8>> {
        let mut found = Vec::new();
        for entry in &mut self.entries {
            match entry {
                Entry::Folder(folder) => found.extend(fs::read(folder.join("module-info.class"))),
                Entry::Archive(archive, index) => {
                    let Some(&number) = index.get("module-info") else { continue };
                    let mut bytes = Vec::new();
                    if let Ok(file) = archive.by_index(number)
                        && file.take(MOST_BYTES).read_to_end(&mut bytes).is_ok()
                    {
                        found.push(bytes);
                    }
                }
            }
        }
        found
    }

    /// Whether the class path has a class, by its name with dots.
    pub(crate) fn has(&self, name: &str) -> bool {
        let name = name.replace('.', "/");
        self.entries.iter().any(|entry| match entry {
            Entry::Folder(folder) => folder.join(format!("{name}.class")).is_file(),
            Entry::Archive(_, index) => index.contains_key(&name),
        })
    }

    /// The classes that archives or modules register for services.
    pub(crate) fn services(&mut self) -> Services {
        const FOLDER: &str = "META-INF/services/";
        let mut found = Services::default();
        for descriptor in self.own_descriptors() {
            for (service, classes) in read_module(&descriptor).ok().flatten().unwrap_or_default().provides {
                found.add(self.modules.has(&service), classes);
            }
        }
        for entry in &mut self.entries {
            let mut take = |service: &str, text: String| {
                let names = text.lines().map(|line| line.split('#').next().unwrap_or_default().trim());
                let names = names.filter(|name| !name.is_empty()).map(|name| name.replace('.', "/"));
                found.add(self.modules.has(&service.replace('.', "/")), names.collect());
            };
            match entry {
                Entry::Folder(folder) => {
                    for file in fs::read_dir(folder.join(FOLDER)).into_iter().flatten().flatten() {
                        let text = fs::read_to_string(file.path()).unwrap_or_default();
                        take(&file.file_name().to_string_lossy(), text);
                    }
                }
                Entry::Archive(archive, _) => {
                    for number in 0..archive.len() {
                        let name = archive.name_for_index(number).unwrap_or_default();
                        let Some(service) = name.strip_prefix(FOLDER).map(str::to_owned) else { continue };
                        let mut text = String::new();
                        if let Ok(file) = archive.by_index(number)
                            && file.take(MOST_BYTES).read_to_string(&mut text).is_ok()
                        {
                            take(&service, text);
                        }
                    }
                }
            }
        }
        found
    }
}

/// Classes that are instantiated because they are registered for a service.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Services {
    /// Those that the JDK may instantiate, for one of its own services.
    pub(crate) of_jdk: Vec<String>,
    /// All of them.
    pub(crate) all: Vec<String>,
}

impl Services {
    fn add(&mut self, is_of_jdk: bool, classes: Vec<String>) {
        if is_of_jdk {
            self.of_jdk.extend(classes.iter().cloned());
        }
        self.all.extend(classes);
    }
}

impl ClassSource for Classes {
    fn find(&mut self, name: &str) -> Option<(Origin, Cow<'_, [u8]>)> {
        // The JDK comes first: a class path cannot replace its classes.
        if let Some(class) = self.modules.class(name) {
            return Some((Origin::Jdk, Cow::Owned(class.unwrap_or_default())));
        }
        self.on_path(name).map(|bytes| (Origin::Application, Cow::Owned(bytes)))
    }

    fn module(&self, name: &str) -> Option<&str> {
        self.modules.module(name)
    }

    fn descriptors(&self) -> Vec<Vec<u8>> {
        self.modules.descriptors()
    }

    fn application(&mut self) -> Vec<String> {
        let mut names = BTreeSet::new();
        for entry in &self.entries {
            match entry {
                Entry::Folder(folder) => {
                    let mut files = BTreeSet::new();
                    walk(folder, &mut files, 0);
                    names.extend(files.iter().filter_map(|file| {
                        let name = file.strip_prefix(folder).ok()?.to_str()?;
                        name.strip_suffix(".class").map(str::to_owned)
                    }));
                }
                Entry::Archive(_, index) => names.extend(index.keys().cloned()),
            }
        }
        names.into_iter().filter(|name| !self.modules.has(name)).collect()
    }
}

/// Replaces `folder/*` by the archives of the folder.
fn expand(class_path: &[PathBuf]) -> Vec<PathBuf> {
    let mut all = Vec::new();
    for entry in class_path {
        if entry.file_name().is_some_and(|name| name == "*") {
            let folder = entry.parent().filter(|path| !path.as_os_str().is_empty()).unwrap_or(Path::new("."));
            let files = fs::read_dir(folder).into_iter().flatten().flatten().map(|file| file.path());
            let is_archive =
                |path: &PathBuf| path.extension().is_some_and(|end| end.eq_ignore_ascii_case("jar"));
            let archives: BTreeSet<PathBuf> = files.filter(is_archive).collect();
            all.extend(archives);
        } else {
            all.push(entry.clone());
        }
    }
    all
}

/// Adds all files below a folder. A limit on the depth ends cycles of symbolic links.
fn walk(folder: &Path, files: &mut BTreeSet<PathBuf>, depth: u32) {
    if depth > 64 {
        return;
    }
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        let path = entry.path();
        if path.is_dir() {
            walk(&path, files, depth + 1);
        } else {
            files.insert(path);
        }
    }
}

/// The main section of a manifest; a line that begins with a blank continues the one before.
fn manifest(archive: &mut ZipArchive<File>) -> HashMap<String, String> {
    let mut text = String::new();
    if let Ok(file) = archive.by_name("META-INF/MANIFEST.MF") {
        let _ = file.take(MOST_BYTES).read_to_string(&mut text);
    }
    let text = text.replace("\r\n", "\n").replace('\r', "\n").replace("\n ", "");
    let lines = text.lines().take_while(|line| !line.is_empty());
    lines
        .filter_map(|line| line.split_once(':'))
        .map(|(name, value)| (name.to_owned(), value.trim().to_owned()))
        .collect()
}
