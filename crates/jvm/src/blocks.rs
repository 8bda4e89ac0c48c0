//! Blocks that should be atomic: their executions go to the reduction (Atomizer), and those that are not atomic become findings.

mod explanation;

use std::hash::{Hash, Hasher};

use rustc_hash::{FxHashMap, FxHashSet, FxHasher};

use fissure_analysis::{
    lockset::{Access, Machine},
    locksets::EMPTY,
    order::Segment,
    reduction::{Action, Execution, Fact, Operation, RACY, Reduction},
    word::{SET_BITS, SITE_BITS, State, Word},
};
use fissure_classfile::SiteKind;
use fissure_model::{event::AccessKind, finding::Finding, settings::Refinement};
use jvmti_bindings::sys::jni::jobject;

use crate::{
    agent::Agent,
    memory::Table,
    mutex::locked,
    registry::Resolved,
    scope::View,
    sites::{SiteInfo, Target},
    vm::RawFrame,
};

/// The number of frames that are read from a stack, Fissure's own frames included.
const DEPTH: usize = 72;
/// The number of stacks that are kept; a report on a further one shows only the site.
const MOST_STACKS: usize = 1 << 14;
/// More executions than the reduction keeps.
pub(crate) const MOST_EXECUTIONS: usize = (1 << 14) + 2;

// Flags of a site, shared with the hook class `FissureBlocks`.
pub(crate) const APPLICATION: u8 = 1;
pub(crate) const LIBRARY: u8 = 2;
pub(crate) const MANIFOLD: u8 = 4;
pub(crate) const RAN: u8 = 8;
/// `classify` has run for the site.
pub(crate) const CLASSIFIED: u8 = 16;
/// The site accesses a volatile field or calls a method of an atomic.
pub(crate) const SYNCHRONIZES: u8 = 32;
pub(crate) const WITH_READ: u8 = 64;
pub(crate) const WITH_WRITE: u8 = 128;

// Bits of the details that the log holds for an access.
pub(crate) const WRITES: i64 = 1 << 30;
pub(crate) const MAY_INITIALISE: i64 = 1 << 29;
const SET: i64 = (1 << SET_BITS) - 1;

/// The kinds of logged operations, shared with the hook class `FissureBlocks`.
pub(crate) mod kind {
    pub(crate) const ACQUIRE: i32 = 0;
    pub(crate) const RELEASE: i32 = 1;
    pub(crate) const ACQUIRE_AGAIN: i32 = 2;
    pub(crate) const RELEASE_AGAIN: i32 = 3;
    pub(crate) const WAIT: i32 = 4;
    pub(crate) const START: i32 = 6;
    pub(crate) const JOIN: i32 = 7;
    pub(crate) const ACCESS_SO_FAR: i32 = 8;
    pub(crate) const WRITE_ONLY: i32 = 9;
}

/// The number of racing locations that are kept.
const MOST_RACING: usize = 1 << 16;

/// The state of the atomicity analysis.
#[derive(Debug)]
pub(crate) struct Blocks {
    reduction: Reduction,
    /// The thread and the stack of each execution that the reduction keeps, by the execution's number.
    entered: Vec<Entered>,
    stacks: FxHashMap<u64, Box<[RawFrame]>>,
    reports: FxHashMap<String, Report>,
    /// Accesses inside of kept executions that did not race when they happened, with their numbers, by location.
    open: FxHashMap<Location, Vec<(u64, Access)>>,
    last_access: u64,
    /// Pairs of a lock and a segment of a thread, which is how the reduction identifies locks: the number of each pair, and back.
    uses: FxHashMap<(u32, Segment), u32>,
    used: Vec<(u32, Segment)>,
    /// All such numbers of each lock.
    uses_of: FxHashMap<u32, Vec<u32>>,
    /// The state of locks that several threads acquire.
    shared_locks: FxHashMap<u32, Word>,
    /// The state of locations that race.
    racing: FxHashMap<Location, Word>,
    /// The sites of blocks that ran.
    ran: FxHashSet<u32>,
    /// The sites of blocks that had an execution that was not atomic.
    broken: FxHashSet<u32>,
}

/// A field of an object, or a static field: the number of the object (0 if static), and a hash of the names of class and field.
type Location = (i64, u64);

