//! Errors of monitor scripts.

use std::fmt;

use rhai::{EvalAltResult, Position};

use crate::monitor::Ending;

/// Why a script cannot be loaded.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{}{problem}", position_text(*.line, *.column))]
pub struct LoadError {
    /// The line, from 1 on; 0 if there is none.
    pub line: usize,
    /// The column, from 1 on; 0 if there is none.
    pub column: usize,
    /// The problem.
    pub problem: String,
}

/// Why a script was stopped.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{}{problem}", position_text(*.line, *.column))]
pub struct Stopped {
    /// The line, from 1 on; 0 if there is none.
    pub line: usize,
    /// The column, from 1 on; 0 if there is none.
    pub column: usize,
    /// The problem.
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
    /// The reason why a script was stopped, in the words of its author's language.
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
            EvalAltResult::ErrorStackOverflow(_) => "its functions call each other too deeply".to_owned(),
            EvalAltResult::ErrorDataTooLarge(what, _) => format!("it used too much memory ({what})"),
            EvalAltResult::ErrorRuntime(value, _) => match value.read_lock::<FunctionError>() {
                Some(error) => error.0.clone(),
                None => format!("it threw '{value}'"),
            },
            other => {
                let mut other = other.to_string();
                // The position is kept separately.
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

/// An error of one of Fissure's functions about its arguments, in contrast to a value that a script throws.
#[derive(Debug, Clone)]
struct FunctionError(String);

/// An error of one of Fissure's functions.
pub(crate) fn function_error(problem: String) -> Box<EvalAltResult> {
    Box::new(EvalAltResult::ErrorRuntime(rhai::Dynamic::from(FunctionError(problem)), Position::NONE))
}

fn line_and_column(position: Position) -> (usize, usize) {
    (position.line().unwrap_or(0), position.position().unwrap_or(0))
}

fn position_text(line: usize, column: usize) -> String {
    match (line, column) {
        (0, _) => String::new(),
        (line, 0) => format!("line {line}: "),
        (line, column) => format!("line {line}, column {column}: "),
    }
}
