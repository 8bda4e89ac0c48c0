//! Keeps the decisions about the classes that were loaded, and counts the classes of each origin.

use std::{
    fs,
    sync::{Mutex, MutexGuard, PoisonError},
};

use fissure_model::{
    coverage::{Origin, OriginKind},
    settings::Whereabouts,
};
use rustc_hash::{FxHashMap, FxHashSet};

use super::{
    CodeSource, JDK_IMAGE, Kind, Main, Program, Role, archive::read_packages, is_archive, is_in,
    is_shared_top, package_of, read_contents,
};

/// The JVM's information about the origin of a class.
#[derive(Debug, Default)]
pub(crate) struct Source {
    /// The number of its loader; 0 is the boot loader.
    pub(crate) loader: i64,
    /// Protocol and file of its code source's location.
    pub(crate) location: Option<(String, String)>,
    /// The name of its module, if modules matter.
    pub(crate) module: Option<String>,
    /// Whether it is loaded for the first time, and not redefined by another agent.
    pub(crate) is_new: bool,
}

/// The origins of all classes that were loaded.
#[derive(Debug, Default)]
pub(crate) struct Origins {
    /// Whether the modules of classes matter.
    pub(crate) asks_for_modules: bool,
    table: Mutex<Table>,
}

#[derive(Debug, Default)]
struct Table {
    program: Program,
    class_path: Vec<String>,
    /// The user's working directory, which is left out of paths in reports.
    directory: Option<String>,
    roots: Vec<Root>,
    by_location: FxHashMap<(String, String), usize>,
    /// By class, with dots; of several classes with one name, the application's wins.
    classes: FxHashMap<Box<str>, Kind>,
    packages: FxHashMap<Box<str>, Package>,
    /// Packages of the libraries on the class path; read when they are first needed.
    library_packages: Option<FxHashSet<String>>,
}

/// One origin of classes.
#[derive(Debug)]
struct Root {
    name: String,
    source: CodeSource,
    role: Role,
    tallies: [Tally; 3],
}

#[derive(Debug, Default)]
struct Tally {
    classes: u64,
    /// The longest package prefix that all of them share.
    package: Option<String>,
}

#[derive(Debug, Clone, Copy, Default)]
struct Package {
    is_own: bool,
    is_foreign: bool,
}

const KINDS: [OriginKind; 3] = [OriginKind::Application, OriginKind::Library, OriginKind::Scope];

impl Origins {
    /// Creates the table for a program, from the JVM's properties.
    pub(crate) fn new(command: &str, class_path: &str, module: &str, whereabouts: &Whereabouts) -> Origins {
        let mut program = Program::new(command, class_path, module, is_archive);
        if let Main::Archive(path) = &mut program.main {
            *path = canonical(path);
        }
        program.project = whereabouts.project.as_deref().map(canonical);
        let asks_for_modules = matches!(program.main, Main::Module(_));
        let table = Table {
            program,
            class_path: class_path.split(':').map(str::to_owned).collect(),
            directory: whereabouts.directory.as_deref().map(canonical),
            ..Table::default()
        };
        Origins { asks_for_modules, table: Mutex::new(table) }
    }

    /// Adds a class, by its name with dots, and returns its kind.
    pub(crate) fn note(&self, class: &str, source: &Source) -> Kind {
        if source.loader == 0 && is_named_like_jdk(class) {
            return Kind::Jdk;
        }
        let mut table = self.table();
        let (kind, _) = table.decide(class, source);
        // The many JDK classes are recognized by their names instead.
        if kind != Kind::Jdk || !is_named_like_jdk(class) {
            let known = table.classes.entry(class.into()).or_insert(kind);
            if kind == Kind::Application {
                *known = kind;
            }
            let package = table.packages.entry(package_of(class).into()).or_default();
            package.is_own |= kind == Kind::Application;
            package.is_foreign |= kind != Kind::Application;
        }
        kind
    }

    /// Counts a class, by its name with dots, for the report. `in_scope` says whether the user's scope covers it, if there is one.
    pub(crate) fn count(&self, class: &str, source: &Source, in_scope: Option<bool>) {
        let is_of_jdk = source.loader == 0 && in_scope != Some(true) && is_named_like_jdk(class);
        if is_of_jdk || !source.is_new {
            return;
        }
        let mut table = self.table();
        let (kind, root) = table.decide(class, source);
        let tally = match (kind, in_scope) {
            (_, Some(true)) => 2,
            (Kind::Jdk, _) => return,
            (Kind::Application, _) => 0,
            (Kind::Library, _) => 1,
        };
        table.roots[root].tallies[tally].add(class);
    }

