//! The origins of classes, and which of them belong to the application.
//!
//! For each class the JVM knows where it was loaded from: the code source of its protection domain. Directories of the class path
//! are the application, archives are libraries; the exceptions are below. This module decides and reads no file: [`archive`]
//! reads the contents of archives, and [`table`] keeps the decisions.

mod archive;
mod table;
#[cfg(test)]
mod tests;

pub(crate) use archive::{Contents, is_archive, read_contents};
pub(crate) use table::{Origins, Source};

/// The part of the program that a class belongs to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum Kind {
    /// Part of the JDK.
    Jdk,
    /// The program under test itself.
    Application,
    /// Code that the program uses.
    Library,
}

/// The origin of a class.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(crate) enum CodeSource {
    /// A module of the JVM's own image.
    Image(String),
    /// A directory, or a file that is no archive, such as a script.
    Directory(String),
    /// An archive.
    Archive(String),
    /// A directory inside an archive, such as `BOOT-INF/classes`.
    Folder { archive: String, folder: String },
    /// An archive inside another one.
    Nested { archive: String, inner: String },
    /// A URL with a protocol other than those of files and archives.
    Elsewhere(String),
    /// The class has no code source.
    Nowhere,
}

/// Names in reports for origins that are not paths.
pub(crate) const NOWHERE: &str = "classes without a code source";
pub(crate) const JDK_IMAGE: &str = "the JDK";

/// Suffixes of archives, for those inside of other archives or behind unknown protocols.
const ARCHIVE_ENDS: &[&str] = &[".jar", ".war", ".ear", ".zip", ".rar"];

impl CodeSource {
    /// Parses the location of a code source. `is_archive` says whether a path in the file system is an archive.
    pub(crate) fn parse(protocol: &str, file: &str, is_archive: impl Fn(&str) -> bool) -> CodeSource {
        let file = decode(file);
        match protocol {
            "file" if is_archive(&file) => CodeSource::Archive(file),
            "file" => CodeSource::Directory(without_slash(&file)),
            "jrt" => {
                CodeSource::Image(file.trim_matches('/').split('/').next().unwrap_or_default().to_owned())
            }
            "jar" => {
                let inner = file
                    .strip_prefix("file:")
                    .map(|rest| rest.split_once("!/").unwrap_or((rest, "")))
                    .or_else(|| file.strip_prefix("nested:").and_then(|rest| rest.split_once("/!")));
                match inner {
                    Some((archive, inner)) => inside(archive, inner),
                    None => CodeSource::Elsewhere(format!("jar:{file}")),
                }
            }
            "nested" => match file.split_once("/!") {
                Some((archive, inner)) => inside(archive, inner),
                None => CodeSource::Archive(file),
            },
            _ => CodeSource::Elsewhere(format!("{protocol}:{file}")),
        }
    }

    /// Its name in reports.
    pub(crate) fn root(&self) -> String {
        match self {
            CodeSource::Image(module) => format!("module {module}"),
            CodeSource::Directory(path) | CodeSource::Archive(path) | CodeSource::Elsewhere(path) => {
                path.clone()
            }
            CodeSource::Folder { archive, folder: inner } | CodeSource::Nested { archive, inner } => {
                format!("{archive}!/{inner}")
            }
            CodeSource::Nowhere => NOWHERE.to_owned(),
        }
    }
}

/// An origin inside of an archive, by its path there.
fn inside(archive: &str, inner: &str) -> CodeSource {
    let archive = archive.to_owned();
    let inner = inner.trim_end_matches(['/', '!']);
    if inner.is_empty() {
        CodeSource::Archive(archive)
    } else if is_named_archive(inner) {
        CodeSource::Nested { archive, inner: inner.to_owned() }
    } else {
        CodeSource::Folder { archive, folder: inner.to_owned() }
    }
}

fn is_named_archive(path: &str) -> bool {
    let lower = path.to_ascii_lowercase();
    ARCHIVE_ENDS.iter().any(|end| lower.ends_with(end))
}

fn without_slash(path: &str) -> String {
    if path.len() > 1 { path.trim_end_matches('/').to_owned() } else { path.to_owned() }
}

/// Decodes the percent escapes of a URL, such as `%20`.
fn decode(text: &str) -> String {
    let bytes = text.as_bytes();
    let mut decoded = Vec::with_capacity(bytes.len());
    let mut at = 0;
    while at < bytes.len() {
        let hexadecimal = text.get(at + 1..at + 3).filter(|_| bytes[at] == b'%');
        match hexadecimal.and_then(|digits| u8::from_str_radix(digits, 16).ok()) {
            Some(byte) => {
                decoded.push(byte);
                at += 3;
            }
            None => {
                decoded.push(bytes[at]);
                at += 1;
            }
        }
    }
    String::from_utf8(decoded).unwrap_or_else(|_| text.to_owned())
}

/// The main class, archive or module with which the JVM was started.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) enum Main {
    /// A class, with dots.
    Class(String),
    /// An archive, by its path.
    Archive(String),
    /// A module.
    Module(String),
    #[default]
    Unknown,
}

