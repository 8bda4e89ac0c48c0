//! `fissure hunt` and `fissure replay` from outside, on the user's own JVM.

use std::{
    fs,
    path::{Path, PathBuf},
    process::{Command, Output, Stdio},
    sync::OnceLock,
};

use serde_json::Value;

/// How often a replay must come out the same.
const REPLAYS: usize = 20;

/// A folder for one test.
struct Place {
    folder: tempfile::TempDir,
}

impl Place {
    fn new() -> Self {
        Place { folder: tempfile::tempdir().unwrap() }
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// Fissure in this folder.
    fn fissure(&self, arguments: &[&str]) -> Output {
        let mut command = Command::new(env!("CARGO_BIN_EXE_fissure"));
        command.args(arguments).current_dir(self.folder.path()).stdin(Stdio::null());
        command.env_remove("JAVA_TOOL_OPTIONS").env_remove("CLASSPATH").output().unwrap()
    }

    /// Hunts in one of the programs, and gives the exit code and the report.
    fn hunt(&self, options: &[&str], class: &str) -> (Option<i32>, String) {
        let json = self.path("report.json");
        let (json, classes) = (json.to_str().unwrap(), classes().to_str().unwrap());
        let all = [&["hunt", "--json", json], options, &["--", "java", "-cp", classes, class]].concat();
        let output = self.fissure(&all);
        assert!(output.stdout.is_empty(), "the program's output is not Fissure's: {}", told(&output));
        let text = fs::read_to_string(json).unwrap_or_else(|_| panic!("no report: {}", told(&output)));
        (output.status.code(), text)
    }

    fn replay(&self, options: &[&str], class: &str) -> Output {
        let classes = classes().to_str().unwrap();
        self.fissure(&[&["replay"], options, &["--", "java", "-cp", classes, class]].concat())
    }
}

/// The programs' class files, compiled once.
fn classes() -> &'static Path {
    static CLASSES: OnceLock<PathBuf> = OnceLock::new();
    CLASSES.get_or_init(|| {
        let sources = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../programs/hunt");
        let classes = Path::new(env!("CARGO_TARGET_TMPDIR")).join("hunt-classes");
        fs::create_dir_all(&classes).unwrap();
        let output = Command::new("javac")
            .args(["-g", "-d"])
            .arg(&classes)
            .args(["AccountTransfer.java", "AccountTransferFixed.java"].map(|name| sources.join(name)))
            .output()
            .unwrap();
        assert!(output.status.success(), "{}", told(&output));
        classes
    })
}

fn told(output: &Output) -> String {
    format!("{}{}", String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr))
}

/// All seeds of a report, in order.
fn seeds(report: &Value) -> Vec<u64> {
    let number = |range: &Value, key: &str| range[key].as_u64().unwrap();
    let ranges = report["seeds"].as_array().unwrap().iter();
    let mut seeds: Vec<u64> = ranges
        .flat_map(|range| {
            (0..number(range, "count")).map(|at| number(range, "first") + at * number(range, "step"))
        })
        .collect();
    seeds.sort_unstable();
    seeds
}

/// What of a report with one finding must add up.
#[derive(Debug, PartialEq)]
struct Counts {
    runs: u64,
    exits: Value,
    id: String,
    hits: u64,
    /// The seeds that made the finding happen, in order.
    seeds: Vec<u64>,
}

impl Counts {
    fn new(report: &Value) -> Self {
        let findings = report["findings"].as_array().unwrap();
        let [finding] = findings.as_slice() else { panic!("{report}") };
        assert_eq!(finding["runs"], report["runs"]);
        let mut seeds: Vec<u64> =
            finding["seeds"].as_array().unwrap().iter().map(|seed| seed.as_u64().unwrap()).collect();
        seeds.sort_unstable();
        Counts {
            runs: report["runs"].as_u64().unwrap(),
            exits: report["exits"].clone(),
            id: finding["id"].to_string(),
            hits: finding["hits"].as_u64().unwrap(),
            seeds,
        }
    }
}

