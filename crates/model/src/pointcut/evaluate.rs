//! Evaluation of pointcuts in three-valued logic: yes, no, or open while facts about the point are missing.

use super::{
    expression::{Expression, FieldPattern, MethodPattern, Modifier, Parameter, TypePattern},
    names::{element, is_named, is_primitive, says_something},
    point::{FieldPoint, Kind, MethodPoint, Point, Value},
};
use crate::pattern::Pattern;

/// A truth value of three-valued logic.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Answer {
    /// True.
    Yes,
    /// False.
    No,
    /// Undecided until more facts are known.
    Open,
}

impl Answer {
    /// The conjunction.
    pub fn all(answers: impl IntoIterator<Item = Answer>) -> Answer {
        let mut all = Answer::Yes;
        for answer in answers {
            match answer {
                Answer::No => return Answer::No,
                Answer::Open => all = Answer::Open,
                Answer::Yes => {}
            }
        }
        all
    }

    /// The disjunction.
    pub fn any(answers: impl IntoIterator<Item = Answer>) -> Answer {
        !Answer::all(answers.into_iter().map(|answer| !answer))
    }
}

impl std::ops::Not for Answer {
    type Output = Answer;

    fn not(self) -> Answer {
        match self {
            Answer::Yes => Answer::No,
            Answer::No => Answer::Yes,
            Answer::Open => Answer::Open,
        }
    }
}

impl From<bool> for Answer {
    fn from(holds: bool) -> Answer {
        if holds { Answer::Yes } else { Answer::No }
    }
}

/// The facts about the program that a point itself does not contain.
pub trait World {
    /// Passes the proper supertypes of a class (all names with dots) to `is_found` until that returns true. Returns whether all
    /// supertypes are known.
    fn supertypes(&self, class: &str, is_found: &mut dyn FnMut(&str) -> bool) -> bool;

    /// Whether several threads may access a field.
    fn may_be_shared(&self, field: &FieldPoint<'_>, class: Option<&str>) -> Answer {
        let _ = (field, class);
        Answer::Yes
    }
}

/// A world without any facts.
#[derive(Debug, Clone, Copy, Default)]
pub struct NoWorld;

impl World for NoWorld {
    fn supertypes(&self, _class: &str, _is_found: &mut dyn FnMut(&str) -> bool) -> bool {
        false
    }
}

impl Expression {
    pub(super) fn evaluate(&self, point: &Point<'_>, world: &dyn World) -> Answer {
        Evaluation { point, world, other_kinds: Answer::No }.of(self)
    }

    pub(super) fn may_cover(&self, point: &Point<'_>, world: &dyn World) -> bool {
        let is_of_this_kind = |part: &Expression| match point.kind {
            Kind::Any => true,
            Kind::Owned(_) | Kind::Get(_) | Kind::Set(_) => {
                matches!(part, Expression::Get(_) | Expression::Set(_) | Expression::MaybeShared)
            }
            Kind::Call(_) => matches!(part, Expression::Call(_)),
            Kind::Execution(_) => matches!(part, Expression::Execution(_)),
            Kind::Lock | Kind::Unlock => matches!(part, Expression::Lock | Expression::Unlock),
        };
        let other_kinds = if self.has(&is_of_this_kind) { Answer::No } else { Answer::Open };
        Evaluation { point, world, other_kinds }.of(self) != Answer::No
    }

    pub(super) fn names(&self, class: &str) -> bool {
        self.has(&|part| match part {
            Expression::Classes(pattern) => pattern.matches(class),
            Expression::Get(FieldPattern { declaring, .. })
            | Expression::Set(FieldPattern { declaring, .. })
            | Expression::Call(MethodPattern { declaring, .. })
            | Expression::Execution(MethodPattern { declaring, .. }) => {
                declaring.as_ref().is_some_and(|declaring| declaring.names(class))
            }
            Expression::Within(pattern) => pattern.names(class),
            _ => false,
        })
    }

    /// Whether a part of the expression that is not negated satisfies the predicate.
    fn has(&self, predicate: &dyn Fn(&Expression) -> bool) -> bool {
        match self {
            Expression::And(parts) | Expression::Or(parts) => parts.iter().any(|part| part.has(predicate)),
            Expression::Not(inner) => matches!(**inner, Expression::Not(_)) && inner.has(predicate),
            part => predicate(part),
        }
    }
}

