//! Paths in the workspace, and helpers to run commands.

use std::{
    collections::BTreeMap,
    env,
    fs::{self, File, TryLockError},
    path::{Path, PathBuf},
    process::Command,
    sync::{Mutex, PoisonError},
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

/// An empty folder of this name below the target folder. It belongs to this task until the task ends: another one at the same time would
/// empty it, and the runs in it would fail.
pub(crate) fn fresh_folder(name: &str) -> Result<PathBuf> {
    fresh_folder_in(&target()?.join("xtask"), name)
}

fn fresh_folder_in(parent: &Path, name: &str) -> Result<PathBuf> {
    let folder = parent.join(name);
    fs::create_dir_all(parent).with_context(|| format!("cannot create {}", parent.display()))?;
    let mut locks = LOCKS.lock().unwrap_or_else(PoisonError::into_inner);
    if !locks.contains_key(&folder) {
        let path = parent.join(format!("{name}.lock"));
        let lock = File::create(&path).with_context(|| format!("cannot create {}", path.display()))?;
        if let Err(TryLockError::WouldBlock) = lock.try_lock() {
            bail!("another task uses {}: wait until it has ended", folder.display());
        }
        locks.insert(folder.clone(), lock);
    }
    if folder.exists() {
        fs::remove_dir_all(&folder).with_context(|| format!("cannot empty {}", folder.display()))?;
    }
    fs::create_dir_all(&folder).with_context(|| format!("cannot create {}", folder.display()))?;
    Ok(folder)
}

/// The locks of this task's folders, until it ends.
static LOCKS: Mutex<BTreeMap<PathBuf, File>> = Mutex::new(BTreeMap::new());

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

#[test]
fn a_folder_belongs_to_one_task_at_a_time() {
    let parent = tempfile::tempdir().unwrap();
    // Locks of two open files conflict, in one process as in two.
    let other = File::create(parent.path().join("one.lock")).unwrap();
    other.try_lock().unwrap();
    let report = parent.path().join("one/report");
    fs::create_dir(parent.path().join("one")).unwrap();
    fs::write(&report, "").unwrap();
    let error = fresh_folder_in(parent.path(), "one").unwrap_err().to_string();
    assert!(error.starts_with("another task uses ") && report.exists(), "{error}");
    drop(other);
    for _ in 0..2 {
        assert_eq!(fresh_folder_in(parent.path(), "one").unwrap(), parent.path().join("one"));
        assert!(!report.exists());
    }
}
