//! Blocks that should be atomic: their executions go to the reduction, and those that are not atomic become findings.

mod explanation;

use std::hash::{Hash, Hasher};

use rustc_hash::{FxHashMap, FxHashSet, FxHasher};

use fissure_analysis::{
    lockset::{Access, Machine},
    locksets::EMPTY,
    order::Segment,
    reduction::{Action, Execution, Fact, Operation, RACY, Reduction},
    word::{State, Word},
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

/// How much of a stack is looked at, Fissure's own frames included.
const DEPTH: usize = 72;
/// Stacks beyond this number are not kept; a report then shows the place alone.
const MOST_STACKS: usize = 1 << 14;
/// More executions than the reduction keeps.
pub(crate) const MOST_EXECUTIONS: usize = (1 << 14) + 2;

// What is known of a site, as the hook class `FissureBlocks` has it.
const APPLICATION: u8 = 1;
const LIBRARY: u8 = 2;
const MANIFOLD: u8 = 4;
const RAN: u8 = 8;
/// It was looked at what the site accesses.
const LOOKED_AT: u8 = 16;
/// It accesses something that is meant for several threads at once.
const SYNCHRONIZES: u8 = 32;
const WITH_READ: u8 = 64;
const WITH_WRITE: u8 = 128;

// What the log tells of an access.
const WRITES: i64 = 1 << 30;
const MAY_INITIALISE: i64 = 1 << 29;
const SET: i64 = (1 << 18) - 1;

/// Locations of which it is remembered that they race.
const MOST_RACING: usize = 1 << 16;

/// What the agent knows of blocks.
#[derive(Debug)]
pub(crate) struct Blocks {
    reduction: Reduction,
    /// Who executed what the reduction keeps, by its numbers.
    entered: Vec<Entered>,
    stacks: FxHashMap<u64, Box<[RawFrame]>>,
    reports: FxHashMap<String, Report>,
    /// Accesses inside of kept executions that did not race when they happened, by their numbers and locations.
    open: FxHashMap<Location, Vec<(u64, Access)>>,
    last_place: u64,
    /// Locks in parts of threads' lives, which is what the reduction knows of locks: the numbers, and what they stand for.
    uses: FxHashMap<(u32, Segment), u32>,
    used: Vec<(u32, Segment)>,
    /// The numbers of each lock.
    uses_of: FxHashMap<u32, Vec<u32>>,
    /// The state of locks that several threads acquire.
    shared_locks: FxHashMap<u32, Word>,
    /// The state of locations that race.
    racing: FxHashMap<Location, Word>,
    /// Blocks that ran, by their sites.
    ran: FxHashSet<u32>,
    /// Those of which an execution was not atomic.
    broken: FxHashSet<u32>,
}

/// A field of an object, or a static one: the number of the object, and a hash of the field's names.
type Location = (i64, u64);

/// What the hook classes tell of an execution.
#[derive(Debug)]
pub(crate) struct Log {
    /// Kinds and sites.
    pub(crate) operations: Vec<i32>,
    /// The numbers of locks; segment, locks and more of accesses.
    pub(crate) about: Vec<i64>,
    /// The numbers of stacks.
    pub(crate) stacks: Vec<i64>,
    /// The executions inside of this one, counted from 1.
    pub(crate) inner: Vec<i32>,
}

/// One execution of a block.
#[derive(Debug, Clone)]
struct Entered {
    thread: u32,
    stack: Box<[RawFrame]>,
}

#[derive(Debug)]
struct Report {
    finding: Finding,
    /// The executions that show it.
    executions: Vec<u32>,
    /// How many more there were that the reduction did not keep.
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
            last_place: RACY,
            uses: FxHashMap::default(),
            used: Vec::new(),
            uses_of: FxHashMap::default(),
            shared_locks: FxHashMap::default(),
            racing: FxHashMap::default(),
            ran: FxHashSet::default(),
            broken: FxHashSet::default(),
        }
    }

    /// All findings as they are now, with how often each was seen.
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

    /// How many executions were judged only once, for lack of room.
    pub(crate) fn dropped(&self) -> u64 {
        self.reduction.dropped()
    }
}

