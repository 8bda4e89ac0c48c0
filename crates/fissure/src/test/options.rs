//! The options of `test`.

use std::{ffi::OsString, path::PathBuf, time::Duration};

use clap::Args;

use crate::{
    args::duration,
    hunt::{IsolationName, ScheduleArguments},
    reporting::ReportingArguments,
};

#[derive(Debug, Args)]
#[command(override_usage = "fissure test [OPTIONS] [SELECTOR]... [-- JVM OPTIONS]
       fissure test --repeat-failure [REPORT.json#]ID [--debug PORT]")]
#[command(after_help = "Examples:
  fissure test
  fissure test AccountTest 'com.acme.pool.*' --junit fissure.xml
  fissure test AccountTest#twoDeposit --budget 2min -- -Xmx1g
  fissure test --classpath target/test-classes:target/classes:junit.jar
  fissure test --repeat-failure 5d41402abc4b2a76 --debug 5005

Exit codes: 0 nothing found, 1 findings that count (see --fail-on), 2 usage or tool error, or a test without a result.")]
pub(crate) struct TestArguments {
    /// The tests to hunt in: a class (AccountTest, com.acme.AccountTest), a method (AccountTest#pays), a package ('com.acme.*',
    /// 'com.acme..*'), or a tag (slow, tag:slow). Without it all tests.
    #[arg(value_name = "SELECTOR")]
    pub(crate) selectors: Vec<String>,

    /// The class path of the tests, instead of asking the build tool. Tests are those in its folders and in jars named *-tests.jar.
    #[arg(long, value_name = "CP")]
    pub(crate) classpath: Option<OsString>,

    /// Do not compile anything.
    #[arg(long)]
    pub(crate) no_build: bool,

    /// It is an error if no test uses more than one thread.
    #[arg(long)]
    pub(crate) require_threads: bool,

    /// How long all hunts together look for bugs: 20s, 5min. Each test with several threads gets a share. Without it 20s, and at least 2s
    /// for each test.
    #[arg(long, value_name = "TIME", value_parser = duration, conflicts_with = "runs")]
    pub(crate) budget: Option<Duration>,

    /// How many schedules each test is executed with, apart from reference runs, however long that takes.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    pub(crate) runs: Option<u64>,

    /// How many runs with a sequential schedule each test is compared with.
    #[arg(long, value_name = "N", default_value_t = 10, value_parser = clap::value_parser!(u64).range(1..))]
    pub(crate) reference_runs: u64,

    /// The first run's seed; each further run has the next one.
    #[arg(long, value_name = "S", default_value_t = 1)]
    pub(crate) seed: u64,

    /// How many runs go on at the same time; without it as many as there are processors.
    #[arg(long, value_name = "J", value_parser = clap::value_parser!(u32).range(1..))]
    pub(crate) jobs: Option<u32>,

    /// What runs share, as for `fissure hunt`; the classes of JUnit itself are always shared in warm JVMs.
    #[arg(long, value_name = "jvm|classes|none", default_value = "classes", hide_possible_values = true)]
    pub(crate) isolation: IsolationName,

    /// Stop hunting in a test at the first run that fails.
    #[arg(long)]
    pub(crate) until_bug: bool,

    /// The java to use; without it that of JAVA_HOME or the first on PATH.
    #[arg(long, value_name = "FILE")]
    pub(crate) java: Option<PathBuf>,

    /// Repeat a finding of the last `fissure test` in this project, or of a report that --json wrote, and nothing else.
    #[arg(long, value_name = "[REPORT.json#]ID", conflicts_with_all = ["selectors", "classpath", "runs", "budget"])]
    pub(crate) repeat_failure: Option<OsString>,

    /// Open a port for a debugger, and wait until one attaches (JDWP). There is no time limit then.
    #[arg(long, value_name = "PORT", requires = "repeat_failure")]
    pub(crate) debug: Option<u16>,

    #[command(flatten)]
    pub(crate) scheduling: ScheduleArguments,

    #[command(flatten)]
    pub(crate) reporting: ReportingArguments,

    /// Options for the JVM, such as those of `argLine` in Maven's configuration.
    #[arg(last = true, value_name = "JVM OPTIONS")]
    pub(crate) jvm_options: Vec<OsString>,
}
