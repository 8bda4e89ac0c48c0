//! Explains the patterns of atomic-set violations, with the fields and methods in question.

use fissure_model::finding::{CONTENTS, Finding, SetAccess, Status};

use crate::names;

/// The violation, in a sentence without a full stop; `None` if the finding does not name its accesses.
pub(crate) fn sentence(finding: &Finding) -> Option<String> {
    let accesses = &finding.accesses;
    let first = short_unit(accesses.first()?);
    let second = short_unit(accesses.get(1)?);
    // Both units of work may be executions of the same method.
    let second = if first == second { format!("another {second}") } else { second };
    let a = short_field(accesses.first()?);
    let other = accesses.iter().find(|access| access.field != accesses[0].field);
    let b = other.map(short_field).unwrap_or_default();
    let explanation = match finding.pattern? {
        1 => format!(
            "{first} read {a} and then wrote it, based on a stale value: {second} had written {a} in between"
        ),
        2 => format!("{first} read {a} twice and got different values: {second} wrote it in between"),
        3 => format!("{second} read an intermediate value of {a}, between two writes by {first}"),
        4 => format!("{first} wrote {a} and read it again, but got the value that {second} had written"),
        5 => format!(
            "the value that {second} wrote to {a} is lost: it was written between two writes by {first}"
        ),
        6 | 7 => format!(
            "{first} and {second} both wrote {a} and {b}, which now hold one value from each: an inconsistent state"
        ),
        8 => {
            format!("{second} read {a} after and {b} before {first} wrote them: it saw an inconsistent state")
        }
        9 => format!(
            "{first} read {a} before and {b} after {second} wrote both: it saw a mixture of two states"
        ),
        10 => format!("{first} read the old {a} and the new {b}: {second} had written only one of them"),
        11 => format!("{second} read the old {b} and the new {a}: {first} had written only one of them"),
        _ => return None,
    };
    Some(if finding.status == Status::Warning {
        format!("it could happen that {explanation}")
    } else {
        explanation
    })
}

/// The access at one of the sites: the field and the unit of work.
pub(crate) fn access(finding: &Finding, index: usize) -> Option<String> {
    let access = finding.accesses.get(index)?;
    let unit = short_unit(access);
    Some(format!("{} of {} in {unit}", short_field(access), names::short(&finding.subject)))
}

fn short_field(access: &SetAccess) -> String {
    describe_field(names::member(&access.field))
}

/// A field's name, or `the contents of` it for an access to the contents.
pub(crate) fn describe_field(field: &str) -> String {
    match field.strip_suffix(CONTENTS) {
        Some(field) => format!("the contents of {field}"),
        None => field.to_owned(),
    }
}

/// A method with its class, without packages and enclosing classes; a constructor is shown as `new Class`.
fn short_unit(access: &SetAccess) -> String {
    let (class, method) = access.unit.rsplit_once('.').unwrap_or(("", &access.unit));
    let class = class.rsplit(['.', '$']).next().unwrap_or(class);
    match method {
        "<init>" => format!("new {class}"),
        method => format!("{class}.{method}"),
    }
}

#[cfg(test)]
mod tests {
    use fissure_model::finding::Kind;

    use super::*;

    /// Accesses are written as `method field, method field`.
    fn finding(pattern: u8, status: Status, accesses: &str) -> Finding {
        let access = |text: &str| {
            let (unit, field) = text.split_once(' ').unwrap();
            SetAccess { field: format!("bank.Account.{field}"), unit: format!("bank.Account.{unit}") }
        };
        Finding {
            pattern: Some(pattern),
            accesses: accesses.split(", ").map(access).collect(),
            ..Finding::new(Kind::AtomicSetViolation, status, "assetfuzzer", "bank.Account")
        }
    }

    fn check(pattern: u8, accesses: &str, expected: &str) {
        assert_eq!(sentence(&finding(pattern, Status::Confirmed, accesses)).as_deref(), Some(expected));
        let warning = sentence(&finding(pattern, Status::Warning, accesses)).unwrap();
        assert_eq!(warning, format!("it could happen that {expected}"));
    }

    #[test]
    fn each_pattern_names_fields_and_methods() {
        check(
            1,
            "add c, set c, add c",
            "Account.add read c and then wrote it, based on a stale value: Account.set had written c in between",
        );
        check(
            2,
            "get c, set c, get c",
            "Account.get read c twice and got different values: Account.set wrote it in between",
        );
        check(
            3,
            "move c, get c, move c",
            "Account.get read an intermediate value of c, between two writes by Account.move",
        );
        check(
            4,
            "add c, set c, add c",
            "Account.add wrote c and read it again, but got the value that Account.set had written",
        );
        check(
            5,
            "open c, close c, open c",
            "the value that Account.close wrote to c is lost: it was written between two writes by Account.open",
        );
        let both = "Account.move and another Account.move both wrote c and s, which now hold one value from each: an inconsistent state";
        check(6, "move c, move c, move s, move s", both);
        check(7, "move c, move s, move s, move c", both);
        check(
            8,
            "move c, get c, get s, move s",
            "Account.get read c after and s before Account.move wrote them: it saw an inconsistent state",
        );
        check(
            8,
            "add items[contents], get items[contents], get count, add count",
            "Account.get read the contents of items after and count before Account.add wrote them: it saw an inconsistent state",
        );
        check(
            9,
            "<init> c, pay c, pay s, <init> s",
            "new Account read c before and s after Account.pay wrote both: it saw a mixture of two states",
        );
        check(
            10,
            "get c, move s, get s, move c",
            "Account.get read the old c and the new s: Account.move had written only one of them",
        );
        check(
            11,
            "move c, get s, move s, get c",
            "Account.get read the old s and the new c: Account.move had written only one of them",
        );
    }

    #[test]
    fn incomplete_findings_have_no_sentence() {
        let unknown =
            Finding::new(Kind::AtomicSetViolation, Status::Confirmed, "assetfuzzer", "bank.Account");
        assert_eq!(sentence(&Finding { pattern: Some(9), ..unknown.clone() }), None);
        assert_eq!(access(&unknown, 0), None);
        let known = finding(9, Status::Confirmed, "<init> c, pay c, pay s, <init> s");
        assert_eq!(access(&known, 3).as_deref(), Some("s of Account in new Account"));
        assert_eq!(sentence(&Finding { pattern: Some(12), ..known }), None);
    }
}
