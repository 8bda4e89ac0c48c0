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

/// One line for each turn of a thread: what it does, and where it is preempted. Threads are numbered from 1.
pub fn in_words(steps: &[Step], harness: &Harness, alphabet: &Alphabet) -> Vec<String> {
    let operations = harness.operations();
    let names: Vec<String> = operations.iter().map(|&one| alphabet.invocation(one).to_string()).collect();
    turns(steps, &names, harness.sequences.len())
}

/// The threads from this number on were started during a call.
fn turns(steps: &[Step], names: &[String], sequences: usize) -> Vec<String> {
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
        let called: Vec<&str> =
            calls.iter().filter_map(|&call| names.get(call)).map(String::as_str).collect();
        let called = called.join("; ");
        let begin = if goes_on { "goes on with " } else { "" };
        let stop = match next {
            Some(next) if next.call == turn[turn.len() - 1].call => {
                format!(", until it is about to {}", about(next))
            }
            _ => String::new(),
        };
        let number = sequence + 1;
        lines.push(match sequence < sequences {
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

/// The operation that a thread is about to execute, in words.
fn about(step: &Step) -> String {
    let site = step.site.rsplit_once('.').map_or(step.site.as_str(), |(class, method)| {
        let start = class.rfind('.').map_or(0, |dot| dot + 1);
        &step.site[start..start + (class.len() - start) + 1 + method.len()]
    });
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
        assert_eq!(turns(&parsed, &names, 2), expected, "{steps}");
    }

    #[test]
    fn turns_show_where_threads_are_preempted() {
        check("", &[]);
        check(
            "0\t0\tread\ta.Map.put:1\ttable\n0\t0\twrite\ta.Map.put:2\tsize\n1\t2\tread\ta.Map.size:9\tsize\n",
            &["thread 1: put(0,0)", "thread 2: size()"],
        );
        check(
            "0\t0\tread\ta.Map.put:1\ttable\n1\t1\tread\ta.Map.get:5\t\n1\t2\tread\ta.Map.size:9\tsize\n\
             0\t0\twrite\ta.Map.put:2\tsize\n",
            &[
                "thread 1: put(0,0), until it is about to write size (Map.put:2)",
                "thread 2: get(0); size()",
                "thread 1: goes on with put(0,0)",
            ],
        );
        check(
            "0\t0\tread\tM.put:1\ttable\n1\t1\tread\tM.get:5\tx\n0\t0\twrite\tM.put:2\tVarHandle.compareAndSet\n",
            &[
                "thread 1: put(0,0), until it is about to call VarHandle.compareAndSet (M.put:2)",
                "thread 2: get(0)",
                "thread 1: goes on with put(0,0)",
            ],
        );
    }
}
