//! Classes for `fissure object`. Any finding that the header does not name is a false alarm.

use std::sync::Arc;

use fissure_testing::{Folder, Trial};

use crate::{
    common::object::{Object, SHORT_SEARCH},
    suite::{Case, Subject, Suite},
};

/// The tests of all classes: one for each method that is not atomic, one for all that are, and one for those that cannot be tested.
pub(crate) fn trials(suite: &Arc<Suite>) -> Vec<Trial> {
    let folder = Folder::Object;
    let mut trials = Vec::new();
    for java in suite.javas() {
        for (number, program) in suite.programs(folder).iter().enumerate() {
            let header = &program.header;
            let subject =
                |mode| Subject { folder, number, java, mode: Some(mode), needs_all_processors: true };
            for method in &header.non_atomic {
                let name = method.clone();
                trials.push(suite.trial(&subject(method), move |case| check_non_atomic(case, &name)));
            }
            if !header.atomic.is_empty() {
                trials.push(suite.trial(&subject("atomic"), check_atomic));
            }
            if !header.not_tested.is_empty() {
                trials.push(suite.trial(&subject("not-tested"), check_not_tested));
            }
        }
    }
    trials
}

fn words(words: &[String]) -> Vec<&str> {
    words.iter().map(String::as_str).collect()
}

fn check_non_atomic(case: &Case<'_>, method: &str) -> Result<(), String> {
    let object = Object { java: case.java, classes: case.classes };
    object
        .check_non_atomic(&case.program.class, &words(&case.program.header.options), method)
        .map_err(again(case))
}

fn check_atomic(case: &Case<'_>) -> Result<(), String> {
    let (object, header) = (Object { java: case.java, classes: case.classes }, &case.program.header);
    let (mut options, methods) = (words(&header.options), words(&header.atomic));
    // A method that is not atomic would be found, too.
    for method in header.non_atomic.iter().filter(|method| *method != "core") {
        options.extend(["--exclude", method]);
    }
    object.check_atomic(&case.program.class, &options, &methods).map_err(again(case))
}

/// Methods that cannot be tested are listed with a reason.
fn check_not_tested(case: &Case<'_>) -> Result<(), String> {
    let object = Object { java: case.java, classes: case.classes };
    let options = words(&case.program.header.options);
    let arguments = [&[case.program.class.as_str(), "--budget", SHORT_SEARCH], options.as_slice()].concat();
    let searched = object.search(&arguments);
    let check = || {
        searched.check_code(0)?;
        let left_out = searched.report["object"]["left_out"].as_array().ok_or("nothing is left out")?;
        let names = left_out.iter().filter_map(|left| left["method"].as_str()?.split('(').next());
        let (mut found, mut expected) = (names.collect::<Vec<_>>(), words(&case.program.header.not_tested));
        found.sort_unstable();
        expected.sort_unstable();
        if found != expected {
            return Err(format!("expected that {expected:?} are left out, found {found:?}"));
        }
        match searched.text.contains("noise") {
            true => Err("the output speaks of noise".to_owned()),
            false => Ok(()),
        }
    };
    check().map_err(|problem| searched.describe(&problem)).map_err(again(case))
}

/// Adds the program, its header, and how to repeat the test.
fn again<'a>(case: &'a Case<'_>) -> impl Fn(String) -> String + 'a {
    |problem| {
        let (path, expected) = (case.program.path.display(), case.program.lines.join("\n    | "));
        let name = case.name;
        format!(
            "{path}\n  expected, by its header:\n    | {expected}\n{problem}\n  again:\n    $ cargo test -p fissure --test programs -- --exact '{name}'\n"
        )
    }
}
