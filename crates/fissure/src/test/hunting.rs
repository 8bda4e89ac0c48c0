//! Hunts in each test that uses several threads, with a share of the time.

use std::{
    ffi::OsString,
    path::{Path, PathBuf},
    time::{Duration, Instant},
};

use fissure_hunt::{Aims, HuntSettings, RunSettings, Shard};
use fissure_model::{
    finding::{Finding, Kind, Status, fingerprint},
    iteration::Isolation,
    pointcut::Pointcut,
    settings::{Control, SetRules},
};
use fissure_report::{
    Report,
    tested::{TestReport, TestVerdict},
};
use fissure_schedule::strategy::registry::StrategyKind;

use super::{
    TestArguments, TestError,
    examination::{self, Examined},
    launcher::{self, encoded},
    listing::Test,
    project::Module,
    results,
};
use crate::{
    error::Error,
    hunt::{self, Clock, Course, Hunted, Iterated, Manner, Program, Summary, WarmJvms},
    progress::Progress,
    signals,
};

/// The time of all hunts for which neither a time nor a number of runs is given, and the least for each test.
const BUDGET: Duration = Duration::from_secs(20);
const LEAST: Duration = Duration::from_secs(2);

/// How many profiling runs predict goals for strategies that need them.
const PROFILING_RUNS: u64 = 10;

/// Options of the JVMs that execute tests, which the user's options come after. Short runs gain nothing from the optimizing compiler. Up to
/// Java 17, a method that was often called by reflection would get another frame in stacks.
const JVM_OPTIONS: [&str; 4] =
    ["-ea", "-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC", "-Dsun.reflect.inflationThreshold=2147483647"];

/// What the hunts in all tests share.
pub(crate) struct Session<'a> {
    pub(crate) options: &'a TestArguments,
    pub(crate) sets: SetRules,
    pub(crate) modules: &'a [Module],
    pub(crate) java: &'a Path,
    pub(crate) scope: &'a [Pointcut],
    pub(crate) agent: PathBuf,
    pub(crate) folder: &'a Path,
}

impl Session<'_> {
    /// Hunts in tests, module by module.
    pub(crate) fn hunt(&self, tests: &[Test]) -> Result<Report, Error> {
        let mut report = Report::default();
        let mut examined = Vec::new();
        let mut jvms = WarmJvms::default();
        let mut last = None;
        for module in 0..self.modules.len() {
            let of_module: Vec<&Test> = tests.iter().filter(|test| test.module == module).collect();
            if of_module.is_empty() {
                continue;
            }
            jvms.end();
            let results = examination::examine(self, &of_module, &mut jvms)?;
            examined.extend(of_module.into_iter().zip(results));
            last = Some(module);
        }
        let mut left = examined.iter().filter(|(_, examined)| examined.verdict.is_none()).count();
        let (all, mut found, mut slow) = (left, 0, Vec::new());
        let mut budget = self.options.budget.unwrap_or_else(|| BUDGET.max(LEAST * left as u32));
        for (test, examined) in examined {
            if examined.verdict.is_some() {
                report.tests.push(results::not_hunted(test, &examined));
                continue;
            }
            if signals::interrupted() {
                let verdict = Some((TestVerdict::NotTried, None));
                report.tests.push(results::not_hunted(test, &Examined { verdict, ..examined }));
                continue;
            }
            if last.replace(test.module) != Some(test.module) {
                jvms.end();
            }
            let begun = Instant::now();
            let share = budget / left.max(1) as u32;
            let title = format!("test {} of {all}, {found} flaky, {}", all - left + 1, short(test));
            let mut hunted = self.hunt_in(test, share, &title, &mut jvms)?;
            slow.extend(hunted.how.drain(..).map(|how| (short(test), how)));
            let result = add(&mut report, test, examined.threads, hunted);
            found += usize::from(result.verdict == TestVerdict::Flaky);
            let milliseconds = examined.milliseconds + begun.elapsed().as_millis() as u64;
            report.tests.push(TestReport { milliseconds, ..result });
            budget = budget.saturating_sub(begun.elapsed());
            left -= 1;
        }
        report.notices.extend(results::own_jvm_notice(&slow));
        results::conclude(&mut report, self.options);
        Ok(report)
    }

    /// Hunts in one test.
    fn hunt_in(
        &self,
        test: &Test,
        share: Duration,
        title: &str,
        jvms: &mut WarmJvms,
    ) -> Result<HuntedTest, Error> {
        let command = self.command(test);
        let program = self.program(test, &command);
        let settings = self.settings();
        let budget = self.options.runs.is_none().then_some(share);
        let course = Course {
            settings: &settings,
            program: &program,
            isolation: self.isolation(),
            manner: Manner { jobs: self.jobs(), is_backwards: false },
            clock: Clock::start(budget),
            progress: &|clock| Progress::of_test(title, clock.budget()),
        };
        let Hunted { result, executed, notices, has_unrepeated } = course.hunt(jvms)?;
        let schedules = result.runs;
        let scheduling = &self.options.scheduling;
        let notes = hunt::run_notices(&result, scheduling);
        let summary = Summary {
            command: &command,
            scheduling,
            config: self.options.reporting.config.as_deref(),
            settings: &settings,
            scope: self.scope,
            is_interrupted: signals::interrupted(),
            has_unrepeated,
            counts_violations: true,
        };
        let mut report = summary.report(result);
        report.notices = notes.into_iter().map(|note| format!("{}: {note}", short(test))).collect();
        report.digest = Some(executed.digest);
        let directory = self.modules[test.module].directory.to_string_lossy().into_owned();
        Ok(HuntedTest { report, schedules, directory, how: notices })
    }

    pub(crate) fn jobs(&self) -> usize {
        hunt::jobs(self.options.jobs)
    }

    pub(crate) fn isolation(&self) -> Isolation {
        self.options.isolation.into()
    }

    /// The command that executes one test.
    pub(crate) fn command(&self, test: &Test) -> Vec<OsString> {
        let mut command: Vec<OsString> = vec![self.java.into()];
        command.extend(JVM_OPTIONS.map(OsString::from));
        command.extend(self.options.jvm_options.iter().cloned());
        command.extend([
            "-cp".into(),
            self.modules[test.module].class_path.join(":").into(),
            launcher::MAIN.into(),
        ]);
        command.extend(arguments(test).map(OsString::from));
        command
    }

    /// The program that executes one test.
    pub(crate) fn program<'a>(&'a self, test: &Test, command: &'a [OsString]) -> Program<'a> {
        let module = &self.modules[test.module];
        let archive = module.class_path.last().map(Path::new).unwrap_or(Path::new(""));
        Program {
            command,
            directory: Some(&module.directory),
            scope: self.scope,
            atomic: &self.options.scheduling.atomic,
            time_limit: self.options.scheduling.time_limit(),
            agent: self.agent.clone(),
            locality: None,
            folder: self.folder,
            iterated: Iterated {
                kept: launcher::kept(&module.class_path, archive),
                arguments: Some(arguments(test).to_vec()),
            },
            is_debugged: false,
        }
    }

    /// How a run with this strategy and seed is controlled.
    pub(crate) fn control(&self, strategy: &StrategyKind, seed: u64) -> Control {
        self.options.scheduling.run_settings(self.sets.clone()).control(strategy, seed, None)
    }

    fn settings(&self) -> HuntSettings {
        HuntSettings {
            strategies: self.options.scheduling.strategies(),
            seed: self.options.seed,
            shard: Shard::WHOLE,
            runs: self.options.runs,
            reference_runs: self.options.reference_runs,
            profiling_runs: PROFILING_RUNS,
            learns: true,
            until_bug: self.options.until_bug,
            seeks_causes: !self.options.until_bug,
            minimises: true,
            // A test is about failures.
            aims: Aims::FAILURES,
            only: Vec::new(),
            // The time-outs of test frameworks must not strike while the test can go on.
            run: RunSettings { is_patient: true, ..self.options.scheduling.run_settings(self.sets.clone()) },
        }
    }
}

