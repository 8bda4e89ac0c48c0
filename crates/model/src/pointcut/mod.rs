//! Pointcuts: the language in which users select points of a program.
//!
//! The language is AspectJ's as far as it goes, with the three pointcuts that E. Bodden and K. Havelund added to it ("Racer:
//! Effective Race Detection Using AspectJ", ISSTA 2008): `lock()`, `unlock()` and `maybeShared()`. Where we deviate:
//!
//! - A plain class pattern (`com.acme..*`, `Account`) is a pointcut too: the accesses by these classes to their own fields.
//! - A simple name stands for a class of any package, because there are no imports.
//! - The type of a field or the result of a method may be left out, and so may a method's parameters.
//! - An access to an array element is an access to the variable that holds the array; `element()` selects such accesses.
//! - `args` and `target` take types only, because there are no variables to bind.
//!
//! [`Pointcut::evaluate`] answers yes, no, or open if the known facts about a point do not decide. A front end evaluates a pointcut
//! when it instruments a class, inserts nothing where the answer is no, and evaluates again when an open point is reached.

mod display;
mod error;
mod evaluate;
mod expression;
mod lexer;
mod names;
mod parser;
mod point;
#[cfg(test)]
mod tests;

use std::{fmt, str::FromStr};

use serde::{Deserialize, Serialize};

pub use error::PointcutError;
pub use evaluate::{Answer, NoWorld, World};
pub use expression::{Expression, FieldPattern, MethodPattern, Modifier, Parameter, TypePattern};
pub use point::{FieldPoint, Kind, MethodPoint, Point, Value};

/// A pointcut with its text.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct Pointcut {
    text: String,
    expression: Expression,
}

impl Pointcut {
    /// The parsed expression.
    pub fn expression(&self) -> &Expression {
        &self.expression
    }

    /// Reads pointcuts with commas between them; commas inside of parentheses belong to a pointcut.
    pub fn parse_list(text: &str) -> Result<Vec<Pointcut>, PointcutError> {
        let mut parts = Vec::new();
        let (mut depth, mut begin) = (0_i32, 0);
        for (at, c) in text.char_indices() {
            match c {
                '(' => depth += 1,
                ')' => depth -= 1,
                ',' if depth <= 0 => {
                    parts.push(&text[begin..at]);
                    begin = at + 1;
                }
                _ => {}
            }
        }
        parts.push(&text[begin..]);
        parts.into_iter().map(str::parse).collect()
    }

    /// Whether the pointcut selects a point, as far as that is known.
    pub fn evaluate(&self, point: &Point<'_>, world: &dyn World) -> Answer {
        self.expression.evaluate(point, world)
    }

    /// Whether a scope that consists of this pointcut may contain the point. A pointcut that does not mention this kind of point
    /// does not restrict it.
    pub fn may_cover(&self, point: &Point<'_>, world: &dyn World) -> bool {
        self.expression.may_cover(point, world)
    }

    /// Whether one of its patterns names this class (with dots), by its full name or by a wildcard.
    pub fn names(&self, class: &str) -> bool {
        self.expression.names(class)
    }
}

impl FromStr for Pointcut {
    type Err = PointcutError;

    fn from_str(text: &str) -> Result<Self, PointcutError> {
        let text = text.trim();
        Ok(Pointcut { text: text.to_owned(), expression: parser::parse(text)? })
    }
}

impl TryFrom<String> for Pointcut {
    type Error = PointcutError;

    fn try_from(text: String) -> Result<Self, PointcutError> {
        text.parse()
    }
}

impl From<Pointcut> for String {
    fn from(pointcut: Pointcut) -> String {
        pointcut.text
    }
}

impl fmt::Display for Pointcut {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}
