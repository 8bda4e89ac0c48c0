//! Writes records to the run's folder, one line each, without buffering.

use std::{
    fs::{File, OpenOptions},
    io::{self, Write},
    path::Path,
    sync::{Mutex, PoisonError},
};

use fissure_model::{finding::Finding, record::Record};

use crate::{agent::agent, tested::running_test};

/// The output file of this JVM.
#[derive(Debug)]
pub(crate) struct Output {
    file: Mutex<File>,
}

impl Output {
    /// Opens `jvm-PID.jsonl` in the run's folder.
    pub(crate) fn create(folder: &Path) -> io::Result<Output> {
        let path = folder.join(format!("jvm-{}.jsonl", std::process::id()));
        let file = OpenOptions::new().create(true).append(true).open(path)?;
        Ok(Output { file: Mutex::new(file) })
    }

    /// Appends a record; a finding without a test gets the test that is running. A write error is ignored: it must not disturb the
    /// program, and it cannot be reported anywhere.
    pub(crate) fn write(&self, record: &Record) {
        if let Record::Finding(finding) = record
            && finding.test.is_none()
            && let Some(test) = agent().and_then(|agent| running_test(agent.tool))
        {
            let named = Finding { test: Some(test), ..(**finding).clone() };
            return self.append(&Record::Finding(Box::new(named)));
        }
        self.append(record);
    }

    fn append(&self, record: &Record) {
        // The panic hook writes a record too, so this must not panic: the error takes the place of the record.
        let mut line = serde_json::to_vec(record).unwrap_or_else(|error| {
            let text = format!("a record cannot be written as JSON: {error}");
            serde_json::json!({"record": "internal-error", "text": text}).to_string().into_bytes()
        });
        line.push(b'\n');
        let mut file = self.file.lock().unwrap_or_else(PoisonError::into_inner);
        // A full disk is noticed by the command line, which misses the record of the end.
        let _ = file.write_all(&line);
    }
}
