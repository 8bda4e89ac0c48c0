//! Parses a `java` command line: its class path, its main class, and the values of options that may name classes.

use std::{ffi::OsString, fs, path::PathBuf};

use super::LocalityError;

/// Options whose value is the next word.
const WITH_VALUE: &[&str] = &[
    "-cp",
    "-classpath",
    "--class-path",
    "-p",
    "--module-path",
    "--add-modules",
    "--limit-modules",
    "--add-reads",
    "--add-exports",
    "--add-opens",
    "--enable-native-access",
    "--illegal-native-access",
    "--finalization",
    "--source",
    "--patch-module",
    "--upgrade-module-path",
    "--describe-module",
    "-d",
];

/// Options that replace classes of the JDK.
const REPLACES: &[&str] = &["--patch-module", "--upgrade-module-path", "-Xbootclasspath"];

/// Where the program begins.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Main {
    /// A class, with dots.
    Class(String),
    /// An archive, whose manifest names the class.
    Archive(PathBuf),
    /// A module, and its class if it is named.
    Module(String, Option<String>),
}

/// A parsed command line.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct JavaCommand {
    pub(crate) main: Main,
    /// Folders and archives; modules come after them.
    pub(crate) class_path: Vec<PathBuf>,
    /// Archives with agents that are written in Java.
    pub(crate) agents: Vec<PathBuf>,
    /// The values of system properties, which may be names of classes.
    pub(crate) values: Vec<String>,
}

/// Parses the words after `java`, with the options that the environment adds.
pub(crate) fn parse(
    words: &[OsString],
    added: Option<&str>,
    class_path_variable: Option<OsString>,
) -> Result<JavaCommand, LocalityError> {
    let mut all: Vec<String> = split(added.unwrap_or_default());
    for word in words {
        let text = word.to_str().ok_or(LocalityError::Words)?;
        all.push(text.to_owned());
    }
    let mut class_path: Option<String> = None;
    let mut modules = Vec::new();
    let mut agents = Vec::new();
    let mut values = Vec::new();
    let mut main = None;
    let mut words = expand(all)?.into_iter();
    while let Some(word) = words.next() {
        let (option, mut value) = match word.split_once('=') {
            Some((option, value)) if option.starts_with("--") => (option.to_owned(), Some(value.to_owned())),
            _ => (word.clone(), None),
        };
        if REPLACES.iter().any(|known| option.starts_with(known)) {
            return Err(LocalityError::Replaced(option));
        }
        if value.is_none() && WITH_VALUE.contains(&option.as_str()) {
            value = words.next();
        }
        match option.as_str() {
            "-cp" | "-classpath" | "--class-path" => class_path = value,
            "-p" | "--module-path" => modules.extend(value),
            "-jar" => main = words.next().map(|jar| Main::Archive(jar.into())),
            "-m" | "--module" => {
                let value = value.or_else(|| words.next()).unwrap_or_default();
                main = Some(match value.split_once('/') {
                    Some((module, class)) => Main::Module(module.to_owned(), Some(class.to_owned())),
                    None => Main::Module(value, None),
                });
            }
            option if option.starts_with("-javaagent:") => {
                let path = option.trim_start_matches("-javaagent:").split('=').next().unwrap_or_default();
                agents.push(PathBuf::from(path));
            }
            option if option.starts_with("-D") => {
                if let Some((name, value)) = option.split_once('=') {
                    if name == "-Djava.class.path" {
                        class_path = Some(value.to_owned());
                    }
                    values.push(value.to_owned());
                }
            }
            option if option.starts_with('-') => {}
            name if name.ends_with(".java") => return Err(LocalityError::Source(name.to_owned())),
            name => main = Some(Main::Class(name.to_owned())),
        }
        if main.is_some() {
            break;
        }
    }
    let main = main.ok_or(LocalityError::NoMainClass)?;
    let mut entries = match (&main, class_path) {
        // An archive that is started replaces the class path.
        (Main::Archive(archive), _) => vec![archive.clone()],
        (_, Some(given)) => split_paths(&given),
        (Main::Module(..), None) => Vec::new(),
        (Main::Class(_), None) => match class_path_variable.filter(|value| !value.is_empty()) {
            Some(value) => split_paths(value.to_str().ok_or(LocalityError::Words)?),
            None => vec![PathBuf::from(".")],
        },
    };
    entries.extend(modules.iter().flat_map(|value| split_paths(value)));
    Ok(JavaCommand { main, class_path: entries, agents, values })
}

