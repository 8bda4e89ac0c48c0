//! The list of programs, and the triage of findings in them.

use std::{
    fs,
    path::{Path, PathBuf},
};

use anyhow::{Context, Result};
use serde::{Deserialize, de::DeserializeOwned};

/// All programs, and what is known about findings in them.
#[derive(Debug)]
pub(crate) struct Catalog {
    pub(crate) folder: PathBuf,
    pub(crate) programs: Vec<Program>,
    pub(crate) triage: Vec<Triage>,
}

/// A program; `programs.toml` explains the keys.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Program {
    pub(crate) name: String,
    pub(crate) driver: String,
    pub(crate) main: String,
    pub(crate) artifacts: Vec<String>,
    #[serde(default)]
    pub(crate) compiler: Vec<String>,
    /// The library's classes, which one more run watches.
    pub(crate) scope: Option<String>,
    #[serde(default)]
    pub(crate) quick: bool,
}

impl Program {
    /// Whether a subject is of the driver: its classes have no package, or that of the class with `main`. Those of scripts have no package
    /// either.
    pub(crate) fn has_class(&self, subject: &str) -> bool {
        let is_script =
            !self.driver.ends_with("java") && !self.driver.ends_with("kt") && !self.driver.ends_with("scala");
        let package =
            self.main.rsplit_once('.').filter(|_| !is_script).map(|(package, _)| format!("{package}."));
        match package {
            Some(package) => subject.starts_with(&package),
            // A class and a member.
            None => subject.split(':').next().unwrap_or_default().matches('.').count() <= 1,
        }
    }
}

/// The judgement about a finding.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Triage {
    pub(crate) program: String,
    /// The subject of the finding.
    pub(crate) subject: String,
    pub(crate) verdict: Verdict,
    /// The lines of code that show it.
    pub(crate) why: String,
}

impl Triage {
    /// Whether the judgement is about this finding.
    pub(crate) fn is_about(&self, program: &str, subject: &str) -> bool {
        self.program == program && self.subject == subject
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Verdict {
    /// A bug.
    Real,
    /// It happens, and is meant to.
    Benign,
    /// It cannot happen.
    False,
    /// It cannot happen, because one thread hands the object over to the other.
    HandedOver,
}

#[derive(Deserialize)]
struct Programs {
    program: Vec<Program>,
}

#[derive(Deserialize)]
struct Judgements {
    #[serde(default)]
    finding: Vec<Triage>,
}

impl Catalog {
    pub(crate) fn read(folder: &Path) -> Result<Self> {
        let programs: Programs = read(&folder.join("programs.toml"))?;
        let judgements: Judgements = read(&folder.join("triage.toml"))?;
        Ok(Catalog { folder: folder.to_owned(), programs: programs.program, triage: judgements.finding })
    }
}

fn read<T: DeserializeOwned>(file: &Path) -> Result<T> {
    let text = fs::read_to_string(file).with_context(|| format!("cannot read {}", file.display()))?;
    toml::from_str(&text).with_context(|| format!("{} is not as it should be", file.display()))
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;
    use crate::workspace::root;

    #[test]
    fn the_catalog_is_complete() {
        let catalog = Catalog::read(&root().join("programs/real")).unwrap();
        let names: BTreeSet<&str> = catalog.programs.iter().map(|program| program.name.as_str()).collect();
        assert_eq!(names.len(), catalog.programs.len());
        assert_eq!(catalog.programs.iter().filter(|program| program.quick).count(), 6);
        for program in &catalog.programs {
            assert!(catalog.folder.join(&program.driver).is_file(), "{}", program.driver);
        }
        for known in &catalog.triage {
            assert!(names.contains(known.program.as_str()) && !known.why.is_empty(), "{known:?}");
        }
    }
}
