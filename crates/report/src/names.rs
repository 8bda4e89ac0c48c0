//! Names of kinds, statuses, roles and sites, the same in every format.

use fissure_model::{
    finding::{FailureKind, Finding, Frame, Kind, Site, Status},
    interleaving::{Action, Step},
};

use crate::{PASSIVE, causes, sets, words};

/// The prefix of Fissure's hook classes, which explanations leave out.
const HOOK: &str = "java.lang.Fissure";

/// The mark in the names of classes that the JVM generates for lambdas.
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

/// The defect, in one sentence without a full stop.
pub(crate) fn headline(finding: &Finding) -> String {
    let sure = finding.status != Status::Warning;
    if finding.kind == Kind::Failure
        && let Some(cause) = causes::headline(finding)
    {
        return format!("{cause}{}", followed(finding));
    }
    if finding.kind == Kind::AtomicSetViolation && !finding.accesses.is_empty() {
        return format!("{}{}", set_headline(finding, sure), followed(finding));
    }
    let what = match (finding.kind, sure) {
        (Kind::DataRace, false) => "is accessed by two threads without a common lock",
        (Kind::DataRace, true) => "was accessed by two threads at once",
        (Kind::AtomicityViolation, false) => "should be atomic, but another thread can interleave with it",
        (Kind::AtomicityViolation, true) => "should be atomic, but another thread interleaved with it",
        (Kind::AtomicSetViolation, false) => {
            "has fields that belong together and can be observed in an inconsistent state"
        }
        (Kind::AtomicSetViolation, true) => {
            "has fields that belong together and were observed in an inconsistent state"
        }
        (Kind::Deadlock, _) if is_cycle(finding) => {
            "is part of a deadlock: threads wait for each other in a cycle"
        }
        (Kind::Deadlock, _) => "waits for ever: no thread is left to wake it",
        (Kind::NonAtomicMethod, _) => "is not atomic: no order of the calls explains their results",
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

/// Names the fields; a unit of work that uses one field more than once gets a sentence of a different form.
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
            let what = sets::describe_field(&format!("{class}.{field}"));
            let uses = if sure { "used" } else { "can use" };
            let is = if what.starts_with("the contents") { "are" } else { "is" };
            format!(
                "{what} {is} used more than once by a unit of work, and another thread {uses} it in between"
            )
        }
        (fields, sure) => {
            let fields =
                words::list(&fields.iter().map(|field| sets::describe_field(field)).collect::<Vec<_>>());
            let observed = if sure { "were observed" } else { "can be observed" };
            format!(
                "{class} has fields that belong together ({fields}) and {observed} in an inconsistent state"
            )
        }
    }
}

/// The last part of a name: `balance` of `com.acme.Account.balance`.
pub(crate) fn member(name: &str) -> &str {
    name.rsplit('.').next().unwrap_or_default()
}

/// The reason, in a sentence without a full stop; `None` if the headline already contains it.
pub(crate) fn reason(finding: &Finding) -> Option<String> {
    if matches!(finding.kind, Kind::Failure | Kind::Custom) {
        return None;
    }
    finding.reason.clone().or_else(|| sets::sentence(finding))
}

/// The consequence, as the end of a headline.
fn followed(finding: &Finding) -> String {
    let Some(consequence) = &finding.consequence else { return String::new() };
    // The headline of a deadlock already says that the threads are stuck.
    if finding.kind == Kind::Deadlock && matches!(consequence.kind, FailureKind::Deadlock | FailureKind::Hang)
    {
        return String::new();
    }
    format!("; {} followed", self::consequence(&consequence.kind))
}

/// The kind of a consequence, without packages.
pub(crate) fn consequence(kind: &FailureKind) -> &str {
    match kind {
        FailureKind::Exit => "another exit code",
        FailureKind::Deadlock => "a deadlock",
        FailureKind::Hang => "an endless wait",
        FailureKind::Exception(class) => short(class),
    }
}

fn is_cycle(finding: &Finding) -> bool {
    let mut waits = finding.sites.iter().map(|site| site.role.as_str());
    !waits
        .any(|role| role == "waits" || role.starts_with("waits to be notified") || role == "waits for input")
}

/// How many executions the outcomes of a finding add up to.
pub(crate) fn counted(finding: &Finding) -> u64 {
    finding.outcomes.iter().fold(0, |sum, outcome| sum.saturating_add(outcome.count))
}

/// The thread of a site as it stands in a sentence.
pub(crate) fn thread(name: &str) -> String {
    if name.is_empty() { "an unnamed thread".to_owned() } else { format!("thread \"{name}\"") }
}

