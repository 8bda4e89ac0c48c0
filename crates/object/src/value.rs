//! Argument values, as they are written in harnesses.

use std::fmt;

/// An argument of an invocation.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Value {
    /// The null reference.
    Null,
    /// A boolean.
    Boolean(bool),
    /// A number; the method's parameter determines its type.
    Integer(i64),
    /// A string.
    Text(String),
    /// A constant of an enumeration.
    Name(String),
    /// A list, array or other collection: `[0,1]`.
    List(Vec<Value>),
    /// A map: `{0=1,1=0}`.
    Map(Vec<(Value, Value)>),
}

impl fmt::Display for Value {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Value::Null => f.write_str("null"),
            Value::Boolean(value) => write!(f, "{value}"),
            Value::Integer(value) => write!(f, "{value}"),
            Value::Text(text) => {
                f.write_str("\"")?;
                for c in text.chars() {
                    match c {
                        '"' | '\\' => write!(f, "\\{c}")?,
                        _ => write!(f, "{c}")?,
                    }
                }
                f.write_str("\"")
            }
            Value::Name(name) => f.write_str(name),
            Value::List(items) => {
                f.write_str("[")?;
                separated(f, items, |f, item| write!(f, "{item}"))?;
                f.write_str("]")
            }
            Value::Map(entries) => {
                f.write_str("{")?;
                separated(f, entries, |f, (key, value)| write!(f, "{key}={value}"))?;
                f.write_str("}")
            }
        }
    }
}

/// Writes items with commas between them.
pub(crate) fn separated<T>(
    f: &mut fmt::Formatter<'_>,
    items: &[T],
    mut write: impl FnMut(&mut fmt::Formatter<'_>, &T) -> fmt::Result,
) -> fmt::Result {
    for (at, item) in items.iter().enumerate() {
        if at > 0 {
            f.write_str(",")?;
        }
        write(f, item)?;
    }
    Ok(())
}
