//! Which test is running when something is found, and which tests fail.
//!
//! The threads of a finding often do not show the test that started them: the test waits in another thread until they are done.
//! So if the current thread is in no test, the finding gets the test that other threads are in, provided that there is only
//! one.

use std::sync::{LazyLock, Mutex};

use fissure_classfile::{Probe, ProbeArguments, ProbePoint};
use fissure_model::finding::Frame;
use rustc_hash::FxHashMap;

use crate::{
    agent::agent,
    mutex::locked,
    vm::{RawFrame, Tool},
};

/// The number of frames that are read; test frameworks have deep stacks.
const DEPTH: usize = 256;

/// Packages of test frameworks.
const FRAMEWORKS: &[&str] = &[
    "io.cucumber.",
    "io.kotest.",
    "junit.framework.",
    "org.junit.",
    "org.scalatest.",
    "org.spockframework.",
    "org.testng.",
];

/// The probes at which the JUnit Platform, JUnit 4, JUnit 3 and TestNG record a failed test.
pub(crate) fn probes(class: &str) -> &'static [Probe<'static>] {
    const PLATFORM: &[Probe<'static>] = &[failure("failed", ProbePoint::Entry, 0)];
    const JUNIT_4: &[Probe<'static>] = &[failure("<init>", ProbePoint::Return, 1)];
    const JUNIT_3: &[Probe<'static>] =
        &[failure("addError", ProbePoint::Entry, 1), failure("addFailure", ProbePoint::Entry, 1)];
    const TESTNG: &[Probe<'static>] = &[failure("setThrowable", ProbePoint::Entry, 0)];
    match class {
        "org/junit/platform/engine/TestExecutionResult" => PLATFORM,
        "org/junit/runner/notification/Failure" => JUNIT_4,
        "junit/framework/TestResult" => JUNIT_3,
        "org/testng/internal/TestResult" => TESTNG,
        _ => &[],
    }
}

const fn failure(method: &'static str, at: ProbePoint, exception: u8) -> Probe<'static> {
    let argument = ProbeArguments::Parameter(exception);
    Probe { method, descriptor: None, at, hook_method: "testFailed", argument }
}

/// The role of a method in a stack that contains a test.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Role {
    Framework,
    Library,
    /// A method of the application, `com.acme.AccountTest.deposits`.
    Own(String),
}

/// The roles of methods, by the JVM's method ids.
static ROLES: LazyLock<Mutex<FxHashMap<usize, Role>>> = LazyLock::new(Mutex::default);

/// The test that the current thread is in, or else the only one that any thread is in: `com.acme.AccountTest.deposits`.
pub(crate) fn running_test(tool: Tool) -> Option<String> {
    if let Some(test) = test_in(tool, &tool.stack(DEPTH)) {
        return Some(test);
    }
    let mut tests = tool.all_stacks(DEPTH).into_iter().filter_map(|stack| test_in(tool, &stack));
    let test = tests.next()?;
    tests.all(|other| other == test).then_some(test)
}

/// The test that threw an exception with this stack.
pub(crate) fn test_of(stack: &[Frame]) -> Option<String> {
    let is_library = |class: &str| agent().is_none_or(|agent| agent.scope.is_library(class));
    let role = |frame: &Frame| role(&frame.class, &frame.method, is_library(&frame.class));
    let roles: Vec<Role> = stack.iter().map(role).collect();
    called_test(&roles)
}

fn test_in(tool: Tool, stack: &[RawFrame]) -> Option<String> {
    let mut roles = locked(&ROLES);
    let roles: Vec<Role> = stack
        .iter()
        .map(|raw| roles.entry(raw.method).or_insert_with(|| role_of(tool, raw.method)).clone())
        .collect();
    called_test(&roles)
}

/// The outermost method of the application that a test framework called. Frames come innermost first.
fn called_test(stack: &[Role]) -> Option<String> {
    let outermost = stack.iter().rposition(|role| *role == Role::Framework)?;
    stack[..outermost].iter().rev().find_map(|role| match role {
        Role::Own(name) => Some(name.clone()),
        _ => None,
    })
}

fn role_of(tool: Tool, method: usize) -> Role {
    let Some((class, method)) = tool.method(method) else { return Role::Library };
    let class = tool.class_name(class).unwrap_or_default().replace('/', ".");
    let is_library = agent().is_none_or(|agent| agent.scope.is_library(&class));
    role(&class, &method, is_library)
}

fn role(class: &str, method: &str, is_library: bool) -> Role {
    if FRAMEWORKS.iter().any(|prefix| class.starts_with(prefix)) {
        return Role::Framework;
    }
    // The JVM's hidden classes for lambdas carry the name of the class that contains the lambda.
    if is_library || class.contains("$$Lambda") || method.starts_with('<') {
        return Role::Library;
    }
    let method = match method.strip_prefix("lambda$") {
        Some(lambda) => lambda.rsplit_once('$').map_or(lambda, |(method, _)| method),
        None => method,
    };
    Role::Own(format!("{class}.{method}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(stack: &[(&str, &str)], expected: Option<&str>) {
        let roles: Vec<Role> = stack
            .iter()
            .map(|(class, method)| role(class, method, !class.starts_with("com.acme.")))
            .collect();
        assert_eq!(called_test(&roles).as_deref(), expected, "{stack:?}");
    }

    #[test]
    fn the_test_is_the_first_method_that_the_framework_called() {
        let waiting = [
            ("java.lang.Thread", "join"),
            ("com.acme.Harness", "together"),
            ("com.acme.Checks", "twoPay"),
            ("jdk.internal.reflect.NativeMethodAccessorImpl", "invoke0"),
            ("org.junit.platform.commons.util.ReflectionUtils", "invokeMethod"),
            ("org.apache.maven.surefire.booter.ForkedBooter", "main"),
        ];
        check(&waiting, Some("com.acme.Checks.twoPay"));
        check(&[("com.acme.Account", "deposit"), ("java.lang.Thread", "run")], None);
        check(&[("org.gradle.api.TestWorker", "execute"), ("java.lang.Thread", "run")], None);
        let lambda = [("com.acme.Checks", "lambda$refuses$3"), ("org.junit.jupiter.api.AssertThrows", "x")];
        check(&lambda, Some("com.acme.Checks.refuses"));
        let made =
            [("com.acme.Checks", "<init>"), ("org.junit.runners.BlockJUnit4ClassRunner", "createTest")];
        check(&made, None);
    }
}
