//! Finds the constants with which the methods of a class compare their arguments, including in methods that they pass them to.

use std::collections::BTreeSet;

use fissure_classfile::{
    flow::{read_flow, types},
    literals::{Literal, MethodLiterals, read_literals},
};
use rustc_hash::{FxHashMap, FxHashSet};

use crate::{ClassSource, Origin, effects::Subject};

/// A class with the comparisons in its methods.
struct Class {
    parent: Option<String>,
    methods: Vec<MethodLiterals>,
}

/// The constants for each method of the subject, parameter by parameter.
pub fn comparands(source: &mut dyn ClassSource, subject: &Subject) -> Vec<Vec<Vec<Literal>>> {
    let mut reader = Reader { source, subject: &subject.class, classes: FxHashMap::default() };
    let methods = subject.methods.iter();
    methods
        .map(|(name, descriptor)| {
            let parameters = 0..types(descriptor).0.len();
            parameters.map(|number| reader.of(&subject.class, name, descriptor, number)).collect()
        })
        .collect()
}

struct Reader<'a> {
    source: &'a mut dyn ClassSource,
    subject: &'a str,
    classes: FxHashMap<String, Option<Class>>,
}

impl Reader<'_> {
    /// The constants with which a method, and the methods that it passes the argument to, compare an argument.
    fn of(&mut self, class: &str, name: &str, descriptor: &str, parameter: usize) -> Vec<Literal> {
        let mut found = BTreeSet::new();
        let mut seen = FxHashSet::default();
        let mut waiting = vec![(class.to_owned(), name.to_owned(), descriptor.to_owned(), parameter)];
        while let Some(parameter) = waiting.pop() {
            if !seen.insert(parameter.clone()) {
                continue;
            }
            let (class, name, descriptor, parameter) = parameter;
            let Some(method) = self.method(&class, &name, &descriptor) else { continue };
            let compared = method.compared.iter().filter(|(number, _)| *number == parameter);
            found.extend(compared.map(|(_, literal)| literal.clone()));
            for (_, target, number) in method.passed.iter().filter(|(number, ..)| *number == parameter) {
                waiting.push((target.class.clone(), target.name.clone(), target.descriptor.clone(), *number));
            }
        }
        found.into_iter().collect()
    }

    /// A method that a class declares or inherits, if the program or the subject declares it.
    fn method(&mut self, class: &str, name: &str, descriptor: &str) -> Option<MethodLiterals> {
        let mut at = class.to_owned();
        loop {
            self.load(&at);
            let class = self.classes.get(&at)?.as_ref()?;
            let declared =
                class.methods.iter().find(|method| method.name == name && method.descriptor == descriptor);
            match declared {
                Some(method) => return Some(method.clone()),
                None => at = class.parent.clone()?,
            }
        }
    }

    fn load(&mut self, name: &str) {
        if self.classes.contains_key(name) {
            return;
        }
        let class = self.source.find(name).and_then(|(origin, bytes)| {
            if origin != Origin::Application && name != self.subject {
                return None;
            }
            let parent = read_flow(&bytes, false).ok()?.super_name;
            Some(Class { parent, methods: read_literals(&bytes).ok()? })
        });
        self.classes.insert(name.to_owned(), class);
    }
}
