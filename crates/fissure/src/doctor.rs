//! `fissure doctor`: checks step by step that Fissure works here, the last step being a planted race that it must find.

use std::{
    env,
    ffi::OsString,
    fs,
    io::{self, Write},
    path::{Path, PathBuf},
    process::{Command, Stdio},
};

use fissure_model::settings::{Analysis, Order, Watch};
use fissure_report::Report;

use crate::{
    agent,
    detect::Analyses,
    error::Error,
    observed_run::{self, Observation, Task},
    run_folder,
    verdict::Code,
};

/// The program with the planted race, compiled from the source beside it.
const PROGRAM: &[u8] = include_bytes!("../doctor/FissureDoctor.class");

/// The field with the planted race.
const SUBJECT: &str = "FissureDoctor.value";

/// The result of one check: what is right, or what is wrong with the next step.
type Outcome = Result<String, String>;

/// Carries the command out: a line for each check, until one fails.
pub(crate) fn run() -> Result<Code, Error> {
    let mut out = io::stdout().lock();
    let fine = check_all(&mut out).map_err(Error::Output)?;
    let last = if fine {
        "Fissure works here: try `fissure detect -- java …` on a program of yours."
    } else {
        "Fissure does not work here yet: follow the line that says FAIL."
    };
    writeln!(out, "{last}").map_err(Error::Output)?;
    Ok(if fine { Code::Clean } else { Code::Error })
}

fn check_all(out: &mut impl Write) -> io::Result<bool> {
    if !write_check(out, "platform", &platform())? {
        return Ok(false);
    }
    let folder = match run_folder::create() {
        Ok(folder) => folder,
        Err(error) => return write_check(out, "folder", &Err(error.to_string())),
    };
    let agent = agent::locate(folder.path()).map(|path| path.display().to_string());
    let agent_found = write_check(out, "agent", &agent.map_err(|error| error.to_string()))?;
    let java = find_java(env::var_os("JAVA_HOME"), env::var_os("PATH"));
    let java_works = write_check(out, "java", &version(java.as_deref()))?;
    let (Some(java), true, true) = (java, agent_found, java_works) else {
        return Ok(false);
    };
    if let Err(error) = fs::write(folder.path().join("FissureDoctor.class"), PROGRAM) {
        return write_check(out, "planted race", &Err(Error::Folder(error).to_string()));
    }
    // The correct twin means something only if the race was found.
    Ok(write_check(out, "planted race", &judge_racy(&watch_program(&java, folder.path(), "racy")))?
        && write_check(out, "correct twin", &judge_locked(&watch_program(&java, folder.path(), "locked")))?)
}

/// Writes the line of one check, and gives whether it succeeded.
fn write_check(out: &mut impl Write, what: &str, outcome: &Outcome) -> io::Result<bool> {
    let (word, text) = match outcome {
        Ok(text) => ("ok", text),
        Err(text) => ("FAIL", text),
    };
    writeln!(out, "{word:<4}  {what}: {text}")?;
    // The JVM may write to standard error at any time; the flush keeps the lines in order.
    out.flush()?;
    Ok(outcome.is_ok())
}

fn platform() -> Outcome {
    match agent::check_platform() {
        Ok(()) => Ok(format!("Linux with glibc on {}", env::consts::ARCH)),
        Err(error) => Err(error.to_string()),
    }
}

/// The user's `java`: the one of JAVA_HOME, or the first on PATH.
pub(crate) fn find_java(home: Option<OsString>, path: Option<OsString>) -> Option<PathBuf> {
    let home = home.filter(|home| !home.is_empty()).map(|home| PathBuf::from(home).join("bin"));
    let path: Vec<PathBuf> = path.map(|path| env::split_paths(&path).collect()).unwrap_or_default();
    home.into_iter().chain(path).map(|folder| folder.join("java")).find(|java| java.is_file())
}

fn version(java: Option<&Path>) -> Outcome {
    let Some(java) = java else {
        return Err(
            "there is no java in JAVA_HOME or on PATH; install a JDK or JRE from version 11 on".to_owned()
        );
    };
    let name = java.display();
    let output = Command::new(java)
        .arg("-version")
        .stdin(Stdio::null())
        .output()
        .map_err(|error| format!("{name} cannot be started ({error}); check JAVA_HOME and PATH"))?;
    let text = String::from_utf8_lossy(&output.stderr);
    match text.lines().find(|line| line.contains(" version ")) {
        Some(line) if output.status.success() => Ok(format!("{name} ({line})")),
        _ => Err(format!("`{name} -version` does not answer as a JVM should; check JAVA_HOME and PATH")),
    }
}

