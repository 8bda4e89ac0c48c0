//! Simulated programs for tests: each thread is a list of steps, which drive a run as a front end does. Other crates get this module with
//! the feature `simulation`, as a development dependency.

use std::cell::RefCell;

use fissure_model::{
    event::AccessKind,
    finding::{Finding, Frame},
    ids::{LockId, SiteId, ThreadId},
    record::{Cause, RunEnd},
    settings::{AccessPoints, Control, Patterns, SetRules, StrategyName},
};
use fissure_schedule::{
    conductor::{Conductor, Decision, Limits},
    observer::Observer,
    pattern::{Atomic, BlockKind},
    simulation::{Does, LIMITS},
    strategy::registry::{self, StrategyError},
};

use crate::{
    Accessed, ControlledRun, Declared, DeclaredField, Field, FrontEnd, PendingAccess, PendingAcquire,
    RawFrame, Results, Site, Thrown, Variable,
    flags::{BLOCK, goal_flags, site_text},
};

/// A program. Site N is line N of method `mK` of the class `Program`, where K is N / 10. Fields belong to the class `Pair`; all accesses
/// are to one object.
#[derive(Debug, Clone, Copy)]
pub struct Program<'a> {
    /// The steps of each thread.
    pub threads: &'a [&'a [Does]],
    /// The names of fields, by location.
    pub fields: &'a [&'a str],
    /// The patterns to look for in a run with random choices.
    pub patterns: Patterns,
    /// Whether the program fails, by the executed steps so far: the thread and the index of its step. Asked when a thread ends.
    pub fails: fn(&[(u32, usize)]) -> bool,
}

impl Default for Program<'_> {
    fn default() -> Self {
        Self { threads: &[], fields: &[], patterns: Patterns::default(), fails: |_| false }
    }
}

/// Executes a program with random choices. Returns the results, and the findings in the order in which the run confirmed them.
///
/// # Panics
/// The registry does not know the strategy of random choices.
pub fn execute(program: &Program<'_>, seed: u64) -> (Results, Vec<Finding>) {
    execute_with(program, &random(program, seed)).expect("random choices are a strategy")
}

/// The settings of a run with random choices.
pub(crate) fn random(program: &Program<'_>, seed: u64) -> Control {
    Control {
        strategy: StrategyName::new("random"),
        seed,
        pause: 0,
        depth: 3,
        goal: None,
        schedule: None,
        is_patient: false,
        steps: LIMITS.steps,
        volatiles: false,
        accesses: AccessPoints::Fields,
        instrumented: Vec::new(),
        units: true,
        patterns: program.patterns,
        sets: SetRules::default(),
    }
}

/// Executes a program by these settings. Returns the results, and the findings in the order in which the run confirmed them.
///
/// # Errors
/// The strategy cannot be built.
pub fn execute_with(
    program: &Program<'_>,
    settings: &Control,
) -> Result<(Results, Vec<Finding>), StrategyError> {
    let strategy = registry::build(settings)?;
    let mut conductor = Conductor::new(strategy, settings.seed, Limits::of(settings));
    if settings.patterns != Patterns::default() {
        conductor.observe_with(Observer::new(settings.patterns));
    }
    for number in 0..program.threads.len() {
        conductor.announce(&format!("T{}", number + 1), false);
    }
    let main = conductor.announce("main", false);
    conductor.adopt(main);
    let mut run = ControlledRun::new(conductor, settings);
    for name in ["Account", "Account", "Account"] {
        run.add_lock(name.to_owned(), false);
    }
    let mut simulation = Simulation {
        program,
        settings,
        front: Fake { program, found: RefCell::default() },
        run,
        next_steps: vec![0; program.threads.len()],
        pending: vec![None; program.threads.len()],
        done: Vec::new(),
        has_failed: false,
    };
    let end = simulation.execute(main);
    let results = simulation.run.results(&simulation.front, end);
    Ok((results, simulation.front.found.into_inner()))
}

struct Simulation<'a> {
    program: &'a Program<'a>,
    settings: &'a Control,
    front: Fake<'a>,
    run: ControlledRun,
    next_steps: Vec<usize>,
    pending: Vec<Option<Pending>>,
    done: Vec<(u32, usize)>,
    has_failed: bool,
}

