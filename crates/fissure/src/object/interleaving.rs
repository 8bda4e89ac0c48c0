//! Describes the interleaving of a controlled execution: how far each thread runs, and where it is preempted.

use fissure_object::enumerate::{Alphabet, Harness};

/// A step as the agent records it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Step<'a> {
    actor: usize,
    /// The invocation, counted through all sequences.
    call: usize,
    what: &'a str,
    site: &'a str,
    target: &'a str,
}

/// One line for each turn of a thread: what it does, and where it is preempted. Threads are numbered from 1.
pub(crate) fn in_words(steps: &str, harness: &Harness, alphabet: &Alphabet) -> Vec<String> {
    let operations = harness.operations();
    let names: Vec<String> = operations.iter().map(|&one| alphabet.invocation(one).to_string()).collect();
    turns(&parse(steps), &names)
}

fn parse(text: &str) -> Vec<Step<'_>> {
    let step = |line| -> Option<Step<'_>> {
        let mut parts = str::split(line, '\t');
        let mut next = || parts.next();
        Some(Step {
            actor: next()?.parse().ok()?,
            call: next()?.parse().ok()?,
            what: next()?,
            site: next()?,
            target: next()?,
        })
    };
    text.lines().filter_map(step).collect()
}

fn turns(steps: &[Step<'_>], names: &[String]) -> Vec<String> {
    let mut lines = Vec::new();
    let mut start = 0;
    while start < steps.len() {
        let actor = steps[start].actor;
        let end =
            steps[start..].iter().position(|step| step.actor != actor).map_or(steps.len(), |at| start + at);
        let turn = &steps[start..end];
        let goes_on = steps[..start].iter().any(|step| step.actor == actor && step.call == turn[0].call);
        let next = steps[end..].iter().find(|step| step.actor == actor);
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
        lines.push(format!("thread {}: {begin}{called}{stop}", actor + 1));
        start = end;
    }
    lines
}

/// The operation that a thread is about to execute, in words.
fn about(step: &Step<'_>) -> String {
    let site = step.site.rsplit_once('.').map_or(step.site, |(class, method)| {
        let start = class.rfind('.').map_or(0, |dot| dot + 1);
        &step.site[start..start + (class.len() - start) + 1 + method.len()]
    });
    let what = match (step.what, step.target) {
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

    fn check(steps: &str, expected: &[&str]) {
        let names = ["put(0,0)", "get(0)", "size()"].map(str::to_owned);
        assert_eq!(turns(&parse(steps), &names), expected, "{steps}");
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
