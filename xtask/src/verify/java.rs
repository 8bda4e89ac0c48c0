//! The JVM whose classes are verified: compiles programs for it, extracts its classes, links them and parses its log.

use std::{
    collections::{BTreeMap, BTreeSet, HashMap},
    fs,
    path::{Path, PathBuf},
    process::Command,
};

use anyhow::{Context, Result, bail, ensure};
use fissure_classfile::hooks::{ALL, Hook};

use super::{BASE, ClassFile, rewriting::WAIT};
use crate::{
    jdk::Jdk,
    workspace::{files_below, line, root},
};

/// The class with the hooks, by internal name.
pub(crate) const HOOK: &str = "java/lang/FissureHook";
/// The class that occurs in the descriptors of hooks.
const ELEMENTS: &str = "java/lang/FissureElements";

/// Options that make a JVM verify its own classes, and load them from class files instead of an archive of verified classes.
const VERIFYING: [&str; 4] = [
    "-XX:+UnlockDiagnosticVMOptions",
    "-XX:+BytecodeVerificationLocal",
    "-XX:+BytecodeVerificationRemote",
    "-Xshare:off",
];

/// The name of the JVM's log. It must not contain colons, which separate the parts of `-Xlog`.
const LOG: &str = "jvm.log";

/// A JDK with the programs of `programs/verify` compiled for it.
pub(crate) struct Java<'a> {
    jdk: &'a Jdk,
    folder: PathBuf,
}

/// The result of linking the classes.
#[derive(Debug, Default)]
pub(crate) struct Linking {
    pub(crate) linked: usize,
    /// Classes (names with dots) that could not be linked because classes that they refer to are missing, and the error.
    pub(crate) incomplete: BTreeMap<String, String>,
    /// Classes (names with dots) that the JVM rejected, and the error.
    pub(crate) refused: BTreeMap<String, String>,
    pub(crate) log: Log,
}

/// The contents of the JVM's log; class names have dots.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Log {
    /// The length in bytes of each class file that was loaded.
    pub(crate) loaded: HashMap<String, usize>,
    pub(crate) verified: BTreeSet<String>,
}

impl<'a> Java<'a> {
    /// Compiles the programs and the hook class into the folder.
    pub(crate) fn new(jdk: &'a Jdk, folder: &Path) -> Result<Self> {
        let java = Self { jdk, folder: folder.to_owned() };
        let programs = files_below(&root().join("programs/verify"), "java")?;
        output(jdk.tool("javac").args(["--release", "11", "-d"]).arg(java.programs()).args(programs))?;
        let sources = folder.join("source");
        let source = sources.join(format!("{HOOK}.java"));
        fs::create_dir_all(source.parent().context("a class without a package")?)?;
        fs::write(&source, hook_source(&ALL)?).context("cannot write the hook's source")?;
        let elements = sources.join(format!("{ELEMENTS}.java"));
        fs::write(&elements, class_source(ELEMENTS, "")?)
            .context("cannot write the source of a class of hooks")?;
        let patch = format!("{BASE}={}", sources.display());
        let mut javac = jdk.tool("javac");
        output(javac.arg("--patch-module").arg(patch).arg("-d").arg(java.hook()).args([&source, &elements]))?;
        Ok(java)
    }

    fn programs(&self) -> PathBuf {
        self.folder.join("programs")
    }

    fn hook(&self) -> PathBuf {
        self.folder.join("hook")
    }

    /// The classes of the modules, or of all if none is named.
    pub(crate) fn extract(&self, modules: &[String]) -> Result<Vec<ClassFile>> {
        let mut java = self.jdk.tool("java");
        let archive = output(java.arg("-cp").arg(self.programs()).arg("ExtractAll").args(modules))?;
        parse_archive(&archive).context("cannot parse the output of ExtractAll")
    }

    /// Links classes (names with dots); `patches` has a folder of replacements for each module.
    pub(crate) fn link(&self, classes: &[String], patches: Option<&Path>) -> Result<Linking> {
        let (list, log) = (self.folder.join("classes.txt"), self.folder.join(LOG));
        fs::write(&list, classes.join("\n")).context("cannot write the list of classes")?;
        let mut java = self.jdk.tool("java");
        // The JVM writes its log, and an error file if it crashes, to its working directory.
        java.current_dir(&self.folder).args(VERIFYING).args(["--add-modules", "ALL-SYSTEM"]);
        java.arg(format!("-Xlog:class+load=debug,class+init=info:file={LOG}:none:filecount=0"));
        if let Some(patches) = patches {
            for patch in self.patches(patches)? {
                java.arg("--patch-module").arg(patch);
            }
        }
        let answer = output(java.arg("-cp").arg(self.programs()).arg("LinkAll").arg(&list))?;
        let mut linking = parse_link_output(&String::from_utf8_lossy(&answer))?;
        let all = linking.linked + linking.incomplete.len() + linking.refused.len();
        ensure!(all == classes.len(), "the JVM reported {all} classes, but was given {}", classes.len());
        let log = fs::read(&log).with_context(|| format!("cannot read {}", log.display()))?;
        linking.log = parse_log(&String::from_utf8_lossy(&log));
        Ok(linking)
    }

