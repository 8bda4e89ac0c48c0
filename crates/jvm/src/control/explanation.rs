//! The results of a controlled run: lock patterns that were executed or are possible, deadlocks, failures, and the steps that led
//! to each.

use std::collections::{BTreeMap, BTreeSet};

use rustc_hash::FxHashMap;

use fissure_classfile::SiteKind;
use fissure_model::{
    finding::{Finding, Frame, HeldLock, Kind, Site, Status, fingerprint},
    goal::{AcquireGoal, Goal},
    ids::{LocationId, LockId, SiteId, ThreadId},
    interleaving::{Action, Interleaving, Step},
    record::{Failure, Record, Run, RunEnd},
};
use fissure_schedule::{
    pattern::{Atomic, Violation},
    stuck::{Stuck, WaitsFor},
};

use super::{
    State, set_explanation,
    site_flags::{self, QUIET},
    thread_unsafe,
};
use crate::{
    agent::{Agent, agent},
    mutex::locked,
    sites::{SiteInfo, Target},
    stacks,
    vm::RawFrame,
};

/// The largest number of acquire pairs that one run reports.
const MOST_PAIRS: usize = 1_000;
/// The name of the thread in which a JVM waits for the end of the program.
const ENDING_THREAD: &str = "DestroyJavaVM";
/// The number of frames that are searched for a caller.
pub(super) const CALLER_DEPTH: usize = 24;

/// The material for the results.
#[derive(Debug, Default)]
pub(crate) struct Explanation {
    /// Findings by their fingerprints.
    confirmed: BTreeMap<String, Finding>,
    possible: BTreeMap<String, Finding>,
    /// The threads and sites that acquired each lock, by the lock's number.
    acquires: Vec<Vec<(ThreadId, SiteId)>>,
    /// The threads and sites that were about to acquire a lock again inside of a block.
    again: BTreeSet<(LockId, ThreadId, SiteId)>,
    /// Pairs of a held lock and a lock requested while holding it, with thread and site.
    nested: BTreeSet<(LockId, LockId, ThreadId, SiteId)>,
    /// The threads and sites that waited for a notification.
    waits: BTreeSet<(LockId, ThreadId, SiteId)>,
    /// The number of choices made when a thread was last about to acquire a lock again inside of a block.
    arrivals: FxHashMap<ThreadId, u64>,
    /// The same for acquires before which a remote acquire then landed, and for waits, by site.
    reached: BTreeMap<String, u64>,
    /// The stack of the last acquire of each lock that could be a remote acquire.
    between: FxHashMap<LockId, Vec<RawFrame>>,
    /// The failures, with the step before each.
    failures: Vec<(Failure, u64)>,
    /// Whether methods belong to collections, to the rest of the JDK, or to other code.
    methods: FxHashMap<usize, Origin>,
    /// The sites of frames that lead to a lock of `java.util.concurrent`; `None` for frames inside of its lock classes.
    callers: FxHashMap<(usize, i64), Option<SiteId>>,
}

impl Explanation {
    fn note_acquire(&mut self, thread: ThreadId, lock: LockId, site: SiteId) {
        let place = lock.0 as usize;
        if place >= self.acquires.len() {
            self.acquires.resize_with(place + 1, Vec::new);
        }
        let known = &mut self.acquires[place];
        if !known.contains(&(thread, site)) && known.len() < MOST_PAIRS {
            known.push((thread, site));
        }
    }

    /// Adds a failure that came after so many steps; the findings confirmed before may have caused it.
    pub(super) fn add_failure(&mut self, failure: Failure, step: u64) {
        let after = self.confirmed.keys().cloned().collect();
        self.failures.push((Failure { after, ..failure }, step));
    }

    /// Whether the same failure was recorded before.
    pub(super) fn has_failure(&self, exception: &str, message: &str, stack: &[Frame]) -> bool {
        let is_same = |failure: &Failure| {
            failure.exception == exception && failure.message == message && failure.stack == stack
        };
        self.failures.iter().any(|(failure, _)| is_same(failure))
    }