impl TypePattern {
    /// Whether a part that is not negated names this class.
    fn names(&self, class: &str) -> bool {
        match self {
            TypePattern::Name { name, .. } => says_something(name) && covers(name, class),
            TypePattern::Not(_) => false,
            TypePattern::And(parts) | TypePattern::Or(parts) => parts.iter().any(|part| part.names(class)),
        }
    }
}

/// Whether a name pattern covers a class: a class covers its nested classes, a package covers the packages below it.
fn covers(name: &str, class: &str) -> bool {
    name.parse::<Pattern>().is_ok_and(|pattern| pattern.matches(class)) || is_named(name, class)
}

struct Evaluation<'e, 'a> {
    point: &'e Point<'a>,
    world: &'e dyn World,
    /// The answer of a primitive pointcut for points of other kinds.
    other_kinds: Answer,
}

impl Evaluation<'_, '_> {
    fn of(&self, expression: &Expression) -> Answer {
        let other = self.other_kinds;
        match (expression, &self.point.kind) {
            (Expression::Not(inner), _) => !self.of(inner),
            (Expression::And(parts), _) => Answer::all(parts.iter().map(|part| self.of(part))),
            (Expression::Or(parts), _) => Answer::any(parts.iter().map(|part| self.of(part))),
            (Expression::Classes(pattern), kind) => self.classes(pattern, kind),
            (Expression::Within(pattern), _) => match self.point.class {
                Some(class) => self.within(pattern, class),
                None => Answer::Open,
            },
            (_, Kind::Any) => Answer::Open,
            (Expression::Get(pattern) | Expression::Set(pattern), Kind::Owned(owner)) => {
                let declaring = pattern.declaring.as_ref();
                match declaring.map_or(Answer::Open, |declaring| self.is_type(declaring, owner)) {
                    Answer::No => Answer::No,
                    _ => Answer::Open,
                }
            }
            (
                Expression::Lock | Expression::Unlock | Expression::Call(_) | Expression::Execution(_),
                Kind::Owned(_),
            ) => other,
            (_, Kind::Owned(_)) => Answer::Open,
            (Expression::Lock, Kind::Lock) | (Expression::Unlock, Kind::Unlock) => Answer::Yes,
            (Expression::Lock | Expression::Unlock, _) => other,
            (Expression::Get(pattern), Kind::Get(field)) | (Expression::Set(pattern), Kind::Set(field)) => {
                self.field(pattern, field)
            }
            (Expression::Get(_), Kind::Set(_)) | (Expression::Set(_), Kind::Get(_)) => Answer::No,
            (Expression::Get(_) | Expression::Set(_), _) => other,
            (Expression::Call(pattern), Kind::Call(method))
            | (Expression::Execution(pattern), Kind::Execution(method)) => self.method(pattern, method),
            (Expression::Call(_) | Expression::Execution(_), _) => other,
            (Expression::Static, Kind::Get(field) | Kind::Set(field)) => field.is_static.into(),
            (Expression::Static, Kind::Call(method) | Kind::Execution(method)) => method.is_static.into(),
            (Expression::Static, _) => other,
            (Expression::MaybeShared, Kind::Get(field) | Kind::Set(field)) => {
                self.world.may_be_shared(field, self.point.class)
            }
            (Expression::MaybeShared, _) => other,
            (Expression::Element, Kind::Get(field) | Kind::Set(field)) => field.is_element.into(),
            (Expression::Element, _) => other,
            (Expression::Target(pattern), _) => self.instance(pattern, self.point.target),
            (Expression::Args(parameters), kind) => self.arguments(parameters, kind),
        }
    }

    fn classes(&self, pattern: &Pattern, kind: &Kind<'_>) -> Answer {
        let here = self.point.class.map_or(Answer::Open, |class| pattern.matches(class).into());
        match kind {
            Kind::Get(field) | Kind::Set(field) if !field.is_element => {
                let owner = field.declaring.unwrap_or(field.owner);
                let is_theirs = match pattern.matches(owner) {
                    true => Answer::Yes,
                    false if field.declaring.is_some() => Answer::No,
                    // The class that the code names may inherit the field from a class that matches.
                    false => Answer::Open,
                };
                Answer::all([here, is_theirs])
            }
            Kind::Owned(owner) => pattern.matches(owner).into(),
            _ => here,
        }
    }

