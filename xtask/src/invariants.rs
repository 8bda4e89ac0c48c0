//! The invariants of ARCHITECTURE.md that can be checked by reading the repository: which crate depends on which, which crates do not know the
//! JVM, which have no lists of JDK classes, which words are not used, and how long files are.

use std::{collections::BTreeSet, fs, path::Path};

use anyhow::{Context, Result};

use crate::workspace::{files_below, root};

/// The crates of the workspace that each crate may depend on.
const DEPENDENCIES: &[(&str, &[&str])] = &[
    ("model", &[]),
    ("jdk", &[]),
    ("analysis", &["model"]),
    ("schedule", &["model", "analysis"]),
    ("control", &["model", "analysis", "schedule"]),
    ("hunt", &["model", "schedule"]),
    ("object", &["jdk"]),
    ("classfile", &["jdk"]),
    ("static", &["model", "classfile", "jdk"]),
    ("monitor", &["model"]),
    ("report", &["model"]),
    ("log", &[]),
    ("jvm", &["model", "analysis", "schedule", "control", "classfile", "jdk", "log", "monitor"]),
    ("testing", &[]),
    (
        "fissure",
        &["model", "hunt", "classfile", "jdk", "log", "static", "monitor", "object", "report", "schedule"],
    ),
];

/// Words that only `jvm` may use, and the crates that must not.
const JVM_WORDS: &[&str] = &["JNI", "JVMTI", "jvmti_bindings", "jobject"];
const WITHOUT_JVM: &[&str] = &[
    "model",
    "jdk",
    "analysis",
    "schedule",
    "control",
    "hunt",
    "object",
    "classfile",
    "static",
    "monitor",
    "report",
];

/// The largest number of JDK classes that a source file outside of `jdk` names: more is a list, which belongs into a data file of `jdk`.
const MOST_JDK_CLASSES: usize = 6;

/// Files that may name more: the ten classes of the paper, which `fissure object` reproduces.
const NAMES_JDK_CLASSES: &[&str] = &["object/src/builtin.rs"];

/// Types of the language itself, which do not count.
const LANGUAGE_TYPES: &[&str] = &[
    "Boolean",
    "Byte",
    "Character",
    "Class",
    "Double",
    "Float",
    "Integer",
    "Long",
    "Object",
    "Short",
    "String",
    "Throwable",
];

/// The most lines of a source file; more are two ideas, which belong into two files.
const MOST_LINES: usize = 600;

/// Words for which `docs/glossary.md` has the usual ones.
const RIDDLES: &[&str] = &[
    "in between of",
    "intrusion",
    "not made for several threads",
    "control run",
    "prey",
    "chase",
    "calm",
    "lonely",
    "orderly",
    "suspicion",
    "tale",
    "steering",
];

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

/// The names of JDK classes among the string literals of a source file, except those of its unit tests.
fn jdk_classes(source: &str) -> BTreeSet<&str> {
    let code = source.split("#[cfg(test)]\nmod tests").next().unwrap_or(source);
    let is_class = |text: &&str| {
        let Some((package, class)) = text.rsplit_once(['.', '/']) else { return false };
        let is_jdk =
            ["java", "javax", "jdk", "sun"].contains(&package.split(['.', '/']).next().unwrap_or_default());
        let is_name =
            |text: &str| text.chars().all(|letter| letter.is_alphanumeric() || "._/$".contains(letter));
        is_jdk
            && is_name(text)
            && class.starts_with(|letter: char| letter.is_ascii_uppercase())
            && !class.starts_with("Fissure")
            && !(text.len() == class.len() + "java.lang.".len() && LANGUAGE_TYPES.contains(&class))
    };
    code.split('"').filter(is_class).collect()
}

#[test]
fn only_one_crate_has_lists_of_jdk_classes() {
    for (name, _) in DEPENDENCIES.iter().filter(|(name, _)| *name != "jdk") {
        for file in files_below(&root().join("crates").join(name).join("src"), "rs").unwrap() {
            let is_exempt = NAMES_JDK_CLASSES.iter().any(|known| file.ends_with(known))
                || file.file_stem().is_some_and(|stem| stem.to_string_lossy().ends_with("tests"));
            let source = fs::read_to_string(&file).unwrap();
            let found = jdk_classes(&source);
            assert!(is_exempt || found.len() <= MOST_JDK_CLASSES, "{}: {found:?}", file.display());
        }
    }
}

#[test]
fn names_of_jdk_classes_are_recognized() {
    let source =
        r#"["java/util/List", "java.util.Map$Entry", "java.util.", "java/lang/Object", "com.acme.List"]"#;
    assert_eq!(
        jdk_classes(source).into_iter().collect::<Vec<_>>(),
        ["java.util.Map$Entry", "java/util/List"]
    );
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
fn no_source_file_is_too_long() {
    let mut found = Vec::new();
    for (folder, extension) in
        ["crates", "xtask"].iter().flat_map(|folder| [(folder, "rs"), (folder, "java")])
    {
        for file in files_below(&root().join(folder), extension).unwrap() {
            let lines = fs::read_to_string(&file).unwrap().lines().count();
            if lines > MOST_LINES {
                found.push(format!("{} has {lines} lines", file.display()));
            }
        }
    }
    assert!(found.is_empty(), "{found:#?}");
}

#[test]
fn the_usual_words_are_used() {
    let mut found = lines_with(&root().join("docs"), "md", RIDDLES).unwrap();
    for (name, _) in DEPENDENCIES {
        found.extend(lines_with(&root().join("crates").join(name).join("src"), "rs", RIDDLES).unwrap());
    }
    // The goals of the version before are read, and described, by their own words.
    found.retain(|line| {
        let is_former = line.contains("docs/json.md:") && line.ends_with(": calm");
        !is_former && !line.contains("goal/former.rs:")
    });
    assert!(found.is_empty(), "{found:#?}");
}

#[test]
fn words_are_told_from_parts_of_words() {
    assert!(contains_word("a prey.", "prey") && !contains_word("osprey", "prey"));
}