/// The program under test: its main class, archive or module, and the root of the user's project. All paths are absolute.
#[derive(Debug, Clone, Default)]
pub(crate) struct Program {
    pub(crate) main: Main,
    pub(crate) project: Option<String>,
    /// The archive from which the main class was loaded, once it is known.
    pub(crate) main_archive: Option<String>,
}

/// Main classes that run other code: tests and scripts. Their archive is not the application.
const RUNNERS: &[&str] = &[
    "clojure.",
    "com.intellij.rt.",
    "fissure.tests.",
    "groovy.",
    "kotlin.",
    "org.apache.maven.surefire.",
    "org.codehaus.groovy.",
    "org.gradle.",
    "org.jetbrains.kotlin.",
    "org.jruby.",
    "org.junit.",
    "org.openjdk.jmh.",
    "org.python.util.jython",
    "org.testng.",
    "scala.tools.",
    "worker.org.gradle.",
];

/// Folders in which tools keep downloads. The project's build does not write there.
const CACHES: &[&str] = &[".cache", ".coursier", ".gradle", ".ivy2", ".m2", ".sbt", "node_modules"];

/// Folders inside of archives that hold the application's own classes.
const OWN_FOLDERS: &[&str] = &["BOOT-INF/classes", "WEB-INF/classes"];

impl Program {
    /// Reads the JVM's properties `sun.java.command`, `java.class.path` and `jdk.module.main`.
    pub(crate) fn new(
        command: &str,
        class_path: &str,
        module: &str,
        is_archive: impl Fn(&str) -> bool,
    ) -> Program {
        // With `-jar` the archive is the whole class path; its name may contain blanks.
        let is_started = |archive: &&str| {
            let rest = command.strip_prefix(archive);
            !archive.is_empty()
                && rest.is_some_and(|rest| rest.is_empty() || rest.starts_with(' '))
                && is_archive(archive)
        };
        let main = if !module.is_empty() {
            Main::Module(module.to_owned())
        } else if let Some(archive) = Some(class_path).filter(is_started) {
            Main::Archive(archive.to_owned())
        } else {
            match command.split(' ').next().unwrap_or_default() {
                "" => Main::Unknown,
                class => Main::Class(class.replace('/', ".")),
            }
        };
        Program { main, ..Program::default() }
    }

    /// Whether the archive that holds this class, by its name with dots, is the application because of that.
    pub(crate) fn is_main_class(&self, class: &str) -> bool {
        self.main == Main::Class(class.to_owned()) && !is_runner(class)
    }

    /// The role of the classes from an origin. `contents` is called only for archives that may be the application.
    pub(crate) fn role(
        &self,
        source: &CodeSource,
        module: Option<&str>,
        contents: impl FnOnce() -> Contents,
    ) -> Role {
        if let (Main::Module(main), Some(module)) = (&self.main, module)
            && main == module
            && !fissure_jdk::is_jdk_module(module)
        {
            return Role::Application;
        }
        match source {
            CodeSource::Image(module) if fissure_jdk::is_jdk_module(module) => Role::Jdk,
            CodeSource::Image(_) | CodeSource::Nested { .. } => Role::Library,
            CodeSource::Directory(_) => Role::Application,
            CodeSource::Folder { .. } => Role::Application,
            CodeSource::Elsewhere(url) => {
                let is_own = OWN_FOLDERS.iter().any(|folder| url.contains(folder));
                if !is_own && is_named_archive(url.trim_end_matches(['/', '!'])) {
                    Role::Library
                } else {
                    Role::Application
                }
            }
            CodeSource::Nowhere => Role::Unplaced,
            CodeSource::Archive(path) => {
                let is_started = self.main == Main::Archive(path.clone());
                let is_main = self.main_archive.as_deref() == Some(path) && !is_cached(path);
                if is_started || is_main || self.is_built_here(path) {
                    let main = match (&self.main, is_started || is_main) {
                        (Main::Class(class), true) => Some(class.as_str()),
                        _ => None,
                    };
                    role_of_archive(path, main, &contents())
                } else {
                    Role::Library
                }
            }
        }
    }

    /// Whether the project's build made an archive.
    fn is_built_here(&self, path: &str) -> bool {
        let Some(below) = self.project.as_deref().and_then(|root| path.strip_prefix(root)) else {
            return false;
        };
        let Some(below) = below.strip_prefix('/') else { return false };
        let folders: Vec<&str> = below.split('/').collect();
        let (_, folders) = folders.split_last().unwrap_or((&"", &[]));
        !folders.iter().any(|folder| CACHES.contains(folder)) && is_output(folders)
    }
}

/// Whether an archive is in a folder into which build tools put what they built, and not what they copied: `target` of Maven,
/// `target/scala-3` of sbt, `build/libs` of Gradle, `out/artifacts/NAME` of IntelliJ IDEA, `bazel-bin` of Bazel, `quarkus-app/app` of
/// Quarkus.
fn is_output(folders: &[&str]) -> bool {
    match folders {
        [.., "target"] | [.., "build", "libs"] | [.., "quarkus-app", "app"] => true,
        [.., "target", scala] if scala.starts_with("scala-") => true,
        [.., "out", "artifacts", _] => true,
        ["bazel-bin", ..] => true,
        _ => false,
    }
}