fn check_misuse(arguments: &[&str], expected: &str) {
    let output = Place::new().fissure(arguments);
    let told = told(&output);
    assert_eq!(output.status.code(), Some(2), "{arguments:?}: {told}");
    assert!(told.contains(expected), "{arguments:?}: {told}");
}

#[test]
fn a_violation_is_made_to_happen_and_its_twin_is_clean() {
    let place = Place::new();
    for strategy in ["atomfuzzer", "random"] {
        let (code, text) = place.hunt(&["--runs", "18", "--strategy", strategy], "AccountTransfer");
        let report: Value = serde_json::from_str(&text).unwrap();
        assert_eq!((code, &report["runs"]), (Some(1), &Value::from(18)), "{text}");
        let findings = report["findings"].as_array().unwrap();
        let [finding] = findings.as_slice() else { panic!("{text}") };
        assert_eq!(finding["kind"], "atomicity-violation");
        assert_eq!(finding["status"], "bug");
        assert_eq!(finding["analysis"], strategy);
        assert_eq!(finding["subject"], "AccountTransfer$Customer.run:31");
        assert_eq!(finding["consequence"]["exception"], "java.lang.IllegalStateException");
        assert_eq!(finding["runs"], 18);
        let seeds = finding["seeds"].as_array().unwrap().len() as u64;
        assert_eq!(finding["hits"].as_u64(), Some(seeds));
        assert!(strategy == "random" || seeds >= 17, "{text}");
        assert_eq!(report["exits"]["0"], 18, "{text}");
    }
    let (code, text) = place.hunt(&["--runs", "18"], "AccountTransferFixed");
    let report: Value = serde_json::from_str(&text).unwrap();
    assert_eq!((code, report["findings"].as_array().unwrap().len()), (Some(0), 0), "{text}");
}

#[test]
fn the_report_does_not_depend_on_how_many_run_at_a_time() {
    let place = Place::new();
    for options in [&["--runs", "18"][..], &["--runs", "18", "--until-bug", "--strategy", "random"]] {
        let hunt = |jobs| place.hunt(&[options, &["--jobs", jobs]].concat(), "AccountTransfer");
        let (one, several) = (hunt("1"), hunt("3"));
        assert_eq!(one, several, "{options:?}");
        assert_eq!(one.0, Some(1));
    }
}

#[test]
fn a_hunt_stops_at_the_first_bug_if_asked() {
    let place = Place::new();
    let (code, text) = place.hunt(&["--runs", "40", "--until-bug", "--seed", "7"], "AccountTransfer");
    let report: Value = serde_json::from_str(&text).unwrap();
    let runs = report["runs"].as_u64().unwrap();
    assert!(runs < 40 && code == Some(1), "{text}");
    assert_eq!(report["findings"][0]["seeds"][0].as_u64(), Some(7 + runs - 1), "{text}");
    assert_eq!(report["findings"][0]["status"], "bug");
}