/// What a site is to blocks, for the table that the hook classes read.
pub(crate) fn flags(view: View, kind: SiteKind, method: &str, descriptor: &str) -> u8 {
    let begins = match kind {
        SiteKind::Enter | SiteKind::Block => true,
        // The whole life of a thread is not meant to be atomic.
        SiteKind::EnterMethod => (method, descriptor) != ("run", "()V"),
        _ => false,
    };
    match view {
        View::Application if begins => APPLICATION,
        View::Library if begins => LIBRARY,
        _ => 0,
    }
}

/// Takes note that an access of one kind stands for another one as well.
pub(crate) fn mark_manifold(flags: &Table, site: u32, kind: SiteKind, other: SiteKind) {
    let with = match (kind, other) {
        (SiteKind::Write, SiteKind::Read) => WITH_READ,
        (SiteKind::Write, _) => WITH_WRITE,
        _ => 0,
    };
    flags.set_bits(site as usize, MANIFOLD | with);
}

/// A block was entered for the first time, or one of a library for which it is not known whether the application calls it.
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

/// A block ended that is not atomic if all locks are shared. Gives the number of the execution, counted from 1.
pub(crate) fn ended(
    agent: &Agent,
    thread: u32,
    site: u32,
    log: &Log,
    owner: impl Fn(usize) -> Option<i64>,
) -> u32 {
    let Some(block) = locked(&agent.code).sites.get(site).cloned() else { return 0 };
    let stack = agent.tool.stack(DEPTH);
    let own = own_frames(agent, &stack);
    // A block that was left without being noticed, by an overflow of the stack, is not where it seems to be.
    let is_there =
        own.first().and_then(|frame| agent.tool.method(frame.method)).is_some_and(|(class, name)| {
            let class = agent.tool.class_name(class).unwrap_or_default().replace('/', ".");
            class == *block.class && name == *block.method
        });
    let is_library = agent.flags.set_bits(site as usize, 0) & LIBRARY != 0;
    if !is_there || is_library && !is_called_by_application(agent, &stack) {
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
    if number as usize == blocks.entered.len() {
        blocks.entered.push(entered);
        drop(blocks);
        if broken.is_some() {
            report_kept(agent, number);
        }
    }
    number + 1
}

/// A lock was acquired in a way that changed what is known of it.
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

/// What the state of a lock says about one of its uses.
fn lock_fact(machine: &Machine, word: Word, number: u32, segment: Segment) -> Option<Fact> {
    if machine.is_contended(word, segment) {
        return Some(Fact::Contended(number));
    }
    let is_protected = matches!(word.state(), State::Shared | State::SharedModified) && word.set() != EMPTY;
    is_protected.then_some(Fact::Protected(number))
}

/// The number of a lock as a thread used it, and what is known already.
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

/// Takes note of something that was found out about a lock or an access.
fn learn(agent: &Agent, fact: Fact) {
    let broken = locked(&agent.blocks).reduction.learn(fact);
    for number in broken {
        report_kept(agent, number);
    }
}

fn report_kept(agent: &Agent, number: u32) {
    let (execution, entered, broken) = {
        let mut blocks = locked(&agent.blocks);
        let Some(execution) = blocks.reduction.execution(number).cloned() else { return };
        blocks.broken.insert(execution.block);
        let Some(broken) = blocks.reduction.broken(number) else { return };
        if !blocks.reduction.is_innermost(number) {
            return;
        }
        let Some(entered) = blocks.entered.get(number as usize).cloned() else { return };
        (execution, entered, broken)
    };
    explanation::report(agent, Some(number), &execution, &entered, broken);
}

/// An access to a location that was known not to race changed that.
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
        open.iter().filter(|(_, access)| machine.is_racy(word, *access)).map(|&(place, _)| place).collect()
    };
    for place in racy {
        learn(agent, Fact::Racy(place));
    }
}