/// The verb for a site's role, up to the name of the site.
pub(crate) fn verb(role: &str) -> String {
    match role {
        "read" => "reads at".to_owned(),
        "write" => "writes at".to_owned(),
        "entered" => "enters the block at".to_owned(),
        "committed" => "makes the first part of the block visible to other threads at".to_owned(),
        "violated" => "uses state that other threads may have changed meanwhile at".to_owned(),
        "acquire" | "acquired" => "acquires the lock at".to_owned(),
        "reacquire" | "reacquired" => "acquires it again at".to_owned(),
        "release" | "released" => "releases the lock at".to_owned(),
        "interfere" | "interfered" => "interleaves at".to_owned(),
        "wait" | "blocked" => "waits at".to_owned(),
        "failed" => "fails at".to_owned(),
        notified if notified.starts_with("waits to be notified ") => {
            format!("{} at", notification(notified))
        }
        // Deadlocks say what is waited for: `waits for lock com.acme.Account@3`.
        waits if waits.starts_with("waits") => format!("{waits} at"),
        holds if holds.starts_with("holds lock") => format!("{holds}, acquired at"),
        // The steps of a cause say what is accessed: `reads `used``.
        verb if ["reads ", "writes ", "calls ", "acquires "].iter().any(|it| verb.starts_with(it)) => {
            format!("{verb} at")
        }
        "call" => "calls at".to_owned(),
        "execution" => "executes".to_owned(),
        other => format!("({other}) at"),
    }
}

/// The lock that a role of a deadlock's site names: `holds lock com.acme.Account@3`.
pub(crate) fn lock_of(role: &str) -> Option<&str> {
    let prefixes = ["waits for lock ", "waits to be notified ", "holds lock "];
    prefixes.iter().find_map(|prefix| role.strip_prefix(prefix))
}

/// `waits on com.acme.Mailbox@1 to be notified`.
fn notification(role: &str) -> String {
    let lock = lock_of(role).unwrap_or_default();
    format!("waits on {lock} to be notified")
}

/// The verb for a step.
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
        // Names of threads and free texts are not shortened: their dots do not separate packages.
        Action::Start | Action::Join | Action::Unpark | Action::Interrupt | Action::Other => {
            step.object.as_str()
        }
        _ => short(&step.object),
    };
    if let Some(called) = &step.called {
        let receiver = member(&step.object);
        return if receiver.is_empty() { format!("{called}()") } else { format!("{receiver}.{called}()") };
    }
    match (action(step.action), object) {
        ("leaves", "") => "leaves the block".to_owned(),
        ("atomic", "") => "shared operation".to_owned(),
        (verb, "") => verb.to_owned(),
        ("", object) => match lock_of(object) {
            Some(lock) if object.starts_with("waits to be") => {
                format!("waits on {} to be notified", short(lock))
            }
            Some(lock) => format!("waits for lock {}", short(lock)),
            None => object.to_owned(),
        },
        (verb, object) => format!("{verb} {object}"),
    }
}

/// What ordered the accesses of a race: `ordered by the start of a thread in this run`.
pub(crate) fn ordered(finding: &Finding) -> String {
    let by = finding.ordered_by.as_deref().unwrap_or("synchronization");
    format!("ordered by {by} in this run")
}

/// An access without its class, for narrow columns: `writes count`.
pub(crate) fn brief_access(step: &Step) -> Option<String> {
    let is_access = matches!(step.action, Action::Read | Action::Write);
    let (_, field) = step.object.rsplit_once('.').filter(|_| is_access)?;
    Some(format!("{} {field}", action(step.action)))
}

/// `Class.method (File.java:12)`.
fn format_site(class: &str, method: &str, file: Option<&str>, line: Option<u32>) -> String {
    let source = match (file, line) {
        (Some(file), Some(line)) => format!("{file}:{line}"),
        (Some(file), None) => file.to_owned(),
        (None, _) => "unknown source".to_owned(),
    };
    format!("{class}.{method} ({source})")
}

/// A frame as `Class.method (File.java:12)`.
pub(crate) fn frame(frame: &Frame) -> String {
    format_site(&frame.class, &frame.method, frame.file.as_deref(), frame.line)
}

/// A site as a stack frame.
pub(crate) fn frame_of(site: &Site) -> Frame {
    Frame { class: site.class.clone(), method: site.method.clone(), file: site.file.clone(), line: site.line }
}

/// A site as `Class.method (File.java:12)`.
pub(crate) fn site(site: &Site) -> String {
    format_site(&site.class, &site.method, site.file.as_deref(), site.line)
}

/// The locks held at a site, as the end of a sentence. Most analyses do not know for sure that no lock was held.
pub(crate) fn holding(finding: &Finding, site: &Site) -> String {
    if site.locks.is_empty() {
        // Only lock-set analyses know all locks that are held.
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

/// The callers of the site's method, without Fissure's own frames.
pub(crate) fn callers(site: &Site) -> Vec<&Frame> {
    let mut frames: Vec<&Frame> = own_frames(&site.stack);
    if frames.first().is_some_and(|first| first.class == site.class && first.method == site.method) {
        frames.remove(0);
    }
    frames
}

/// The frames of a stack without Fissure's own frames and without those of lambda classes, which have no source and a
/// different name in every run.
pub(crate) fn own_frames(stack: &[Frame]) -> Vec<&Frame> {
    let generated = |frame: &Frame| frame.class.starts_with(HOOK) || frame.class.contains(LAMBDA);
    stack.iter().filter(|frame| !generated(frame)).collect()
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

/// A name without its packages and enclosing classes, for narrow bars: `Bank$Account@2` becomes `Account@2`. An anonymous
/// class keeps its enclosing class, because it has only a number of its own.
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
