//! A monitor script that runs.

use std::{
    cell::{Cell, RefCell},
    panic::{AssertUnwindSafe, catch_unwind},
    rc::Rc,
    sync::Arc,
    time::{Duration, Instant},
};

use fissure_model::{
    finding::{Finding, Frame},
    pointcut::Pointcut,
};
use rhai::{AST, Dynamic, Engine, FnPtr};
use rustc_hash::FxHashMap;

use crate::{
    error::{LoadError, Stopped},
    event::{Event, When},
    load,
    memory::{self, Charged, counted, kept},
    reporting::Findings,
    values::{Facts, Occurrence, Place, PlaceFacts, Store},
};

/// A pointcut and the side of the join points that it selects.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Advice {
    /// The side.
    pub when: When,
    /// The pointcut.
    pub pointcut: Pointcut,
}

/// Limits beyond which a script is stopped.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    /// Operations of the script for one event.
    pub operations: u64,
    /// Bytes that all its values take together.
    pub memory: usize,
    /// Time for one event; single operations take different times.
    pub time: Duration,
}

impl Default for Limits {
    fn default() -> Self {
        Limits { operations: 1_000_000, memory: 256 << 20, time: Duration::from_secs(10) }
    }
}

/// The environment of a monitor script.
pub trait Outside {
    /// The script prints a line.
    fn print(&self, line: &str);

    /// The script reports a finding; a later finding with the same id replaces an earlier one.
    fn found(&self, finding: Finding);

    /// Whether one segment of a thread ended before another began, ordered by starting and joining threads.
    fn is_before(&self, earlier: u32, later: u32) -> bool;
}

/// Stacks beyond this number are not kept; reports show such sites without their callers.
const MOST_STACKS: usize = 1 << 16;
/// The approximate size in bytes of an event that a script keeps, and of a lock in it.
const EVENT_SIZE: usize = 256;
const LOCK_SIZE: usize = 64;

/// The state that the script's functions share with [`Monitor`].
pub(crate) struct Shared {
    pub(crate) name: String,
    pub(crate) outside: Rc<dyn Outside>,
    /// The advice, with the functions that execute it.
    pub(crate) advices: RefCell<Vec<(Advice, FnPtr)>>,
    /// The functions to call at the end.
    pub(crate) endings: RefCell<Vec<FnPtr>>,
    pub(crate) is_loading: Cell<bool>,
    /// The event that is being handled.
    pub(crate) now: RefCell<Option<Rc<Facts>>>,
    pub(crate) findings: RefCell<Findings>,
    /// When the script was called last.
    pub(crate) began: Cell<Instant>,
    pub(crate) ending: Cell<Ending>,
}

/// The limit that ended a script, if one did.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Ending {
    None,
    Memory,
    Time,
}

/// A loaded monitor script. It stays on the thread that loaded it.
pub struct Monitor {
    engine: Engine,
    script: AST,
    shared: Rc<Shared>,
    needs_locks: bool,
    store: Rc<RefCell<Store>>,
    stacks: FxHashMap<(u32, u32), Rc<[Frame]>>,
    is_stopped: bool,
}

impl std::fmt::Debug for Monitor {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Monitor").field("name", &self.shared.name).finish_non_exhaustive()
    }
}

impl Monitor {
    /// Compiles a script and runs its top level, which declares the advice.
    pub fn load(
        name: &str,
        source: &str,
        limits: Limits,
        outside: Rc<dyn Outside>,
    ) -> Result<Monitor, LoadError> {
        memory::begin();
        let shared = Rc::new(Shared {
            name: name.to_owned(),
            outside,
            advices: RefCell::default(),
            endings: RefCell::default(),
            is_loading: Cell::new(true),
            now: RefCell::default(),
            findings: RefCell::default(),
            began: Cell::new(Instant::now()),
            ending: Cell::new(Ending::None),
        });
        let engine = load::engine(&shared, limits);
        let script =
            engine.compile(source).map_err(|error| LoadError::at(error.position(), error.err_type()))?;
        let mut monitor = Monitor {
            engine,
            script,
            shared,
            needs_locks: source.contains("locks"),
            store: Rc::default(),
            stacks: FxHashMap::default(),
            is_stopped: false,
        };
        monitor.run(|engine, script| engine.run_ast(script))?;
        monitor.shared.is_loading.set(false);
        if monitor.shared.advices.borrow().is_empty() {
            return Err(LoadError {
                line: 0,
                column: 0,
                problem:
                    "it has no advice: declare one with before(POINTCUT, |e| …) or after(POINTCUT, |e| …)"
                        .to_owned(),
            });
        }
        Ok(monitor)
    }

