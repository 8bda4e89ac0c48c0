//! Words for kinds, statuses, roles and places, the same in every format.

use fissure_model::{
    finding::{Finding, Frame, Kind, Site, Status},
    interleaving::{Action, Step},
};

use crate::{PASSIVE, sets, words};

/// Classes of Fissure's own hook, which is no part of the program's explanation.
const HOOK: &str = "java.lang.Fissure";

/// What the JVM puts into the names of the classes that it makes for lambdas.
const LAMBDA: &str = "$$Lambda";

/// `2 data races`-style nouns for a kind, in singular and plural.
pub(crate) fn nouns(kind: Kind) -> (&'static str, &'static str) {
    match kind {
        Kind::DataRace => ("data race", "data races"),
        Kind::AtomicityViolation => ("atomicity violation", "atomicity violations"),
        Kind::AtomicSetViolation => ("atomic-set violation", "atomic-set violations"),
        Kind::Deadlock => ("deadlock", "deadlocks"),
        Kind::NonAtomicMethod => ("non-atomic method", "non-atomic methods"),
        Kind::Failure => ("schedule-dependent failure", "schedule-dependent failures"),
        Kind::Custom => ("finding of a monitor script", "findings of a monitor script"),
    }
}

/// The kind as JSON spells it.
pub(crate) fn kind(kind: Kind) -> &'static str {
    match kind {
        Kind::DataRace => "data-race",
        Kind::AtomicityViolation => "atomicity-violation",
        Kind::AtomicSetViolation => "atomic-set-violation",
        Kind::Deadlock => "deadlock",
        Kind::NonAtomicMethod => "non-atomic-method",
        Kind::Failure => "failure",
        Kind::Custom => "custom",
    }
}

/// The status as JSON spells it.
pub(crate) fn status(status: Status) -> &'static str {
    match status {
        Status::Warning => "warning",
        Status::Confirmed => "confirmed",
        Status::Bug => "bug",
    }
}

/// The member in question, with its type if it has one.
pub(crate) fn subject(finding: &Finding) -> String {
    match &finding.field_type {
        Some(field_type) => format!("{field_type} {}", finding.subject),
        None => finding.subject.clone(),
    }
}

/// What is wrong, in one sentence without a full stop.
pub(crate) fn headline(finding: &Finding) -> String {
    let sure = finding.status != Status::Warning;
    if finding.kind == Kind::AtomicSetViolation && !finding.accesses.is_empty() {
        return format!("{}{}", set_headline(finding, sure), followed(finding));
    }
    let what = match (finding.kind, sure) {
        (Kind::DataRace, false) => "is accessed by two threads without a common lock",
        (Kind::DataRace, true) => "was accessed by two threads at once",
        (Kind::AtomicityViolation, false) => "should be atomic, but another thread can interleave with it",
        (Kind::AtomicityViolation, true) => "should be atomic, but another thread interleaved with it",
        (Kind::AtomicSetViolation, false) => "has fields that belong together and can be seen apart",
        (Kind::AtomicSetViolation, true) => "has fields that belong together and were seen apart",
        (Kind::Deadlock, _) if is_circle(finding) => {
            "is part of a deadlock: threads wait for each other in a circle"
        }
        (Kind::Deadlock, _) => "is part of a deadlock: threads wait for what nobody is left to do",
        (Kind::NonAtomicMethod, _) => "is not atomic: no order of the calls explains what they gave",
        (Kind::Failure, _) if finding.reason.is_none() => "fails in some schedules only",
        (Kind::Failure | Kind::Custom, _) => {
            return match &finding.reason {
                Some(message) if finding.kind == Kind::Failure => {
                    format!("{} {message}{}", subject(finding), followed(finding))
                }
                Some(message) => format!("{}: {message}{}", subject(finding), followed(finding)),
                None => format!(
                    "{} was reported by the monitor script {}{}",
                    subject(finding),
                    finding.analysis,
                    followed(finding)
                ),
            };
        }
    };
    format!("{} {what}{}", subject(finding), followed(finding))
}

