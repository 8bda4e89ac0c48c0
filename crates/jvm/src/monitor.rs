//! Feeds a monitor that the user wrote.
//!
//! Which points a monitor wants to know of is decided when classes are rewritten ([`Watcher::advise`]); what depends on classes that were
//! not loaded by then, or on the objects at hand, when a point is reached ([`event`]). The script runs on a thread of its own with a
//! large stack, to which events go by a queue: no Java thread has to have room for an interpreter on its stack, and a script
//! that does not come to an end holds up nobody. The queue has an end, so that a slow script slows the program down rather
//! than fills its memory. A thread puts an event into the queue before it goes on, so that what is ordered in the program is in
//! order for the monitor.

use std::{
    io::Write,
    rc::Rc,
    sync::{
        Arc, Mutex,
        atomic::{AtomicBool, AtomicU64, Ordering},
        mpsc::{Receiver, SyncSender, channel, sync_channel},
    },
    thread::{self, JoinHandle},
};

use rustc_hash::{FxHashMap, FxHashSet};

use fissure_analysis::order::Segment;
use fissure_classfile::{Advised, Site, SiteKind};
use fissure_model::{
    finding::{Finding, HeldLock},
    pointcut::{Answer, Expression, Value},
    record::Record,
    settings::MonitorSettings,
};
use fissure_monitor::{Advice, Event, EventSite, Limits, Monitor, Object, Outside, When};
use jvmti_bindings::sys::jni::{JNIEnv, jboolean, jclass, jint, jobject};

use crate::{
    agent::{Agent, Code, agent, guarded},
    findings,
    mutex::locked,
    points::{Place, PlaceKind},
    sites::type_name,
    stacks,
    vm::Jni,
};

/// How many events may wait.
const QUEUE: usize = 1024;
/// Room for an interpreter that calls itself.
const STACK: usize = 64 << 20;
/// Stacks are taken once for each thread and site, up to this number.
const MOST_STACKS: usize = 1 << 16;

/// What the script's thread is told.
enum Message {
    Event(Event),
    /// Objects that are gone.
    Forget(Vec<i64>),
    End,
}

/// A site that the monitor asks about.
#[derive(Debug, Clone)]
pub(crate) struct AdvisedSite {
    place: Arc<Place>,
}

/// What was found out about a site when it was reached first.
#[derive(Debug)]
struct Resolved {
    site: Arc<EventSite>,
    place: Arc<Place>,
    before: Selection,
    after: Selection,
}

/// The advices for one side of a site.
#[derive(Debug)]
struct Selection {
    /// Those that always apply.
    always: Arc<[usize]>,
    /// Those that depend on the objects at hand.
    open: Vec<usize>,
}

/// The monitor of this JVM.
#[derive(Debug)]
pub(crate) struct Watcher {
    advices: Vec<Advice>,
    needs_locks: bool,
    sender: SyncSender<Message>,
    script: Mutex<Option<JoinHandle<()>>>,
    resolved: Mutex<FxHashMap<u32, Option<Arc<Resolved>>>>,
    /// The threads that were seen at a site.
    sampled: Mutex<FxHashSet<(u32, u32)>>,
    names: Mutex<FxHashMap<i64, Arc<str>>>,
    thread_names: Mutex<FxHashMap<u32, Arc<str>>>,
    freed: Mutex<Vec<i64>>,
    has_freed: AtomicBool,
    is_stopped: AtomicBool,
    events: AtomicU64,
}

