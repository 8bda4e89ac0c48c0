//! A finding that a header names.

use serde_json::Value;

/// An analysis of `fissure detect`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Analysis {
    /// Lock sets with start and join.
    Racer,
    /// Plain lock sets.
    Eraser,
    /// Atomic blocks.
    Atomizer,
}

impl Analysis {
    const ALL: [Analysis; 3] = [Analysis::Racer, Analysis::Eraser, Analysis::Atomizer];

    /// The name in options, headers and reports.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Analysis::Racer => "racer",
            Analysis::Eraser => "eraser",
            Analysis::Atomizer => "atomizer",
        }
    }

    /// The analysis of a name.
    #[must_use]
    pub fn named(name: &str) -> Option<Analysis> {
        Analysis::ALL.into_iter().find(|analysis| analysis.name() == name)
    }
}

/// A finding that a header names.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Claim {
    /// The analysis that reports it, in programs for `fissure detect`.
    pub analysis: Option<Analysis>,
    /// The kind of the finding, as in reports.
    pub kind: String,
    /// The number of the pattern, for violations of atomic sets.
    pub pattern: Option<u64>,
    /// The subject of the finding. A `*` at its end stands for any rest.
    pub subject: String,
}

impl Claim {
    /// A claim of a kind.
    #[must_use]
    pub fn new(kind: &str, subject: &str) -> Self {
        Claim { analysis: None, kind: kind.to_owned(), pattern: None, subject: subject.to_owned() }
    }

    /// The same, found by an analysis.
    #[must_use]
    pub fn by(self, analysis: Analysis) -> Self {
        Claim { analysis: Some(analysis), ..self }
    }

    /// Whether a finding of a report is the one that this claim names.
    #[must_use]
    pub fn covers(&self, finding: &Value) -> bool {
        let subject = finding["subject"].as_str().unwrap_or_default();
        let subject_matches = match self.subject.strip_suffix('*') {
            Some(start) => subject.starts_with(start),
            None => subject == self.subject,
        };
        subject_matches
            && finding["kind"] == *self.kind
            && self.analysis.is_none_or(|analysis| finding["analysis"] == analysis.name())
            && finding["pattern"].as_u64() == self.pattern
    }
}

impl std::fmt::Display for Claim {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        if let Some(analysis) = self.analysis {
            write!(formatter, "{} ", analysis.name())?;
        }
        match self.pattern {
            Some(pattern) => write!(formatter, "pattern {pattern} of {}", self.subject),
            None => write!(formatter, "{} {}", self.kind, self.subject),
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn check(claim: &Claim, finding: Value, expected: bool) {
        assert_eq!(claim.covers(&finding), expected, "{claim}: {finding}");
    }

    #[test]
    fn claims_cover_findings() {
        let race = Claim::new("data-race", "A.b");
        check(&race, json!({"kind": "data-race", "subject": "A.b", "analysis": "racer"}), true);
        check(&race, json!({"kind": "data-race", "subject": "A.bc"}), false);
        check(&race, json!({"kind": "deadlock", "subject": "A.b"}), false);
        let by_racer = race.by(Analysis::Racer);
        check(&by_racer, json!({"kind": "data-race", "subject": "A.b", "analysis": "racer"}), true);
        check(&by_racer, json!({"kind": "data-race", "subject": "A.b", "analysis": "eraser"}), false);
        let any_line = Claim::new("atomicity-violation", "A.b:*");
        check(&any_line, json!({"kind": "atomicity-violation", "subject": "A.b:12"}), true);
        check(&any_line, json!({"kind": "atomicity-violation", "subject": "A.bc:12"}), false);
        let pattern = Claim { pattern: Some(9), ..Claim::new("atomic-set-violation", "A") };
        check(&pattern, json!({"kind": "atomic-set-violation", "pattern": 9, "subject": "A"}), true);
        check(&pattern, json!({"kind": "atomic-set-violation", "pattern": 8, "subject": "A"}), false);
    }
}
