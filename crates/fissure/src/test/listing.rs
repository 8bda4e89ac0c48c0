//! The tests of a module, which its own test framework lists.

use std::{
    ffi::OsString,
    fs,
    path::{Path, PathBuf},
    process::{Command, Stdio},
    thread,
    time::{Duration, Instant},
};

use super::{classes, error::TestError, launcher, project::Module, selector::Selector};
use crate::{locality, signals};

/// How long a listing may take.
const LIMIT: Duration = Duration::from_secs(120);

/// A test that can be executed alone.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Test {
    /// The number of its module.
    pub(crate) module: usize,
    pub(crate) framework: String,
    /// Its name for the launcher.
    pub(crate) id: String,
    pub(crate) class: String,
    pub(crate) method: String,
    /// Its name as the framework shows it.
    pub(crate) name: String,
    pub(crate) tags: Vec<String>,
}

/// The tests of a module, and what went wrong.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Listing {
    pub(crate) frameworks: Vec<String>,
    pub(crate) tests: Vec<Test>,
    /// Classes that could not be used, with the reason.
    pub(crate) problems: Vec<String>,
}

/// Lists the tests of a module, in a JVM without the agent.
pub(crate) fn list(
    module: &Module,
    java: &Path,
    jvm_options: &[OsString],
    selectors: &[Selector],
    folder: &Path,
) -> Result<Listing, TestError> {
    let failed = |error: std::io::Error| TestError::Listing(error.to_string());
    let mut classes: Vec<String> = Vec::new();
    let mut newest = 0;
    for root in &module.roots {
        let found = classes::below(root).map_err(failed)?;
        newest = newest.max(found.newest_version);
        classes.extend(found.names.into_iter().filter(|name| is_candidate(name, module.usual_names)));
    }
    // A class that the user names may have any name, and may be in a jar.
    for class in selectors.iter().filter_map(Selector::class) {
        if !classes.iter().any(|known| known == class) {
            classes.push(class.to_owned());
        }
    }
    classes.sort();
    classes.dedup();
    check_version(java, newest)?;
    let (out, wanted) = (folder.join("tests.txt"), folder.join("classes.txt"));
    fs::write(&wanted, classes.join("\n")).map_err(failed)?;
    let mut command = Command::new(java);
    command.args(jvm_options).arg("-cp").arg(module.class_path.join(":")).arg(launcher::MAIN);
    command.arg("list").arg(&out).arg(&wanted).current_dir(&module.directory);
    let errors = folder.join("errors.txt");
    command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(fs::File::create(&errors).map_err(failed)?);
    let mut child = command.spawn().map_err(failed)?;
    let begun = Instant::now();
    while !signals::has_ended(&child).map_err(failed)? {
        if begun.elapsed() > LIMIT || signals::interrupted() {
            let _ = child.kill();
        }
        thread::sleep(Duration::from_millis(4));
    }
    let status = child.wait().map_err(failed)?;
    let Ok(text) = fs::read_to_string(&out) else { return Err(TestError::Listing(last_line(&errors))) };
    if !status.success() {
        return Err(TestError::Listing(last_line(&errors)));
    }
    Ok(parse(&text))
}

/// Whether a class of the module may be a test: not a nested one, which its outer class brings with it, and for Maven only one with the
/// names that Surefire takes.
fn is_candidate(name: &str, usual_names: bool) -> bool {
    let simple = name.rsplit('.').next().unwrap_or_default();
    let is_usual =
        simple.starts_with("Test") || ["Test", "Tests", "TestCase"].iter().any(|end| simple.ends_with(end));
    !simple.contains('$') && !simple.ends_with("-info") && (is_usual || !usual_names)
}

fn check_version(java: &Path, newest: u16) -> Result<(), TestError> {
    let needed = u32::from(newest).saturating_sub(classes::BEFORE_JAVA_1);
    match locality::java_feature(java.as_os_str()) {
        Some(there) if there < needed => {
            Err(TestError::TooNew { needed, there, java: java.display().to_string() })
        }
        _ => Ok(()),
    }
}

