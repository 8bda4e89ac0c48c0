//! The values that fit a parameter, and their encoding for the driver.
//!
//! The driver describes a parameter's type with a letter (see `Describe.kind`), followed by the types inside collections.

use fissure_object::{
    Value,
    spec::{Domain, Role},
};

/// How many constants of an enum are tried.
const CONSTANTS: usize = 3;

/// The arguments that are tried for a parameter of this kind, or why there are none.
pub(crate) fn domain(kind: &str, type_name: &str, role: Role) -> Result<Domain, String> {
    match kind.split_at_checked(1) {
        Some(("I" | "J" | "S" | "B" | "C" | "F" | "D", _)) => Ok(Domain::Scalar(role)),
        Some(("Z" | "T" | "E", _)) => Ok(Domain::Choice(choices(kind))),
        Some(("L" | "H", item)) if is_number(item) => Ok(Domain::Collection(role)),
        Some(("L" | "H", item)) if !choices(item).is_empty() => {
            let items = choices(item);
            let single = |item: &Value| Value::List(vec![item.clone()]);
            Ok(Domain::Choice(items.iter().map(single).chain([Value::List(items.clone())]).collect()))
        }
        Some(("M", inner)) => map_domain(inner, type_name, role),
        Some(("A", _)) if is_number(element(kind)) => Ok(Domain::Collection(role)),
        Some(("A", _)) if !choices(element(kind)).is_empty() => {
            Ok(Domain::Choice(vec![Value::List(choices(element(kind)))]))
        }
        Some(("O", _)) if !choices(kind).is_empty() => Ok(Domain::Choice(choices(kind))),
        Some(("X", _)) if !choices(kind).is_empty() => Ok(Domain::Choice(choices(kind))),
        Some(("!", "time")) => Err("it waits for some time".to_owned()),
        _ => Err(format!("no values of type {type_name} are known")),
    }
}

fn map_domain(inner: &str, type_name: &str, role: Role) -> Result<Domain, String> {
    let (key, value) = inner.split_once(' ').unwrap_or((inner, ""));
    if is_number(key) && is_number(value) {
        // Only a known map is certain to store values without looking at them.
        let value = if role == Role::Stored { Role::Stored } else { Role::Key };
        return Ok(Domain::Map { key: Role::Key, value });
    }
    let some = |kind: &str| {
        let numbers = (0..2).map(Value::Integer).collect();
        if is_number(kind) { numbers } else { choices(kind) }
    };
    let (keys, values) = (some(key), some(value));
    if keys.is_empty() || values.is_empty() {
        return Err(format!("no values of type {type_name} are known"));
    }
    let entries = keys.iter().zip(values.iter().cycle()).map(|(key, value)| (key.clone(), value.clone()));
    Ok(Domain::Choice(vec![Value::Map(entries.collect())]))
}

/// The kind of an array's elements.
fn element(kind: &str) -> &str {
    kind.split_once(' ').map_or("", |(_, element)| element)
}

fn is_number(kind: &str) -> bool {
    matches!(kind, "I" | "J" | "S" | "B" | "C" | "F" | "D")
}

/// The values of a kind that has only a few.
fn choices(kind: &str) -> Vec<Value> {
    match kind.split_at_checked(1) {
        Some(("Z", "")) => vec![Value::Boolean(false), Value::Boolean(true)],
        Some(("T", "")) => vec![Value::Text("a".to_owned()), Value::Text("b".to_owned())],
        Some(("E", constants)) => {
            let names = constants.split('|').skip(1).take(CONSTANTS);
            names.map(|name| Value::Name(name.to_owned())).collect()
        }
        // Objects of other classes have the class's name and a number: Point0, Point1.
        Some(("O", inner)) => {
            let name = inner.split('|').next().unwrap_or_default();
            (0..made(inner).count()).map(|number| Value::Name(format!("{name}{number}"))).collect()
        }
        Some(("X", function)) => {
            functions(function).iter().map(|&name| Value::Name(name.to_owned())).collect()
        }
        _ => Vec::new(),
    }
}

/// The expressions that make objects of a kind, after the class's name.
fn made(inner: &str) -> impl Iterator<Item = &str> {
    inner.split('|').skip(1)
}

/// The expression of an object that is named by its class and a number.
pub(crate) fn expression<'a>(inner: &'a str, name: &str) -> Option<&'a str> {
    let number: usize = name.strip_prefix(inner.split('|').next()?)?.parse().ok()?;
    made(inner).nth(number)
}

/// The functions that are tried, by the number of parameters and the kind of the result. The driver implements them.
fn functions(kind: &str) -> &'static [&'static str] {
    match kind.get(..2).unwrap_or_default() {
        "0V" | "1V" | "2V" | "3V" => &["seen"],
        "0Z" => &["yes"],
        "1Z" | "2Z" | "3Z" => &["zero", "yes"],
        "2C" => &["natural"],
        "0N" | "0L" => &["one"],
        "1N" => &["increment"],
        "2N" | "3N" => &["plus"],
        "1L" => &["increment", "none"],
        "2L" | "3L" => &["plus", "none"],
        "0T" | "1T" | "2T" | "3T" => &["a"],
        _ => &[],
    }
}

