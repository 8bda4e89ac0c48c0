//! The course of all runs in one JVM.

use std::{
    ffi::CStr,
    sync::{
        Arc,
        atomic::{AtomicI32, Ordering},
    },
    thread::{self, JoinHandle},
    time::Duration,
};

use fissure_model::iteration::{Answer, Request};
use jvmti_bindings::sys::jni::{jclass, jobject, jvalue};

use super::{
    Iterations,
    connection::Connection,
    state::{SavedState, ThreadIds},
    unwinding,
};
use crate::{
    agent::Agent,
    control::{Control, course::Phase, natives},
    vm::Jni,
};

/// The class of the driver.
const DRIVER: &CStr = c"java/lang/FissureDriver";
const CONTROL: &CStr = c"java/lang/FissureControl";
/// The stack of a main thread; the launcher's has this size unless `-Xss` says otherwise.
const STACK: usize = 1 << 20;
/// The number of a thread that is not controlled, in its field `fissureControl`.
const UNCONTROLLED: i64 = -1;
/// How often the driver checks that the agent still works.
const INTERVAL: Duration = Duration::from_millis(50);
/// The most sites that a JVM may have. Classes that the program defines under new names in every run add more and more.
const MOST_SITES: usize = 400_000;

/// Serves requests.
pub(super) struct Session {
    pub(super) agent: &'static Agent,
    pub(super) control: &'static Control,
    pub(super) iterations: &'static Iterations,
    pub(super) jni: Jni,
    pub(super) program: jobject,
    pub(super) arguments: jobject,
}

/// What stays the same in all runs.
struct Fixed {
    driver: jclass,
    control: jclass,
    state: SavedState,
    ids: ThreadIds,
    /// The thread group of main threads.
    group: jobject,
    /// The loader that the launcher used.
    loader: jobject,
}

/// How a run ended, and why the JVM must not execute another, if so.
struct Ended {
    exit: i32,
    printed: [u64; 2],
    retired: Option<String>,
}

impl Session {
    /// Executes runs until there are no more requests.
    pub(super) fn serve(&self) {
        let Some(mut connection) = Connection::open(&self.iterations.settings.socket) else { return };
        let fixed = match self.prepare() {
            Ok(fixed) => fixed,
            Err(reason) => {
                tracing::info!(reason, "no iterations");
                // The request is read first, so that the other side does not write into a closed socket.
                let _ = connection.request();
                return connection.answer(&Answer::Refused { reason });
            }
        };
        natives::begin_watching(self.agent);
        while let Some(request) = connection.request() {
            let Some(ended) = self.jni.in_frame(None, || Some(self.execute(&fixed, &request))) else {
                return;
            };
            let Ended { exit, printed, retired } = match ended {
                Ok(ended) => ended,
                Err(reason) => {
                    tracing::info!(reason, "no iteration");
                    return connection.answer(&Answer::Retired { reason });
                }
            };
            tracing::info!(exit, retired, "an iteration has ended");
            let is_last = retired.is_some() || self.agent.is_broken();
            connection.answer(&Answer::Ended { exit, printed, retired });
            if is_last {
                return;
            }
        }
    }

    fn prepare(&self) -> Result<Fixed, String> {
        let jni = self.jni;
        let unknown = || "this JDK is not known well enough".to_owned();
        let driver = jni.find_class(DRIVER).ok_or_else(unknown)?;
        let control = jni.find_class(CONTROL).ok_or_else(unknown)?;
        let conductor = jni.find_class(c"java/lang/FissureConductor").ok_or_else(unknown)?;
        if !jni.call_static(conductor, c"initialize") {
            return Err("the hook classes could not be started".to_owned());
        }
        if let Some(switch) = jni.switch(control, c"on") {
            let _ = self.agent.switch.set(switch);
        }
        match jni.static_text(driver, c"save") {
            Ok(None) => {}
            Ok(Some(reason)) => return Err(reason),
            Err(()) => return Err(unknown()),
        }
        let thread = jni.current_thread().ok_or_else(unknown)?;
        let group = jni
            .object_of(thread, c"getThreadGroup", c"()Ljava/lang/ThreadGroup;", &[])
            .ok_or_else(unknown)?;
        let loader = jni
            .object_of(self.program, c"getClassLoader", c"()Ljava/lang/ClassLoader;", &[])
            .ok_or_else(unknown)?;
        self.keep_classes(driver, loader);
        Ok(Fixed {
            driver: jni.keep(driver),
            control: jni.keep(control),
            state: SavedState::new(jni),
            ids: ThreadIds::new(jni, thread),
            group: jni.keep(group),
            loader: jni.keep(loader),
        })
    }

