//! Starts the program under test with the agent, and waits for its end.

use std::{
    env,
    ffi::{OsStr, OsString},
    io,
    os::unix::{
        ffi::{OsStrExt, OsStringExt},
        process::ExitStatusExt,
    },
    path::Path,
    process::{Child, Command, ExitStatus},
    time::Duration,
};

use fissure_report::Exit;
use rustix::io::Errno;

use crate::{
    address_space,
    error::Error,
    locality,
    signals::Forwarding,
    supervise::{self, Ending},
};

/// The environment variable from which every JVM takes options.
const TOOL_OPTIONS: &str = "JAVA_TOOL_OPTIONS";

/// Options that make a JVM's behaviour repeatable. `hashCode=3` gives identity hashes one after the other; the default generator has a
/// state per thread, whose start depends on the JVM's internal threads. Without `UsePerfData` the JVM writes no file for monitoring tools,
/// and so no warning among the program's output if it cannot write it.
const DETERMINISM: [&str; 4] = [
    "-XX:+UnlockExperimentalVMOptions",
    "-XX:hashCode=3",
    "-XX:-UseDynamicNumberOfCompilerThreads",
    "-XX:-UsePerfData",
];

/// Makes every virtual thread a bound one, which has a thread of the operating system of its own and can be scheduled like any other. An
/// experimental option, which `DETERMINISM` unlocks.
const BOUND_VIRTUAL_THREADS: &str = "-XX:-VMContinuations";
/// The first Java version that has this option.
const VIRTUAL_THREADS_SINCE: u32 = 21;
/// Lets a JVM start although it does not know one of its options.
const IGNORE_UNKNOWN: &str = "-XX:+IgnoreUnrecognizedVMOptions";

/// The options about virtual threads for a JVM of unknown version that gets no others.
pub(crate) const ANY_VIRTUAL_THREADS: [&str; 3] =
    ["-XX:+UnlockExperimentalVMOptions", IGNORE_UNKNOWN, BOUND_VIRTUAL_THREADS];

/// A command line as it is started.
#[derive(Debug, PartialEq, Eq)]
struct Plan {
    program: OsString,
    arguments: Vec<OsString>,
    /// The value for `JAVA_TOOL_OPTIONS`, if it is to be set.
    tool_options: Option<OsString>,
}

/// Whether the program is `java` itself, which takes options as arguments.
pub(crate) fn is_java(program: &OsStr) -> bool {
    Path::new(program).file_name() == Some(OsStr::new("java"))
}

/// Runs `command` (which must not be empty) with the agent until it ends, or until the limit. Records go into `folder`.
pub(crate) fn run(
    command: &[OsString],
    agent: &Path,
    settings: &Path,
    folder: &Path,
    limit: Option<Duration>,
) -> Result<(Exit, Ending), Error> {
    let mut process = process(command, &agent_options(agent, settings))?;
    let mut forwarding = Forwarding::install().map_err(Error::Signals)?;
    let mut child = spawn(&mut process)?;
    let waited = supervise::wait(&mut forwarding, &mut child, limit, folder);
    let (status, ending) = waited.map_err(|source| wait_error(&process, source))?;
    Ok((exit(status), ending))
}

/// `command` (which must not be empty) with the agent and with options that make its runs repeatable. The address space of programs
/// that are started from now on is not randomised.
pub(crate) fn controlled(command: &[OsString], agent: &Path, settings: &Path) -> Result<Command, Error> {
    address_space::disable_randomisation();
    let program = command.first().map(OsString::as_os_str).unwrap_or_default();
    let feature = if is_java(program) { locality::java_feature(program) } else { None };
    let mut options: Vec<OsString> =
        DETERMINISM.iter().chain(virtual_thread_options(feature)).map(OsString::from).collect();
    options.extend(agent_options(agent, settings));
    process(command, &options)
}

/// The options about virtual threads, by the feature number of the JVM if it is known. They come before the program's own options, which
/// therefore prevail.
fn virtual_thread_options(feature: Option<u32>) -> &'static [&'static str] {
    match feature {
        Some(feature) if feature < VIRTUAL_THREADS_SINCE => &[],
        Some(_) => &[BOUND_VIRTUAL_THREADS],
        None => &[IGNORE_UNKNOWN, BOUND_VIRTUAL_THREADS],
    }
}

/// Starts a process.
pub(crate) fn spawn(process: &mut Command) -> Result<Child, Error> {
    tracing::debug!(?process, "starts a process");
    process.spawn().map_err(|error| {
        let program = name(process);
        let reason = start_problem(&program, &error);
        Error::Start { program, reason }
    })
}

/// The error of a process that could not be waited for.
pub(crate) fn wait_error(process: &Command, source: io::Error) -> Error {
    Error::Wait { program: name(process), source }
}

/// How a process ended.
pub(crate) fn exit(status: ExitStatus) -> Exit {
    match status.signal() {
        Some(signal) => Exit::Signal(signal),
        None => Exit::Code(status.code().unwrap_or_default()),
    }
}

fn name(process: &Command) -> String {
    process.get_program().to_string_lossy().into_owned()
}

fn process(command: &[OsString], options: &[OsString]) -> Result<Command, Error> {
    let plan = plan(command, options, env::var_os(TOOL_OPTIONS)).ok_or(Error::NoCommand)?;
    let mut process = Command::new(&plan.program);
    process.args(&plan.arguments);
    if let Some(value) = &plan.tool_options {
        process.env(TOOL_OPTIONS, value);
    }
    Ok(process)
}

