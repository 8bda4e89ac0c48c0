//! Golden files of the rendered reports: review them when they change.

mod common;

use std::collections::BTreeMap;

use common::{frame, hunt, site};
use fissure_model::{
    coverage::{Coverage, LeftAlone, Origin, OriginKind},
    finding::{Consequence, Finding, Frame, Kind, Site, Status},
    record::{Hello, Refusal},
};
use fissure_report::{Exit, NoSources, Report, SourceFinder, html, json, text, text::Options};

const PLAIN: Options = Options { width: 100, color: false, verbose: false };

/// Provides a few lines of one file.
struct Account;

impl SourceFinder for Account {
    fn line(&self, _class: &str, file: &str, line: u32) -> Option<String> {
        match (file, line) {
            ("Account.java", 12) => Some("        balance = balance + amount;".to_owned()),
            ("Account.java", 20) => Some("\treturn balance;".to_owned()),
            ("Account.java", 1203) => Some(format!("        log({});", "very long, ".repeat(20))),
            _ => None,
        }
    }
}

fn race(id: &str, subject: &str, sites: Vec<Site>) -> Finding {
    Finding {
        id: id.to_owned(),
        field_type: Some("int".to_owned()),
        owner: Some("Account@7".to_owned()),
        sites,
        ..Finding::new(Kind::DataRace, Status::Warning, "racer", subject)
    }
}

fn balance() -> Finding {
    let writer = vec![
        frame("Account", "deposit", 12),
        frame("Main", "run", 33),
        frame("java.lang.Thread", "run", 840),
    ];
    let reader = vec![
        frame("java.lang.Fissure$Hook", "read", 3),
        frame("Account", "total", 20),
        frame("Main", "sum1", 41),
        frame("Main", "sum2", 42),
        frame("Main", "sum3", 43),
        frame("Main", "sum4", 44),
        frame("Main", "sum5", 45),
        frame("Main", "sum6", 46),
        frame("java.lang.Thread", "run", 840),
    ];
    let mut reading = site("read", "T2", reader[1..].to_vec(), &[("Account@3", false)]);
    reading.stack = reader;
    let finding =
        race("1f2e3d4c5b6a7988", "Account.balance", vec![site("write", "T1", writer, &[]), reading]);
    Finding { hits: 3, ..finding }
}

fn limit() -> Finding {
    let sites = vec![
        site(
            "write",
            "main",
            vec![frame("com.acme.Account", "<init>", 5), frame("com.acme.Main", "main", 9)],
            &[],
        ),
        site("read", "T1", vec![frame("com.acme.Account", "limit", 31)], &[("this", false)]),
    ];
    Finding { ordered: true, ..race("00000000000000aa", "com.acme.Account.limit", sites) }
}

fn cache() -> Finding {
    let unnamed = Site {
        file: None,
        line: None,
        stack: Vec::new(),
        ..site("write", "", vec![frame("Cache", "put", 1)], &[])
    };
    let sites = vec![
        site(
            "write",
            "pool-1\u{1b}[31m",
            vec![frame("Account", "log", 1203)],
            &[("Cache.class", false), ("Lock@4", true), ("this", false)],
        ),
        unnamed,
    ];
    Finding {
        field_type: Some("java.util.Map".to_owned()),
        owner: Some("static".to_owned()),
        ..race("00000000000000bb", "Cache.entries", sites)
    }
}

fn withdrawal() -> Finding {
    let below = |stack: &[Frame]| {
        [stack, &[frame("Main", "run", 33), frame("java.lang.Thread", "run", 840)]].concat()
    };
    let block = frame("Account", "withdraw", 12);
    let sites = vec![
        site("entered", "T1", below(std::slice::from_ref(&block)), &[]),
        site("committed", "T1", below(&[frame("Balance", "get", 8), block.clone()]), &[]),
        site("violated", "T1", below(&[frame("Balance", "take", 20), block]), &[]),
    ];
    Finding {
        id: "00000000000000cc".to_owned(),
        object: Some("Balance@3".to_owned()),
        reason: Some(
            "after Balance@3 has been given back, it is acquired again, and other threads can acquire it in between"
                .to_owned(),
        ),
        hits: 1203,
        sites,
        ..Finding::new(Kind::AtomicityViolation, Status::Warning, "atomizer", "Account.withdraw")
    }
}

