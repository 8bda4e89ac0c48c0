//! The HTML page as text: self-contained, and safe for any name that a program gives its classes. `browser.rs` tests its
//! behaviour in a real browser.

mod common;

use fissure_model::coverage::{Origin, OriginKind};
use fissure_report::{NoSources, Report, SourceFinder, html};

use common::{Sources, hunt};

fn render(report: &Report, sources: &dyn SourceFinder) -> String {
    html::render(report, "1.2.3", sources).unwrap()
}

/// The page without its style sheet and script, which do not depend on the report.
fn body(page: &str) -> String {
    let (head, rest) = page.split_once("<style>").unwrap();
    let (_, rest) = rest.split_once("</style>").unwrap();
    let (body, script) = rest.split_once("</script>\n<script>").unwrap();
    let (_, end) = script.split_once("</script>").unwrap();
    format!("{head}{body}{end}")
}

#[test]
fn the_page_matches_its_golden_file() {
    insta::assert_snapshot!("one", body(&render(&hunt(vec![common::append()]), &Sources)));
    insta::assert_snapshot!("empty", body(&render(&hunt(Vec::new()), &NoSources)));
}

#[test]
fn the_page_loads_nothing() {
    let page = render(&hunt(common::all_kinds()), &Sources);
    for forbidden in ["http://", "https://", "src=", "@import", "url("] {
        let found: Vec<&str> = page
            .match_indices(forbidden)
            .map(|(at, _)| &page[at.saturating_sub(30)..(at + 40).min(page.len())])
            // Namespaces and references inside the page are not loaded.
            .filter(|around| !around.contains("xmlns=") && !around.contains("url(#arrow"))
            .collect();
        assert!(found.is_empty(), "{found:?}");
    }
}

#[test]
fn text_of_the_program_is_escaped() {
    struct Hostile;
    impl SourceFinder for Hostile {
        fn line(&self, _class: &str, _file: &str, line: u32) -> Option<String> {
            (line < 9).then(|| common::HOSTILE.to_owned())
        }
        fn path(&self, _class: &str, _file: &str) -> Option<String> {
            Some(common::HOSTILE.to_owned())
        }
    }
    let mut report = hunt(vec![common::hostile()]);
    report.command = vec![common::HOSTILE.to_owned()];
    report.notices = vec![common::HOSTILE.to_owned()];
    report.coverage.origins = vec![Origin {
        root: common::HOSTILE.to_owned(),
        kind: OriginKind::Application,
        classes: 1,
        package: common::HOSTILE.to_owned(),
    }];
    report.problem = Some(common::HOSTILE.to_owned());
    let page = render(&report, &Hostile);
    assert!(!page.contains("<img"), "a name became an element");
    assert!(!page.contains("60481729"), "a name was evaluated as a template");
    assert_eq!(page.matches("</script>").count(), 2);
    assert!(!page.contains(['\u{1b}', '\u{0}', '\u{202e}']), "control characters were not escaped");
}

#[test]
fn reports_without_findings_or_sources_are_rendered() {
    assert!(render(&hunt(Vec::new()), &NoSources).contains("Nothing was found"));
    let invalid = Report { problem: Some("nothing was instrumented".to_owned()), ..Report::default() };
    let page = render(&invalid, &NoSources);
    assert!(page.contains("This result means nothing") && !page.contains("Nothing was found"));
}