/// The log of one execution, as the hook classes pass it on.
#[derive(Debug)]
pub(crate) struct Log {
    /// The kind and the site of each operation.
    pub(crate) operations: Vec<i32>,
    /// The number of the lock for operations on locks; segment, lock set and flags for accesses.
    pub(crate) about: Vec<i64>,
    /// The numbers of the sampled stacks.
    pub(crate) stacks: Vec<i64>,
    /// The numbers of the executions nested in this one, counted from 1.
    pub(crate) inner: Vec<i32>,
}

/// The thread and the stack of one execution of a block.
#[derive(Debug, Clone)]
struct Entered {
    thread: u32,
    stack: Box<[RawFrame]>,
}

#[derive(Debug)]
struct Report {
    finding: Finding,
    /// The kept executions that show the violation.
    executions: Vec<u32>,
    /// The number of further executions that the reduction did not keep.
    others: u64,
}

impl Blocks {
    pub(crate) fn new(without: &[Refinement]) -> Blocks {
        Blocks {
            reduction: Reduction::new(without),
            entered: Vec::new(),
            stacks: FxHashMap::default(),
            reports: FxHashMap::default(),
            open: FxHashMap::default(),
            last_access: RACY,
            uses: FxHashMap::default(),
            used: Vec::new(),
            uses_of: FxHashMap::default(),
            shared_locks: FxHashMap::default(),
            racing: FxHashMap::default(),
            ran: FxHashSet::default(),
            broken: FxHashSet::default(),
        }
    }

    /// All findings so far, each with the number of times it was seen.
    pub(crate) fn findings(&self, hits: &Table) -> Vec<Finding> {
        let mut findings: Vec<Finding> = self
            .reports
            .values()
            .map(|report| {
                let kept: u64 =
                    report.executions.iter().map(|&number| hits.number(number as usize + 1)).sum();
                Finding { hits: (kept + report.others).max(1), ..report.finding.clone() }
            })
            .collect();
        findings.sort_by(|a, b| a.id.cmp(&b.id));
        findings
    }

    /// How many blocks ran, and how many of them were always atomic.
    pub(crate) fn counts(&self) -> (u64, u64) {
        let atomic = self.ran.iter().filter(|site| !self.broken.contains(site)).count();
        (self.ran.len() as u64, atomic as u64)
    }

    /// The number of executions that were judged only once because the reduction was full.
    pub(crate) fn dropped(&self) -> u64 {
        self.reduction.dropped()
    }
}

/// The flags of a site that begins a block, for the table that the hook classes read.
pub(crate) fn flags(view: View, kind: SiteKind, method: &str, descriptor: &str) -> u8 {
    let begins = match kind {
        SiteKind::Enter | SiteKind::Block => true,
        // A thread's `run` method spans its whole life and is not meant to be atomic.
        SiteKind::EnterMethod => (method, descriptor) != ("run", "()V"),
        _ => false,
    };
    match view {
        View::Application if begins => APPLICATION,
        View::Library if begins => LIBRARY,
        _ => 0,
    }
}

/// Marks a site whose check also covers an access at another site, with the kind of that access.
pub(crate) fn mark_manifold(flags: &Table, site: u32, kind: SiteKind, other: SiteKind) {
    let with = match (kind, other) {
        (SiteKind::Write, SiteKind::Read) => WITH_READ,
        (SiteKind::Write, _) => WITH_WRITE,
        _ => 0,
    };
    flags.set_bits(site as usize, MANIFOLD | with);
}

/// Records that a block ran. Called when a block is entered for the first time; for a library's block, each time until the
/// application is found to call it.
pub(crate) fn ran(agent: &Agent, site: u32) {
    let is_library = agent.flags.set_bits(site as usize, 0) & LIBRARY != 0;
    if is_library && !is_called_by_application(agent, &agent.tool.stack(DEPTH)) {
        return;
    }
    if agent.flags.set_bits(site as usize, RAN) & RAN == 0 && site > 0 {
        locked(&agent.blocks).ran.insert(site);
    }
}

/// Keeps the stack of the current thread.
pub(crate) fn sample(agent: &Agent, number: u64) {
    let stack = agent.tool.stack(DEPTH);
    let stacks = &mut locked(&agent.blocks).stacks;
    if stacks.len() < MOST_STACKS {
        stacks.insert(number, stack.into_boxed_slice());
    }
}

