//! The JVMTI callbacks: the JVM loads the agent, starts, loads a class, starts or ends a thread, and ends.

use std::{
    ffi::{CStr, c_char, c_void},
    fmt::Display,
    fs,
    path::Path,
    slice,
    sync::atomic::Ordering,
    thread,
    time::Duration,
};

use fissure_model::{
    record::{Hello, Record, Refusal},
    settings::{Settings, SettingsError},
};
use jvmti_bindings::sys::{
    jni::{JNIEnv, JavaVM, jclass, jint, jobject, jthread},
    jvmti::{
        JVMTI_EVENT_CLASS_FILE_LOAD_HOOK, JVMTI_EVENT_CLASS_PREPARE, JVMTI_EVENT_OBJECT_FREE,
        JVMTI_EVENT_THREAD_END, JVMTI_EVENT_THREAD_START, JVMTI_EVENT_VIRTUAL_THREAD_END,
        JVMTI_EVENT_VIRTUAL_THREAD_START, JVMTI_EVENT_VM_DEATH, JVMTI_EVENT_VM_INIT, JVMTI_EVENT_VM_START,
        jvmtiEnv, jvmtiEventCallbacks,
    },
};

use crate::{
    agent::{Agent, agent, concluding, guarded},
    classes, control, explore, hook, lookout,
    mutex::locked,
    natives,
    origin::{Origins, Source},
    output::Output,
    vm::{Jni, Tool, Vm},
};

/// Main classes of tools that start the program under test in a separate JVM, or never run it.
const BUILD_TOOLS: &[&str] = &[
    "com.sun.tools.javac.",
    "jdk.compiler/com.sun.tools.javac.Main",
    "jdk.jartool/",
    "jdk.javadoc/",
    "jdk.jdeps/",
    "jdk.jlink/",
    "net.bytebuddy.agent.Attacher",
    "java.base/sun.security.tools.",
    "org.apache.maven.wrapper.",
    "org.codehaus.plexus.classworlds.launcher.Launcher",
    "org.gradle.launcher.",
    "org.gradle.wrapper.",
    "org.jetbrains.kotlin.daemon.",
    "org.jetbrains.kotlin.cli.",
];

/// Prefixes of the names of archives that start such tools.
const BUILD_TOOL_ARCHIVES: &[&str] =
    &["gradle-gradle-cli-main", "gradle-launcher", "gradle-wrapper", "maven-wrapper"];

/// The main class of Gradle's worker JVMs.
const GRADLE_WORKER: &str = "worker.org.gradle.process.internal.worker.GradleWorkerMain";

/// Options that create or require a class data archive. With rewritten classes the JVM refuses them or crashes.
const CLASS_ARCHIVES: &[&str] =
    &["-Xshare:on", "-Xshare:dump", "-XX:AOTCacheOutput", "-XX:AOTMode", "-XX:ArchiveClassesAtExit"];

/// Called when the JVM loads the agent. A failure here leaves the program unchanged; most are reported in the run's folder.
///
/// # Safety
/// The JVM calls this with valid pointers.
#[unsafe(no_mangle)]
unsafe extern "system" fn Agent_OnLoad(
    vm: *mut JavaVM,
    options: *mut c_char,
    _reserved: *mut c_void,
) -> jint {
    let options = if options.is_null() {
        String::new()
    } else {
        // SAFETY: the JVM passes a NUL-terminated string.
        unsafe { CStr::from_ptr(options) }.to_string_lossy().into_owned()
    };
    // SAFETY: `vm` is the pointer that the JVM passed.
    let tool = unsafe { Tool::of(vm) };
    // A panic that crosses into the JVM would abort the program before it starts.
    let _ = std::panic::catch_unwind(|| load(Vm::new(vm), tool, Path::new(&options)));
    0
}

