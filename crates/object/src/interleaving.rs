//! Describes the interleaving of a controlled execution: how far each thread runs, and where it is preempted.

use crate::enumerate::{Alphabet, Harness};

/// A step of an execution.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Step {
    /// The number of the sequence whose thread takes the step; threads that were started during a call have the numbers after those.
    pub sequence: usize,
    /// The invocation, counted through all sequences.
    pub call: usize,
    /// The operation, in a word: `read`, `write`, `acquire` …
    pub what: String,
    /// The site; empty if it is unknown.
    pub site: String,
    /// The field or method that the step uses; empty if it has no name.
    pub target: String,
}

/// The calls of an execution, as its description needs them.
#[derive(Debug, Clone, Copy)]
pub struct Calls<'a> {
    /// The class under test; steps in its code are told by their lines.
    pub class: &'a str,
    /// The results of all invocations.
    pub results: &'a [String],
}

/// One line for each turn of a thread: what it does, with results, and where it is preempted. Threads are numbered from 1.
pub fn in_words(steps: &[Step], harness: &Harness, alphabet: &Alphabet, calls: Calls<'_>) -> Vec<String> {
    let operations = harness.operations();
    let names: Vec<String> = operations.iter().map(|&one| alphabet.invocation(one).to_string()).collect();
    turns(steps, &names, harness.sequences.len(), calls)
}

/// The threads from this number on were started during a call.
fn turns(steps: &[Step], names: &[String], sequences: usize, all: Calls<'_>) -> Vec<String> {
    let mut lines = Vec::new();
    let mut start = 0;
    while start < steps.len() {
        let sequence = steps[start].sequence;
        let end = steps[start..]
            .iter()
            .position(|step| step.sequence != sequence)
            .map_or(steps.len(), |at| start + at);
        let turn = &steps[start..end];
        let goes_on =
            steps[..start].iter().any(|step| step.sequence == sequence && step.call == turn[0].call);
        let next = steps[end..].iter().find(|step| step.sequence == sequence);
        let mut calls: Vec<usize> = Vec::new();
        for step in turn {
            if calls.last() != Some(&step.call) {
                calls.push(step.call);
            }
        }
        // A call in which the thread has not taken a step yet belongs to its next turn.
        let last = turn[turn.len() - 1].call;
        let is_preempted = next.is_some_and(|next| next.call == last);
        let is_harness = sequence < sequences;
        let called = calls.iter().filter_map(|&call| {
            let name = names.get(call)?;
            let has_ended = is_harness && !(is_preempted && call == last);
            let result = all.results.get(call).filter(|result| has_ended && *result != "()");
            Some(result.map_or_else(|| name.clone(), |result| format!("{name} = {result}")))
        });
        let called = called.collect::<Vec<_>>().join("; ");
        let begin = if goes_on { "goes on with " } else { "" };
        let stop = match next.filter(|_| is_preempted) {
            Some(next) => {
                let reached = reached(turn, all.class);
                let reached = reached.filter(|_| !is_own(&next.site, all.class));
                let reached =
                    reached.map_or_else(String::new, |site| format!(", having reached {}", short(site)));
                format!(", until it is about to {}{reached}", about(next))
            }
            None => String::new(),
        };
        let number = sequence + 1;
        lines.push(match is_harness {
            true => format!("thread {number}: {begin}{called}{stop}"),
            false => {
                let verb = if goes_on { "goes on" } else { "runs" };
                format!("thread {number}, which {called} started, {verb}{stop}")
            }
        });
        start = end;
    }
    lines
}

/// Whether a site is in the class under test.
fn is_own(site: &str, class: &str) -> bool {
    site.strip_prefix(class).is_some_and(|rest| rest.starts_with(['.', '$']))
}

/// The last site of a turn in the class under test.
fn reached<'a>(turn: &'a [Step], class: &str) -> Option<&'a str> {
    turn.iter().rev().map(|step| step.site.as_str()).find(|site| is_own(site, class))
}

/// A site without the package of its class.
fn short(site: &str) -> &str {
    site.rsplit_once('.').map_or(site, |(class, _)| &site[class.rfind('.').map_or(0, |dot| dot + 1)..])
}

/// The operation that a thread is about to execute, in words.
fn about(step: &Step) -> String {
    let site = short(&step.site);
    let what = match (step.what.as_str(), step.target.as_str()) {
        ("read" | "write", "") => format!("{} an element", step.what),
        ("acquire", _) => "enter a monitor".to_owned(),
        (what, "") => what.to_owned(),
        (_, call) if call.starts_with("Unsafe.") || call.starts_with("VarHandle.") => format!("call {call}"),
        (what, target) => format!("{what} {target}"),
    };
    if site.is_empty() { "use a lock".to_owned() } else { format!("{what} ({site})") }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Steps are written `SEQUENCE CALL WHAT SITE TARGET`.
    fn check(steps: &str, expected: &[&str]) {
        let names = ["put(0,0)", "get(0)", "size()"].map(str::to_owned);
        let step = |line: &str| {
            let parts: Vec<&str> = line.split('\t').collect();
            let text = |part: usize| parts[part].to_owned();
            let (sequence, call) = (parts[0].parse().unwrap(), parts[1].parse().unwrap());
            Step { sequence, call, what: text(2), site: text(3), target: text(4) }
        };
        let parsed: Vec<Step> = steps.lines().map(step).collect();
        let results = ["null", "()", "1"].map(str::to_owned);
        let calls = Calls { class: "a.Map", results: &results };
        assert_eq!(turns(&parsed, &names, 2, calls), expected, "{steps}");
    }

    #[test]
    fn turns_show_where_threads_are_preempted() {
        check("", &[]);
        check(
            "0\t0\tread\ta.Map.put:1\ttable\n0\t0\twrite\ta.Map.put:2\tsize\n1\t2\tread\ta.Map.size:9\tsize\n",
            &["thread 1: put(0,0) = null", "thread 2: size() = 1"],
        );
        check(
            "0\t0\tread\ta.Map.put:1\ttable\n1\t1\tread\ta.Map.get:5\t\n1\t2\tread\ta.Map.size:9\tsize\n\
             0\t0\twrite\ta.Map.put:2\tsize\n",
            &[
                "thread 1: put(0,0), until it is about to write size (Map.put:2)",
                "thread 2: get(0); size() = 1",
                "thread 1: goes on with put(0,0) = null",
            ],
        );
        check(
            "0\t0\tread\ta.Map.put:1\ttable\n1\t1\tread\tM.get:5\tx\n0\t0\twrite\tM.put:2\tVarHandle.compareAndSet\n",
            &[
                "thread 1: put(0,0), until it is about to call VarHandle.compareAndSet (M.put:2), having reached Map.put:1",
                "thread 2: get(0)",
                "thread 1: goes on with put(0,0) = null",
            ],
        );
    }
}
