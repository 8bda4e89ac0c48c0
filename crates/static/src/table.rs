//! Holds the table of [`jdk`](crate::jdk) against the JDK's own code.
//!
//! Of every method whose row says that nothing of what it is given gets to other threads, the code is looked into, and all that it
//! certainly calls. What it calls by interfaces or by methods that may be overridden does what the table says: those rows
//! are held against the code of the classes that have them in turn, or are the program's own code, which the analysis follows.
//! Where the code does more than the row says, the row is wrong, or the code is known to be harmless ([`HARMLESS`]).

mod summary;

use fissure_classfile::flow::types;

use crate::{
    ClassSource,
    graph::Level,
    jdk,
    world::{Follow, MethodId, World},
};
use summary::{STATIC, Set, Summaries, Summary, bits, is_inert};

const PUBLIC_OR_PROTECTED: u16 = 0x0005;
const STATIC_METHOD: u16 = 0x0008;

/// Methods that do more than their rows say, by how their names begin, and why that is no harm.
const HARMLESS: &[(&str, &str)] = &[];

/// How the table compares to the code of a JDK.
#[derive(Debug, Default)]
pub struct TableCheck {
    /// Methods whose code agrees with their rows.
    pub agreed: usize,
    /// Methods that hand what they are given to something that cannot be followed.
    pub undecided: usize,
    /// Methods that do more than their rows say, and are known to do no harm.
    pub harmless: usize,
    /// Native methods, which have no code to look into.
    pub native: usize,
    /// Methods of which code was looked into, those that others call included.
    pub looked_into: usize,
    /// Where the table is wrong, a sentence each.
    pub contradictions: Vec<String>,
}

/// Compares the table with these classes of the JDK, by their internal names.
pub fn check_table(source: &mut dyn ClassSource, names: &[String]) -> TableCheck {
    let mut world = World::new(source, Follow::Everything);
    let mut check = TableCheck::default();
    let mut methods: Vec<MethodId> = Vec::new();
    for name in names.iter().filter(|name| jdk::is_described(name)) {
        let class = world.load(name);
        let flow = world.class(class).flow.clone();
        for (index, method) in flow.methods.iter().enumerate() {
            let row = jdk::effect(name, &method.name, &method.descriptor);
            let is_claim = row.level == Level::Local && !row.opens.is_anything();
            if !is_claim || method.access & PUBLIC_OR_PROTECTED == 0 || flow.access & 1 == 0 {
                continue;
            }
            match &method.body {
                Some(_) => methods.push(world.declared(class, index as u32)),
                None => check.native += usize::from(method.access & 0x0100 != 0),
            }
        }
    }
    let mut summaries = Summaries::new(&mut world);
    methods.iter().for_each(|&method| summaries.ask(method));
    summaries.run();
    check.looked_into = summaries.len();
    for method in methods {
        let summary = summaries.get(method);
        let text = compare(summaries.world, method, &summary);
        match text {
            Some((name, _)) if HARMLESS.iter().any(|(begin, _)| name.starts_with(begin)) => {
                check.harmless += 1
            }
            Some((name, what)) => check.contradictions.push(format!("{name} {what}")),
            None if summary.is_open => check.undecided += 1,
            None => check.agreed += 1,
        }
    }
    check
}

/// What a method does beyond its row, with the method's name.
fn compare(world: &World<'_>, method: MethodId, summary: &Summary) -> Option<(String, String)> {
    let info = world.method(method);
    let class = world.class(info.class);
    let declared = &class.flow.methods[info.index? as usize];
    let (parameters, result) = types(&declared.descriptor);
    let receiver = format!("L{};", class.name);
    let is_static = declared.access & STATIC_METHOD != 0;
    let mut kinds: Vec<&str> = if is_static { Vec::new() } else { vec![&receiver] };
    kinds.extend(parameters.into_iter().filter(|kind| kind.starts_with(['L', '['])));
    // Whatever can be thrown is everybody's anyway, and what it holds.
    if jdk::is_throwable(&receiver) {
        return None;
    }
    let is_counted = |kind: &str| !is_inert(kind) && !jdk::is_throwable(kind);
    let counted = kinds.iter().enumerate().filter(|(_, kind)| is_counted(kind));
    let counted: Set = counted.fold(0, |all, (formal, _)| all | 1 << formal);
    let name = format!("{}.{}{}", class.name, declared.name, declared.descriptor);
    let tell = |set: Set| {
        let which = bits(set).map(|formal| kinds.get(formal).copied().unwrap_or_default().to_owned());
        which.collect::<Vec<_>>().join(", ")
    };
    let escaped = summary.escapes & counted;
    if escaped != 0 {
        let place = summary.place.as_deref().unwrap_or_default();
        let escaped = tell(escaped);
        return Some((name, format!("hands {escaped} to static fields or other threads: {place}")));
    }
    if jdk::effect(&class.name, &declared.name, &declared.descriptor).links {
        return None;
    }
    for (formal, held) in summary.holds.iter().enumerate() {
        let kept = held & counted & !(1 << formal);
        if kept != 0 {
            return Some((name, format!("keeps {} in {}", tell(kept), tell(1 << formal))));
        }
    }
    let given_back = summary.returns & counted & !STATIC;
    (given_back != 0 && !is_inert(result)).then(|| (name, format!("gives back {}", tell(given_back))))
}