fn is_runner(class: &str) -> bool {
    RUNNERS.iter().any(|prefix| class.starts_with(prefix))
}

fn is_cached(path: &str) -> bool {
    path.split('/').any(|folder| CACHES.contains(&folder))
}

/// The role of the classes of one origin.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Role {
    Jdk,
    Application,
    Library,
    /// The origin does not decide; the class's package may.
    Unplaced,
    /// An archive that also holds libraries: the package prefixes of the application and those of libraries.
    Mixed {
        own: Vec<String>,
        foreign: Vec<String>,
    },
}

impl Role {
    /// The kind of a class, by its name with dots; `None` if the origin does not decide.
    pub(crate) fn kind(&self, class: &str) -> Option<Kind> {
        Some(match self {
            Role::Jdk => Kind::Jdk,
            Role::Application => Kind::Application,
            Role::Library => Kind::Library,
            Role::Unplaced => return None,
            Role::Mixed { own, foreign } => {
                let package = package_of(class);
                let longest = |prefixes: &[String]| {
                    let fitting = prefixes.iter().filter(|prefix| is_in(package, prefix));
                    fitting.map(String::len).max()
                };
                match (longest(own), longest(foreign)) {
                    (Some(own), Some(foreign)) if foreign > own => Kind::Library,
                    (Some(_), _) => Kind::Application,
                    // If the main class has no package, no package prefix is known.
                    (None, None) if own.is_empty() || package.is_empty() => Kind::Application,
                    (None, _) => Kind::Library,
                }
            }
        })
    }
}

/// The role of an archive that may be the application, by its contents. `main` is its main class, if that is known from elsewhere.
fn role_of_archive(path: &str, main: Option<&str>, contents: &Contents) -> Role {
    if contents.has_own_folder {
        // The application's classes are in that folder; those at the top of the archive only start the program.
        return Role::Library;
    }
    let main = main.or(contents.main_class.as_deref());
    let base_of_main = main.map(package_of).filter(|package| !package.is_empty()).map(base_of);
    // Benchmarks and tests may be packed together with the framework that runs them.
    let (base, runner) =
        if main.is_some_and(is_runner) { (None, base_of_main) } else { (base_of_main, None) };
    let name = path.rsplit('/').next().unwrap_or(path);
    let by_name = contents.artifacts.iter().filter(|artifact| name.starts_with(&artifact.name));
    let by_name = by_name.max_by_key(|artifact| artifact.name.len());
    let shares_base = |group: &str| base.is_some_and(|base| is_in(group, base));
    let own_group =
        by_name.or_else(|| contents.artifacts.iter().find(|artifact| shares_base(&artifact.group)));
    let own_group = own_group.map(|artifact| artifact.group.as_str());
    let is_foreign = |group: &&str| Some(*group) != own_group;
    let groups = contents.artifacts.iter().map(|artifact| artifact.group.as_str()).chain(runner);
    let foreign: Vec<String> = groups.filter(is_foreign).map(str::to_owned).collect();
    if foreign.is_empty() && (own_group.is_some() || base.is_none()) {
        return Role::Application;
    }
    let mut own: Vec<String> = base.into_iter().map(str::to_owned).collect();
    own.extend(own_group.filter(|group| group.contains('.')).map(str::to_owned));
    if own.len() < 2
        && base.is_none()
        && let Some(group) = own_group.filter(|group| group.contains('.'))
    {
        own.push(base_of(group).to_owned());
    }
    Role::Mixed { own, foreign }
}

/// Top-level parts of package names that many owners share.
const SHARED_TOPS: &[&str] = &["com", "dev", "edu", "gov", "info", "net", "org"];
/// Owners with many independent projects.
const SHARED_OWNERS: &[&str] =
    &["com.github", "com.gitlab", "com.google", "io.github", "org.apache", "org.eclipse"];

/// The prefix of a package's name that identifies its owner: `com.acme` of `com.acme.bank.core`, `bank` of `bank.core`.
fn base_of(package: &str) -> &str {
    let is_shared = is_shared_top(package.split('.').next().unwrap_or_default());
    let parts = match package.splitn(3, '.').collect::<Vec<_>>()[..] {
        [first, second, _] if SHARED_OWNERS.contains(&format!("{first}.{second}").as_str()) => 3,
        _ if is_shared => 2,
        _ => 1,
    };
    let end = package.match_indices('.').nth(parts - 1).map_or(package.len(), |(at, _)| at);
    &package[..end]
}

/// Whether a top-level package does not identify an owner; country codes have two letters.
pub(crate) fn is_shared_top(package: &str) -> bool {
    package.len() == 2 || SHARED_TOPS.contains(&package)
}

/// The package of a class, with dots; empty if it has none.
pub(crate) fn package_of(class: &str) -> &str {
    class.rsplit_once('.').map_or("", |(package, _)| package)
}

/// Whether a package is another one or below it.
pub(crate) fn is_in(package: &str, above: &str) -> bool {
    package.strip_prefix(above).is_some_and(|rest| rest.is_empty() || rest.starts_with('.'))
}