    fn within(&self, pattern: &TypePattern, class: &str) -> Answer {
        match pattern {
            TypePattern::Not(inner) => !self.within(inner, class),
            TypePattern::And(parts) => Answer::all(parts.iter().map(|part| self.within(part, class))),
            TypePattern::Or(parts) => Answer::any(parts.iter().map(|part| self.within(part, class))),
            TypePattern::Name { name, subtypes, .. } => {
                if covers(name, class) {
                    return Answer::Yes;
                }
                if !subtypes {
                    return Answer::No;
                }
                // The code of a nested class is within its enclosing classes.
                let enclosing = class.char_indices().filter(|&(_, c)| c == '$').map(|(at, _)| &class[..at]);
                Answer::any(enclosing.chain([class]).map(|class| self.is_a(name, class)))
            }
        }
    }

    fn field(&self, pattern: &FieldPattern, field: &FieldPoint<'_>) -> Answer {
        let of_type = match (&pattern.of_type, field.of_type) {
            (None, _) => Answer::Yes,
            (Some(pattern), Some(name)) => self.is_type(pattern, name),
            (Some(pattern), None) => self.is_any_type(pattern),
        };
        // An array element is never final or volatile, even if the variable that holds the array is.
        let never = if field.is_element { Modifier::Final.bit() | Modifier::Volatile.bit() } else { 0 };
        let access = field.access.map(|access| (access & !never, 0)).unwrap_or((0, !never));
        Answer::all([
            is_named(&pattern.name, field.name).into(),
            modifiers(&pattern.modifiers, access, field.is_static),
            of_type,
            match &pattern.declaring {
                None => Answer::Yes,
                Some(declaring) => match field.declaring {
                    Some(class) => {
                        Answer::any([self.is_type(declaring, class), self.is_type(declaring, field.owner)])
                    }
                    None => self.inherited(declaring, field.owner, Answer::Open),
                },
            },
        ])
    }

    fn method(&self, pattern: &MethodPattern, method: &MethodPoint<'_>) -> Answer {
        let is_constructor = method.name == "<init>";
        let name = match pattern.name.as_str() {
            "new" => is_constructor,
            name => !is_constructor && method.name != "<clinit>" && is_named(name, method.name),
        };
        Answer::all([
            name.into(),
            modifiers(
                &pattern.modifiers,
                method.access.map(|access| (access, 0)).unwrap_or((0, !0)),
                method.is_static,
            ),
            pattern.result.as_ref().map_or(Answer::Yes, |result| self.is_type(result, method.result)),
            match &pattern.parameters {
                None => Answer::Yes,
                Some(parameters) => {
                    list(parameters, method.parameters, &|pattern, name| self.is_type(pattern, name))
                }
            },
            match &pattern.declaring {
                None => Answer::Yes,
                // Constructors are not inherited.
                Some(declaring) if is_constructor => self.is_type(declaring, method.owner),
                Some(declaring) => self.inherited(declaring, method.owner, Answer::Yes),
            },
        ])
    }

    /// Whether the pattern matches the class that the code names, or a supertype whose member it may inherit or override.
    fn inherited(&self, pattern: &TypePattern, owner: &str, from_supertype: Answer) -> Answer {
        let own = self.is_type(pattern, owner);
        if own == Answer::Yes {
            return own;
        }
        let mut found = Answer::No;
        let is_complete = self.world.supertypes(owner, &mut |name| {
            found = Answer::any([found, self.is_type(pattern, name)]);
            found == Answer::Yes
        });
        match found {
            Answer::Yes => from_supertype,
            Answer::No if is_complete => own,
            _ => Answer::Open,
        }
    }

    fn arguments(&self, parameters: &[Parameter], kind: &Kind<'_>) -> Answer {
        let declared: Vec<Value<'_>>;
        let values: &[Value<'_>] = match (kind, self.point.arguments) {
            // The lock counts as the argument of a lock operation.
            (Kind::Lock | Kind::Unlock, _) => &[self.point.target],
            (_, Some(values)) => values,
            (Kind::Get(_), None) => &[],
            (Kind::Set(field), None) => {
                let of_type = match field.of_type {
                    Some(name) if field.is_element => name.strip_suffix("[]"),
                    name => name,
                };
                declared = vec![of_type.map_or(Value::Unknown, Value::Declared)];
                &declared
            }
            (Kind::Call(method) | Kind::Execution(method), None) => {
                declared = method.parameters.iter().map(|name| Value::Declared(name)).collect();
                &declared
            }
            (Kind::Any | Kind::Owned(_), None) => return Answer::Open,
        };
        list(parameters, values, &|pattern, value| self.instance(pattern, *value))
    }

