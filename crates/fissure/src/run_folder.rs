//! The folder of a run: the settings go in, and the agents' records come out.

use std::{env, fs, io, path::Path};

use fissure_model::settings::{LocalityFile, Settings};
use tempfile::TempDir;

use crate::{abandoned, agent, error::Error, log};

/// Creates a folder whose path needs no quoting.
pub(crate) fn create() -> Result<TempDir, Error> {
    let mut last = io::Error::other("no folder has a plain path");
    for parent in [env::temp_dir().as_path(), Path::new("/tmp"), Path::new("/var/tmp")] {
        let made = parent.canonicalize().and_then(|parent| {
            let plain = |byte: &u8| byte.is_ascii_alphanumeric() || b"/._-+".contains(byte);
            if !parent.as_os_str().as_encoded_bytes().iter().all(plain) {
                return Err(io::Error::other("its path has blanks or other special characters"));
            }
            tempfile::Builder::new().prefix(abandoned::PREFIX).tempdir_in(parent)
        });
        match made {
            Ok(folder) => {
                abandoned::claim(folder.path()).map_err(Error::Folder)?;
                abandoned::recover(folder.path().parent().unwrap_or(parent), agent::cache().as_deref());
                return kept_for_log(folder, log::begin);
            }
            Err(error) => last = error,
        }
    }
    Err(Error::Folder(last))
}

/// Creates the folder of one of many runs.
pub(crate) fn create_in(parent: &Path) -> Result<TempDir, Error> {
    let folder = tempfile::Builder::new().prefix("run-").tempdir_in(parent).map_err(Error::Folder)?;
    kept_for_log(folder, |_| Ok(log::filter().is_some()))
}

/// A folder with a log is not removed at the end of the run.
fn kept_for_log(
    mut folder: TempDir,
    is_kept: impl FnOnce(&Path) -> Result<bool, Error>,
) -> Result<TempDir, Error> {
    let is_kept = is_kept(folder.path())?;
    folder.disable_cleanup(is_kept);
    Ok(folder)
}

/// The records of a JVM are incomplete: checks that this is not for want of room in the folder, which the agent cannot report.
pub(crate) fn check_room(folder: &Path) -> Result<(), Error> {
    const ROOM: usize = 16 * 1024;
    let file = folder.join("room");
    let result = fs::write(&file, [0; ROOM]).map_err(Error::Folder);
    // It is removed with the folder at the latest.
    let _ = fs::remove_file(&file);
    result
}

/// The filter of the log, as settings have it.
pub(crate) fn log_filter() -> Option<String> {
    log::filter().map(|filter| filter.as_str().to_owned())
}

/// Writes the settings of a run. The file must be in the run's folder, where the agent reports problems with it.
pub(crate) fn write_settings(settings: &Settings, file: &Path) -> Result<(), Error> {
    let text = settings.to_text().map_err(|error| Error::Folder(error.into()))?;
    fs::write(file, text).map_err(Error::Folder)
}

/// The results of a static analysis, as settings name them.
pub(crate) fn locality_file(path: &Path) -> LocalityFile {
    LocalityFile(path.to_string_lossy().into_owned())
}
