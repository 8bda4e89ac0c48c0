//! Paths in the workspace, and helpers to run commands.

use std::{
    env, fs,
    path::{Path, PathBuf},
    process::Command,
};

use anyhow::{Context, Result, bail};

/// The workspace's root folder.
pub(crate) fn root() -> &'static Path {
    let manifest = Path::new(env!("CARGO_MANIFEST_DIR"));
    manifest.parent().unwrap_or(manifest)
}

/// The folder that Cargo builds into. It is derived from the path of this executable, `TARGET/PROFILE/xtask`, so it is correct
/// for any environment and configuration.
pub(crate) fn target() -> Result<PathBuf> {
    let executable = env::current_exe().context("cannot determine the path of this executable")?;
    let target = executable.parent().and_then(Path::parent);
    Ok(target.context("this executable is not in a target folder")?.to_owned())
}

/// The agent's file name as Cargo builds it.
pub(crate) fn agent_file() -> String {
    format!("{}fissure_jvm{}", env::consts::DLL_PREFIX, env::consts::DLL_SUFFIX)
}

/// A Cargo command in the workspace's root.
pub(crate) fn cargo(arguments: &[&str]) -> Command {
    let mut command = Command::new(env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    command.args(arguments).current_dir(root());
    command
}

/// Runs a command on the user's terminal; an exit code other than 0 is an error.
pub(crate) fn succeed(command: &mut Command) -> Result<()> {
    let status = command.status().with_context(|| format!("cannot start {}", line(command)))?;
    if !status.success() {
        bail!("{} failed: {status}", line(command));
    }
    Ok(())
}

/// The command line of a command.
pub(crate) fn line(command: &Command) -> String {
    let words = [command.get_program()].into_iter().chain(command.get_args());
    words.map(|word| word.to_string_lossy().into_owned()).collect::<Vec<_>>().join(" ")
}

/// An empty folder of this name below the target folder.
pub(crate) fn fresh_folder(name: &str) -> Result<PathBuf> {
    let folder = target()?.join("xtask").join(name);
    if folder.exists() {
        fs::remove_dir_all(&folder).with_context(|| format!("cannot empty {}", folder.display()))?;
    }
    fs::create_dir_all(&folder).with_context(|| format!("cannot create {}", folder.display()))?;
    Ok(folder)
}

/// All files with this ending below a folder, sorted by path.
pub(crate) fn files_below(folder: &Path, extension: &str) -> Result<Vec<PathBuf>> {
    let mut files = Vec::new();
    let mut folders = vec![folder.to_owned()];
    while let Some(folder) = folders.pop() {
        let entries = fs::read_dir(&folder).with_context(|| format!("cannot read {}", folder.display()))?;
        for entry in entries {
            let path = entry?.path();
            if path.is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|found| found == extension) {
                files.push(path);
            }
        }
    }
    files.sort();
    Ok(files)
}