/// Reads the settings, decides whether to instrument this JVM, and writes the hello record. The settings are in the run's folder, so
/// that a problem with them can be reported there. If there is no such folder any more, the run is over, and nobody waits for records.
fn load(vm: Vm, tool: Option<Tool>, file: &Path) {
    let Some(output) = file.parent().and_then(|folder| Output::create(folder).ok()) else { return };
    let property = |name: &CStr| tool.and_then(|tool| tool.system_property(name)).unwrap_or_default();
    let command = property(c"sun.java.command");
    let vm_name = property(c"java.vm.name");
    let refused = refusal(tool, &vm_name, &command);
    let acts = refused.is_none();
    let hello = Hello {
        pid: std::process::id(),
        vm_name,
        vm_version: property(c"java.vm.version"),
        command,
        refused,
    };
    output.write(&Record::Hello(hello));
    let Some(tool) = tool.filter(|_| acts) else { return };
    let settings = match read_settings(file) {
        Ok(settings) => settings,
        Err(text) => return output.write(&Record::InternalError { text }),
    };
    if let Err(reason) = start_log(&settings, file) {
        output.write(&Record::Notice {
            text: format!("The agent of process {} has no log: {reason}", std::process::id()),
        });
    }
    tracing::info!(?settings, "the agent is loaded");
    let notice = |text: &str| output.write(&Record::Notice { text: text.to_owned() });
    let has_monitor = settings.monitor().is_some();
    if !tool.add_capabilities(has_monitor) {
        notice(
            "This JVM does not let an agent see classes before it starts, so nothing was instrumented; use another JVM.",
        );
        return;
    }
    std::panic::set_hook(Box::new(|panic| {
        tracing::error!(%panic, backtrace = %std::backtrace::Backtrace::force_capture(), "the agent failed");
        if let Some(agent) = agent() {
            agent.write_failure(&panic.to_string().replace('\n', " "));
        }
    }));
    let origins = Origins::new(
        &property(c"sun.java.command"),
        &property(c"java.class.path"),
        &property(c"jdk.module.main"),
        &settings.whereabouts,
    );
    Agent::install(vm, tool, settings, origins, output);
    let mut callbacks = jvmtiEventCallbacks::default();
    callbacks.VMInit = Some(vm_init);
    callbacks.VMStart = Some(vm_start);
    callbacks.VMDeath = Some(vm_death);
    callbacks.ThreadStart = Some(thread_start);
    callbacks.ThreadEnd = Some(thread_end);
    // Bound virtual threads have threads of the operating system of their own, but events as virtual threads.
    callbacks.VirtualThreadStart = Some(thread_start);
    callbacks.VirtualThreadEnd = Some(thread_end);
    callbacks.ClassPrepare = Some(class_prepare);
    callbacks.ClassFileLoadHook = Some(class_file_load_hook);
    callbacks.ObjectFree = Some(object_free);
    let mut events = vec![
        JVMTI_EVENT_VM_INIT,
        JVMTI_EVENT_VM_START,
        JVMTI_EVENT_VM_DEATH,
        JVMTI_EVENT_CLASS_FILE_LOAD_HOOK,
    ];
    if has_monitor {
        events.push(JVMTI_EVENT_OBJECT_FREE);
    }
    if !tool.set_callbacks(&callbacks, &events)
        && let Some(agent) = agent()
    {
        agent.fail("the JVM refused the agent's callbacks");
    }
}

/// Logs into the run's folder, if the settings ask for a log.
fn start_log(settings: &Settings, file: &Path) -> Result<(), String> {
    let (Some(filter), Some(folder)) = (&settings.log, file.parent()) else { return Ok(()) };
    let filter = filter.parse().map_err(|error: fissure_log::FilterError| error.to_string())?;
    fissure_log::start(&filter, &fissure_log::agent_log(folder, std::process::id()))
        .map_err(|error| error.to_string())
}