#[test]
fn shards_that_gnu_parallel_starts_are_together_the_whole_hunt() {
    if Command::new("parallel").arg("--version").output().is_err() {
        eprintln!("SKIPPED: GNU parallel is not there; install it to run this test");
        return;
    }
    let place = Place::new();
    // Without targets what a run does depends on its seed alone, so that not only the seeds but all counts must be the same.
    for options in ["--runs 9 --seed 5 --learn no", "--runs 9 --seed 5"] {
        let words: Vec<&str> = options.split(' ').chain(["--shard", "1/1"]).collect();
        let (_, text) = place.hunt(&words, "AccountTransfer");
        let whole: Value = serde_json::from_str(&text).unwrap();
        let (fissure, classes) = (env!("CARGO_BIN_EXE_fissure"), classes().to_str().unwrap());
        let job = format!(
            "'{fissure}' hunt {options} --json part-{{#}}.json --fail-on never -- java -cp '{classes}' {{}}"
        );
        let mut parallel = Command::new("parallel");
        parallel.args(["--will-cite", &job, ":::", "AccountTransfer", "AccountTransfer"]);
        parallel.env("FISSURE_SHARDS", "2").env_remove("JAVA_TOOL_OPTIONS").env_remove("CLASSPATH");
        // It keeps its own state in the user's folder.
        parallel.env("HOME", place.folder.path()).current_dir(place.folder.path()).stdin(Stdio::null());
        let output = parallel.output().unwrap();
        assert!(output.status.success(), "{}", told(&output));
        assert!(told(&output).contains("shard 2/2 was taken from PARALLEL_SEQ"), "{}", told(&output));
        let output = place.fissure(&["report", "part-1.json", "part-2.json", "--json", "all.json"]);
        assert_eq!(output.status.code(), Some(1), "{}", told(&output));
        let read = |name: &str| -> Value {
            serde_json::from_str(&fs::read_to_string(place.path(name)).unwrap()).unwrap()
        };
        let (one, two, all) = (read("part-1.json"), read("part-2.json"), read("all.json"));
        assert_eq!((seeds(&one), seeds(&two)), (vec![5, 7, 9, 11, 13], vec![6, 8, 10, 12]));
        assert_eq!(seeds(&all), seeds(&whole));
        let [one, two, all, whole] = [one, two, all, whole].map(|report| Counts::new(&report));
        assert_eq!((all.runs, all.hits), (whole.runs, one.hits + two.hits), "{options}");
        if options.contains("--learn no") {
            assert_eq!(all, whole, "{options}");
        }
    }
}

#[test]
fn a_finding_is_replayed_the_same_each_time() {
    let place = Place::new();
    let (_, text) = place.hunt(&["--runs", "2"], "AccountTransfer");
    let report: Value = serde_json::from_str(&text).unwrap();
    let finding = &report["findings"][0];
    let named = format!("report.json#{}", finding["id"].as_str().unwrap());
    let first = place.replay(&[&named], "AccountTransfer");
    assert_eq!(first.status.code(), Some(1), "{}", told(&first));
    assert_eq!(String::from_utf8_lossy(&first.stdout), "balance -40\n");
    assert!(told(&first).contains("shows again with the recorded schedule"), "{}", told(&first));
    assert!(told(&first).contains("bug[atomicity-violation]"), "{}", told(&first));
    assert!(!told(&first).contains("departed"), "{}", told(&first));
    for _ in 1..REPLAYS {
        assert_eq!(told(&place.replay(&[&named], "AccountTransfer")), told(&first));
    }
}

#[test]
fn a_seed_is_replayed_with_what_it_looked_for() {
    let place = Place::new();
    let (_, text) = place.hunt(&["--runs", "4"], "AccountTransfer");
    let report: Value = serde_json::from_str(&text).unwrap();
    let finding = &report["findings"][0];
    let targets = finding["targets"].as_array().unwrap();
    let seeds = finding["seeds"].as_array().unwrap();
    assert_eq!(targets.len(), seeds.len());
    let targeted = targets.iter().position(|target| !target.is_null()).unwrap();
    let free = targets.iter().position(Value::is_null).unwrap();
    for at in [targeted, free] {
        let seed = seeds[at].to_string();
        let target = &targets[at];
        let target = target.is_object().then(|| {
            format!("{}/{}", target["again"].as_str().unwrap(), target["between"].as_str().unwrap())
        });
        let mut options = vec!["--seed", seed.as_str()];
        options.extend(target.iter().flat_map(|target| ["--target", target.as_str()]));
        let output = place.replay(&options, "AccountTransfer");
        assert_eq!(output.status.code(), Some(1), "{options:?}: {}", told(&output));
        assert!(told(&output).contains(finding["id"].as_str().unwrap()), "{}", told(&output));
        let by_report = place.replay(&["report.json", "--seed", &seed], "AccountTransfer");
        assert_eq!(by_report.status.code(), Some(1), "{}", told(&by_report));
    }
}

