//! `fissure replay`: repeats one seed or one finding of a report, with the program's own output, and explains how it happens.

use std::{
    ffi::{OsStr, OsString},
    fs,
    os::unix::ffi::OsStrExt,
    path::{Path, PathBuf},
    time::Duration,
};

use clap::Args;
use fissure_hunt::{Ending, Outcome, reference};
use fissure_model::{
    coverage::Coverage,
    finding::{FailureKind, Finding, Kind, Status, fingerprint},
    goal::Goal,
    pointcut::Pointcut,
    record::{Cause, Run},
    recording::Recording,
    settings::Control,
};
use fissure_report::{Report, tested::TestReport};
use fissure_schedule::strategy::{REPLAY, registry};
use serde_json::Value;

use crate::{
    agent,
    config::Config,
    error::Error,
    hunt::{self, Iterated, Print, Program, ScheduleArguments, config_of},
    launch, locality,
    output::{self, Stream},
    reporting::{Reporting, ReportingArguments},
    run_folder,
    signals::{self, Interruption},
    test,
    verdict::Code,
};

#[derive(Debug, Args)]
#[command(override_usage = "fissure replay [OPTIONS] --seed S -- COMMAND [ARGS]...
       fissure replay [OPTIONS] FINDINGS.json[#ID] -- COMMAND [ARGS]...
       fissure replay [OPTIONS] TESTS.json[#ID]")]
#[command(after_help = "Examples:
  fissure replay findings.json#5d41402abc4b2a76 -- java -cp classes com.acme.Main
  fissure replay --seed 4 -- java -cp classes com.acme.Main

Exit codes: 0 it did not show again, 1 it did, 2 usage or tool error, or the run departed from its recording.")]
pub(crate) struct ReplayArguments {
    /// A report that `fissure hunt --json` wrote, and the id of a finding in it; without the id its most certain finding.
    #[arg(value_name = "FINDINGS.json[#ID]")]
    pub(crate) findings: Option<OsString>,

    /// The seed of the run; with a report, one of the finding's seeds.
    #[arg(long, value_name = "S")]
    pub(crate) seed: Option<u64>,

    /// The goal of the run, as reports give it beside the seed.
    #[arg(long, alias = "target", value_name = "GOAL", conflicts_with = "findings")]
    pub(crate) goal: Option<Goal>,

    /// The schedule to follow, as reports give it beside the seed if it was shortened: '0*12 1 0*3'.
    #[arg(long, value_name = "SCHEDULE", requires = "seed", conflicts_with = "findings")]
    pub(crate) schedule: Option<Recording>,

    /// The run was a patient one: time passes only if no thread can run before. Reports give it beside the seed.
    #[arg(long, conflicts_with = "findings")]
    pub(crate) patient: bool,

    /// Open a port for a debugger, and wait until one attaches (JDWP). COMMAND must be `java` itself. There is no time limit then.
    #[arg(long, value_name = "PORT")]
    pub(crate) debug: Option<u16>,

    #[command(flatten)]
    pub(crate) scheduling: ScheduleArguments,

    #[command(flatten)]
    pub(crate) reporting: ReportingArguments,

    /// The command that starts the program, with its arguments, the same as for the hunt. A report of `fissure test` has it.
    #[arg(last = true, value_name = "COMMAND")]
    pub(crate) command: Vec<OsString>,
}

/// The run to repeat.
#[derive(Debug)]
struct Subject {
    control: Control,
    /// The finding as the report has it; `None` if any finding is shown.
    finding: Option<Finding>,
    /// The command of the report; empty without a report.
    command: Vec<String>,
    /// The options, those of the report included.
    scheduling: ScheduleArguments,
    /// The file with the configuration, if it was named.
    config: Option<PathBuf>,
    /// The command to run.
    program: Vec<OsString>,
    /// Its working directory, if it is not Fissure's.
    directory: Option<PathBuf>,
}

/// Carries the command out. An error means that the command line was bad and nothing was run.
pub(crate) fn run(options: &ReplayArguments) -> Result<Code, Error> {
    let mut reporting = Reporting::prepare_for_hunt(&options.reporting, true)?;
    let mut subject = subject(options)?;
    let Some(program) = subject.program.first().filter(|program| !program.is_empty()) else {
        return Err(Error::NoCommand);
    };
    if let Some(port) = options.debug {
        if !launch::is_java(program) {
            return Err(Error::NoDebugger);
        }
        let option = format!("-agentlib:jdwp=transport=dt_socket,server=y,suspend=y,address={port}");
        subject.program.insert(1, option.into());
        output::remark(&format!("attach a debugger to port {port}; the program waits for it"));
    }
    reporting.add_sources(subject.directory.iter().flat_map(|directory| test::sources_of(directory)));
    let (report, code) = replay(options, &reporting.scope(&subject.scheduling.scope), &subject)
        .unwrap_or_else(|error| {
            (Report { problem: Some(error.to_string()), ..Report::default() }, Code::Error)
        });
    reporting.finish(report, Stream::Error)?;
    Ok(code)
}

fn subject(options: &ReplayArguments) -> Result<Subject, Error> {
    let sets = |config: Option<&Path>| Ok::<_, Error>(Config::load(config)?.atomic_sets);
    let config = options.reporting.config.as_deref();
    let Some(named) = &options.findings else {
        let strategy = options.scheduling.strategy()?;
        let seed = options.seed.ok_or(Error::NothingToReplay)?;
        let mut control =
            options.scheduling.run_settings(sets(config)?).control(strategy, seed, options.goal.clone());
        if let Some(schedule) = &options.schedule {
            control.strategy = REPLAY.strategy_name();
            control.schedule = Some(schedule.to_string());
        }
        control.is_patient = options.patient;
        let config = config.map(Path::to_owned);
        let scheduling = options.scheduling.clone();
        let program = options.command.clone();
        return Ok(Subject {
            control,
            finding: None,
            command: Vec::new(),
            scheduling,
            config,
            program,
            directory: None,
        });
    };
    let Recorded { finding, command, words, test } = read_finding(named)?;
    let config = config.map(Path::to_owned).or_else(|| config_of(&words));
    let scheduling = options.scheduling.with_defaults(&words);
    let scheduling = scheduling
        .map_err(|reason| Error::Findings { path: Path::new(named).display().to_string(), reason })?;
    let strategy = scheduling.strategy()?;
    let index = match options.seed {
        None => 0,
        Some(seed) => finding.seeds.iter().position(|known| *known == seed).ok_or_else(|| {
            let known: Vec<String> = finding.seeds.iter().take(5).map(u64::to_string).collect();
            Error::NoSuchSeed { seed, id: finding.id.clone(), known: known.join(", ") }
        })?,
    };
    // A finding of the default strategy may have been replayed with another one.
    let named = registry::offered().find(|kind| kind.name == finding.analysis);
    let strategy = named.filter(|kind| *kind != registry::default()).unwrap_or(strategy);
    let goal = finding.goals.get(index).cloned().flatten();
    let mut control =
        scheduling.run_settings(sets(config.as_deref())?).control(strategy, finding.seeds[index], goal);
    if let Some(schedule) = finding.schedules.get(index).filter(|schedule| !schedule.is_empty()) {
        control.strategy = REPLAY.strategy_name();
        control.schedule = Some(schedule.clone());
    } else {
        control.is_patient = finding.patient_seeds.contains(&control.seed);
    }
    let (program, directory) = match test.filter(|_| options.command.is_empty()) {
        Some(test) => (test.command.into_iter().map(OsString::from).collect(), Some(test.directory.into())),
        None => (options.command.clone(), None),
    };
    Ok(Subject { control, finding: Some(finding), command, scheduling, config, program, directory })
}

/// A finding of a report.
#[derive(Debug)]
struct Recorded {
    finding: Finding,
    /// The command of its hunt.
    command: Vec<String>,
    /// The options of its hunt.
    words: Vec<String>,
    /// The test that shows it, if it is a test.
    test: Option<TestReport>,
}

/// Reads `FILE` or `FILE#ID`; the name of a file may contain `#`.
fn read_finding(named: &OsStr) -> Result<Recorded, Error> {
    let (path, id) = match named.as_bytes().iter().rposition(|byte| *byte == b'#') {
        Some(index) if !Path::new(named).exists() => {
            let (path, id) = named.as_bytes().split_at(index);
            (OsStr::from_bytes(path), Some(String::from_utf8_lossy(&id[1..]).into_owned()))
        }
        _ => (named, None),
    };
    let shown = Path::new(path).display().to_string();
    let unreadable = |reason: String| Error::Findings { path: shown.clone(), reason };
    let text = fs::read_to_string(path).map_err(|error| unreadable(error.to_string()))?;
    let mut document: Value = serde_json::from_str(&text).map_err(|error| unreadable(error.to_string()))?;
    // Reports of `detect` have neither options nor seeds; `choose` explains that there is nothing to replay.
    let mut list = |key| {
        let listed = document.get_mut(key).map(Value::take);
        let listed = listed.map_or(Ok(Vec::new()), serde_json::from_value::<Vec<String>>);
        listed.map_err(|error| unreadable(format!("{key}: {error}")))
    };
    let (command, words) = (list("command")?, list("options")?);
    let tests = document.get_mut("tests").map(Value::take);
    let tests = tests.map_or(Ok(Vec::new()), serde_json::from_value::<Vec<TestReport>>);
    let tests = tests.map_err(|error| unreadable(format!("tests: {error}")))?;
    let listed = document.get_mut("findings").map(Value::take);
    let listed = listed.ok_or_else(|| unreadable("it is no report that --json wrote".to_owned()))?;
    let findings: Vec<Finding> =
        serde_json::from_value(listed).map_err(|error| unreadable(error.to_string()))?;
    let finding = choose(findings, id.as_deref()).map_err(|known| Error::NoSuchFinding {
        path: shown,
        id: id.unwrap_or_default(),
        known,
    })?;
    let test = tests.into_iter().find(|test| test.findings.contains(&finding.id));
    Ok(Recorded { finding, command, words, test })
}

/// The finding with that id, or the most certain one, among those with a seed; otherwise the error lists the ids.
fn choose(findings: Vec<Finding>, id: Option<&str>) -> Result<Finding, String> {
    let mut known: Vec<Finding> = findings.into_iter().filter(|finding| !finding.seeds.is_empty()).collect();
    let index = match id {
        Some(id) => known.iter().position(|finding| finding.id == id),
        // `max_by_key` takes the last of equals; in reverse order that is the first as reports list them.
        None => (0..known.len()).rev().max_by_key(|index| known[*index].status),
    };
    match index {
        Some(index) => Ok(known.swap_remove(index)),
        None if known.is_empty() => Err("none that `fissure hunt` made happen".to_owned()),
        None => {
            let ids: Vec<String> = known.into_iter().map(|finding| finding.id).collect();
            Err(ids.join(", "))
        }
    }
}

fn replay(options: &ReplayArguments, scope: &[Pointcut], subject: &Subject) -> Result<(Report, Code), Error> {
    agent::check_platform()?;
    let folder = run_folder::create()?;
    let program = Program {
        command: &subject.program,
        directory: subject.directory.as_deref(),
        scope,
        atomic: &subject.scheduling.atomic,
        time_limit: if options.debug.is_some() { Duration::MAX } else { subject.scheduling.time_limit() },
        agent: agent::locate(folder.path())?,
        locality: match subject.scheduling.is_static {
            true => Some(locality::prepare(&subject.program, folder.path())?),
            false => None,
        },
        folder: folder.path(),
        iterated: Iterated::default(),
        is_debugged: options.debug.is_some(),
    };
    let outcome = {
        let _interruption = Interruption::install();
        program.run(subject.control.clone(), Print::Show)?.outcome
    };
    let findings = shown_again(&outcome, subject.finding.as_ref());
    let has_shown = !findings.is_empty();
    let is_broken = outcome.internal_errors().next().is_some();
    let problem = if has_shown && !is_broken { None } else { problem(&program, &outcome, options) };
    let problem = problem.or_else(|| unlike_the_recording(&outcome, subject, has_shown));
    let code = match (&problem, has_shown) {
        (Some(_), _) => Code::Error,
        (None, true) => Code::Findings,
        (None, false) => Code::Clean,
    };
    let strategy = subject.scheduling.strategy()?;
    let report = Report {
        command: hunt::words(&subject.program),
        options: subject.scheduling.words(&[strategy], subject.config.as_deref()),
        runs: 1,
        exits: outcome.own_exit().map(|exit| (exit, 1)).into_iter().collect(),
        jvms: outcome.processes.iter().filter_map(|process| process.hello.clone()).collect(),
        coverage: coverage(&outcome),
        problem,
        internal_errors: outcome.internal_errors().cloned().collect(),
        notices: notices(&outcome, subject, has_shown),
        repeats_by: match &subject.directory {
            Some(_) => test::repeat_command(options.findings.as_deref()),
            None => String::new(),
        },
        findings,
        ..Report::default()
    };
    Ok((report, code))
}

/// The sum of what was instrumented and analysed.
fn coverage(outcome: &Outcome) -> Coverage {
    let mut sum = Coverage::default();
    let watched = outcome.processes.iter().filter(|process| process.is_watched());
    watched.filter_map(|process| process.coverage.as_ref()).for_each(|coverage| sum.add(coverage));
    sum
}

/// The findings that the run made happen, if they are wanted. A bug of the report is a bug again only if its failure follows again.
pub(crate) fn shown_again(outcome: &Outcome, wanted: Option<&Finding>) -> Vec<Finding> {
    let mut shown: Vec<Finding> = Vec::new();
    for found in outcome.findings().cloned().chain(failures(outcome)) {
        let is_wanted = wanted.is_none_or(|wanted| wanted.id == found.id);
        if found.status == Status::Warning || !is_wanted || shown.iter().any(|known| known.id == found.id) {
            continue;
        }
        let mut finding = found;
        if let Some(wanted) = wanted {
            finding.analysis.clone_from(&wanted.analysis);
            finding.reason.clone_from(&wanted.reason);
            if finding.kind == Kind::Failure || fails_again(outcome, wanted) {
                finding.status = Status::Bug;
                finding.consequence.clone_from(&wanted.consequence);
            }
        }
        finding.seeds = vec![outcome.seed];
        let was_patient = wanted.is_some_and(|wanted| wanted.patient_seeds.contains(&outcome.seed));
        finding.patient_seeds.extend((outcome.is_patient || was_patient).then_some(outcome.seed));
        finding.schedules = outcome.accounts().map(|run| run.schedule.to_string()).take(1).collect();
        finding.goals = outcome.goal.clone().map(Some).into_iter().collect();
        shown.push(finding);
    }
    shown
}

/// The run's failures as findings. Without the hunt's reference runs it is not known whether they depend on the schedule.
fn failures(outcome: &Outcome) -> impl Iterator<Item = Finding> {
    let failures = outcome.accounts().flat_map(|run| &run.failures);
    let exit = outcome.own_exit().map(|exit| exit.code()).filter(|code| *code != 0);
    let has_no_exception = outcome.accounts().all(|run| run.failures.is_empty());
    let exit = exit.filter(|_| has_no_exception).map(|code| reference::finding_of_exit(outcome, code));
    failures.filter_map(reference::finding_of).chain(exit).map(|finding| Finding {
        status: Status::Confirmed,
        reason: Some("failed in this run".to_owned()),
        ..finding
    })
}

/// Whether the failure of the report's finding follows again.
fn fails_again(outcome: &Outcome, wanted: &Finding) -> bool {
    let Some(consequence) = &wanted.consequence else { return false };
    let mut failures = outcome.accounts().flat_map(|run| &run.failures);
    match &consequence.kind {
        FailureKind::Exit => outcome.own_exit().is_some_and(|exit| exit.code() != 0),
        FailureKind::Deadlock | FailureKind::Hang => {
            outcome.own_exit().is_none() && outcome.ending != Ending::TimeLimit
        }
        kind @ FailureKind::Exception(_) => {
            failures.any(|failure| failure.kind() == *kind && failure.after.contains(&wanted.id))
        }
    }
}

fn problem(program: &Program<'_>, outcome: &Outcome, options: &ReplayArguments) -> Option<String> {
    if outcome.ending == Ending::Interrupted {
        return Some("interrupted before the program ended".to_owned());
    }
    if outcome.ending == Ending::TimeLimit {
        return Some(format!(
            "the run was killed at the time limit of {} s: raise --time-limit",
            options.scheduling.time_limit
        ));
    }
    hunt::blindness(program, std::slice::from_ref(outcome)).map(|blindness| blindness.to_string())
}

/// Why this is not the run that was recorded, if it is another.
fn unlike_the_recording(outcome: &Outcome, subject: &Subject, has_shown: bool) -> Option<String> {
    let schedule = subject.control.schedule.as_ref()?;
    if let Some(departure) = departures(outcome, schedule).next() {
        return Some(format!(
            "the run departed from its recording: {departure}. Repeat the hunt's own command, and hunt again if the program has changed"
        ));
    }
    let is_other_command = !subject.command.is_empty() && subject.command != hunt::words(&subject.program);
    (is_other_command && !has_shown)
        .then(|| format!("the report is about another command: {}", subject.command.join(" ")))
}

fn notices(outcome: &Outcome, subject: &Subject, has_shown: bool) -> Vec<String> {
    let mut notices: Vec<String> =
        outcome.processes.iter().flat_map(|process| process.notices.clone()).collect();
    let seed = outcome.seed;
    let is_recorded = subject.control.schedule.is_some();
    let how = if is_recorded { "the recorded schedule" } else { "the same choices" };
    notices.push(match (&subject.finding, has_shown) {
        (Some(finding), true) => format!("finding {} shows again with {how} of seed {seed}", finding.id),
        (Some(finding), false) => format!("finding {} does not show with {how} of seed {seed}", finding.id),
        (None, true) => format!("seed {seed} makes this happen"),
        (None, false) => format!(
            "seed {seed} makes nothing happen: repeat the hunt's own options and command, --goal included"
        ),
    });
    for run in outcome.accounts() {
        notices.push(format!(
            "the schedule: {}, {}, digest {}",
            hunt::count(run.choices, "choice", "choices"),
            hunt::count(run.steps, "step", "steps"),
            fingerprint(&[&run.schedule.to_string()])
        ));
        for failure in &run.failures {
            let thread = &failure.thread;
            notices.push(match &failure.cause {
                Cause::Exit { code } => {
                    format!("thread \"{thread}\" ended the program with exit code {code}")
                }
                Cause::Exception { class, message } if message.is_empty() => {
                    format!("thread \"{thread}\" was ended by {class}")
                }
                Cause::Exception { class, message } => {
                    format!("thread \"{thread}\" was ended by {class}: {message}")
                }
            });
        }
        for reason in &run.uncontrolled {
            notices.push(format!("another replay may differ, because {reason}"));
        }
    }
    if outcome.own_exit().is_none() && outcome.ending != Ending::TimeLimit && !signals::interrupted() {
        notices.push(
            "Fissure ended the run, because no thread could continue or the run took too many steps"
                .to_owned(),
        );
    }
    notices
}

/// Where a run departed from the recorded schedule. The recording of several JVMs is that of one, so it is enough if one of them followed
/// it to its end.
fn departures<'a>(outcome: &'a Outcome, schedule: &str) -> impl Iterator<Item = &'a String> {
    let is_followed = outcome.accounts().any(|run| run.schedule.to_string() == schedule);
    outcome.accounts().filter(move |_| !is_followed).filter_map(|run: &Run| run.departure.as_ref())
}

