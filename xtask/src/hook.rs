//! Compiles the Java sources. The classes are committed to the repository, so that building Fissure needs no JDK.

use std::{fs, path::Path};

use anyhow::{Context, Result, bail};
use fissure_model::finding::fingerprint;

use crate::{
    jdk::{self, Jdk},
    workspace::{files_below, root, succeed},
};

/// Compiled only so that the other classes can use the JDK's class with Fissure's additions; removed after compilation.
const STAND_INS: [&str; 2] = ["java/lang/Thread.class", "java/lang/Thread$State.class"];

/// Compiles the hook classes of the agent, the driver of `fissure object` and the launcher of `fissure test`, and records the hash of the
/// sources.
pub(crate) fn run() -> Result<()> {
    let jdk = jdk::set_up()?;
    compile(&jdk, &root().join("crates/jvm/hook"), true)?;
    compile(&jdk, &root().join("crates/fissure/object"), false)?;
    compile(&jdk, &root().join("crates/fissure/launcher"), false)
}

/// Compiles `src` of a folder into its `classes`. If `patched`, the sources are compiled as part of `java.base`.
fn compile(jdk: &Jdk, folder: &Path, patched: bool) -> Result<()> {
    let (sources, classes) = (folder.join("src"), folder.join("classes"));
    let files = files_below(&sources, "java")?;
    if files.is_empty() {
        bail!("there are no Java files in {}", sources.display());
    }
    if classes.exists() {
        fs::remove_dir_all(&classes).with_context(|| format!("cannot empty {}", classes.display()))?;
    }
    let mut javac = jdk.tool("javac");
    javac.args(["-nowarn", "-Xlint:-options", "-XDstringConcat=inline", "-g:source,lines"]);
    if patched {
        javac.args(["-source", "11", "-target", "11", "--patch-module"]);
        javac.arg(format!("java.base={}", sources.display()));
    } else {
        javac.args(["--release", "11"]);
    }
    javac.arg("-d").arg(&classes).args(&files);
    succeed(&mut javac)?;
    for stand_in in STAND_INS.map(|name| classes.join(name)).iter().filter(|path| path.exists()) {
        fs::remove_file(stand_in).with_context(|| format!("cannot remove {}", stand_in.display()))?;
    }
    let hash = source_hash(&sources)?;
    fs::write(classes.join("SOURCE_HASH"), format!("{hash}\n")).context("cannot write SOURCE_HASH")?;
    let compiled = files_below(&classes, "class")?.len();
    println!("{compiled} classes in {}, source hash {hash}", classes.display());
    Ok(())
}

/// The fingerprint of the sources: name and content of each file, sorted by name; names have slashes on every system.
fn source_hash(sources: &Path) -> Result<String> {
    let mut parts = Vec::new();
    for file in files_below(sources, "java")? {
        let name = file.strip_prefix(sources).unwrap_or(&file).to_string_lossy().replace('\\', "/");
        let text = fs::read_to_string(&file).with_context(|| format!("cannot read {}", file.display()))?;
        parts.push((name, text));
    }
    parts.sort();
    let parts: Vec<&str> = parts.iter().flat_map(|(name, text)| [name.as_str(), text.as_str()]).collect();
    Ok(fingerprint(&parts))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_hash_depends_on_names_and_contents_only() {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path();
        fs::create_dir(root.join("b")).unwrap();
        fs::write(root.join("b/C.java"), "class C {}").unwrap();
        fs::write(root.join("A.java"), "class A {}").unwrap();
        fs::write(root.join("notes.txt"), "ignored").unwrap();
        assert_eq!(
            source_hash(root).unwrap(),
            fingerprint(&["A.java", "class A {}", "b/C.java", "class C {}"])
        );
    }
}
