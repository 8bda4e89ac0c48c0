//! Sends events to the monitor script.
//!
//! The join points that a script needs are selected when classes are rewritten ([`Watcher::advise`]). Conditions on classes that were not
//! loaded by then, or on the objects of an event, are evaluated when a join point is reached ([`event`]). The script runs on a separate
//! thread with a large stack and receives events through a queue: Java threads need no stack space for an interpreter, and an endless
//! loop in the script does not block them. The queue is bounded, so that a slow script slows the program down instead of filling its
//! memory. A thread sends an event before it goes on, so that events that are ordered in the program arrive in that order.

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
    points::{JoinPoint, JoinPointKind},
    sites::type_name,
    stacks,
    vm::Jni,
};

/// The capacity of the queue.
const QUEUE: usize = 1024;
/// The stack size for the interpreter, which is recursive.
const STACK: usize = 64 << 20;
/// The largest number of stacks; one is taken for each pair of a thread and a site.
const MOST_STACKS: usize = 1 << 16;

/// A message to the script's thread.
enum Message {
    Event(Event),
    /// Objects that were collected.
    Forget(Vec<i64>),
    End,
}

/// A site that reports to the monitor script.
#[derive(Debug, Clone)]
pub(crate) struct AdvisedSite {
    join_point: Arc<JoinPoint>,
}

/// The advices of a site, resolved when it is first reached.
#[derive(Debug)]
struct Resolved {
    site: Arc<EventSite>,
    join_point: Arc<JoinPoint>,
    before: Selection,
    after: Selection,
}

/// The advices for one side of a site.
#[derive(Debug)]
struct Selection {
    /// Those that always apply.
    always: Arc<[usize]>,
    /// Those that depend on the objects of the event.
    open: Vec<usize>,
}

/// The monitor script of this JVM.
#[derive(Debug)]
pub(crate) struct Watcher {
    advices: Vec<Advice>,
    needs_locks: bool,
    sender: SyncSender<Message>,
    script: Mutex<Option<JoinHandle<()>>>,
    resolved: Mutex<FxHashMap<u32, Option<Arc<Resolved>>>>,
    /// The pairs of a thread and a site whose stack was taken.
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
                        process_events(&name, monitor, &receiver);
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

    /// Whether the script uses the locks that threads hold.
    pub(crate) fn needs_locks(&self) -> bool {
        self.needs_locks
    }

    /// The number of events.
    pub(crate) fn events(&self) -> u64 {
        self.events.load(Ordering::Relaxed)
    }

    /// Whether one of the pointcuts names a class.
    pub(crate) fn names(&self, class: &str) -> bool {
        self.advices.iter().any(|advice| advice.pointcut.names(class))
    }

