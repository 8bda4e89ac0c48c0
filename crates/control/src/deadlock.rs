//! Runs in which no thread can go on, as findings.

use fissure_model::{
    finding::{Finding, HeldLock, Kind, Status, fingerprint},
    ids::{SiteId, ThreadId},
};
use fissure_schedule::stuck::{Stuck, WaitsFor};

use crate::{
    ControlledRun,
    front_end::{FrontEnd, finding_site, frame},
};

impl ControlledRun {
    /// The threads that cannot go on, as a finding.
    pub(crate) fn deadlock(&self, front: &dyn FrontEnd, stuck: &Stuck) -> Finding {
        let is_involved = |thread: ThreadId| stuck.circle.is_empty() || stuck.circle.contains(&thread);
        let mut sites = Vec::new();
        for waiting in stuck.threads.iter().filter(|waiting| is_involved(waiting.thread)) {
            let (role, wanted) = match waiting.waits_for {
                WaitsFor::Lock(lock) => ("waits for lock", self.locks.name(lock)),
                WaitsFor::Notification(lock) => ("waits to be notified", self.locks.name(lock)),
                WaitsFor::Event => ("waits for input", None),
                WaitsFor::Permit | WaitsFor::Turn => ("waits", None),
            };
            // Only threads of the program can read stacks. A cycle is found by one, a hang is not.
            let stack = if stuck.circle.is_empty() { None } else { front.stack_of(waiting.thread) }
                .unwrap_or_default();
            let own = waiting.site.unwrap_or(SiteId(0));
            // A thread that waits for a lock of a library waits inside of the library; its attempt has the program's site.
            let is_inside = front.implements_locks(&frame(front, own).class);
            let parked = self.park_site(waiting.thread).filter(|_| waiting.waits_for == WaitsFor::Permit);
            let attempted = || self.attempt_site(waiting.thread).filter(|_| is_inside);
            let site = parked.or_else(attempted).unwrap_or(own);
            let mut site = finding_site(front, role, self.conductor.name(waiting.thread), site, stack, None);
            let held = waiting.holds.iter().filter_map(|lock| self.locks.name(*lock));
            site.locks = held.map(|name| HeldLock { name, shared: false }).collect();
            if let Some(wanted) = wanted {
                site.role = format!("{role} {wanted}");
            }
            sites.push(site);
        }
        let mut methods: Vec<String> =
            sites.iter().map(|site| format!("{}.{}", site.class, site.method)).collect();
        methods.sort();
        let subject = methods.first().expect("a deadlock has threads that cannot go on").clone();
        let mut parts = vec!["deadlock"];
        parts.extend(methods.iter().map(String::as_str));
        Finding {
            id: fingerprint(&parts),
            sites,
            ..Finding::new(Kind::Deadlock, Status::Confirmed, "conductor", &subject)
        }
    }
}