    /// Removes the last exit that a thread announced, because it did not happen.
    pub(super) fn retract_exit(&mut self, thread: &str) {
        let is_it = |(failure, _): &(Failure, u64)| failure.thread == thread && failure.exit_code().is_some();
        if let Some(place) = self.failures.iter().rposition(is_it) {
            self.failures.remove(place);
        }
    }

    fn acquires_of(&self, lock: LockId) -> &[(ThreadId, SiteId)] {
        self.acquires.get(lock.0 as usize).map_or(&[], Vec::as_slice)
    }
}

/// The code that a method belongs to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Origin {
    Collections,
    Jdk,
    Elsewhere,
}

/// Whether the JDK, and not the application, uses one of the JDK's collections now.
pub(crate) fn serves_the_jdk(agent: &Agent, state: &mut State) -> bool {
    for raw in agent.tool.stack(CALLER_DEPTH) {
        let known = state.explanation.methods.get(&raw.method).copied();
        let origin = known.unwrap_or_else(|| {
            let class = agent.tool.method(raw.method).and_then(|(class, _)| agent.tool.class_name(class));
            let class = class.unwrap_or_default().replace('/', ".");
            let is_collection = class.starts_with("java.util.")
                || class.starts_with("java.lang.Fissure")
                || class == "java.lang.StringBuffer"
                || class == "java.lang.AbstractStringBuilder"
                || agent.scope.is_on_demand(&class);
            let origin = match is_collection {
                true => Origin::Collections,
                false if agent.scope.is_jdk(&class) => Origin::Jdk,
                false => Origin::Elsewhere,
            };
            state.explanation.methods.insert(raw.method, origin);
            origin
        });
        match origin {
            Origin::Collections => {}
            Origin::Jdk => return true,
            Origin::Elsewhere => return false,
        }
    }
    false
}

/// Handles a thread that is about to acquire a lock while other threads exist: records which locks it holds, and whether it acquires
/// the lock a second time inside of a block.
pub(crate) fn consider(agent: &Agent, state: &mut State, thread: ThreadId, lock: LockId, site: SiteId) {
    if state.explanation.nested.len() < MOST_PAIRS && state.conductor.held(thread).all(|held| held != lock) {
        state.explanation.nested.extend(state.conductor.held(thread).map(|held| (held, lock, thread, site)));
    }
    while let Some(block) = state.conductor.reacquires(thread, lock) {
        if block.atomic == Atomic::Unknown {
            let is_atomic = application_calls(agent, block.entered);
            state.conductor.judge_block(thread, block.block, is_atomic);
            continue;
        }
        let choices = state.conductor.choices();
        state.explanation.arrivals.insert(thread, choices);
        if state.explanation.again.insert((lock, thread, site)) {
            let stack = stacks::current(agent.tool);
            let name = state.conductor.name(thread).to_owned();
            let subject = subject(agent, block.entered);
            let id = identity(agent, &subject, site);
            let again = finding_site(agent, "reacquired", &name, site, stack.clone(), lock_name(state, lock));
            let entered = finding_site(
                agent,
                "entered",
                &name,
                block.entered,
                stack_at_block(agent, block.entered, &stack),
                None,
            );
            state.explanation.possible.entry(id.clone()).or_insert_with(|| Finding {
                id,
                sites: vec![entered, again],
                ..Finding::new(Kind::AtomicityViolation, Status::Warning, "atomfuzzer", &subject)
            });
        }
        return;
    }
}

/// Records that a thread waits for a notification.
pub(crate) fn waits(agent: &Agent, state: &mut State, thread: ThreadId, lock: LockId, site: SiteId) {
    if state.explanation.waits.len() < MOST_PAIRS && state.explanation.waits.insert((lock, thread, site)) {
        let choices = state.conductor.choices();
        state.explanation.reached.entry(place(agent, site)).or_insert(choices);
    }
}

