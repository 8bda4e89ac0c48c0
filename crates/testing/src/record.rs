//! What the tests of several processes record for the summary of all tests.

use std::{
    env,
    fs::{self, OpenOptions},
    io::{self, Write},
    path::Path,
    time::Duration,
};

use serde_json::{Value, json};

/// The variable that names the file of records.
pub const RECORD: &str = "FISSURE_TEST_RECORD";

/// One test that ran or was skipped.
#[derive(Debug, Clone, PartialEq)]
pub struct Recorded {
    /// The name of the test.
    pub name: String,
    /// How long it took.
    pub time: Duration,
    /// Why it was skipped, if it was.
    pub skipped: Option<String>,
}

/// Adds a test to the file that `FISSURE_TEST_RECORD` names; whether there is such a file.
pub fn write_record(recorded: &Recorded) -> bool {
    let Some(file) = env::var_os(RECORD) else { return false };
    append(Path::new(&file), recorded)
        .unwrap_or_else(|error| panic!("cannot write {}: {error}", Path::new(&file).display()));
    true
}

/// The tests in a file of records; none if there is no such file.
pub fn read_records(file: &Path) -> io::Result<Vec<Recorded>> {
    match fs::read_to_string(file) {
        Ok(text) => text.lines().map(parse).collect(),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(Vec::new()),
        Err(error) => Err(error),
    }
}

fn append(file: &Path, recorded: &Recorded) -> io::Result<()> {
    let Recorded { name, time, skipped } = recorded;
    let line = json!({"name": name, "seconds": time.as_secs_f64(), "skipped": skipped});
    let mut file = OpenOptions::new().create(true).append(true).open(file)?;
    file.write_all(format!("{line}\n").as_bytes())
}

fn parse(line: &str) -> io::Result<Recorded> {
    let value: Value = serde_json::from_str(line)?;
    let text = |key: &str| value[key].as_str().map(str::to_owned);
    let time = value["seconds"].as_f64().and_then(|seconds| Duration::try_from_secs_f64(seconds).ok());
    match (text("name"), time) {
        (Some(name), Some(time)) => Ok(Recorded { name, time, skipped: text("skipped") }),
        _ => Err(io::Error::other(format!("this line is no record: {line}"))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn records_are_read_as_they_were_written() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("records");
        assert_eq!(read_records(&file).unwrap(), []);
        let passed = Recorded { name: "a::b".to_owned(), time: Duration::from_millis(1500), skipped: None };
        let skipped = Recorded {
            name: "c".to_owned(),
            time: Duration::ZERO,
            skipped: Some("there is no \"mvn\"".to_owned()),
        };
        append(&file, &passed).unwrap();
        append(&file, &skipped).unwrap();
        assert_eq!(read_records(&file).unwrap(), [passed, skipped]);
        fs::write(&file, "{}\n").unwrap();
        assert!(read_records(&file).is_err());
    }
}
