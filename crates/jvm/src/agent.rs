//! The state of the agent, shared by all threads of the JVM.

use std::{
    ffi::CStr,
    panic::{AssertUnwindSafe, catch_unwind},
    sync::{
        Arc, Mutex, OnceLock,
        atomic::{AtomicBool, AtomicI64, AtomicU64, AtomicUsize, Ordering},
    },
};

use jvmti_bindings::sys::jni::jobject;
use rustc_hash::FxHashMap;

use fissure_analysis::{lockset::Machine, word::OWNER_BITS};
use fissure_control::flags::Aim;
use fissure_model::{
    coverage::{Coverage, LeftAlone},
    record::Record,
    settings::{Analysis, LocalityFile, Mode, Order, Settings, Watch},
};

use crate::{
    blocks::Blocks,
    control::Control,
    explore::Explorer,
    findings::Findings,
    hashes::Hashes,
    iterations::{Iterations, unwinding},
    locality::Locality,
    lookout::Lookout,
    memory::Table,
    monitor::{AdvisedSite, Watcher},
    mutex::locked,
    origin::Origins,
    output::Output,
    registry::Registry,
    scope::Scope,
    sites::Sites,
    stacks::Samples,
    vm::{Jni, Switch, Tool, Vm},
    world::Classes,
};

/// The number of threads that have their own counters; all further threads share the last one.
pub(crate) const COUNTED_THREADS: usize = 1 << 16;

/// Begins the message that the static analysis was wrong about a site.
const CONTRADICTED: &str = "called thread-local, but two threads were seen: ";

/// The rewritten code: its sites and its watched classes.
#[derive(Debug, Default)]
pub(crate) struct Code {
    pub(crate) sites: Sites,
    pub(crate) registry: Registry,
    /// The classes that pointcuts are matched against; empty if there are no pointcuts.
    pub(crate) classes: Classes,
    pub(crate) left_alone: Vec<LeftAlone>,
    /// Sites that report to the monitor script.
    pub(crate) advised: FxHashMap<u32, AdvisedSite>,
    /// Sites whose check also covers other accesses, with the sites of those accesses.
    pub(crate) manifold: FxHashMap<u32, Vec<u32>>,
}

/// Names that reports use.
#[derive(Debug, Default)]
pub(crate) struct Names {
    /// By thread number.
    pub(crate) threads: Vec<String>,
    /// By lock number.
    pub(crate) locks: Vec<String>,
    /// What may order accesses, by number from the front end's first one on.
    pub(crate) sources: Vec<String>,
}

impl Names {
    /// The name of a thread that has started.
    pub(crate) fn thread(&self, number: u32) -> &str {
        let name = self.threads.get(number as usize);
        name.unwrap_or_else(|| panic!("thread {number} was never announced to the agent"))
    }

    /// The name of a lock that was acquired.
    pub(crate) fn lock(&self, number: u32) -> &str {
        let name = self.locks.get(number as usize);
        name.unwrap_or_else(|| panic!("lock {number} was never announced to the agent"))
    }
}

/// Counters for the coverage.
#[derive(Debug, Default)]
pub(crate) struct Counts {
    pub(crate) classes_loaded: AtomicU64,
    pub(crate) classes_rewritten: AtomicU64,
    pub(crate) classes_in_scope: AtomicU64,
    /// The JDK classes among the classes in scope.
    pub(crate) jdk_classes_in_scope: AtomicU64,
    /// The number of threads in which methods in scope ran; only 0, 1 and more than 1 are distinguished.
    pub(crate) threads_in_scope: AtomicU64,
    pub(crate) classes_hidden: AtomicU64,
    pub(crate) methods_rewritten: AtomicU64,
    pub(crate) methods_left_alone: AtomicU64,
    pub(crate) large_arrays: AtomicU64,
    pub(crate) out_of_memory: AtomicU64,
    /// Threads that Java code started to serve the JDK.
    pub(crate) jdk_threads: AtomicU64,
}

