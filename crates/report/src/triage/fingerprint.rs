//! Fingerprints of findings that stay the same under unrelated edits: shifted lines and renamed local variables.
//!
//! An id distinguishes the findings of one version of a program. A fingerprint identifies a finding in the next version:
//! it is computed from the kind and from names that change only if the code of the finding itself changes.

use fissure_model::finding::{Finding, Kind, fingerprint as hash};

/// The fingerprint of a finding: 16 hexadecimal digits.
///
/// Two findings may share one, such as two blocks of the same method; baselines then count them.
pub fn fingerprint(finding: &Finding) -> String {
    let subject = stable_subject(finding);
    let mut parts = vec![key(finding.kind).to_owned(), subject];
    match finding.kind {
        // Each subject has one finding, and it depends on the schedule which of its sites a run shows.
        Kind::DataRace | Kind::AtomicityViolation | Kind::NonAtomicMethod => {}
        Kind::Failure => {
            let exception =
                finding.consequence.as_ref().map(|consequence| consequence.kind.name().to_owned());
            parts.extend(exception);
        }
        Kind::AtomicSetViolation | Kind::Deadlock | Kind::Custom => {
            parts.extend(finding.pattern.map(|pattern| pattern.to_string()));
            if finding.kind == Kind::Custom {
                // A monitor script may report several messages about one subject; numbers in them differ from run to run.
                let message = finding.reason.as_deref().unwrap_or_default();
                parts.push(finding.analysis.clone());
                parts.push(message.chars().filter(|letter| !letter.is_ascii_digit()).collect());
            }
            let mut members: Vec<String> = finding
                .sites
                .iter()
                // The site where a lock was acquired is not always known.
                .filter(|site| !site.role.starts_with("holds lock"))
                .map(|site| format!("{}.{}", without_numbers(&site.class), without_numbers(&site.method)))
                .collect();
            members.sort();
            members.dedup();
            parts.extend(members);
        }
    }
    hash(&parts.iter().map(String::as_str).collect::<Vec<_>>())
}

/// The name of a kind in fingerprints. It never changes, even if the kind is renamed elsewhere.
fn key(kind: Kind) -> &'static str {
    match kind {
        Kind::DataRace => "DataRace",
        Kind::AtomicityViolation => "AtomicityViolation",
        Kind::AtomicSetViolation => "AtomicSetViolation",
        Kind::Deadlock => "Deadlock",
        Kind::NonAtomicMethod => "NonAtomicMethod",
        Kind::Failure | Kind::Custom => "Custom",
    }
}

/// The subject without line numbers and names of local variables.
fn stable_subject(finding: &Finding) -> String {
    let subject = finding.subject.as_str();
    let subject = match subject.rsplit_once(':') {
        Some((member, line)) if !line.is_empty() && line.bytes().all(|byte| byte.is_ascii_digit()) => member,
        _ => subject,
    };
    // The race of an array that only a local variable holds is named by class, method and variable.
    if finding.kind == Kind::DataRace
        && let Some((member, _)) = subject.rsplit_once('.')
        && finding.sites.iter().any(|site| format!("{}.{}", site.class, site.method) == member)
    {
        let local = finding.field_type.as_deref().unwrap_or("local");
        return without_numbers(&format!("{member}.{local}"));
    }
    without_numbers(subject)
}

/// The compiler numbers lambdas in the order of a class's lines (`lambda$main$3`): edits elsewhere change the number.
fn without_numbers(name: &str) -> String {
    let Some((before, after)) = name.split_once("lambda$") else { return name.to_owned() };
    let end = after.find('.').unwrap_or(after.len());
    let (lambda, rest) = after.split_at(end);
    let lambda = match lambda.rsplit_once('$') {
        Some((method, number)) if number.bytes().all(|byte| byte.is_ascii_digit()) => method,
        _ => lambda,
    };
    format!("{before}lambda${lambda}{rest}")
}

#[cfg(test)]
mod tests {
    use fissure_model::finding::{Site, Status};

    use super::*;