fn arguments(test: &Test) -> [String; 3] {
    ["run".to_owned(), test.framework.clone(), encoded(&test.id)]
}

/// A test in few words.
fn short(test: &Test) -> String {
    let (class, name) = (test.class.clone(), test.name.clone());
    TestReport { class, name, ..TestReport::default() }.title()
}

/// The result of a hunt in a test.
struct HuntedTest {
    report: Report,
    schedules: u64,
    directory: String,
    /// How its runs were executed, if not as they were meant to be.
    how: Vec<String>,
}

/// Adds the result of a hunt in a test to that of all tests.
fn add(all: &mut Report, test: &Test, threads: u64, hunted: HuntedTest) -> TestReport {
    let HuntedTest { mut report, schedules, directory, .. } = hunted;
    let shown = || report.findings.iter().filter(|finding| finding.status > Status::Warning);
    let findings: Vec<String> = shown().map(|finding| finding.id.clone()).collect();
    let fails = |finding: &Finding| finding.status == Status::Bug || finding.kind == Kind::Failure;
    let verdict = match &report.problem {
        _ if shown().any(fails) => TestVerdict::Flaky,
        _ if !findings.is_empty() => TestVerdict::Violated,
        Some(_) => TestVerdict::Unknown,
        None => TestVerdict::Passed,
    };
    // Notes about the runs of a test are of use only if there is something to explain.
    if verdict == TestVerdict::Passed {
        report.notices.clear();
    }
    let result = TestReport {
        class: test.class.clone(),
        name: test.name.clone(),
        tags: test.tags.clone(),
        threads,
        schedules,
        verdict,
        message: report.problem.take(),
        milliseconds: 0,
        command: if findings.is_empty() { Vec::new() } else { std::mem::take(&mut report.command) },
        directory: if findings.is_empty() { String::new() } else { directory },
        findings,
    };
    all.runs += report.runs;
    if all.seeds.is_empty() {
        (all.seeds, all.options, all.jvms) = (report.seeds, report.options, report.jvms);
    }
    all.coverage.add(&report.coverage);
    all.internal_errors.extend(report.internal_errors);
    all.notices.extend(report.notices);
    let digests = [all.digest.take().unwrap_or_default(), report.digest.unwrap_or_default()];
    all.digest = Some(fingerprint(&[&digests[0], &digests[1]]));
    // The runs of another test that shows the same are not runs of this one.
    let known: Vec<String> = all.findings.iter().map(|finding| finding.id.clone()).collect();
    all.findings.extend(report.findings.into_iter().filter(|finding| !known.contains(&finding.id)));
    result
}

impl From<TestError> for Error {
    fn from(error: TestError) -> Self {
        Error::Test(Box::new(error))
    }
}
