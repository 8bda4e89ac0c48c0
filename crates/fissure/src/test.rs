//! `fissure test`: hunts in the tests of a project, with their own test framework.
//!
//! [`project`] finds the class path of the tests, [`listing`] the tests. [`examination`] executes each test once with a sequential schedule:
//! only tests with several threads are hunted in ([`hunting`]). A run of a test is a run of the program [`launcher`] with the test's name as an
//! argument, so that everything else is as in `fissure hunt`.

mod classes;
mod engines;
mod error;
mod examination;
mod gradle;
mod hunting;
mod launcher;
mod listing;
mod maven;
mod options;
mod project;
mod repeat;
mod results;
mod selector;

use std::{
    env,
    path::{Path, PathBuf},
};

use fissure_model::pointcut::Pointcut;

pub(crate) use error::TestError;
pub(crate) use options::TestArguments;
pub(crate) use repeat::command_of as repeat_command;

use crate::{
    agent, config::Config, doctor, error::Error, output::Stream, reporting::Reporting, run_folder,
    signals::Interruption, verdict::Code,
};
use hunting::Session;
use listing::Test;
use project::Module;
use selector::Selector;

/// Folders of a module that have its sources.
const SOURCES: [&str; 6] = [
    "src/main/java",
    "src/test/java",
    "src/main/kotlin",
    "src/test/kotlin",
    "src/main/scala",
    "src/test/scala",
];

/// Carries the command out. An error means that nothing was run.
pub(crate) fn run(options: &TestArguments) -> Result<Code, Error> {
    if let Some(named) = &options.repeat_failure {
        return repeat::run(options, named);
    }
    let mut reporting = Reporting::prepare_for_hunt(&options.reporting, true)?;
    agent::check_platform()?;
    let sets = Config::load(options.reporting.config.as_deref())?.atomic_sets;
    let found = || doctor::find_java(env::var_os("JAVA_HOME"), env::var_os("PATH"));
    let java = options.java.clone().or_else(found).ok_or(TestError::NoJava)?;
    let folder = run_folder::create()?;
    let _interruption = Interruption::install();
    let archive = launcher::archive(folder.path())?;
    let mut modules = project::modules(options)?;
    let selectors: Vec<Selector> = options.selectors.iter().map(|text| parsed(text)).collect();
    let mut tests = Vec::new();
    let mut problems = Vec::new();
    let mut has_framework = false;
    for (number, module) in modules.iter_mut().enumerate() {
        engines::complete(module)?;
        module.class_path.push(archive.to_string_lossy().into_owned());
        let listing = listing::list(module, &java, &options.jvm_options, &selectors, folder.path())?;
        has_framework |= !listing.frameworks.is_empty();
        problems.extend(listing.problems);
        tests.extend(listing.tests.into_iter().map(|test| Test { module: number, ..test }));
    }
    if !has_framework {
        return Err(TestError::NoFramework.into());
    }
    if tests.is_empty() {
        return Err(nothing(&modules, options.no_build, &problems).into());
    }
    let tests = select(tests, &options.selectors)?;
    reporting.add_sources(modules.iter().flat_map(|module| sources_of(&module.directory)));
    let mut scope = reporting.scope(&options.scheduling.scope);
    if scope.is_empty() && !modules.iter().any(has_folder) {
        scope = packages(&tests);
    }
    let session = Session {
        options,
        sets,
        modules: &modules,
        java: &java,
        scope: &scope,
        agent: agent::locate(folder.path())?,
        folder: folder.path(),
    };
    let mut report = session.hunt(&tests)?;
    report.notices.extend(results::problem_notices(&problems));
    report.repeats_by = repeat::command(options.reporting.json.as_deref());
    repeat::keep(&report);
    reporting.finish(report, Stream::Error)
}

fn parsed(text: &str) -> Selector {
    text.parse().unwrap_or_else(|never| match never {})
}