fn coverage() -> Coverage {
    Coverage {
        jvms: 1,
        classes_loaded: 600,
        classes_rewritten: 512,
        classes_in_scope: 37,
        classes_hidden: 4,
        methods_rewritten: 5000,
        methods_left_alone: 0,
        left_alone: Vec::new(),
        threads: 4,
        threads_accessing: 3,
        access_sites: 20_000,
        lock_operations: 1234,
        locations: 567,
        accesses_analysed: 1_234_567,
        ..Coverage::default()
    }
}

fn report(findings: Vec<Finding>) -> Report {
    let hello = Hello {
        pid: 4711,
        vm_name: "OpenJDK 64-Bit Server VM".to_owned(),
        vm_version: "17.0.9+9".to_owned(),
        command: "Main 1 2".to_owned(),
        refused: None,
    };
    Report {
        runs: 1,
        exits: BTreeMap::from([(Exit::Code(0), 1)]),
        jvms: vec![hello],
        coverage: coverage(),
        findings,
        ..Report::default()
    }
}

/// A report with methods left alone, a refused JVM, a limit and a killed program.
fn troubled() -> Report {
    let mut troubled = report(vec![limit()]);
    troubled.exits = BTreeMap::from([(Exit::Signal(9), 1)]);
    troubled.notices = vec![
        "the JVM did not end normally (killed, crashed or halted); what was seen up to there is reported"
            .to_owned(),
    ];
    troubled.coverage.methods_left_alone = 3;
    let left = |class: &str, method: &str, reason: &str| LeftAlone {
        class: class.to_owned(),
        method: method.to_owned(),
        reason: reason.to_owned(),
    };
    troubled.coverage.left_alone = vec![
        left("com.acme.Giant", "everything", "the method would grow past 65,535 bytes"),
        left("com.acme.Odd", "", "the class file could not be read"),
    ];
    troubled.coverage.limits = BTreeMap::from([("virtual threads were not watched".to_owned(), 2)]);
    let refused = Some(Refusal::BuildTool);
    troubled.jvms.push(Hello {
        pid: 4700,
        command: "org.gradle.launcher".to_owned(),
        refused,
        ..troubled.jvms[0].clone()
    });
    troubled
}

fn check(name: &str, report: &Report, options: Options, sources: &dyn SourceFinder) {
    insta::assert_snapshot!(name, text::render(report, &options, sources));
}

#[test]
fn findings_are_explained() {
    check("several", &report(vec![limit(), cache(), balance()]), PLAIN, &Account);
    check("several-verbose", &report(vec![limit(), balance()]), Options { verbose: true, ..PLAIN }, &Account);
    check("one-in-colour", &report(vec![balance()]), Options { color: true, ..PLAIN }, &Account);
    check("no-sources", &report(vec![balance()]), PLAIN, &NoSources);
}

#[test]
fn only_a_test_that_a_framework_runs_is_called_one() {
    let sites = || vec![site("write", "T1", vec![frame("com.acme.LoadTest", "run", 12)], &[])];
    let seen_in = |test: Option<&str>| {
        let finding =
            Finding { test: test.map(str::to_owned), ..race("0", "com.acme.LoadTest.count", sites()) };
        text::render(&report(vec![finding]), &PLAIN, &NoSources)
    };
    assert!(!seen_in(None).contains("in test"));
    assert!(seen_in(Some("com.acme.Checks.counts")).contains("in test com.acme.Checks.counts"));
}

#[test]
fn blocks_that_are_not_atomic_show_three_sites_and_the_reason() {
    let mut blocks = report(vec![withdrawal()]);
    (blocks.coverage.atomic_blocks, blocks.coverage.block_executions) = (20, 4321);
    blocks.coverage.always_atomic = 19;
    check("not-atomic", &blocks, PLAIN, &Account);
    check("not-atomic-narrow", &blocks, Options { width: 50, ..PLAIN }, &NoSources);
    insta::assert_snapshot!("json-not-atomic", json::render(&blocks, "1.2.3").unwrap());
}

#[test]
fn a_run_without_findings_reports_its_coverage() {
    check("nothing-found", &report(Vec::new()), PLAIN, &NoSources);
}