/// The entries of a class path; an empty one is the working directory.
fn split_paths(value: &str) -> Vec<PathBuf> {
    let entry = |text: &str| PathBuf::from(if text.is_empty() { "." } else { text });
    value.split(':').map(entry).collect()
}

/// Replaces `@FILE` by the words of argument files, up to the main class.
fn expand(words: Vec<String>) -> Result<Vec<String>, LocalityError> {
    let mut all = Vec::new();
    let mut is_expanding = true;
    for word in words {
        match word.strip_prefix('@') {
            Some(file) if is_expanding && !file.starts_with('@') => {
                let text = fs::read_to_string(file).map_err(|error| LocalityError::Read {
                    path: file.to_owned(),
                    reason: error.to_string(),
                })?;
                let lines: Vec<&str> =
                    text.lines().filter(|line| !line.trim_start().starts_with('#')).collect();
                all.extend(split(&lines.join("\n")));
            }
            _ => {
                is_expanding &= word != "--disable-@files";
                all.push(word);
            }
        }
    }
    Ok(all)
}

/// Splits words at blanks; quotes keep words together.
fn split(text: &str) -> Vec<String> {
    let mut words = Vec::new();
    let mut word: Option<String> = None;
    let mut quote = None;
    let mut letters = text.chars();
    while let Some(letter) = letters.next() {
        match (letter, quote) {
            ('\\', Some(_)) => word.get_or_insert_default().extend(letters.next()),
            (letter, Some(open)) if letter == open => quote = None,
            ('"' | '\'', None) => {
                quote = Some(letter);
                word.get_or_insert_default();
            }
            (letter, None) if letter.is_whitespace() => words.extend(word.take()),
            (letter, _) => word.get_or_insert_default().push(letter),
        }
    }
    words.extend(word);
    words
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parsed(line: &str, added: Option<&str>, variable: Option<&str>) -> Result<JavaCommand, LocalityError> {
        let words: Vec<OsString> = line.split_whitespace().map(OsString::from).collect();
        parse(&words, added, variable.map(OsString::from))
    }

    fn check(line: &str, main: Main, class_path: &[&str]) {
        let command = parsed(line, None, None).unwrap();
        assert_eq!(command.main, main, "{line}");
        assert_eq!(command.class_path, class_path.iter().map(PathBuf::from).collect::<Vec<_>>(), "{line}");
    }

    #[test]
    fn class_path_and_main_class_are_found() {
        let class = |name: &str| Main::Class(name.to_owned());
        check("-cp a:b.jar com.acme.Main -cp x", class("com.acme.Main"), &["a", "b.jar"]);
        check("-Xmx1g --class-path=a Main", class("Main"), &["a"]);
        check("-cp a: Main", class("Main"), &["a", "."]);
        check("Main", class("Main"), &["."]);
        check("-cp a -jar app.jar -cp b", Main::Archive("app.jar".into()), &["app.jar"]);
        check("--add-opens java.base/java.lang=ALL-UNNAMED Main", class("Main"), &["."]);
        check("-p mods -m app/com.Main", Main::Module("app".into(), Some("com.Main".into())), &["mods"]);
        check("-p mods --module app", Main::Module("app".into(), None), &["mods"]);
    }

    #[test]
    fn options_of_the_environment_count() {
        let command = parsed("Main", Some("-cp 'x y' -Da=com.acme.Log"), Some("c")).unwrap();
        assert_eq!(command.class_path, [PathBuf::from("x y")]);
        assert_eq!(command.values, ["com.acme.Log"]);
        assert_eq!(parsed("Main", None, Some("c:d")).unwrap().class_path.len(), 2);
        let agents = parsed("-javaagent:/a/b.jar=x=1 Main", None, None).unwrap().agents;
        assert_eq!(agents, [PathBuf::from("/a/b.jar")]);
    }

    #[test]
    fn commands_that_cannot_be_analysed_are_rejected() {
        let refused = |line| parsed(line, None, None).unwrap_err().to_string();
        assert!(refused("Main.java").contains("javac"));
        assert!(refused("-version").contains("main class"));
        assert!(refused("--patch-module java.base=x Main").contains("--patch-module"));
        assert!(refused("@missing-file Main").contains("missing-file"));
    }
}