/// The settings in a file; the error is a sentence.
fn read_settings(file: &Path) -> Result<Settings, String> {
    let unreadable =
        |error: &dyn Display| format!("the settings of the run ({}) cannot be read: {error}", file.display());
    let text = fs::read_to_string(file).map_err(|error| unreadable(&error))?;
    Settings::from_text(&text).map_err(|error| match error {
        SettingsError::Unreadable(error) => unreadable(&error),
        SettingsError::OtherBuild => error.to_string(),
    })
}

/// The reason why Fissure does not instrument this JVM, if there is one.
fn refusal(tool: Option<Tool>, vm_name: &str, command: &str) -> Option<Refusal> {
    let unsupported = |text: &str| Some(Refusal::Unsupported { text: text.to_owned() });
    let Some(tool) = tool else {
        return unsupported("This JVM is older than Java 11; run the program on HotSpot 11 or newer.");
    };
    if vm_name.contains("OpenJ9") || vm_name.contains("J9 VM") {
        return unsupported(
            "This JVM is not HotSpot (it is OpenJ9); run the program on an OpenJDK with HotSpot 11 or newer.",
        );
    }
    let version = tool.system_property(c"java.vm.specification.version").unwrap_or_default();
    if version.parse::<u32>().is_ok_and(|version| version < 11) || version.starts_with("1.") {
        return unsupported("This JVM is older than Java 11; run the program on HotSpot 11 or newer.");
    }
    let arguments = fs::read("/proc/self/cmdline").unwrap_or_default();
    let is_archive =
        |argument: &[u8]| CLASS_ARCHIVES.iter().any(|option| argument.starts_with(option.as_bytes()));
    if arguments.split(|&byte| byte == 0).any(is_archive) {
        return unsupported(
            "An option was given that needs unchanged JDK classes (-Xshare:on, -XX:AOTMode, …); run the program without it.",
        );
    }
    is_build_tool(command, &arguments).then_some(Refusal::BuildTool)
}

/// Whether this JVM runs a build tool itself. `command` is the main class or archive with its arguments; `arguments` are
/// NUL-terminated.
fn is_build_tool(command: &str, arguments: &[u8]) -> bool {
    // Scripts of build tools run `java -version`, which starts a JVM without a main class.
    let asks_for_version =
        || arguments.split(|&byte| byte == 0).any(|word| matches!(word, b"-version" | b"--version"));
    if command.is_empty() {
        return asks_for_version();
    }
    // Gradle also compiles in worker JVMs; only the workers that execute tests run the program.
    if command.starts_with(GRADLE_WORKER) {
        return !command.contains("Gradle Test Executor");
    }
    let main = command.split(' ').next().unwrap_or_default();
    let archive = main.rsplit('/').next().filter(|name| name.ends_with(".jar")).unwrap_or_default();
    BUILD_TOOLS.iter().any(|tool| command.starts_with(tool))
        || BUILD_TOOL_ARCHIVES.iter().any(|tool| archive.starts_with(tool))
}

/// Called before the first Java instruction runs: defines the hook classes.
unsafe extern "system" fn vm_start(_tool: *mut jvmtiEnv, jni: *mut JNIEnv) {
    guarded((), |agent| {
        if let Err(class) = hook::define(Jni::new(jni)) {
            agent.fail(&format!("the hook class {class} could not be defined"));
        }
    });
}