    /// The arguments of `--patch-module`. The hook is always part of the base module.
    fn patches(&self, folder: &Path) -> Result<Vec<String>> {
        let mut patches = BTreeMap::from([(BASE.to_owned(), self.hook().display().to_string())]);
        for entry in fs::read_dir(folder).with_context(|| format!("cannot read {}", folder.display()))? {
            let path = entry?.path();
            let module = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
            let patch = patches.entry(module).or_default();
            if !patch.is_empty() {
                patch.push(if cfg!(windows) { ';' } else { ':' });
            }
            patch.push_str(&path.to_string_lossy());
        }
        Ok(patches.into_iter().map(|(module, path)| format!("{module}={path}")).collect())
    }
}

/// Runs a command and returns its standard output. The user's options for all JVMs are removed from the environment.
fn output(command: &mut Command) -> Result<Vec<u8>> {
    command.env_remove("JAVA_TOOL_OPTIONS").env_remove("JDK_JAVA_OPTIONS").env_remove("_JAVA_OPTIONS");
    let output = command.output().with_context(|| format!("cannot start {}", line(command)))?;
    if !output.status.success() {
        // A JVM that cannot start prints the reason to either stream.
        let (answer, errors) =
            (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
        bail!("{} failed: {}\n{answer}{errors}", line(command), output.status);
    }
    Ok(output.stdout)
}

/// The source of a class with hooks that do nothing.
fn hook_source(hooks: &[Hook]) -> Result<String> {
    let mut methods = String::new();
    for (name, descriptor) in hooks
        .iter()
        .map(|hook| (hook.name, hook.descriptor))
        .chain([(WAIT.hook_method, WAIT.hook_descriptor)])
    {
        let method =
            method(name, descriptor).with_context(|| format!("cannot translate '{descriptor}' to Java"))?;
        methods.push_str(&method);
    }
    class_source(HOOK, &methods)
}

/// The source of a class with these methods.
fn class_source(class: &str, methods: &str) -> Result<String> {
    let (package, name) = class.rsplit_once('/').context("a hook class without a package")?;
    Ok(format!("package {};\n\npublic final class {name} {{\n{methods}}}\n", package.replace('/', ".")))
}

/// A method that does nothing, in Java syntax.
fn method(name: &str, descriptor: &str) -> Option<String> {
    let (mut rest, result) = descriptor.strip_prefix('(')?.split_once(')')?;
    let mut parameters = Vec::new();
    while !rest.is_empty() {
        let (kind, after) = first_type(rest)?;
        parameters.push(format!("{kind} p{}", parameters.len()));
        rest = after;
    }
    let (kind, body) = match result {
        "V" => ("void".to_owned(), ""),
        _ => {
            let (kind, after) = first_type(result)?;
            (after.is_empty())
                .then_some((kind, if result.starts_with('L') { " return null; " } else { " return 0; " }))?
        }
    };
    Some(format!("    public static {kind} {name}({}) {{{body}}}\n", parameters.join(", ")))
}

/// The first type of a descriptor in Java syntax, and the rest of the descriptor.
fn first_type(descriptor: &str) -> Option<(String, &str)> {
    let rest = descriptor.get(1..)?;
    Some(match descriptor.chars().next()? {
        'L' => {
            let (class, after) = rest.split_once(';')?;
            (class.replace('/', "."), after)
        }
        'I' => ("int".to_owned(), rest),
        'Z' => ("boolean".to_owned(), rest),
        'J' => ("long".to_owned(), rest),
        'D' => ("double".to_owned(), rest),
        _ => return None,
    })
}

/// Parses the output of `ExtractAll`; `None` if it is truncated or malformed.
fn parse_archive(mut rest: &[u8]) -> Option<Vec<ClassFile>> {
    let mut classes = Vec::new();
    while !rest.is_empty() {
        let (length, after) = rest.split_first_chunk()?;
        let (name, after) = after.split_at_checked(usize::from(u16::from_be_bytes(*length)))?;
        let (length, after) = after.split_first_chunk()?;
        let (bytes, after) = after.split_at_checked(usize::try_from(u32::from_be_bytes(*length)).ok()?)?;
        let (module, name) = std::str::from_utf8(name).ok()?.split_once('/')?;
        classes.push(ClassFile { module: module.to_owned(), name: name.to_owned(), bytes: bytes.to_owned() });
        rest = after;
    }
    Some(classes)
}

/// Parses the output of `LinkAll`.
fn parse_link_output(answer: &str) -> Result<Linking> {
    let mut linking = Linking::default();
    for text in answer.lines() {
        match text.split('\t').collect::<Vec<_>>().as_slice() {
            ["linked", number] => linking.linked = number.parse().context("no number of linked classes")?,
            ["incomplete", name, error] => {
                linking.incomplete.insert(name.to_string(), error.to_string());
            }
            ["refused", name, error] => {
                linking.refused.insert(name.to_string(), error.to_string());
            }
            _ => bail!("unexpected output of LinkAll: '{text}'"),
        }
    }
    Ok(linking)
}

/// Parses the JVM's log: a line with a class's name is followed by one with the length of its file.
fn parse_log(text: &str) -> Log {
    let mut log = Log::default();
    let mut last = None;
    for text in text.lines() {
        if let Some(class) = text.strip_prefix("End class verification for: ") {
            log.verified.insert(class.to_owned());
        } else if let Some((class, _)) = text.split_once(" source: ") {
            last = Some(class.to_owned());
        } else if let Some((_, length)) = text.split_once(" bytes: ")
            && let Some(length) = length.split(' ').next().and_then(|length| length.parse().ok())
            && let Some(class) = last.take()
        {
            log.loaded.insert(class, length);
        }
    }
    log
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check_method(descriptor: &str, expected: Option<&str>) {
        let expected = expected.map(|expected| format!("    public static {expected}\n"));
        assert_eq!(method("m", descriptor), expected, "{descriptor}");
    }

    #[test]
    fn descriptors_become_methods() {
        check_method("()V", Some("void m() {}"));
        check_method("(Ljava/lang/Object;JI)V", Some("void m(java.lang.Object p0, long p1, int p2) {}"));
        check_method("(D)V", Some("void m(double p0) {}"));
        check_method("()I", Some("int m() { return 0; }"));
        check_method("(I)Ljava/lang/Object;", Some("java.lang.Object m(int p0) { return null; }"));
        check_method("([I)V", None);
        check_method("()[I", None);
    }

    #[test]
    fn every_hook_is_in_the_source() {
        let source = hook_source(&ALL).unwrap();
        assert_eq!(source.matches("public static").count(), ALL.len() + 1);
    }

    fn check_archive(archive: &[u8], expected: Option<&[(&str, &str, &[u8])]>) {
        let classes = parse_archive(archive);
        let classes: Option<Vec<_>> = classes
            .as_ref()
            .map(|all| all.iter().map(|class| (&*class.module, &*class.name, &*class.bytes)).collect());
        assert_eq!(classes.as_deref(), expected, "{archive:?}");
    }

    #[test]
    fn archives_are_read_to_their_end() {
        check_archive(b"", Some(&[]));
        check_archive(
            b"\0\x05m/a/B\0\0\0\x02xy\0\x03n/C\0\0\0\0",
            Some(&[("m", "a/B", b"xy"), ("n", "C", b"")]),
        );
        check_archive(b"\0\x05m/a/B\0\0\0\x02x", None);
        check_archive(b"\0\x03mab\0\0\0\0", None);
        check_archive(b"\0", None);
    }

    #[test]
    fn the_log_contains_lengths_and_verified_classes() {
        let log = parse_log(
            "set_secondary_supers: hash_slot: 6; klass: java.lang.Object\n\
             a.B source: jrt:/java.base\n\
             \x20klass: 0x1 super: 0x0 loader: [loader data: 0x2 of 'bootstrap'] bytes: 1895 checksum: 5802c2c3\n\
             Start class verification for: a.B\n\
             End class verification for: a.B\n\
             a.C$1 source: /patch/java.base\n\
             \x20klass: 0x1 super: 0x0 loader: [loader data: 0x2 of 'bootstrap'] bytes: 12 checksum: 5802c2c3\n",
        );
        assert_eq!(log.loaded, HashMap::from([("a.B".to_owned(), 1895), ("a.C$1".to_owned(), 12)]));
        assert_eq!(log.verified, BTreeSet::from(["a.B".to_owned()]));
    }

    #[test]
    fn the_output_of_the_jvm_is_parsed() {
        let linking =
            parse_link_output("refused\ta.B\tjava.lang.VerifyError: x\nincomplete\ta.C\tno\nlinked\t7\n")
                .unwrap();
        assert_eq!((linking.linked, linking.refused.len(), linking.incomplete.len()), (7, 1, 1));
        assert_eq!(linking.refused["a.B"], "java.lang.VerifyError: x");
        assert!(parse_link_output("what?\n").is_err());
    }
}
