//! The origins of the program's classes, in words: which folders and jars were taken for the application.

use fissure_model::coverage::{Origin, OriginKind};

use crate::{Report, words};

/// How many origins are listed by name.
const NAMED: usize = 3;

/// `the application: target/classes (112 classes), target/test-classes (40 classes); libraries: 14 jars, 2,310 classes`.
/// `None` if no origin is known.
pub(crate) fn describe(report: &Report) -> Option<String> {
    // The JVMs of a hunt run the same program, so sums would say little.
    let is_hunt = !report.seeds.is_empty() && report.coverage.locations == 0;
    let jvms = if is_hunt { report.coverage.jvms.max(1) } else { 1 };
    describe_origins(&report.coverage.origins, jvms)
}

fn describe_origins(origins: &[Origin], jvms: u64) -> Option<String> {
    if origins.is_empty() {
        return None;
    }
    let of = |kind| origins.iter().filter(move |origin| origin.kind == kind).collect::<Vec<_>>();
    let (named, own, libraries) =
        (of(OriginKind::Scope), of(OriginKind::Application), of(OriginKind::Library));
    let mut parts = Vec::new();
    if named.is_empty() {
        parts.push(format!("the application: {}", list_for(&own, jvms)));
    } else {
        parts.push(format!("in scope: {}", list_for(&named, jvms)));
        if !own.is_empty() {
            parts.push(format!("the rest of the application: {}", sum(&own, jvms)));
        }
    }
    if !libraries.is_empty() {
        let are_jars = libraries.iter().all(|origin| origin.root.ends_with(".jar"));
        let (one, many) = if are_jars { ("jar", "jars") } else { ("place", "places") };
        let origins = words::count(libraries.len() as u64, one, many);
        parts.push(format!("libraries: {origins}, {}", sum(&libraries, jvms)));
    }
    Some(parts.join("; "))
}

/// The first origins with the numbers of their classes, and how many more origins there are.
pub fn list(origins: &[&Origin]) -> String {
    list_for(origins, 1)
}

/// The same with the sums of several JVMs divided by their number.
fn list_for(origins: &[&Origin], jvms: u64) -> String {
    if origins.is_empty() {
        return "no class".to_owned();
    }
    let mut parts: Vec<String> = origins
        .iter()
        .take(NAMED)
        .map(|origin| {
            let classes = words::count(origin.classes.div_ceil(jvms), "class", "classes");
            format!("{} ({classes})", origin.root)
        })
        .collect();
    if origins.len() > NAMED {
        parts.push(format!("and {} more", words::thousands((origins.len() - NAMED) as u64)));
    }
    parts.join(", ")
}

fn sum(origins: &[&Origin], jvms: u64) -> String {
    let classes: u64 = origins.iter().map(|origin| origin.classes).sum();
    words::count(classes.div_ceil(jvms), "class", "classes")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn origin(root: &str, kind: OriginKind, classes: u64) -> Origin {
        Origin { root: root.to_owned(), kind, classes, package: "com.acme".to_owned() }
    }

    fn check(origins: &[Origin], jvms: u64, expected: Option<&str>) {
        assert_eq!(describe_origins(origins, jvms).as_deref(), expected, "{origins:?}");
    }

    #[test]
    fn the_application_is_listed_apart_from_libraries() {
        use OriginKind::{Application, Library, Scope};
        check(&[], 1, None);
        let main = origin("target/classes", Application, 112);
        let tests = origin("target/test-classes", Application, 1);
        let libraries = [origin("a.jar", Library, 10), origin("b.jar", Library, 2300)];
        check(std::slice::from_ref(&main), 1, Some("the application: target/classes (112 classes)"));
        check(std::slice::from_ref(&main), 4, Some("the application: target/classes (28 classes)"));
        let [first, second] = libraries.clone();
        check(
            &[main.clone(), tests, first, second],
            1,
            Some(
                "the application: target/classes (112 classes), target/test-classes (1 class); libraries: 2 jars, 2,310 classes",
            ),
        );
        let mixed = [origin("a.jar", Library, 10), origin("classes without a code source", Library, 1)];
        check(&mixed, 1, Some("the application: no class; libraries: 2 places, 11 classes"));
        check(&libraries, 1, Some("the application: no class; libraries: 2 jars, 2,310 classes"));
        let many: Vec<Origin> = (1..=5).map(|number| origin(&format!("{number}"), Application, 1)).collect();
        check(&many, 1, Some("the application: 1 (1 class), 2 (1 class), 3 (1 class), and 2 more"));
        check(
            &[origin("a.jar", Scope, 3), main],
            1,
            Some("in scope: a.jar (3 classes); the rest of the application: 112 classes"),
        );
    }
}
