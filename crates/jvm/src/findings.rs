//! Turns races into findings: resolves numbers to names, and keeps one finding per field.

use rustc_hash::{FxHashMap, FxHashSet};

use fissure_analysis::{history::Entry, lockset::Race, locksets::ANY, order::Source};
use fissure_model::{
    finding::{Finding, Frame, HeldLock, Kind, Site, Status, fingerprint},
    pointcut::Value,
    record::Record,
    settings::Order,
};
use jvmti_bindings::sys::jni::jobject;

use crate::{
    agent::Agent,
    mutex::locked,
    points::JoinPoint,
    registry::Resolved,
    sites::{SiteInfo, Target, type_name},
    stacks,
    vm::Jni,
};

/// The findings so far, by subject.
#[derive(Debug, Default)]
pub(crate) struct Findings {
    found: FxHashMap<String, Finding>,
    /// The subject of each site with a race, so that further races at the site are cheap.
    subjects: FxHashMap<u32, String>,
    /// The numbers of the objects in which each race was seen.
    owners: FxHashMap<String, FxHashSet<i64>>,
}

/// The largest number of objects that are counted per finding.
const MOST_OWNERS: usize = 1 << 20;

impl Findings {
    /// Counts the object of a race whose field was reported before, unless this race is worse than the reported one.
    fn count_again(&mut self, race: &Race, owner: i64) -> bool {
        let Some(subject) = self.subjects.get(&race.later.site) else { return false };
        let Some(known) = self.found.get_mut(subject) else { return false };
        if known.ordered && !race.ordered {
            return false;
        }
        let owners = self.owners.entry(subject.clone()).or_default();
        if known.ordered == race.ordered && owners.len() < MOST_OWNERS {
            owners.insert(owner);
            known.hits = owners.len() as u64;
        }
        true
    }

    /// All findings so far, in a fixed order.
    pub(crate) fn all(&self) -> Vec<&Finding> {
        let mut all: Vec<&Finding> = self.found.values().collect();
        all.sort_by(|a, b| a.id.cmp(&b.id));
        all
    }
}

/// The field that a race is on.
struct Subject {
    name: String,
    field_type: Option<String>,
    is_static: bool,
}

/// Reports a race, unless its field was reported before with a race that is at least as bad. Returns false if the field's class is not
/// loaded yet, so that it is not known whether the field is volatile: a later access has to decide.
pub(crate) fn report(agent: &Agent, jni: Jni, race: &Race, object: jobject) -> bool {
    let Some(detect) = agent.settings.detect().filter(|detect| detect.races) else { return true };
    if race.ordered && detect.order == Order::HappensBefore {
        return true;
    }
    if object.is_null() && !is_loaded(agent, race.later.site) {
        return false;
    }
    let owner = if object.is_null() { 0 } else { agent.object_number(object) };
    if locked(&agent.findings).count_again(race, owner) {
        return true;
    }
    let (earlier, later) = {
        let code = locked(&agent.code);
        (code.sites.get(race.earlier.site).cloned(), code.sites.get(race.later.site).cloned())
    };
    let Some(later) = later else { return true };
    if ![Some(&later), earlier.as_ref()]
        .into_iter()
        .flatten()
        .all(|site| is_in_scope(agent, jni, site, object))
    {
        return true;
    }
    let Some(subject) = subject(agent, jni, &later, earlier.as_ref(), object) else { return true };
    {
        let mut findings = locked(&agent.findings);
        findings.subjects.insert(race.later.site, subject.name.clone());
        if findings.count_again(race, owner) {
            return true;
        }
    }
    let finding = Finding {
        id: fingerprint(&["data-race", detect.analysis.name(), &subject.name]),
        field_type: subject.field_type,
        owner: Some(if subject.is_static { "static".to_owned() } else { object_name(agent, jni, object) }),
        ordered: race.ordered,
        ordered_by: race.source.map(|source| source_name(agent, source)),
        sites: vec![
            site(agent, &race.earlier, earlier.as_ref(), |thread| {
                agent.samples.frames(agent.tool, thread, race.earlier.site)
            }),
            site(agent, &race.later, Some(&later), |_| stacks::current(agent.tool)),
        ],
        ..Finding::new(Kind::DataRace, Status::Warning, detect.analysis.name(), &subject.name)
    };
    agent.output.write(&Record::Finding(Box::new(finding.clone())));
    agent.write_coverage();
    let mut findings = locked(&agent.findings);
    if !findings.count_again(race, owner) {
        findings.owners.insert(subject.name.clone(), FxHashSet::from_iter([owner]));
        findings.found.insert(subject.name, finding);
    }
    true
}

/// Whether the class of the static field that a site accesses is loaded.
fn is_loaded(agent: &Agent, site: u32) -> bool {
    let code = locked(&agent.code);
    match code.sites.get(site) {
        Some(SiteInfo { target: Target::Field { class, name, descriptor }, loader, .. }) => {
            code.registry.resolve(*loader, class, name, descriptor, |_| true) != Resolved::NotLoaded
        }
        _ => true,
    }
}

/// What ordered two accesses, for a report.
fn source_name(agent: &Agent, source: Source) -> String {
    match source {
        Source::START => "the start of a thread".to_owned(),
        Source::JOIN => "joining a thread".to_owned(),
        Source(number) => {
            let names = locked(&agent.names);
            let name = names.sources.get((number - Source::FIRST) as usize).cloned();
            let name = name.unwrap_or_else(|| panic!("source {number} was never named"));
            // Programs know the interface, not the class behind it.
            if name.ends_with("$ConditionObject") {
                "java.util.concurrent.locks.Condition".to_owned()
            } else {
                name
            }
        }
    }
}