fn last_line(errors: &Path) -> String {
    let text = fs::read_to_string(errors).unwrap_or_default();
    let lines: Vec<&str> = text.lines().map(str::trim).filter(|line| !line.is_empty()).collect();
    let telling = lines.iter().find(|line| line.contains("Error") || line.contains("Exception"));
    telling
        .or(lines.last())
        .map_or_else(|| "the JVM ended without a reason".to_owned(), |line| (*line).to_owned())
}

fn parse(text: &str) -> Listing {
    let mut listing = Listing::default();
    for line in text.lines() {
        let parts: Vec<String> = line.split('\t').map(unescaped).collect();
        let parts: Vec<&str> = parts.iter().map(String::as_str).collect();
        match parts[..] {
            ["framework", name] => listing.frameworks.push(name.to_owned()),
            ["problem" | "failure", name, reason] => listing.problems.push(format!("{name}: {reason}")),
            ["test", framework, id, class, method, name, tags] => listing.tests.push(Test {
                module: 0,
                framework: framework.to_owned(),
                id: id.to_owned(),
                class: class.to_owned(),
                method: method.to_owned(),
                name: name.to_owned(),
                tags: tags.split(' ').filter(|tag| !tag.is_empty()).map(str::to_owned).collect(),
            }),
            _ => tracing::warn!(line, "the launcher wrote an unknown line"),
        }
    }
    listing
}

fn unescaped(part: &str) -> String {
    let mut text = String::new();
    let mut characters = part.chars();
    while let Some(character) = characters.next() {
        text.push(match character {
            '\\' => match characters.next() {
                Some('t') => '\t',
                Some('n') => '\n',
                Some('r') => '\r',
                other => other.unwrap_or('\\'),
            },
            _ => character,
        });
    }
    text
}

/// The version of a library, by the name of its jar.
pub(crate) fn version_of<'a>(class_path: &'a [String], name: &str) -> Option<(&'a str, &'a str)> {
    class_path.iter().find_map(|entry| {
        let file = Path::new(entry).file_name()?.to_str()?;
        let version = file.strip_prefix(name)?.strip_prefix('-')?.strip_suffix(".jar")?;
        version.starts_with(|first: char| first.is_ascii_digit()).then_some((entry.as_str(), version))
    })
}

/// Where a jar of the Maven repository would be that another one is from.
pub(crate) fn beside(known: &str, group: &str, name: &str, version: &str) -> Vec<PathBuf> {
    let relative = format!("{}/{name}/{version}/{name}-{version}.jar", group.replace('.', "/"));
    let mut places = Vec::new();
    if let Some(at) = known.find("/org/junit/") {
        places.push(PathBuf::from(&known[..at]).join(&relative));
    }
    if let Some(home) = std::env::var_os("HOME") {
        places.push(PathBuf::from(home).join(".m2/repository").join(&relative));
    }
    places
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_lines_of_the_launcher_are_read() {
        let text = "framework\tplatform\ntest\tplatform\t[a]\tc.A\tpays\tpays \\\\ \\t all\tslow db\nproblem\tc.B\tX: y\nunknown\n";
        let listing = parse(text);
        let [test] = &listing.tests[..] else { panic!() };
        assert_eq!(
            (test.name.as_str(), &test.tags[..]),
            ("pays \\ \t all", &["slow".to_owned(), "db".to_owned()][..])
        );
        assert_eq!(listing.frameworks, ["platform"]);
        assert_eq!(listing.problems, ["c.B: X: y"]);
    }

    #[test]
    fn classes_are_candidates_by_their_names() {
        let check = |name: &str, usual: bool, expected: bool| {
            assert_eq!(is_candidate(name, usual), expected, "{name}")
        };
        check("com.acme.AccountTest", true, true);
        check("com.acme.TestAccount", true, true);
        check("com.acme.AccountIT", true, false);
        check("com.acme.AccountIT", false, true);
        check("com.acme.AccountTest$Inner", false, false);
        check("module-info", false, false);
    }

    #[test]
    fn versions_are_found_by_the_names_of_jars() {
        let path = ["/r/junit-platform-engine-1.10.2.jar", "/r/junit-4.13.2.jar"].map(str::to_owned);
        let version = |name| version_of(&path, name).map(|(_, version)| version);
        assert_eq!(version("junit-platform-engine"), Some("1.10.2"));
        assert_eq!(version("junit"), Some("4.13.2"));
        assert_eq!(version("junit-platform"), None);
    }
}
