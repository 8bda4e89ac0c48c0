//! Checks that the JVM's verifier accepts the output of the rewriter: every class of a JDK is rewritten at full
//! instrumentation, replaces the original, and is linked by a JVM that also verifies its own classes.
//!
//! A pass proves something only if the JVM can fail. So the JVM must first reject a class that is broken on purpose, and its
//! log must show that it loaded the rewritten classes and verified them.

mod java;
mod outcome;
mod rewriting;

use std::{collections::BTreeMap, fs, path::Path};

use anyhow::{Context, Result, bail, ensure};

use crate::{
    jdk::{self, Jdk},
    workspace::fresh_folder,
};

use java::Java;
use outcome::Outcome;
use rewriting::{Purpose, Rewriting};

/// The module that every JVM has; it contains [`SUBJECT`].
const BASE: &str = "java.base";

/// The class that is broken on purpose: it has plain fields, and the JVM starts without it.
const SUBJECT: &str = "java/util/Observable";

/// The descriptor of the hooks for fields, and the same with two parameters swapped, as by a faulty rewriter.
const RIGHT: &[u8] = b"(Ljava/lang/Object;JI)V";
const WRONG: &[u8] = b"(Ljava/lang/Object;IJ)V";

/// The options of the command.
#[derive(Debug, PartialEq, Eq)]
struct Options {
    java_home: Option<String>,
    /// The modules to verify; all if empty.
    modules: Vec<String>,
}

/// A class file of the JDK.
#[derive(Debug, PartialEq, Eq)]
struct ClassFile {
    module: String,
    /// Internal name.
    name: String,
    bytes: Vec<u8>,
}

/// Runs the command.
pub(crate) fn run(arguments: &[&str]) -> Result<()> {
    let options = parse(arguments)?;
    let jdk = match &options.java_home {
        Some(home) => jdk::at(Path::new(home))?,
        None => jdk::set_up()?,
    };
    verify(&jdk, &options.modules)
}

fn parse(arguments: &[&str]) -> Result<Options> {
    let mut options = Options { java_home: None, modules: Vec::new() };
    for pair in arguments.chunks(2) {
        match *pair {
            ["--java-home", folder] => options.java_home = Some(folder.to_owned()),
            ["--modules", "all"] => options.modules.clear(),
            ["--modules", names] => options.modules = names.split(',').map(str::to_owned).collect(),
            _ => {
                bail!("unknown option '{}': [--java-home DIR] [--modules java.base,...|all]", pair.join(" "))
            }
        }
    }
    Ok(options)
}

fn verify(jdk: &Jdk, modules: &[String]) -> Result<()> {
    let folder = fresh_folder("verify")?;
    let java = Java::new(jdk, &folder)?;
    let classes = extract(&java, modules)?;
    check_that_it_can_fail(&java, &folder.join("broken"), &classes)?;
    println!("{} was broken on purpose, and the JVM in {} rejected it", dotted(SUBJECT), jdk.bin().display());

    let wanted = |class: &ClassFile| modules.is_empty() || modules.contains(&class.module);
    let classes: Vec<ClassFile> = classes.into_iter().filter(wanted).collect();
    let purposes = [
        (Purpose::Watch, "watched"),
        (Purpose::Control, "controlled"),
        (Purpose::Explore, "explored"),
        (Purpose::MonitorScript, "monitored"),
    ];
    for (purpose, name) in purposes {
        println!("classes that are {name}:");
        let rewriting = Rewriting::of(&classes, purpose)?;
        let rewritten = folder.join(name);
        write(&rewritten, &rewriting, &classes)?;
        let names: Vec<String> = classes.iter().map(|class| dotted(&class.name)).collect();
        let outcome = Outcome {
            classes: names.len(),
            plain: java.link(&names, None).context("the JVM with its original classes")?,
            patched: java.link(&names, Some(&rewritten)).context("the JVM with rewritten classes")?,
            rewriting,
        };
        print!("{outcome}");
        let failures = outcome.failures();
        if !failures.is_empty() {
            bail!("{}; the rewritten classes are in {}", failures.join("; "), rewritten.display());
        }
    }
    // The classes of a whole JDK take too much space to keep.
    fs::remove_dir_all(&folder).with_context(|| format!("cannot remove {}", folder.display()))
}

