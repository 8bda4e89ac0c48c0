//! Checks that the JVM's verifier accepts the output of the rewriter: every class of a JDK is rewritten at full
//! instrumentation, replaces the original, and is linked by a JVM that also verifies its own classes.
//!
//! A pass proves something only if the JVM can fail. So the JVM must first reject a class that is broken on purpose, and its
//! log must show that it loaded the rewritten classes and verified them.

mod java;
mod outcome;
mod rewriting;

use std::{
    collections::BTreeMap,
    fs,
    path::{Path, PathBuf},
};

use anyhow::{Context, Result, bail, ensure};
use clap::Args;

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
#[derive(Debug, Args)]
pub(crate) struct Options {
    /// The JDK, instead of the one that the other tasks use
    #[arg(long, value_name = "DIR")]
    java_home: Option<PathBuf>,
    /// The modules to verify, separated by commas, or `all`
    #[arg(long, value_name = "MODULES", value_delimiter = ',', default_value = "all")]
    modules: Vec<String>,
}

impl Options {
    /// The modules to verify; all if empty.
    pub(crate) fn modules(&self) -> &[String] {
        if self.modules.iter().any(|module| module == "all") { &[] } else { &self.modules }
    }
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
pub(crate) fn run(options: &Options) -> Result<()> {
    let jdk = match &options.java_home {
        Some(home) => jdk::at(home)?,
        None => jdk::set_up()?,
    };
    verify(&jdk, options.modules())
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
