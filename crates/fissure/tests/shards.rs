//! A hunt that several machines share equals the whole hunt: with systems that start many copies of a command.

mod common;

use std::{
    fs,
    process::{ExitCode, Stdio},
};

use fissure_testing::{Outcome, Trial, find_on_path};
use serde_json::Value;

use common::{
    agent,
    hunting::{Place, classes},
    isolated, output_text,
    slurm::Cluster,
};

/// Without goals a run depends on its seed alone, so that not only the seeds but all counts must be the same.
const UNLEARNED: &str = "--runs 9 --no-minimise --seed 5 --learn no";
const LEARNED: &str = "--runs 9 --no-minimise --seed 5";

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

/// The parts of a report with one finding that must add up.
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

/// The same hunt on one machine.
fn whole(place: &Place, options: &str) -> Value {
    let words: Vec<&str> = options.split(' ').chain(["--shard", "1/1"]).collect();
    let (_, text) = place.hunt(&words, "AccountTransfer");
    serde_json::from_str(&text).unwrap()
}

/// The command of one machine.
fn job(options: &str, report: &str) -> String {
    let (agent, fissure, classes) =
        (agent().display(), env!("CARGO_BIN_EXE_fissure"), classes().to_str().unwrap());
    format!(
        "FISSURE_AGENT='{agent}' '{fissure}' hunt --reference-runs 4 {options} --json {report} --fail-on never -- java -cp '{classes}' AccountTransfer"
    )
}

/// Compares `part-1.json`, `part-2.json` and the merged `all.json` with the whole.
fn check_parts(place: &Place, options: &str, whole: &Value) {
    let read = |name: &str| -> Value {
        serde_json::from_str(&fs::read_to_string(place.path(name)).unwrap()).unwrap()
    };
    let (one, two, all) = (read("part-1.json"), read("part-2.json"), read("all.json"));
    assert_eq!((seeds(&one), seeds(&two)), (vec![5, 7, 9, 11, 13], vec![6, 8, 10, 12]));
    assert_eq!(seeds(&all), seeds(whole));
    let [one, two, all, whole] = [&one, &two, &all, whole].map(Counts::new);
    assert_eq!((all.runs, all.hits), (whole.runs, one.hits + two.hits), "{options}");
    if options == UNLEARNED {
        assert_eq!(all, whole, "{options}");
    }
}

fn main() -> ExitCode {
    let trials = [
        Trial::new("shards::gnu-parallel", || {
            Ok(shards_that_gnu_parallel_starts_are_together_the_whole_hunt())
        }),
        Trial::new("shards::slurm", || Ok(shards_that_slurm_starts_are_together_the_whole_hunt())),
    ];
    fissure_testing::run(trials.into())
}

fn shards_that_gnu_parallel_starts_are_together_the_whole_hunt() -> Outcome {
    if find_on_path("parallel").is_none() {
        return Outcome::Skipped("there is no GNU parallel (`parallel`)".to_owned());
    }
    let place = Place::new();
    for options in [UNLEARNED, LEARNED] {
        let mut parallel = isolated("parallel");
        parallel.args(["--will-cite", "-N0", &job(options, "part-{#}.json"), ":::", "1", "2"]);
        parallel.env("FISSURE_SHARDS", "2");
        // GNU parallel keeps its state in the user's home.
        parallel.env("HOME", place.folder.path()).current_dir(place.folder.path()).stdin(Stdio::null());
        let output = parallel.output().unwrap();
        assert!(output.status.success(), "{}", output_text(&output));
        assert!(
            output_text(&output).contains("shard 2/2 was taken from PARALLEL_SEQ"),
            "{}",
            output_text(&output)
        );
        let output = place.fissure(&["report", "part-1.json", "part-2.json", "--json", "all.json"]);
        assert_eq!(output.status.code(), Some(1), "{}", output_text(&output));
        check_parts(&place, options, &whole(&place, options));
    }
    Outcome::Passed
}

fn shards_that_slurm_starts_are_together_the_whole_hunt() -> Outcome {
    let cluster = match Cluster::start() {
        Ok(cluster) => cluster,
        Err(reason) => return Outcome::Skipped(format!("no Slurm cluster can be started here: {reason}")),
    };
    let place = Place::new();
    let folder = place.folder.path();
    let hunt = job(UNLEARNED, "part-$SLURM_ARRAY_TASK_ID.json");
    let array = cluster.submit(&["--array=1-2", "--output=hunt-%a.txt"], &hunt, folder);
    let merge = format!("'{}' report part-*.json --json all.json", env!("CARGO_BIN_EXE_fissure"));
    let after = format!("--dependency=afterany:{array}");
    let arguments = ["--wait", &after, "--output=merge.txt", "--wrap", &merge];
    let merged = cluster.run("sbatch", &arguments, folder);
    let read = |name: &str| fs::read_to_string(place.path(name)).unwrap_or_default();
    let (hunted, said) = (read("hunt-2.txt"), read("merge.txt"));
    // The last job's exit code is that of the report, which has a finding.
    assert_eq!(merged.status.code(), Some(1), "{}{said}{hunted}", output_text(&merged));
    assert!(hunted.contains("shard 2/2 was taken from SLURM_ARRAY_TASK_ID"), "{hunted}");
    check_parts(&place, UNLEARNED, &whole(&place, UNLEARNED));
    Outcome::Passed
}
