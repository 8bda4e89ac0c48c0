//! The data files. Each is parsed when the first question about it is asked.

use crate::format::{DataError, DataFile, Section, parse};

macro_rules! files {
    [$($name:literal),* $(,)?] => {
        &[$(($name, include_str!(concat!("../data/", $name)))),*]
    };
}

const FILES: &[(&str, &str)] = files![
    "boundary.txt",
    "calls.txt",
    "classes.txt",
    "contents.txt",
    "executors.txt",
    "internal-locks.txt",
    "locks.txt",
    "order.txt",
    "process-state.txt",
    "references.txt",
    "scheduling-points.txt",
    "table-check.txt",
    "thread-unsafe.txt",
    "threads.txt",
];

/// The file about libraries, which no JDK has.
const LIBRARIES: (&str, &str) = ("libraries.txt", include_str!("../data/libraries.txt"));

/// All data files about the JDK, for the checker that compares them with a JDK.
pub fn files() -> Result<Vec<DataFile>, DataError> {
    FILES.iter().map(|(name, text)| parse(name, text)).collect()
}

/// The data file of this name.
pub(crate) fn file(name: &'static str) -> Result<DataFile, DataError> {
    match FILES.iter().chain([&LIBRARIES]).find(|(known, _)| *known == name) {
        Some((name, text)) => parse(name, text),
        None => Err(DataError { file: name, line: 0, message: "there is no such file".to_owned() }),
    }
}

impl DataFile {
    /// Takes a section out of the file.
    pub(crate) fn take(&mut self, name: &str) -> Result<FileSection, DataError> {
        match self.sections.iter().position(|section| section.name == name) {
            Some(found) => Ok(FileSection { file: self.name, section: self.sections.remove(found) }),
            None => Err(self.error(0, format!("there is no section [{name}]"))),
        }
    }

    /// Checks that every section was taken: a section that nothing asks for is a mistake.
    pub(crate) fn finish(self) -> Result<(), DataError> {
        match self.sections.first() {
            Some(section) => Err(self.error(section.line, format!("nothing asks for [{}]", section.name))),
            None => Ok(()),
        }
    }

    fn error(&self, line: u32, message: String) -> DataError {
        DataError { file: self.name, line, message }
    }
}

/// A section with the file that it comes from.
pub(crate) struct FileSection {
    pub(crate) file: &'static str,
    pub(crate) section: Section,
}

impl FileSection {
    pub(crate) fn error(&self, line: u32, message: String) -> DataError {
        DataError { file: self.file, line, message }
    }
}

/// What was loaded. The files are part of Fissure, and a test loads every one of them, so an error here is an error of Fissure's build.
pub(crate) fn loaded<T>(result: Result<T, DataError>) -> T {
    result.unwrap_or_else(|error| panic!("the data about the JDK is broken: {error}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_files_are_listed() {
        let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/data");
        let mut found: Vec<String> = std::fs::read_dir(folder)
            .unwrap()
            .map(|entry| entry.unwrap().file_name().into_string().unwrap())
            .collect();
        found.sort();
        let mut listed: Vec<&str> = FILES.iter().chain([&LIBRARIES]).map(|(name, _)| *name).collect();
        listed.sort_unstable();
        assert_eq!(found, listed);
        assert!(files().is_ok_and(|files| files.len() == FILES.len()));
    }

    #[test]
    fn sections_that_are_missing_or_unused_are_errors() {
        let mut file = parse("test.txt", "[one]\na.B\n[two]\na.C\n").unwrap();
        assert_eq!(file.take("three").err().unwrap().to_string(), "test.txt:0: there is no section [three]");
        assert!(file.take("one").is_ok());
        assert_eq!(file.finish().unwrap_err().to_string(), "test.txt:3: nothing asks for [two]");
    }
}
