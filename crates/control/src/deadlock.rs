//! Runs in which no thread can go on, as findings.
//!
//! A lock cycle is reported with the acquires that led into it. Otherwise threads wait for a notification, a permit or input that no thread is
//! left to give; the finding is about these threads, and not about those that only wait for their end.

use fissure_model::{
    finding::{Finding, HeldLock, Kind, Site, Status, fingerprint},
    ids::{LockId, SiteId, ThreadId},
    interleaving::{Action, Interleaving, Step},
};
use fissure_schedule::{
    stuck::{Stuck, StuckThread, WaitsFor},
    trace::TraceStep,
};

use crate::{
    ControlledRun,
    front_end::{FrontEnd, finding_site, frame},
};

impl ControlledRun {
    /// The threads that cannot go on, as a finding.
    pub(crate) fn deadlock(&self, front: &dyn FrontEnd, stuck: &Stuck) -> Finding {
        let involved = self.involved(stuck);
        let waits: Vec<Site> = involved.iter().map(|waiting| self.waits(front, stuck, waiting)).collect();
        let mut methods: Vec<String> =
            waits.iter().map(|site| format!("{}.{}", site.class, site.method)).collect();
        methods.sort();
        let subject = methods.first().expect("a deadlock has threads that cannot go on").clone();
        // One bug may leave any number of threads in the same method.
        methods.dedup();
        let mut parts = vec!["deadlock"];
        parts.extend(methods.iter().map(String::as_str));
        let (held, interleaving) = self.way_into(front, stuck, &involved, &waits);
        let reason = involved.iter().find_map(|waiting| self.missed_notification(front, stuck, waiting));
        Finding {
            id: fingerprint(&parts),
            sites: held.into_iter().chain(waits).collect(),
            reason: reason.filter(|_| stuck.circle.is_empty()),
            interleaving: Some(interleaving),
            ..Finding::new(Kind::Deadlock, Status::Confirmed, "conductor", &subject)
        }
    }

