//! Compares the data files of the crate `jdk` with real JDKs: every class and method that they name exists in the JDKs for which they claim
//! it, and what they say about it is true as far as class files can tell.

use std::{collections::BTreeMap, env, fs, path::Path};

use fissure_classfile::{
    Environment, Foreign, Plan, Product, Script, Site,
    flow::{read_flow, types},
    rewrite,
};
use fissure_jdk::{
    ClassPattern, MethodPattern, files,
    format::{ClassEntry, DataFile, Group, Row, Section, Versions, parse},
};

use super::{ModuleFile, feature, java_home};

const STATIC: u16 = 0x0008;

/// What the checker knows about a class of a JDK.
struct Class {
    parents: Vec<String>,
    /// Name, descriptor and access flags.
    methods: Vec<(String, String, u16)>,
    fields: Vec<String>,
}

/// The classes of a JDK, by their internal names.
struct Jdk {
    feature: u32,
    file: ModuleFile,
    classes: BTreeMap<String, Class>,
    modules: Vec<String>,
}

/// The result of comparing data files with a JDK.
#[derive(Debug, Default)]
struct Check {
    classes: usize,
    methods: usize,
    /// Names that this JDK need not have, and does not have.
    absent: usize,
    errors: Vec<String>,
}

impl Jdk {
    fn open(home: &Path) -> Jdk {
        let file = ModuleFile::open(&home.join("lib").join("modules")).unwrap();
        let release = fs::read_to_string(home.join("release")).unwrap_or_default();
        let mut classes = BTreeMap::new();
        let mut modules = Vec::new();
        for name in file.names() {
            modules.extend(file.module(name).map(str::to_owned));
            let Some(Ok(bytes)) = file.class(name) else { continue };
            let Ok(flow) = read_flow(&bytes, false) else { continue };
            let methods = flow.methods.into_iter();
            let class = Class {
                parents: flow.super_name.into_iter().chain(flow.interfaces).collect(),
                methods: methods
                    .map(|method| (method.name, method.descriptor, method.access.bits()))
                    .collect(),
                fields: flow.fields.into_iter().map(|field| field.name).collect(),
            };
            classes.insert(name.to_owned(), class);
        }
        modules.sort();
        modules.dedup();
        Jdk { feature: feature(&release), file, classes, modules }
    }

    /// The classes with such a name.
    fn matching(&self, pattern: &ClassPattern) -> Vec<(&String, &Class)> {
        match pattern.name() {
            Some(name) => self.classes.get_key_value(&name.replace('.', "/")).into_iter().collect(),
            None => self.classes.iter().filter(|(name, _)| pattern.matches(name)).collect(),
        }
    }

    /// Whether the code of a class enters monitors or names a lock class.
    fn has_locks(&self, class: &str) -> bool {
        let Some(Ok(bytes)) = self.file.class(class) else { return false };
        // A plan that only changes code with monitors.
        let product = Product::Script(Script { monitors: true, advice: None });
        let plan = Plan::new("Hook", product);
        let has_monitors = rewrite(&bytes, &plan, &mut Nothing).is_ok_and(|outcome| outcome.is_some());
        let locks = b"java/util/concurrent/locks/";
        has_monitors || bytes.windows(locks.len()).any(|window| window == locks)
    }

    /// The methods of this name that a class has or inherits.
    fn methods<'a>(&'a self, class: &'a Class, pattern: &MethodPattern) -> Vec<&'a (String, String, u16)> {
        let own = class.methods.iter().filter(|(name, descriptor, _)| pattern.matches(name, descriptor));
        let mut found: Vec<_> = own.collect();
        if pattern.name != "<init>" {
            let parents = class.parents.iter().filter_map(|name| self.classes.get(name));
            parents.for_each(|parent| found.extend(self.methods(parent, pattern)));
        }
        found
    }

    /// Compares data files with this JDK.
    fn check(&self, files: &[DataFile]) -> Check {
        let mut check = Check::default();
        for file in files {
            for section in &file.sections {
                for group in &section.groups {
                    self.check_group(file.name, section, group, &mut check);
                }
            }
        }
        check
    }

