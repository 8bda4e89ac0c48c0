//! The proved causes of a finding, how they were proved, and the repair that is suggested, in words.

use fissure_model::{
    finding::{Finding, Frame, Trials},
    goal::{Act, GoalSite},
    interleaving::Action,
    prevention::Prevention,
};

use crate::words;

/// The methods of maps and atomics that read and write at once, by the method that only reads and the one that only writes.
const ONE_OPERATION: [(&[&str], &[&str], &str); 7] = [
    (&["containsKey", "get"], &["put"], "computeIfAbsent"),
    (&["containsKey"], &["get"], "get"),
    (&["containsKey", "get"], &["remove"], "remove"),
    (&["get"], &["replace"], "computeIfPresent"),
    (&["contains"], &["add"], "add"),
    (&["get", "getPlain", "intValue"], &["set", "lazySet"], "updateAndGet"),
    (&["peek", "isEmpty", "size"], &["poll", "remove", "take"], "poll"),
];

/// The proved cause as a headline; `None` if none was proved, or if the finding is its own cause.
pub(crate) fn headline(finding: &Finding) -> Option<String> {
    let causes = &finding.judgement.as_ref()?.causes;
    let sentences: Vec<String> =
        causes.iter().filter_map(|cause| sentence(finding, &cause.prevention)).collect();
    match sentences.as_slice() {
        [] => None,
        [only] => Some(only.clone()),
        several => {
            let lettered: Vec<String> =
                several.iter().zip('a'..).map(|(text, letter)| format!("({letter}) {text}")).collect();
            Some(format!("either of {} causes is enough: {}", several.len(), lettered.join("; ")))
        }
    }
}

/// How the cause was proved, or that it was not; `None` if it was not sought.
pub(crate) fn proof(finding: &Finding) -> Option<String> {
    let judgement = finding.judgement.as_ref()?;
    let Some(first) = judgement.causes.first() else {
        let told = "not established: no candidate made the program fail whenever it was forced, and let it end well whenever it was prevented";
        return Some(told.to_owned());
    };
    let count = |trials: Trials| {
        format!("fails in {} of {}", words::thousands(trials.fails), words::thousands(trials.runs))
    };
    let several = judgement.causes.len() > 1;
    let mut parts: Vec<String> = Vec::new();
    for (cause, letter) in judgement.causes.iter().zip('a'..) {
        let which = if several { format!("({letter}) alone ") } else { String::new() };
        parts.extend(cause.forced.map(|forced| format!("{which}forced: {}", count(forced))));
    }
    let which = if several { "both prevented" } else { "prevented" };
    parts.push(format!("{which}: {}", count(first.prevented)));
    Some(format!("proved; {}", parts.join("; ")))
}

/// The suggested repair, in a sentence without a full stop; `None` if there is none.
pub(crate) fn repair(finding: &Finding) -> Option<String> {
    let repair = finding.judgement.as_ref()?.repair.as_ref()?;
    let change = change(finding, &repair.prevention)?;
    let schedules = words::count(repair.schedules, "schedule", "schedules");
    Some(format!("{change}. Simulated in {schedules}: none failed, and none deadlocked"))
}

/// What makes the program fail.
fn sentence(finding: &Finding, prevention: &Prevention) -> Option<String> {
    match prevention {
        Prevention::Between { first, last, remote } if first.act == Act::Acquire => {
            let remote = remote.first().map(|site| place(finding, &site.site)).unwrap_or_default();
            let (from, to) = (place(finding, &first.site), place_after(finding, &last.site, &first.site));
            Some(format!(
                "the lock acquired at {from} is released before it is acquired again at {to}, but another thread can acquire it in between, \
                 at {remote}"
            ))
        }
        Prevention::Between { first, last, remote } => {
            let (from, to) = (place(finding, &first.site), place_after(finding, &last.site, &first.site));
            let (is_checked, is_updated) =
                (participle(finding, first, true), participle(finding, last, false));
            let verb = match remote.first().map(|site| site.act) {
                Some(Act::Read) => "read",
                Some(Act::Acquire) => "acquire a lock",
                _ => "update",
            };
            let twice = if remote.len() > 1 { " twice" } else { "" };
            if first.site == last.site && called(finding, first).is_none() {
                return Some(format!(
                    "`{}` is read and {is_updated} at {from}, in two steps, but another thread can {verb} it{twice} in between{}",
                    name(first),
                    elsewhere(finding, &[first, last], remote)
                ));
            }
            Some(format!(
                "`{}` is {is_checked} at {from} and {is_updated} at {to}, but another thread can {verb} it{twice} in between{}",
                name(first),
                elsewhere(finding, &[first, last], remote)
            ))
        }
        Prevention::Early { early, expected } => {
            let (soon, late) =
                (place(finding, &early.site), place_after(finding, &expected.site, &early.site));
            if early.act == Act::Acquire || expected.act == Act::Acquire {
                return Some(format!("{soon} can be reached before {late}, although it relies on it"));
            }
            let (is_early, is_late) = (done(early.act), done(expected.act));
            Some(format!("`{}` can be {is_early} at {soon} before it is {is_late} at {late}", name(early)))
        }
        Prevention::Overtaken { wait } => Some(format!(
            "a thread that waits at {} goes on when it is notified, but another thread can enter the monitor first and change what it \
             waited for",
            place(finding, wait)
        )),
        Prevention::Cycle { .. } | Prevention::SingleNotify | Prevention::LostNotify => None,
    }
}