/// The classes of these modules and of the base module.
fn extract(java: &Java<'_>, modules: &[String]) -> Result<Vec<ClassFile>> {
    let mut modules = modules.to_vec();
    if !modules.is_empty() && !modules.iter().any(|module| module == BASE) {
        modules.push(BASE.to_owned());
    }
    let mut classes = java.extract(&modules)?;
    classes.sort_by(|one, other| (&one.module, &one.name).cmp(&(&other.module, &other.name)));
    Ok(classes)
}

/// Breaks a rewritten class and checks that the verifier rejects it.
fn check_that_it_can_fail(java: &Java<'_>, folder: &Path, classes: &[ClassFile]) -> Result<()> {
    let subject = classes.iter().find(|class| class.name == SUBJECT);
    let subject = std::slice::from_ref(subject.with_context(|| format!("{SUBJECT} was not found"))?);
    let mut rewriting = Rewriting::of(subject, Purpose::Watch)?;
    let intact = folder.join("intact");
    write(&intact, &rewriting, subject)?;
    let names = [dotted(SUBJECT)];
    let accepted = java.link(&names, Some(&intact))?;
    ensure!(accepted.linked == 1, "{SUBJECT} was rejected before it was broken: {accepted:?}");

    let bytes = rewriting.classes.get_mut(SUBJECT).context("the class to break was not rewritten")?;
    let offset = bytes.windows(RIGHT.len()).position(|window| window == RIGHT);
    let offset = offset.context("the class to break calls no hook for fields")?;
    bytes[offset..offset + WRONG.len()].copy_from_slice(WRONG);
    let broken = folder.join("broken");
    write(&broken, &rewriting, subject)?;
    let refused = java.link(&names, Some(&broken))?;
    let error = refused.refused.get(&names[0]);
    ensure!(
        error.is_some_and(|error| error.starts_with("java.lang.VerifyError")),
        "the JVM does not verify its own classes, so this check proves nothing: {SUBJECT} was broken on purpose, but \
         the result is {refused:?}"
    );
    Ok(())
}

/// Writes the rewritten classes, one folder for each module.
fn write(folder: &Path, rewriting: &Rewriting, classes: &[ClassFile]) -> Result<()> {
    let modules: BTreeMap<&str, &str> =
        classes.iter().map(|class| (class.name.as_str(), class.module.as_str())).collect();
    for (name, bytes) in &rewriting.classes {
        let module = modules.get(name.as_str()).context("a class without a module")?;
        let path = folder.join(module).join(format!("{name}.class"));
        let parent = path.parent().context("a file without a folder")?;
        fs::create_dir_all(parent).with_context(|| format!("cannot create {}", parent.display()))?;
        fs::write(&path, bytes).with_context(|| format!("cannot write {}", path.display()))?;
    }
    Ok(())
}

/// A class name with dots, as in Java source code.
fn dotted(name: &str) -> String {
    name.replace('/', ".")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(arguments: &[&str], expected: Option<(Option<&str>, &[&str])>) {
        let expected = expected.map(|(java_home, modules)| Options {
            java_home: java_home.map(str::to_owned),
            modules: modules.iter().map(|module| module.to_string()).collect(),
        });
        assert_eq!(parse(arguments).ok(), expected, "{arguments:?}");
    }

    #[test]
    fn options() {
        check(&[], Some((None, &[])));
        check(&["--modules", "all"], Some((None, &[])));
        check(&["--modules", "java.base,java.sql"], Some((None, &["java.base", "java.sql"])));
        check(&["--modules", "java.base", "--java-home", "/jdk"], Some((Some("/jdk"), &["java.base"])));
        check(&["--modules"], None);
        check(&["java.base"], None);
    }
}