impl Watcher {
    /// Starts the script on its thread.
    pub(crate) fn start(settings: &MonitorSettings) -> Result<Watcher, String> {
        let (sender, receiver) = sync_channel(QUEUE);
        let (ready, answer) = channel();
        let MonitorSettings { name, source } = settings.clone();
        let script = thread::Builder::new()
            .name("fissure-monitor".to_owned())
            .stack_size(STACK)
            .spawn(move || {
                let outside = Rc::new(Listener { name: name.clone() });
                match Monitor::load(&name, &source, Limits::default(), outside) {
                    Ok(monitor) => {
                        let _ = ready.send(Ok((monitor.advices(), monitor.needs_locks())));
                        attend(&name, monitor, &receiver);
                    }
                    Err(error) => {
                        let _ = ready.send(Err(format!("{name}: {error}")));
                    }
                }
            })
            .map_err(|error| error.to_string())?;
        let (advices, needs_locks) = answer.recv().map_err(|error| error.to_string())??;
        Ok(Watcher {
            advices,
            needs_locks,
            sender,
            script: Mutex::new(Some(script)),
            resolved: Mutex::default(),
            sampled: Mutex::default(),
            names: Mutex::default(),
            thread_names: Mutex::default(),
            freed: Mutex::default(),
            has_freed: AtomicBool::new(false),
            is_stopped: AtomicBool::new(false),
            events: AtomicU64::new(0),
        })
    }

    /// Whether the script asks for the locks that threads hold.
    pub(crate) fn needs_locks(&self) -> bool {
        self.needs_locks
    }

    /// How many events there were.
    pub(crate) fn events(&self) -> u64 {
        self.events.load(Ordering::Relaxed)
    }

    /// Whether one of the pointcuts names a class.
    pub(crate) fn names(&self, class: &str) -> bool {
        self.advices.iter().any(|advice| advice.pointcut.names(class))
    }

    /// What is to be reported of a place, as far as that is known before it is reached.
    pub(crate) fn advise(&self, code: &Code, place: &Place) -> Option<Advised> {
        let (mut before, mut after, mut arguments) = (false, false, false);
        place.with_point(&code.classes, Value::Unknown, None, |point| {
            for advice in &self.advices {
                let answer = advice.pointcut.evaluate(point, &code.classes);
                if answer == Answer::No {
                    continue;
                }
                arguments |= answer == Answer::Open && asks_for_arguments(advice.pointcut.expression());
                match advice.when {
                    When::Before => before = true,
                    When::After => after = true,
                }
            }
        });
        (before || after).then_some(Advised { site: 0, before, after, arguments })
    }

    /// An object is gone.
    pub(crate) fn freed(&self, number: i64) {
        locked(&self.freed).push(number);
        self.has_freed.store(true, Ordering::Release);
    }

    /// Lets the script come to an end with what there is.
    pub(crate) fn finish(&self) {
        let _ = self.sender.send(Message::End);
        if let Some(script) = locked(&self.script).take() {
            let _ = script.join();
        }
    }

    fn forget_freed(&self) {
        if self.has_freed.swap(false, Ordering::AcqRel) {
            let freed = std::mem::take(&mut *locked(&self.freed));
            {
                let mut names = locked(&self.names);
                freed.iter().for_each(|number| {
                    names.remove(number);
                });
            }
            let _ = self.sender.send(Message::Forget(freed));
        }
    }

    fn object(&self, agent: &Agent, jni: Jni, object: jobject) -> Option<Object> {
        if object.is_null() {
            return None;
        }
        let number = agent.object_number(object);
        if let Some(name) = locked(&self.names).get(&number) {
            return Some(Object { number, name: name.clone() });
        }
        let name: Arc<str> = findings::object_name(agent, jni, object).into();
        locked(&self.names).insert(number, name.clone());
        Some(Object { number, name })
    }

    fn thread_name(&self, agent: &Agent, thread: u32) -> Arc<str> {
        if let Some(name) = locked(&self.thread_names).get(&thread) {
            return name.clone();
        }
        let name: Arc<str> =
            locked(&agent.names).threads.get(thread as usize).map_or("", String::as_str).into();
        locked(&self.thread_names).insert(thread, name.clone());
        name
    }

