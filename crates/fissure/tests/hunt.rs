//! `fissure hunt` and `fissure replay` from outside, on the user's own JVM.

mod common;

use std::{fs, process::Command};

use serde_json::Value;

use common::{
    hunting::{Place, classes},
    output_text,
};

/// How often a replay must give the same result.
const REPLAYS: usize = 20;

fn check_misuse(arguments: &[&str], expected: &str) {
    let output = Place::new().fissure(arguments);
    let text = output_text(&output);
    assert_eq!(output.status.code(), Some(2), "{arguments:?}: {text}");
    assert!(text.contains(expected), "{arguments:?}: {text}");
}

/// The words of a shell command.
fn words_of(command: &str) -> Vec<String> {
    let script = format!("printf '%s\\0' {command}");
    let output = Command::new("sh").args(["-c", &script]).output().unwrap();
    String::from_utf8(output.stdout).unwrap().split_terminator('\0').map(str::to_owned).collect()
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
        // After a dozen hits, most runs look for something else.
        assert!(strategy == "random" || seeds >= 12, "{text}");
        assert_eq!(report["exits"]["0"], 18, "{text}");
    }
    let (code, text) = place.hunt(&["--runs", "18"], "AccountTransferFixed");
    let report: Value = serde_json::from_str(&text).unwrap();
    assert_eq!((code, report["findings"].as_array().unwrap().len()), (Some(0), 0), "{text}");
}