/// Records that a thread has acquired a lock. In a single-threaded phase its acquire cannot be a remote acquire, but it can complete a
/// violation whose remote acquire was made by a thread that has ended.
pub(crate) fn acquired(
    agent: &Agent,
    state: &mut State,
    thread: ThreadId,
    lock: LockId,
    site: SiteId,
    is_alone: bool,
) {
    if !is_alone {
        state.explanation.note_acquire(thread, lock, site);
    }
    while let Some(violation) = state.conductor.take_violation() {
        confirm(agent, state, &violation);
    }
    if state.conductor.may_interfere(thread, lock) {
        state.explanation.between.insert(lock, stacks::raw(agent.tool));
    }
}

fn confirm(agent: &Agent, state: &mut State, violation: &Violation) {
    let subject = subject(agent, violation.entered);
    let id = identity(agent, &subject, violation.again.site);
    if let Some(choices) = state.explanation.arrivals.get(&violation.again.thread) {
        state.explanation.reached.entry(place(agent, violation.again.site)).or_insert(*choices);
    }
    if let Some(finding) = state.explanation.confirmed.get_mut(&id) {
        finding.hits += 1;
        return;
    }
    let stack = stacks::current(agent.tool);
    let stack_at_block = stack_at_block(agent, violation.entered, &stack);
    let between =
        state.explanation.between.get(&violation.lock).map(|stack| stacks::named(agent.tool, stack));
    let own = state.conductor.name(violation.again.thread).to_owned();
    let other = state.conductor.name(violation.between.thread).to_owned();
    let lock = lock_name(state, violation.lock);
    let mut first = vec![frame(agent, violation.first.site)];
    first.extend(
        stack_at_block
            .iter()
            .skip(usize::from(stack_at_block.first().map(|frame| &frame.method) == Some(&first[0].method)))
            .cloned(),
    );
    let sites = vec![
        finding_site(agent, "entered", &own, violation.entered, stack_at_block, None),
        finding_site(agent, "acquired", &own, violation.first.site, first, lock.clone()),
        finding_site(
            agent,
            "interfered",
            &other,
            violation.between.site,
            between.unwrap_or_default(),
            lock.clone(),
        ),
        finding_site(agent, "reacquired", &own, violation.again.site, stack, lock),
    ];
    let finding = Finding {
        id,
        sites,
        interleaving: Some(interleaving(agent, state, violation)),
        ..Finding::new(Kind::AtomicityViolation, Status::Confirmed, "atomfuzzer", &subject)
    };
    add_confirmed(agent, state, finding);
}

/// Whether a finding has been confirmed already; if so, counts it once more.
pub(super) fn knows(state: &mut State, id: &str) -> bool {
    let known = state.explanation.confirmed.get_mut(id);
    known.map(|finding| finding.hits += 1).is_some()
}

/// Adds a finding that this run executed.
pub(super) fn add_confirmed(agent: &Agent, state: &mut State, finding: Finding) {
    // Written at once, so that it is not lost if the run is killed.
    agent.output.write(&Record::Finding(Box::new(finding.clone())));
    state.explanation.confirmed.insert(finding.id.clone(), finding);
}

/// Links failures after a step to a finding that was completed later: the failure may be its consequence.
pub(super) fn blame(state: &mut State, id: &str, step: u64) {
    for (failure, at) in &mut state.explanation.failures {
        if *at >= step && !failure.after.iter().any(|known| known == id) {
            failure.after.push(id.to_owned());
        }
    }
}

/// Adds a finding that other runs may execute.
pub(super) fn add_possible(state: &mut State, finding: Finding) {
    state.explanation.possible.entry(finding.id.clone()).or_insert(finding);
}