/// The step that a thread executes when it goes on.
#[derive(Debug, Clone, Copy)]
enum Pending {
    Acquire(PendingAcquire),
    Access(PendingAccess, usize),
    Wait,
}

impl Simulation<'_> {
    fn execute(&mut self, main: ThreadId) -> RunEnd {
        let mut started = 0;
        let mut decision = Decision::Run(main);
        loop {
            decision = match decision {
                Decision::Run(thread) if thread != main => self.go_on(thread),
                Decision::Run(_) if started < self.program.threads.len() => {
                    started += 1;
                    self.run.conductor.start(ThreadId(started as u32 - 1), Some(main))
                }
                Decision::Run(_) => self.run.end(main),
                Decision::Stuck if self.run.conductor.stuck().circle.is_empty() => return RunEnd::Hang,
                Decision::Stuck => return RunEnd::Deadlock,
                Decision::TooLong => return RunEnd::TooLong,
                Decision::Over | Decision::Unchanged => {
                    self.run.note_end();
                    return RunEnd::Finished;
                }
            }
        }
    }

    /// Runs a thread up to its next scheduling point.
    fn go_on(&mut self, thread: ThreadId) -> Decision {
        let number = thread.0 as usize;
        match self.pending[number].take() {
            Some(Pending::Acquire(acquire)) => self.run.entered(&self.front, thread, acquire),
            Some(Pending::Access(access, point)) if point + 1 < access.scheduling_points() => {
                return self.arrive_at(thread, access, point + 1);
            }
            Some(Pending::Access(access, _)) => self.run.access(&self.front, thread, &access),
            Some(Pending::Wait) => {
                self.run.conductor.take_wake(thread);
            }
            None => {}
        }
        loop {
            // A step is done when the thread has passed its scheduling point.
            if let Some(last) = self.next_steps[number].checked_sub(1) {
                self.done.push((thread.0, last));
            }
            let step = self.next_steps[number];
            let Some(&does) = self.program.threads[number].get(step) else { return self.end(thread) };
            self.next_steps[number] += 1;
            if let Some(decision) = self.execute_step(thread, does) {
                return decision;
            }
        }
    }

    /// Executes a step that is no scheduling point, or arrives at the scheduling point of another.
    fn execute_step(&mut self, thread: ThreadId, does: Does) -> Option<Decision> {
        let number = thread.0 as usize;
        let front = &self.front;
        match does {
            Does::Acquire(lock, site) => {
                let site = (SiteId(site), BLOCK | self.flags(site, None));
                let acquire = self.run.before_acquire(front, thread, LockId(lock), site, false);
                self.pending[number] = Some(Pending::Acquire(acquire));
                return Some(self.run.arrive(thread, acquire.operation, acquire.flags));
            }
            Does::Release(lock) => self.run.conductor.release(thread, LockId(lock)),
            Does::Enter(site) => {
                self.run.conductor.enter_block(thread, SiteId(site), BlockKind::Method, Atomic::Yes);
            }
            Does::Exit => self.run.conductor.exit_block(thread),
            Does::EnterUnit(site) => self.run.enter_unit(front, thread, SiteId(site)),
            Does::ExitUnit(site) => self.run.exit_unit(front, thread, SiteId(site)),
            Does::Read(..) | Does::Write(..) if self.settings.accesses == AccessPoints::None => {}
            Does::Read(location, site) | Does::Write(location, site) => {
                let kind = if matches!(does, Does::Read(..)) { AccessKind::Read } else { AccessKind::Write };
                let flags = self.flags(site, Some((kind, location)));
                let access = self.run.before_access(front, thread, (1, 0), (SiteId(site), flags))?;
                return Some(self.arrive_at(thread, access, 0));
            }
            Does::Wait(lock) => {
                let operation = self.run.wait(front, thread, (LockId(lock), SiteId(0), 0), -1, None);
                self.pending[number] = Some(Pending::Wait);
                return Some(self.run.arrive(thread, operation, 0));
            }
            Does::Notify(lock) => {
                self.run.conductor.notify(Some(thread), LockId(lock), false, SiteId(0));
            }
            _ => panic!("{does:?} is not simulated here"),
        }
        None
    }

    /// The role of a site in the goal of the run.
    fn flags(&self, site: u32, access: Option<(AccessKind, u32)>) -> i32 {
        let Frame { class, method, line, .. } = frame(site);
        let name = access.map_or("", |(_, location)| self.program.fields[location as usize]);
        let kind = access.map(|(kind, _)| kind);
        goal_flags(&site_text(&class, &method, line), kind, name, self.settings.goal.as_ref())
    }

    fn arrive_at(&mut self, thread: ThreadId, access: PendingAccess, point: usize) -> Decision {
        self.pending[thread.0 as usize] = Some(Pending::Access(access, point));
        self.run.arrive_at_access(thread, &access, point)
    }

    fn end(&mut self, thread: ThreadId) -> Decision {
        if !self.has_failed && (self.program.fails)(&self.done) {
            self.has_failed = true;
            let thrown = Thrown {
                cause: Cause::Exception { class: "AssertionError".to_owned(), message: String::new() },
                stack: vec![frame(99)],
                is_test: false,
                test: None,
            };
            self.run.failed(&self.front, thread, thrown);
        }
        self.run.end(thread)
    }
}