#[cfg(test)]
mod tests {
    use fissure_model::goal::AcquireGoal;

    use super::*;

    fn finding(id: &str, status: Status, seeds: &[u64]) -> Finding {
        let finding = Finding::new(Kind::AtomicityViolation, status, "atomfuzzer", "Main.run");
        Finding { id: id.to_owned(), seeds: seeds.to_vec(), ..finding }
    }

    fn check(id: Option<&str>, expected: Result<&str, &str>) {
        let findings = vec![
            finding("warned", Status::Warning, &[]),
            finding("a", Status::Confirmed, &[1]),
            finding("b", Status::Bug, &[2]),
            finding("c", Status::Bug, &[3]),
        ];
        let chosen = choose(findings, id).map(|finding| finding.id);
        assert_eq!(chosen.as_deref().map_err(String::as_str), expected, "{id:?}");
    }

    #[test]
    fn a_finding_is_chosen_by_its_id_or_for_its_status() {
        check(None, Ok("b"));
        check(Some("a"), Ok("a"));
        check(Some("c"), Ok("c"));
        check(Some("warned"), Err("a, b, c"));
        check(Some("x"), Err("a, b, c"));
        assert!(choose(Vec::new(), None).is_err());
    }

    #[test]
    fn a_report_of_the_version_before_is_read_with_its_goals() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("report.json");
        let mut former = serde_json::to_value(finding("a", Status::Confirmed, &[1, 2])).unwrap();
        former["targets"] = serde_json::json!([null, {"again": "A.m:1", "between": "A.n:2"}]);
        fs::write(&file, serde_json::json!({"schema": 1, "findings": [former]}).to_string()).unwrap();
        let finding = read_finding(file.as_os_str()).unwrap().finding;
        let goal = AcquireGoal::new("A.m:1".to_owned(), "A.n:2".to_owned());
        assert_eq!(finding.goals, [None, Some(goal.into())]);
    }

    #[test]
    fn a_report_is_named_with_or_without_a_finding() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("odd#name.json");
        let report = serde_json::json!({"schema": 1, "findings": [finding("a", Status::Confirmed, &[1])]});
        fs::write(&file, report.to_string()).unwrap();
        assert_eq!(read_finding(file.as_os_str()).unwrap().finding.id, "a");
        let mut with_id = file.clone().into_os_string();
        with_id.push("#a");
        assert_eq!(read_finding(&with_id).unwrap().finding.id, "a");
        with_id.push("b");
        assert!(matches!(read_finding(&with_id), Err(Error::NoSuchFinding { .. })));
        fs::write(&file, "{}").unwrap();
        assert!(matches!(read_finding(file.as_os_str()), Err(Error::Findings { .. })));
        assert!(matches!(read_finding(OsStr::new("/nowhere.json#a")), Err(Error::Findings { .. })));
    }
}