/// The steps of a violation, each with the number of steps left out before it.
fn interleaving(agent: &Agent, state: &State, violation: &Violation) -> Interleaving {
    let threads = [violation.again.thread, violation.between.thread];
    let shared = shared_locations(state, threads, violation.entered_step, violation.again.step);
    let mut steps = Vec::new();
    let mut folded = 0;
    for (number, step) in state.conductor.trace().range(violation.entered_step, violation.again.step) {
        let matters = threads.contains(&step.thread)
            && (step.lock == Some(violation.lock)
                || number == violation.entered_step
                || step.location.is_some_and(|location| shared.contains(&location))
                || matches!(step.action, Action::Wait | Action::Sleep | Action::Begin));
        if !matters {
            folded += 1;
            continue;
        }
        let role = match number {
            _ if number == violation.entered_step => Some("entered"),
            _ if number == violation.first.step => Some("acquired"),
            _ if number == violation.between.step => Some("interfered"),
            _ if number == violation.again.step => Some("reacquired"),
            _ => None,
        };
        let object = match step.action {
            Action::BlockEnter => step.site.map(|site| subject(agent, site)).unwrap_or_default(),
            Action::Read | Action::Write => step
                .location
                .map(|location| set_explanation::location_name(state, location))
                .unwrap_or_default(),
            _ => step.lock.and_then(|lock| lock_name(state, lock)).unwrap_or_default(),
        };
        steps.push(Step {
            thread: usize::from(step.thread != threads[0]),
            action: step.action,
            object,
            at: step.site.map(|site| frame(agent, site)),
            role: role.map(str::to_owned),
            folded: std::mem::take(&mut folded),
        });
    }
    let names = threads.map(|thread| state.conductor.name(thread).to_owned());
    Interleaving { threads: names.to_vec(), steps }
}

/// The locations that both threads access between two steps; empty if accesses are not scheduling points.
fn shared_locations(state: &State, threads: [ThreadId; 2], from: u64, to: u64) -> BTreeSet<LocationId> {
    let mut accessed = threads.map(|_| BTreeSet::new());
    for (_, step) in state.conductor.trace().range(from, to) {
        let thread = threads.iter().position(|thread| *thread == step.thread);
        if let (Some(thread), Some(location)) = (thread, step.location) {
            accessed[thread].insert(location);
        }
    }
    accessed[0].intersection(&accessed[1]).copied().collect()
}

/// Writes the results of the run.
pub(crate) fn write_results(state: &mut State, end: RunEnd) {
    let Some(agent) = agent() else { return };
    let (goals, cut) = set_explanation::goals(agent, state);
    let unguarded = thread_unsafe::unguarded(state);
    let explanation = &state.explanation;
    for finding in explanation.confirmed.values() {
        agent.output.write(&Record::Finding(Box::new(finding.clone())));
    }
    for (_, finding) in explanation.possible.iter().filter(|(id, _)| !explanation.confirmed.contains_key(*id))
    {
        agent.output.write(&Record::Finding(Box::new(finding.clone())));
    }
    if matches!(end, RunEnd::Deadlock | RunEnd::Hang) {
        let finding = deadlock(agent, state, &state.conductor.stuck());
        agent.output.write(&Record::Finding(Box::new(finding)));
    }
    let steps = state.steps.unwrap_or_else(|| state.conductor.trace().last());
    let mut reached = state.explanation.reached.clone();
    if let (Some(Goal::Accesses(goal)), Some(choices)) = (agent.goal(), state.conductor.strategy().reached())
    {
        reached.insert(goal.last.to_string(), choices);
    }
    let run = Run {
        end,
        choices: state.conductor.choices(),
        steps,
        schedule: state.conductor.recording().to_string(),
        uncontrolled: state.uncontrolled.clone(),
        departure: state.conductor.strategy().departure().map(|departure| departure.to_string()),
        is_hurried: state.conductor.is_hurried(),
        failures: state.explanation.failures.iter().map(|(failure, _)| failure.clone()).collect(),
        pairs: pairs(agent, &state.explanation),
        orders: orders(agent, &state.explanation),
        reached,
        goals,
        unguarded,
        cut,
        thrashings: state.conductor.strategy().thrashings(),
    };
    agent.output.write(&Record::Run(Box::new(run)));
    agent.output.write(&Record::Coverage(Box::new(agent.coverage_of(own_threads(state), steps))));
    agent.output.write(&Record::End);
}