    /// Loads some classes only once, for all runs, if there are such classes.
    fn keep_classes(&self, driver: jclass, loader: jobject) {
        let kept = &self.iterations.settings.kept;
        if kept.is_empty() || !self.iterations.renews_classes() {
            return;
        }
        let entries = jvalue { l: self.jni.string(&kept.join(":")) };
        let signature = c"(Ljava/lang/String;)Ljava/lang/ClassLoader;";
        if let Some(made) = self.jni.static_object(driver, c"keep", signature, &[entries]) {
            let number = self.agent.object_number(loader);
            self.agent.tool.set_tag(made, number);
        }
    }

    /// The arguments of a run, as a global reference.
    fn arguments(&self, fixed: &Fixed, request: &Request) -> jobject {
        let Some(arguments) = &request.arguments else { return self.jni.keep(self.arguments) };
        let text = jvalue { l: self.jni.string(&arguments.join("\u{1}")) };
        let signature = c"(Ljava/lang/String;)[Ljava/lang/String;";
        let made = self.jni.static_object(fixed.driver, c"arguments", signature, &[text]);
        self.jni.keep(made.unwrap_or(self.arguments))
    }

    /// Executes a run. An error is the reason why it was not executed.
    fn execute(&self, fixed: &Fixed, request: &Request) -> Result<Ended, String> {
        let failed = |reason: &str| Err(reason.to_owned());
        let jni = self.jni;
        match self.control.restart(self.agent, &request.control) {
            Ok(former) => {
                for thread in former {
                    // The JDK may still refer to it, and another thread has its number now.
                    jni.set_number(thread as jobject, c"fissureControl", UNCONTROLLED);
                    jni.release(thread as jobject);
                }
            }
            Err(error) => {
                self.agent.write_failure(&format!("the schedule cannot be followed: {error}"));
                return failed("the schedule cannot be followed");
            }
        }
        self.agent.counts.threads_in_scope.store(0, Ordering::Relaxed);
        fixed.state.restore(jni);
        match jni.static_text(fixed.driver, c"restore") {
            Ok(None) => {}
            Ok(Some(reason)) => return failed(&reason),
            Err(()) => return failed("the state of the JVM could not be restored"),
        }
        let Some(loader) = self.loader(fixed) else { return failed("there is no class loader") };
        let arguments = self.arguments(fixed, request);
        let Some(main) = Main::start(self, fixed, [loader, arguments]) else {
            return failed("there is no main thread");
        };
        let (exit, printed) = self.wait(fixed, &main);
        let mut retired = self.clean_up(fixed, main);
        if self.agent.is_broken() {
            retired = Some("Fissure failed".to_owned());
        }
        jni.release(loader);
        Ok(Ended { exit, printed, retired })
    }

    /// The loader of the program's classes, as a global reference.
    fn loader(&self, fixed: &Fixed) -> Option<jobject> {
        let jni = self.jni;
        if !self.iterations.renews_classes() {
            return Some(jni.keep(fixed.loader));
        }
        let made = jni.static_object(fixed.driver, c"newLoader", c"()Ljava/lang/ClassLoader;", &[])?;
        // For the agent it is the same loader as before: its classes have the same sites and fields.
        let number = self.agent.object_number(fixed.loader);
        self.agent.tool.set_tag(made, number);
        let system = jni.static_field("java/lang/ClassLoader", "scl", "Ljava/lang/ClassLoader;")?;
        let kept = jni.keep(made);
        jni.set_static(system, crate::vm::StaticValue::Object(kept as usize));
        Some(kept)
    }

    /// Waits until the run has ended; returns its exit code and how much it has printed.
    fn wait(&self, fixed: &Fixed, main: &Main) -> (i32, [u64; 2]) {
        let course = self.control.course().expect("a JVM for several runs follows the course of each");
        let mut known = Phase::Running;
        let mut shutdown = None;
        loop {
            match course.wait(known, INTERVAL) {
                Phase::Ended { exit, printed } => return (exit, printed),
                Phase::LastEnded if shutdown.is_none() => {
                    known = Phase::LastEnded;
                    shutdown = self.shut_down(fixed, main.exit.load(Ordering::SeqCst));
                }
                _ => {}
            }
            if self.agent.is_broken() {
                return (1, [0; 2]);
            }
        }
    }