/// The options that load the agent into a JVM.
fn agent_options(agent: &Path, settings: &Path) -> Vec<OsString> {
    let mut load = OsString::from("-agentpath:");
    load.push(agent);
    load.push("=");
    load.push(settings);
    // Instrumented methods grow, and the JIT does not compile those above 8,000 bytes by default.
    vec!["-XX:-DontCompileHugeMethods".into(), load]
}

/// Puts the options where the JVM finds them: among the arguments of `java`, or into the environment for other commands.
///
/// `java` gets them as arguments because a JVM that takes them from the environment prints a line about that on standard error.
fn plan(command: &[OsString], options: &[OsString], tool_options: Option<OsString>) -> Option<Plan> {
    let (program, arguments) = command.split_first()?;
    let program = program.clone();
    if is_java(&program) {
        let arguments = options.iter().chain(arguments).cloned().collect();
        return Some(Plan { program, arguments, tool_options: None });
    }
    // The agent comes first, so that it sees the original classes and not what other agents make of them.
    let mut words: Vec<OsString> = options.iter().map(|option| quote(option)).collect();
    words.extend(tool_options.filter(|former| !former.is_empty()));
    let value = words.join(OsStr::new(" "));
    Some(Plan { program, arguments: arguments.to_vec(), tool_options: Some(value) })
}

/// Quotes an option as the JVM parses it: both kinds of quotes group, and neither can be escaped inside itself.
fn quote(option: &OsStr) -> OsString {
    let bytes = option.as_bytes();
    let special = |byte: &u8| byte.is_ascii_whitespace() || matches!(byte, 0x0b | b'\'' | b'"');
    if !bytes.iter().any(special) {
        return option.to_owned();
    }
    let mut quoted = vec![b'"'];
    for &byte in bytes {
        if byte == b'"' {
            quoted.extend_from_slice(b"\"'\"'\"");
        } else {
            quoted.push(byte);
        }
    }
    quoted.push(b'"');
    OsString::from_vec(quoted)
}

fn start_problem(program: &str, error: &io::Error) -> String {
    match error.kind() {
        io::ErrorKind::NotFound if Path::new(program).exists() => {
            "the interpreter that its first line names was not found".to_owned()
        }
        io::ErrorKind::NotFound if program.contains('/') => {
            "there is no such file; check the path".to_owned()
        }
        io::ErrorKind::NotFound => "it was not found; check its spelling and PATH".to_owned(),
        io::ErrorKind::PermissionDenied => {
            "it is not executable; make it so with `chmod +x`, or name its interpreter".to_owned()
        }
        _ if error.raw_os_error() == Some(Errno::NOEXEC.raw_os_error()) => {
            "it is no program that this system can run; a script needs a first line such as `#!/bin/sh`"
                .to_owned()
        }
        _ => error.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(line: &str) -> Vec<OsString> {
        line.split_whitespace().map(OsString::from).collect()
    }

    fn check_arguments(command: &str, expected: &str) {
        let made = plan(&words(command), &words("-XX -agent"), Some("-Dkept".into())).unwrap();
        assert_eq!(made.tool_options, None, "{command}");
        let mut line = vec![made.program];
        line.extend(made.arguments);
        assert_eq!(line, words(expected), "{command}");
    }

    fn check_environment(option: &str, former: Option<&str>, expected: &str) {
        let made = plan(&words("mvn test"), &[option.into()], former.map(OsString::from)).unwrap();
        assert_eq!(made.arguments, words("test"));
        assert_eq!(made.tool_options, Some(expected.into()), "{option}");
    }

    #[test]
    fn java_gets_the_options_as_its_first_arguments() {
        check_arguments("java -cp x Main -y", "java -XX -agent -cp x Main -y");
        check_arguments("/opt/jdk/bin/java Main", "/opt/jdk/bin/java -XX -agent Main");
        check_arguments("java", "java -XX -agent");
    }

    #[test]
    fn other_commands_get_the_options_in_the_environment() {
        check_environment("-agentpath:/a=/b", None, "-agentpath:/a=/b");
        check_environment("-agentpath:/a=/b", Some(""), "-agentpath:/a=/b");
        check_environment("-agentpath:/a=/b", Some("-Dx=1 -Dy"), "-agentpath:/a=/b -Dx=1 -Dy");
        check_environment("-agentpath:/my a=/b", Some("-Dx"), "\"-agentpath:/my a=/b\" -Dx");
        check_environment("-a:it's", None, "\"-a:it's\"");
        check_environment("-a:a\"b c", None, "\"-a:a\"'\"'\"b c\"");
        assert!(!is_java(OsStr::new("javac")));
        assert!(!is_java(OsStr::new("my-java")));
    }

    #[test]
    fn a_jvm_without_virtual_threads_gets_no_option_that_it_refuses() {
        assert!(virtual_thread_options(Some(17)).is_empty());
        assert_eq!(virtual_thread_options(Some(21)), ["-XX:-VMContinuations"]);
        assert_eq!(
            virtual_thread_options(None),
            ["-XX:+IgnoreUnrecognizedVMOptions", "-XX:-VMContinuations"]
        );
    }

    #[test]
    fn an_empty_command_has_no_plan() {
        assert_eq!(plan(&[], &[], None), None);
    }

    #[test]
    fn the_agent_gets_the_path_of_its_settings() {
        let options = agent_options(Path::new("/lib/agent.so"), Path::new("/run/settings.json"));
        assert_eq!(options, words("-XX:-DontCompileHugeMethods -agentpath:/lib/agent.so=/run/settings.json"));
    }
}