/// The number of threads that belong to the program.
fn own_threads(state: &State) -> usize {
    let names = (0..state.conductor.threads()).map(|number| state.conductor.name(ThreadId(number as u32)));
    names.filter(|name| *name != ENDING_THREAD).count()
}

/// Goals for other runs: acquires of one lock by different threads, one of them the second in a block, and acquires that could
/// complete a lock cycle.
fn pairs(agent: &Agent, explanation: &Explanation) -> Vec<AcquireGoal> {
    let mut pairs = BTreeSet::new();
    let circular: Vec<_> =
        explanation.nested.iter().filter(|(held, wanted, ..)| leads(explanation, *wanted, *held)).collect();
    for (_, _, thread, again) in &circular {
        for (_, _, other, between) in &circular {
            let (again, between) = (place(agent, *again), place(agent, *between));
            if thread != other && again <= between && pairs.len() < MOST_PAIRS {
                pairs.insert(AcquireGoal::new(again, between));
            }
        }
    }
    for (lock, thread, again) in &explanation.again {
        for (other, between) in explanation.acquires_of(*lock) {
            if other != thread && pairs.len() < MOST_PAIRS {
                pairs.insert(AcquireGoal::new(place(agent, *again), place(agent, *between)));
            }
        }
    }
    pairs.into_iter().collect()
}

/// Goals for other runs: reversed orders of two acquires of one lock by different threads, and acquires that could come before a
/// notified thread resumes.
fn orders(agent: &Agent, explanation: &Explanation) -> Vec<AcquireGoal> {
    let mut orders = BTreeSet::new();
    let mut add = |again: SiteId, between: SiteId, is_order: bool| {
        let (again, between) = (place(agent, again), place(agent, between));
        if (again != between || !is_order) && orders.len() < MOST_PAIRS {
            orders.insert(AcquireGoal { is_order, ..AcquireGoal::new(again, between) });
        }
    };
    for known in &explanation.acquires {
        for (number, (later, again)) in known.iter().enumerate() {
            for (earlier, between) in &known[..number] {
                if later != earlier {
                    add(*again, *between, true);
                }
            }
        }
    }
    for (lock, thread, site) in &explanation.waits {
        for (other, between) in explanation.acquires_of(*lock) {
            if other != thread {
                add(*site, *between, false);
            }
        }
    }
    orders.into_iter().collect()
}

/// Whether the lock order leads from one lock to another, directly or over further locks.
fn leads(explanation: &Explanation, from: LockId, to: LockId) -> bool {
    let mut seen = vec![from];
    let mut at = 0;
    while let Some(&lock) = seen.get(at) {
        if lock == to {
            return true;
        }
        at += 1;
        for (held, wanted, ..) in &explanation.nested {
            if *held == lock && !seen.contains(wanted) {
                seen.push(*wanted);
            }
        }
    }
    false
}

fn deadlock(agent: &Agent, state: &State, stuck: &Stuck) -> Finding {
    let is_involved = |thread: ThreadId| stuck.circle.is_empty() || stuck.circle.contains(&thread);
    let mut sites = Vec::new();
    for waiting in stuck.threads.iter().filter(|waiting| is_involved(waiting.thread)) {
        let (role, wanted) = match waiting.waits_for {
            WaitsFor::Lock(lock) => ("waits for lock", lock_name(state, lock)),
            WaitsFor::Notification(lock) => ("waits to be notified", lock_name(state, lock)),
            WaitsFor::Permit | WaitsFor::Turn => ("waits", None),
        };
        let reference = state.threads.get(waiting.thread.0 as usize).and_then(|thread| thread.reference);
        let stack = match (stuck.circle.is_empty(), reference) {
            // JVMTI gives stacks only to JVM threads. A cycle is found by one, a hang by the watchdog, which is not.
            (false, Some(thread)) => {
                stacks::named(agent.tool, &agent.tool.stack_of(thread as *mut _, CALLER_DEPTH))
            }
            _ => Vec::new(),
        };
        let own = waiting.site.unwrap_or(SiteId(0));
        // A thread that waits for a lock of `java.util.concurrent` parks inside of the library; its attempt has the program's site.
        let attempted = state.threads.get(waiting.thread.0 as usize).map(|thread| thread.attempt_site);
        let is_library = frame(agent, own).class.starts_with("java.util.concurrent.");
        let site = attempted.filter(|attempted| is_library && attempted.0 != 0).unwrap_or(own);
        let mut site = finding_site(agent, role, state.conductor.name(waiting.thread), site, stack, None);
        let held = waiting.holds.iter().filter_map(|lock| lock_name(state, *lock));
        site.locks = held.map(|name| HeldLock { name, shared: false }).collect();
        if let Some(wanted) = wanted {
            site.role = format!("{role} {wanted}");
        }
        sites.push(site);
    }
    let mut places: Vec<String> =
        sites.iter().map(|site| format!("{}.{}", site.class, site.method)).collect();
    places.sort();
    let subject = places.first().cloned().unwrap_or_default();
    let mut parts = vec!["deadlock"];
    parts.extend(places.iter().map(String::as_str));
    Finding {
        id: fingerprint(&parts),
        sites,
        ..Finding::new(Kind::Deadlock, Status::Confirmed, "conductor", &subject)
    }
}

