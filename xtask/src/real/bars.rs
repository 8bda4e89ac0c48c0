//! What the findings of all programs together must be like.

use super::{
    Mode,
    catalog::{Triage, Verdict},
    table::{Found, Row},
};

/// At most so many findings of `detect`, by default, are about other classes than those of the drivers.
const MOST_FOREIGN: usize = 5;

/// A bar, and whether the runs met it.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Bar {
    pub(crate) text: String,
    pub(crate) is_met: bool,
}

/// Measures the bars that the runs say something about.
pub(crate) fn measure(rows: &[Row], triage: &[Triage]) -> Vec<Bar> {
    let verdict = |(program, finding): &(&str, &Found)| {
        triage.iter().find(|known| known.is_about(program, &finding.subject)).map(|known| known.verdict)
    };
    let mut bars = Vec::new();
    let detected = findings(rows, Mode::Detect);
    if rows.iter().any(|row| row.mode == Mode::Detect) {
        let foreign = detected.iter().filter(|(_, finding)| !finding.is_of_driver).count();
        bars.push(Bar {
            text: format!("{foreign} findings of detect are about other classes than the drivers' (at most {MOST_FOREIGN})"),
            is_met: foreign <= MOST_FOREIGN,
        });
    }
    let certain = |(_, finding): &&(&str, &Found)| matches!(finding.status.as_str(), "confirmed" | "bug");
    let is_false =
        |found: &&(&str, &Found)| matches!(verdict(found), Some(Verdict::False | Verdict::HandedOver));
    let hunted = findings(rows, Mode::Hunt);
    let wrong = [&detected, &hunted].into_iter().flatten().filter(certain).filter(is_false).count();
    bars.push(Bar {
        text: format!("{wrong} findings that are confirmed or bugs are false (none)"),
        is_met: wrong == 0,
    });
    if rows.iter().any(|row| row.mode == Mode::Library) {
        bars.extend(of_libraries(&findings(rows, Mode::Library).iter().map(verdict).collect::<Vec<_>>()));
    }
    bars
}

fn of_libraries(verdicts: &[Option<Verdict>]) -> [Bar; 3] {
    let count =
        |wanted: &[Verdict]| verdicts.iter().flatten().filter(|verdict| wanted.contains(verdict)).count();
    let open = verdicts.iter().filter(|verdict| verdict.is_none()).count();
    let handed_over = count(&[Verdict::HandedOver]);
    let races = count(&[Verdict::Real, Verdict::Benign]);
    let triaged = verdicts.len() - open;
    [
        Bar { text: format!("{open} findings in libraries have no triage (none)"), is_met: open == 0 },
        Bar {
            text: format!("{handed_over} findings in libraries are false because handed over (none)"),
            is_met: handed_over == 0,
        },
        Bar {
            text: format!(
                "{races} of {triaged} triaged findings in libraries are real or benign (two thirds)"
            ),
            is_met: races * 3 >= triaged * 2,
        },
    ]
}

/// The findings that count of all programs in one mode, each once.
fn findings(rows: &[Row], mode: Mode) -> Vec<(&str, &Found)> {
    let mut all: Vec<(&str, &Found)> = Vec::new();
    for row in rows.iter().filter(|row| row.mode == mode) {
        for finding in row.findings.iter().filter(|finding| !finding.is_ordered) {
            if !all.contains(&(row.program.as_str(), finding)) {
                all.push((&row.program, finding));
            }
        }
    }
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn two_thirds_of_the_findings_in_libraries_are_races() {
        let check = |verdicts: &[Option<Verdict>], expected: [bool; 3]| {
            assert_eq!(of_libraries(verdicts).map(|bar| bar.is_met), expected, "{verdicts:?}");
        };
        let (real, benign) = (Some(Verdict::Real), Some(Verdict::Benign));
        check(&[], [true, true, true]);
        check(&[real, benign, Some(Verdict::False)], [true, true, true]);
        check(&[real, benign, Some(Verdict::HandedOver)], [true, false, true]);
        check(&[real, Some(Verdict::False), None], [false, true, false]);
    }
}