fn watch_program(java: &Path, classes: &Path, mode: &str) -> Report {
    let command: [OsString; 5] =
        [java.into(), "-cp".into(), classes.into(), "FissureDoctor".into(), mode.into()];
    let analyses = Analyses {
        lock_sets: Analysis::Racer,
        races: true,
        atomizer: None,
        watch: Watch::All,
        order: Order::StartJoin,
    };
    observed_run::run(&Task {
        command: &command,
        scope: &[],
        observation: Observation::Analyses { analyses, checks_static: false },
        is_static: false,
        time_limit: None,
    })
    .report
}

fn judge_racy(report: &Report) -> Outcome {
    check_valid(report)?;
    if report.findings.iter().any(|finding| finding.subject == SUBJECT && !finding.ordered) {
        return Ok(format!("{SUBJECT} was found"));
    }
    Err(format!(
        "two threads wrote {SUBJECT} without a lock, and it was not found; another agent or an unusual option in \
         JAVA_TOOL_OPTIONS or JDK_JAVA_OPTIONS may be in the way, so try without"
    ))
}

fn judge_locked(report: &Report) -> Outcome {
    check_valid(report)?;
    match report.findings.iter().find(|finding| !finding.ordered) {
        None => Ok("nothing was found, as it should be".to_owned()),
        Some(finding) => Err(format!(
            "{} was reported although every access holds the lock; the agent and the executable may be of different \
             versions, so build or install both again",
            finding.subject
        )),
    }
}

/// An error if the run has no valid result.
fn check_valid(report: &Report) -> Result<(), String> {
    if let Some(problem) = &report.problem {
        return Err(problem.clone());
    }
    match report.exits.keys().find(|exit| exit.code() != 0) {
        Some(exit) => Err(format!("the small program {exit}; see what the JVM says above")),
        None => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use fissure_report::Exit;

    use super::*;
    use crate::collect::tests::finding;

    fn report(subject: Option<(&str, bool)>, exit: Exit, problem: Option<&str>) -> Report {
        let findings = subject
            .map(|(subject, ordered)| fissure_model::finding::Finding {
                subject: subject.to_owned(),
                ..finding("a", 1, ordered)
            })
            .into_iter()
            .collect();
        let problem = problem.map(str::to_owned);
        Report { runs: 1, exits: [(exit, 1)].into(), findings, problem, ..Report::default() }
    }

    fn check(report: Report, racy: bool, locked: bool) {
        assert_eq!(judge_racy(&report).is_ok(), racy, "racy {report:?}");
        assert_eq!(judge_locked(&report).is_ok(), locked, "locked {report:?}");
    }

    #[test]
    fn the_planted_race_is_found_and_its_correct_twin_is_not() {
        check(report(Some((SUBJECT, false)), Exit::Code(0), None), true, false);
        check(report(Some((SUBJECT, true)), Exit::Code(0), None), false, true);
        check(report(Some(("Other.field", false)), Exit::Code(0), None), false, false);
        check(report(None, Exit::Code(0), None), false, true);
        check(report(None, Exit::Code(0), Some("no JVM")), false, false);
        check(report(Some((SUBJECT, false)), Exit::Code(1), None), false, false);
        check(report(None, Exit::Signal(11), None), false, false);
    }

    #[test]
    fn java_home_comes_first() {
        let folder = tempfile::tempdir().unwrap();
        let [home, first, second] = ["home", "first", "second"].map(|name| folder.path().join(name));
        for bin in [home.join("bin"), first.clone(), second.clone()] {
            fs::create_dir_all(&bin).unwrap();
        }
        let path = env::join_paths([&first, &second]).unwrap();
        let found = |home: Option<&Path>| find_java(home.map(Into::into), Some(path.clone()));
        assert_eq!(found(None), None);
        fs::write(second.join("java"), "").unwrap();
        assert_eq!(found(Some(&home)), Some(second.join("java")));
        fs::write(home.join("bin").join("java"), "").unwrap();
        assert_eq!(found(Some(&home)), Some(home.join("bin").join("java")));
        assert_eq!(found(Some(Path::new(""))), Some(second.join("java")));
    }
}