    fn check_group(&self, file: &str, section: &Section, group: &Group, check: &mut Check) {
        for entry in &group.classes {
            let found = self.check_class(section, entry).map(|is_found| {
                let counted = if is_found { &mut check.classes } else { &mut check.absent };
                *counted += 1;
            });
            check.errors.extend(found.err().map(|error| format!("{file}:{}: {error}", entry.line)));
        }
        for row in &group.rows {
            for method in
                row.methods.iter().filter(|method| method.name != "*" || method.descriptor.is_some())
            {
                let found = self.check_method(section, group, row, method).map(|is_found| {
                    let counted = if is_found { &mut check.methods } else { &mut check.absent };
                    *counted += 1;
                });
                check.errors.extend(found.err().map(|error| format!("{file}:{}: {error}", row.line)));
            }
        }
    }

    /// Whether a class exists, or why its entry is wrong.
    fn check_class(&self, section: &Section, entry: &ClassEntry) -> Result<bool, String> {
        let name = entry.class.text();
        let is_found = match section.name {
            "modules" => self.modules.iter().any(|module| module == name),
            _ => !self.matching(&entry.class).is_empty(),
        };
        self.judge(name, entry.versions, is_found)?;
        for word in entry.words.iter().filter(|word| word.contains('.')) {
            if is_found && !self.classes.contains_key(&word.replace('.', "/")) {
                return Err(format!("JDK {} has no {word}", self.feature));
            }
        }
        let claims_locks =
            matches!(section.name, "internal" | "collector") && !entry.words.contains(&"formerly");
        if claims_locks
            && is_found
            && !self.matching(&entry.class).iter().any(|(name, _)| self.has_locks(name))
        {
            return Err(format!("{name} has no locks in JDK {}", self.feature));
        }
        Ok(is_found)
    }

    /// Whether one of the classes of a group has a method, or why the row is wrong.
    fn check_method(
        &self,
        section: &Section,
        group: &Group,
        row: &Row,
        method: &MethodPattern,
    ) -> Result<bool, String> {
        let classes: Vec<&Class> = group
            .classes
            .iter()
            .flat_map(|entry| self.matching(&entry.class))
            .map(|(_, class)| class)
            .collect();
        // The classes themselves may belong to other JDKs.
        if classes.is_empty() {
            return Ok(false);
        }
        let name = format!(
            "{}.{}{}",
            group.classes[0].class.text(),
            method.name,
            method.descriptor.unwrap_or_default()
        );
        if matches!(section.name, "cached-views" | "statics" | "wrapping") {
            let is_found = classes.iter().any(|class| class.fields.iter().any(|field| method.names(field)));
            return self.judge(&name, row.versions, is_found);
        }
        let found: Vec<_> = classes.iter().flat_map(|class| self.methods(class, method)).collect();
        let is_found = self.judge(&name, row.versions, !found.is_empty())?;
        // The row is not about inherited members, such as the polymorphic methods of `VarHandle`.
        let own = classes.iter().flat_map(|class| &class.methods);
        for (_, descriptor, access) in own.filter(|(name, descriptor, _)| method.matches(name, descriptor)) {
            let claim = row
                .words
                .iter()
                .find_map(|word| contradiction(section.name, word, &row.words, descriptor, *access));
            if let Some(claim) = claim {
                let name = name.strip_suffix(descriptor.as_str()).unwrap_or(&name);
                return Err(format!("{name}{descriptor} {claim}"));
            }
        }
        Ok(is_found)
    }

    /// Compares whether a name was found with the JDKs that are said to have it.
    fn judge(&self, name: &str, versions: Versions, is_found: bool) -> Result<bool, String> {
        match (versions.contain(self.feature), is_found) {
            (true, false) => Err(format!("JDK {} has no {name}", self.feature)),
            (false, true) => Err(format!("JDK {} has {name} as well", self.feature)),
            _ => Ok(is_found),
        }
    }
}