/// Called when the JVM is initialized and `main` is about to run.
unsafe extern "system" fn vm_init(_tool: *mut jvmtiEnv, jni: *mut JNIEnv, main: jthread) {
    guarded((), |agent| {
        agent.tool.enable(JVMTI_EVENT_THREAD_START);
        agent.tool.enable(JVMTI_EVENT_CLASS_PREPARE);
        if agent.control.is_some() {
            agent.tool.enable(JVMTI_EVENT_THREAD_END);
            // A JVM without virtual threads does not know these events.
            agent.tool.enable(JVMTI_EVENT_VIRTUAL_THREAD_START);
            agent.tool.enable(JVMTI_EVENT_VIRTUAL_THREAD_END);
            // If there are several runs, the driver, which the launcher calls in place of the program, begins them.
            if agent.iterations.is_none() {
                control::natives::begin(agent, Jni::new(jni), main);
            }
            return;
        }
        if agent.explorer.is_some() {
            agent.tool.enable(JVMTI_EVENT_THREAD_END);
            agent.tool.enable(JVMTI_EVENT_VIRTUAL_THREAD_START);
            agent.tool.enable(JVMTI_EVENT_VIRTUAL_THREAD_END);
            explore::natives::begin(agent, Jni::new(jni), main);
            return;
        }
        natives::begin(agent, Jni::new(jni), main);
        lookout::begin(agent, Jni::new(jni));
        agent.write_coverage();
        // A killed JVM cannot write its coverage at the end, so it writes it at intervals.
        let spawned = thread::Builder::new().name("fissure-coverage".to_owned()).spawn(|| {
            let mut pause = Duration::from_millis(50);
            while let Some(agent) = agent_after(pause) {
                agent.write_coverage();
                pause = (pause * 2).min(Duration::from_secs(30));
            }
        });
        drop(spawned);
    });
}

fn agent_after(pause: Duration) -> Option<&'static Agent> {
    thread::sleep(pause);
    agent()
}

/// Called in a new thread. Threads that Java code started have been registered by their parents.
unsafe extern "system" fn thread_start(_tool: *mut jvmtiEnv, jni: *mut JNIEnv, thread: jthread) {
    guarded((), |agent| {
        if agent.control.is_some() {
            control::natives::begin_thread(agent, Jni::new(jni), thread);
        } else if let Some(explorer) = &agent.explorer {
            explore::started::begin_thread(explorer, Jni::new(jni), thread);
        } else {
            natives::attach(agent, Jni::new(jni), thread);
        }
    });
}

/// Called in a thread that ends.
unsafe extern "system" fn thread_end(_tool: *mut jvmtiEnv, jni: *mut JNIEnv, thread: jthread) {
    guarded((), |agent| match &agent.explorer {
        Some(explorer) => explore::started::end_thread(explorer, Jni::new(jni), thread),
        None => control::natives::end_thread(agent, Jni::new(jni), thread),
    });
}

/// Called when a class is prepared. Counts hidden classes, because the JVM does not pass their bytes to agents. Their names
/// contain a dot, which no name in a class file may.
unsafe extern "system" fn class_prepare(
    _tool: *mut jvmtiEnv,
    _jni: *mut JNIEnv,
    _thread: jthread,
    class: jclass,
) {
    guarded((), |agent| {
        if agent.tool.class_name(class).is_some_and(|name| name.contains('.')) {
            agent.counts.classes_hidden.fetch_add(1, Ordering::Relaxed);
        }
    });
}

/// Called when the JVM ends without being killed.
unsafe extern "system" fn vm_death(_tool: *mut jvmtiEnv, jni: *mut JNIEnv) {
    concluding(|agent| {
        if agent.iterations.is_some() {
            return;
        }
        if let Some(control) = &agent.control {
            if agent.is_broken() {
                agent.output.write(&Record::End);
            } else {
                control.finish();
            }
            return;
        }
        if agent.explorer.is_some() {
            return;
        }
        lookout::finish(agent, Jni::new(jni));
        let findings = locked(&agent.findings);
        for finding in findings.all() {
            agent.output.write(&Record::Finding(Box::new(finding.clone())));
        }
        drop(findings);
        let findings = locked(&agent.blocks).findings(&agent.hits);
        for finding in findings {
            agent.output.write(&Record::Finding(Box::new(finding)));
        }
        if let Some(monitor) = &agent.monitor {
            monitor.finish();
        }
        agent.write_coverage();
        agent.output.write(&Record::End);
    });
}

/// Called when a tagged object was collected. JVMTI allows no JNI and few JVMTI functions here.
unsafe extern "system" fn object_free(_tool: *mut jvmtiEnv, number: i64) {
    guarded((), |agent| {
        if let Some(monitor) = &agent.monitor {
            monitor.freed(number);
        }
    });
}

