//! Finds a JDK, and installs one with the system's package manager if there is none.

use std::{
    env, fs,
    path::{Path, PathBuf},
    process::{Command, Stdio},
};

use anyhow::{Context, Result, anyhow, bail};

use crate::workspace::{line, succeed};

/// The oldest `javac` that can compile the Java code of the repository.
const OLDEST: u32 = 11;

const ADVICE: &str = "install a JDK of version 17 or later (https://adoptium.net has them for every system) and put its `bin` folder \
     on PATH, or its folder into JAVA_HOME";

/// A JDK, given by its `bin` folder.
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

    /// Makes a command use this JDK, regardless of `JAVA_HOME` and `PATH`.
    pub(crate) fn use_for(&self, command: &mut Command) -> Result<()> {
        let path = env::var_os("PATH").unwrap_or_default();
        let folders = [self.bin.clone()].into_iter().chain(env::split_paths(&path));
        command.env("PATH", env::join_paths(folders).context("PATH cannot name the JDK's folder")?);
        command.env_remove("JAVA_HOME");
        Ok(())
    }
}

/// Folders in which package managers install JDKs, not always with a link on the search path.
const FOLDERS: [&str; 4] = ["/usr/lib/jvm", "/usr/lib64/jvm", "/usr/java", "/home/linuxbrew/.linuxbrew/opt"];

/// A package manager: its program, the arguments to refresh and to install, and the packages to try in order.
struct Manager {
    program: &'static str,
    refresh: Option<&'static [&'static str]>,
    install: &'static [&'static str],
    packages: &'static [&'static str],
    needs_root: bool,
}

const MANAGERS: [Manager; 6] = [
    Manager {
        program: "apt-get",
        refresh: Some(&["update"]),
        install: &["install", "--yes", "--no-install-recommends"],
        packages: &["openjdk-21-jdk-headless", "openjdk-17-jdk-headless", "default-jdk-headless"],
        needs_root: true,
    },
    Manager {
        program: "dnf",
        refresh: None,
        install: &["install", "--assumeyes"],
        packages: &["java-21-openjdk-devel", "java-17-openjdk-devel", "java-latest-openjdk-devel"],
        needs_root: true,
    },
    Manager {
        program: "pacman",
        refresh: None,
        install: &["--sync", "--refresh", "--noconfirm"],
        packages: &["jdk21-openjdk", "jdk-openjdk"],
        needs_root: true,
    },
    Manager {
        program: "zypper",
        refresh: None,
        install: &["--non-interactive", "install"],
        packages: &["java-21-openjdk-devel", "java-17-openjdk-devel"],
        needs_root: true,
    },
    Manager {
        program: "apk",
        refresh: None,
        install: &["add"],
        packages: &["openjdk21-jdk", "openjdk17-jdk"],
        needs_root: true,
    },
    Manager {
        program: "brew",
        refresh: None,
        install: &["install"],
        packages: &["openjdk@21", "openjdk@17"],
        needs_root: false,
    },
];

/// The JDK of this machine, which is installed if there is none.
pub(crate) fn set_up() -> Result<Jdk> {
    if let Some(jdk) = find() {
        return Ok(jdk);
    }
    println!(
        "found no JDK of version {OLDEST} or later through JAVA_HOME, through PATH or in the usual folders"
    );
    let Some(manager) = MANAGERS.iter().find(|manager| on_path(manager.program).is_some()) else {
        bail!("found no supported package manager; {ADVICE}");
    };
    install(manager).map_err(|problem| anyhow!("{problem:#}; {ADVICE}"))?;
    find().with_context(|| format!("a JDK was installed, but `javac` is still not found; {ADVICE}"))
}

/// The JDK in a folder, which must have a compiler.
pub(crate) fn at(home: &Path) -> Result<Jdk> {
    let home = std::path::absolute(home)?;
    let jdk = Jdk { bin: home.join("bin") };
    if !jdk.bin.join("javac").is_file() {
        bail!("there is no `bin/javac` in {}; give the folder of a JDK, not of a runtime", home.display());
    }
    match version(&jdk) {
        Some(version) if version >= OLDEST => Ok(jdk),
        _ => bail!("the JDK in {} is not of version {OLDEST} or later", home.display()),
    }
}

/// A JDK that is new enough: from `JAVA_HOME`, from the search path, or the newest in the usual folders.
fn find() -> Option<Jdk> {
    let home = env::var_os("JAVA_HOME").map(|home| Path::new(&home).join("bin"));
    let path = on_path("javac").and_then(|javac| javac.parent().map(Path::to_owned));
    let named = home.into_iter().chain(path).filter_map(usable).map(|(_, jdk)| jdk).next();
    named.or_else(|| newest_in(FOLDERS.map(Path::new)))
}

/// The JDK with this `bin` folder and its version, if it has `java` and `javac` and is new enough.
fn usable(bin: PathBuf) -> Option<(u32, Jdk)> {
    if !bin.join("java").is_file() || !bin.join("javac").is_file() {
        return None;
    }
    let jdk = Jdk { bin };
    version(&jdk).filter(|version| *version >= OLDEST).map(|version| (version, jdk))
}

/// The JDKs in subfolders of `folders`, with their versions.
fn all_in<'f>(folders: impl IntoIterator<Item = &'f Path>) -> impl Iterator<Item = (u32, Jdk)> {
    let homes = folders.into_iter().filter_map(|folder| fs::read_dir(folder).ok()).flatten().flatten();
    homes.filter_map(|home| usable(home.path().join("bin")))
}