/// With a scheduling point at every access to a field, accesses that only one thread can make are none.
#[test]
fn field_points_find_the_same_with_the_static_analysis() {
    let place = Place::new();
    for (options, class, is_broken) in [
        (&[][..], "AccountTransfer", true),
        (&[], "AccountTransferFixed", false),
        (&["--atomic", "TicketCounter.sell"], "TicketCounter", true),
    ] {
        let hunt = |more: &[&str]| {
            let (code, text) =
                place.hunt(&[&["--points", "fields", "--runs", "6"], options, more].concat(), class);
            let report: Value = serde_json::from_str(&text).unwrap();
            let findings = report["findings"].as_array().unwrap().iter();
            let found: Vec<[Value; 3]> = findings
                .map(|finding| ["kind", "subject", "status"].map(|name| finding[name].clone()))
                .collect();
            (code, found, report)
        };
        let (code, plain, _) = hunt(&[]);
        let (static_code, analysed, report) = hunt(&["--static"]);
        assert_eq!((code, &plain), (static_code, &analysed), "{class}");
        assert_eq!(code, Some(i32::from(is_broken)), "{class}: {plain:?}");
        assert!(report["coverage"]["static"]["sites"].as_u64() > Some(0), "{class}: {report}");
        if is_broken {
            let output = place.replay(&["report.json"], class);
            assert_eq!(output.status.code(), Some(1), "{class}: {}", output_text(&output));
        }
    }
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
fn until_bug_stops_a_hunt_at_the_first_bug() {
    let place = Place::new();
    let (code, text) = place.hunt(&["--runs", "40", "--until-bug", "--seed", "7"], "AccountTransfer");
    let report: Value = serde_json::from_str(&text).unwrap();
    let runs = report["runs"].as_u64().unwrap();
    assert!(runs < 40 && code == Some(1), "{text}");
    assert_eq!(report["findings"][0]["seeds"][0].as_u64(), Some(7 + runs - 1), "{text}");
    assert_eq!(report["findings"][0]["status"], "bug");
}

#[test]
fn a_finding_is_replayed_the_same_each_time() {
    let place = Place::new();
    let (_, text) = place.hunt(&["--runs", "2"], "AccountTransfer");
    let report: Value = serde_json::from_str(&text).unwrap();
    let finding = &report["findings"][0];
    let named = format!("report.json#{}", finding["id"].as_str().unwrap());
    let first = place.replay(&[&named], "AccountTransfer");
    assert_eq!(first.status.code(), Some(1), "{}", output_text(&first));
    assert_eq!(String::from_utf8_lossy(&first.stdout), "balance -40\n");
    assert!(
        output_text(&first).contains("shows again with the recorded schedule"),
        "{}",
        output_text(&first)
    );
    assert!(output_text(&first).contains("bug[atomicity-violation]"), "{}", output_text(&first));
    assert!(!output_text(&first).contains("departed"), "{}", output_text(&first));
    for _ in 1..REPLAYS {
        assert_eq!(output_text(&place.replay(&[&named], "AccountTransfer")), output_text(&first));
    }
}

/// Many programs detect an error themselves, and end with an exit code.
/// The cleaner's thread, which is not controlled, wakes the timer's thread whenever the garbage collector has run.
#[test]
fn a_wake_up_after_a_garbage_collection_changes_no_schedule() {
    let source = include_str!("../../../programs/determinism/CleanedTimer.java");
    let folder = common::compiled("CleanedTimer", source);
    let schedule = || {
        let mut fissure = common::fissure();
        fissure.args(["replay", "--strategy", "random", "--seed", "3", "--", "java", "-cp"]);
        let text = output_text(&fissure.arg(folder.path()).arg("CleanedTimer").output().unwrap());
        let line = text.lines().find(|line| line.contains("the schedule: "));
        line.unwrap_or_else(|| panic!("{text}")).to_owned()
    };
    let first = schedule();
    for _ in 1..6 {
        assert_eq!(schedule(), first);
    }
}

#[test]
fn unexplained_failures_are_reported_with_their_steps_and_replayed() {
    let place = Place::new();
    let (code, text) = place.hunt(&["--runs", "6"], "LazyExit");
    let report: Value = serde_json::from_str(&text).unwrap();
    let [finding] = report["findings"].as_array().unwrap().as_slice() else { panic!("{text}") };
    assert_eq!((code, finding["status"].as_str()), (Some(1), Some("bug")), "{text}");
    assert_eq!(finding["consequence"]["exception"], "exit");
    let message = "the program ended with exit code 3, reference runs with 0";
    assert_eq!(finding["consequence"]["message"], message);
    let interleaving = &finding["interleaving"];
    assert_eq!(interleaving["threads"].as_array().unwrap().len(), 3, "{text}");
    let steps = interleaving["steps"].as_array().unwrap();
    let acquires = steps.iter().filter(|step| step["action"] == "acquire").count();
    assert_eq!((acquires, &steps[steps.len() - 1]["role"]), (4, &Value::from("failed")), "{text}");
    let again = place.replay(&["report.json"], "LazyExit");
    assert_eq!(again.status.code(), Some(1), "{}", output_text(&again));
    assert!(
        output_text(&again).contains("shows again with the recorded schedule"),
        "{}",
        output_text(&again)
    );
    let seed = finding["seeds"][0].to_string();
    let by_seed = place.replay(&["report.json", "--seed", &seed], "LazyExit");
    assert_eq!(by_seed.status.code(), Some(1), "{}", output_text(&by_seed));
    let (code, text) = place.hunt(&["--runs", "6"], "LazyExitFixed");
    assert_eq!(code, Some(0), "{text}");
}

/// A failure caused by accesses is found without an option for them, explained by them, and replayed.
#[test]
fn a_remote_access_between_local_ones_is_found_and_explained() {
    let place = Place::new();
    let (code, text) = place.hunt(&["--runs", "16"], "CheckedMap");
    let report: Value = serde_json::from_str(&text).unwrap();
    let [finding] = report["findings"].as_array().unwrap().as_slice() else { panic!("{text}") };
    assert_eq!((code, finding["subject"].as_str()), (Some(1), Some("CheckedMap.read")), "{text}");
    let [cause] = finding["judgement"]["causes"].as_array().unwrap().as_slice() else { panic!("{text}") };
    let between = &cause["prevention"]["between"];
    let sites = [&between["first"], &between["last"], &between["remote"][0]].map(|access| &access["site"]);
    assert_eq!(sites, ["CheckedMap.read:11", "CheckedMap.read:12", "CheckedMap.lambda$main$0:20"], "{text}");
    assert_eq!(
        (&cause["forced"]["fails"], &cause["prevented"]["fails"]),
        (&cause["forced"]["runs"], &0.into())
    );
    let steps = finding["interleaving"]["steps"].as_array().unwrap().iter();
    let accesses: Vec<&str> = steps
        .filter(|step| step["object"] == "CheckedMap.entries")
        .filter_map(|step| step["action"].as_str())
        .collect();
    assert_eq!(accesses, ["read", "write", "read"], "{text}");
    let again = place.replay(&["report.json"], "CheckedMap");
    assert_eq!(again.status.code(), Some(1), "{}", output_text(&again));
    assert!(
        output_text(&again).contains("shows again with the recorded schedule"),
        "{}",
        output_text(&again)
    );
    let index = finding["targets"]
        .as_array()
        .unwrap()
        .iter()
        .position(|target| target["interleaving"].is_object())
        .unwrap();
    let seed = finding["seeds"][index].to_string();
    let goal = "between|elements|R CheckedMap.read:11 entries|W CheckedMap.lambda$main$0:20 entries|R CheckedMap.read:12 entries";
    let by_goal = place.replay(&["--seed", &seed, "--goal", goal], "CheckedMap");
    assert_eq!(by_goal.status.code(), Some(1), "{}", output_text(&by_goal));
    let (code, text) = place.hunt(&["--runs", "4", "--points", "locks"], "CheckedMap");
    assert_eq!(code, Some(0), "{text}");
}

#[test]
fn notes_say_what_was_not_tried() {
    let place = Place::new();
    let notices = |options: &[&str], class: &str| {
        let (code, text) = place.hunt(options, class);
        assert_eq!(code, Some(0), "{text}");
        let report: Value = serde_json::from_str(&text).unwrap();
        report["notices"].to_string()
    };
    assert!(
        notices(&["--runs", "2"], "CasCounter")
            .contains("candidate interleavings of accesses were not tried")
    );
    assert!(!notices(&["--runs", "16"], "CasCounter").contains("not tried"));
    assert!(notices(&["--runs", "2", "--points", "locks"], "CasCounter").contains("at lock operations only"));
    let few = notices(&["--runs", "2", "--steps", "12"], "VolatileCounterFixed");
    assert!(few.contains("because a run with a scheduling point at every access did not end"), "{few}");
}

/// If the JVM is only a part of the command, the command's exit code counts.
#[test]
fn an_exit_code_of_the_command_is_a_finding() {
    let place = Place::new();
    let script = format!("java -cp '{}' LazyExit print | grep two && exit 4 || exit 0", classes().display());
    let arguments = ["hunt", "--runs", "6", "--json", "report.json", "--", "sh", "-c", &script];
    let output = place.fissure(&arguments);
    assert_eq!(output.status.code(), Some(1), "{}", output_text(&output));
    let report: Value =
        serde_json::from_str(&fs::read_to_string(place.path("report.json")).unwrap()).unwrap();
    assert_eq!(report["findings"][0]["subject"], "LazyExit", "{report}");
    let message = "the program ended with exit code 4, reference runs with 0";
    assert_eq!(report["findings"][0]["consequence"]["message"], message);
    let again = place.fissure(&["replay", "report.json", "--", "sh", "-c", &script]);
    assert_eq!(again.status.code(), Some(1), "{}", output_text(&again));
}

#[test]
fn a_seed_is_replayed_with_its_goal() {
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
            assert!(target["acquires"].is_object(), "{target}");
            target.to_string()
        });
        let mut options = vec!["--seed", seed.as_str()];
        options.extend(target.iter().flat_map(|target| ["--goal", target.as_str()]));
        let output = place.replay(&options, "AccountTransfer");
        assert_eq!(output.status.code(), Some(1), "{options:?}: {}", output_text(&output));
        assert!(output_text(&output).contains(finding["id"].as_str().unwrap()), "{}", output_text(&output));
        let by_report = place.replay(&["report.json", "--seed", &seed], "AccountTransfer");
        assert_eq!(by_report.status.code(), Some(1), "{}", output_text(&by_report));
    }
}