/// The change that a repair is.
fn change(finding: &Finding, prevention: &Prevention) -> Option<String> {
    match prevention {
        Prevention::Between { first, last, remote } => {
            let (from, to) = (place(finding, &first.site), line(&last.site).unwrap_or_default());
            if first.act == Act::Acquire {
                let lock = finding.sites.iter().flat_map(|site| &site.locks).next();
                let lock =
                    lock.map_or_else(|| "the lock".to_owned(), |lock| format!("the lock of {}", lock.name));
                let (from, to) = common_caller(finding, first, last).unwrap_or((from, format!("line {to}")));
                return Some(format!("hold {lock} from {from} to {to}, without releasing it in between"));
            }
            let is_in_file = prevention.is_in_one_method();
            let until = if is_in_file { format!("line {to}") } else { place(finding, &last.site) };
            let others: Vec<String> = remote
                .iter()
                .filter(|site| site.site != last.site && !is_inside(site, first, last))
                .map(|site| place_after(finding, &site.site, &first.site))
                .collect();
            let others = match others.as_slice() {
                [] => String::new(),
                others => format!(", and also at {}", words::list(others)),
            };
            let lock = match from.rsplit_once(':') {
                Some((_, line)) if is_in_file && line == to => format!("hold one lock at {from}{others}"),
                _ => format!("hold one lock from {from} to {until}{others}"),
            };
            Some(match one_operation(finding, first, last) {
                Some(operation) => format!("use one atomic operation (`{operation}`) instead, or {lock}"),
                None => lock,
            })
        }
        Prevention::Early { early, expected } => Some(format!(
            "let {} wait until {} has happened, with a latch, a join or a later start of the thread",
            place(finding, &early.site),
            place_after(finding, &expected.site, &early.site)
        )),
        Prevention::Cycle { outer, inner } => {
            let places: Vec<String> = outer.iter().chain(inner).map(|site| place(finding, site)).collect();
            let mut places = places;
            places.sort();
            places.dedup();
            Some(format!(
                "acquire the locks in the same order everywhere (they are acquired at {})",
                words::list(&places)
            ))
        }
        Prevention::Overtaken { wait } => {
            Some(format!("check the condition again after the wait at {}, in a loop", place(finding, wait)))
        }
        Prevention::SingleNotify => Some(format!("call notifyAll instead of notify{}", notified(finding))),
        Prevention::LostNotify => Some(format!(
            "wait in a loop that checks a condition, which the notifying thread sets under the same lock{}",
            notified(finding)
        )),
    }
}

/// The lines of the method that calls both acquires, if they are in different methods and the stacks are known.
fn common_caller(finding: &Finding, first: &GoalSite, last: &GoalSite) -> Option<(String, String)> {
    if method(&first.site) == method(&last.site) {
        return None;
    }
    let stack = |site: &GoalSite| {
        let known = finding.sites.iter().find(|known| {
            known.stack.len() > 1 && known.stack.first().is_some_and(|frame| is_at(frame, &site.site))
        });
        known.map(|known| known.stack.as_slice())
    };
    let (begins, ends) = (stack(first)?, stack(last)?);
    begins.iter().find_map(|from| {
        let to = ends.iter().find(|to| to.class == from.class && to.method == from.method)?;
        let (begin, end) = (place_of(from, &from.method), format!("line {}", to.line?));
        Some((begin, end)).filter(|_| from.line.is_some())
    })
}

/// The sites of notifications in the explanation.
fn notified(finding: &Finding) -> String {
    let steps = finding.interleaving.iter().flat_map(|interleaving| &interleaving.steps);
    let mut places: Vec<String> = steps
        .filter(|step| step.action == Action::Notify)
        .filter_map(|step| step.at.as_ref())
        .map(|frame| place_of(frame, &format!("{}.{}", frame.class, frame.method)))
        .collect();
    places.sort();
    places.dedup();
    if places.is_empty() { String::new() } else { format!(", at {}", words::list(&places)) }
}

