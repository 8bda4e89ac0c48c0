//! The parts of source files that a page shows: the lines around every site, each file once.

use std::collections::{BTreeMap, HashMap};

use fissure_model::finding::Frame;
use serde::Serialize;

use crate::{SourceFinder, html::WIDEST, words};

/// Lines shown before and after a site.
const AROUND: u32 = 12;

/// The shown lines of a source file.
#[derive(Debug, Serialize)]
pub(crate) struct Snippet {
    name: String,
    /// The lines by their numbers.
    lines: BTreeMap<u32, String>,
}

/// Collects the source lines that a page shows.
pub(crate) struct Collector<'a> {
    sources: &'a dyn SourceFinder,
    snippets: Vec<Snippet>,
    known: HashMap<(String, String), usize>,
}

impl<'a> Collector<'a> {
    pub(crate) fn new(sources: &'a dyn SourceFinder) -> Self {
        Collector { sources, snippets: Vec::new(), known: HashMap::new() }
    }

    /// Adds the lines around a site and returns the number of their file; `None` if the source was not found.
    pub(crate) fn add(&mut self, frame: &Frame) -> Option<usize> {
        let (file, line) = (frame.file.as_deref()?, frame.line?);
        self.sources.line(&frame.class, file, line)?;
        // The classes of one source file share a package, so package and file name identify the file.
        let package = frame.class.rsplit_once('.').map_or("", |(package, _)| package);
        let key = (package.to_owned(), file.to_owned());
        let snippets = &mut self.snippets;
        let sources = self.sources;
        let at = *self.known.entry(key).or_insert_with(|| {
            let name = sources.path(&frame.class, file).unwrap_or_else(|| file.to_owned());
            snippets.push(Snippet { name: words::clean(&name), lines: BTreeMap::new() });
            snippets.len() - 1
        });
        let lines = &mut snippets[at].lines;
        for number in line.saturating_sub(AROUND).max(1)..=line.saturating_add(AROUND) {
            if let std::collections::btree_map::Entry::Vacant(vacant) = lines.entry(number)
                && let Some(text) = sources.line(&frame.class, file, number)
            {
                vacant.insert(words::source_line(&text, WIDEST));
            }
        }
        Some(at)
    }

    pub(crate) fn finish(self) -> Vec<Snippet> {
        self.snippets
    }
}