/// Judges an execution that breaks the pattern if all locks are shared. Returns the number of the execution, counted from 1;
/// 0 if it is not kept.
pub(crate) fn ended(
    agent: &Agent,
    thread: u32,
    site: u32,
    log: &Log,
    owner: impl Fn(usize) -> Option<i64>,
) -> u32 {
    let Some(block) = locked(&agent.code).sites.get(site).cloned() else { return 0 };
    let stack = agent.tool.stack(DEPTH);
    let own = program_frames(agent, &stack);
    // A stack overflow can end a block without its end being reported. Such a block is not on top of the stack.
    let is_on_top =
        own.first().and_then(|frame| agent.tool.method(frame.method)).is_some_and(|(class, name)| {
            let class = agent.tool.class_name(class).unwrap_or_default().replace('/', ".");
            class == *block.class && name == *block.method
        });
    let is_library = agent.flags.set_bits(site as usize, 0) & LIBRARY != 0;
    if !is_on_top || is_library && !is_called_by_application(agent, &stack) {
        return 0;
    }
    let (actions, known) = actions(agent, log, owner);
    for fact in known {
        learn(agent, fact);
    }
    let inner = log.inner.iter().map(|&number| number as u32 - 1).collect();
    let execution = Execution { block: site, actions, inner };
    let entered = Entered { thread, stack: own.into() };
    let mut blocks = locked(&agent.blocks);
    let (number, broken) = blocks.reduction.ended(execution.clone());
    let Some(number) = number else {
        drop(blocks);
        if let Some(broken) = broken {
            explanation::report(agent, None, &execution, &entered, broken);
        }
        return 0;
    };
    // An execution like an earlier one has the number of that one.
    assert!(number as usize <= blocks.entered.len(), "execution {number} is numbered before an earlier one");
    if number as usize == blocks.entered.len() {
        blocks.entered.push(entered);
        drop(blocks);
        if broken.is_some() {
            report_kept(agent, number);
        }
    }
    number + 1
}

/// Updates what is known about the uses of a lock, after an acquire that changed the lock's state.
pub(crate) fn acquired(agent: &Agent, lock: u32, word: Word) {
    let uses: Vec<(u32, Segment)> = {
        let mut blocks = locked(&agent.blocks);
        blocks.shared_locks.insert(lock, word);
        let numbers = blocks.uses_of.get(&lock).map_or(&[][..], |uses| uses);
        numbers.iter().map(|&number| (number, blocks.used[number as usize].1)).collect()
    };
    let facts: Vec<Fact> = {
        let machine = locked(&agent.machine);
        uses.iter().filter_map(|&(number, segment)| lock_fact(&machine, word, number, segment)).collect()
    };
    for fact in facts {
        learn(agent, fact);
    }
}

/// The fact that follows from a lock's state for one of its uses.
fn lock_fact(machine: &Machine, word: Word, number: u32, segment: Segment) -> Option<Fact> {
    if machine.is_contended(word, segment) {
        return Some(Fact::Contended(number));
    }
    let is_protected = matches!(word.state(), State::Shared | State::SharedModified) && word.set() != EMPTY;
    is_protected.then_some(Fact::Protected(number))
}

/// The number of a lock in the segment in which a thread used it; adds the facts that are known about it.
fn lock_use(agent: &Agent, about: i64, known: &mut Vec<Fact>) -> u32 {
    let (lock, segment) = (about as u32, Segment((about >> 32) as u32));
    let machine = locked(&agent.machine);
    let mut blocks = locked(&agent.blocks);
    let next = blocks.used.len() as u32;
    let number = *blocks.uses.entry((lock, segment)).or_insert(next);
    if number == next {
        blocks.used.push((lock, segment));
        blocks.uses_of.entry(lock).or_default().push(number);
    }
    if let Some(&word) = blocks.shared_locks.get(&lock) {
        known.extend(lock_fact(&machine, word, number, segment));
    }
    number
}

/// Passes a new fact about a lock or an access to the reduction and reports the executions that it breaks.
fn learn(agent: &Agent, fact: Fact) {
    let broken = locked(&agent.blocks).reduction.learn(fact);
    for number in broken {
        report_kept(agent, number);
    }
}

