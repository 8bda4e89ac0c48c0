//! The format of the data files, and their parser.
//!
//! ```text
//! # A comment, up to the end of the line: mostly the reason for the lines below.
//! [section]
//! java.util.HashMap java.util.TreeMap     # unindented: the classes of a group
//! java.util.SequencedMap since 21         # one more class of it, which exists from JDK 21 on
//!     get size contains* -> read          # indented: a row about methods of these classes, and what is known about them
//!     put(Ljava/lang/Object;Ljava/lang/Object;)Ljava/lang/Object; -> write
//! java.util.HashSet -> java.util.HashMap  # a class line may have words as well
//! ```
//!
//! A group ends where an unindented line follows a row, and at an empty line. Class names are written with dots, nested classes with
//! `$`. In the names of classes `*` stands for any characters but dots, `**` for any characters; in names and descriptors of methods `*`
//! stands for any characters. `since 21` and `until 17` say in which JDKs the classes or methods of a line exist; a checker compares them
//! with real ones.

use crate::pattern::{ClassPattern, MethodPattern};

/// An error in a data file.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{file}:{line}: {message}")]
pub struct DataError {
    /// The file, below `crates/jdk/data`.
    pub file: &'static str,
    /// The line, counted from 1.
    pub line: u32,
    /// What is wrong.
    pub message: String,
}

/// A data file.
#[derive(Debug)]
pub struct DataFile {
    /// Its name below `crates/jdk/data`.
    pub name: &'static str,
    /// Its sections.
    pub sections: Vec<Section>,
}

/// A part of a file that begins with `[name]`.
#[derive(Debug)]
pub struct Section {
    /// Its name.
    pub name: &'static str,
    /// The line of its name.
    pub line: u32,
    /// Its groups.
    pub groups: Vec<Group>,
}

/// Classes, and what is known about their methods.
#[derive(Debug, Default)]
pub struct Group {
    /// The classes.
    pub classes: Vec<ClassEntry>,
    /// The rows about their methods.
    pub rows: Vec<Row>,
}

/// A class or a pattern of class names.
#[derive(Debug)]
pub struct ClassEntry {
    /// The class.
    pub class: ClassPattern,
    /// The words after the arrow.
    pub words: Vec<&'static str>,
    /// The JDKs that have it.
    pub versions: Versions,
    /// Its line.
    pub line: u32,
}

/// What is known about some methods of the classes of a group.
#[derive(Debug)]
pub struct Row {
    /// The methods.
    pub methods: Vec<MethodPattern>,
    /// The words after the arrow.
    pub words: Vec<&'static str>,
    /// The JDKs that have them.
    pub versions: Versions,
    /// The line.
    pub line: u32,
}

/// The JDKs in which a class or a method exists.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Versions {
    /// The first of them.
    pub since: u32,
    /// The last of them.
    pub until: u32,
}

impl Versions {
    /// Every JDK.
    pub const ALL: Versions = Versions { since: 0, until: u32::MAX };

    /// Whether a JDK is among them.
    pub fn contain(self, feature: u32) -> bool {
        (self.since..=self.until).contains(&feature)
    }
}

/// A line without its comment, cut into its parts.
struct Line {
    names: Vec<&'static str>,
    words: Vec<&'static str>,
    versions: Versions,
    number: u32,
}

/// Parses a data file.
pub fn parse(name: &'static str, text: &'static str) -> Result<DataFile, DataError> {
    let mut sections: Vec<Section> = Vec::new();
    // Whether the next class begins a group.
    let mut begins = true;
    for (number, line) in (1..).zip(text.lines()) {
        let error = |message: String| DataError { file: name, line: number, message };
        let content = line.split_once('#').map_or(line, |(content, _)| content).trim_end();
        if content.is_empty() {
            // A line with only a comment does not end a group.
            begins |= line.trim().is_empty();
            continue;
        }
        if let Some(rest) = content.strip_prefix('[') {
            let section =
                rest.strip_suffix(']').ok_or_else(|| error("the section lacks its `]`".to_owned()))?;
            if sections.iter().any(|known| known.name == section) {
                return Err(error(format!("there are two sections [{section}]")));
            }
            sections.push(Section { name: section, line: number, groups: Vec::new() });
            begins = true;
            continue;
        }
        let is_row = content.starts_with([' ', '\t']);
        let line = parts(content, number).map_err(error)?;
        let section = sections.last_mut().ok_or_else(|| error("the line is in no section".to_owned()))?;
        if is_row {
            let Some(group) = section.groups.last_mut().filter(|group| !group.classes.is_empty()) else {
                return Err(error("the row is about no class".to_owned()));
            };
            group.rows.push(row(line).map_err(error)?);
        } else {
            let is_new = begins || section.groups.last().is_none_or(|group| !group.rows.is_empty());
            if is_new {
                section.groups.push(Group::default());
            }
            if let Some(group) = section.groups.last_mut() {
                group.classes.extend(classes(line).map_err(error)?);
            }
        }
        begins = false;
    }
    Ok(DataFile { name, sections })
}

