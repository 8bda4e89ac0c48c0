//! Prints expressions as text that parses to the same expression.

use std::fmt::{self, Display, Formatter, Write};

use super::expression::{Expression, FieldPattern, MethodPattern, Modifier, Parameter, TypePattern};

impl Display for Expression {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match self {
            Expression::Classes(pattern) => write!(f, "{pattern}"),
            Expression::Lock => f.write_str("lock()"),
            Expression::Unlock => f.write_str("unlock()"),
            Expression::Get(field) => write!(f, "get({field})"),
            Expression::Set(field) => write!(f, "set({field})"),
            Expression::Call(method) => write!(f, "call({method})"),
            Expression::Execution(method) => write!(f, "execution({method})"),
            Expression::Within(class) => write!(f, "within({class})"),
            Expression::Args(parameters) => {
                f.write_str("args(")?;
                list(f, parameters)?;
                f.write_char(')')
            }
            Expression::Target(target) => write!(f, "target({target})"),
            Expression::Static => f.write_str("static"),
            Expression::MaybeShared => f.write_str("maybeShared()"),
            Expression::Element => f.write_str("element()"),
            Expression::Not(inner) => {
                f.write_char('!')?;
                grouped(f, inner, matches!(**inner, Expression::And(_) | Expression::Or(_)))
            }
            Expression::And(parts) => {
                joined(f, parts, " && ", |part| matches!(part, Expression::And(_) | Expression::Or(_)))
            }
            Expression::Or(parts) => joined(f, parts, " || ", |part| matches!(part, Expression::Or(_))),
        }
    }
}

impl Display for FieldPattern {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        modifiers(f, &self.modifiers)?;
        member(f, self.of_type.as_ref(), self.declaring.as_ref(), &self.name)
    }
}

impl Display for MethodPattern {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        modifiers(f, &self.modifiers)?;
        member(f, self.result.as_ref(), self.declaring.as_ref(), &self.name)?;
        if let Some(parameters) = &self.parameters {
            f.write_char('(')?;
            list(f, parameters)?;
            f.write_char(')')?;
        }
        Ok(())
    }
}

impl Display for Parameter {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match self {
            Parameter::Rest => f.write_str(".."),
            Parameter::Of(of_type) => write!(f, "{of_type}"),
        }
    }
}

impl Display for TypePattern {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let is_compound = |part: &TypePattern| matches!(part, TypePattern::And(_) | TypePattern::Or(_));
        match self {
            TypePattern::Name { name, subtypes, dimensions } => {
                write!(f, "{name}{}{}", if *subtypes { "+" } else { "" }, "[]".repeat(*dimensions))
            }
            TypePattern::Not(inner) => {
                f.write_char('!')?;
                grouped(f, inner, is_compound(inner))
            }
            TypePattern::And(parts) => joined(f, parts, " && ", is_compound),
            TypePattern::Or(parts) => joined(f, parts, " || ", |part| matches!(part, TypePattern::Or(_))),
        }
    }
}

fn modifiers(f: &mut Formatter<'_>, modifiers: &[(bool, Modifier)]) -> fmt::Result {
    modifiers.iter().try_for_each(|(is_not, modifier)| {
        write!(f, "{}{} ", if *is_not { "!" } else { "" }, modifier.word())
    })
}

fn member(
    f: &mut Formatter<'_>,
    of_type: Option<&TypePattern>,
    declaring: Option<&TypePattern>,
    name: &str,
) -> fmt::Result {
    if let Some(of_type) = of_type {
        grouped(f, of_type, matches!(of_type, TypePattern::And(_) | TypePattern::Or(_)))?;
        f.write_char(' ')?;
    }
    match declaring {
        Some(declaring) => write!(f, "{declaring}.{name}"),
        None => f.write_str(name),
    }
}

fn list(f: &mut Formatter<'_>, parameters: &[Parameter]) -> fmt::Result {
    joined(f, parameters, ", ", |_| false)
}

fn joined<T: Display>(
    f: &mut Formatter<'_>,
    parts: &[T],
    separator: &str,
    needs_parentheses: impl Fn(&T) -> bool,
) -> fmt::Result {
    for (index, part) in parts.iter().enumerate() {
        if index > 0 {
            f.write_str(separator)?;
        }
        grouped(f, part, needs_parentheses(part))?;
    }
    Ok(())
}

fn grouped(f: &mut Formatter<'_>, part: &impl Display, needs_parentheses: bool) -> fmt::Result {
    if needs_parentheses { write!(f, "({part})") } else { write!(f, "{part}") }
}
