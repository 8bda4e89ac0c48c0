//! The user's settings for a class, from options and from a file.

use std::fs;

use fissure_object::{Schema, Value};
use serde::Deserialize;

use super::{error::ObjectError, target::UserSettings};
use crate::args::ObjectArguments;

/// The file of `--spec`.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
struct SpecFile {
    #[serde(default)]
    core: Vec<String>,
    #[serde(default)]
    methods: Vec<String>,
    #[serde(default)]
    exclude: Vec<String>,
    #[serde(default)]
    read_only: Vec<String>,
    #[serde(default)]
    constructor: Option<Vec<toml::Value>>,
    #[serde(default)]
    new: Option<String>,
}

/// The settings of options and file together; an option replaces the file's setting.
pub(crate) fn settings(options: &ObjectArguments) -> Result<UserSettings, ObjectError> {
    let file = match &options.spec {
        Some(path) => {
            let error = |reason: String| ObjectError::SpecFile { path: path.display().to_string(), reason };
            let text = fs::read_to_string(path).map_err(|cause| error(cause.to_string()))?;
            parse_file(&text).map_err(error)?
        }
        None => UserSettings::default(),
    };
    let or = |option: &[String], file: Vec<String>| if option.is_empty() { file } else { option.to_vec() };
    Ok(UserSettings {
        core: or(&options.core, file.core),
        methods: or(&options.method, file.methods),
        exclude: or(&options.exclude, file.exclude),
        read_only: or(&options.read_only, file.read_only),
        constructor: match &options.constructor {
            Some(text) => Some(arguments(text)?),
            None => file.constructor,
        },
        expression: options.new.clone().or(file.expression),
    })
}

/// The harness of `--harness`.
pub(crate) fn harness(options: &ObjectArguments) -> Result<Option<Schema>, ObjectError> {
    let Some(text) = &options.harness else { return Ok(None) };
    let error = |reason: String| ObjectError::Option { option: "--harness", text: text.clone(), reason };
    let schema: Schema = text.parse().map_err(|cause: fissure_object::grammar::GrammarError| {
        error(format!("{cause}; write it as [put(0,0)], [size()]"))
    })?;
    if schema.sequences.len() > 8 || schema.invocations() > 16 {
        return Err(error("it may have at most 8 sequences and 16 invocations".to_owned()));
    }
    Ok(Some(schema))
}

fn parse_file(text: &str) -> Result<UserSettings, String> {
    let file: SpecFile = toml::from_str(text).map_err(|error| error.message().replace('\n', " "))?;
    let constructor = match file.constructor {
        Some(values) => Some(values.iter().map(value).collect::<Result<_, _>>()?),
        None => None,
    };
    Ok(UserSettings {
        core: file.core,
        methods: file.methods,
        exclude: file.exclude,
        read_only: file.read_only,
        constructor,
        expression: file.new,
    })
}

fn value(value: &toml::Value) -> Result<Value, String> {
    match value {
        toml::Value::Boolean(truth) => Ok(Value::Boolean(*truth)),
        toml::Value::Integer(number) => Ok(Value::Integer(*number)),
        toml::Value::String(text) => Ok(Value::Text(text.clone())),
        toml::Value::Array(items) => {
            Ok(Value::List(items.iter().map(self::value).collect::<Result<_, _>>()?))
        }
        other => Err(format!(
            "a {} is no argument; numbers, booleans, strings and lists of them are",
            other.type_str()
        )),
    }
}

/// Parses arguments as they are written in a harness.
fn arguments(text: &str) -> Result<Vec<Value>, ObjectError> {
    let schema: Result<Schema, _> = format!("[new({text})]").parse();
    match schema.map(|schema| schema.sequences) {
        Ok(sequences) if sequences.len() == 1 && sequences[0].len() == 1 => {
            Ok(sequences[0][0].arguments.clone())
        }
        _ => Err(ObjectError::Option {
            option: "--constructor",
            text: text.to_owned(),
            reason: "write the arguments with commas between them, as in '16,true'".to_owned(),
        }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check_file(text: &str, expected: Result<(usize, Option<usize>), &str>) {
        match (parse_file(text), expected) {
            (Ok(settings), Ok((core, arguments))) => {
                assert_eq!(settings.core.len(), core, "{text}");
                assert_eq!(settings.constructor.map(|values| values.len()), arguments, "{text}");
            }
            (Err(reason), Err(expected)) => assert!(reason.contains(expected), "{text}: {reason}"),
            (other, _) => panic!("{text}: {other:?}"),
        }
    }

    #[test]
    fn files_have_the_settings_of_options() {
        check_file("", Ok((0, None)));
        check_file(
            "core = ['get', 'put/2']\nread-only = ['get']\nconstructor = [16, true, 'a']",
            Ok((2, Some(3))),
        );
        check_file("cores = []", Err("unknown field"));
        check_file("constructor = [1.5]", Err("float is no argument"));
        check_file("core = 3", Err("expected"));
    }

    #[test]
    fn constructor_arguments_are_values() {
        assert_eq!(arguments("16,true").unwrap(), [Value::Integer(16), Value::Boolean(true)]);
        assert_eq!(arguments("").unwrap(), []);
        assert!(arguments("16;").is_err());
        assert!(arguments("1)],[a(").is_err());
    }
}