/// One operation that does what two calls do.
fn one_operation(finding: &Finding, first: &GoalSite, last: &GoalSite) -> Option<&'static str> {
    let (reads, writes) = (called(finding, first)?, called(finding, last)?);
    let fits = |(before, after, _): &&(&[&str], &[&str], &str)| {
        before.contains(&reads.as_str()) && after.contains(&writes.as_str())
    };
    ONE_OPERATION.iter().find(fits).map(|(.., operation)| *operation)
}

/// The method that is called at a site, if the explanation shows it.
fn called(finding: &Finding, site: &GoalSite) -> Option<String> {
    let action = if site.act == Act::Write { Action::Write } else { Action::Read };
    let mut steps = finding.interleaving.iter().flat_map(|interleaving| &interleaving.steps);
    let step = steps.find(|step| {
        step.action == action
            && step.called.is_some()
            && step.at.as_ref().is_some_and(|frame| is_at(frame, &site.site))
    });
    step.and_then(|step| step.called.clone())
}

/// The remote accesses at other sites than the local ones.
fn elsewhere(finding: &Finding, local: &[&GoalSite], remote: &[GoalSite]) -> String {
    let others: Vec<String> = remote
        .iter()
        .filter(|site| local.iter().all(|local| local.site != site.site))
        .map(|site| place_after(finding, &site.site, &local[0].site))
        .collect();
    if others.is_empty() { String::new() } else { format!(", at {}", words::list(&others)) }
}

/// Whether a remote access is in the part of the code between the local ones.
fn is_inside(remote: &GoalSite, first: &GoalSite, last: &GoalSite) -> bool {
    let (own, from, to) = (line(&remote.site), line(&first.site), line(&last.site));
    let number = |line: Option<&str>| line.and_then(|line| line.parse::<u32>().ok()).unwrap_or_default();
    let lines = number(from).min(number(to))..=number(from).max(number(to));
    method(&remote.site) == method(&first.site)
        && method(&first.site) == method(&last.site)
        && lines.contains(&number(own))
}

fn name(site: &GoalSite) -> &str {
    if site.name.is_empty() { "a shared variable" } else { &site.name }
}

/// The verb for an access that comes in a certain order.
fn done(act: Act) -> &'static str {
    match act {
        Act::Read => "read",
        Act::Write => "updated",
        Act::Acquire => "locked",
    }
}

/// The verb for an access; a call is named.
fn participle(finding: &Finding, site: &GoalSite, is_first: bool) -> String {
    let verb = match (site.act, is_first) {
        (Act::Read, true) => "checked",
        (Act::Read, false) => "used",
        (Act::Write, _) => "updated",
        (Act::Acquire, _) => "locked",
    };
    match called(finding, site) {
        Some(called) => format!("{verb} (`{}.{called}`)", name(site)),
        None => verb.to_owned(),
    }
}

/// A site of a goal as users know it: `RateLimiter.java:10`.
fn place(finding: &Finding, site: &str) -> String {
    let consequence = finding.consequence.iter().flat_map(|consequence| &consequence.stack);
    let steps = finding.interleaving.iter().flat_map(|interleaving| &interleaving.steps);
    let frames = finding.sites.iter().flat_map(|site| &site.stack).chain(consequence);
    let mut frames = frames.chain(steps.filter_map(|step| step.at.as_ref()));
    let class = method(site).rsplit_once('.').map_or(site, |(class, _)| class);
    match frames.find(|frame| frame.class == class && frame.file.is_some()) {
        Some(frame) => {
            place_of(&Frame { line: line(site).and_then(|line| line.parse().ok()), ..frame.clone() }, site)
        }
        None => site.to_owned(),
    }
}

/// The same after another site was named: only the line, if the file is the same.
fn place_after(finding: &Finding, site: &str, before: &str) -> String {
    let (here, there) = (place(finding, site), place(finding, before));
    match (here.rsplit_once(':'), there.rsplit_once(':')) {
        (Some((file, line)), Some((known, _))) if file == known => format!(":{line}"),
        _ => here,
    }
}

fn place_of(frame: &Frame, otherwise: &str) -> String {
    match (&frame.file, frame.line) {
        (Some(file), Some(line)) => format!("{file}:{line}"),
        _ => otherwise.to_owned(),
    }
}

fn is_at(frame: &Frame, site: &str) -> bool {
    match frame.line {
        Some(line) => site == format!("{}.{}:{line}", frame.class, frame.method),
        None => site == format!("{}.{}", frame.class, frame.method),
    }
}

fn method(site: &str) -> &str {
    site.rsplit_once(':').map_or(site, |(method, _)| method)
}

