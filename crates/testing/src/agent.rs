//! The agent under test, built from the sources as they are now.

use std::{
    env,
    path::{Path, PathBuf},
    process::Command,
    sync::OnceLock,
};

use crate::process::shell_line;

/// The agent's file name as Cargo builds it.
fn file_name() -> String {
    format!("{}fissure_jvm{}", env::consts::DLL_PREFIX, env::consts::DLL_SUFFIX)
}

/// The environment variable that names the agent to test with.
pub const AGENT: &str = "FISSURE_TEST_AGENT";

/// The agent for an executable of Fissure that Cargo built: built with the same profile into the same folder, once per process, so that a
/// test never uses the agent of older sources. Cargo does nothing if it is up to date. The variable `FISSURE_TEST_AGENT` names an agent to
/// use instead, for instance if it has just been built.
///
/// # Panics
///
/// If the agent cannot be built.
pub fn agent(executable: &Path) -> &'static Path {
    static BUILT: OnceLock<PathBuf> = OnceLock::new();
    BUILT.get_or_init(|| {
        let agent = match env::var_os(AGENT) {
            Some(agent) => PathBuf::from(agent),
            None => build(executable),
        };
        assert!(agent.is_file(), "the agent {} is missing", agent.display());
        agent
    })
}

fn build(executable: &Path) -> PathBuf {
    let layout = Layout::of(executable).unwrap_or_else(|| {
        panic!("{} is not in a target folder of Cargo", executable.display());
    });
    let mut cargo = layout.command();
    let output =
        cargo.output().unwrap_or_else(|error| panic!("cannot start {}: {error}", shell_line(&cargo)));
    assert!(
        output.status.success(),
        "the agent cannot be built by {}:\n{}",
        shell_line(&cargo),
        String::from_utf8_lossy(&output.stderr)
    );
    executable.with_file_name(file_name())
}

/// Where Cargo put an executable: `TARGET[/TRIPLE]/PROFILE/fissure`.
#[derive(Debug, PartialEq, Eq)]
struct Layout {
    target: PathBuf,
    triple: Option<String>,
    profile: String,
}

impl Layout {
    fn of(executable: &Path) -> Option<Self> {
        let folder = executable.parent()?;
        let profile = match folder.file_name()?.to_str()? {
            "debug" => "dev".to_owned(),
            other => other.to_owned(),
        };
        let above = folder.parent()?;
        // Cargo marks its target folder; a folder in between is named for the platform that was asked for.
        if is_target(above) {
            return Some(Layout { target: above.to_owned(), triple: None, profile });
        }
        let target = above.parent().filter(|target| is_target(target))?;
        let triple = above.file_name()?.to_str()?.to_owned();
        Some(Layout { target: target.to_owned(), triple: Some(triple), profile })
    }

    fn command(&self) -> Command {
        let mut cargo = Command::new(env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
        cargo.args([
            "build",
            "--quiet",
            "--package",
            "fissure-jvm",
            "--profile",
            &self.profile,
            "--target-dir",
        ]);
        cargo.arg(&self.target).current_dir(env!("CARGO_MANIFEST_DIR"));
        if let Some(triple) = &self.triple {
            cargo.args(["--target", triple]);
        }
        cargo
    }
}

fn is_target(folder: &Path) -> bool {
    ["CACHEDIR.TAG", ".rustc_info.json"].iter().any(|name| folder.join(name).is_file())
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    fn check(target: &Path, path: &str, expected: Option<(Option<&str>, &str)>) {
        let expected = expected.map(|(triple, profile)| Layout {
            target: target.to_owned(),
            triple: triple.map(str::to_owned),
            profile: profile.to_owned(),
        });
        assert_eq!(Layout::of(&target.join(path)), expected, "{path}");
    }

    #[test]
    fn the_profile_and_the_platform_are_those_of_the_executable() {
        let folder = tempfile::tempdir().unwrap();
        fs::write(folder.path().join("CACHEDIR.TAG"), "").unwrap();
        check(folder.path(), "debug/fissure", Some((None, "dev")));
        check(folder.path(), "release/fissure", Some((None, "release")));
        check(folder.path(), "quick/fissure", Some((None, "quick")));
        let triple = "aarch64-unknown-linux-gnu";
        check(folder.path(), &format!("{triple}/debug/fissure"), Some((Some(triple), "dev")));
        check(folder.path(), "a/b/c/fissure", None);
    }
}
