//! Finds a JDK, and installs one with the system's package manager if there is none.

use std::{
    env,
    path::{Path, PathBuf},
    process::Command,
};

use anyhow::{Context, Result, bail};

use crate::packages::{self, on_path};

/// The oldest `javac` that can compile what is in the repository.
const OLDEST: u32 = 11;

const ADVICE: &str = "install a JDK of version 17 or later (https://adoptium.net has them for every system) and put its `bin` folder \
     on PATH, or its folder into JAVA_HOME";

/// A JDK by its `bin` folder.
#[derive(Debug)]
pub(crate) struct Jdk {
    bin: PathBuf,
}

impl Jdk {
    /// The folder of its tools.
    pub(crate) fn bin(&self) -> &Path {
        &self.bin
    }

    /// A command with one of its tools.
    pub(crate) fn tool(&self, name: &str) -> Command {
        Command::new(self.bin.join(name))
    }
}

/// What the package managers call a JDK, to be tried in turn.
const PACKAGES: [(&str, &[&str]); 6] = [
    ("apt-get", &["openjdk-21-jdk-headless", "openjdk-17-jdk-headless", "default-jdk-headless"]),
    ("dnf", &["java-21-openjdk-devel", "java-17-openjdk-devel", "java-latest-openjdk-devel"]),
    ("pacman", &["jdk21-openjdk", "jdk-openjdk"]),
    ("zypper", &["java-21-openjdk-devel", "java-17-openjdk-devel"]),
    ("apk", &["openjdk21-jdk", "openjdk17-jdk"]),
    ("brew", &["openjdk@21", "openjdk@17"]),
];

/// The JDK of this machine, installed now if need be.
pub(crate) fn set_up() -> Result<Jdk> {
    if let Some(jdk) = find() {
        return Ok(jdk);
    }
    println!("no JDK of version {OLDEST} or later was found by JAVA_HOME or PATH");
    packages::install(&PACKAGES).with_context(|| format!("installing a JDK did not work; {ADVICE}"))?;
    find().with_context(|| format!("a JDK was installed, but there is still no `javac`; {ADVICE}"))
}

/// The JDK in a folder, which must have a compiler.
pub(crate) fn at(home: &Path) -> Result<Jdk> {
    let home = std::path::absolute(home)?;
    let jdk = Jdk { bin: home.join("bin") };
    if !jdk.bin.join("javac").is_file() {
        bail!(
            "there is no `bin/javac` in {}; give the folder of a JDK, not of a mere runtime",
            home.display()
        );
    }
    match version(&jdk) {
        Some(version) if version >= OLDEST => Ok(jdk),
        _ => bail!("the JDK in {} is not of version {OLDEST} or later", home.display()),
    }
}

/// A JDK that is new enough, by `JAVA_HOME` first and by the search path then.
fn find() -> Option<Jdk> {
    let home = env::var_os("JAVA_HOME").map(|home| Path::new(&home).join("bin"));
    let path = on_path("javac").and_then(|javac| javac.parent().map(Path::to_owned));
    home.into_iter()
        .chain(path)
        .map(|bin| Jdk { bin })
        .find(|jdk| jdk.bin.join("java").is_file() && version(jdk).is_some_and(|version| version >= OLDEST))
}

fn version(jdk: &Jdk) -> Option<u32> {
    let output = jdk.tool("javac").arg("-version").output().ok()?;
    // Up to version 8 the answer went to standard error.
    let answer = [output.stdout, output.stderr].concat();
    parse_version(&String::from_utf8_lossy(&answer))
}

/// The feature release in `javac 17.0.2`, `javac 21-ea` or `javac 1.8.0_292`.
fn parse_version(answer: &str) -> Option<u32> {
    let number = answer.lines().find_map(|line| line.strip_prefix("javac "))?.trim();
    let mut parts = number.split(|c: char| !c.is_ascii_digit());
    match parts.next()?.parse().ok()? {
        1 => parts.next()?.parse().ok(),
        feature => Some(feature),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(answer: &str, expected: Option<u32>) {
        assert_eq!(parse_version(answer), expected, "{answer}");
    }

    #[test]
    fn versions_are_read_from_the_answer_of_javac() {
        check("javac 17.0.15\n", Some(17));
        check("javac 25\n", Some(25));
        check("javac 21-ea\n", Some(21));
        check("javac 1.8.0_292\n", Some(8));
        check("Picked up JAVA_TOOL_OPTIONS: -Dx\njavac 11.0.2\n", Some(11));
        check("no such thing", None);
    }
}