    /// The advice, in the order of its declaration.
    pub fn advices(&self) -> Vec<Advice> {
        self.shared.advices.borrow().iter().map(|(advice, _)| advice.clone()).collect()
    }

    /// Whether the script may read the locks that threads hold.
    pub fn needs_locks(&self) -> bool {
        self.needs_locks
    }

    /// Handles an event. A stopped script ignores it.
    pub fn handle(&mut self, event: Event) -> Result<(), Stopped> {
        if self.is_stopped {
            return Ok(());
        }
        let key = (event.thread, event.site.number);
        let mut event = event;
        if let Some(stack) = event.stack.take()
            && self.stacks.len() < MOST_STACKS
        {
            self.stacks.insert(key, stack.into());
        }
        let stack = self.stacks.get(&key).cloned();
        let event = Arc::new(event);
        let facts = counted(|| {
            let size = EVENT_SIZE + event.locks.len() * LOCK_SIZE;
            let place =
                PlaceFacts { event: Charged::new(event.clone(), size), stack: Charged::new(stack, 0) };
            Rc::new(Facts {
                place: Place(Rc::new(place)),
                event: Charged::new(event.clone(), size),
                store: self.store.clone(),
            })
        });
        *self.shared.now.borrow_mut() = Some(facts.clone());
        let shared = self.shared.clone();
        let mut result = Ok(());
        for &advice in facts.event.advices.iter() {
            let Some(function) = shared.advices.borrow().get(advice).map(|(_, function)| function.clone())
            else {
                continue;
            };
            let occurrence = Occurrence(facts.clone());
            result = self
                .run(|engine, script| function.call::<Dynamic>(engine, script, (occurrence,)).map(|_| ()));
            if result.is_err() {
                break;
            }
        }
        counted(|| {
            *self.shared.now.borrow_mut() = None;
            drop(facts);
        });
        result
    }

    /// Drops the state of objects that were garbage-collected.
    pub fn forget(&mut self, objects: &[i64]) {
        counted(|| {
            let mut store = self.store.borrow_mut();
            objects.iter().for_each(|&object| store.forget(object));
        });
    }

    /// Calls the functions for the end of the program.
    pub fn finish(&mut self) -> Result<(), Stopped> {
        let mut result = Ok(());
        let endings = if self.is_stopped { Vec::new() } else { self.shared.endings.borrow().clone() };
        for ending in endings {
            result = self.run(|engine, script| ending.call::<Dynamic>(engine, script, ()).map(|_| ()));
            if result.is_err() {
                break;
            }
        }
        let changed = self.shared.findings.borrow_mut().changed();
        changed.into_iter().for_each(|finding| self.shared.outside.found(finding));
        result
    }

    /// How many reports were dropped because there were too many different ones.
    pub fn dropped(&self) -> u64 {
        self.shared.findings.borrow().dropped
    }

    fn run(
        &mut self,
        work: impl FnOnce(&Engine, &AST) -> Result<(), Box<rhai::EvalAltResult>>,
    ) -> Result<(), Stopped> {
        let (engine, script) = (&self.engine, &self.script);
        self.shared.began.set(Instant::now());
        let result = counted(|| catch_unwind(AssertUnwindSafe(|| work(engine, script))));
        let stopped = match result {
            Ok(Ok(())) => return Ok(()),
            Ok(Err(error)) => Stopped::from_result(&error, self.shared.ending.get()),
            Err(_) => Stopped { line: 0, column: 0, problem: "its interpreter failed on it".to_owned() },
        };
        self.stop();
        Err(stopped)
    }

    /// Drops everything that the script kept.
    fn stop(&mut self) {
        self.is_stopped = true;
        self.store.take();
        self.stacks.clear();
    }
}

/// Whether the scripts of this thread keep more than this.
pub(crate) fn is_beyond(memory: usize) -> bool {
    kept() > memory
}