    /// What there is to know about a site; nothing if no advice applies to it, now that its classes are loaded.
    fn resolve(&self, agent: &Agent, jni: Jni, site: u32, object: jobject) -> Option<Arc<Resolved>> {
        if let Some(known) = locked(&self.resolved).get(&site) {
            return known.clone();
        }
        let place = {
            let code = locked(&agent.code);
            let place = code.advised.get(&site)?.place.clone();
            match place.kind {
                // Fields that handles lead to have sites of their own; what is left are elements of arrays.
                PlaceKind::Indirect => Arc::new(Place::of_access(code.sites.get(site)?, false, true)),
                _ => place,
            }
        };
        let [before, after] = {
            let code = locked(&agent.code);
            place.with_point(&code.classes, Value::Unknown, None, |point| {
                [When::Before, When::After].map(|when| {
                    let (mut always, mut open) = (Vec::new(), Vec::new());
                    for (number, advice) in
                        self.advices.iter().enumerate().filter(|(_, one)| one.when == when)
                    {
                        match advice.pointcut.evaluate(point, &code.classes) {
                            Answer::Yes => always.push(number),
                            Answer::Open => open.push(number),
                            Answer::No => {}
                        }
                    }
                    Selection { always: always.into(), open }
                })
            })
        };
        let is_wanted = [&before, &after].iter().any(|side| !side.always.is_empty() || !side.open.is_empty());
        let resolved = if is_wanted {
            let site = event_site(agent, jni, site, &place, object)?;
            Some(Arc::new(Resolved { site: Arc::new(site), place, before, after }))
        } else {
            agent.offsets.set_i32(site as usize, -1);
            None
        };
        locked(&self.resolved).insert(site, resolved.clone());
        resolved
    }
}

/// The native method of the hook class `FissureEngine`: a point was reached that the monitor may ask about.
#[allow(clippy::too_many_arguments)]
pub(crate) extern "system" fn event(
    environment: *mut JNIEnv,
    _class: jclass,
    thread: jint,
    segment: jint,
    site: jint,
    index: jint,
    after: jboolean,
    initializing: jboolean,
    object: jobject,
    arguments: jobject,
    locks: jobject,
) {
    guarded((), |agent| {
        let Some(watcher) = agent.monitor.as_ref() else { return };
        if watcher.is_stopped.load(Ordering::Relaxed) {
            return;
        }
        let jni = Jni::new(environment);
        let (thread, site) = (thread as u32, site as u32);
        let Some(resolved) = watcher.resolve(agent, jni, site, object) else { return };
        let side = if after != 0 { &resolved.after } else { &resolved.before };
        let Some(advices) = select(agent, jni, watcher, &resolved.place, side, object, arguments) else {
            return;
        };
        let is_new = {
            let mut sampled = locked(&watcher.sampled);
            sampled.len() < MOST_STACKS && sampled.insert((thread, site))
        };
        let event = Event {
            advices,
            site: resolved.site.clone(),
            thread,
            thread_name: watcher.thread_name(agent, thread),
            segment: segment as u32,
            object: watcher.object(agent, jni, object),
            index: (index >= 0).then_some(index),
            locks: held(agent, &jni.ints(locks)),
            is_initializing: initializing != 0,
            stack: is_new.then(|| stacks::current(agent.tool)),
        };
        watcher.events.fetch_add(1, Ordering::Relaxed);
        watcher.forget_freed();
        let _ = watcher.sender.send(Message::Event(event));
    });
}

/// The advices that apply, now that the objects are known; nothing if none does.
fn select(
    agent: &Agent,
    jni: Jni,
    watcher: &Watcher,
    place: &Place,
    side: &Selection,
    object: jobject,
    arguments: jobject,
) -> Option<Arc<[usize]>> {
    if side.open.is_empty() {
        return (!side.always.is_empty()).then(|| side.always.clone());
    }
    let kind = class_name(agent, jni, object);
    let target = kind.as_deref().map_or(Value::Unknown, Value::Exactly);
    let handed: Option<Vec<Option<String>>> =
        (!arguments.is_null()).then(|| references(agent, jni, place, arguments));
    let declared = place.handed_over();
    let values: Option<Vec<Value<'_>>> = handed.as_ref().map(|handed| {
        // References come one after the other; what lies between them is known by its declaration.
        let mut references = handed.iter();
        declared
            .iter()
            .map(|of_type| match is_reference(of_type).then(|| references.next()).flatten() {
                Some(Some(kind)) => Value::Exactly(kind),
                Some(None) => Value::Null,
                None => Value::Declared(of_type),
            })
            .collect()
    });
    let code = locked(&agent.code);
    let mut advices = side.always.to_vec();
    place.with_point(&code.classes, target, values.as_deref(), |point| {
        // What is still open now will never be known.
        let applies =
            |advice: &&usize| watcher.advices[**advice].pointcut.evaluate(point, &code.classes) != Answer::No;
        advices.extend(side.open.iter().filter(applies));
    });
    advices.sort_unstable();
    (!advices.is_empty()).then(|| advices.into())
}

