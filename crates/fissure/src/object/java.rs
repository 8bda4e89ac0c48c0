//! Writes a Java program that shows a violation without Fissure.

use fissure_object::{Invocation, Schema, Value};
use fissure_report::object::ViolationReport;

use super::{
    describe::ParameterInfo,
    target::{Creation, Target},
    values,
};

const TEMPLATE: &str = include_str!("../../object/reproduce.java.in");

/// A source file.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Source {
    /// The name of its class.
    pub(crate) name: String,
    /// Its content.
    pub(crate) text: String,
}

/// The program for a violation.
pub(crate) fn program(target: &Target, violation: &ViolationReport, schema: &Schema) -> Source {
    let class = target.class.name.replace('$', ".");
    let simple = class.rsplit('.').next().unwrap_or_default();
    let method = violation.subject.rsplit('.').next().unwrap_or_default();
    let name = format!("{simple}{}IsNotAtomic", capitalized(method));
    let atomic = violation.atomic.iter().map(|atomic| format!("            {}", literal(&atomic.outcome)));
    // Classes that are not public can be used only from their own package.
    let package = target.class.package().trim_end_matches('/').replace('/', ".");
    let text = TEMPLATE
        .replace("@SUBJECT@", &comment(&violation.subject))
        .replace("@HARNESS@", &comment(&violation.harness))
        .replace("@OUTCOME@", &comment(&violation.outcome))
        .replace("@PACKAGING@", if target.class.reachable { "public " } else { "" })
        .replace("@NAME@", &name)
        .replace("@ATOMIC@", &atomic.collect::<Vec<_>>().join(",\n"))
        .replace("@SEQUENCES@", &schema.sequences.len().to_string())
        .replace("@INVOCATIONS@", &schema.invocations().to_string())
        .replace("@CLASS@", &class)
        .replace("@CREATE@", &create(target, &class))
        .replace("@METHODS@", &methods(target, &class, schema));
    let needs_package = !target.class.reachable && !package.is_empty();
    let text = if needs_package { format!("package {package};\n\n{text}") } else { text };
    Source { name, text }
}

fn capitalized(name: &str) -> String {
    let mut letters = name.chars();
    letters.next().map_or_else(String::new, |first| first.to_uppercase().chain(letters).collect())
}

/// Text that cannot end the comment around it.
fn comment(text: &str) -> String {
    text.replace("*/", "* /").replace('\\', "/")
}

fn literal(text: &str) -> String {
    let mut literal = String::from("\"");
    for c in text.chars() {
        match c {
            '"' | '\\' => literal.extend(['\\', c]),
            '\n' => literal.push_str("\\n"),
            '\r' => literal.push_str("\\r"),
            _ => literal.push(c),
        }
    }
    literal.push('"');
    literal
}

fn create(target: &Target, class: &str) -> String {
    match &target.creation {
        Creation::Constructor(parameters, arguments) => {
            format!("new {class}({})", call(parameters, arguments))
        }
        Creation::Expression(expression) => format!("({class}) {expression}"),
    }
}

fn call(parameters: &[ParameterInfo], arguments: &[Value]) -> String {
    let one = |(parameter, value): (&ParameterInfo, &Value)| {
        let type_name = parameter.type_name.replace('$', ".");
        if let (Some((_, element)), Value::List(items)) = (array(&parameter.kind), value) {
            let items: Vec<String> = items.iter().map(|item| argument(element, item)).collect();
            return format!("handed(seen, new {type_name} {{{}}})", items.join(", "));
        }
        // The cast chooses among overloaded methods.
        format!("({type_name}) {}", argument(&parameter.kind, value))
    };
    parameters.iter().zip(arguments).map(one).collect::<Vec<_>>().join(", ")
}

