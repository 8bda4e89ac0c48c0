//! The records of a JVM as a hunt takes them.

use fissure_hunt::Process;
use fissure_model::record::Failure;

use crate::collect::Jvm;

/// Package prefixes of classes that are never the program's own.
const LIBRARY: [&str; 4] = ["java.", "javax.", "jdk.", "sun."];

/// The records of a JVM, with the name of its program and the application's frame of every failure.
pub(crate) fn process(jvm: Jvm) -> Process {
    let mut run = jvm.run;
    run.iter_mut().flat_map(|run| &mut run.failures).for_each(find_own_frame);
    Process {
        program: program(jvm.hello.as_ref().map_or("", |hello| &hello.command)).to_owned(),
        hello: jvm.hello,
        findings: jvm.findings,
        coverage: jvm.coverage,
        notices: jvm.notices,
        internal_errors: jvm.internal_errors,
        run,
        has_ended: jvm.ended,
        has_unreadable_records: jvm.unreadable > 0,
    }
}

/// Notes the innermost frame outside of the JDK as the application's if the agent knew none.
fn find_own_frame(failure: &mut Failure) {
    let is_known = failure.own.is_some_and(|own| own < failure.stack.len());
    if !is_known {
        let is_library = |class: &str| LIBRARY.iter().any(|prefix| class.starts_with(prefix));
        failure.own = failure.stack.iter().position(|frame| !is_library(&frame.class));
    }
}

/// The name of the program that a JVM runs, the same in every run: the main class or the name of the archive. Maven and Gradle start
/// tests with archives and classes that they make themselves.
fn program(command: &str) -> &str {
    let first = command.split(' ').next().unwrap_or_default();
    let name = first.rsplit('/').next().unwrap_or_default();
    match name {
        _ if name.starts_with("surefirebooter") || first.starts_with("org.apache.maven.surefire.") => {
            "the tests of Maven"
        }
        _ if first.starts_with("worker.org.gradle.") => "the tests of Gradle",
        "" => "the program",
        _ if name.ends_with(".jar") => name,
        _ => first,
    }
}

/// Whether a JVM runs the tests of a build tool.
pub(crate) fn is_of_build_tool(command: &str) -> bool {
    ["the tests of Maven", "the tests of Gradle"].contains(&program(command))
}

#[cfg(test)]
mod tests {
    use fissure_model::finding::Frame;

    use super::*;

    fn check_own(classes: &[&str], own: Option<usize>, expected: Option<usize>) {
        let frame = |class: &&str| Frame {
            class: (*class).to_owned(),
            method: "run".to_owned(),
            file: None,
            line: Some(1),
        };
        let mut failure = Failure {
            thread: "T1".to_owned(),
            cause: fissure_model::record::Cause::Exception {
                class: "Boom".to_owned(),
                message: String::new(),
            },
            stack: classes.iter().map(frame).collect(),
            own,
            test: None,
            after: Vec::new(),
            interleaving: None,
        };
        find_own_frame(&mut failure);
        assert_eq!(failure.own, expected, "{classes:?}");
    }

    #[test]
    fn the_first_frame_outside_of_the_jdk_is_the_applications_unless_the_agent_knows_better() {
        let stack = ["java.util.ArrayList", "org.lib.Check", "com.acme.Test"];
        check_own(&stack, None, Some(1));
        check_own(&stack, Some(2), Some(2));
        check_own(&stack, Some(3), Some(1));
        check_own(&stack[..1], None, None);
        check_own(&[], None, None);
    }

    #[test]
    fn programs_have_the_same_name_in_every_run() {
        let check = |command: &str, expected: &str| assert_eq!(program(command), expected, "{command}");
        check("com.acme.Main --verbose", "com.acme.Main");
        check("/srv/app-1.2.jar x", "app-1.2.jar");
        check("/p/target/surefire/surefirebooter-20250101_3.jar /p/target/surefire x", "the tests of Maven");
        check("worker.org.gradle.process.internal.worker.GradleWorkerMain 'Test 1'", "the tests of Gradle");
        check("", "the program");
    }
}