/// The kinds of the objects that are handed over, in order; nothing for null.
fn references(agent: &Agent, jni: Jni, place: &Place, arguments: jobject) -> Vec<Option<String>> {
    let count = place.handed_over().iter().filter(|of_type| is_reference(of_type)).count();
    (0..count)
        .map(|at| {
            let object = jni.element(arguments, at)?;
            let kind = class_name(agent, jni, object);
            jni.forget(object);
            kind
        })
        .collect()
}

/// The class of an object as pointcuts name it; what they ask about it is known from then on.
fn class_name(agent: &Agent, jni: Jni, object: jobject) -> Option<String> {
    if object.is_null() {
        return None;
    }
    let class = jni.class_of(object);
    let name = agent.tool.class_name(class)?;
    let name = if name.starts_with('[') {
        type_name(&name)
    } else {
        learn(agent, jni, class, 0);
        name.replace('/', ".")
    };
    jni.forget(class);
    Some(name)
}

/// Takes note of the supertypes of a class whose file never came by: hidden ones, such as those of lambdas.
fn learn(agent: &Agent, jni: Jni, class: jclass, depth: usize) {
    /// No hierarchy is as deep.
    const DEEPEST: usize = 100;
    let Some(name) = agent.tool.class_name(class) else { return };
    let name = name.replace('/', ".");
    if depth == DEEPEST || locked(&agent.code).classes.knows(&name) {
        return;
    }
    let mut direct = agent.tool.interfaces(class);
    direct.extend(jni.superclass(class));
    let names: Vec<String> = direct
        .iter()
        .filter_map(|&class| agent.tool.class_name(class))
        .map(|name| name.replace('/', "."))
        .collect();
    locked(&agent.code).classes.add_supertypes(name, names);
    for class in direct {
        learn(agent, jni, class, depth + 1);
        jni.forget(class);
    }
}

fn is_reference(of_type: &str) -> bool {
    !matches!(of_type, "boolean" | "byte" | "char" | "short" | "int" | "long" | "float" | "double")
}

fn asks_for_arguments(expression: &Expression) -> bool {
    match expression {
        Expression::Args(_) => true,
        Expression::Not(inner) => asks_for_arguments(inner),
        Expression::And(parts) | Expression::Or(parts) => parts.iter().any(asks_for_arguments),
        _ => false,
    }
}

fn held(agent: &Agent, locks: &[i32]) -> Arc<[HeldLock]> {
    // A lock may be held many times over.
    let mut different: Vec<i32> = Vec::new();
    for lock in locks {
        if !different.contains(lock) {
            different.push(*lock);
        }
    }
    let names = locked(&agent.names);
    let named = |&lock: &i32| HeldLock {
        name: names.locks.get(lock.unsigned_abs() as usize).cloned().unwrap_or_default(),
        shared: lock < 0,
    };
    different.iter().map(named).collect()
}

/// The place of a site that a class got, with what the monitor must know of it.
pub(crate) fn advised_site(place: Place) -> AdvisedSite {
    AdvisedSite { place: Arc::new(place) }
}

