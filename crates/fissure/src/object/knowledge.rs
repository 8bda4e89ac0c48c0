//! Static analysis of a class that is not built in: which methods are certainly read-only, and for which arguments their behaviour may
//! differ from that for all others.
//!
//! Whether a method is read-only is inferred twice. Class files show what code may do in any state; sequential runs show what it did in a
//! few. Rules that leave out harnesses need certainty, so they rely on the class files, unless runs show a change; methods that only seem
//! read-only affect the order of the search.

use std::{collections::BTreeSet, env, path::Path};

use fissure_classfile::literals::Literal;
use fissure_object::{
    Value, builtin,
    spec::{Domain, Role},
};
use fissure_report::object::EffectReport;
use fissure_static::{
    comparands::comparands,
    effects::{Effect, Subject, effects},
};

use super::{
    describe::ParameterInfo,
    target::{Callable, Creation, Target},
};
use crate::locality;

/// How many constants of each kind are tried beside the usual values.
const MOST_CONSTANTS: usize = 3;

/// Analyses the class files of a class that is not built in; gives a note if that is not possible.
pub(crate) fn analyse(target: &mut Target, java: &Path, classpath: &str) -> Option<String> {
    if builtin::find(&target.class.name).is_some() {
        return None;
    }
    let paths: Vec<_> = env::split_paths(classpath).collect();
    let mut classes = match locality::open_classes(java, &paths) {
        Ok(classes) => classes,
        Err(error) => {
            return Some(format!(
                "no method is taken to be read-only by its bytecode, so more harnesses are tried: {error}"
            ));
        }
    };
    let callables: Vec<&mut Callable> = target.core.iter_mut().chain(&mut target.tested).collect();
    let methods = callables.iter().map(|callable| {
        (callable.info.name.clone(), descriptor(&callable.info.parameters, &callable.info.returns))
    });
    // The analysis of effects follows objects from their constructor; how an expression makes them is not known.
    let constructor = match &target.creation {
        Creation::Constructor(parameters, _) => Some(descriptor(parameters, "V")),
        Creation::Expression(_) => None,
    };
    let subject = Subject {
        class: target.class.name.replace('.', "/"),
        constructor: constructor.clone().unwrap_or_else(|| "()V".to_owned()),
        methods: methods.collect(),
    };
    let found = constructor.map(|_| effects(&mut classes, &subject));
    let constants = comparands(&mut classes, &subject);
    let all = Constants::new(callables.iter().zip(&constants));
    let mut found = found.into_iter().flatten();
    for callable in callables {
        callable.effect = found.next();
        all.extend(callable);
    }
    None
}

/// Decides whether a method is read-only and whether it seems to be. `is_unchanged` says that sequential runs show no change.
pub(crate) fn judge(callable: &mut Callable, is_unchanged: bool) -> EffectReport {
    let (read_only, by, reason) = match (&callable.reads, &callable.effect, is_unchanged) {
        (Some((reads, by)), _, _) => {
            let says = if *by == "given" { "the user says so" } else { "it is built in for this class" };
            (*reads, *by, says.to_owned())
        }
        (None, Some(Effect::Reads), true) => {
            (true, "bytecode", "its code writes to nothing that was there before the call".to_owned())
        }
        (None, _, false) => (false, "trial", "sequential runs show a change".to_owned()),
        (None, Some(Effect::Writes(what)), true) => (
            false,
            "bytecode",
            format!("its code may write {what}, although no sequential run shows a change"),
        ),
        (None, Some(Effect::Unknown(what)), true) => {
            (false, "bytecode", format!("it is not known {what}, although no sequential run shows a change"))
        }
        (None, None, true) => {
            (false, "bytecode", "its code was not read, although no sequential run shows a change".to_owned())
        }
    };
    callable.method.read_only = read_only;
    callable.method.seems_read_only = if callable.reads.is_some() { read_only } else { is_unchanged };
    EffectReport { method: callable.method.name.clone(), read_only, by: by.to_owned(), reason }
}

fn descriptor(parameters: &[ParameterInfo], returns: &str) -> String {
    let parameters: String = parameters.iter().map(|parameter| parameter.descriptor.as_str()).collect();
    format!("({parameters}){returns}")
}

/// The constants that the class compares arguments with. All methods take them, because one method may have to store a value before
/// another one compares it.
#[derive(Debug, Default)]
struct Constants {
    numbers: Vec<i64>,
    texts: Vec<String>,
    names: Vec<(String, String)>,
}

impl Constants {
    fn new<'a>(methods: impl Iterator<Item = (&'a &'a mut Callable, &'a Vec<Vec<Literal>>)>) -> Self {
        let mut numbers = BTreeSet::new();
        let mut constants = Constants::default();
        for (callable, parameters) in methods {
            for (parameter, literals) in callable.info.parameters.iter().zip(parameters) {
                for literal in literals {
                    match literal {
                        Literal::Number(number) => numbers.extend(special(&parameter.kind, *number)),
                        Literal::Text(text) => add(&mut constants.texts, text.clone()),
                        Literal::Constant(name) => {
                            add(&mut constants.names, (parameter.type_name.clone(), name.clone()));
                        }
                    }
                }
            }
        }
        constants.numbers = numbers.into_iter().take(MOST_CONSTANTS).collect();
        constants
    }

    /// Adds the constants to the arguments of a method.
    fn extend(&self, callable: &mut Callable) {
        // With more parameters there would be too many combinations.
        let takers = callable.method.parameters.iter().filter(|domain| matches!(domain, Domain::Scalar(_)));
        let takes_numbers = takers.count() <= 2;
        for (parameter, domain) in callable.info.parameters.iter().zip(&mut callable.method.parameters) {
            match (parameter.kind.as_bytes().first(), &mut *domain) {
                (Some(b'I' | b'J' | b'S' | b'B' | b'C'), Domain::Scalar(Role::Key)) if takes_numbers => {
                    let fitting = self.numbers.iter().copied();
                    let fitting: Vec<i64> = fitting.filter(|&number| fits(&parameter.kind, number)).collect();
                    if !fitting.is_empty() {
                        *domain = Domain::Special(fitting);
                    }
                }
                (Some(b'T'), Domain::Choice(choices)) => {
                    for text in &self.texts {
                        add(choices, Value::Text(text.clone()));
                    }
                }
                (Some(b'E'), Domain::Choice(choices)) => {
                    for (type_name, name) in &self.names {
                        if *type_name == parameter.type_name && is_constant(&parameter.kind, name) {
                            add(choices, Value::Name(name.clone()));
                        }
                    }
                }
                _ => {}
            }
        }
    }
}