/// The code that uses a lock or an atomic of `java.util.concurrent`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Caller {
    /// The site outside of `java.util.concurrent`, or else the innermost one inside of it.
    pub(crate) site: SiteId,
    /// Whether the lock belongs to the bookkeeping of an executor, which is not the application's business.
    pub(crate) is_internal: bool,
}

/// The code that called `java.util.concurrent` in the current thread.
pub(crate) fn caller_of_library(agent: &Agent) -> Caller {
    let mut caller = Caller { site: SiteId(0), is_internal: false };
    let Some(control) = &agent.control else { return caller };
    for raw in agent.tool.stack(CALLER_DEPTH) {
        let key = (raw.method, raw.location);
        let known = control.state().explanation.callers.get(&key).copied();
        let found = match known {
            Some(found) => found,
            None => {
                let found = self::caller(agent, raw);
                control.state().explanation.callers.insert(key, found);
                found
            }
        };
        let Some(site) = found else { continue };
        let flags = agent.offsets.get_i32(site.0 as usize);
        if flags & LIBRARY_FRAME == 0 {
            return Caller { site, ..caller };
        }
        caller.is_internal |= flags & EXECUTOR_FRAME != 0;
        if caller.site.0 == 0 {
            caller.site = site;
        }
    }
    caller
}

/// The frame is in a class that uses locks for its own bookkeeping only.
const EXECUTOR_FRAME: i32 = 1 << 9;

/// The frame is inside of `java.util.concurrent` itself, so its caller is the site of interest.
const LIBRARY_FRAME: i32 = 1 << 8;

/// The site of a frame; `None` if it belongs to a lock class or `Thread`.
fn caller(agent: &Agent, raw: RawFrame) -> Option<SiteId> {
    let frame = stacks::named(agent.tool, &[raw]).pop()?;
    if frame.class.starts_with("java.util.concurrent.locks.") || frame.class == "java.lang.Thread" {
        return None;
    }
    let is_library = frame.class.starts_with("java.util.concurrent.");
    let is_executor = fissure_jdk::locks_for_bookkeeping(&frame.class);
    let flags = if is_library {
        LIBRARY_FRAME | if is_executor { EXECUTOR_FRAME } else { 0 }
    } else if site_flags::is_quiet(&frame.class, agent.scope.is_jdk(&frame.class)) {
        QUIET
    } else {
        site_flags::goal_flags(&place_of(&frame), SiteKind::Call, "", agent.goal())
    };
    let number = locked(&agent.code).sites.add(SiteInfo {
        class: frame.class.as_str().into(),
        method: frame.method.as_str().into(),
        file: frame.file.as_deref().map(Into::into),
        line: frame.line,
        loader: 0,
        target: Target::Unknown,
        is_element: false,
        kind: SiteKind::Call,
    });
    agent.offsets.set_i32(number as usize, flags);
    Some(SiteId(number))
}

