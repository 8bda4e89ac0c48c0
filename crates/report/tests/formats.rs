//! The formats for other programs: each is validated against its schema, compared with a golden file, and tested with
//! hostile text.

mod common;

use fissure_report::{
    NoSources, Report, json, junit, sarif,
    triage::{self, Baseline, Suppression},
};
use serde_json::{Value, json};

use common::{HOSTILE, Sources, hunt};

fn counts(finding: &fissure_model::finding::Finding) -> bool {
    !finding.ordered
}

/// A report with known, suppressed, ordered and new findings, with notices and without a problem.
fn judged() -> Report {
    let mut report = hunt(common::all_kinds());
    report.findings[2].ordered = true;
    let known = Report { findings: vec![report.findings[3].clone()], ..Report::default() };
    let suppressions: Vec<Suppression> = serde_json::from_value(json!([
        {"subject": "Buffer", "kind": "atomic-set-violation", "reason": "the fields do not belong <together>"},
        {"subject": "Gone", "reason": "was fixed"},
    ]))
    .unwrap();
    triage::judge(&mut report, Some(&Baseline::of(&known)), &suppressions);
    report
}

/// Reports that the schemas must accept.
fn reports() -> Vec<Report> {
    vec![
        Report::default(),
        Report { problem: Some("blind".to_owned()), ..Report::default() },
        hunt(Vec::new()),
        hunt(common::all_kinds()),
        hunt(vec![common::hostile()]),
        judged(),
    ]
}

fn check_schema(schema: &Value, document: &str) {
    let document: Value = serde_json::from_str(document).unwrap();
    let validator = jsonschema::validator_for(schema).unwrap();
    let errors: Vec<String> =
        validator.iter_errors(&document).map(|error| format!("{}: {error}", error.instance_path())).collect();
    assert!(errors.is_empty(), "{errors:#?}");
}

/// Forbids keys that the schema does not list, so that every key has a description.
fn forbid_unknown_keys(schema: &mut Value) {
    match schema {
        Value::Object(object) => {
            if object.contains_key("properties") && object.contains_key("type") {
                object.insert("additionalProperties".to_owned(), json!(false));
            }
            object.values_mut().for_each(forbid_unknown_keys);
        }
        Value::Array(values) => values.iter_mut().for_each(forbid_unknown_keys),
        _ => {}
    }
}

fn published_schema() -> Value {
    serde_json::from_str(include_str!("../schema/report.schema.json")).unwrap()
}

#[test]
fn json_matches_the_published_schema() {
    let mut strict = published_schema();
    forbid_unknown_keys(&mut strict);
    for report in reports() {
        let text = json::render(&report, "1.2.3").unwrap();
        check_schema(&published_schema(), &text);
        check_schema(&strict, &text);
    }
}

#[test]
fn the_published_schema_rejects_invalid_reports() {
    let good: Value = serde_json::from_str(&json::render(&judged(), "1.2.3").unwrap()).unwrap();
    let validator = jsonschema::validator_for(&published_schema()).unwrap();
    assert!(validator.is_valid(&good));
    let spoil: [&dyn Fn(&mut Value); 5] = [
        &|report| report["schema"] = json!(2),
        &|report| report["findings"][0]["kind"] = json!("race"),
        &|report| report["findings"][0]["sites"][0]["line"] = json!("12"),
        &|report| report["exits"] = json!({"zero": 1}),
        &|report| drop(report.as_object_mut().unwrap().remove("coverage")),
    ];
    for (at, spoil) in spoil.iter().enumerate() {
        let mut bad = good.clone();
        spoil(&mut bad);
        assert!(!validator.is_valid(&bad), "number {at}");
    }
    let mut newer = good;
    newer["findings"][0]["a_new_key"] = json!(1);
    assert!(validator.is_valid(&newer), "new keys may be added");
}

