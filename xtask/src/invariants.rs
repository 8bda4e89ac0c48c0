//! The invariants of ARCHITECTURE.md that can be checked by reading the repository: which crate depends on which, which crates do not know the
//! JVM, and which words are not used.

use std::{fs, path::Path};

use anyhow::{Context, Result};

use crate::workspace::{files_below, root};

/// The crates of the workspace that each crate may depend on.
const DEPENDENCIES: &[(&str, &[&str])] = &[
    ("model", &[]),
    ("analysis", &["model"]),
    ("schedule", &["model", "analysis"]),
    ("hunt", &["model", "schedule"]),
    ("object", &[]),
    ("classfile", &[]),
    ("static", &["model", "classfile"]),
    ("monitor", &["model"]),
    ("report", &["model"]),
    ("jvm", &["model", "analysis", "schedule", "classfile", "monitor"]),
    ("fissure", &["model", "classfile", "static", "monitor", "object", "report", "schedule", "hunt"]),
];

/// Words that only `jvm` may use, and the crates that must not.
const JVM_WORDS: &[&str] = &["JNI", "JVMTI", "jvmti_bindings", "jobject"];
const WITHOUT_JVM: &[&str] =
    &["model", "analysis", "schedule", "hunt", "object", "classfile", "static", "monitor", "report"];

/// Words for which `docs/glossary.md` has the usual ones.
const RIDDLES: &[&str] =
    &["in between of", "intrusion", "not made for several threads", "control run", "prey"];

/// The dependencies of a crate within the workspace, by their short names.
fn dependencies(name: &str) -> Result<Vec<String>> {
    let file = root().join("crates").join(name).join("Cargo.toml");
    let text = fs::read_to_string(&file).with_context(|| format!("cannot read {}", file.display()))?;
    let manifest: toml::Table =
        toml::from_str(&text).with_context(|| format!("cannot read {}", file.display()))?;
    let dependencies = manifest.get("dependencies").and_then(toml::Value::as_table);
    let names = dependencies.into_iter().flat_map(toml::Table::keys);
    Ok(names.filter_map(|name| name.strip_prefix("fissure-")).map(str::to_owned).collect())
}

/// The lines below a folder that contain one of these words, as `file:line: word`.
fn lines_with(folder: &Path, extension: &str, words: &[&str]) -> Result<Vec<String>> {
    let mut found = Vec::new();
    for file in files_below(folder, extension)? {
        let text = fs::read_to_string(&file).with_context(|| format!("cannot read {}", file.display()))?;
        for (number, line) in text.lines().enumerate() {
            for word in words.iter().filter(|word| contains_word(line, word)) {
                found.push(format!("{}:{}: {word}", file.display(), number + 1));
            }
        }
    }
    Ok(found)
}

/// Whether a line contains a word that is not a part of another word.
fn contains_word(line: &str, word: &str) -> bool {
    line.match_indices(word).any(|(at, _)| {
        let is_letter = |letter: Option<char>| letter.is_some_and(char::is_alphanumeric);
        !is_letter(line[..at].chars().next_back()) && !is_letter(line[at + word.len()..].chars().next())
    })
}

#[test]
fn crates_depend_on_what_the_architecture_allows() {
    for (name, allowed) in DEPENDENCIES {
        for dependency in dependencies(name).unwrap() {
            assert!(allowed.contains(&dependency.as_str()), "{name} depends on {dependency}");
        }
    }
    assert_eq!(fs::read_dir(root().join("crates")).unwrap().count(), DEPENDENCIES.len());
}

#[test]
fn only_the_agent_speaks_of_the_interfaces_of_the_jvm() {
    for name in WITHOUT_JVM {
        let found = lines_with(&root().join("crates").join(name).join("src"), "rs", JVM_WORDS).unwrap();
        assert!(found.is_empty(), "{found:#?}");
    }
}

#[test]
fn the_usual_words_are_used() {
    let mut found = lines_with(&root().join("docs"), "md", RIDDLES).unwrap();
    for (name, _) in DEPENDENCIES {
        found.extend(lines_with(&root().join("crates").join(name).join("src"), "rs", RIDDLES).unwrap());
    }
    assert!(found.is_empty(), "{found:#?}");
}

#[test]
fn words_are_told_from_parts_of_words() {
    assert!(contains_word("a prey.", "prey") && !contains_word("osprey", "prey"));
}
