//! Turns an execution of a block that is not atomic into a finding: three sites with their stacks, and the reason.

use fissure_analysis::reduction::{Action, Break, Execution, Operation};
use fissure_classfile::SiteKind;
use fissure_model::{
    finding::{Finding, Frame, Kind, Site, Status, fingerprint},
    record::Record,
};

use super::{Entered, RAN, Report};
use crate::{
    agent::Agent,
    mutex::locked,
    registry::Resolved,
    sites::{SiteInfo, Target},
    stacks,
};

/// Reports an execution that is not atomic, unless there is already a finding for this block and violating site.
pub(super) fn report(
    agent: &Agent,
    number: Option<u32>,
    execution: &Execution,
    entered: &Entered,
    broken: Break,
) {
    let (commit, violation) = (execution.actions[broken.commit], execution.actions[broken.violation]);
    let Some(block) = locked(&agent.code).sites.get(execution.block).cloned() else { return };
    let thread = locked(&agent.names).thread(entered.thread).to_owned();
    let mut entered_at = stacks::named(agent.tool, &entered.stack);
    if let Some(first) = entered_at.first_mut() {
        first.line = block.line;
    }
    let violated = site_of(agent, "violated", &thread, violation);
    let name = subject(&block);
    let line = violated.line.unwrap_or_default().to_string();
    let id =
        fingerprint(&["atomicity-violation", "atomizer", &name, &violated.class, &violated.method, &line]);
    {
        let mut blocks = locked(&agent.blocks);
        blocks.broken.insert(execution.block);
        blocks.ran.insert(execution.block);
        agent.flags.set_bits(execution.block as usize, RAN);
        if let Some(known) = blocks.reports.get_mut(&id) {
            match number {
                Some(number) => known.executions.push(number),
                None => known.others += 1,
            }
            return;
        }
    }
    let finding = Finding {
        id: id.clone(),
        object: Some(object(agent, violation)),
        reason: Some(reason(agent, commit, violation)),
        sites: vec![
            site_at("entered", &thread, &block, entered_at),
            site_of(agent, "committed", &thread, commit),
            violated,
        ],
        ..Finding::new(Kind::AtomicityViolation, Status::Warning, "atomizer", &name)
    };
    agent.output.write(&Record::Finding(Box::new(finding.clone())));
    let report = Report { finding, executions: Vec::from_iter(number), others: u64::from(number.is_none()) };
    locked(&agent.blocks).reports.insert(id, report);
    agent.write_coverage();
}

/// `com.acme.Account.transfer` for a whole method, `com.acme.Account.transfer:12` for a block in it.
fn subject(block: &SiteInfo) -> String {
    match (block.kind, block.line) {
        (SiteKind::Enter, Some(line)) => format!("{}.{}:{line}", block.class, block.method),
        _ => format!("{}.{}", block.class, block.method),
    }
}

/// The site of an action with its sampled stack, cut so that it begins at the method of the site.
fn site_of(agent: &Agent, role: &str, thread: &str, action: Action) -> Site {
    let stack = locked(&agent.blocks).stacks.get(&action.note).cloned().unwrap_or_default();
    let mut frames = stacks::named(agent.tool, &stack);
    let info = locked(&agent.code).sites.get(action.site).cloned();
    match info {
        Some(info) => {
            let is_own = |frame: &Frame| *frame.class == *info.class && *frame.method == *info.method;
            if let Some(at) = frames.iter().position(is_own) {
                frames.drain(..at);
            }
            // A lock is released at another line of the method that acquired it; the sampled stack has that line.
            let is_elsewhere = matches!(
                action.operation,
                Operation::Release(_) | Operation::ReleaseAgain(_) | Operation::Wait(_)
            );
            let line = match frames.first() {
                Some(first) if is_elsewhere && is_own(first) => first.line,
                _ => info.line,
            };
            site_at(role, thread, &SiteInfo { line, ..info }, frames)
        }
        None => {
            if let Some(at) = frames.iter().position(|frame| agent.scope.covers(&frame.class)) {
                frames.drain(..at);
            }
            let unknown = Frame { class: "?".to_owned(), method: "?".to_owned(), file: None, line: None };
            let first = frames.first().cloned().unwrap_or(unknown);
            site(role, thread, first, frames)
        }
    }
}