#[test]
fn json_round_trips() {
    for report in reports() {
        let text = json::render(&report, "1.2.3").unwrap();
        let read = json::parse(&text).unwrap();
        let mut expected = Report { triage: Default::default(), jvms: Vec::new(), ..report.clone() };
        expected.findings = report.sorted_findings().into_iter().cloned().collect();
        assert_eq!(read, expected);
    }
    let newer = json::parse(r#"{"schema": 2, "everything": "else"}"#).unwrap_err().to_string();
    assert!(newer.starts_with("it has schema 2"), "{newer}");
    let other = json::parse("[1, 2]").unwrap_err().to_string();
    assert!(other.starts_with("it is not a Fissure report"), "{other}");
}

#[test]
fn sarif_matches_the_official_schema() {
    // Every edition of the schema has a superfluous bracket in the pattern for language codes; strict validators reject it.
    let (official, slip) = (include_str!("sarif/sarif-schema-2.1.0.json"), "-[a-zA-Z]{2}]?$");
    assert_eq!(official.matches(slip).count(), 2, "the vendored schema has changed");
    let schema: Value = serde_json::from_str(&official.replace(slip, "-[a-zA-Z]{2}$")).unwrap();
    for report in reports() {
        check_schema(&schema, &sarif::render(&report, "1.2.3", &Sources).unwrap());
    }
}

#[test]
fn sarif_has_one_flow_per_thread() {
    let text = sarif::render(&hunt(vec![common::append()]), "1.2.3", &Sources).unwrap();
    let log: Value = serde_json::from_str(&text).unwrap();
    let flows = log["runs"][0]["results"][0]["codeFlows"][0]["threadFlows"].as_array().unwrap();
    let names: Vec<&str> = flows.iter().map(|flow| flow["id"].as_str().unwrap()).collect();
    assert_eq!(names, ["1 main", "2 appender", "3 eraser"]);
    let mut orders: Vec<u64> = flows
        .iter()
        .flat_map(|flow| flow["locations"].as_array().unwrap())
        .map(|location| location["executionOrder"].as_u64().unwrap())
        .collect();
    orders.sort_unstable();
    assert_eq!(orders, (0..20).collect::<Vec<u64>>());
}

#[test]
fn sarif_fingerprints_do_not_depend_on_lines() {
    let print = |finding| {
        let text = sarif::render(&hunt(vec![finding]), "1.2.3", &NoSources).unwrap();
        let log: Value = serde_json::from_str(&text).unwrap();
        log["runs"][0]["results"][0]["partialFingerprints"].clone()
    };
    let mut shifted = common::append();
    for site in &mut shifted.sites {
        site.line = site.line.map(|line| line + 7);
    }
    assert_eq!(print(common::append()), print(shifted));
    let mut elsewhere = common::append();
    elsewhere.subject = "com.acme.text.Buffer.insert".to_owned();
    assert_ne!(print(common::append()), print(elsewhere));
}

#[test]
fn formats_match_their_golden_files() {
    insta::assert_snapshot!("json-judged", json::render(&judged(), "1.2.3").unwrap());
    insta::assert_snapshot!("sarif", sarif::render(&judged(), "1.2.3", &Sources).unwrap());
    insta::assert_snapshot!("junit", junit::render(&judged(), &Sources, &counts).unwrap());
    let nothing = junit::render(&hunt(Vec::new()), &NoSources, &counts).unwrap();
    insta::assert_snapshot!("junit-nothing", nothing);
    let invalid = Report { problem: Some("blind & <deaf>".to_owned()), ..Report::default() };
    insta::assert_snapshot!("junit-problem", junit::render(&invalid, &NoSources, &counts).unwrap());
}

#[test]
fn text_of_the_program_is_escaped_in_xml() {
    let xml = junit::render(&hunt(vec![common::hostile()]), &NoSources, &counts).unwrap();
    assert!(!xml.contains("<img") && !xml.contains("<script") && !xml.contains('\u{1b}'), "{xml}");
    let read = quick_junit::Report::deserialize_from_str(&xml).unwrap();
    let case = &read.test_suites[0].test_cases[0];
    assert!(case.name.as_str().contains("</script><img src=x onerror=alert(1)>&amp;\"'"), "{:?}", case.name);
}

#[test]
fn text_of_the_program_is_escaped_in_sarif() {
    let text = sarif::render(&hunt(vec![common::hostile()]), "1.2.3", &NoSources).unwrap();
    let log: Value = serde_json::from_str(&text).unwrap();
    let result = &log["runs"][0]["results"][0];
    assert_eq!(result["properties"]["subject"], HOSTILE);
    let message = result["message"]["text"].as_str().unwrap();
    assert!(message.contains("{{{{ 7777*7777 }}}}"), "{message}");
    let uri = &result["locations"][0]["physicalLocation"]["artifactLocation"]["uri"];
    assert!(uri.as_str().unwrap().is_ascii() && !uri.as_str().unwrap().contains(['<', '"', ' ']), "{uri}");
}