    /// Does in a thread what the JVM does when the last thread has ended that it waits for, and then ends the run.
    fn shut_down(&self, fixed: &Fixed, exit: i32) -> Option<JoinHandle<()>> {
        let (agent, control) = (self.agent, self.control);
        let (driver, group) = (fixed.driver as usize, fixed.group as usize);
        let body = move || {
            agent.vm.attached_as_user(c"DestroyJavaVM", group as jobject, |jni| {
                if jni.call_static(driver as jclass, c"shutDown") {
                    control.end_iteration(exit);
                }
            });
        };
        thread::Builder::new().name("fissure-shutdown".to_owned()).spawn(body).ok()
    }

    /// Unwinds what is left over. Returns why the JVM must not execute another run, if so.
    fn clean_up(&self, fixed: &Fixed, main: Main) -> Option<String> {
        let course = self.control.course()?;
        if self.control.is_uncontrolled() {
            return Some("a thread escaped from control".to_owned());
        }
        self.jni.call_static(fixed.control, c"unwind");
        course.begin_unwinding();
        if let Some(reason) = unwinding::unwind_all(self.agent, self.control) {
            return Some(reason);
        }
        if !main.has_ended() {
            return Some("the main thread did not end after the run".to_owned());
        }
        self.jni.call_static(fixed.control, c"endRun");
        let sites = crate::mutex::locked(&self.agent.code).sites.len();
        (sites > MOST_SITES).then(|| "the program defined too many classes".to_owned())
    }
}

/// The main thread of a run.
struct Main {
    handle: JoinHandle<()>,
    /// The exit code of the program if it ends by itself: not 0 if the main method threw.
    exit: Arc<AtomicI32>,
}

impl Main {
    fn start(session: &Session, fixed: &Fixed, [loader, arguments]: [jobject; 2]) -> Option<Self> {
        let agent = session.agent;
        let exit = Arc::new(AtomicI32::new(0));
        let [driver, control, group, loader, arguments] =
            [fixed.driver, fixed.control, fixed.group, loader, arguments].map(|reference| reference as usize);
        let body = {
            let (exit, ids) = (exit.clone(), fixed.ids);
            move || {
                agent.vm.attached_as_user(c"main", group as jobject, |jni| {
                    if run_main(agent, jni, ids, [driver, control, loader, arguments]) {
                        exit.store(1, Ordering::SeqCst);
                    }
                });
            }
        };
        let handle = thread::Builder::new().name("main".to_owned()).stack_size(STACK).spawn(body).ok()?;
        Some(Self { handle, exit })
    }

    /// Whether the thread has ended, after a short time at most.
    fn has_ended(&self) -> bool {
        for _ in 0..10_000 {
            if self.handle.is_finished() {
                return true;
            }
            crate::conducting::gate::wait_briefly();
        }
        false
    }
}

/// Runs the program's main method in the current thread, which is its main thread from here on. Returns whether it threw; the exception
/// stays pending.
fn run_main(
    agent: &Agent,
    jni: Jni,
    ids: ThreadIds,
    [driver, control, loader, arguments]: [usize; 4],
) -> bool {
    let (driver, control) = (driver as jclass, control as jclass);
    let Some(this) = jni.current_thread() else { return true };
    ids.restore(jni, this);
    let signature = c"(Ljava/lang/ClassLoader;)V";
    jni.call_with(driver, c"become", signature, loader as jobject);
    jni.call_with(control, c"beginRun", c"(Ljava/lang/Thread;)V", this);
    let argument = jvalue { l: loader as jobject };
    let class =
        jni.static_object(driver, c"load", c"(Ljava/lang/ClassLoader;)Ljava/lang/Class;", &[argument]);
    let copy = jvalue { l: arguments as jobject };
    let copied = jni.static_object(driver, c"copy", c"([Ljava/lang/String;)[Ljava/lang/String;", &[copy]);
    jni.release(arguments as jobject);
    agent.begin_hashes();
    match (class, copied) {
        (Some(class), Some(copied)) => jni.call_main(class, copied),
        _ => true,
    }
}
