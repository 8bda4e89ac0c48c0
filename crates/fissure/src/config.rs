//! `fissure.toml`: a project's settings for its findings, kept beside its sources.

use std::{
    fs, io,
    path::{Path, PathBuf},
};

use fissure_model::{pointcut::Pointcut, settings::SetRules};
use fissure_report::triage::Suppression;
use serde::Deserialize;

use crate::error::Error;

/// The file that is read by default, if it exists.
const DEFAULT_FILE: &str = "fissure.toml";

/// The settings; paths are relative to the file's folder.
#[derive(Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Config {
    /// Findings that do not count, each with a reason.
    #[serde(default)]
    pub(crate) suppress: Vec<Suppression>,
    /// The baseline to compare with, unless the command line names one.
    pub(crate) baseline: Option<PathBuf>,
    /// The classes or pointcuts to watch, unless the command line gives some.
    #[serde(default)]
    pub(crate) scope: Vec<Pointcut>,
    /// Folders with source files, after those of the command line.
    #[serde(default)]
    pub(crate) sources: Vec<PathBuf>,
    /// The project's atomic sets, and the methods that are units of work for them.
    #[serde(default, rename = "atomic-sets")]
    pub(crate) atomic_sets: SetRules,
}

impl Config {
    /// Reads the file that the user named, or else the default one if it exists.
    pub(crate) fn load(named: Option<&Path>) -> Result<Self, Error> {
        let path = named.unwrap_or(Path::new(DEFAULT_FILE));
        let error = |reason: String| Error::Config { path: path.display().to_string(), reason };
        let text = match fs::read_to_string(path) {
            Ok(text) => text,
            Err(missing) if named.is_none() && missing.kind() == io::ErrorKind::NotFound => {
                return Ok(Config::default());
            }
            Err(source) => return Err(error(source.to_string())),
        };
        let mut config: Config = toml::from_str(&text).map_err(|wrong| error(explain(&text, &wrong)))?;
        if config.atomic_sets.sets.iter().any(|set| set.fields.is_empty()) {
            return Err(error("a set needs at least one field".to_owned()));
        }
        let folder = path.parent().unwrap_or(Path::new(""));
        config.baseline = config.baseline.map(|baseline| folder.join(baseline));
        config.sources = config.sources.iter().map(|source| folder.join(source)).collect();
        Ok(config)
    }
}

/// The error in one line: `line 3: unknown field …`.
fn explain(text: &str, error: &toml::de::Error) -> String {
    let message = error.message().lines().collect::<Vec<_>>().join(" ");
    match error.span() {
        Some(span) => {
            let line =
                text.as_bytes()[..span.start.min(text.len())].iter().filter(|&&byte| byte == b'\n').count();
            format!("line {}: {message}", line + 1)
        }
        None => message,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn load(text: &str) -> Result<Config, String> {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("my.toml");
        fs::write(&path, text).unwrap();
        Config::load(Some(&path)).map_err(|error| error.to_string())
    }

    fn check_refused(text: &str, expected: &str) {
        let error = load(text).unwrap_err();
        assert!(error.contains(expected) && !error.contains('\n'), "{error}");
    }

    #[test]
    fn errors_name_their_line() {
        check_refused("x = 1", "line 1: unknown field `x`");
        check_refused("\n[[suppress]]\nsubject = 'A'", "line 2: a suppression needs a reason");
        check_refused("[[suppress]]\nreason = 'x'", "needs an id or a subject");
        check_refused(
            "[[suppress]]\nsubject = 'A'\nreason = 'x'\nkind = 'race'",
            "line 4: unknown variant `race`",
        );
        check_refused("a = [", "line 1: ");
        check_refused("\nscope = ['get(int A.*']", "line 2: no pointcut: a ')' is missing (column 12)");
        check_refused("[atomic-sets]\nunit = []", "line 2: unknown field `unit`");
        check_refused("[[atomic-sets.set]]\nunits = []", "missing field `fields`");
        check_refused("[[atomic-sets.set]]\nfields = []", "a set needs at least one field");
        check_refused("[atomic-sets]\nexclude = ['a...b']", "line 2: 'a...b' is no class pattern");
    }

    #[test]
    fn atomic_sets_are_read() {
        let text = "[atomic-sets]\nunits = ['Bank.audit']\nno-units = ['Account.log']\nexclude = ['Account.hits']\n\
                    contents = true\n[[atomic-sets.set]]\nfields = ['Account.checking', 'Account.savings']\n";
        let rules = load(text).unwrap().atomic_sets;
        assert!(rules.contents && rules.sets.len() == 1 && rules.sets[0].units.is_empty());
        assert_eq!((rules.units.len(), rules.no_units.len(), rules.exclude.len()), (1, 1, 1));
        assert_eq!(load("").unwrap().atomic_sets, SetRules::default());
    }

    #[test]
    fn a_named_file_must_exist() {
        let error = Config::load(Some(Path::new("no/where.toml"))).unwrap_err().to_string();
        assert!(error.starts_with("the configuration no/where.toml cannot be used"), "{error}");
    }

    #[test]
    fn paths_are_relative_to_the_file() {
        let config = load("baseline = 'known.json'\nsources = ['src']").unwrap();
        assert!(config.baseline.unwrap().is_absolute() && config.sources[0].ends_with("src"));
    }
}
