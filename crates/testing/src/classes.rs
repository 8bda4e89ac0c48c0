//! The compiler of the programs.

use std::{
    collections::BTreeMap,
    fs::{self, File},
    hash::{DefaultHasher, Hash, Hasher},
    io,
    path::{Path, PathBuf},
    process::Command,
};

use crate::{
    environment::newer_tool,
    programs::{OLDEST_RELEASE, Program},
};

/// Compiles programs into an empty folder, once for each release, and registers their services. Programs that need a newer release than
/// the compiler's are compiled by that of another JDK, and left out if there is none. The error is the compiler's.
pub fn compile(javac: &Path, programs: &[Program], classes: &Path) -> Result<(), String> {
    let in_folder = |error: io::Error| format!("cannot write {}: {error}", classes.display());
    if classes.exists() {
        fs::remove_dir_all(classes).map_err(in_folder)?;
    }
    let services = classes.join("META-INF/services");
    fs::create_dir_all(&services).map_err(in_folder)?;
    let mut releases: BTreeMap<u32, Vec<&Path>> = BTreeMap::new();
    for program in programs {
        releases.entry(program.release()).or_default().push(&program.path);
        for (service, class) in &program.header.services {
            fs::write(services.join(service), class).map_err(in_folder)?;
        }
    }
    for (release, sources) in releases {
        let javac = match release > OLDEST_RELEASE {
            true => newer_tool("javac", release),
            false => Some(javac.to_owned()),
        };
        let Some(javac) = javac else { continue };
        let mut command = Command::new(&javac);
        command.args(["--release", &release.to_string(), "-g", "-nowarn", "-d"]).arg(classes).args(sources);
        let output =
            command.output().map_err(|error| format!("cannot start {}: {error}", javac.display()))?;
        if !output.status.success() {
            return Err(format!("javac refused:\n{}", String::from_utf8_lossy(&output.stderr)));
        }
    }
    Ok(())
}

/// Compiles programs into a folder unless the same sources were compiled into it before, by this or another process.
pub fn compiled_once(javac: &Path, programs: &[Program], classes: &Path) -> Result<(), String> {
    let in_folder = |error: io::Error| format!("cannot write {}: {error}", classes.display());
    fs::create_dir_all(classes.parent().unwrap_or(classes)).map_err(in_folder)?;
    let lock = File::create(classes.with_extension("lock")).map_err(in_folder)?;
    lock.lock().map_err(in_folder)?;
    let stamp = classes.with_extension("stamp");
    let key = key(javac, programs)?;
    if classes.is_dir() && fs::read_to_string(&stamp).is_ok_and(|old| old == key) {
        return Ok(());
    }
    let _ = fs::remove_file(&stamp);
    compile(javac, programs, classes)?;
    fs::write(&stamp, key).map_err(in_folder)
}

/// Identifies the compiler and the sources.
fn key(javac: &Path, programs: &[Program]) -> Result<String, String> {
    let mut hasher = DefaultHasher::new();
    javac.canonicalize().unwrap_or_else(|_| PathBuf::from(javac)).hash(&mut hasher);
    for program in programs {
        let path = &program.path;
        let text = fs::read(path).map_err(|error| format!("cannot read {}: {error}", path.display()))?;
        (path, text).hash(&mut hasher);
    }
    Ok(format!("{:016x}", hasher.finish()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{header::Header, programs::Folder};

    #[test]
    fn the_same_sources_are_compiled_once() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("A.java");
        fs::write(&path, "class A {}").unwrap();
        let program = Program {
            folder: Folder::Hunt,
            name: "A".to_owned(),
            class: "A".to_owned(),
            path: path.clone(),
            header: Header::default(),
            lines: Vec::new(),
        };
        let programs = [program];
        let classes = folder.path().join("classes");
        // Any program does as a compiler that succeeds, and any other as one that fails.
        compiled_once(Path::new("true"), &programs, &classes).unwrap();
        fs::write(classes.join("mark"), "").unwrap();
        compiled_once(Path::new("true"), &programs, &classes).unwrap();
        assert!(classes.join("mark").exists());
        fs::write(&path, "class A { int x; }").unwrap();
        assert!(compiled_once(Path::new("false"), &programs, &classes).is_err());
        compiled_once(Path::new("true"), &programs, &classes).unwrap();
        assert!(!classes.join("mark").exists());
    }
}