/// The fields are named, and told apart from the case that a unit of work uses a single one more than once.
fn set_headline(finding: &Finding, sure: bool) -> String {
    let mut fields: Vec<&str> = finding
        .accesses
        .iter()
        .map(|access| member(&access.field))
        .filter(|field| !field.is_empty())
        .collect();
    fields.sort_unstable();
    fields.dedup();
    let class = &finding.subject;
    match (fields.as_slice(), sure) {
        ([field], sure) => {
            let what = sets::in_words(&format!("{class}.{field}"));
            let changed = if sure { "used" } else { "can use" };
            let is = if what.starts_with("the contents") { "are" } else { "is" };
            format!(
                "{what} {is} used more than once by a unit of work, and another thread {changed} it in between"
            )
        }
        (fields, sure) => {
            let fields = words::list(&fields.iter().map(|field| sets::in_words(field)).collect::<Vec<_>>());
            let seen = if sure { "were seen apart" } else { "can be seen apart" };
            format!("{class} has fields that belong together ({fields}) and {seen}")
        }
    }
}

/// The last part of a name: `balance` of `com.acme.Account.balance`.
pub(crate) fn member(name: &str) -> &str {
    name.rsplit('.').next().unwrap_or_default()
}

/// Why it is wrong, in a sentence without a full stop, unless the headline says it already.
pub(crate) fn reason(finding: &Finding) -> Option<String> {
    if matches!(finding.kind, Kind::Failure | Kind::Custom) {
        return None;
    }
    finding.reason.clone().or_else(|| sets::sentence(finding))
}

/// What broke, as the end of a headline.
fn followed(finding: &Finding) -> String {
    let Some(consequence) = &finding.consequence else { return String::new() };
    // A deadlock that is its own consequence is not told twice.
    if finding.kind == Kind::Deadlock && matches!(consequence.exception.as_str(), "deadlock" | "hang") {
        return String::new();
    }
    format!("; {} followed", self::consequence(&consequence.exception))
}

/// What broke, without packages. Not everything that breaks is an exception.
pub(crate) fn consequence(exception: &str) -> &str {
    match exception {
        "exit" => "another exit code",
        "deadlock" => "a deadlock",
        "hang" => "an endless wait",
        exception => short(exception),
    }
}

/// Whether what broke is named by the class of an exception.
pub(crate) fn is_exception(exception: &str) -> bool {
    !matches!(exception, "exit" | "deadlock" | "hang")
}

fn is_circle(finding: &Finding) -> bool {
    !finding.sites.iter().any(|site| matches!(site.role.as_str(), "waits" | "waits to be notified"))
}

/// How many executions the counts of a finding's outcomes tell of.
pub(crate) fn counted(finding: &Finding) -> u64 {
    finding.outcomes.iter().fold(0, |sum, outcome| sum.saturating_add(outcome.count))
}

/// The thread of a site as it stands in a sentence.
pub(crate) fn thread(name: &str) -> String {
    if name.is_empty() { "an unnamed thread".to_owned() } else { format!("thread \"{name}\"") }
}

/// What happens at a site, up to the place's name.
pub(crate) fn verb(role: &str) -> String {
    match role {
        "read" => "reads at".to_owned(),
        "write" => "writes at".to_owned(),
        "entered" => "enters the block at".to_owned(),
        "committed" => "makes a first part of it visible to others at".to_owned(),
        "violated" => "needs what others may have changed meanwhile at".to_owned(),
        "acquire" | "acquired" => "acquires the lock at".to_owned(),
        "reacquire" | "reacquired" => "acquires it again at".to_owned(),
        "release" | "released" => "releases the lock at".to_owned(),
        "interfere" | "interfered" => "comes in between at".to_owned(),
        "wait" | "blocked" => "waits at".to_owned(),
        "failed" => "fails at".to_owned(),
        // Deadlocks say what is waited for: `waits for lock com.acme.Account@3`.
        waits if waits.starts_with("waits") => format!("{waits} at"),
        holds if holds.starts_with("holds lock") => format!("{holds}, acquired at"),
        "call" => "calls at".to_owned(),
        "execution" => "executes".to_owned(),
        other => format!("({other}) at"),
    }
}