fn report_kept(agent: &Agent, number: u32) {
    let (execution, entered, broken) = {
        let mut blocks = locked(&agent.blocks);
        let execution = blocks.reduction.execution(number).cloned();
        let execution = execution.expect("only kept executions wait for facts");
        blocks.broken.insert(execution.block);
        let broken = blocks.reduction.broken(number).expect("the fact has just broken this execution");
        if !blocks.reduction.is_innermost(number) {
            return;
        }
        let entered = blocks.entered.get(number as usize).cloned();
        let entered = entered.expect("the thread and the stack of a kept execution are kept with it");
        (execution, entered, broken)
    };
    explanation::report(agent, Some(number), &execution, &entered, broken);
}

/// Handles an access that made a location race: earlier accesses to it inside of blocks may race now.
pub(crate) fn raced(agent: &Agent, object: jobject, site: u32, word: Word) {
    let owner = if object.is_null() { 0 } else { agent.object_number(object) };
    let Some(location) = location(agent, owner, site) else { return };
    let open = {
        let mut blocks = locked(&agent.blocks);
        if blocks.racing.len() < MOST_RACING {
            blocks.racing.insert(location, word);
        }
        blocks.open.get(&location).cloned().unwrap_or_default()
    };
    let racy: Vec<u64> = {
        let mut machine = locked(&agent.machine);
        open.iter()
            .filter(|(_, access)| machine.is_racy(word, *access))
            .map(|&(access_number, _)| access_number)
            .collect()
    };
    for access_number in racy {
        learn(agent, Fact::Racy(access_number));
    }
}

/// Finds out, once per site, whether the site accesses a volatile field or an atomic. As long as the class of a field is not loaded, it is
/// not known.
pub(crate) fn classify(agent: &Agent, site: u32) {
    if agent.flags.set_bits(site as usize, 0) & CLASSIFIED != 0 {
        return;
    }
    let synchronizes = {
        let code = locked(&agent.code);
        match code.sites.get(site) {
            Some(SiteInfo { target: Target::Method { .. }, .. }) => true,
            Some(SiteInfo { target: Target::Field { class, name, descriptor }, loader, .. }) => {
                match code.registry.resolve(*loader, class, name, descriptor, |_| true) {
                    Resolved::Known(number, _) => code.registry.class(number).has_volatile(name, descriptor),
                    Resolved::NotLoaded => return,
                    Resolved::Unwatched => false,
                }
            }
            _ => false,
        }
    };
    if synchronizes {
        agent.flags.set_bits(site as usize, SYNCHRONIZES);
        locked(&agent.machine).add_synchronizing(site);
    }
    agent.flags.set_bits(site as usize, CLASSIFIED);
}

/// Whether a site is known to access a volatile field or an atomic.
pub(crate) fn synchronizes(agent: &Agent, site: u32) -> bool {
    agent.flags.set_bits(site as usize, 0) & SYNCHRONIZES != 0
}

/// The location that a site accesses in an object; `None` for array elements.
fn location(agent: &Agent, owner: i64, site: u32) -> Option<Location> {
    let code = locked(&agent.code);
    let mut hasher = FxHasher::default();
    match code.sites.get(site)? {
        SiteInfo { target: Target::Field { class, name, descriptor }, loader, .. } => {
            let in_scope = |class: &str| agent.scope.covers(&class.replace('/', "."));
            match code.registry.resolve(*loader, class, name, descriptor, in_scope) {
                Resolved::Known(number, _) => code.registry.class(number).name.hash(&mut hasher),
                _ => class.hash(&mut hasher),
            }
            name.hash(&mut hasher);
        }
        SiteInfo { target: Target::Method { class, .. }, .. } => class.hash(&mut hasher),
        _ => return None,
    }
    Some((owner, hasher.finish()))
}

