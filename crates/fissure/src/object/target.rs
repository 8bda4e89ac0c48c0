//! The class under test: its methods that can be called, those that are left out with the reason, and its core.

use fissure_object::{
    Value, builtin,
    builtin::{BuiltIn, Shape},
    spec::{Method, Role, Spec},
};
use fissure_static::effects::Effect;

use super::{
    describe::{ClassInfo, MethodInfo, ParameterInfo},
    error::ObjectError,
    values,
};

/// The user's settings for a class, from options or from a file.
#[derive(Debug, Clone, Default)]
pub(crate) struct UserSettings {
    /// The core methods; empty for the built-in or inferred ones.
    pub(crate) core: Vec<String>,
    /// The methods to test; empty for all.
    pub(crate) methods: Vec<String>,
    /// Methods not to test.
    pub(crate) exclude: Vec<String>,
    /// Methods that are read-only, beside those that are known or found to be.
    pub(crate) read_only: Vec<String>,
    /// Arguments of the constructor.
    pub(crate) constructor: Option<Vec<Value>>,
    /// A Java expression that makes an object.
    pub(crate) expression: Option<String>,
}

/// How objects are made.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Creation {
    /// By the constructor with these parameters and arguments.
    Constructor(Vec<ParameterInfo>, Vec<Value>),
    /// By a Java expression, which the driver evaluates.
    Expression(String),
}

/// A method that harnesses may call.
#[derive(Debug, Clone)]
pub(crate) struct Callable {
    /// As reflection gives it.
    pub(crate) info: MethodInfo,
    /// As harnesses have it; whether it is read-only is not decided yet if `reads` is `None`.
    pub(crate) method: Method,
    /// Whether it is read-only, if that is `given` by the user or `built in`.
    pub(crate) reads: Option<(bool, &'static str)>,
    /// Its effect according to its class file, if that was read.
    pub(crate) effect: Option<Effect>,
}

/// The class under test.
#[derive(Debug, Clone)]
pub(crate) struct Target {
    /// As reflection gives it.
    pub(crate) class: ClassInfo,
    /// The class that the user named, which may be an interface of it.
    pub(crate) asked: String,
    /// How objects are made.
    pub(crate) creation: Creation,
    /// The core methods.
    pub(crate) core: Vec<Callable>,
    /// The methods to test.
    pub(crate) tested: Vec<Callable>,
    /// The methods that the user wants to be tested; empty for all. While the core is not inferred yet, `tested` has others, too.
    pub(crate) wanted: Vec<String>,
    /// Methods that cannot be or should not be called, with the reason.
    pub(crate) left_out: Vec<(String, String)>,
    /// Whether the core was given, built in, usual for such collections, or inferred.
    pub(crate) core_is: &'static str,
}

/// The sources of a core.
pub(crate) const GIVEN: &str = "given";
pub(crate) const BUILT_IN: &str = "built in";
/// The core is inferred from what methods do.
pub(crate) const INFERRED: &str = "inferred";

/// Core methods of collections; the first family that the class implements counts.
const FAMILIES: [(&str, &[&str]); 5] = [
    ("Map", &["put/2", "get/1", "remove/1", "containsKey/1"]),
    ("Queue", &["offer/1", "peek/0", "poll/0"]),
    ("Set", &["add/1", "remove/1", "contains/1"]),
    ("List", &["add/1", "remove(Object)", "contains/1"]),
    ("Collection", &["add/1", "remove/1", "contains/1"]),
];

impl Target {
    /// Decides which methods to call. The core is empty if it must be inferred.
    pub(crate) fn new(
        asked: &str,
        class: ClassInfo,
        creation: Creation,
        settings: &UserSettings,
    ) -> Result<Self, ObjectError> {
        let known = builtin::find(&class.name);
        let mut left_out = Vec::new();
        let mut callables = Vec::new();
        for info in &class.methods {
            match callable(&class, info, known, settings) {
                Ok(callable) => callables.push(callable),
                Err(reason) => left_out.push((info.signature(), reason)),
            }
        }
        label(&mut callables);
        let (core, core_is) = core(&class, &callables, known, settings)?;
        let is_wanted = |callable: &Callable| {
            settings.methods.is_empty()
                || settings.methods.iter().any(|entry| is_meant(entry, &callable.info))
        };
        let chosen = |callable: &Callable| {
            !core.iter().any(|one| one.info == callable.info) && (core.is_empty() || is_wanted(callable))
        };
        let wanted = match settings.methods.is_empty() {
            true => Vec::new(),
            false => {
                callables.iter().filter(|one| is_wanted(one)).map(|one| one.method.name.clone()).collect()
            }
        };
        for entry in settings.methods.iter().chain(&settings.read_only) {
            check_entry(entry, &class, &callables, &left_out)?;
        }
        let tested = callables.iter().filter(|callable| chosen(callable)).cloned().collect();
        Ok(Target { asked: asked.to_owned(), class, creation, core, tested, wanted, left_out, core_is })
    }

