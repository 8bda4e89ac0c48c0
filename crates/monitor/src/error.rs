//! What can be wrong with a script.

use std::fmt;

use rhai::{EvalAltResult, Position};

use crate::monitor::Ending;

/// Why a script cannot be used at all.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{}{problem}", place(*.line, *.column))]
pub struct LoadError {
    /// The line, from 1 on; 0 if there is none.
    pub line: usize,
    /// The column, from 1 on; 0 if there is none.
    pub column: usize,
    /// What is wrong.
    pub problem: String,
}

/// Why a script was stopped.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{}{problem}", place(*.line, *.column))]
pub struct Stopped {
    /// The line, from 1 on; 0 if there is none.
    pub line: usize,
    /// The column, from 1 on; 0 if there is none.
    pub column: usize,
    /// What it did.
    pub problem: String,
}

impl From<Stopped> for LoadError {
    fn from(stopped: Stopped) -> LoadError {
        LoadError { line: stopped.line, column: stopped.column, problem: stopped.problem }
    }
}

impl LoadError {
    pub(crate) fn at(position: Position, problem: impl fmt::Display) -> LoadError {
        let (line, column) = line_and_column(position);
        LoadError { line, column, problem: problem.to_string() }
    }
}

impl Stopped {
    /// What became of a script, in words of its own.
    pub(crate) fn from_result(error: &EvalAltResult, ending: Ending) -> Stopped {
        let mut innermost = error;
        let mut position = error.position();
        while let EvalAltResult::ErrorInFunctionCall(_, _, inner, _) = innermost {
            innermost = inner;
            if !innermost.position().is_none() {
                position = innermost.position();
            }
        }
        let problem = match innermost {
            _ if ending == Ending::Memory => "it used too much memory".to_owned(),
            _ if ending == Ending::Time => "it did not come to an end (too long for one event)".to_owned(),
            EvalAltResult::ErrorTooManyOperations(_) => {
                "it did not come to an end (too many operations for one event)".to_owned()
            }
            EvalAltResult::ErrorStackOverflow(_) => "its functions call each other too deep".to_owned(),
            EvalAltResult::ErrorDataTooLarge(what, _) => format!("it used too much memory ({what})"),
            EvalAltResult::ErrorRuntime(value, _) => match value.read_lock::<Complaint>() {
                Some(complaint) => complaint.0.clone(),
                None => format!("it threw '{value}'"),
            },
            other => {
                let mut other = other.to_string();
                // The position is told apart.
                if let Some(end) = other.rfind(" (line ") {
                    other.truncate(end);
                }
                other
            }
        };
        let (line, column) = line_and_column(position);
        Stopped { line, column, problem }
    }
}

/// What a function of ours says about its arguments, to tell it from what a script throws by itself.
#[derive(Debug, Clone)]
struct Complaint(String);

/// An error of a function of ours.
pub(crate) fn complain(problem: String) -> Box<EvalAltResult> {
    Box::new(EvalAltResult::ErrorRuntime(rhai::Dynamic::from(Complaint(problem)), Position::NONE))
}

fn line_and_column(position: Position) -> (usize, usize) {
    (position.line().unwrap_or(0), position.position().unwrap_or(0))
}

fn place(line: usize, column: usize) -> String {
    match (line, column) {
        (0, _) => String::new(),
        (line, 0) => format!("line {line}: "),
        (line, column) => format!("line {line}, column {column}: "),
    }
}