#[test]
fn a_replay_of_another_program_says_that_it_is_another() {
    let place = Place::new();
    place.hunt(&["--runs", "2"], "AccountTransfer");
    let output = place.replay(&["report.json"], "AccountTransferFixed");
    assert_eq!(output.status.code(), Some(0), "{}", told(&output));
    assert!(told(&output).contains("does not show with the recorded schedule"), "{}", told(&output));
    assert!(told(&output).contains("departed from its recording"), "{}", told(&output));
}

#[test]
fn runs_beyond_the_time_limit_are_killed_with_all_their_processes() {
    let place = Place::new();
    let script = "sleep 600 & echo $! >> processes; wait";
    let output = place.fissure(&["hunt", "--time-limit", "1", "--jobs", "10", "--", "sh", "-c", script]);
    assert_eq!(output.status.code(), Some(2), "{}", told(&output));
    assert!(told(&output).contains("time limit of 1 s"), "{}", told(&output));
    let processes = fs::read_to_string(place.path("processes")).unwrap();
    assert_eq!(processes.lines().count(), 10);
    for process in processes.lines() {
        let state = fs::read_to_string(format!("/proc/{process}/stat")).unwrap_or_default();
        let is_gone = state.is_empty() || state.contains(") Z ");
        assert!(is_gone || !state.contains("(sleep)"), "{state}");
    }
}

#[test]
fn runs_that_see_nothing_are_an_error() {
    check_misuse(&["hunt", "--", "true"], "started no JVM");
    check_misuse(&["hunt", "--", "no-such-program"], "cannot start 'no-such-program'");
    let classes = classes().to_str().unwrap();
    let java = ["--", "java", "-cp", classes];
    check_misuse(&[&["hunt"][..], &java, &["NoSuchClass"]].concat(), "NoSuchClass");
    let scoped = [&["hunt", "--scope", "no.such..*"][..], &java, &["AccountTransfer"]].concat();
    check_misuse(&scoped, "no class matched the scope");
}

#[test]
fn command_lines_that_make_no_sense_are_refused() {
    check_misuse(&["hunt"], "no command was given");
    check_misuse(
        &["hunt", "--strategy", "assetfuzzer", "--", "java"],
        "--strategy assetfuzzer is not there yet",
    );
    check_misuse(&["hunt", "--strategy", "magic", "--", "java"], "invalid value 'magic'");
    check_misuse(&["hunt", "--strategy", "random,atomfuzzer", "--", "java"], "several strategies");
    check_misuse(&["hunt", "--pause", "2", "--", "java"], "a probability is a number from 0 to 1");
    check_misuse(&["hunt", "--runs", "0", "--", "java"], "invalid value '0'");
    check_misuse(&["hunt", "--jobs", "0", "--", "java"], "invalid value '0'");
    check_misuse(&["hunt", "--seed", "18446744073709551615", "--", "java"], "--seed is too large");
    for nonsense in ["0/2", "3/2", "2", "a/b", "1/0"] {
        check_misuse(&["hunt", "--shard", nonsense, "--", "java"], "write it as I/N with I from 1 to N");
    }
    check_misuse(
        &["hunt", "--runs", "2", "--shard", "3/4", "--", "java"],
        "shard 3/4 has none of the 2 runs: raise --runs, or use at most 2 shards",
    );
    check_misuse(&["hunt", "--sources", "nowhere", "--", "java"], "there is no such folder");
    check_misuse(&["replay", "--", "java"], "nothing to replay was named");
    check_misuse(&["replay", "--seed", "1"], "no command was given");
    check_misuse(&["replay", "nowhere.json", "--", "java"], "the report nowhere.json cannot be read");
    check_misuse(
        &["replay", "--seed", "1", "--target", "a", "--", "java"],
        "two places are written with a slash",
    );
}