/// The agent of one JVM.
#[derive(Debug)]
pub(crate) struct Agent {
    pub(crate) tool: Tool,
    pub(crate) settings: Settings,
    pub(crate) scope: Scope,
    /// The thread-local accesses and fields that the static analysis found and that need no instrumentation.
    pub(crate) locality: Option<Locality>,
    pub(crate) output: Output,
    pub(crate) code: Mutex<Code>,
    pub(crate) machine: Mutex<Machine>,
    pub(crate) names: Mutex<Names>,
    pub(crate) findings: Mutex<Findings>,
    pub(crate) blocks: Mutex<Blocks>,
    pub(crate) samples: Samples,
    /// Looks for deadlocks in runs that are not controlled.
    pub(crate) lookout: Lookout,
    pub(crate) counts: Counts,
    /// The scheduler of a controlled run.
    pub(crate) control: Option<Control>,
    /// Executes several controlled runs, one after the other, if the settings ask for it.
    pub(crate) iterations: Option<Iterations>,
    /// The monitor script of `fissure watch`, if there is one.
    pub(crate) monitor: Option<Watcher>,
    /// Executes harnesses under one schedule after another, if the settings ask for it.
    pub(crate) explorer: Option<Explorer>,
    /// One int per site, see the hook class `FissureEngine`.
    pub(crate) offsets: Table,
    /// Two bytes per site, see the hook class `FissureBlocks`.
    pub(crate) flags: Table,
    /// One long per kept execution of a block: how often an execution like it was seen.
    pub(crate) hits: Table,
    /// One long per static field: its shadow word.
    pub(crate) cells: Table,
    /// Four longs per thread.
    pub(crate) counters: Table,
    /// The threads that segments belong to.
    pub(crate) owners: Table,
    /// A global reference to the class `FissureEngine`; 0 until the class exists.
    pub(crate) engine: AtomicUsize,
    /// The JVM that loaded the agent.
    pub(crate) vm: Vm,
    /// Switches the hooks off; set once they are on.
    pub(crate) switch: OnceLock<Switch>,
    /// The identity hashes of a controlled program, if the JVM's counter was found.
    pub(crate) hashes: OnceLock<Hashes>,
    /// The number of threads that ended with an exception.
    pub(crate) failures: AtomicU64,
    /// The last number that was given to an object.
    last_object: AtomicI64,
    broken: AtomicBool,
}

static AGENT: OnceLock<Agent> = OnceLock::new();

/// The agent, if it is installed and has not failed.
pub(crate) fn agent() -> Option<&'static Agent> {
    AGENT.get().filter(|agent| !agent.broken.load(Ordering::Relaxed))
}