/// What scripts are told about a site.
fn event_site(agent: &Agent, jni: Jni, site: u32, place: &Place, object: jobject) -> Option<EventSite> {
    let info = locked(&agent.code).sites.get(site).cloned()?;
    let code = locked(&agent.code);
    let declared = |owner: &str, name: &str, descriptor: &str| {
        let class = code.classes.declaring(owner, name, descriptor).map_or(owner, |(class, _)| class);
        format!("{class}.{name}")
    };
    let (member, field_type) = match place.kind {
        PlaceKind::Call | PlaceKind::Execution => {
            let name = if place.name == "<init>" { "new" } else { &place.name };
            (format!("{}.{name}", place.owner), None)
        }
        PlaceKind::Lock | PlaceKind::Unlock | PlaceKind::Indirect => (String::new(), None),
        PlaceKind::Get | PlaceKind::Set if !place.descriptor.is_empty() => {
            (declared(&place.owner, &place.name, &place.descriptor), place.of_type.clone())
        }
        PlaceKind::Get | PlaceKind::Set => {
            let array = findings::array_class(agent, jni, object);
            let like = array.as_deref().and_then(|array| code.sites.only_field_like(&info, array));
            let of_type = array.as_deref().map_or_else(|| "array".to_owned(), type_name);
            match like.map(|like| &like.target) {
                Some(crate::sites::Target::Field { class, name, descriptor }) => {
                    (declared(&class.replace('/', "."), name, descriptor), Some(of_type))
                }
                _ => {
                    let variable = if place.name == "?" { of_type.as_str() } else { &place.name };
                    (format!("{}.{}.{variable}", info.class, info.method), Some(of_type.clone()))
                }
            }
        }
    };
    Some(EventSite {
        number: site,
        kind: match place.kind {
            PlaceKind::Get | PlaceKind::Indirect => "get",
            PlaceKind::Set => "set",
            PlaceKind::Call => "call",
            PlaceKind::Execution => "execution",
            PlaceKind::Lock => "lock",
            PlaceKind::Unlock => "unlock",
        },
        class: info.class.to_string(),
        method: info.method.to_string(),
        file: info.file.as_deref().map(str::to_owned),
        line: info.line,
        member,
        field_type,
        is_static: place.is_static,
        in_constructor: &*info.method == "<init>",
    })
}

/// The life of the script's thread.
fn attend(name: &str, mut monitor: Monitor, receiver: &Receiver<Message>) {
    let stopped = |problem: String| {
        if let Some(agent) = agent() {
            if let Some(watcher) = &agent.monitor {
                watcher.is_stopped.store(true, Ordering::Relaxed);
            }
            agent.output.write(&Record::Stopped { monitor: name.to_owned(), problem });
        }
    };
    while let Ok(message) = receiver.recv() {
        match message {
            Message::Event(event) => {
                if let Err(problem) = monitor.handle(event) {
                    stopped(problem.to_string());
                }
            }
            Message::Forget(objects) => monitor.forget(&objects),
            Message::End => break,
        }
    }
    if let Err(problem) = monitor.finish() {
        stopped(problem.to_string());
    }
    if let Some(agent) = agent().filter(|_| monitor.dropped() > 0) {
        agent.notice(&format!(
            "the monitor {name} reported more than a thousand different things; {} reports were left out",
            monitor.dropped()
        ));
    }
}

/// What scripts can do.
struct Listener {
    name: String,
}

impl Outside for Listener {
    fn print(&self, line: &str) {
        // The program's standard output is its own.
        let _ = writeln!(std::io::stderr(), "[{}] {line}", self.name);
    }

    fn found(&self, finding: Finding) {
        if let Some(agent) = agent() {
            agent.output.write(&Record::Finding(Box::new(finding)));
        }
    }

    fn is_before(&self, earlier: u32, later: u32) -> bool {
        agent().is_some_and(|agent| locked(&agent.machine).order.is_before(Segment(earlier), Segment(later)))
    }
}

/// The place of a point in the code of a class, given with dots.
pub(crate) fn place_of(site: &Site<'_>, class: &Arc<str>) -> Place {
    let place = Place::of(site, class);
    match site.kind {
        SiteKind::Execution => place.method(class, site.method, site.descriptor, Some(site.access)),
        _ => place,
    }
}
