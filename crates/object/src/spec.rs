//! The methods of an object: which are core, which are read-only, and the roles of their arguments.

use crate::value::Value;

/// How an object uses a number that it is given.
///
/// The less it depends on a value, the fewer values need to be tried; when in doubt it is a key.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Role {
    /// The object may compare, order or hash it.
    Key,
    /// The object stores it and returns it again, and at most tests it for equality with a [`Role::Probe`].
    Stored,
    /// The object tests whether stored values are equal to it.
    Probe,
}

/// The arguments that are tried for one parameter.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum Domain {
    /// One value.
    Scalar(Role),
    /// A collection of two values; the paper fixes that size too.
    Collection(Role),
    /// A map of two entries.
    Map {
        /// The role of its keys.
        key: Role,
        /// The role of its values.
        value: Role,
    },
    /// One of these values, whatever the rank's number of values.
    Choice(Vec<Value>),
    /// One value with the role of a key, or one of these numbers, for which the object may behave differently.
    Special(Vec<i64>),
}

/// A method of the object.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Method {
    /// Its name, as [`crate::Invocation::method`] has it.
    pub name: String,
    /// The arguments that are tried, parameter by parameter.
    pub parameters: Vec<Domain>,
    /// Whether it is certainly read-only. Rules leave out harnesses because of that.
    pub read_only: bool,
    /// Whether it seems read-only in sequential runs. That only affects the order of the search.
    pub seems_read_only: bool,
}

/// The methods that may appear in harnesses: the core and one method under test.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Spec {
    /// The core methods, which are assumed to be atomic.
    pub core: Vec<Method>,
    /// The method under test; without one, the core is tested.
    pub method: Option<Method>,
}

impl Spec {
    /// A method by its number: core methods first, then the method under test.
    pub fn method(&self, number: usize) -> Option<&Method> {
        if number == self.core.len() { self.method.as_ref() } else { self.core.get(number) }
    }

    /// Core methods and method under test with their numbers.
    pub fn methods(&self) -> impl Iterator<Item = (usize, &Method)> {
        self.core.iter().chain(&self.method).enumerate()
    }

    /// Whether some parameter is compared with stored values.
    pub fn probes(&self) -> bool {
        self.methods().flat_map(|(_, method)| &method.parameters).any(|domain| match domain {
            Domain::Scalar(role) | Domain::Collection(role) => *role == Role::Probe,
            Domain::Map { key, value } => *key == Role::Probe || *value == Role::Probe,
            Domain::Choice(_) | Domain::Special(_) => false,
        })
    }
}

/// An argument whose fresh values are not numbered yet.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) enum Slot {
    /// The same in every harness.
    Fixed(Value),
    /// A number with its role, which rules check.
    Number(Role, i64),
    /// The next number that the harness has not stored yet.
    Fresh,
    /// A collection.
    List(Vec<Slot>),
    /// A map.
    Map(Vec<(Slot, Slot)>),
}

/// An invocation whose fresh values are not numbered yet.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) struct Template {
    /// The method's number in its [`Spec`].
    pub(crate) method: usize,
    /// The arguments.
    pub(crate) arguments: Vec<Slot>,
}

impl Slot {
    /// The argument, with fresh values from `next` on.
    pub(crate) fn fill(&self, next: &mut i64) -> Value {
        match self {
            Slot::Fixed(value) => value.clone(),
            Slot::Number(_, number) => Value::Integer(*number),
            Slot::Fresh => {
                let value = Value::Integer(*next);
                *next += 1;
                value
            }
            Slot::List(items) => Value::List(items.iter().map(|item| item.fill(next)).collect()),
            Slot::Map(entries) => {
                Value::Map(entries.iter().map(|(key, value)| (key.fill(next), value.fill(next))).collect())
            }
        }
    }

    /// Calls `see` with every number that has a role, from left to right.
    pub(crate) fn numbers(&self, see: &mut impl FnMut(Role, i64)) {
        match self {
            Slot::Fixed(_) | Slot::Fresh => {}
            Slot::Number(role, number) => see(*role, *number),
            Slot::List(items) => items.iter().for_each(|item| item.numbers(see)),
            Slot::Map(entries) => {
                for (key, value) in entries {
                    key.numbers(see);
                    value.numbers(see);
                }
            }
        }
    }
}

/// All invocations of a method with this many values; stored values are not numbered yet if they are to be fresh.
pub(crate) fn templates(number: usize, method: &Method, values: usize, fresh: bool) -> Vec<Template> {
    let mut all = vec![Vec::new()];
    for domain in &method.parameters {
        let choices = slots(domain, values, fresh);
        all = all
            .iter()
            .flat_map(|prefix| {
                choices.iter().map(move |choice| {
                    let mut arguments: Vec<Slot> = prefix.clone();
                    arguments.push(choice.clone());
                    arguments
                })
            })
            .collect();
    }
    all.into_iter().map(|arguments| Template { method: number, arguments }).collect()
}

fn slots(domain: &Domain, values: usize, fresh: bool) -> Vec<Slot> {
    let scalars = |role: Role| -> Vec<Slot> {
        if fresh && role == Role::Stored {
            return vec![Slot::Fresh];
        }
        (0..values as i64).map(|number| Slot::Number(role, number)).collect()
    };
    match domain {
        Domain::Scalar(role) => scalars(*role),
        Domain::Choice(choices) => choices.iter().cloned().map(Slot::Fixed).collect(),
        Domain::Special(numbers) => {
            let special = numbers.iter().map(|&number| Slot::Fixed(Value::Integer(number)));
            scalars(Role::Key).into_iter().chain(special).collect()
        }
        Domain::Collection(role) => {
            let items = scalars(*role);
            let pairs = items.iter().flat_map(|first| {
                items.iter().map(move |second| Slot::List(vec![first.clone(), second.clone()]))
            });
            pairs.collect()
        }
        Domain::Map { key, value } => {
            let (keys, values) = (scalars(*key), scalars(*value));
            let mut maps = Vec::new();
            for (at, first) in keys.iter().enumerate() {
                for second in &keys[at + 1..] {
                    for one in &values {
                        for other in &values {
                            maps.push(Slot::Map(vec![
                                (first.clone(), one.clone()),
                                (second.clone(), other.clone()),
                            ]));
                        }
                    }
                }
            }
            maps
        }
    }
}