    fn finding(kind: Kind, subject: &str, sites: &[(&str, u32)]) -> Finding {
        let sites = sites.iter().map(|(site, line)| {
            let (class, method) = site.rsplit_once('.').unwrap();
            Site {
                role: "write".to_owned(),
                thread: format!("T{line}"),
                class: class.to_owned(),
                method: method.to_owned(),
                file: None,
                line: Some(*line),
                stack: Vec::new(),
                locks: Vec::new(),
            }
        });
        let field_type = (kind == Kind::DataRace).then(|| "int[]".to_owned());
        Finding { sites: sites.collect(), field_type, ..Finding::new(kind, Status::Warning, "x", subject) }
    }

    fn check(kind: Kind, a: (&str, &[(&str, u32)]), b: (&str, &[(&str, u32)]), same: bool) {
        let (a, b) = (finding(kind, a.0, a.1), finding(kind, b.0, b.1));
        assert_eq!(fingerprint(&a) == fingerprint(&b), same, "{} and {}", a.subject, b.subject);
    }

    #[test]
    fn unrelated_edits_do_not_change_fingerprints() {
        use Kind::{AtomicSetViolation, AtomicityViolation, DataRace};
        check(DataRace, ("A.x", &[("A.m", 1)]), ("A.x", &[("B.n", 9)]), true);
        check(DataRace, ("A.x", &[]), ("A.y", &[]), false);
        check(DataRace, ("A.m.data", &[("A.m", 1)]), ("A.m.values", &[("A.m", 2)]), true);
        check(DataRace, ("A.B.data", &[("A.m", 1)]), ("A.B.values", &[("A.m", 2)]), false);
        check(
            DataRace,
            ("A.lambda$m$0.a", &[("A.lambda$m$0", 1)]),
            ("A.lambda$m$3.b", &[("A.lambda$m$3", 2)]),
            true,
        );
        check(AtomicityViolation, ("A.m:10", &[]), ("A.m:17", &[]), true);
        check(AtomicityViolation, ("A.m:10", &[]), ("A.n:10", &[]), false);
        check(AtomicityViolation, ("A.lambda$m$0:3", &[]), ("A.lambda$m$1:4", &[]), true);
        check(AtomicityViolation, ("A.lambda$m$0", &[]), ("A.lambda$n$0", &[]), false);
        check(AtomicSetViolation, ("A", &[("A.m", 1), ("A.n", 2)]), ("A", &[("A.n", 7), ("A.m", 8)]), true);
        check(AtomicSetViolation, ("A", &[("A.m", 1)]), ("A", &[("A.n", 1)]), false);
    }

    #[test]
    fn fingerprints_do_not_depend_on_the_names_of_kinds() {
        let kinds = [
            (Kind::DataRace, "3c33dce0be0aa282"),
            (Kind::AtomicityViolation, "f3783179b7e7f233"),
            (Kind::AtomicSetViolation, "d51d1b807dd3f2f7"),
            (Kind::Deadlock, "44fbf89e2a8d2e6a"),
            (Kind::NonAtomicMethod, "e96d79e7ee52ddc2"),
        ];
        for (kind, expected) in kinds {
            assert_eq!(fingerprint(&finding(kind, "A.m", &[])), expected, "{kind:?}");
        }
    }

    #[test]
    fn failures_differ_by_their_exceptions() {
        let print = |exception: &str, reason: &str| {
            let consequence = Some(fissure_model::finding::Consequence {
                kind: exception.to_owned().into(),
                message: String::new(),
                thread: String::new(),
                stack: Vec::new(),
            });
            let found = finding(Kind::Failure, "A.m", &[("A.m", 1)]);
            fingerprint(&Finding { consequence, reason: Some(reason.to_owned()), ..found })
        };
        assert_eq!(print("Boom", "fails in some schedules"), print("Boom", "fails if x is read late"));
        assert_ne!(print("Boom", "x"), print("Bang", "x"));
    }

    #[test]
    fn findings_of_monitor_scripts_differ_by_their_messages() {
        let print = |message: &str| {
            let found = finding(Kind::Custom, "A.x", &[("A.m", 1)]);
            fingerprint(&Finding { reason: Some(message.to_owned()), ..found })
        };
        assert_eq!(print("overdrawn: 40"), print("overdrawn: 70"));
        assert_ne!(print("overdrawn: 40"), print("closed twice"));
    }
}