fn add<T: PartialEq>(list: &mut Vec<T>, item: T) {
    if !list.contains(&item) && list.len() < 2 * MOST_CONSTANTS {
        list.push(item);
    }
}

fn is_constant(kind: &str, name: &str) -> bool {
    kind.split('|').skip(1).any(|constant| constant == name)
}

/// The number in a harness that stands for a constant, unless it is tried anyway. Characters are counted from `a`.
fn special(kind: &str, number: i64) -> Option<i64> {
    let number = if kind.starts_with('C') { number - i64::from(b'a') } else { number };
    (number > 1 && fits(kind, number)).then_some(number)
}

fn fits(kind: &str, number: i64) -> bool {
    let most = match kind.as_bytes().first() {
        Some(b'B') => i64::from(i8::MAX),
        Some(b'S') => i64::from(i16::MAX),
        Some(b'C') => i64::from(u16::MAX) - i64::from(b'a'),
        Some(b'I') => i64::from(i32::MAX),
        _ => i64::MAX,
    };
    number <= most
}

#[cfg(test)]
mod tests {
    use fissure_object::spec::Method;

    use super::*;
    use crate::object::describe::MethodInfo;

    fn callable(kind: &str, domain: Domain) -> Callable {
        let parameter = ParameterInfo {
            kind: kind.to_owned(),
            type_name: "a.Type".to_owned(),
            ..ParameterInfo::default()
        };
        Callable {
            info: MethodInfo { parameters: vec![parameter], ..MethodInfo::default() },
            method: Method {
                name: "m".to_owned(),
                parameters: vec![domain],
                read_only: false,
                seems_read_only: false,
            },
            reads: None,
            effect: None,
        }
    }

    fn check_judgement(
        reads: Option<(bool, &'static str)>,
        effect: Option<Effect>,
        is_unchanged: bool,
        expected: (bool, bool, &str),
    ) {
        let mut callable = callable("I", Domain::Scalar(Role::Key));
        callable.reads = reads;
        callable.effect = effect.clone();
        let report = judge(&mut callable, is_unchanged);
        let found = (report.read_only, callable.method.seems_read_only, report.by.as_str());
        assert_eq!(found, expected, "{reads:?} {effect:?} {is_unchanged}");
    }

    #[test]
    fn only_certain_methods_are_read_only() {
        let writes = || Some(Effect::Writes("a field".to_owned()));
        let unknown = || Some(Effect::Unknown("a.B.c".to_owned()));
        check_judgement(None, Some(Effect::Reads), true, (true, true, "bytecode"));
        check_judgement(None, Some(Effect::Reads), false, (false, false, "trial"));
        check_judgement(None, writes(), true, (false, true, "bytecode"));
        check_judgement(None, writes(), false, (false, false, "trial"));
        check_judgement(None, unknown(), true, (false, true, "bytecode"));
        check_judgement(None, None, true, (false, true, "bytecode"));
        check_judgement(Some((true, "given")), writes(), false, (true, true, "given"));
        check_judgement(Some((false, "built in")), None, true, (false, false, "built in"));
    }

    fn check_constants(kind: &str, domain: Domain, literals: &[Literal], expected: Domain) {
        let mut one = callable(kind, domain);
        let constants = Constants::new([(&&mut one, &vec![literals.to_vec()])].into_iter());
        constants.extend(&mut one);
        assert_eq!(one.method.parameters, [expected], "{kind} {literals:?}");
    }

    #[test]
    fn constants_are_tried_where_they_fit() {
        let key = || Domain::Scalar(Role::Key);
        let number = Literal::Number;
        check_constants(
            "I",
            key(),
            &[number(42), number(0), number(-3), number(7)],
            Domain::Special(vec![7, 42]),
        );
        check_constants("B", key(), &[number(300)], key());
        check_constants("C", key(), &[number(122)], Domain::Special(vec![25]));
        check_constants("J", key(), &[number(i64::MAX)], Domain::Special(vec![i64::MAX]));
        check_constants("I", Domain::Scalar(Role::Stored), &[number(42)], Domain::Scalar(Role::Stored));
        let text = |text: &str| Value::Text(text.to_owned());
        check_constants(
            "T",
            Domain::Choice(vec![text("a")]),
            &[Literal::Text("admin".to_owned()), Literal::Text("a".to_owned())],
            Domain::Choice(vec![text("a"), text("admin")]),
        );
        let name = |name: &str| Value::Name(name.to_owned());
        check_constants(
            "Ea.Type|A|B",
            Domain::Choice(vec![name("A")]),
            &[Literal::Constant("B".to_owned()), Literal::Constant("C".to_owned())],
            Domain::Choice(vec![name("A"), name("B")]),
        );
    }
}