/// The newest JDK in a subfolder of one of `folders`.
fn newest_in<'f>(folders: impl IntoIterator<Item = &'f Path>) -> Option<Jdk> {
    all_in(folders).max_by_key(|(version, _)| *version).map(|(_, jdk)| jdk)
}

/// A JDK of this version in the usual folders.
pub(crate) fn installed(version: u32) -> Option<Jdk> {
    all_in(FOLDERS.map(Path::new)).find(|(found, _)| *found == version).map(|(_, jdk)| jdk)
}

/// The newest JDK in the usual folders, if it is newer than this one.
pub(crate) fn newest_other(jdk: &Jdk) -> Option<Jdk> {
    let newest = newest_in(FOLDERS.map(Path::new))?;
    (version(&newest) > version(jdk)).then_some(newest)
}

fn on_path(program: &str) -> Option<PathBuf> {
    let path = env::var_os("PATH")?;
    env::split_paths(&path).map(|folder| folder.join(program)).find(|candidate| candidate.is_file())
}

fn version(jdk: &Jdk) -> Option<u32> {
    let output = jdk.tool("javac").arg("-version").output().ok()?;
    // Up to version 8, `javac` printed its version to standard error.
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

/// Installs the first of the packages that can be installed.
fn install(manager: &Manager) -> Result<()> {
    // The refresh may fail because of a package source that is not needed for the JDK.
    if let Some(refresh) = manager.refresh
        && let Err(problem) = succeed(&mut manager_command(manager, refresh)?)
    {
        println!("{problem}; continuing with the current package lists");
    }
    let mut tried = Vec::new();
    for package in manager.packages {
        let mut command = manager_command(manager, manager.install)?;
        command.arg(package);
        println!("running {}", line(&command));
        if command.status().with_context(|| format!("cannot start {}", line(&command)))?.success() {
            return Ok(());
        }
        tried.push(*package);
    }
    bail!("{} could install none of {}", manager.program, tried.join(", "))
}

/// The command of the package manager with arguments, with `sudo` if it needs root.
fn manager_command(manager: &Manager, arguments: &[&str]) -> Result<Command> {
    // `env` sets the variable because `sudo` does not pass the environment on. The variable turns questions off.
    let mut command = Command::new("env");
    if manager.needs_root && !is_root() {
        if on_path("sudo").is_none() {
            bail!("{} needs to be run as root, and there is no sudo", manager.program);
        }
        command = Command::new("sudo");
        command.arg("env");
    }
    command.arg("DEBIAN_FRONTEND=noninteractive").arg(manager.program).args(arguments);
    Ok(command)
}

fn is_root() -> bool {
    let output = Command::new("id").arg("-u").stderr(Stdio::null()).output();
    output.is_ok_and(|output| output.stdout.trim_ascii() == b"0")
}

/// Installs another program; `names` maps package managers to the packages to try.
pub(crate) fn install_other(names: &[(&str, &'static [&'static str])]) -> Result<()> {
    let Some(manager) = MANAGERS.iter().find(|manager| on_path(manager.program).is_some()) else {
        bail!("found no supported package manager");
    };
    let Some((_, packages)) = names.iter().find(|(program, _)| *program == manager.program) else {
        bail!("no package of {} is known for it", manager.program);
    };
    install(&Manager { packages, ..*manager })
}

/// The first of these programs on the search path.
pub(crate) fn find_program(names: &[&str]) -> Option<PathBuf> {
    names.iter().find_map(|name| on_path(name))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(answer: &str, expected: Option<u32>) {
        assert_eq!(parse_version(answer), expected, "{answer}");
    }

    #[test]
    fn the_newest_complete_jdk_is_chosen() {
        let folder = tempfile::tempdir().unwrap();
        let tools: [(&str, &[&str], &str); 4] = [
            ("old", &["java", "javac"], "17.0.1"),
            ("new", &["java", "javac"], "21.0.2"),
            ("runtime", &["java"], "25"),
            ("ancient", &["java", "javac"], "1.8.0_292"),
        ];
        for (name, files, version) in tools {
            let bin = folder.path().join(name).join("bin");
            fs::create_dir_all(&bin).unwrap();
            for file in files {
                // Another process writes the script, because a file that this process has open cannot be executed.
                let script =
                    format!("printf '#!/bin/sh\\necho javac {version}\\n' > \"$0\" && chmod +x \"$0\"");
                assert!(
                    Command::new("sh").arg("-c").arg(script).arg(bin.join(file)).status().unwrap().success()
                );
            }
        }
        let absent = folder.path().join("absent");
        let found = newest_in([folder.path(), absent.as_path()]).unwrap();
        assert_eq!(found.bin(), folder.path().join("new/bin"));
        assert!(newest_in([absent.as_path()]).is_none());
    }

    #[test]
    fn a_command_uses_the_jdk() {
        let jdk = Jdk { bin: "/jdk/bin".into() };
        let mut command = Command::new("true");
        jdk.use_for(&mut command).unwrap();
        let set: Vec<_> = command.get_envs().collect();
        assert!(set.contains(&("JAVA_HOME".as_ref(), None)));
        let path = set.iter().find(|(name, _)| *name == "PATH").and_then(|(_, value)| *value).unwrap();
        assert_eq!(env::split_paths(path).next(), Some("/jdk/bin".into()));
    }

    #[test]
    fn versions_are_parsed_from_the_output_of_javac() {
        check("javac 17.0.15\n", Some(17));
        check("javac 25\n", Some(25));
        check("javac 21-ea\n", Some(21));
        check("javac 1.8.0_292\n", Some(8));
        check("Picked up JAVA_TOOL_OPTIONS: -Dx\njavac 11.0.2\n", Some(11));
        check("no such thing", None);
    }
}