    /// Whether a value is an instance of a type, as by `instanceof`.
    fn instance(&self, pattern: &TypePattern, value: Value<'_>) -> Answer {
        match pattern {
            TypePattern::Not(inner) => return !self.instance(inner, value),
            TypePattern::And(parts) => {
                return Answer::all(parts.iter().map(|part| self.instance(part, value)));
            }
            TypePattern::Or(parts) => {
                return Answer::any(parts.iter().map(|part| self.instance(part, value)));
            }
            TypePattern::Name { .. } => {}
        }
        match value {
            Value::None | Value::Null => Answer::No,
            Value::Unknown => self.is_any_type(pattern),
            Value::Exactly(name) => self.is_subtype(pattern, name),
            Value::Declared(name) => match self.is_subtype(pattern, name) {
                Answer::No if !is_primitive(name) => Answer::Open,
                answer => answer,
            },
        }
    }

    /// Yes if the pattern matches every type; open otherwise.
    fn is_any_type(&self, pattern: &TypePattern) -> Answer {
        match pattern {
            TypePattern::Name { name, dimensions: 0, .. } if name == "*" => Answer::Yes,
            _ => Answer::Open,
        }
    }

    /// Whether a type, or one of its supertypes, matches a pattern.
    fn is_subtype(&self, pattern: &TypePattern, name: &str) -> Answer {
        match pattern {
            TypePattern::Name { name: pattern, dimensions, .. } => self.is_type(
                &TypePattern::Name { name: pattern.clone(), subtypes: true, dimensions: *dimensions },
                name,
            ),
            pattern => self.is_type(pattern, name),
        }
    }

    /// Whether a type, given by its name as in source, matches a pattern.
    fn is_type(&self, pattern: &TypePattern, name: &str) -> Answer {
        match pattern {
            TypePattern::Not(inner) => !self.is_type(inner, name),
            TypePattern::And(parts) => Answer::all(parts.iter().map(|part| self.is_type(part, name))),
            TypePattern::Or(parts) => Answer::any(parts.iter().map(|part| self.is_type(part, name))),
            TypePattern::Name { name: pattern, subtypes, dimensions } => {
                let (base, depth) = element(name);
                if depth < *dimensions {
                    return Answer::No;
                }
                if depth > *dimensions {
                    // An array with more dimensions is a subtype of `Object`, and `*` matches every type.
                    let is_object = *subtypes && is_named(pattern, "java.lang.Object");
                    return (pattern == "*" || is_object).into();
                }
                if is_named(pattern, base) {
                    return Answer::Yes;
                }
                if *subtypes && !is_primitive(base) { self.is_a(pattern, base) } else { Answer::No }
            }
        }
    }

    /// Whether the name of a class or of one of its supertypes matches a pattern.
    fn is_a(&self, pattern: &str, class: &str) -> Answer {
        if is_named(pattern, class) || is_named(pattern, "java.lang.Object") {
            return Answer::Yes;
        }
        let mut is_found = false;
        let is_complete = self.world.supertypes(class, &mut |name| {
            is_found = is_found || is_named(pattern, name);
            is_found
        });
        if is_found {
            Answer::Yes
        } else if is_complete {
            Answer::No
        } else {
            Answer::Open
        }
    }
}

/// Whether access flags satisfy a list of modifiers. The bits of `unknown` mark the flags that are not known.
fn modifiers(wanted: &[(bool, Modifier)], (access, unknown): (u16, u16), is_static: bool) -> Answer {
    Answer::all(wanted.iter().map(|&(is_not, modifier)| {
        let has = match modifier {
            Modifier::Static => is_static.into(),
            modifier if unknown & modifier.bit() != 0 => Answer::Open,
            modifier => (access & modifier.bit() != 0).into(),
        };
        if is_not { !has } else { has }
    }))
}

/// Whether a list of values matches a list of patterns, of which `..` matches any number of values.
fn list<T>(patterns: &[Parameter], values: &[T], matches: &dyn Fn(&TypePattern, &T) -> Answer) -> Answer {
    match patterns {
        [] => values.is_empty().into(),
        [Parameter::Rest] => Answer::Yes,
        [Parameter::Rest, rest @ ..] => {
            Answer::any((0..=values.len()).map(|skipped| list(rest, &values[skipped..], matches)))
        }
        [Parameter::Of(pattern), rest @ ..] => match values {
            [] => Answer::No,
            [first, others @ ..] => match matches(pattern, first) {
                Answer::No => Answer::No,
                answer => Answer::all([answer, list(rest, others, matches)]),
            },
        },
    }
}