/// The default value for a constructor's parameter.
pub(crate) fn ordinary(kind: &str) -> Option<Value> {
    match kind.split_at_checked(1)? {
        // Usually a capacity, which must be large enough for every harness.
        // A small capacity lets harnesses reach it.
        ("I" | "J" | "S" | "B", "") => Some(Value::Integer(2)),
        ("C" | "F" | "D", "") => Some(Value::Integer(1)),
        ("Z" | "T" | "E" | "X" | "O", _) => choices(kind).into_iter().next(),
        ("L" | "H", _) => Some(Value::List(Vec::new())),
        ("M", _) => Some(Value::Map(Vec::new())),
        _ => None,
    }
}

/// The encoding of a value of this kind for the driver; `None` if the value does not fit.
pub(crate) fn encode(kind: &str, value: &Value) -> Option<Vec<u8>> {
    let (letter, inner) = kind.split_at_checked(1)?;
    let mut bytes = letter.as_bytes().to_vec();
    match (letter, value) {
        (_, Value::Null) => return Some(b"N".to_vec()),
        ("C", Value::Integer(number)) => bytes.extend_from_slice(&(97 + number).to_be_bytes()),
        ("I" | "J" | "S" | "B" | "F" | "D", Value::Integer(number)) => {
            bytes.extend_from_slice(&number.to_be_bytes());
        }
        ("Z", Value::Boolean(truth)) => bytes.extend_from_slice(&i64::from(*truth).to_be_bytes()),
        ("T", Value::Text(text)) => put_text(&mut bytes, text),
        ("I", Value::Text(text)) => {
            // A parameter that takes any object takes a string, too.
            bytes = b"T".to_vec();
            put_text(&mut bytes, text);
        }
        ("E", Value::Name(name)) => {
            put_text(&mut bytes, inner.split('|').next()?);
            put_text(&mut bytes, name);
        }
        ("O", Value::Name(name)) => put_text(&mut bytes, expression(inner, name)?),
        ("X", Value::Name(name)) => {
            put_text(&mut bytes, inner.get(2..)?);
            put_text(&mut bytes, name);
        }
        ("A", Value::List(items)) => {
            let (descriptor, element) = inner.split_once(' ')?;
            put_text(&mut bytes, descriptor);
            bytes.extend_from_slice(&(items.len() as i32).to_be_bytes());
            for item in items {
                bytes.extend(encode(element, item)?);
            }
        }
        ("L" | "H", Value::List(items)) => {
            bytes.extend_from_slice(&(items.len() as i32).to_be_bytes());
            for item in items {
                bytes.extend(encode(inner, item)?);
            }
        }
        ("M", Value::Map(entries)) => {
            let (keys, values) = inner.split_once(' ')?;
            bytes.extend_from_slice(&(entries.len() as i32).to_be_bytes());
            for (key, value) in entries {
                bytes.extend(encode(keys, key)?);
                bytes.extend(encode(values, value)?);
            }
        }
        _ => return None,
    }
    Some(bytes)
}

fn put_text(bytes: &mut Vec<u8>, text: &str) {
    bytes.extend_from_slice(&(text.len() as i32).to_be_bytes());
    bytes.extend_from_slice(text.as_bytes());
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(kind: &str, expected: Result<usize, &str>) {
        let domain = domain(kind, "a.Type", Role::Key);
        match (&domain, expected) {
            (Ok(Domain::Choice(choices)), Ok(number)) => {
                assert_eq!(choices.len(), number, "{kind}");
                choices.iter().for_each(|choice| assert!(encode(kind, choice).is_some(), "{kind} {choice}"));
            }
            (Ok(_), Ok(0)) => {}
            (Err(reason), Err(expected)) => assert_eq!(reason, expected, "{kind}"),
            _ => panic!("{kind}: {domain:?}"),
        }
    }

    #[test]
    fn kinds_have_values_or_a_reason() {
        check("I", Ok(0));
        check("Z", Ok(2));
        check("T", Ok(2));
        check("Ea.Color|RED|GREEN|BLUE|BLACK", Ok(3));
        check("LI", Ok(0));
        check("LT", Ok(3));
        check("MI I", Ok(0));
        check("MT I", Ok(1));
        check("MT ?", Err("no values of type a.Type are known"));
        check("AI I", Ok(0));
        check("ALjava/lang/String; T", Ok(1));
        check("ALa/B; ?", Err("no values of type a.Type are known"));
        check("OPoint|new a.Point(2, 2)|new a.Point(3, 3)", Ok(2));
        check("!time", Err("it waits for some time"));
        check("X1Ljava.util.function.Function", Ok(2));
        check("X2Cjava.util.Comparator", Ok(1));
        check("X1Vjava.util.function.Consumer", Ok(1));
        check("X9Qa.Odd", Err("no values of type a.Type are known"));
        check("?", Err("no values of type a.Type are known"));
        check("", Err("no values of type a.Type are known"));
    }

    #[test]
    fn values_that_do_not_fit_are_refused() {
        assert_eq!(encode("Z", &Value::Integer(1)), None);
        assert_eq!(encode("LI", &Value::List(vec![Value::Boolean(true)])), None);
        assert_eq!(encode("I", &Value::Integer(1)), Some(vec![b'I', 0, 0, 0, 0, 0, 0, 0, 1]));
        assert_eq!(encode("?", &Value::Null), Some(b"N".to_vec()));
    }
}
