//! Programs for `fissure detect`. Any finding that the header does not name and that is not ordered is a false alarm. Programs in `race`,
//! `atomicity` and `sharing` print `done`; those in `behaviour` run without Fissure first and must behave the same under it.
//!
//! Each program runs several times, with different analyses. One run checks the claims of the static analysis against the accesses of the
//! threads, another has `--static`, which must not change the findings.

use std::{
    ffi::OsString,
    sync::{Arc, OnceLock},
    time::Duration,
};

use fissure_testing::{Analysis, Claim, Ended, Folder, Header, Rule, Trial, isolated, run_to_end};

use crate::{
    common::schema_problems,
    detect_report::{check_report, check_static, check_verdict, program_exit},
    suite::{Case, Finished, Launch, QUICK_START, Subject, Suite},
};

/// No program takes a tenth of this, even on a busy machine; one that takes this long hangs.
const PATIENCE: Duration = Duration::from_secs(300);

/// How a program is run.
#[derive(Debug, Clone)]
enum Mode {
    /// With these analyses, and an option of the static analysis.
    Static(&'static str, &'static str),
    /// With these analyses only.
    Plain(&'static str),
    /// By Atomizer without a rule: the finding that the rule suppresses must be reported.
    Without(Rule),
}

impl Mode {
    fn name(&self) -> String {
        match self {
            Mode::Static(_, option) => option.trim_start_matches('-').to_owned(),
            Mode::Plain(analyses) => (*analyses).to_owned(),
            Mode::Without(rule) => format!("without-{}", rule.name),
        }
    }
}

/// The tests of all programs of a folder.
pub(crate) fn trials(suite: &Arc<Suite>, folder: Folder) -> Vec<Trial> {
    let mut trials = Vec::new();
    for java in suite.javas() {
        for (number, program) in suite.programs(folder).iter().enumerate() {
            // The run without Fissure, with which several tests compare.
            let plain = Arc::new(OnceLock::new());
            for mode in modes(folder, &program.header) {
                let name = mode.name();
                let subject =
                    Subject { folder, number, java, mode: Some(&name), needs_all_processors: false };
                let plain = Arc::clone(&plain);
                trials.push(suite.trial(&subject, move |case| check(case, &mode, &plain)));
            }
        }
    }
    trials
}

fn modes(folder: Folder, header: &Header) -> Vec<Mode> {
    // A run that checks the claims of the static analysis watches everything as well.
    let (first, second) = match folder {
        Folder::Atomicity => ("racer,atomizer", Some("atomizer")),
        // Only runs with the static analysis matter.
        Folder::Sharing => ("racer", None),
        _ => ("racer,atomizer", Some("eraser")),
    };
    let mut modes = vec![Mode::Static(first, "--check-static"), Mode::Static(first, "--static")];
    modes.extend(second.map(Mode::Plain));
    modes.extend(header.rules.iter().cloned().map(Mode::Without));
    modes
}

fn check(case: &Case<'_>, mode: &Mode, plain: &OnceLock<Ended>) -> Result<(), String> {
    match mode {
        Mode::Static(analyses, option) => check_run(case, analyses, Some(option), plain),
        Mode::Plain(analyses) => check_run(case, analyses, None, plain),
        Mode::Without(rule) => check_rule(case, rule),
    }
}

/// Runs a program with some analyses, and compares everything with its header.
fn check_run(
    case: &Case<'_>,
    analyses: &str,
    option: Option<&str>,
    plain: &OnceLock<Ended>,
) -> Result<(), String> {
    let header = &case.program.header;
    let is_compared = case.program.folder == Folder::Behaviour;
    let plain = is_compared.then(|| plain.get_or_init(|| run_plain(case)));
    // Atomizer looks for other orders of events, so it does not run where the order is fixed.
    let is_ordered = header.options.iter().any(|option| option == "happens-before");
    let analyses = if is_ordered { analyses.trim_end_matches(",atomizer") } else { analyses };
    // All other runs have the JVM's defaults.
    let is_quick = option.is_some() && header.java_options.is_empty();
    let mut options = vec!["detect", "--analysis", analyses];
    options.extend(option);
    let finished = launch(case, &options, if is_quick { &QUICK_START } else { &[] }, &header.stdin);
    let mut problems = check_streams(&finished.ended, plain, header);
    match &finished.report {
        Ok(report) => {
            problems.extend(check_report(report, header, analyses));
            problems.extend(check_verdict(report, finished.ended.code, is_compared, program_exit(header)));
            problems.extend(option.into_iter().flat_map(|_| check_static(report, header)));
            problems.extend(schema_problems(report));
        }
        Err(error) => problems.push(format!("no JSON report was written: {error}")),
    }
    case.result(&problems, &finished)
}

fn check_rule(case: &Case<'_>, rule: &Rule) -> Result<(), String> {
    let options = ["detect", "--analysis", "atomizer", "--atomizer-without", &rule.name];
    let finished = launch(case, &options, &[], "");
    let wanted = Claim::new("atomicity-violation", &rule.subject).by(Analysis::Atomizer);
    let mut findings = finished.report.iter().filter_map(|report| report["findings"].as_array()).flatten();
    let problem = match findings.any(|finding| wanted.covers(finding)) {
        true => None,
        false => Some(format!("{} is not found without the rule {}", rule.subject, rule.name)),
    };
    case.result(problem.as_slice(), &finished)
}

fn launch(case: &Case<'_>, options: &[&str], java_options: &[&str], stdin: &str) -> Finished {
    let mut words: Vec<OsString> = options.iter().map(OsString::from).collect();
    words.extend(case.program.header.options.iter().map(OsString::from));
    Launch { options: words, java: case.java_command(java_options), stdin, limit: PATIENCE }.run()
}

/// The program without Fissure.
fn run_plain(case: &Case<'_>) -> Ended {
    let words = case.java_command(&[]);
    run_to_end(isolated(&words[0]).args(&words[1..]), &case.program.header.stdin, PATIENCE)
}

/// Compares the program's output under Fissure with its output without Fissure, or with `done`.
fn check_streams(ended: &Ended, plain: Option<&Ended>, header: &Header) -> Vec<String> {
    let mut problems = Vec::new();
    let expected_stdout = plain.map_or(b"done\n".as_slice(), |plain| &plain.stdout);
    if ended.code.is_none() {
        problems.push(format!("it did not end within {} s", PATIENCE.as_secs()));
    }
    if ended.stdout != expected_stdout {
        problems.push(format!("stdout differs: {}", first_difference(expected_stdout, &ended.stdout)));
    }
    if let Some(plain) = plain {
        if plain.code != Some(program_exit(header)) {
            problems.push(format!("without Fissure the program ended with {:?}", plain.code));
        }
        if !ended.stderr.starts_with(&plain.stderr) {
            let shared = &ended.stderr[..plain.stderr.len().min(ended.stderr.len())];
            problems.push(format!("stderr differs: {}", first_difference(&plain.stderr, shared)));
        }
    }
    problems
}

/// The first line in which two texts differ.
fn first_difference(expected: &[u8], actual: &[u8]) -> String {
    let (expected, actual) = (String::from_utf8_lossy(expected), String::from_utf8_lossy(actual));
    let (mut left, mut right) = (expected.lines(), actual.lines());
    loop {
        match (left.next(), right.next()) {
            (None, None) => return "only in their line breaks".to_owned(),
            (one, other) if one == other => {}
            (one, other) => {
                let show = |line: Option<&str>| line.map_or("its end".to_owned(), |line| format!("'{line}'"));
                return format!("expected {}, got {}", show(one), show(other));
            }
        }
    }
}