/// Finds out what a site accesses, once.
pub(crate) fn look_at(agent: &Agent, site: u32) {
    if agent.flags.set_bits(site as usize, LOOKED_AT) & LOOKED_AT != 0 {
        return;
    }
    let synchronizes = {
        let code = locked(&agent.code);
        match code.sites.get(site) {
            Some(SiteInfo { target: Target::Method { .. }, .. }) => true,
            Some(SiteInfo { target: Target::Field { class, name, descriptor }, loader, .. }) => {
                match code.registry.resolve(*loader, class, name, descriptor, |_| false) {
                    Resolved::Known(number, _) => code.registry.class(number).has_volatile(name, descriptor),
                    _ => false,
                }
            }
            _ => false,
        }
    };
    if synchronizes {
        agent.flags.set_bits(site as usize, SYNCHRONIZES);
        locked(&agent.machine).add_synchronizing(site);
    }
}

/// The location that a site accesses in an object; none for elements of arrays.
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

/// The operations of a log, with one for each access, and what is known already of its accesses.
fn actions(agent: &Agent, log: &Log, owner: impl Fn(usize) -> Option<i64>) -> (Vec<Action>, Vec<Fact>) {
    let mut actions = Vec::with_capacity(log.operations.len());
    let mut known = Vec::new();
    for (at, &operation) in log.operations.iter().enumerate() {
        let (about, note) = (log.about[at], log.stacks[at]);
        let (kind, site) = (operation >> 20, operation as u32 & 0xF_FFFF);
        let mut act = |site, operation| actions.push(Action { operation, site, note: note as u64 });
        match kind {
            0 => act(site, Operation::Acquire(lock_use(agent, about, &mut known))),
            1 => act(site, Operation::Release(lock_use(agent, about, &mut known))),
            2 => act(site, Operation::AcquireAgain(lock_use(agent, about, &mut known))),
            3 => act(site, Operation::ReleaseAgain(lock_use(agent, about, &mut known))),
            4 => act(site, Operation::Wait(lock_use(agent, about, &mut known))),
            6 => act(site, Operation::Start),
            7 => act(site, Operation::Join),
            8 => {
                let owner = owner(at).unwrap_or_default();
                for (site, writes) in accesses(agent, site) {
                    let about = match writes {
                        Some(true) => about | WRITES,
                        Some(false) => about & !WRITES,
                        None => about,
                    };
                    if let Some(place) = place(agent, owner, site, about, &mut known) {
                        act(site, Operation::Access(place));
                    }
                }
            }
            kind => {
                let races = |writes: Option<bool>| writes != Some(false) || kind != 9;
                for (site, _) in accesses(agent, site).into_iter().filter(|&(_, writes)| races(writes)) {
                    act(site, Operation::Access(RACY));
                }
            }
        }
    }
    (actions, known)
}

/// All accesses that one stands for, in their order, each with whether it writes, unless only the access itself knows.
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

/// A number for an access that did not race when it happened; none if it was initialisation or cannot be followed.
fn place(agent: &Agent, owner: i64, site: u32, about: i64, known: &mut Vec<Fact>) -> Option<u64> {
    look_at(agent, site);
    let synchronizes = agent.flags.set_bits(site as usize, 0) & SYNCHRONIZES != 0;
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
    let place = match open.iter().find(same) {
        Some(&(place, _)) => place,
        None => {
            let place = blocks.last_place + 1;
            blocks.last_place = place;
            blocks.open.entry(location).or_default().push((place, access));
            place
        }
    };
    if blocks.racing.get(&location).is_some_and(|&word| machine.is_racy(word, access)) {
        known.push(Fact::Racy(place));
    }
    Some(place)
}

/// Whether the method of the innermost frame was called by the application.
fn is_called_by_application(agent: &Agent, stack: &[RawFrame]) -> bool {
    let own = own_frames(agent, stack);
    let caller = own.get(1).and_then(|frame| agent.tool.method(frame.method));
    let class = caller.and_then(|(class, _)| agent.tool.class_name(class));
    class.is_some_and(|class| agent.scope.covers(&class.replace('/', ".")))
}

/// A stack without the frames of Fissure on top of it.
fn own_frames<'a>(agent: &Agent, stack: &'a [RawFrame]) -> &'a [RawFrame] {
    let is_ours = |frame: &RawFrame| {
        let class = agent.tool.method(frame.method).and_then(|(class, _)| agent.tool.class_name(class));
        class.is_some_and(|class| class.starts_with(crate::hook::PREFIX))
    };
    let ours = stack.iter().take_while(|frame| is_ours(frame)).count();
    &stack[ours..]
}