/// Whether the application itself called the method that contains a block.
fn application_calls(agent: &Agent, entered: SiteId) -> bool {
    let stack = stacks::current(agent.tool);
    // Overloaded methods may call each other: the outermost_frame one was called from elsewhere.
    let caller = outermost_frame(&stack, &frame(agent, entered)).and_then(|place| stack.get(place + 1));
    caller.is_some_and(|caller| agent.scope.covers(&caller.class))
}

/// The index of a method's frame in a stack; of several consecutive ones, the outermost_frame.
fn outermost_frame(stack: &[Frame], method: &Frame) -> Option<usize> {
    let is_method = |frame: &Frame| frame.class == method.class && frame.method == method.method;
    let mut place = stack.iter().position(is_method)?;
    // A bridge method of a superclass may lie between two methods with the same name.
    while let Some(next) = stack[place + 1..].iter().take(2).position(is_method) {
        place += 1 + next;
    }
    Some(place)
}

/// The stack at the beginning of a block: the current stack from the block's method on.
fn stack_at_block(agent: &Agent, entered: SiteId, stack: &[Frame]) -> Vec<Frame> {
    let block = frame(agent, entered);
    match outermost_frame(stack, &block) {
        Some(place) => {
            let mut stack_at_block = stack[place..].to_vec();
            stack_at_block[0] = block;
            stack_at_block
        }
        None => vec![block],
    }
}

/// The atomic method, or the site of the synchronized block.
fn subject(agent: &Agent, entered: SiteId) -> String {
    match locked(&agent.code).sites.get(entered.0) {
        Some(site) if site.kind == SiteKind::Enter => site_flags::place(&site.class, &site.method, site.line),
        Some(site) => site_flags::place(&site.class, &site.method, None),
        None => String::new(),
    }
}

fn identity(agent: &Agent, subject: &str, again: SiteId) -> String {
    let frame = frame(agent, again);
    // Line numbers shift between versions, so the fingerprint must not contain the line of the block.
    let block = subject.rsplit_once(':').map_or(subject, |(method, _)| method);
    fingerprint(&["atomicity-violation", block, &frame.class, &frame.method])
}

pub(super) fn frame(agent: &Agent, site: SiteId) -> Frame {
    match locked(&agent.code).sites.get(site.0) {
        Some(site) => Frame {
            class: site.class.to_string(),
            method: site.method.to_string(),
            file: site.file.as_deref().map(str::to_owned),
            line: site.line,
        },
        None => Frame { class: "?".to_owned(), method: "?".to_owned(), file: None, line: None },
    }
}

pub(super) fn place(agent: &Agent, site: SiteId) -> String {
    place_of(&frame(agent, site))
}

fn place_of(frame: &Frame) -> String {
    site_flags::place(&frame.class, &frame.method, frame.line)
}

pub(super) fn finding_site(
    agent: &Agent,
    role: &str,
    thread: &str,
    site: SiteId,
    mut stack: Vec<Frame>,
    lock: Option<String>,
) -> Site {
    let frame = frame(agent, site);
    if stack.is_empty() {
        stack.push(frame.clone());
    }
    Site {
        role: role.to_owned(),
        thread: thread.to_owned(),
        class: frame.class,
        method: frame.method,
        file: frame.file,
        line: frame.line,
        stack,
        locks: lock.into_iter().map(|name| HeldLock { name, shared: false }).collect(),
    }
}

/// A location by the class and name of its field; array elements have no name.
pub(super) fn location_name(state: &State, location: LocationId) -> String {
    match state.points.field(location) {
        Some(field) => format!("{}.{}", field.class, field.name),
        None => state.points.contents_name(location).unwrap_or("an array element").to_owned(),
    }
}

pub(super) fn lock_name(state: &State, lock: LockId) -> Option<String> {
    let lock = state.locks.get(lock.0 as usize)?;
    Some(match lock.number {
        Some(number) if !lock.name.ends_with(".class") => format!("{}@{number}", lock.name),
        _ => lock.name.clone(),
    })
}