fn line(site: &str) -> Option<&str> {
    site.rsplit_once(':').map(|(_, line)| line)
}

#[cfg(test)]
mod tests {
    use fissure_model::finding::{Judgement, Kind, ProvedCause, Repair, Site, Status};

    use super::*;

    fn site(line: u32, act: Act) -> GoalSite {
        GoalSite { site: format!("com.acme.Limiter.acquire:{line}"), act, name: "used".to_owned() }
    }

    fn finding(preventions: &[Prevention], forced: Option<Trials>) -> Finding {
        let frame = Frame {
            class: "com.acme.Limiter".to_owned(),
            method: "acquire".to_owned(),
            file: Some("Limiter.java".to_owned()),
            line: Some(10),
        };
        let prevented = Trials { fails: 0, runs: 200 };
        let cause =
            |prevention: &Prevention| ProvedCause { prevention: prevention.clone(), forced, prevented };
        let repair = match preventions {
            [only] => Some(Repair { prevention: only.clone(), schedules: 200 }),
            _ => None,
        };
        let site = Site {
            role: "failed".to_owned(),
            thread: "main".to_owned(),
            class: frame.class.clone(),
            method: frame.method.clone(),
            file: frame.file.clone(),
            line: frame.line,
            stack: vec![frame],
            locks: Vec::new(),
        };
        Finding {
            judgement: Some(Judgement { causes: preventions.iter().map(cause).collect(), repair }),
            sites: vec![site],
            ..Finding::new(Kind::Failure, Status::Bug, "atomfuzzer", "com.acme.Limiter.acquire")
        }
    }

    fn check(prevention: Prevention, headline: Option<&str>, repair: &str) {
        let finding = finding(&[prevention], None);
        assert_eq!(super::headline(&finding).as_deref(), headline);
        let suffix = ". Simulated in 200 schedules: none failed, and none deadlocked";
        assert_eq!(super::repair(&finding).unwrap(), format!("{repair}{suffix}"));
    }

    #[test]
    fn causes_and_repairs_are_told_in_the_programs_own_terms() {
        let between = |first, last, remote| Prevention::Between { first, last, remote: vec![remote] };
        check(
            between(site(10, Act::Read), site(11, Act::Write), site(11, Act::Write)),
            Some(
                "`used` is checked at Limiter.java:10 and updated at :11, but another thread can update it in between",
            ),
            "hold one lock from Limiter.java:10 to line 11",
        );
        check(
            between(site(10, Act::Read), site(10, Act::Write), site(20, Act::Write)),
            Some(
                "`used` is read and updated at Limiter.java:10, in two steps, but another thread can update it in between, at :20",
            ),
            "hold one lock at Limiter.java:10, and also at :20",
        );
        check(
            Prevention::Early { early: site(10, Act::Read), expected: site(30, Act::Write) },
            Some("`used` can be read at Limiter.java:10 before it is updated at :30"),
            "let Limiter.java:10 wait until :30 has happened, with a latch, a join or a later start of the thread",
        );
        let sites = |line: u32| vec![format!("com.acme.Limiter.acquire:{line}")];
        check(
            Prevention::Cycle { outer: sites(10), inner: sites(12) },
            None,
            "acquire the locks in the same order everywhere (they are acquired at Limiter.java:10 and Limiter.java:12)",
        );
        check(
            Prevention::Overtaken { wait: "com.acme.Limiter.acquire:14".to_owned() },
            Some(
                "a thread that waits at Limiter.java:14 goes on when it is notified, but another thread can enter the monitor first and \
                 change what it waited for",
            ),
            "check the condition again after the wait at Limiter.java:14, in a loop",
        );
        check(Prevention::SingleNotify, None, "call notifyAll instead of notify");
        check(
            Prevention::LostNotify,
            None,
            "wait in a loop that checks a condition, which the notifying thread sets under the same lock",
        );
    }

    #[test]
    fn the_proof_gives_both_counts() {
        let forced = Some(Trials { fails: 60, runs: 60 });
        let cause = Prevention::Early { early: site(10, Act::Read), expected: site(30, Act::Write) };
        let proof = |causes: &[Prevention]| super::proof(&finding(causes, forced)).unwrap();
        assert_eq!(
            proof(std::slice::from_ref(&cause)),
            "proved; forced: fails in 60 of 60; prevented: fails in 0 of 200"
        );
        assert_eq!(
            proof(&[cause.clone(), cause]),
            "proved; (a) alone forced: fails in 60 of 60; (b) alone forced: fails in 60 of 60; both prevented: fails in 0 of 200"
        );
        assert!(proof(&[]).starts_with("not established"));
    }
}