#[test]
fn a_replay_of_another_program_departs_from_the_recording() {
    let place = Place::new();
    place.hunt(&["--runs", "2"], "AccountTransfer");
    let output = place.replay(&["report.json"], "AccountTransferFixed");
    assert_eq!(output.status.code(), Some(2), "{}", output_text(&output));
    let text = output_text(&output);
    assert!(text.contains("does not show with the recorded schedule"), "{text}");
    assert!(text.contains("departed from its recording"), "{text}");
}

/// The command that a report prints shows the same steps as the report, also if the report's schedule was shortened.
/// An interleaving without the roles of its steps.
fn without_roles(interleaving: &Value) -> Value {
    let mut interleaving = interleaving.clone();
    for step in interleaving["steps"].as_array_mut().unwrap() {
        step.as_object_mut().unwrap().remove("role");
    }
    interleaving
}

#[test]
fn the_printed_command_shows_the_interleaving_of_the_report() {
    let place = Place::new();
    let mut is_any_shortened = false;
    for class in ["AccountTransfer", "LockOrder", "TicketCounter", "LazyExit", "CheckedMap", "CasCounter"] {
        let (_, text) = place.hunt(&["--runs", "24"], class);
        let report: Value = serde_json::from_str(&text).unwrap();
        let printed = output_text(&place.fissure(&["report", "report.json", "--fail-on", "never"]));
        for finding in report["findings"].as_array().unwrap() {
            let id = finding["id"].as_str().unwrap();
            if finding["status"] == "warning" {
                continue;
            }
            is_any_shortened |= finding["shortened"] == true;
            let of_finding = printed.lines().take_while(|line| !line.ends_with(&format!("id {id}")));
            let commands = of_finding.filter_map(|line| line.split_once("to see it again: fissure replay "));
            let (_, command) = commands.last().unwrap_or_else(|| panic!("{class}: {printed}"));
            let words = words_of(command);
            let words: Vec<&str> = words.iter().map(String::as_str).collect();
            let output = place.fissure(&[&["replay", "--json", "again.json"], &words[..]].concat());
            assert_eq!(output.status.code(), Some(1), "{class} {command}: {}", output_text(&output));
            let again: Value =
                serde_json::from_str(&fs::read_to_string(place.path("again.json")).unwrap()).unwrap();
            let again = again["findings"].as_array().unwrap().iter().find(|again| again["id"] == id).unwrap();
            // A single run does not know the cause, whose steps and sites the report of the hunt names.
            let is_judged = finding.get("judgement").is_some();
            let compared = |finding: &Value| match is_judged {
                true => without_roles(&finding["interleaving"]),
                false => Value::from(vec![finding["interleaving"].clone(), finding["sites"].clone()]),
            };
            assert_eq!(compared(again), compared(finding), "{class} {id}");
        }
    }
    assert!(is_any_shortened, "no schedule was shortened, so that this was not tested");
}