#[test]
fn origins_of_classes_are_reported() {
    let origin = |root: &str, kind, classes, package: &str| Origin {
        root: root.to_owned(),
        kind,
        classes,
        package: package.to_owned(),
    };
    let mut with_origins = report(Vec::new());
    with_origins.coverage.threads_in_scope = Some(2);
    with_origins.coverage.origins = vec![
        origin("target/classes", OriginKind::Application, 37, "com.acme"),
        origin("lib/pool.jar", OriginKind::Library, 63, "org.pool"),
    ];
    check("origins", &with_origins, PLAIN, &NoSources);
    insta::assert_snapshot!("json-origins", json::render(&with_origins, "1.2.3").unwrap());
    let page = html::render(&with_origins, "1.2.3", &NoSources).unwrap();
    assert!(
        page.contains("the application: target&#x2f;classes (37 classes); libraries: 1 jar, 63 classes"),
        "{page}"
    );
}

#[test]
fn one_of_each_is_singular() {
    let mut single = report(Vec::new());
    single.coverage = Coverage {
        jvms: 1,
        classes_rewritten: 1,
        classes_in_scope: 1,
        methods_left_alone: 1,
        threads: 1,
        lock_operations: 1,
        locations: 1,
        limits: BTreeMap::from([("a native method was not seen".to_owned(), 1)]),
        ..Coverage::default()
    };
    check("singular", &single, PLAIN, &NoSources);
}

#[test]
fn limits_and_refusals_are_reported() {
    check("troubled", &troubled(), PLAIN, &NoSources);
    check("troubled-verbose", &troubled(), Options { verbose: true, ..PLAIN }, &NoSources);
    check("troubled-narrow", &troubled(), Options { width: 50, ..PLAIN }, &NoSources);
}

#[test]
fn problems_replace_results() {
    let mut invalid = report(Vec::new());
    invalid.problem = Some("nothing could be found: only one thread accessed watched fields".to_owned());
    check("blind", &invalid, PLAIN, &NoSources);
    let problem = Some("cannot start 'jav': there is no such program".to_owned());
    check("not-started", &Report { problem, ..Report::default() }, PLAIN, &NoSources);
}

#[test]
fn every_kind_has_its_own_headline() {
    let stack = || vec![frame("Account", "transfer", 50)];
    let mut findings = Vec::new();
    let kinds = [
        Kind::AtomicityViolation,
        Kind::AtomicSetViolation,
        Kind::Deadlock,
        Kind::NonAtomicMethod,
        Kind::Failure,
        Kind::Custom,
    ];
    for (at, kind) in kinds.into_iter().enumerate() {
        let consequence = Some(Consequence {
            kind: "java.lang.IllegalStateException".to_owned().into(),
            message: if at == 0 { String::new() } else { "negative balance".to_owned() },
            thread: String::new(),
            stack: Vec::new(),
        });
        findings.push(Finding {
            kind,
            status: if at == 0 { Status::Confirmed } else { Status::Bug },
            analysis: "atomfuzzer".to_owned(),
            field_type: None,
            owner: None,
            consequence,
            ..race(&format!("{at:016x}"), "Account.transfer", vec![site("commit", "T1", stack(), &[])])
        });
    }
    check("other-kinds", &report(findings), PLAIN, &NoSources);
}

#[test]
fn hunts_show_interleavings() {
    let every = hunt(common::all_kinds());
    check("hunt", &every, PLAIN, &common::Sources);
    check("hunt-verbose", &every, Options { verbose: true, ..PLAIN }, &common::Sources);
    check(
        "hunt-in-colour",
        &hunt(vec![common::append()]),
        Options { color: true, ..PLAIN },
        &common::Sources,
    );
    check("hunt-narrow", &hunt(vec![common::append()]), Options { width: 50, ..PLAIN }, &common::Sources);
}

#[test]
fn text_of_the_program_is_escaped() {
    let text = text::render(&hunt(vec![common::hostile()]), &PLAIN, &NoSources);
    assert!(!text.contains('\u{1b}') && !text.contains('\u{0}'), "{text}");
    assert!(text.contains("\\u{1b}[31m"), "{text}");
}

#[test]
fn json_has_stable_keys_and_order() {
    let mut full = troubled();
    full.findings.push(balance());
    full.exits.insert(Exit::Code(137), 2);
    full.exits.insert(Exit::Code(3), 1);
    insta::assert_snapshot!("json", json::render(&full, "1.2.3").unwrap());
    insta::assert_snapshot!("json-empty", json::render(&Report::default(), "1.2.3").unwrap());
}