/// A front end for simulated programs. The stack of a thread is not known.
struct Fake<'a> {
    program: &'a Program<'a>,
    found: RefCell<Vec<Finding>>,
}

impl Fake<'_> {
    /// The field that is accessed at a site, and whether it is written.
    fn access_at(&self, site: SiteId) -> Option<(DeclaredField, bool)> {
        let mut steps = self.program.threads.iter().copied().flatten();
        let (location, is_write) = steps.find_map(|does| match *does {
            Does::Read(location, at) if at == site.0 => Some((location, false)),
            Does::Write(location, at) if at == site.0 => Some((location, true)),
            _ => None,
        })?;
        let name = self.program.fields[location as usize].to_owned();
        let field = Field { class: "Pair".to_owned(), name, is_volatile: false };
        Some((DeclaredField { namespace: 0, field }, is_write))
    }
}

fn frame(site: u32) -> Frame {
    Frame {
        class: "Program".to_owned(),
        method: format!("m{}", site / 10),
        file: Some("Program.java".to_owned()),
        line: Some(site),
    }
}

impl FrontEnd for Fake<'_> {
    fn site(&self, site: SiteId) -> Option<Site> {
        let variable = self
            .access_at(site)
            .map(|(DeclaredField { field, .. }, _)| Variable { class: Some(field.class), name: field.name });
        (site.0 != 0).then(|| Site { frame: frame(site.0), is_block: false, variable })
    }

    fn is_write(&self, site: SiteId) -> bool {
        self.access_at(site).is_some_and(|(_, is_write)| is_write)
    }

    fn accessed(&self, site: SiteId) -> Accessed {
        self.access_at(site).map_or(Accessed::Ignored, |(field, _)| Accessed::Field(field))
    }

    fn declared_field(&self, site: SiteId) -> Declared {
        self.access_at(site).map_or(Declared::NoField, |(field, _)| Declared::Field(field))
    }

    fn is_related(&self, _site: SiteId, class: &str) -> bool {
        class == "Pair"
    }

    fn may_be_unit(&self, _method: &str) -> bool {
        true
    }

    fn is_in_scope(&self, _class: &str) -> bool {
        true
    }

    fn is_on_demand(&self, _class: &str) -> bool {
        false
    }

    fn is_platform(&self, _class: &str) -> bool {
        false
    }

    fn implements_locks(&self, _class: &str) -> bool {
        false
    }

    fn stack(&self) -> Vec<RawFrame> {
        Vec::new()
    }

    fn named(&self, _stack: &[RawFrame]) -> Vec<Frame> {
        Vec::new()
    }

    fn stack_of(&self, _thread: ThreadId) -> Option<Vec<Frame>> {
        None
    }

    fn found(&self, finding: &Finding) {
        self.found.borrow_mut().push(finding.clone());
    }
}
