//! What is built in for the paper's ten classes against what their class files say.

use std::{collections::BTreeSet, path::Path};

use fissure_classfile::flow::{read_flow, types};
use fissure_object::builtin;
use fissure_static::{
    ClassSource,
    effects::{Effect, Subject, effects},
};

use crate::locality;

const PUBLIC: u16 = 1;
const STATIC: u16 = 8;
const SYNTHETIC: u16 = 0x1000;

/// The public methods that a class has or inherits.
fn methods(source: &mut dyn ClassSource, class: &str) -> Vec<(String, String)> {
    let mut found = BTreeSet::new();
    let mut waiting = vec![class.to_owned()];
    while let Some(name) = waiting.pop().filter(|name| name != "java/lang/Object") {
        let Some((_, bytes)) = source.find(&name) else { continue };
        let flow = read_flow(&bytes, false).unwrap();
        for method in &flow.methods {
            let is_plain = method.access & (PUBLIC | STATIC | SYNTHETIC) == PUBLIC;
            if is_plain && !method.name.starts_with('<') {
                found.insert((method.name.clone(), method.descriptor.clone()));
            }
        }
        waiting.extend(flow.super_name.into_iter().chain(flow.interfaces));
    }
    found.into_iter().collect()
}

#[test]
fn print() {
    let mut classes = locality::open_classes(Path::new("java"), &[]).unwrap();
    for known in builtin::CLASSES {
        let class = known.class.replace('.', "/");
        let methods: Vec<_> = methods(&mut classes, &class)
            .into_iter()
            .filter(|(name, descriptor)| {
                let number = types(descriptor).0.len();
                !builtin::LEFT_OUT.iter().any(|(entry, _)| builtin::means(entry, name, number))
                    && !(types(descriptor).0.first() == Some(&"J") && known.shape == builtin::Shape::Map)
            })
            .collect();
        let constructor = if known.constructor.is_empty() { "()V" } else { "(I)V" };
        let subject = Subject { class, constructor: constructor.to_owned(), methods };
        let start = std::time::Instant::now();
        let found = effects(&mut classes, &subject);
        println!("{} {:?}", known.class, start.elapsed());
        for ((name, descriptor), effect) in subject.methods.iter().zip(&found) {
            let expected = builtin::names(known.read_only, name, types(descriptor).0.len());
            let is = *effect == Effect::Reads;
            if is != expected {
                println!("   {name}{descriptor}: built in {expected}, {effect:?}");
            }
        }
    }
}