/// Cuts a line into names, versions and the words after the arrow.
fn parts(content: &'static str, number: u32) -> Result<Line, String> {
    let (left, right) = content.split_once("->").unwrap_or((content, ""));
    let mut line = Line { names: Vec::new(), words: Vec::new(), versions: Versions::ALL, number };
    let mut left = left.split_whitespace();
    while let Some(name) = left.next() {
        let bound = match name {
            "since" => &mut line.versions.since,
            "until" => &mut line.versions.until,
            _ => {
                line.names.push(name);
                continue;
            }
        };
        let version = left.next().and_then(|version| version.parse().ok());
        *bound = version.ok_or_else(|| format!("`{name}` needs the number of a JDK"))?;
    }
    line.words.extend(right.split_whitespace());
    match line.names.is_empty() {
        true => Err("the line names nothing".to_owned()),
        false => Ok(line),
    }
}

fn row(line: Line) -> Result<Row, String> {
    let methods = line.names.into_iter().map(MethodPattern::new).collect::<Result<_, _>>()?;
    Ok(Row { methods, words: line.words, versions: line.versions, line: line.number })
}

fn classes(line: Line) -> Result<Vec<ClassEntry>, String> {
    let Line { names, words, versions, number } = line;
    let entry = |name| {
        let class = ClassPattern::new(name)?;
        Ok(ClassEntry { class, words: words.clone(), versions, line: number })
    };
    names.into_iter().map(entry).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check_error(text: &'static str, expected: &str) {
        let error = parse("test.txt", text).expect_err(text);
        assert_eq!(error.to_string(), expected);
    }

    #[test]
    fn groups_have_classes_and_rows() {
        let text = "# Why.\n[first]\na.B a.C   # reason\na.D since 21 until 24\n    get put(I)V -> read x\na.E -> a.F\n\na.G\n";
        let file = parse("test.txt", text).unwrap();
        let [section] = &file.sections[..] else { panic!("{file:?}") };
        let names =
            |group: &Group| -> Vec<&str> { group.classes.iter().map(|entry| entry.class.text()).collect() };
        let groups: Vec<Vec<&str>> = section.groups.iter().map(names).collect();
        assert_eq!(
            (section.name, groups),
            ("first", vec![vec!["a.B", "a.C", "a.D"], vec!["a.E"], vec!["a.G"]])
        );
        let row = &section.groups[0].rows[0];
        assert_eq!((row.methods.len(), &row.words[..], row.line), (2, &["read", "x"][..], 5));
        assert_eq!(section.groups[0].classes[2].versions, Versions { since: 21, until: 24 });
        assert_eq!(section.groups[1].classes[0].words, ["a.F"]);
        assert!(
            Versions { since: 21, until: 24 }.contain(24) && !Versions { since: 21, until: 24 }.contain(17)
        );
    }

    #[test]
    fn errors_name_file_and_line() {
        check_error("a.B", "test.txt:1: the line is in no section");
        check_error("[x]\n    get -> read", "test.txt:2: the row is about no class");
        check_error("[x]\n\na.B since", "test.txt:3: `since` needs the number of a JDK");
        check_error("[x]\na.B until soon", "test.txt:2: `until` needs the number of a JDK");
        check_error("[x\n", "test.txt:1: the section lacks its `]`");
        check_error("[x]\n[x]\n", "test.txt:2: there are two sections [x]");
        check_error("[x]\n-> read", "test.txt:2: the line names nothing");
        check_error("[x]\na/B", "test.txt:2: class names are written with dots: a/B");
        check_error("[x]\na.B\n  get(I", "test.txt:3: the descriptor lacks its `)`: get(I");
    }
}