/// What a step does, as a verb.
pub(crate) fn action(action: Action) -> &'static str {
    match action {
        Action::Begin => "begins",
        Action::End => "ends",
        Action::Start => "starts",
        Action::Join => "joins",
        Action::BlockEnter => "enters",
        Action::BlockExit => "leaves",
        Action::Acquire => "acquires",
        Action::Release => "releases",
        Action::Wait => "waits on",
        Action::Notify => "notifies",
        Action::Park => "parks",
        Action::Unpark => "unparks",
        Action::Sleep => "sleeps",
        Action::Interrupt => "interrupts",
        Action::Read => "reads",
        Action::Write => "writes",
        Action::Atomic => "atomic",
        Action::Throw => "throws",
        Action::Other => "",
    }
}

/// A whole step: `acquires StringBuffer@2`.
pub(crate) fn step(step: &Step) -> String {
    let object = match step.action {
        // Threads and free texts are not to be shortened: their dots are no packages.
        Action::Start | Action::Join | Action::Unpark | Action::Interrupt | Action::Other => {
            step.object.as_str()
        }
        _ => short(&step.object),
    };
    match (action(step.action), object) {
        ("leaves", "") => "leaves the block".to_owned(),
        ("atomic", "") => "shared operation".to_owned(),
        (verb, "") => verb.to_owned(),
        ("", object) => object.to_owned(),
        (verb, object) => format!("{verb} {object}"),
    }
}

/// An access without the class that it is in, for want of room: `writes count`.
pub(crate) fn brief_access(step: &Step) -> Option<String> {
    let is_access = matches!(step.action, Action::Read | Action::Write);
    let (_, field) = step.object.rsplit_once('.').filter(|_| is_access)?;
    Some(format!("{} {field}", action(step.action)))
}

/// `Class.method (File.java:12)`.
pub(crate) fn place(class: &str, method: &str, file: Option<&str>, line: Option<u32>) -> String {
    let source = match (file, line) {
        (Some(file), Some(line)) => format!("{file}:{line}"),
        (Some(file), None) => file.to_owned(),
        (None, _) => "unknown source".to_owned(),
    };
    format!("{class}.{method} ({source})")
}

/// A frame's place.
pub(crate) fn frame(frame: &Frame) -> String {
    place(&frame.class, &frame.method, frame.file.as_deref(), frame.line)
}

/// The frame that a site is.
pub(crate) fn frame_of(site: &Site) -> Frame {
    Frame { class: site.class.clone(), method: site.method.clone(), file: site.file.clone(), line: site.line }
}

/// A site's place.
pub(crate) fn site(site: &Site) -> String {
    place(&site.class, &site.method, site.file.as_deref(), site.line)
}

/// Which locks were held, as the end of a sentence. That there were none is seldom known.
pub(crate) fn holding(finding: &Finding, site: &Site) -> String {
    if site.locks.is_empty() {
        // Only the analyses of lock sets know all locks that are held.
        let is_known = finding.kind == Kind::DataRace
            && PASSIVE.contains(&finding.analysis.as_str())
            && matches!(site.role.as_str(), "read" | "write");
        return if is_known { ", holding no lock".to_owned() } else { String::new() };
    }
    let names: Vec<String> = site
        .locks
        .iter()
        .map(|lock| {
            let name =
                if lock.name == "this" { "the object's own lock".to_owned() } else { lock.name.clone() };
            if lock.shared { format!("the read lock of {name}") } else { name }
        })
        .collect();
    format!(", holding {}", words::list(&names))
}

/// The frames below the site itself, without Fissure's own.
pub(crate) fn callers(site: &Site) -> Vec<&Frame> {
    let mut frames: Vec<&Frame> = own_frames(&site.stack);
    if frames.first().is_some_and(|first| first.class == site.class && first.method == site.method) {
        frames.remove(0);
    }
    frames
}

