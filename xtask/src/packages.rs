//! Installs what development needs with the system's package manager.

use std::{
    env,
    path::PathBuf,
    process::{Command, Stdio},
};

use anyhow::{Context, Result, bail};

use crate::workspace::{line, succeed};

/// A package manager: how to tell that it is there, what to run first, and how to install.
struct Manager {
    program: &'static str,
    refresh: Option<&'static [&'static str]>,
    install: &'static [&'static str],
    needs_root: bool,
}

const MANAGERS: [Manager; 6] = [
    Manager {
        program: "apt-get",
        refresh: Some(&["update"]),
        install: &["install", "--yes", "--no-install-recommends"],
        needs_root: true,
    },
    Manager { program: "dnf", refresh: None, install: &["install", "--assumeyes"], needs_root: true },
    Manager {
        program: "pacman",
        refresh: None,
        install: &["--sync", "--refresh", "--noconfirm"],
        needs_root: true,
    },
    Manager {
        program: "zypper",
        refresh: None,
        install: &["--non-interactive", "install"],
        needs_root: true,
    },
    Manager { program: "apk", refresh: None, install: &["add"], needs_root: true },
    Manager { program: "brew", refresh: None, install: &["install"], needs_root: false },
];

/// Installs one of the packages that this machine's package manager calls what is wanted, the first that it has.
pub(crate) fn install(names: &[(&str, &[&str])]) -> Result<()> {
    let Some(manager) = MANAGERS.iter().find(|manager| on_path(manager.program).is_some()) else {
        bail!("there is no package manager that this command knows");
    };
    let names = names.iter().find(|(program, _)| *program == manager.program);
    let Some((_, packages)) = names else {
        bail!("{} has no package for it that this command knows", manager.program);
    };
    if let Some(refresh) = manager.refresh {
        succeed(&mut manager_command(manager, refresh)?)?;
    }
    for package in *packages {
        let mut command = manager_command(manager, manager.install)?;
        command.arg(package);
        println!("running {}", line(&command));
        if command.status().with_context(|| format!("cannot start {}", line(&command)))?.success() {
            return Ok(());
        }
    }
    bail!("{} could install none of {}", manager.program, packages.join(", "))
}

/// A program that the search path leads to.
pub(crate) fn on_path(program: &str) -> Option<PathBuf> {
    let path = env::var_os("PATH")?;
    env::split_paths(&path).map(|folder| folder.join(program)).find(|candidate| candidate.is_file())
}

/// The package manager with arguments, by way of `sudo` where it needs rights that the user lacks.
fn manager_command(manager: &Manager, arguments: &[&str]) -> Result<Command> {
    let mut command = if !manager.needs_root || is_root() {
        Command::new(manager.program)
    } else if on_path("sudo").is_some() {
        let mut command = Command::new("sudo");
        command.arg(manager.program);
        command
    } else {
        bail!("{} needs to be run as root, and there is no sudo", manager.program);
    };
    command.args(arguments);
    Ok(command)
}

fn is_root() -> bool {
    let output = Command::new("id").arg("-u").stderr(Stdio::null()).output();
    output.is_ok_and(|output| output.stdout.trim_ascii() == b"0")
}
