//! Words for kinds, statuses, roles and places, the same in every format.

use fissure_model::{
    finding::{Finding, Frame, Kind, Site, Status},
    interleaving::{Action, Step},
};

use crate::words;

/// Classes of Fissure's own hook, which is no part of the program's story.
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
        Kind::Custom => ("finding of a custom monitor", "findings of custom monitors"),
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
    if let (Kind::Custom, Some(reason)) = (finding.kind, &finding.reason) {
        return format!("{}: {reason}", subject(finding));
    }
    let what = match (finding.kind, sure) {
        (Kind::DataRace, false) => "is accessed by two threads without a common lock",
        (Kind::DataRace, true) => "was accessed by two threads at once",
        (Kind::AtomicityViolation, false) => "should be atomic, but another thread can come in between",
        (Kind::AtomicityViolation, true) => "should be atomic, but another thread came in between",
        (Kind::AtomicSetViolation, false) => "has fields that belong together and can be seen apart",
        (Kind::AtomicSetViolation, true) => "has fields that belong together and were seen apart",
        (Kind::Deadlock, _) => "is part of a deadlock: threads wait for each other in a circle",
        (Kind::NonAtomicMethod, _) => "is not atomic: no order of the calls explains what they gave",
        (Kind::Custom, _) => "was reported by a custom monitor",
    };
    let followed = match &finding.consequence {
        Some(consequence) => format!("; {} followed", short(&consequence.exception)),
        None => String::new(),
    };
    format!("{} {what}{followed}", subject(finding))
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
        "call" => "makes a call at".to_owned(),
        "execution" => "is in".to_owned(),
        // Deadlocks say what is waited for: `waits for lock com.acme.Account@3`.
        waits if waits.starts_with("waits") => format!("{waits} at"),
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
        (verb, "") => verb.to_owned(),
        ("", object) => object.to_owned(),
        (verb, object) => format!("{verb} {object}"),
    }
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

/// Which locks were held, as the end of a sentence. That there were none is known of accesses only.
pub(crate) fn holding(site: &Site) -> String {
    if site.locks.is_empty() {
        let access = matches!(site.role.as_str(), "read" | "write");
        return if access { ", holding no lock".to_owned() } else { String::new() };
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

/// The test that a finding was seen in, `com.acme.AccountTest.deposits`: the outermost frame of a class that is named
/// like a test. Lambdas tell the method that they stand in.
pub(crate) fn test(finding: &Finding) -> Option<String> {
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
    let library = ["java.", "jdk.", "sun.", "org.junit.", "org.testng.", "junit.", "org.apache.maven."];
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
    }
}