/// The frames of a stack without Fissure's own and those that the JVM makes for lambdas, which have no source and
/// another name in every run.
pub(crate) fn own_frames(stack: &[Frame]) -> Vec<&Frame> {
    let made = |frame: &Frame| frame.class.starts_with(HOOK) || frame.class.contains(LAMBDA);
    stack.iter().filter(|frame| !made(frame)).collect()
}

/// The test that a finding was seen in, `com.acme.AccountTest.deposits`. Where it is not known, the outermost frame of a
/// class that is named like a test has to do; lambdas tell the method that they stand in.
pub(crate) fn test(finding: &Finding) -> Option<String> {
    if finding.test.is_some() {
        return finding.test.clone();
    }
    let frames = finding.sites.iter().flat_map(|site| site.stack.iter().rev());
    frames.filter(|frame| is_test(&frame.class)).find_map(|frame| {
        let method = match frame.method.strip_prefix("lambda$") {
            Some(lambda) => lambda.rsplit_once('$').map_or(lambda, |(method, _)| method),
            None => &frame.method,
        };
        let hidden = method.starts_with('<') || method == "main";
        (!hidden).then(|| format!("{}.{method}", frame.class))
    })
}

/// Whether a class is named as Maven and Gradle expect of tests.
fn is_test(class: &str) -> bool {
    let library =
        ["java.", "jdk.", "sun.", "org.junit.", "org.testng.", "junit.", "org.apache.maven.", "org.gradle."];
    // The JVM's own classes for lambdas are named after the class that they are in.
    if library.iter().any(|prefix| class.starts_with(prefix)) || class.contains("$$Lambda") {
        return false;
    }
    let simple = class.rsplit('.').next().unwrap_or(class);
    simple.split('$').any(|part| {
        ["Test", "Tests", "TestCase", "IT", "Spec"].iter().any(|end| part.ends_with(end))
            || part.strip_prefix("Test").is_some_and(|rest| rest.starts_with(char::is_uppercase))
    })
}

/// A name without its packages: `java.lang.StringBuffer@2` becomes `StringBuffer@2`.
pub(crate) fn short(name: &str) -> &str {
    let starts_upper = |part: &str| part.chars().next().is_some_and(char::is_uppercase);
    let mut at = 0;
    for part in name.split('.') {
        if starts_upper(part) {
            return &name[at..];
        }
        at += part.len() + 1;
    }
    name
}

/// A name without its packages and the classes around its own, for where there is little room: `Bank$Account@2` becomes
/// `Account@2`. What the compiler numbered keeps the class that it is in.
pub(crate) fn innermost(name: &str) -> &str {
    let name = short(name);
    match name.rsplit_once('$') {
        Some((_, own)) if own.starts_with(char::is_alphabetic) => own,
        _ => name,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(name: &str, expected: &str) {
        assert_eq!(short(name), expected);
    }

    #[test]
    fn tests_are_known_by_their_names() {
        let check = |class: &str, expected: bool| assert_eq!(is_test(class), expected, "{class}");
        check("com.acme.AccountTest", true);
        check("com.acme.AccountTest$Nested", true);
        check("com.acme.TestAccount", true);
        check("com.acme.AccountIT", true);
        check("com.acme.AccountTest$$Lambda$394", false);
        check("com.acme.Testament", false);
        check("com.acme.Account", false);
        check("org.junit.platform.SpecialTest", false);
        check("org.gradle.api.internal.tasks.testing.worker.TestWorker", false);
    }

    #[test]
    fn names_lose_their_packages() {
        check("java.lang.StringBuffer@2", "StringBuffer@2");
        check("com.acme.Account$Entry.balance", "Account$Entry.balance");
        check("Account.balance", "Account.balance");
        check("main", "main");
        check("int[]@3", "int[]@3");
        check("com.acme.Konto.Ärger", "Konto.Ärger");
        check("a.b.c", "a.b.c");
        check("", "");
        let check = |name: &str, expected: &str| assert_eq!(innermost(name), expected);
        check("com.acme.Bank$Account@2", "Account@2");
        check("com.acme.Bank$1@2", "Bank$1@2");
        check("com.acme.Account@2", "Account@2");
    }
}
