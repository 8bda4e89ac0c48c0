//! Suppressions: findings that the user decided to accept, each with a reason.

use fissure_model::finding::{Finding, Kind};
use serde::Deserialize;

use crate::{names, triage::fingerprint};

/// One suppression, as `fissure.toml` gives it.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(try_from = "Form")]
pub struct Suppression {
    form: Form,
}

/// A suppression is incomplete.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum SuppressionError {
    /// It gives no reason.
    #[error("a suppression needs a reason, such as reason = \"only read by the debugger\"")]
    NoReason,
    /// It would hide everything.
    #[error("a suppression needs an id or a subject, such as subject = \"com.acme.Account.balance\"")]
    NoMatcher,
}

#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
struct Form {
    #[serde(default)]
    reason: String,
    id: Option<String>,
    subject: Option<String>,
    kind: Option<Kind>,
    analysis: Option<String>,
}

impl TryFrom<Form> for Suppression {
    type Error = SuppressionError;

    fn try_from(form: Form) -> Result<Self, SuppressionError> {
        let given = |text: &Option<String>| text.as_deref().is_some_and(|text| !text.trim().is_empty());
        if form.reason.trim().is_empty() {
            return Err(SuppressionError::NoReason);
        }
        if !given(&form.id) && !given(&form.subject) {
            return Err(SuppressionError::NoMatcher);
        }
        Ok(Suppression { form })
    }
}

impl Suppression {
    /// The reason.
    pub fn reason(&self) -> &str {
        self.form.reason.trim()
    }

    /// The findings that it matches, as a part of a sentence.
    pub fn matcher(&self) -> String {
        let form = &self.form;
        let mut parts = Vec::new();
        parts.extend(form.id.as_ref().map(|id| format!("id {id}")));
        parts.extend(form.subject.clone());
        parts.extend(form.kind.map(|kind| names::kind(kind).to_owned()));
        parts.extend(form.analysis.clone());
        parts.join(", ")
    }

    /// Whether it matches a finding.
    pub fn covers(&self, finding: &Finding) -> bool {
        let form = &self.form;
        let fits = |wanted: &Option<String>, test: &dyn Fn(&str) -> bool| {
            wanted.as_deref().is_none_or(|wanted| test(wanted.trim()))
        };
        fits(&form.id, &|id| id == finding.id || id == fingerprint(finding))
            && fits(&form.subject, &|subject| is_subject(subject, &finding.subject))
            && fits(&form.analysis, &|analysis| analysis == finding.analysis)
            && form.kind.is_none_or(|kind| is_kind(kind, finding.kind))
    }
}

/// Whether a suppression of kind `wanted` matches a finding of kind `found`. Earlier versions gave schedule-dependent
/// failures the kind `custom`.
fn is_kind(wanted: Kind, found: Kind) -> bool {
    wanted == found || wanted == Kind::Custom && found == Kind::Failure
}

/// Whether a pattern matches a subject or its class or package; the pattern may leave packages out.
fn is_subject(pattern: &str, subject: &str) -> bool {
    [subject, names::short(subject)].into_iter().any(|subject| {
        let ends = subject.char_indices().filter(|(_, c)| matches!(c, '.' | '$' | ':')).map(|(at, _)| at);
        ends.chain([subject.len()]).any(|end| glob(pattern.as_bytes(), &subject.as_bytes()[..end]))
    })
}

/// `*` stands for any text.
fn glob(pattern: &[u8], text: &[u8]) -> bool {
    // On a mismatch, go back to the last star and let it match one more byte.
    let (mut at, mut pattern_at, mut star) = (0, 0, None);
    while at < text.len() {
        if pattern.get(pattern_at) == Some(&b'*') {
            star = Some((pattern_at, at));
            pattern_at += 1;
        } else if pattern.get(pattern_at) == Some(&text[at]) {
            pattern_at += 1;
            at += 1;
        } else if let Some((star_at, from)) = star {
            star = Some((star_at, from + 1));
            pattern_at = star_at + 1;
            at = from + 1;
        } else {
            return false;
        }
    }
    pattern[pattern_at..].iter().all(|&byte| byte == b'*')
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(pattern: &str, subject: &str, expected: bool) {
        assert_eq!(is_subject(pattern, subject), expected, "{pattern} on {subject}");
    }

    #[test]
    fn patterns_match_subjects_classes_and_packages() {
        check("com.acme.Account.balance", "com.acme.Account.balance", true);
        check("com.acme.Account", "com.acme.Account.balance", true);
        check("com.acme", "com.acme.Account.balance", true);
        check("Account.balance", "com.acme.Account.balance", true);
        check("Account", "com.acme.Account$Entry.next", true);
        check("Account.transfer", "com.acme.Account.transfer:12", true);
        check("*.balance", "com.acme.Account.balance", true);
        check("com.*Account.b*e", "com.acme.Account.balance", true);
        check("Account.bal", "com.acme.Account.balance", false);
        check("balance", "com.acme.Account.balance", false);
        check("com.acm", "com.acme.Account.balance", false);
    }

    #[test]
    fn suppressions_of_earlier_versions_cover_failures() {
        use fissure_model::finding::Status;
        let covers = |kind: &str, found: Kind| {
            let text = format!(r#"{{"subject":"A.m","kind":"{kind}","reason":"x"}}"#);
            let suppression: Suppression = serde_json::from_str(&text).unwrap();
            suppression.covers(&Finding::new(found, Status::Bug, "atomfuzzer", "A.m"))
        };
        assert!(covers("custom", Kind::Failure) && covers("failure", Kind::Failure));
        assert!(covers("custom", Kind::Custom) && !covers("failure", Kind::Custom));
    }

    #[test]
    fn a_suppression_needs_a_matcher_and_a_reason() {
        let parse = |text: &str| serde_json::from_str::<Suppression>(text).map_err(|error| error.to_string());
        assert!(parse(r#"{"subject":"A","reason":"  "}"#).unwrap_err().contains("needs a reason"));
        assert!(
            parse(r#"{"kind":"data-race","reason":"x"}"#).unwrap_err().contains("needs an id or a subject")
        );
        assert!(parse(r#"{"subjet":"A","reason":"x"}"#).unwrap_err().contains("unknown field `subjet`"));
        let full = parse(r#"{"subject":"A","kind":"data-race","analysis":"racer","reason":"x"}"#).unwrap();
        assert_eq!(full.matcher(), "A, data-race, racer");
    }
}