/// The actions of a log, with one action for each access that a check covers, and the facts that are known about them.
fn actions(agent: &Agent, log: &Log, owner: impl Fn(usize) -> Option<i64>) -> (Vec<Action>, Vec<Fact>) {
    let mut actions = Vec::with_capacity(log.operations.len());
    let mut known = Vec::new();
    for (at, &operation) in log.operations.iter().enumerate() {
        let (about, note) = (log.about[at], log.stacks[at]);
        let (kind, site) = (operation >> SITE_BITS, operation as u32 & ((1 << SITE_BITS) - 1));
        let mut act = |site, operation| actions.push(Action { operation, site, note: note as u64 });
        match kind {
            kind::ACQUIRE => act(site, Operation::Acquire(lock_use(agent, about, &mut known))),
            kind::RELEASE => act(site, Operation::Release(lock_use(agent, about, &mut known))),
            kind::ACQUIRE_AGAIN => act(site, Operation::AcquireAgain(lock_use(agent, about, &mut known))),
            kind::RELEASE_AGAIN => act(site, Operation::ReleaseAgain(lock_use(agent, about, &mut known))),
            kind::WAIT => act(site, Operation::Wait(lock_use(agent, about, &mut known))),
            kind::START => act(site, Operation::Start),
            kind::JOIN => act(site, Operation::Join),
            kind::ACCESS_SO_FAR => {
                let owner = owner(at).unwrap_or_default();
                for (site, writes) in accesses(agent, site) {
                    let about = match writes {
                        Some(true) => about | WRITES,
                        Some(false) => about & !WRITES,
                        None => about,
                    };
                    if let Some(access_number) = access_number(agent, owner, site, about, &mut known) {
                        act(site, Operation::Access(access_number));
                    }
                }
            }
            kind => {
                let races = |writes: Option<bool>| writes != Some(false) || kind != kind::WRITE_ONLY;
                for (site, _) in accesses(agent, site).into_iter().filter(|&(_, writes)| races(writes)) {
                    act(site, Operation::Access(RACY));
                }
            }
        }
    }
    (actions, known)
}

/// All accesses that the check at a site covers, in order, each with whether it writes; `None` if the site does not tell.
fn accesses(agent: &Agent, site: u32) -> Vec<(u32, Option<bool>)> {
    let code = locked(&agent.code);
    let others = code.manifold.get(&site).map_or(&[][..], |others| others);
    let mut sites: Vec<u32> = others.iter().copied().chain([site]).collect();
    sites.sort_unstable();
    sites
        .into_iter()
        .map(|site| {
            let writes = match code.sites.get(site).map(|info| info.kind) {
                Some(SiteKind::Read) => Some(false),
                Some(SiteKind::Write) => Some(true),
                _ => None,
            };
            (site, writes)
        })
        .collect()
}

/// A number for an access that did not race when it happened; `None` if it is an initialisation or its location is unknown.
fn access_number(agent: &Agent, owner: i64, site: u32, about: i64, known: &mut Vec<Fact>) -> Option<u64> {
    classify(agent, site);
    let synchronizes = synchronizes(agent, site);
    let location = location(agent, owner, site)?;
    let kind = if about & WRITES != 0 { AccessKind::Write } else { AccessKind::Read };
    let access = Access { segment: Segment((about >> 32) as u32), kind, set: (about & SET) as u32, site };
    let mut machine = locked(&agent.machine);
    if about & MAY_INITIALISE != 0 && !synchronizes || machine.is_constructor(site) {
        return None;
    }
    let mut blocks = locked(&agent.blocks);
    let open = blocks.open.entry(location).or_default();
    let same = |(_, other): &&(u64, Access)| Access { site, ..*other } == access;
    let access_number = match open.iter().find(same) {
        Some(&(access_number, _)) => access_number,
        None => {
            let access_number = blocks.last_access + 1;
            blocks.last_access = access_number;
            blocks.open.entry(location).or_default().push((access_number, access));
            access_number
        }
    };
    if blocks.racing.get(&location).is_some_and(|&word| machine.is_racy(word, access)) {
        known.push(Fact::Racy(access_number));
    }
    Some(access_number)
}

/// Whether the application called the method of the innermost frame.
fn is_called_by_application(agent: &Agent, stack: &[RawFrame]) -> bool {
    let own = program_frames(agent, stack);
    let caller = own.get(1).and_then(|frame| agent.tool.method(frame.method));
    let class = caller.and_then(|(class, _)| agent.tool.class_name(class));
    class.is_some_and(|class| agent.scope.covers(&class.replace('/', ".")))
}

/// A stack without Fissure's frames on top of it.
fn program_frames<'a>(agent: &Agent, stack: &'a [RawFrame]) -> &'a [RawFrame] {
    let is_ours = |frame: &RawFrame| {
        let class = agent.tool.method(frame.method).and_then(|(class, _)| agent.tool.class_name(class));
        class.is_some_and(|class| class.starts_with(crate::hook::PREFIX))
    };
    let ours = stack.iter().take_while(|frame| is_ours(frame)).count();
    &stack[ours..]
}