    /// The kind of a class that was loaded or may be loaded later; the name is with dots. An unknown class has the kind of others in its
    /// package, or else belongs to the application, so that nothing is missed.
    pub(crate) fn kind(&self, class: &str) -> Kind {
        // The JVM lets no other class loader define classes in these packages.
        if class.starts_with("java.") {
            return Kind::Jdk;
        }
        let table = self.table();
        if let Some(&known) = table.classes.get(class) {
            return known;
        }
        match table.packages.get(package_of(class)) {
            Some(package) if package.is_own => Kind::Application,
            _ if is_named_like_jdk(class) => Kind::Jdk,
            Some(package) if package.is_foreign => Kind::Library,
            _ => Kind::Application,
        }
    }

    /// The origins of the loaded classes, with the number of classes from each.
    pub(crate) fn report(&self) -> Vec<Origin> {
        let table = self.table();
        let mut report = Vec::new();
        for root in &table.roots {
            for (kind, tally) in KINDS.into_iter().zip(&root.tallies) {
                if tally.classes > 0 {
                    report.push(Origin {
                        root: table.shortened(&root.name),
                        kind,
                        classes: tally.classes,
                        package: tally.package.clone().unwrap_or_default(),
                    });
                }
            }
        }
        Origin::sort(&mut report);
        report
    }