/// What a descriptor and access flags say against a word of a row.
fn contradiction(
    section: &str,
    word: &str,
    words: &[&str],
    descriptor: &str,
    access: u16,
) -> Option<&'static str> {
    let (parameters, result) = types(descriptor);
    let is_static = access & STATIC != 0;
    let is_reference = |text: &str| text.starts_with(['L', '[']);
    match (section, word) {
        ("hand-over" | "waiting" | "shared-state", _) => {
            let subject = word.split_once('(').map_or("this", |(_, subject)| subject.trim_end_matches(')'));
            match subject {
                "this" | "foreign" | "round" => is_static.then_some("has no receiver"),
                // A computed value that is no object orders nothing, and the hook gets null instead.
                "result" => (!is_reference(result)).then_some("returns no object"),
                number => {
                    let parameter = number.parse().ok().and_then(|number: usize| parameters.get(number));
                    (!parameter.is_some_and(|parameter| is_reference(parameter)))
                        .then_some("has no object as this parameter")
                }
            }
        }
        ("blocking" | "state" | "exit" | "clocks" | "randomness", _) => (words.contains(&"static")
            != is_static)
            .then_some("is static, or is said to be although it is not"),
        ("locks" | "interfaces", "try") => (result != "Z").then_some("does not return whether it succeeded"),
        ("stamped", "acquire" | "try" | "optimistic" | "convert") => {
            (result != "J").then_some("returns no stamp")
        }
        ("atomics", "compare") => (result != "Z").then_some("does not return whether it succeeded"),
        _ => None,
    }
}

/// Answers the rewriter, which only has to find monitors.
struct Nothing;

impl Environment for Nothing {
    fn site(&mut self, _: Site<'_>) -> u32 {
        0
    }

    fn cell(&mut self, _: &str, _: &str) -> u32 {
        0
    }

    fn foreign(&mut self, _: &str, _: &str, _: &str, _: bool) -> Foreign {
        Foreign::Ignore
    }
}

/// Checks all data files against each JVM of the tests.
#[test]
#[allow(clippy::print_stdout, reason = "the test prints what it compared")]
fn the_data_files_agree_with_the_jdk() {
    let javas = env::var_os("FISSURE_TEST_JAVAS").unwrap_or_else(|| "java".into());
    let files = files().unwrap();
    let mut wrong = Vec::new();
    for java in env::split_paths(&javas) {
        let Ok(home) = java_home(java.as_os_str()) else { continue };
        let jdk = Jdk::open(&home);
        check_planted_errors(&jdk);
        let Check { classes, methods, absent, errors } = jdk.check(&files);
        println!(
            "{}: {} files, {classes} names of classes and {methods} of methods are right, {absent} belong to other JDKs",
            home.display(),
            files.len()
        );
        assert!(classes > 400 && methods > 700, "{classes} {methods}");
        wrong.extend(errors);
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// Wrong entries must be found; otherwise the check is worth nothing.
fn check_planted_errors(jdk: &Jdk) {
    let check = |text: &'static str, expected: &str| {
        let file = parse("planted.txt", text).unwrap();
        let errors = jdk.check(&[file]).errors;
        let expected = expected.replace("JDK", &format!("JDK {}", jdk.feature));
        assert_eq!(errors, [format!("planted.txt:{expected}")], "{text}");
    };
    check("[x]\njava.util.Lists\n", "2: JDK has no java.util.Lists");
    check("[x]\njava.utils.**\n", "2: JDK has no java.utils.**");
    check("[x]\njava.util.List\n    sizes -> read\n", "3: JDK has no java.util.List.sizes");
    check("[x]\njava.util.List\n    size()J -> read\n", "3: JDK has no java.util.List.size()J");
    check("[x]\njava.util.List until 8\n", "2: JDK has java.util.List as well");
    check("[x]\njava.util.List\n    size since 99 -> read\n", "3: JDK has java.util.List.size as well");
    check("[delegating]\njava.util.List -> java.util.Lists\n", "2: JDK has no java.util.Lists");
    check("[wrapping]\njava.util.HashMap\n    tables\n", "3: JDK has no java.util.HashMap.tables");
    check("[modules]\njava.basic\n", "2: JDK has no java.basic");
    check("[internal]\njava.util.Objects\n", "2: java.util.Objects has no locks in JDK");
    check(
        "[hand-over]\njava.util.List\n    get(I)Ljava/lang/Object; -> release(0)\n",
        "3: java.util.List.get(I)Ljava/lang/Object; has no object as this parameter",
    );
    check(
        "[clocks]\njava.lang.System\n    nanoTime -> nanoTime\n",
        "3: java.lang.System.nanoTime()J is static, or is said to be although it is not",
    );
}
