//! The result of the verification, and its failures.

use std::fmt;

use super::{dotted, java::Linking, rewriting::Rewriting};

/// The most classes that a failure names.
const NAMED: usize = 10;

/// The result of the verification.
#[derive(Debug, Default)]
pub(crate) struct Outcome {
    pub(crate) classes: usize,
    pub(crate) rewriting: Rewriting,
    /// The JVM with its original classes.
    pub(crate) plain: Linking,
    /// The JVM with the rewritten classes.
    pub(crate) patched: Linking,
}

impl Outcome {
    /// The failures, in words; empty if the verification passed.
    pub(crate) fn failures(&self) -> Vec<String> {
        let (plain, patched) = (&self.plain, &self.patched);
        let mut failures = Vec::new();
        if self.rewriting.classes.is_empty() {
            failures.push("nothing was rewritten".to_owned());
        }
        add_failure(&mut failures, "rejected", patched.refused.keys());
        let lost = patched.incomplete.keys().filter(|class| !plain.incomplete.contains_key(*class));
        add_failure(&mut failures, "no longer linked", lost);
        if patched.linked < plain.linked {
            failures.push(format!("only {} of {} classes were linked", patched.linked, plain.linked));
        }
        let originals: Vec<String> = self.originals().collect();
        add_failure(&mut failures, "linked, but not as rewritten", originals.iter());
        let unseen = plain.log.verified.difference(&patched.log.verified);
        let unseen = unseen.filter(|class| self.is_rewritten(class) && self.is_linked(class));
        add_failure(&mut failures, "not verified any more", unseen);
        failures
    }

    /// Rewritten classes that the JVM linked in their original form.
    fn originals(&self) -> impl Iterator<Item = String> {
        let classes = self.rewriting.classes.iter().map(|(name, bytes)| (dotted(name), bytes.len()));
        classes
            .filter(|(name, length)| {
                self.is_linked(name) && self.patched.log.loaded.get(name) != Some(length)
            })
            .map(|(name, _)| name)
    }

    /// Rewritten classes that the JVM linked without verifying them, as it does with a few that the verifier itself needs.
    fn trusted(&self) -> Vec<String> {
        let names = self.rewriting.classes.keys().map(|name| dotted(name));
        names.filter(|name| self.is_linked(name) && !self.patched.log.verified.contains(name)).collect()
    }

    fn is_linked(&self, class: &str) -> bool {
        !self.patched.refused.contains_key(class) && !self.patched.incomplete.contains_key(class)
    }

    fn is_rewritten(&self, class: &str) -> bool {
        self.rewriting.classes.contains_key(&class.replace('.', "/"))
    }
}

impl fmt::Display for Outcome {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { rewriting, plain, patched, .. } = self;
        let mut row = |name: &str, value: String| writeln!(formatter, "{name:<20}{value}");
        row("classes", self.classes.to_string())?;
        row("rewritten", rewriting.classes.len().to_string())?;
        row("methods rewritten", rewriting.methods.to_string())?;
        let micros = rewriting.time.as_secs_f64() * 1e6 / self.classes.max(1) as f64;
        row("time for each class", format!("{micros:.1} µs"))?;
        row("left alone", rewriting.left_alone.values().map(Vec::len).sum::<usize>().to_string())?;
        for (reason, names) in &rewriting.left_alone {
            for name in names {
                row("", format!("{name}: {reason}"))?;
            }
        }
        row("linked", format!("{}, originally {}", patched.linked, plain.linked))?;
        let trusted = self.trusted();
        row("not verified", trusted.len().to_string())?;
        for name in &trusted {
            row("", format!("{name}: the JVM never verifies it"))?;
        }
        row("incomplete", format!("{}, originally {}", patched.incomplete.len(), plain.incomplete.len()))?;
        row("rejected", format!("{}, originally {}", patched.refused.len(), plain.refused.len()))?;
        for (name, error) in &patched.refused {
            row("", format!("{name}: {error}"))?;
        }
        Ok(())
    }
}

fn add_failure<'a>(failures: &mut Vec<String>, what: &str, classes: impl Iterator<Item = &'a String>) {
    let classes: Vec<&str> = classes.map(String::as_str).collect();
    if !classes.is_empty() {
        let more = if classes.len() > NAMED { ", ..." } else { "" };
        let named = classes[..classes.len().min(NAMED)].join(", ");
        failures.push(format!("{what} ({}): {named}{more}", classes.len()));
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::{super::java::Log, *};

    /// Two rewritten classes, and a JVM that links and verifies both, before and after.
    fn good() -> Outcome {
        let linking = |length| Linking {
            linked: 2,
            log: Log {
                loaded: ["a.A", "a.B"].map(|name| (name.to_owned(), length)).into(),
                verified: ["a.A", "a.B"].map(str::to_owned).into(),
            },
            ..Linking::default()
        };
        let classes = ["a/A", "a/B"].map(|name| (name.to_owned(), vec![0; 20])).into();
        let rewriting =
            Rewriting { classes, methods: 2, time: Duration::from_micros(7), ..Rewriting::default() };
        Outcome { classes: 2, rewriting, plain: linking(10), patched: linking(20) }
    }

    fn check(change: impl FnOnce(&mut Outcome), expected: &[&str]) {
        let mut outcome = good();
        change(&mut outcome);
        assert_eq!(outcome.failures(), expected, "{outcome}");
    }

    #[test]
    fn verification_fails_unless_all_classes_are_linked_verified_and_rewritten() {
        check(|_| (), &[]);
        check(|outcome| outcome.rewriting = Rewriting::default(), &["nothing was rewritten"]);
        check(
            |outcome| {
                outcome.patched.linked = 1;
                outcome.patched.refused.insert("a.B".to_owned(), "VerifyError".to_owned());
            },
            &["rejected (1): a.B", "only 1 of 2 classes were linked"],
        );
        check(
            |outcome| {
                outcome.patched.linked = 1;
                outcome.patched.incomplete.insert("a.A".to_owned(), "NoClassDefFoundError".to_owned());
            },
            &["no longer linked (1): a.A", "only 1 of 2 classes were linked"],
        );
        check(
            |outcome| outcome.patched.log.loaded.retain(|class, _| class != "a.A"),
            &["linked, but not as rewritten (1): a.A"],
        );
        check(
            |outcome| outcome.patched.log.verified.retain(|class| class != "a.B"),
            &["not verified any more (1): a.B"],
        );
    }

    #[test]
    fn the_table_names_methods_left_alone_and_rejected_classes() {
        let mut outcome = good();
        outcome.rewriting.left_alone.insert("too long".to_owned(), vec!["a.A.m()V".to_owned()]);
        outcome.patched.refused.insert("a.B".to_owned(), "VerifyError".to_owned());
        let table = outcome.to_string();
        for part in ["a.A.m()V: too long\n", "a.B: VerifyError\n", "3.5 µs\n", "2, originally 2\n"] {
            assert!(table.contains(part), "{part} is not in\n{table}");
        }
    }
}