    fn table(&self) -> MutexGuard<'_, Table> {
        self.table.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Table {
    /// The kind of a class, and the number of its root.
    fn decide(&mut self, class: &str, source: &Source) -> (Kind, usize) {
        if source.loader == 0 {
            let (kind, name) = match is_named_like_jdk(class) {
                true => (Kind::Jdk, JDK_IMAGE),
                // Java agents put classes on the boot class path that JDK classes must see.
                false => (Kind::Library, "the boot class path"),
            };
            return (kind, self.fixed_root(name, kind));
        }
        let number = match &source.location {
            None => self.nowhere(),
            Some(location) => match self.by_location.get(location) {
                Some(&number) => number,
                None => self.add(location.clone(), source.module.as_deref()),
            },
        };
        if self.program.main_archive.is_none() && self.program.is_main_class(class) {
            self.found_main(number);
        }
        let kind = match self.roots[number].role.kind(class) {
            Some(kind) => kind,
            None => self.unplaced(class),
        };
        (kind, number)
    }

    /// The kind of a class without a code source.
    fn unplaced(&mut self, class: &str) -> Kind {
        if is_named_like_jdk(class) {
            return Kind::Jdk;
        }
        let package = package_of(class);
        if package.is_empty() || self.packages.get(package).is_some_and(|package| package.is_own) {
            return Kind::Application;
        }
        self.library_packages();
        let library_packages = self.library_packages.as_ref();
        // All packages below a library's package belong to it, unless many owners share that package, such as `org`.
        let is_library = |package: &&str| {
            let seen = self.packages.get(*package);
            seen.is_some_and(|package| package.is_foreign && !package.is_own)
                || library_packages.is_some_and(|packages| packages.contains(*package))
        };
        let above = std::iter::successors(Some(package), |package| Some(package_of(package)));
        let mut above = above.take_while(|package| !package.is_empty() && !is_shared_top(package));
        if above.any(|package| is_library(&package)) { Kind::Library } else { Kind::Application }
    }

    /// Reads the packages of the libraries on the class path. Languages that compile at run time define library classes that exist only
    /// as source.
    fn library_packages(&mut self) {
        if self.library_packages.is_none() {
            let mut packages = FxHashSet::default();
            for entry in self.class_path.iter().filter(|entry| is_archive(entry)) {
                let path = canonical(entry);
                let source = CodeSource::Archive(path.clone());
                if self.program.role(&source, None, || read_contents(&path)) == Role::Library {
                    packages.extend(read_packages(&path));
                }
            }
            self.library_packages = Some(packages);
        }
    }

    /// Handles the loading of the main class: its archive is the application.
    fn found_main(&mut self, number: usize) {
        let CodeSource::Archive(path) = self.roots[number].source.clone() else { return };
        let role = {
            self.program.main_archive = Some(path.clone());
            self.program.role(&self.roots[number].source, None, || read_contents(&path))
        };
        self.roots[number].role = role;
    }

    fn add(&mut self, location: (String, String), module: Option<&str>) -> usize {
        let source = match CodeSource::parse(&location.0, &location.1, is_archive) {
            CodeSource::Directory(path) => CodeSource::Directory(canonical(&path)),
            CodeSource::Archive(path) => CodeSource::Archive(canonical(&path)),
            source => source,
        };
        let number = match self.roots.iter().position(|root| root.source == source) {
            Some(number) => number,
            None => {
                let contents = || match &source {
                    CodeSource::Archive(path) => read_contents(path),
                    _ => super::Contents::default(),
                };
                let role = self.program.role(&source, module, contents);
                self.push(Root { name: source.root(), source, role, tallies: Default::default() })
            }
        };
        self.by_location.insert(location, number);
        number
    }

    fn nowhere(&mut self) -> usize {
        match self.roots.iter().position(|root| root.source == CodeSource::Nowhere) {
            Some(number) => number,
            None => {
                let name = CodeSource::Nowhere.root();
                self.push(Root {
                    name,
                    source: CodeSource::Nowhere,
                    role: Role::Unplaced,
                    tallies: Default::default(),
                })
            }
        }
    }

    fn fixed_root(&mut self, name: &str, kind: Kind) -> usize {
        match self.roots.iter().position(|root| root.name == name) {
            Some(number) => number,
            None => {
                let role = if kind == Kind::Jdk { Role::Jdk } else { Role::Library };
                let source = CodeSource::Elsewhere(name.to_owned());
                self.push(Root { name: name.to_owned(), source, role, tallies: Default::default() })
            }
        }
    }

    fn push(&mut self, root: Root) -> usize {
        self.roots.push(root);
        self.roots.len() - 1
    }

    /// A path relative to the user's working directory.
    fn shortened(&self, name: &str) -> String {
        let below = self.directory.as_deref().and_then(|directory| name.strip_prefix(directory));
        match below {
            Some("") => ".".to_owned(),
            Some(below) => below.strip_prefix('/').unwrap_or(name).to_owned(),
            None => name.to_owned(),
        }
    }
}

impl Tally {
    fn add(&mut self, class: &str) {
        self.classes += 1;
        let package = package_of(class);
        match &mut self.package {
            None => self.package = Some(package.to_owned()),
            Some(common) => {
                while !is_in(package, common) && !common.is_empty() {
                    common.truncate(package_of(common).len());
                }
            }
        }
    }
}

/// Whether a name, with dots, looks like that of a JDK class. Only the prefix `java.` is reserved for the JDK.
fn is_named_like_jdk(class: &str) -> bool {
    fissure_jdk::is_jdk_name(class)
}

fn canonical(path: &str) -> String {
    fs::canonicalize(path).ok().and_then(|path| path.into_os_string().into_string().ok()).unwrap_or_else(
        || match path {
            "/" => path.to_owned(),
            path => path.trim_end_matches('/').to_owned(),
        },
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    fn source(url: &str) -> Source {
        let location = url.split_once(':').map(|(protocol, file)| (protocol.to_owned(), file.to_owned()));
        Source { loader: 7, location, is_new: true, ..Source::default() }
    }

    fn origins() -> Origins {
        Origins::new("com.acme.Main", "/x/classes", "", &Whereabouts::default())
    }

    #[test]
    fn classes_are_remembered_by_name() {
        let origins = origins();
        assert_eq!(origins.note("com.acme.Main", &source("file:/x/classes/")), Kind::Application);
        assert_eq!(origins.note("javax.own.Thing", &source("file:/x/classes/")), Kind::Application);
        assert_eq!(
            origins.note("org.lib.deep.Pool", &source("jar:file:/x/a.jar!/lib/b.jar!/")),
            Kind::Library
        );
        assert_eq!(origins.note("java.util.Vector", &Source { loader: 0, ..Source::default() }), Kind::Jdk);
        let check = |class: &str, expected: Kind| assert_eq!(origins.kind(class), expected, "{class}");
        check("com.acme.Main", Kind::Application);
        check("com.acme.Main$$Lambda$14/0x1", Kind::Application);
        check("org.lib.deep.Other", Kind::Library);
        check("not.seen.yet.Thing", Kind::Application);
        check("javax.own.Thing", Kind::Application);
        check("javax.crypto.Cipher", Kind::Jdk);
        check("java.util.Vector", Kind::Jdk);
    }

    #[test]
    fn classes_without_a_code_source_are_judged_by_their_package() {
        let origins = origins();
        let nowhere = || Source { loader: 7, is_new: true, ..Source::default() };
        origins.note("org.lib.Pool", &source("jar:file:/x/a.jar!/lib/b.jar!/"));
        let check =
            |class: &str, expected: Kind| assert_eq!(origins.note(class, &nowhere()), expected, "{class}");
        check("user$eval1", Kind::Application);
        check("com.acme.Generated", Kind::Application);
        check("org.lib.Generated", Kind::Library);
        check("org.lib.below.Generated", Kind::Library);
        check("org.library.Generated", Kind::Application);
        check("jdk.proxy2.$Proxy7", Kind::Jdk);
    }

    #[test]
    fn origins_are_reported_with_their_classes() {
        let origins = origins();
        for class in ["com.acme.bank.Account", "com.acme.Main"] {
            origins.count(class, &source("file:/x/classes/"), None);
        }
        origins.count("org.lib.Pool", &source("jar:file:/x/a.jar!/lib/b.jar!/"), None);
        origins.count("java.util.Vector", &Source { is_new: true, ..Source::default() }, None);
        let report: Vec<_> = origins
            .report()
            .into_iter()
            .map(|origin| (origin.root, origin.kind, origin.classes, origin.package))
            .collect();
        let expected = [
            ("/x/classes".to_owned(), OriginKind::Application, 2, "com.acme".to_owned()),
            ("/x/a.jar!/lib/b.jar".to_owned(), OriginKind::Library, 1, "org.lib".to_owned()),
        ];
        assert_eq!(report, expected);
    }
}
