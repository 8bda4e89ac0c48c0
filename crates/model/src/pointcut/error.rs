//! The syntax error of a pointcut.

use std::fmt;

/// A syntax error of a pointcut and its position.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PointcutError {
    /// The text that was given.
    pub text: String,
    /// The column of the problem, in characters counted from 1.
    pub column: usize,
    /// The problem.
    pub problem: String,
}

impl fmt::Display for PointcutError {
    /// One sentence, then the text with a mark under the column.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let line: String = self.text.chars().map(|c| if c.is_control() { ' ' } else { c }).collect();
        let (problem, column) = (&self.problem, self.column);
        write!(f, "no pointcut: {problem} (column {column})\n  {line}\n  {:>column$}", '^')
    }
}

impl std::error::Error for PointcutError {}