/// Runs code that the JVM called and catches its panics. After a panic the agent reports the failure and does nothing more,
/// and the program goes on.
pub(crate) fn guarded<T>(otherwise: T, work: impl FnOnce(&'static Agent) -> T) -> T {
    let Some(agent) = agent() else { return otherwise };
    match catch_unwind(AssertUnwindSafe(|| work(agent))) {
        Ok(result) => result,
        // The thread is left over from a run that is over. Its hook throws, and so do all further ones.
        Err(payload) if unwinding::is_meant(&*payload) => {
            unwinding::throw(agent);
            otherwise
        }
        Err(_) => {
            // The panic hook has already written the message.
            agent.give_up();
            otherwise
        }
    }
}

/// The same for the end of the JVM, when an agent that has failed must still write its earlier results.
pub(crate) fn concluding(work: impl FnOnce(&'static Agent)) {
    if let Some(agent) = AGENT.get()
        && catch_unwind(AssertUnwindSafe(|| work(agent))).is_err()
    {
        agent.give_up();
    }
}

/// The results of the static analysis, if the run has any.
fn locality(settings: &Settings) -> std::io::Result<Option<Locality>> {
    let is_checked = settings.detect().is_some_and(|detect| detect.locality_checked);
    settings.locality().map(|LocalityFile(path)| Locality::read(path, is_checked)).transpose()
}

/// The tables outside of the heap, which the hook classes read by address.
struct Tables {
    offsets: Table,
    flags: Table,
    hits: Table,
    cells: Table,
    counters: Table,
    owners: Table,
}

impl Tables {
    fn new() -> std::io::Result<Self> {
        Ok(Self {
            offsets: Table::new(crate::sites::MOST_SITES, 4)?,
            flags: Table::new(2 * crate::sites::MOST_SITES, 1)?,
            hits: Table::new(crate::blocks::MOST_EXECUTIONS, 8)?,
            cells: Table::new(crate::registry::MOST_CELLS as usize, 8)?,
            counters: Table::new(COUNTED_THREADS, 32)?,
            owners: Table::new(1 << OWNER_BITS, 4)?,
        })
    }
}

impl Agent {
    /// Creates the agent of this JVM.
    pub(crate) fn install(vm: Vm, tool: Tool, settings: Settings, origins: Origins, output: Output) {
        let without = settings.atomizer().map_or(&[][..], |atomizer| &atomizer.without);
        // Runs without analyses need only the machine's order of threads, which all analyses share.
        let machine = Machine::new(settings.detect().map_or(Analysis::Racer, |detect| detect.analysis))
            .sampling(crate::natives::exact_boundaries(settings.order()));
        let machine = if settings.order() == Order::None { machine.ignoring_order() } else { machine };
        let monitor = match settings.monitor().map(Watcher::start).transpose() {
            Ok(monitor) => monitor,
            Err(problem) => {
                output
                    .write(&Record::Notice { text: format!("The monitor script cannot be used: {problem}") });
                return;
            }
        };
        let refuse = |reason: String| output.write(&Record::InternalError { text: reason });
        let control = match settings
            .control()
            .map(|control| Control::new(control, settings.iterations().is_some()))
            .transpose()
        {
            Ok(control) => control,
            Err(error) => return refuse(format!("the schedule cannot be followed: {error}")),
        };
        let locality = match locality(&settings) {
            Ok(locality) => locality,
            Err(error) => {
                return refuse(format!("the results of the static analysis cannot be read: {error}"));
            }
        };
        let tables = match Tables::new() {
            Ok(tables) => tables,
            Err(error) => return refuse(format!("there is no memory for the agent's tables: {error}")),
        };
        let agent = Agent {
            blocks: Mutex::new(Blocks::new(without)),
            tool,
            scope: Scope::new(settings.scope.clone())
                .with_on_demand(
                    settings.control().map_or_else(Vec::new, |control| control.instrumented.clone()),
                )
                .with_origins(origins),
            locality,
            machine: Mutex::new(if settings.atomizer().is_some() { machine.following() } else { machine }),
            control,
            iterations: settings.iterations().cloned().map(Iterations::new),
            monitor,
            explorer: (settings.mode == Mode::Explore).then(Explorer::default),
            settings,
            output,
            code: Mutex::default(),
            names: Mutex::new(Names {
                threads: Vec::new(),
                // Numbers 0 and 1 are not real locks: 0 is no lock, and 1 is the accessed object itself.
                locks: vec![String::new(), "this".to_owned()],
                sources: Vec::new(),
            }),
            findings: Mutex::default(),
            samples: Samples::default(),
            lookout: Lookout::default(),
            failures: AtomicU64::new(0),
            counts: Counts::default(),
            offsets: tables.offsets,
            flags: tables.flags,
            hits: tables.hits,
            cells: tables.cells,
            counters: tables.counters,
            owners: tables.owners,
            engine: AtomicUsize::new(0),
            vm,
            switch: OnceLock::new(),
            hashes: OnceLock::new(),
            last_object: AtomicI64::new(0),
            broken: AtomicBool::new(false),
        };
        agent.offsets.set_i32(0, -1);
        // A second agent in one JVM would be the same library loaded twice; the first one is kept.
        let _ = AGENT.set(agent);
    }

    /// Reports that Fissure has failed and ends all instrumentation and control; the program goes on.
    pub(crate) fn fail(&self, text: &str) {
        if !self.is_broken() {
            self.write_failure(text);
            self.give_up();
        }
    }

    /// Writes the reason why Fissure has failed.
    pub(crate) fn write_failure(&self, text: &str) {
        tracing::error!(text, "Fissure failed");
        self.output.write(&Record::InternalError { text: text.to_owned() });
    }

    /// Whether Fissure has failed in this JVM.
    pub(crate) fn is_broken(&self) -> bool {
        self.broken.load(Ordering::Relaxed)
    }

    /// Switches the hooks off and lets every thread go on that waits for its turn.
    fn give_up(&self) {
        if self.broken.swap(true, Ordering::Relaxed) {
            return;
        }
        tracing::error!("the agent stops: hooks are switched off and threads are no longer controlled");
        let jni = self.vm.jni();
        if let (Some(jni), Some(switch)) = (jni, self.switch.get()) {
            jni.turn_off(*switch);
        }
        if let Some(control) = &self.control {
            control.let_all_go(jni);
        }
    }

    /// Calls the method `begin` of a hook class, which switches the hooks on.
    pub(crate) fn begin(&self, jni: Jni, class: &CStr, main: jobject) -> bool {
        let Some(class) = jni.find_class(class) else { return false };
        if let Some(switch) = jni.switch(class, c"on") {
            let _ = self.switch.set(switch);
        }
        jni.call_with(class, c"begin", c"(Ljava/lang/Thread;)V", main)
    }

    /// Keeps the identity hashes of the program apart from others, if the JVM lets it.
    pub(crate) fn install_hashes(&self, jni: Jni) {
        match Hashes::install(jni) {
            Some(hashes) => drop(self.hashes.set(hashes)),
            None => tracing::info!("the JVM's counter of identity hashes was not found"),
        }
    }

    /// The identity hashes of the program, even if the agent has failed.
    pub(crate) fn hashes() -> Option<&'static Hashes> {
        AGENT.get()?.hashes.get()
    }

    /// The program's main method is about to be called.
    pub(crate) fn begin_hashes(&self) {
        if let Some(hashes) = self.hashes.get() {
            hashes.begin();
        }
    }

    /// Writes a message for the user.
    pub(crate) fn notice(&self, text: &str) {
        tracing::info!(text, "notice");
        self.output.write(&Record::Notice { text: text.to_owned() });
    }

    /// The number of an object; the first call for an object assigns it.
    pub(crate) fn object_number(&self, object: jobject) -> i64 {
        let known = self.tool.tag(object);
        if known != 0 {
            return known;
        }
        let number = self.last_object.fetch_add(1, Ordering::Relaxed) + 1;
        self.tool.set_tag(object, number);
        number
    }

    /// The control of the run, for the native methods that only controlled runs bind.
    pub(crate) fn controlling(&self) -> &Control {
        self.control.as_ref().expect("a hook of controlled runs was called, but the run is not controlled")
    }

    /// The sites that have a role in the controlled run that goes on.
    pub(crate) fn aim(&self) -> Arc<Aim> {
        self.control.as_ref().map(Control::aim).unwrap_or_default()
    }

    /// The coverage of a controlled run with so many threads and steps.
    pub(crate) fn coverage_of(&self, threads: usize, steps: u64) -> Coverage {
        let seen = self.coverage();
        // The number of JDK classes that the JVM loads may differ from run to run.
        Coverage {
            jvms: 1,
            classes_in_scope: seen.classes_in_scope,
            threads: threads as u64,
            lock_operations: steps,
            methods_left_alone: seen.left_alone.len() as u64,
            left_alone: seen.left_alone,
            threads_in_scope: seen.threads_in_scope,
            locality: seen.locality,
            origins: seen.origins,
            ..Coverage::default()
        }
    }

    /// Whether the agent counts the threads in which methods in scope run.
    pub(crate) fn counts_threads(&self) -> bool {
        match &self.settings.mode {
            Mode::Detect(detect) => detect.watch != Watch::Locks,
            Mode::Control(_) => true,
            Mode::Watch(_) | Mode::Explore => false,
        }
    }

    /// The number of threads in which methods in scope ran, if it was counted. It is not counted if the scope includes JDK classes,
    /// because nearly every thread runs some of those. A thread that accessed a location counts too, even if its method was too
    /// short to report its beginning.
    fn threads_in_scope(&self, accessing: u64) -> Option<u64> {
        let has_jdk = self.counts.jdk_classes_in_scope.load(Ordering::Relaxed) > 0;
        let is_counted = self.counts_threads() && !has_jdk;
        let ran = || self.counts.threads_in_scope.load(Ordering::Relaxed).max(accessing).min(2);
        is_counted.then(ran)
    }

    /// The coverage so far.
    pub(crate) fn coverage(&self) -> Coverage {
        let get = |count: &AtomicU64| count.load(Ordering::Relaxed);
        let (threads, sets_full, histories_cut, order_cut) = {
            let machine = locked(&self.machine);
            (
                machine.order.threads(),
                machine.sets.overflow(),
                machine.histories.is_truncated(),
                machine.order.is_saturated(),
            )
        };
        let (mut lock_operations, mut locations, mut accesses_analysed, mut threads_accessing) = (0, 0, 0, 0);
        let mut block_executions = 0;
        for [acquired, located, judged, executed] in self.counters.quadruples(threads) {
            lock_operations += acquired;
            locations += located;
            accesses_analysed += judged;
            block_executions += executed;
            threads_accessing += u64::from(located + judged > 0);
        }
        let (atomic_blocks, always_atomic, dropped) = {
            let blocks = locked(&self.blocks);
            let (ran, atomic) = blocks.counts();
            (ran, atomic, blocks.dropped())
        };
        let code = locked(&self.code);
        let mut coverage = Coverage {
            jvms: 1,
            classes_loaded: get(&self.counts.classes_loaded),
            classes_rewritten: get(&self.counts.classes_rewritten),
            classes_in_scope: get(&self.counts.classes_in_scope),
            classes_hidden: get(&self.counts.classes_hidden),
            methods_rewritten: get(&self.counts.methods_rewritten),
            methods_left_alone: get(&self.counts.methods_left_alone),
            left_alone: code.left_alone.clone(),
            threads: (threads as u64).saturating_sub(get(&self.counts.jdk_threads)),
            threads_accessing,
            threads_in_scope: self.threads_in_scope(threads_accessing),
            access_sites: code.sites.len() as u64,
            lock_operations,
            locations,
            accesses_analysed,
            atomic_blocks,
            block_executions,
            always_atomic,
            locality: self.locality.as_ref().map(Locality::coverage),
            origins: self.scope.origins().report(),
            ..Coverage::default()
        };
        if let Some(monitor) = &self.monitor {
            coverage.accesses_analysed = monitor.events();
        }
        for site in self.locality.iter().flat_map(Locality::contradicted) {
            let described = code.sites.get(site).expect("only sites are checked for being local").describe();
            coverage.limits.insert(format!("{CONTRADICTED}{described}"), 1);
        }
        let mut limit = |reason: &str, count: u64| {
            if count > 0 {
                coverage.limits.insert(reason.to_owned(), count);
            }
        };
        limit(&format!("access sites {}", Coverage::OVERFLOW), code.sites.overflow());
        limit("executions of blocks that were judged only once because there were too many", dropped);
        limit("arrays too large to watch", get(&self.counts.large_arrays));
        limit(&format!("lock sets {}", Coverage::OVERFLOW), sets_full);
        limit(
            "accesses and executions of blocks left out for lack of memory",
            get(&self.counts.out_of_memory),
        );
        limit(
            "some shared locations have more kinds of accesses than Fissure keeps, so races with the earliest may be missing: narrow --scope",
            u64::from(histories_cut),
        );
        limit(&format!("thread starts and joins {}", Coverage::OVERFLOW), u64::from(order_cut));
        coverage
    }

    /// Writes the coverage.
    pub(crate) fn write_coverage(&self) {
        self.output.write(&Record::Coverage(Box::new(self.coverage())));
    }
}
