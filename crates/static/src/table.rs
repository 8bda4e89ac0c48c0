//! Checks the table of [`jdk`](crate::jdk) against the JDK's own code.
//!
//! For every method whose row says that none of its arguments escapes to other threads, its code and the code of all callees
//! that cannot be overridden are analysed. Calls through interfaces or of overridable methods are assumed to do what their
//! rows say: those rows are checked against the code of their classes in turn, or the callee is code of the program, which
//! the main analysis covers. If the code does more than its row says, the row is wrong, or the code is known to be harmless
//! (`table-check.txt` of the crate `jdk`).

mod calls;
mod summary;

use fissure_classfile::{AccessFlags, flow::types};

use crate::{
    ClassSource,
    graph::Level,
    jdk,
    world::{Follow, MethodId, World},
};
use summary::{STATIC, Set, Summaries, Summary, bits, is_inert};

/// The result of comparing the table with the code of a JDK.
#[derive(Debug, Default)]
pub struct TableCheck {
    /// Methods whose code agrees with their rows.
    pub agreed: usize,
    /// Methods that pass their arguments to code that cannot be analysed.
    pub undecided: usize,
    /// Methods that do more than their rows say but are known to be harmless.
    pub harmless: usize,
    /// Native methods, which have no bytecode.
    pub native: usize,
    /// Methods whose code was analysed, including callees.
    pub looked_into: usize,
    /// The errors in the table, one sentence each.
    pub contradictions: Vec<String>,
}

/// Finds classes that the core of the JDK names although the analysis assumes that it cannot use their modules. One sentence
/// for each.
pub fn check_modules(source: &mut dyn ClassSource, names: &[String]) -> Vec<String> {
    let mut world = World::new(source, Follow::Undescribed);
    let mut found = Vec::new();
    for class in names {
        if fissure_jdk::may_name_other_modules(class) || world.is_inner(class) != Some(true) {
            continue;
        }
        for named in world.names_in(class) {
            if world.is_inner(&named) == Some(false) {
                found.push(format!("{class} names {named}"));
            }
        }
    }
    found
}

/// Compares the table with these classes of the JDK, given by their internal names. For the `doubted` classes all methods are
/// checked, as if their rows said `KEEPS`.
pub fn check_table(source: &mut dyn ClassSource, names: &[String], doubted: &[&str]) -> TableCheck {
    let mut world = World::new(source, Follow::Everything);
    let mut check = TableCheck::default();
    let mut methods: Vec<MethodId> = Vec::new();
    for name in names.iter().filter(|name| jdk::is_described(name)) {
        let class = world.load(name);
        let flow = world.class(class).flow.clone();
        for (index, method) in flow.methods.iter().enumerate() {
            let row = jdk::effect(name, &method.name, &method.descriptor);
            let is_claim = row.level == Level::Local && !row.opens.is_anything();
            let is_claim = is_claim || doubted.contains(&name.as_str());
            if !is_claim || !method.access.intersects(AccessFlags::PUBLIC | AccessFlags::PROTECTED) {
                continue;
            }
            match &method.body {
                Some(_) => methods.push(world.declared(class, index as u32)),
                None => check.native += usize::from(method.access.contains(AccessFlags::NATIVE)),
            }
        }
    }
    let mut summaries = Summaries::new(&mut world);
    methods.iter().for_each(|&method| summaries.request(method));
    summaries.run();
    check.looked_into = summaries.len();
    for method in methods {
        let summary = summaries.get(method);
        match compare(summaries.world, method, &summary) {
            Some(_) if is_harmless(&summaries.world.describe(method), &summary) => check.harmless += 1,
            Some(text) => check.contradictions.push(text),
            None if summary.is_open => check.undecided += 1,
            None => check.agreed += 1,
        }
    }
    check
}

fn is_harmless(method: &str, summary: &Summary) -> bool {
    let site = summary.escape_site.as_deref().unwrap_or(method);
    is_harmless_site(site) || is_harmless_site(method)
}

/// Whether a site, as `World::describe` names it, is known to do no harm.
fn is_harmless_site(site: &str) -> bool {
    let site = site.split(" by ").next().unwrap_or(site);
    match site.strip_prefix("new ") {
        Some(class) => fissure_jdk::is_harmless_creation(class),
        None => {
            let (class, method) = site.rsplit_once('.').unwrap_or_default();
            fissure_jdk::is_harmless_code(class, method)
        }
    }
}

/// Whether an object of that type may be of a class of the program.
fn may_be_own(world: &mut World<'_>, descriptor: &str) -> bool {
    let Some(name) = descriptor.strip_prefix('L').and_then(|name| name.strip_suffix(';')) else {
        return false;
    };
    let class = world.load(name);
    !is_inert(descriptor)
        && !fissure_jdk::is_given(name)
        && !world.class(class).flow.access.contains(AccessFlags::FINAL)
}

/// Where a method does more than its row says, in one sentence.
fn compare(world: &mut World<'_>, method: MethodId, summary: &Summary) -> Option<String> {
    let info = world.method(method).clone();
    let (class_name, flow) = (world.class(info.class).name.clone(), world.class(info.class).flow.clone());
    let declared = &flow.methods[info.index? as usize];
    let (parameters, result) = types(&declared.descriptor);
    let receiver = format!("L{class_name};");
    let is_static = declared.access.contains(AccessFlags::STATIC);
    let mut kinds: Vec<&str> = if is_static { Vec::new() } else { vec![&receiver] };
    kinds.extend(parameters.into_iter().filter(|kind| kind.starts_with(['L', '['])));
    // The analysis treats exceptions, with all that they hold, and threads as shared anyway.
    if jdk::is_throwable(&receiver) {
        return None;
    }
    let is_counted = |kind: &str| !is_inert(kind) && !jdk::is_throwable(kind) && kind != "Ljava/lang/Thread;";
    let counted = kinds.iter().enumerate().filter(|(_, kind)| is_counted(kind));
    let counted: Set = counted.fold(0, |all, (formal, _)| all | 1 << formal);
    let name = format!("{class_name}.{}{}", declared.name, declared.descriptor);
    let describe = |set: Set| {
        let which = bits(set).map(|formal| kinds.get(formal).copied().unwrap_or_default().to_owned());
        which.collect::<Vec<_>>().join(", ")
    };
    let escaped = summary.escapes & counted;
    if escaped != 0 {
        let site = summary.escape_site.as_deref().unwrap_or_default();
        let escaped = describe(escaped);
        return Some(format!("{name} passes {escaped} to static fields or other threads: {site}"));
    }
    if summary.returns & STATIC != 0 && is_static && may_be_own(world, result) {
        return Some(format!("{name} returns objects from static fields"));
    }
    if jdk::effect(&class_name, &declared.name, &declared.descriptor).links {
        return None;
    }
    for (formal, held) in summary.holds.iter().enumerate() {
        let kept = held & counted & !(1 << formal);
        if kept != 0 {
            return Some(format!("{name} stores {} in {}", describe(kept), describe(1 << formal)));
        }
    }
    let returned = summary.returns & counted & !STATIC;
    (returned != 0 && !is_inert(result)).then(|| format!("{name} returns {}", describe(returned)))
}