/// The tests that the user means, each once. Every selector must match some.
fn select(tests: Vec<Test>, texts: &[String]) -> Result<Vec<Test>, TestError> {
    let selectors: Vec<Selector> = texts.iter().map(|text| parsed(text)).collect();
    for (selector, text) in selectors.iter().zip(texts) {
        if !tests.iter().any(|test| selector.matches(test)) {
            let nearest = selector::nearest(text, &tests);
            return Err(TestError::NoMatch { selector: text.clone(), nearest });
        }
    }
    let is_meant =
        |test: &Test| selectors.is_empty() || selectors.iter().any(|selector| selector.matches(test));
    Ok(tests.into_iter().filter(is_meant).collect())
}

/// Why there are no tests.
fn nothing(modules: &[Module], no_build: bool, problems: &[String]) -> TestError {
    let roots: Vec<String> =
        modules.iter().flat_map(|module| &module.roots).map(|root| root.display().to_string()).collect();
    if let Some(problem) = problems.first() {
        return TestError::Listing(problem.clone());
    }
    let is_empty = modules
        .iter()
        .flat_map(|module| &module.roots)
        .all(|root| classes::below(root).is_ok_and(|classes| classes.names.is_empty()));
    match is_empty {
        true if roots.is_empty() => TestError::NoTestClasses(
            "the class path".to_owned(),
            "name a class with its package, as in `fissure test --classpath CP com.acme.AccountTest`",
        ),
        true if no_build => TestError::NoTestClasses(roots.join(", "), "leave --no-build out"),
        true => {
            TestError::NoTestClasses(roots.join(", "), "write some tests, or go to the folder that has them")
        }
        false => TestError::NoTests(roots.join(", ")),
    }
}

/// The folders with sources of the module in a folder.
pub(crate) fn sources_of(directory: &Path) -> Vec<PathBuf> {
    let folders = SOURCES.iter().map(|folder| directory.join(folder));
    folders.filter(|folder| folder.is_dir()).collect()
}

/// Whether the class path has a folder, whose classes are the application's.
fn has_folder(module: &Module) -> bool {
    module.class_path.iter().any(|entry| PathBuf::from(entry).is_dir())
}

/// The packages of the tests and those below: the scope if all classes come from archives.
fn packages(tests: &[Test]) -> Vec<Pointcut> {
    let mut packages: Vec<&str> =
        tests.iter().filter_map(|test| test.class.rsplit_once('.')).map(|(package, _)| package).collect();
    packages.sort_unstable();
    packages.dedup();
    let mut outer: Vec<&str> = Vec::new();
    for package in packages {
        if !outer.iter().any(|above| package.strip_prefix(above).is_some_and(|rest| rest.starts_with('.'))) {
            outer.push(package);
        }
    }
    outer.iter().filter_map(|package| format!("{package}..*").parse().ok()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn without_folders_the_packages_of_the_tests_are_in_scope() {
        let test = |class: &str| Test { class: class.to_owned(), ..Test::default() };
        let tests = ["a.b.ATest", "a.b.c.BTest", "a.bc.CTest", "DTest"].map(test);
        let scope: Vec<String> = packages(&tests).iter().map(ToString::to_string).collect();
        assert_eq!(scope, ["a.b..*", "a.bc..*"]);
    }

    #[test]
    fn every_selector_must_match() {
        let test = |class: &str| Test { class: class.to_owned(), ..Test::default() };
        let tests = ["a.ATest", "a.BTest"].map(test).to_vec();
        let select = |texts: &[&str]| {
            let texts: Vec<String> = texts.iter().map(|text| (*text).to_owned()).collect();
            select(tests.clone(), &texts).map(|tests| tests.len()).ok()
        };
        assert_eq!((select(&[]), select(&["ATest"]), select(&["a.*", "ATest"])), (Some(2), Some(1), Some(2)));
        assert_eq!(select(&["ATest", "CTest"]), None);
    }
}