fn site_at(role: &str, thread: &str, info: &SiteInfo, mut stack: Vec<Frame>) -> Site {
    let own = Frame {
        class: info.class.to_string(),
        method: info.method.to_string(),
        file: info.file.as_deref().map(str::to_owned),
        line: info.line,
    };
    match stack.first_mut() {
        Some(first) if first.class == own.class && first.method == own.method => *first = own.clone(),
        _ => stack.insert(0, own.clone()),
    }
    site(role, thread, own, stack)
}

fn site(role: &str, thread: &str, at: Frame, stack: Vec<Frame>) -> Site {
    Site {
        role: role.to_owned(),
        thread: thread.to_owned(),
        class: at.class,
        method: at.method,
        file: at.file,
        line: at.line,
        stack,
        locks: Vec::new(),
    }
}

/// The name of the lock or location that an action uses.
fn object(agent: &Agent, action: Action) -> String {
    match action.operation {
        Operation::Acquire(lock)
        | Operation::Release(lock)
        | Operation::AcquireAgain(lock)
        | Operation::ReleaseAgain(lock)
        | Operation::Wait(lock) => {
            let used = locked(&agent.blocks).used.get(lock as usize).map(|&(lock, _)| lock as usize);
            let number = used.expect("the locks of an execution are numbered when they are used");
            locked(&agent.names).locks.get(number).cloned().unwrap_or_else(|| "a lock".to_owned())
        }
        Operation::Start | Operation::Join => "a thread".to_owned(),
        Operation::Access(_) => {
            let code = locked(&agent.code);
            match code.sites.get(action.site) {
                Some(SiteInfo { target: Target::Field { class, name, descriptor }, loader, .. }) => {
                    let in_scope = |class: &str| agent.scope.covers(&class.replace('/', "."));
                    let declaring = match code.registry.resolve(*loader, class, name, descriptor, in_scope) {
                        Resolved::Known(number, _) => &code.registry.class(number).name,
                        _ => &**class,
                    };
                    format!("{}.{name}", declaring.replace('/', "."))
                }
                Some(SiteInfo { target: Target::Method { class, .. }, .. }) => class.replace('/', "."),
                Some(SiteInfo { target: Target::Local(Some(name)), .. }) => format!("an element of {name}"),
                _ => "an array element".to_owned(),
            }
        }
    }
}

/// The reason why two actions cannot be in one atomic block.
fn reason(agent: &Agent, commit: Action, violation: Action) -> String {
    let (first, second) = (object(agent, commit), object(agent, violation));
    if let Operation::Wait(_) = violation.operation {
        return format!(
            "waiting releases {second} in the middle of the block, so that other threads can interleave"
        );
    }
    let committed = match commit.operation {
        Operation::Access(_) => {
            format!("{first} has been accessed, which other threads access concurrently under no common lock")
        }
        Operation::Start => "a thread has been started".to_owned(),
        _ => format!("{first} has been released"),
    };
    let broken = match violation.operation {
        Operation::Access(_) if first == second => {
            "a second access may see or leave a state that does not match the first".to_owned()
        }
        Operation::Access(_) => {
            format!("{second} is accessed, which other threads access concurrently under no common lock")
        }
        Operation::Join => "a thread is joined, whose actions may happen in between".to_owned(),
        _ if first == second => {
            "it is acquired again, and other threads can acquire it in between".to_owned()
        }
        _ => format!("{second} is acquired, and other threads may have changed what it protects in between"),
    };
    format!("after {committed}, {broken}")
}