/// Called when the JVM loads or redefines a class.
unsafe extern "system" fn class_file_load_hook(
    _tool: *mut jvmtiEnv,
    jni: *mut JNIEnv,
    redefined: jclass,
    loader: jobject,
    name: *const c_char,
    protection_domain: jobject,
    length: jint,
    bytes: *const u8,
    new_length: *mut jint,
    new_bytes: *mut *mut u8,
) {
    guarded((), |agent| {
        if bytes.is_null() || length <= 0 {
            return;
        }
        // SAFETY: the JVM passes `length` bytes that stay valid until this call returns.
        let class = unsafe { slice::from_raw_parts(bytes, length as usize) };
        let name = if name.is_null() {
            None
        } else {
            // SAFETY: the JVM passes a NUL-terminated string.
            unsafe { CStr::from_ptr(name) }.to_str().ok()
        };
        let source =
            Source { is_new: redefined.is_null(), ..source(agent, jni, loader, name, protection_domain) };
        let rewritten = classes::transform(agent, name, &source, class);
        tracing::debug!(
            name,
            location = ?source.location,
            bytes = class.len(),
            rewritten = rewritten.as_ref().map(Vec::len),
            "a class is loaded"
        );
        if let Some(rewritten) = rewritten
            && let Some((memory, length)) = agent.tool.give(&rewritten)
        {
            // SAFETY: the JVM passes valid pointers for the length and the bytes of the new class.
            unsafe {
                *new_length = length;
                *new_bytes = memory;
            }
        }
    });
}

/// The origin of a class, by its loader and protection domain. This only reads fields: Java code that ran here could load classes
/// and call this function again.
fn source(
    agent: &Agent,
    jni: *mut JNIEnv,
    loader: jobject,
    name: Option<&str>,
    protection_domain: jobject,
) -> Source {
    if loader.is_null() {
        return Source::default();
    }
    let number = agent.object_number(loader);
    // For its first classes the JVM has no JNI environment yet.
    if jni.is_null() {
        return Source { loader: number, ..Source::default() };
    }
    let jni = Jni::new(jni);
    let location = if protection_domain.is_null() { None } else { jni.code_location(protection_domain) };
    let package = name.and_then(|name| name.rsplit_once('/')).map(|(package, _)| package);
    let module = match package.filter(|_| agent.scope.origins().asks_for_modules) {
        Some(package) => agent.tool.module_of(jni, loader, package),
        None => None,
    };
    Source { loader: number, location, module, is_new: true }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(command: &str, arguments: &str, expected: bool) {
        let arguments = arguments.replace(' ', "\0");
        assert_eq!(is_build_tool(command, arguments.as_bytes()), expected, "{command}");
    }

    #[test]
    fn build_tools_are_distinguished_from_jvms_that_run_tests() {
        check("org.codehaus.plexus.classworlds.launcher.Launcher test", "java -cp x", true);
        check("org.gradle.launcher.GradleMain --no-daemon test", "java", true);
        check("org.gradle.launcher.daemon.bootstrap.GradleDaemon 8.7", "java", true);
        check("/project/gradle/wrapper/gradle-wrapper.jar test", "java -jar", true);
        check("/opt/gradle/lib/gradle-gradle-cli-main-9.0.jar test", "java -jar", true);
        let worker = "worker.org.gradle.process.internal.worker.GradleWorkerMain";
        check(&format!("{worker} 'Gradle Test Executor 1'"), "java", false);
        check(&format!("{worker} 'Gradle Compiler Daemon 1'"), "java", true);
        check("/project/target/surefire/surefirebooter123.jar /project/target/surefire", "java -jar", false);
        check("org.apache.maven.surefire.booter.ForkedBooter /x", "java", false);
        check("", "java -version", true);
        check("", "server", false);
        check("com.acme.Main --version", "java com.acme.Main --version", false);
    }
}