/// A value as a Java expression.
fn argument(kind: &str, value: &Value) -> String {
    let (letter, inner) = kind.split_at_checked(1).unwrap_or((kind, ""));
    match (letter, value) {
        ("J", Value::Integer(number)) => format!("{number}L"),
        ("S", Value::Integer(number)) => format!("(short) {number}"),
        ("B", Value::Integer(number)) => format!("(byte) {number}"),
        ("F", Value::Integer(number)) => format!("{number}f"),
        ("D", Value::Integer(number)) => format!("{number}d"),
        ("C", Value::Integer(number)) => format!("(char) (97 + {number})"),
        ("E", Value::Name(name)) => {
            format!("{}.{name}", inner.split('|').next().unwrap_or_default().replace('$', "."))
        }
        ("X", Value::Name(name)) => function(inner, name),
        ("O", Value::Name(name)) => values::expression(inner, name).unwrap_or("null").to_owned(),
        ("L" | "H", Value::List(items)) => {
            let items: Vec<String> = items.iter().map(|item| argument(inner, item)).collect();
            let list = format!("Collections.unmodifiableList(Arrays.asList({}))", items.join(", "));
            if letter == "H" { format!("new LinkedHashSet({list})") } else { list }
        }
        ("M", Value::Map(entries)) => {
            let (keys, values) = inner.split_once(' ').unwrap_or((inner, inner));
            let entries: Vec<String> = entries
                .iter()
                .map(|(key, value)| format!("{}, {}", argument(keys, key), argument(values, value)))
                .collect();
            format!("Map.of({})", entries.join(", "))
        }
        (_, Value::Text(text)) => literal(text),
        (_, other) => other.to_string(),
    }
}

/// An array's descriptor and the kind of its elements.
fn array(kind: &str) -> Option<(&str, &str)> {
    kind.strip_prefix('A')?.split_once(' ')
}

/// One of the driver's functions as a lambda, by the number of its parameters.
fn function(kind: &str, name: &str) -> String {
    let names = &["a", "b", "c"][..kind[..1].parse::<usize>().unwrap_or(0).min(3)];
    let sum = names.iter().map(|name| format!("number({name})")).collect::<Vec<_>>().join(" + ");
    let body = match name {
        "one" => "1".to_owned(),
        "none" => "null".to_owned(),
        "a" => "\"a\"".to_owned(),
        "yes" => "true".to_owned(),
        "zero" => format!("{sum} == 0"),
        "increment" => format!("{sum} + 1"),
        "plus" => sum,
        "natural" => "Integer.compare(number(a), number(b))".to_owned(),
        _ if names.len() == 1 => "seen.add(a)".to_owned(),
        _ => format!("seen.add(new Object[] {{{}}})", names.join(", ")),
    };
    format!("({}) -> {body}", names.join(", "))
}

/// The order between sequences, and a method that runs one of them.
fn methods(target: &Target, class: &str, schema: &Schema) -> String {
    let before = |sequence: usize| {
        let numbers = schema.order.iter().filter(|(_, after)| *after == sequence);
        let numbers: Vec<String> = numbers.map(|(before, _)| before.to_string()).collect();
        format!("{{{}}}", numbers.join(", "))
    };
    let all: Vec<String> = (0..schema.sequences.len()).map(before).collect();
    let mut text = format!("    static final int[][] BEFORE = {{{}}};\n\n", all.join(", "));
    text.push_str(&format!("    static void run(int sequence, {class} object, Object[] results) {{\n"));
    text.push_str("        switch (sequence) {\n");
    let mut number = 0;
    for (at, sequence) in schema.sequences.iter().enumerate() {
        text.push_str(&format!("            case {at}:\n"));
        for invocation in sequence {
            text.push_str(&statement(target, invocation, number));
            number += 1;
        }
        text.push_str("                break;\n");
    }
    text.push_str("            default:\n        }\n    }\n");
    text
}

fn statement(target: &Target, invocation: &Invocation, number: usize) -> String {
    let all = target.core.iter().chain(&target.tested);
    let mut matching = all.filter(|callable| {
        callable.method.name == invocation.method
            && callable.info.parameters.len() == invocation.arguments.len()
    });
    let Some(callable) = matching.next() else { return String::new() };
    let call =
        format!("object.{}({})", callable.info.name, call(&callable.info.parameters, &invocation.arguments));
    let hands_out = callable.info.parameters.iter().any(|one| one.kind.starts_with(['A', 'X']));
    let body = if hands_out {
        let call = if callable.info.returns == "V" {
            format!("{call};\n                    String result = \"()\";")
        } else {
            format!("String result = text({call}, object);")
        };
        format!(
            "List seen = new ArrayList();\n                    {call}\n                    results[{number}] = with(result, seen, object);"
        )
    } else if callable.info.returns == "V" {
        format!("{call};\n                    results[{number}] = \"()\";")
    } else {
        format!("results[{number}] = text({call}, object);")
    };
    format!(
        "                try {{\n                    {body}\n                }} catch (Throwable throwable) {{\n                    \
         results[{number}] = thrown(throwable);\n                }}\n"
    )
}