    /// The threads that the finding is about: those of the cycle, or those that wait for more than the end of another stuck thread.
    fn involved<'a>(&self, stuck: &'a Stuck) -> Vec<&'a StuckThread> {
        if !stuck.circle.is_empty() {
            return stuck.threads.iter().filter(|waiting| stuck.circle.contains(&waiting.thread)).collect();
        }
        let joins = |waiting: &&StuckThread| match waiting.waits_for {
            WaitsFor::Notification(lock) => self.is_joined(lock),
            WaitsFor::Turn => true,
            WaitsFor::Lock(_) | WaitsFor::Permit | WaitsFor::Event => false,
        };
        let involved: Vec<&StuckThread> = stuck.threads.iter().filter(|waiting| !joins(waiting)).collect();
        if involved.is_empty() { stuck.threads.iter().collect() } else { involved }
    }

    /// Where a thread waits, and for what.
    fn waits(&self, front: &dyn FrontEnd, stuck: &Stuck, waiting: &StuckThread) -> Site {
        let (role, wanted) = match waiting.waits_for {
            WaitsFor::Lock(lock) => ("waits for lock", self.locks.name(lock)),
            WaitsFor::Notification(lock) => ("waits to be notified", self.locks.name(lock)),
            WaitsFor::Event => ("waits for input", None),
            WaitsFor::Permit | WaitsFor::Turn => ("waits", None),
        };
        // Only threads of the program can read stacks. A cycle is found by one, a hang is not.
        let stack = if stuck.circle.is_empty() { None } else { front.stack_of(waiting.thread) };
        let site = self.waiting_site(front, waiting);
        let name = self.conductor.name(waiting.thread);
        let mut site = finding_site(front, role, name, site, stack.unwrap_or_default(), None);
        let held = waiting.holds.iter().filter_map(|lock| self.locks.name(*lock));
        site.locks = held.map(|name| HeldLock { name, shared: false }).collect();
        if let Some(wanted) = wanted {
            site.role = format!("{role} {wanted}");
        }
        site
    }

    fn waiting_site(&self, front: &dyn FrontEnd, waiting: &StuckThread) -> SiteId {
        let own = waiting.site.unwrap_or(SiteId(0));
        // A thread that waits for a lock of a library waits inside of the library; its attempt has the program's site.
        let is_inside = front.implements_locks(&frame(front, own).class);
        let parked = self.park_site(waiting.thread).filter(|_| waiting.waits_for == WaitsFor::Permit);
        let attempted = || self.attempt_site(waiting.thread).filter(|_| is_inside);
        parked.or_else(attempted).unwrap_or(own)
    }

    /// The steps that led into a deadlock, and where the locks of a cycle were acquired.
    fn way_into(
        &self,
        front: &dyn FrontEnd,
        stuck: &Stuck,
        involved: &[&StuckThread],
        waits: &[Site],
    ) -> (Vec<Site>, Interleaving) {
        let mut held = Vec::new();
        let wanted: Vec<LockId> = involved
            .iter()
            .filter_map(|waiting| match waiting.waits_for {
                WaitsFor::Lock(lock) if stuck.circle.contains(&waiting.thread) => Some(lock),
                _ => None,
            })
            .collect();
        let holds = |step: &TraceStep| {
            let holds = |waiting: &&StuckThread| {
                waiting.thread == step.thread && step.lock.is_some_and(|lock| waiting.holds.contains(&lock))
            };
            step.action == Action::Acquire && involved.iter().any(holds)
        };
        let mut steps = self.last_steps(front, |_, step| holds(step));
        for (index, number) in steps.numbers.iter().enumerate() {
            let Some((_, step)) = self.conductor.trace().range(*number, *number).next() else { continue };
            let (Action::Acquire, Some(lock), Some(site)) = (step.action, step.lock, step.site) else {
                continue;
            };
            let is_last = |later: &u64| {
                let mut later = self.conductor.trace().range(*later, *later);
                !later.any(|(_, other)| {
                    (other.thread, other.action, other.lock) == (step.thread, Action::Acquire, step.lock)
                })
            };
            if holds(&step) && wanted.contains(&lock) && steps.numbers[index + 1..].iter().all(is_last) {
                let role = format!("holds lock {}", self.locks.name(lock).unwrap_or_default());
                let name = self.conductor.name(step.thread);
                steps.interleaving.steps[index].role = Some(role.clone());
                held.push(finding_site(front, &role, name, site, Vec::new(), None));
            }
        }
        for (waiting, site) in involved.iter().zip(waits) {
            let index = steps.threads.iter().position(|thread| *thread == waiting.thread);
            let thread = index.unwrap_or_else(|| {
                steps.threads.push(waiting.thread);
                steps.interleaving.threads.push(self.conductor.name(waiting.thread).to_owned());
                steps.threads.len() - 1
            });
            steps.interleaving.steps.push(Step {
                thread,
                action: Action::Other,
                object: site.role.clone(),
                called: None,
                at: Some(frame(front, self.waiting_site(front, waiting))),
                role: Some(site.role.clone()),
                folded: 0,
            });
        }
        (held, steps.interleaving)
    }

    /// Why a thread waits to be notified for ever, in a sentence.
    fn missed_notification(
        &self,
        front: &dyn FrontEnd,
        stuck: &Stuck,
        waiting: &StuckThread,
    ) -> Option<String> {
        let WaitsFor::Notification(lock) = waiting.waits_for else { return None };
        let name = self.conductor.name(waiting.thread);
        let at = place(front, waiting.site?);
        let begins = format!("{name} waits at {at} to be notified");
        let Some(notification) = self.conductor.last_notification(lock) else {
            return Some(format!("{begins}, and no thread ever notified it"));
        };
        let given = place(front, notification.site);
        let receiver = |thread: &ThreadId| stuck.threads.iter().find(|other| other.thread == *thread);
        Some(match (notification.woken.as_slice(), notification.woken.iter().find_map(receiver)) {
            ([], _) => {
                format!("{begins}; the notification at {given} came when no thread waited, and was lost")
            }
            (_, Some(other)) if other.thread != waiting.thread => format!(
                "{begins}; no thread is left to do it. The notification at {given} was given to {}, which waits for something else at {}",
                self.conductor.name(other.thread),
                place(front, self.waiting_site(front, other)),
            ),
            ([woken], None) => format!(
                "{begins}; no thread is left to do it. The notification at {given} was given to {}",
                self.conductor.name(*woken),
            ),
            _ => format!("{begins} again, after the notification at {given}; no thread is left to do it"),
        })
    }
}

/// A site as users know it: `Mailbox.java:9`.
fn place(front: &dyn FrontEnd, site: SiteId) -> String {
    let frame = frame(front, site);
    match (&frame.file, frame.line) {
        (Some(file), Some(line)) => format!("{file}:{line}"),
        _ => crate::flags::site_text(&frame.class, &frame.method, frame.line),
    }
}
