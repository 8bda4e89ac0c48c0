//! Describes the results of a search for reports, and as programs.

use std::{fs, path::Path};

use fissure_model::finding::Outcome;
use fissure_object::{
    Schema,
    enumerate::{Alphabet, Harness},
    interleaving::{self, Calls, Step},
};
use fissure_report::object::{AtomicOutcome, MemoryReport, ViolationReport};

use super::{
    error::ObjectError,
    java,
    results::{Cause, Violation},
    target::{Creation, Target},
};

/// A violation as reports show it.
#[derive(Debug, Clone)]
pub(crate) struct Shown {
    /// For the report.
    pub(crate) report: ViolationReport,
    /// The harness with the names of its methods.
    pub(crate) schema: Schema,
    /// The method.
    pub(crate) method: String,
}

impl Shown {
    /// Describes a violation of a method.
    pub(crate) fn new(class: &str, method: &str, alphabet: &Alphabet, violation: &Violation) -> Self {
        let schema = alphabet.schema(&violation.harness);
        let atomic = violation.atomic.iter().map(|(outcome, orders)| AtomicOutcome {
            outcome: outcome.join(", "),
            linearizations: orders
                .iter()
                .map(|order| in_words(order, &violation.harness, alphabet))
                .collect(),
        });
        let (because, memory) =
            violation.cause.as_ref().map_or_else(Default::default, |one| cause(method, one));
        Shown {
            report: ViolationReport {
                because,
                memory,
                subject: format!("{class}.{}", method.split('<').next().unwrap_or(method)),
                harness: schema.to_string(),
                outcome: violation.outcome.join(", "),
                hits: violation.hits,
                executions: violation.executions,
                interleaving: violation.steps.as_ref().map_or_else(Vec::new, |text| {
                    let calls = Calls { class, results: &violation.outcome };
                    interleaving::in_words(&steps(text), &violation.harness, alphabet, calls)
                }),
                atomic: atomic.collect(),
                outcomes: violation
                    .counts
                    .iter()
                    .map(|(outcome, count, atomic)| Outcome {
                        outcome: outcome.join(", "),
                        count: *count,
                        atomic: *atomic,
                    })
                    .collect(),
            },
            schema,
            method: method.to_owned(),
        }
    }
}

/// How objects are made, as a user would write it.
pub(crate) fn creation(creation: &Creation, class: &str) -> String {
    match creation {
        Creation::Constructor(_, arguments) => {
            let arguments: Vec<String> = arguments.iter().map(ToString::to_string).collect();
            let simple = class.rsplit(['.', '$']).next().unwrap_or(class);
            format!("new {simple}({})", arguments.join(", "))
        }
        Creation::Expression(expression) => expression.clone(),
    }
}

/// Why a method is to blame, as a sentence, and the schedules that were executed if none gives the outcome.
fn cause(method: &str, cause: &Cause) -> (String, Option<MemoryReport>) {
    let name = |method: &str| method.split('<').next().unwrap_or(method).to_owned();
    let list = |methods: &[String]| methods.iter().map(|one| name(one)).collect::<Vec<_>>().join(" and ");
    let method = name(method);
    match cause {
        Cause::Itself => (format!("{method} is not atomic beside another call of itself"), None),
        Cause::Remains { atomic } => {
            let be = if atomic.len() == 1 { "is" } else { "are" };
            (format!("some schedule gives such an outcome even if {} {be} made atomic", list(atomic)), None)
        }
        Cause::Core { methods } => {
            let be = if methods.len() == 1 { "is" } else { "are" };
            (
                format!(
                    "{} {be} of the core, whose methods are atomic beside each other as far as was tried",
                    list(methods)
                ),
                None,
            )
        }
        Cause::Together { methods } => {
            (format!("no schedule gives such an outcome if one of {} is made atomic", list(methods)), None)
        }
        Cause::Memory { schedules, preemptions } => {
            let memory = MemoryReport { schedules: *schedules, preemptions: *preemptions };
            (String::new(), Some(memory))
        }
    }
}

/// An order of the invocations, in words.
fn in_words(order: &[usize], harness: &Harness, alphabet: &Alphabet) -> String {
    let operations = harness.operations();
    let words = order.iter().map(|&one| alphabet.invocation(operations[one]).to_string());
    words.collect::<Vec<_>>().join("; ")
}

/// Reads steps as the agent records them: one line for each, with tabs between its parts.
fn steps(text: &str) -> Vec<Step> {
    let step = |line: &str| match line.split('\t').collect::<Vec<_>>()[..] {
        [sequence, call, what, site, target] => Some(Step {
            sequence: sequence.parse().ok()?,
            call: call.parse().ok()?,
            what: what.to_owned(),
            site: site.to_owned(),
            target: target.to_owned(),
        }),
        _ => None,
    };
    let known =
        |line| step(line).unwrap_or_else(|| panic!("the agent records steps of five parts, not {line:?}"));
    text.lines().map(known).collect()
}

/// Writes programs that show violations without Fissure.
pub(crate) fn emit_java(folder: &Path, target: &Target, shown: &[Shown]) -> Result<(), ObjectError> {
    let error = |path: &Path, source| ObjectError::Write { path: path.display().to_string(), source };
    fs::create_dir_all(folder).map_err(|source| error(folder, source))?;
    for shown in shown {
        let source = java::program(target, &shown.report, &shown.schema);
        let path = folder.join(format!("{}.java", source.name));
        fs::write(&path, source.text).map_err(|source| error(&path, source))?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn recorded_steps_are_read() {
        let step = |sequence, call, what: &str, site: &str, target: &str| Step {
            sequence,
            call,
            what: what.to_owned(),
            site: site.to_owned(),
            target: target.to_owned(),
        };
        assert_eq!(
            steps("0\t0\tread\ta.Map.put:1\ttable\n1\t2\tread\t\t\n"),
            [step(0, 0, "read", "a.Map.put:1", "table"), step(1, 2, "read", "", "")]
        );
        assert!(steps("").is_empty());
    }

    #[test]
    #[should_panic(expected = "the agent records steps of five parts, not \"0\\tread\"")]
    fn other_lines_are_no_steps() {
        steps("0\t0\tread\ta.Map.put:1\ttable\n0\tread\n");
    }
}