/// Whether an access is in scope, now that its object is known.
fn is_in_scope(agent: &Agent, jni: Jni, site: &SiteInfo, object: jobject) -> bool {
    if !agent.scope.is_selective() {
        return true;
    }
    let kind = kind_of_object(agent, jni, object);
    let is_static = object.is_null();
    let target = if is_static { Value::None } else { Value::Exactly(&kind) };
    let code = locked(&agent.code);
    JoinPoint::of_access(site, is_static, kind.ends_with("[]")).with_point(
        &code.classes,
        target,
        None,
        |point| agent.scope.has(point, &code.classes),
    )
}

/// A name for an object: `com.acme.Account@3`, or `com.acme.Account.class` for a class.
pub(crate) fn object_name(agent: &Agent, jni: Jni, object: jobject) -> String {
    let name = kind_of_object(agent, jni, object);
    if object.is_null() || name.ends_with(".class") {
        return name;
    }
    format!("{name}@{}", agent.object_number(object))
}

/// The class of an object: `com.acme.Account`, or `com.acme.Account.class` if the object is a class.
pub(crate) fn kind_of_object(agent: &Agent, jni: Jni, object: jobject) -> String {
    if object.is_null() {
        return "null".to_owned();
    }
    let class = jni.class_of(object);
    let name = agent.tool.class_name(class).unwrap_or_default();
    jni.forget(class);
    if name == "java/lang/Class" {
        return format!("{}.class", agent.tool.class_name(object).unwrap_or_default().replace('/', "."));
    }
    if name.starts_with('[') { type_name(&name) } else { name.replace('/', ".") }
}

/// The JVM's name for the class of an array, such as `[I`.
pub(crate) fn array_class(agent: &Agent, jni: Jni, array: jobject) -> Option<String> {
    if array.is_null() {
        return None;
    }
    let class = jni.class_of(array);
    let name = agent.tool.class_name(class);
    jni.forget(class);
    name
}

/// The subject of a race: the field that the site names, in the class that declares it. For an array element it is the field that
/// held the array, or else the local variable.
fn subject(
    agent: &Agent,
    jni: Jni,
    later: &SiteInfo,
    earlier: Option<&SiteInfo>,
    object: jobject,
) -> Option<Subject> {
    let is_named = |site: &&SiteInfo| matches!(site.target, Target::Field { .. });
    let found = [Some(later), earlier].into_iter().flatten().find(is_named).cloned().or_else(|| {
        // The source of the array is unknown. If the method uses only one field of the array's type, that field is assumed.
        let array = array_class(agent, jni, object)?;
        locked(&agent.code).sites.only_field_like(later, &array).cloned()
    });
    let named = found.as_ref().unwrap_or(later);
    match &named.target {
        Target::Field { class, name, descriptor } => {
            let code = locked(&agent.code);
            let in_scope = |class: &str| agent.scope.covers(&class.replace('/', "."));
            let declaring = match code.registry.resolve(named.loader, class, name, descriptor, in_scope) {
                // Volatile fields are watched only because their accesses matter in atomic blocks; they do not race.
                Resolved::Known(number, _) if code.registry.class(number).has_volatile(name, descriptor) => {
                    return None;
                }
                Resolved::Known(number, _) => code.registry.class(number).name.replace('/', "."),
                _ => class.replace('/', "."),
            };
            Some(Subject {
                name: format!("{declaring}.{name}"),
                field_type: Some(type_name(descriptor)),
                is_static: object.is_null(),
            })
        }
        // Atomics do not race.
        Target::Method { .. } => None,
        target => {
            let array =
                array_class(agent, jni, object).map_or_else(|| "array".to_owned(), |name| type_name(&name));
            let variable = match target {
                Target::Local(Some(name)) => name,
                _ => array.as_str(),
            };
            Some(Subject {
                name: format!("{}.{}.{variable}", named.class, named.method),
                field_type: Some(array.clone()),
                is_static: false,
            })
        }
    }
}

fn site(
    agent: &Agent,
    entry: &Entry,
    info: Option<&SiteInfo>,
    stack: impl FnOnce(u32) -> Vec<Frame>,
) -> Site {
    let (thread, locks) = {
        let machine = locked(&agent.machine);
        (machine.order.thread_of(entry.segment).0, machine.sets.locks(entry.set).to_vec())
    };
    let (thread_name, mut held) = {
        let names = locked(&agent.names);
        let held: Vec<HeldLock> =
            locks.iter().map(|&lock| HeldLock { name: names.lock(lock).to_owned(), shared: false }).collect();
        (names.thread(thread).to_owned(), held)
    };
    if entry.set == ANY {
        held.push(HeldLock { name: "unknown locks".to_owned(), shared: false });
    }
    let mut stack = stack(thread);
    let (class, method, file, line) = info.map_or_else(
        || ("?".to_owned(), "?".to_owned(), None, None),
        |info| {
            (
                info.class.to_string(),
                info.method.to_string(),
                info.file.as_deref().map(str::to_owned),
                info.line,
            )
        },
    );
    if stack.first().is_none_or(|frame| frame.class != class || frame.method != method) {
        stack.insert(0, Frame { class: class.clone(), method: method.clone(), file: file.clone(), line });
    }
    Site {
        role: if entry.wrote { "write" } else { "read" }.to_owned(),
        thread: thread_name,
        class,
        method,
        file,
        line,
        stack,
        locks: held,
    }
}