    /// The events to report at a join point, as far as the pointcuts can be evaluated before it is reached.
    pub(crate) fn advise(&self, code: &Code, join_point: &JoinPoint) -> Option<Advised> {
        let (mut before, mut after, mut arguments) = (false, false, false);
        join_point.with_point(&code.classes, Value::Unknown, None, |point| {
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

    /// Called when an object was collected.
    pub(crate) fn freed(&self, number: i64) {
        locked(&self.freed).push(number);
        self.has_freed.store(true, Ordering::Release);
    }

    /// Lets the script process the remaining events and end.
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
        let name: Arc<str> = locked(&agent.names).thread(thread).into();
        locked(&self.thread_names).insert(thread, name.clone());
        name
    }

    /// The advices of a site; `None` if no advice applies to it, now that its classes are loaded.
    fn resolve(&self, agent: &Agent, jni: Jni, site: u32, object: jobject) -> Option<Arc<Resolved>> {
        if let Some(known) = locked(&self.resolved).get(&site) {
            return known.clone();
        }
        let join_point = {
            let code = locked(&agent.code);
            let join_point = code.advised.get(&site)?.join_point.clone();
            match join_point.kind {
                // Fields that are accessed by handles have derived sites; what remains are array elements.
                JoinPointKind::Indirect => Arc::new(JoinPoint::of_access(code.sites.get(site)?, false, true)),
                _ => join_point,
            }
        };
        let [before, after] = {
            let code = locked(&agent.code);
            join_point.with_point(&code.classes, Value::Unknown, None, |point| {
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
            let site = event_site(agent, jni, site, &join_point, object)?;
            Some(Arc::new(Resolved { site: Arc::new(site), join_point, before, after }))
        } else {
            agent.offsets.set_i32(site as usize, -1);
            None
        };
        locked(&self.resolved).insert(site, resolved.clone());
        resolved
    }
}

/// The native method of the hook class `FissureEngine`: a join point was reached that the monitor script may select.
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
        let watcher = agent.monitor.as_ref().expect("only code that a monitor script watches has events");
        if watcher.is_stopped.load(Ordering::Relaxed) {
            return;
        }
        let jni = Jni::new(environment);
        let (thread, site) = (thread as u32, site as u32);
        let Some(resolved) = watcher.resolve(agent, jni, site, object) else { return };
        let side = if after != 0 { &resolved.after } else { &resolved.before };
        let Some(advices) = select(agent, jni, watcher, &resolved.join_point, side, object, arguments) else {
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

/// The advices that apply, now that the objects are known; `None` if none does.
fn select(
    agent: &Agent,
    jni: Jni,
    watcher: &Watcher,
    join_point: &JoinPoint,
    side: &Selection,
    object: jobject,
    arguments: jobject,
) -> Option<Arc<[usize]>> {
    if side.open.is_empty() {
        return (!side.always.is_empty()).then(|| side.always.clone());
    }
    let kind = class_name(agent, jni, object);
    let target = kind.as_deref().map_or(Value::Unknown, Value::Exactly);
    let passed: Option<Vec<Option<String>>> =
        (!arguments.is_null()).then(|| references(agent, jni, join_point, arguments));
    let declared = join_point.passed_types();
    let values: Option<Vec<Value<'_>>> = passed.as_ref().map(|passed| {
        // The array holds only the references, in order; for the primitive values between them only the declared type is known.
        let mut references = passed.iter();
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
    join_point.with_point(&code.classes, target, values.as_deref(), |point| {
        // A condition that is still undecided now can never be decided, and counts as met.
        let applies =
            |advice: &&usize| watcher.advices[**advice].pointcut.evaluate(point, &code.classes) != Answer::No;
        advices.extend(side.open.iter().filter(applies));
    });
    advices.sort_unstable();
    (!advices.is_empty()).then(|| advices.into())
}

/// The classes of the references that are passed, in order; `None` for null.
fn references(agent: &Agent, jni: Jni, join_point: &JoinPoint, arguments: jobject) -> Vec<Option<String>> {
    let count = join_point.passed_types().iter().filter(|of_type| is_reference(of_type)).count();
    (0..count)
        .map(|at| {
            let object = jni.element(arguments, at)?;
            let kind = class_name(agent, jni, object);
            jni.forget(object);
            kind
        })
        .collect()
}

/// The class of an object as pointcuts name it; also records its supertypes.
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

/// Records the supertypes of a class whose class file the agent has not seen: hidden classes, such as those of lambdas.
fn learn(agent: &Agent, jni: Jni, class: jclass, depth: usize) {
    /// No class hierarchy is as deep.
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
    // A re-entrant lock may be in the list several times.
    let mut different: Vec<i32> = Vec::new();
    for lock in locks {
        if !different.contains(lock) {
            different.push(*lock);
        }
    }
    let names = locked(&agent.names);
    let named = |&lock: &i32| HeldLock { name: names.lock(lock.unsigned_abs()).to_owned(), shared: lock < 0 };
    different.iter().map(named).collect()
}

/// Wraps the join point of a site for the monitor script.
pub(crate) fn advised_site(join_point: JoinPoint) -> AdvisedSite {
    AdvisedSite { join_point: Arc::new(join_point) }
}

/// The description of a site for scripts.
fn event_site(
    agent: &Agent,
    jni: Jni,
    site: u32,
    join_point: &JoinPoint,
    object: jobject,
) -> Option<EventSite> {
    let info = locked(&agent.code).sites.get(site).cloned()?;
    let code = locked(&agent.code);
    let declared = |owner: &str, name: &str, descriptor: &str| {
        let class = code.classes.declaring(owner, name, descriptor).map_or(owner, |(class, _)| class);
        format!("{class}.{name}")
    };
    let (member, field_type) = match join_point.kind {
        JoinPointKind::Call | JoinPointKind::Execution => {
            let name = if join_point.name == "<init>" { "new" } else { &join_point.name };
            (format!("{}.{name}", join_point.owner), None)
        }
        JoinPointKind::Lock | JoinPointKind::Unlock | JoinPointKind::Indirect => (String::new(), None),
        JoinPointKind::Get | JoinPointKind::Set if !join_point.descriptor.is_empty() => (
            declared(&join_point.owner, &join_point.name, &join_point.descriptor),
            join_point.of_type.clone(),
        ),
        JoinPointKind::Get | JoinPointKind::Set => {
            let array = findings::array_class(agent, jni, object);
            let like = array.as_deref().and_then(|array| code.sites.only_field_like(&info, array));
            let of_type = array.as_deref().map_or_else(|| "array".to_owned(), type_name);
            match like.map(|like| &like.target) {
                Some(crate::sites::Target::Field { class, name, descriptor }) => {
                    (declared(&class.replace('/', "."), name, descriptor), Some(of_type))
                }
                _ => {
                    let variable = if join_point.name == "?" { of_type.as_str() } else { &join_point.name };
                    (format!("{}.{}.{variable}", info.class, info.method), Some(of_type.clone()))
                }
            }
        }
    };
    Some(EventSite {
        number: site,
        kind: match join_point.kind {
            JoinPointKind::Get | JoinPointKind::Indirect => "get",
            JoinPointKind::Set => "set",
            JoinPointKind::Call => "call",
            JoinPointKind::Execution => "execution",
            JoinPointKind::Lock => "lock",
            JoinPointKind::Unlock => "unlock",
        },
        class: info.class.to_string(),
        method: info.method.to_string(),
        file: info.file.as_deref().map(str::to_owned),
        line: info.line,
        member,
        field_type,
        is_static: join_point.is_static,
        in_constructor: &*info.method == "<init>",
    })
}

/// The main loop of the script's thread.
fn process_events(name: &str, mut monitor: Monitor, receiver: &Receiver<Message>) {
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
            "the monitor script {name} made more than a thousand different reports; {} reports were left out",
            monitor.dropped()
        ));
    }
}

/// The functions that scripts can call.
struct Listener {
    name: String,
}

impl Outside for Listener {
    fn print(&self, line: &str) {
        // Scripts must not write to the program's standard output.
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

/// The join point of a site in the code of a class; the class name is with dots.
pub(crate) fn join_point_of(site: &Site<'_>, class: &Arc<str>) -> JoinPoint {
    let join_point = JoinPoint::of(site, class);
    match site.kind {
        SiteKind::Execution => join_point.method(class, site.method, site.descriptor, Some(site.access)),
        _ => join_point,
    }
}