#[test]
fn runs_beyond_the_time_limit_are_killed_with_all_their_processes() {
    let place = Place::new();
    let script = "sleep 600 & echo $! >> processes; wait";
    let output = place.fissure(&["hunt", "--time-limit", "1", "--jobs", "10", "--", "sh", "-c", script]);
    assert_eq!(output.status.code(), Some(2), "{}", output_text(&output));
    assert!(output_text(&output).contains("time limit of 1 s"), "{}", output_text(&output));
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
fn invalid_command_lines_are_rejected() {
    check_misuse(&["hunt"], "no command was given");
    check_misuse(&["hunt", "--strategy", "assetfuzzer", "--profile", "0", "--", "java"], "--profile");
    check_misuse(
        &["hunt", "--strategy", "magic", "--", "java"],
        "possible values: atomfuzzer, assetfuzzer, racefuzzer, random",
    );
    check_misuse(&["replay", "--seed", "1", "--strategy", "random,atomfuzzer", "--", "java"], "one strategy");
    check_misuse(&["replay", "--seed", "1", "--goal", "9|A", "--", "java"], "copy the goal from the report");
    check_misuse(&["hunt", "--check", "everything", "--", "java"], "atomic-sets");
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
    check_misuse(&["replay", "--seed", "1", "--goal", "a", "--", "java"], "put it in single quotes");
}

#[test]
fn a_replay_takes_the_options_of_the_report() {
    let place = Place::new();
    let (code, _) = place.hunt(&["--runs", "4", "--atomic", "TicketCounter.sell"], "TicketCounter");
    assert_eq!(code, Some(1));
    let report = place.path("report.json");
    let replayed = place.replay(&[report.to_str().unwrap()], "TicketCounter");
    assert_eq!(replayed.status.code(), Some(1), "{}", output_text(&replayed));
    assert!(!output_text(&replayed).contains("departed"), "{}", output_text(&replayed));
}
