//! Folders of runs that nobody reported, because Fissure itself was killed. The next run keeps their findings as a report, and removes them.

use std::{
    fs::{self, File},
    io::{self, Write as _},
    path::{Path, PathBuf},
    sync::{Mutex, PoisonError},
};

use fissure_report::{Report, json};

use crate::{VERSION, collect, output, supervise::Process};

/// How the names of run folders begin.
pub(crate) const PREFIX: &str = "fissure-";
/// The file that names the process to which a folder belongs. That process has the file locked as long as it runs: a process may not see
/// the owner among its own processes, for example if both run in containers that share the folder for temporary files.
const OWNER: &str = "owner";

/// The files of this process's folders, which stay open, and so locked, until the process ends.
static OWN: Mutex<Vec<File>> = Mutex::new(Vec::new());

/// Notes that a folder belongs to this process.
pub(crate) fn claim(folder: &Path) -> io::Result<()> {
    let id = std::process::id();
    let process = Process::of(id).ok_or_else(|| io::Error::other("/proc does not show this process"))?;
    let mut file = File::create(folder.join(OWNER))?;
    // A file system without locks leaves the process as the only mark.
    let _ = file.try_lock();
    // An empty file belongs to nobody, so that other processes leave the folder alone up to here.
    file.write_all(format!("{id} {}\n", process.started).as_bytes())?;
    OWN.lock().unwrap_or_else(PoisonError::into_inner).push(file);
    Ok(())
}

/// Keeps the records of one of many runs in the folder of all runs, until they are reported. Without them, a report after Fissure was killed
/// has less: that is no reason to end the hunt.
pub(crate) fn keep_records(run: &Path, folder: &Path) {
    let run_name = run.file_name().unwrap_or_default().to_string_lossy().into_owned();
    for file in entries(run) {
        let name = file.file_name().unwrap_or_default().to_string_lossy().into_owned();
        if let Some(process) = name.strip_prefix("jvm-").filter(|name| name.ends_with(".jsonl")) {
            let _ = fs::rename(&file, folder.join(format!("jvm-{run_name}-{process}")));
        }
    }
}

/// Keeps the records of one of the runs of a JVM with this folder in the folder of all runs, likewise.
pub(crate) fn keep_run(jvm: &Path, run: u64, records: &[u8]) {
    if let (Some(folder), Some(name)) = (jvm.parent(), jvm.file_name()) {
        let _ = fs::write(folder.join(format!("jvm-{}-{run}.jsonl", name.to_string_lossy())), records);
    }
}

/// Looks for folders whose owner is gone. Their findings go into a report in the cache, which a remark names, and the folders are removed.
pub(crate) fn recover(parent: &Path, cache: Option<&Path>) {
    let is_folder = |path: &PathBuf| {
        path.is_dir() && path.file_name().is_some_and(|name| name.to_string_lossy().starts_with(PREFIX))
    };
    for folder in entries(parent).into_iter().filter(is_folder).filter(|folder| is_abandoned(folder)) {
        let jvms: Vec<collect::Jvm> = [folder.clone()]
            .into_iter()
            .chain(entries(&folder).into_iter().filter(|path| path.is_dir()))
            .flat_map(|folder| collect::read_folder(&folder).unwrap_or_default())
            .collect();
        let pid = |jvm: &collect::Jvm| jvm.hello.as_ref().map(|hello| hello.pid);
        if jvms.iter().any(|jvm| !jvm.ended && pid(jvm).is_some_and(collect::is_running)) {
            // The program goes on without Fissure, and so do its records.
            continue;
        }
        match save(&folder, &jvms, cache) {
            Ok(Some(file)) => output::remark(&format!(
                "an earlier run was killed before it could report; its findings are in {}: show them with 'fissure report'",
                file.display()
            )),
            Ok(None) => {}
            // The folder stays, and the next run tries again.
            Err(_) => continue,
        }
        let _ = fs::remove_dir_all(&folder);
    }
}

/// Whether the process to which a folder belongs is gone. A folder with a log stays, because the user asked for it.
fn is_abandoned(folder: &Path) -> bool {
    let file = folder.join(OWNER);
    let is_locked = || File::open(&file).is_ok_and(|file| file.try_lock().is_err());
    let owner = fs::read_to_string(&file).unwrap_or_default();
    let Some((id, started)) = owner.trim().split_once(' ') else { return false };
    let (Ok(id), Ok(started)) = (id.parse(), started.parse::<u64>()) else { return false };
    let is_alive = Process::of(id).is_some_and(|process| process.started == started && !process.has_ended);
    !is_alive
        && !is_locked()
        && !entries(folder).iter().any(|path| path.extension().is_some_and(|extension| extension == "log"))
}

/// Writes the findings of an abandoned folder, if it has any, and returns the file.
fn save(folder: &Path, jvms: &[collect::Jvm], cache: Option<&Path>) -> io::Result<Option<PathBuf>> {
    let gathered = collect::gather(jvms);
    if gathered.findings.is_empty() {
        return Ok(None);
    }
    let Some(cache) = cache else { return Err(io::Error::other("there is no cache")) };
    let report = Report {
        findings: gathered.findings,
        coverage: gathered.coverage,
        notices: vec![
            "Fissure was killed during this run, so the report has only what was seen up to there."
                .to_owned(),
        ],
        ..Report::default()
    };
    let unreported = cache.join("unreported");
    fs::create_dir_all(&unreported)?;
    let name = folder.file_name().unwrap_or_default().to_string_lossy();
    let file = unreported.join(format!("{name}.json"));
    let text = json::render(&report, VERSION).map_err(io::Error::other)?;
    fs::write(&file, text)?;
    Ok(Some(file))
}

/// The paths in a folder; none if it cannot be read.
fn entries(folder: &Path) -> Vec<PathBuf> {
    fs::read_dir(folder).into_iter().flatten().flatten().map(|entry| entry.path()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_folders_without_their_owner_are_removed() {
        let parent = tempfile::tempdir().unwrap();
        let make = |name: &str, files: &[(&str, &str)]| {
            let folder = parent.path().join(name);
            fs::create_dir(&folder).unwrap();
            for (file, text) in files {
                fs::write(folder.join(file), text).unwrap();
            }
            folder
        };
        let own = make("fissure-own", &[]);
        claim(&own).unwrap();
        let gone = make("fissure-gone", &[(OWNER, "1 1")]);
        // A process that cannot be seen from here has the file locked.
        let elsewhere = make("fissure-elsewhere", &[(OWNER, "1 1")]);
        let lock = File::open(elsewhere.join(OWNER)).unwrap();
        lock.try_lock().unwrap();
        let logged = make("fissure-logged", &[(OWNER, "1 1"), ("fissure.log", "")]);
        let unknown = make("fissure-unknown", &[]);
        let strange = make("fissure-strange", &[(OWNER, "nobody")]);
        let other = make("other", &[(OWNER, "1 1")]);
        recover(parent.path(), None);
        for folder in [&own, &logged, &unknown, &strange, &other, &elsewhere] {
            assert!(folder.exists(), "{}", folder.display());
        }
        assert!(!gone.exists());
        drop(lock);
        recover(parent.path(), None);
        assert!(own.exists() && !elsewhere.exists());
    }
}