    /// Whether the user wants a method to be tested.
    pub(crate) fn wants(&self, method: &str) -> bool {
        self.wanted.is_empty() || self.wanted.iter().any(|wanted| wanted == method)
    }

    /// The class's name with slashes.
    pub(crate) fn internal_name(&self) -> String {
        self.class.name.replace('.', "/")
    }

    /// The spec with a method under test, or of the core alone.
    pub(crate) fn spec(&self, method: Option<&Callable>) -> Spec {
        Spec {
            core: self.core.iter().map(|callable| callable.method.clone()).collect(),
            method: method.map(|callable| callable.method.clone()),
        }
    }
}

/// Whether an entry of the user (`remove`, `remove/1`, `remove(Object)`) means this method.
pub(crate) fn is_meant(entry: &str, method: &MethodInfo) -> bool {
    let plain = |text: &str| text.replace(' ', "");
    builtin::means(entry, &method.name, method.parameters.len()) || plain(entry) == plain(&method.signature())
}

fn check_entry(
    entry: &str,
    class: &ClassInfo,
    callables: &[Callable],
    left_out: &[(String, String)],
) -> Result<(), ObjectError> {
    if callables.iter().any(|callable| is_meant(entry, &callable.info)) {
        return Ok(());
    }
    let info = class.methods.iter().find(|method| is_meant(entry, method));
    let reason = info.and_then(|info| left_out.iter().find(|(name, _)| *name == info.signature()));
    Err(match reason {
        Some((name, reason)) => ObjectError::CannotCall { method: name.clone(), reason: reason.clone() },
        None => ObjectError::NoMethod { class: class.name.clone(), method: entry.to_owned() },
    })
}

fn callable(
    class: &ClassInfo,
    info: &MethodInfo,
    known: Option<&BuiltIn>,
    settings: &UserSettings,
) -> Result<Callable, String> {
    let number = info.parameters.len();
    if settings.exclude.iter().any(|entry| is_meant(entry, info)) {
        return Err("it was excluded".to_owned());
    }
    let collection = class.is("Collection") || class.is("Map");
    let entry = builtin::LEFT_OUT.iter().find(|(entry, _)| builtin::means(entry, &info.name, number));
    if let Some((entry, reason)) = entry
        && (collection || *entry == "equals/1")
    {
        return Err((*reason).to_owned());
    }
    if class.is("List") && info.name == "subList" {
        return Err("its result is undefined once the list changes".to_owned());
    }
    if info.name == "finalize" && number == 0 {
        return Err("only the garbage collector calls it".to_owned());
    }
    let takes = |letter: char| info.parameters.iter().any(|parameter| parameter.kind.starts_with(letter));
    if known.is_some() && takes('X') && info.parameters[0].kind == "J" {
        return Err("it may call its functions in other threads".to_owned());
    }
    let shape = match known {
        Some(known) => known.shape,
        None if class.is("Map") => Shape::Map,
        None => Shape::Ordered,
    };
    let mut parameters = Vec::new();
    for (index, parameter) in info.parameters.iter().enumerate() {
        let mut role = builtin::role(shape, &info.name, number, index);
        if shape == Shape::Map && parameter.kind.starts_with('M') {
            role = Role::Stored;
        }
        parameters.push(values::domain(&parameter.kind, &parameter.type_name, role)?);
    }
    let given = settings.read_only.iter().any(|entry| is_meant(entry, info)).then_some((true, "given"));
    let built_in = |known: &BuiltIn| (known.is_read_only(&info.name, number), "built in");
    let reads = given.or_else(|| known.map(built_in));
    let read_only = reads.is_some_and(|(reads, _)| reads);
    let method = Method { name: info.name.clone(), parameters, read_only, seems_read_only: read_only };
    Ok(Callable { info: info.clone(), method, reads, effect: None })
}

/// Distinguishes methods with the same name and number of parameters by their types.
fn label(callables: &mut [Callable]) {
    let names: Vec<(String, usize)> =
        callables.iter().map(|one| (one.info.name.clone(), one.info.parameters.len())).collect();
    for (callable, name) in callables.iter_mut().zip(&names) {
        if names.iter().filter(|other| *other == name).count() > 1 {
            let signature = callable.info.signature().replace(' ', "");
            callable.method.name = signature.replace('(', "<").replace(')', ">");
        }
    }
}

fn core(
    class: &ClassInfo,
    callables: &[Callable],
    known: Option<&BuiltIn>,
    settings: &UserSettings,
) -> Result<(Vec<Callable>, &'static str), ObjectError> {
    let choose = |entries: &[&str]| -> Vec<Callable> {
        let meant = |callable: &&Callable| entries.iter().any(|entry| is_meant(entry, &callable.info));
        callables.iter().filter(meant).cloned().collect()
    };
    if !settings.core.is_empty() {
        for entry in &settings.core {
            check_entry(entry, class, callables, &[])?;
        }
        let entries: Vec<&str> = settings.core.iter().map(String::as_str).collect();
        return Ok((choose(&entries), GIVEN));
    }
    if let Some(known) = known {
        return Ok((choose(known.core), BUILT_IN));
    }
    let family = FAMILIES.iter().find(|(family, _)| class.is(family));
    let found = family.map_or_else(Vec::new, |(_, entries)| choose(entries));
    Ok(if found.is_empty() { (found, INFERRED) } else { (found, "usual for such collections") })
}

/// The ways to make an object, in the order in which they are tried: the expression of the user, constructors with ordinary or given
/// arguments, then factories and builders.
pub(crate) fn creations(class: &ClassInfo, settings: &UserSettings) -> Vec<Creation> {
    if let Some(expression) = &settings.expression {
        return vec![Creation::Expression(expression.clone())];
    }
    let known = builtin::find(&class.name);
    let given: Option<Vec<Value>> = settings.constructor.clone().or_else(|| {
        known.map(|known| known.constructor.iter().map(|&number| Value::Integer(number)).collect())
    });
    let mut found = Vec::new();
    let constructors = if class.is_abstract() { &[] } else { class.constructors.as_slice() };
    for (_, parameters) in constructors {
        let values: Option<Vec<Value>> = match &given {
            Some(values) if values.len() != parameters.len() => None,
            Some(values) => Some(values.clone()),
            None => parameters.iter().map(|parameter| values::ordinary(&parameter.kind)).collect(),
        };
        if let Some(values) = values
            && parameters.iter().zip(&values).all(|(one, value)| values::encode(&one.kind, value).is_some())
        {
            found.push(Creation::Constructor(parameters.clone(), values));
        }
    }
    if given.is_none() {
        found.extend(class.factories.iter().cloned().map(Creation::Expression));
    }
    found
}
