//! Each idea has a pair of programs: one with the bug, and its correct twin whose name ends with `Fixed`.

use std::{collections::BTreeSet, sync::Arc};

use fissure_testing::{Analysis, Claim, Folder, Outcome, Program, Trial};

use crate::suite::Suite;

/// How many patterns of violations of atomic sets there are.
const PATTERNS: u64 = 11;

/// One test for each folder that has pairs.
pub(crate) fn trials(suite: &Arc<Suite>) -> Vec<Trial> {
    let folders = [Folder::Race, Folder::Atomicity, Folder::Hunt, Folder::Assets, Folder::Object];
    let trial = |folder: Folder| {
        let programs = Arc::clone(suite.programs(folder));
        Trial::new(format!("twins::{}", folder.name()), move || match problems(folder, &programs) {
            problems if problems.is_empty() => Ok(Outcome::Passed),
            problems => Err(problems.join("\n")),
        })
    };
    folders.into_iter().map(trial).collect()
}

fn problems(folder: Folder, programs: &[Program]) -> Vec<String> {
    let classes: BTreeSet<&str> = programs.iter().map(|program| program.class.as_str()).collect();
    let mut problems = Vec::new();
    for program in programs {
        let (class, is_broken) = (&program.class, program.header.is_broken());
        let mut report_problem =
            |problem: String| problems.push(format!("{}: {problem}", program.path.display()));
        match class.strip_suffix("Fixed") {
            Some(broken) => {
                if !classes.contains(broken) {
                    report_problem(format!("there is no {broken} of which it is the correct twin"));
                }
                if !is_correct_twin(folder, program) {
                    report_problem("it is a correct twin, so nothing may be found in it".to_owned());
                }
            }
            None => {
                // In these folders a program may show something that is correct and looks broken, and a class may be used by other tests.
                let may_be_single = matches!(folder, Folder::Hunt | Folder::Assets | Folder::Object);
                if !is_broken && !may_be_single {
                    report_problem("nothing must be found in it".to_owned());
                }
                let twin = format!("{class}Fixed");
                if (is_broken || !may_be_single) && !classes.contains(twin.as_str()) {
                    report_problem(format!("it has no correct twin {twin}"));
                }
            }
        }
        if folder == Folder::Assets {
            problems.extend(asset_problem(program));
        }
    }
    if folder == Folder::Assets {
        let planted: BTreeSet<u64> = programs.iter().flat_map(planted).collect();
        let missing = (1..=PATTERNS).filter(|pattern| !planted.contains(pattern));
        problems.extend(missing.map(|pattern| format!("there is no program with pattern {pattern}")));
    }
    problems
}

/// Whether the header of a correct twin claims that it is correct.
fn is_correct_twin(folder: Folder, program: &Program) -> bool {
    let header = &program.header;
    match folder {
        // A program without races may have atomicity violations.
        Folder::Race => {
            let is_race = |claim: &Claim| claim.analysis != Some(Analysis::Atomizer);
            !header.must_find.iter().chain(&header.may_find).any(is_race)
        }
        Folder::Atomicity => header.must_find.is_empty() && header.may_find.is_empty(),
        Folder::Object => header.non_atomic.is_empty() && !header.atomic.is_empty(),
        _ => !header.is_broken(),
    }
}

/// Nothing may even be predicted in a correct program, and one without a twin says that it is correct.
fn asset_problem(program: &Program) -> Option<String> {
    let header = &program.header;
    let path = program.path.display();
    if header.is_broken() == header.nothing_predicted {
        return Some(format!("{path}: it must have either something to find or 'nothing-predicted'"));
    }
    let is_explained = header.is_broken() || header.correct || program.class.ends_with("Fixed");
    (!is_explained).then(|| format!("{path}: nothing is expected of it, and it is not said to be 'correct'"))
}

fn planted(program: &Program) -> impl Iterator<Item = u64> {
    program.header.must_be_bug.iter().chain(&program.header.must_confirm).filter_map(|claim| claim.pattern)
}
