//! Finds the JVM agent: named by the user, inside this executable, or next to it.

use std::{
    env, fs,
    hash::{DefaultHasher, Hasher},
    io::{self, Write},
    os::unix::fs::symlink,
    path::{Path, PathBuf},
};

use crate::error::Error;

/// The agent's file name as Cargo builds it.
const FILE: &str = "libfissure_jvm.so";

#[cfg(embedded_agent)]
const EMBEDDED: Option<&[u8]> = Some(include_bytes!(concat!(env!("OUT_DIR"), "/agent.so")));
#[cfg(not(embedded_agent))]
const EMBEDDED: Option<&[u8]> = None;

/// An error on systems where no agent can work.
pub(crate) fn check_platform() -> Result<(), Error> {
    let is_known = cfg!(all(target_env = "gnu", any(target_arch = "x86_64", target_arch = "aarch64")));
    if is_known { Ok(()) } else { Err(Error::Platform) }
}

/// The agent's absolute path. `folder` is private to this run and takes the embedded agent if no cache can.
pub(crate) fn locate(folder: &Path) -> Result<PathBuf, Error> {
    let agent = if let Some(path) = env::var_os("FISSURE_AGENT").filter(|value| !value.is_empty()) {
        named(Path::new(&path))?
    } else if let Some(bytes) = EMBEDDED {
        unpack(bytes, cache().as_deref(), folder).map_err(Error::Folder)?
    } else {
        let executable =
            env::current_exe().and_then(|path| path.canonicalize()).map_err(|_| Error::NoAgent)?;
        sibling(&executable).ok_or(Error::NoAgent)?
    };
    reachable(agent, folder).map_err(Error::Folder)
}

fn named(path: &Path) -> Result<PathBuf, Error> {
    let unreadable = |source| Error::AgentUnreadable { path: path.to_owned(), source };
    fs::File::open(path).map_err(unreadable)?;
    path.canonicalize().map_err(unreadable)
}

/// The agent in the folders where `cargo build` puts it; the executable of a test is in `deps`.
fn sibling(executable: &Path) -> Option<PathBuf> {
    let folder = executable.parent()?;
    let candidates = [folder.join(FILE), folder.join("..").join(FILE), folder.join("deps").join(FILE)];
    candidates.into_iter().find(|path| path.is_file()).and_then(|path| path.canonicalize().ok())
}

/// The folder for files that later runs use again.
pub(crate) fn cache() -> Option<PathBuf> {
    let set = |name| env::var_os(name).map(PathBuf::from).filter(|path| path.is_absolute());
    let base = set("XDG_CACHE_HOME").or_else(|| set("HOME").map(|home| home.join(".cache")))?;
    Some(base.join("fissure"))
}

/// Writes the embedded agent to the cache once, or to the run's folder if the cache cannot be written.
fn unpack(bytes: &[u8], cache: Option<&Path>, folder: &Path) -> io::Result<PathBuf> {
    let mut hasher = DefaultHasher::new();
    hasher.write(bytes);
    let name = format!("agent-{:016x}.so", hasher.finish());
    if let Some(cache) = cache
        && let Ok(path) = unpack_into(bytes, cache, &name)
    {
        return Ok(path);
    }
    unpack_into(bytes, folder, &name)
}

fn unpack_into(bytes: &[u8], folder: &Path, name: &str) -> io::Result<PathBuf> {
    let path = folder.join(name);
    // A file that is incomplete or was changed is replaced.
    if fs::read(&path).is_ok_and(|there| there == bytes) {
        return Ok(path);
    }
    fs::create_dir_all(folder)?;
    let mut file = tempfile::NamedTempFile::new_in(folder)?;
    file.write_all(bytes)?;
    file.persist(&path).map_err(|error| error.error)?;
    Ok(path)
}

/// The JVM takes everything after the first `=` for the agent's options, so an agent whose path has one gets a symbolic link.
fn reachable(agent: PathBuf, folder: &Path) -> io::Result<PathBuf> {
    if !agent.as_os_str().as_encoded_bytes().contains(&b'=') {
        return Ok(agent);
    }
    let link = folder.join(FILE);
    symlink(agent, &link)?;
    Ok(link)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_agent_is_found_beside_the_executable() {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path().canonicalize().unwrap();
        fs::create_dir(root.join("deps")).unwrap();
        let executables = [root.join("fissure"), root.join("deps").join("fissure-test")];
        for executable in &executables {
            assert_eq!(sibling(executable), None);
        }
        fs::write(root.join(FILE), "x").unwrap();
        for executable in &executables {
            assert_eq!(sibling(executable), Some(root.join(FILE)), "{executable:?}");
        }
    }

    #[test]
    fn the_embedded_agent_is_written_once_and_repaired() {
        let folder = tempfile::tempdir().unwrap();
        let cache = folder.path().join("cache").join("fissure");
        let path = unpack(b"agent", Some(&cache), folder.path()).unwrap();
        assert!(path.starts_with(&cache));
        let written = fs::metadata(&path).unwrap().modified().unwrap();
        assert_eq!(unpack(b"agent", Some(&cache), folder.path()).unwrap(), path);
        assert_eq!(fs::metadata(&path).unwrap().modified().unwrap(), written);
        fs::write(&path, "torn").unwrap();
        unpack(b"agent", Some(&cache), folder.path()).unwrap();
        assert_eq!(fs::read(&path).unwrap(), b"agent");
        assert_ne!(unpack(b"other", Some(&cache), folder.path()).unwrap(), path);
    }

    #[test]
    fn without_a_cache_the_run_folder_serves() {
        let folder = tempfile::tempdir().unwrap();
        let blocked = folder.path().join("file");
        fs::write(&blocked, "").unwrap();
        for cache in [None, Some(blocked.as_path())] {
            let path = unpack(b"agent", cache, folder.path()).unwrap();
            assert_eq!(path.parent(), Some(folder.path()));
        }
    }

    #[test]
    fn a_path_with_an_equals_sign_gets_another_name() {
        let folder = tempfile::tempdir().unwrap();
        let odd = folder.path().join("a=b.so");
        fs::write(&odd, "agent").unwrap();
        let path = reachable(odd.clone(), folder.path()).unwrap();
        assert_eq!(path.canonicalize().unwrap(), odd.canonicalize().unwrap());
        assert!(!path.to_string_lossy().contains('='));
    }
}
