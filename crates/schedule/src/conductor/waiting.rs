//! Waits in monitors, permits, interrupts and spinning.

use fissure_model::{
    ids::{LockId, SiteId, ThreadId},
    interleaving::Action,
};

use super::{Conductor, SPINS, State};
use crate::{
    monitor::Notification,
    operation::{Nanos, Operation, Wake},
};

impl Conductor {
    /// The next operation of a thread is to wait for work, as idle workers of a pool do. Time does not advance to its time-out while other
    /// threads can run, because the time-out would only end the thread.
    pub fn idles(&mut self, thread: ThreadId) {
        self.thread(thread).is_idle = true;
    }

    /// Why a thread's wait ended; `None` if the thread did not wait, or waits still.
    pub fn take_wake(&mut self, thread: ThreadId) -> Option<Wake> {
        self.thread(thread).wake.take()
    }

    /// A thread reads a shared location, or yields. Returns whether it must let other threads go first now, because it spins.
    pub fn spins(&mut self, thread: ThreadId, site: SiteId) -> bool {
        let spin = &mut self.thread(thread).spin;
        if spin.0 == Some(site) {
            spin.1 += 1;
        } else {
            *spin = (Some(site), 1);
        }
        if spin.1 < SPINS {
            return false;
        }
        spin.1 = 0;
        true
    }

    /// A thread releases its monitor and waits in it. Returns the operation that it must stop before.
    pub fn wait(&mut self, thread: ThreadId, lock: LockId, until: Option<Nanos>, site: SiteId) -> Operation {
        self.pattern.wait(thread, lock);
        let count = self.lock(lock).leave_all(thread);
        self.observe(|observer| observer.unlocked_all(thread, lock));
        self.split_units(thread);
        if count > 0 {
            self.record_release(thread, lock);
        }
        if std::mem::take(&mut self.lock(lock).has_notification) {
            self.thread(thread).wake.get_or_insert(Wake::Called);
        } else {
            self.lock(lock).waiters.push(thread);
        }
        self.log(thread, Action::Wait, Some(lock), None, Some(site));
        Operation::Resume { lock, count, until, site }
    }

    /// Wakes one or all threads that wait in a monitor; returns whether there was any. The notifying thread may be uncontrolled.
    pub fn notify(&mut self, thread: Option<ThreadId>, lock: LockId, all: bool, site: SiteId) -> bool {
        let waiters = std::mem::take(&mut self.lock(lock).waiters);
        if let Some(thread) = thread {
            self.log(thread, Action::Notify, Some(lock), None, Some(site));
        }
        let woken = match waiters.len() {
            0 => {
                self.lock(lock).notified = Some(Notification { site, woken: Vec::new() });
                self.lock(lock).has_notification = self.preventions.remembers_notifications;
                return false;
            }
            _ if all || self.preventions.notifies_all => waiters.clone(),
            1 => waiters.clone(),
            _ => {
                let index = self.strategy.notify(&waiters, &mut self.random);
                assert!(index < waiters.len(), "the strategy wakes waiter {index} of {}", waiters.len());
                self.recording.push(waiters[index]);
                self.choices += 1;
                vec![waiters[index]]
            }
        };
        self.lock(lock).notified = Some(Notification { site, woken: woken.clone() });
        self.lock(lock).waiters = waiters.into_iter().filter(|waiter| !woken.contains(waiter)).collect();
        for waiter in woken {
            self.thread(waiter).wake.get_or_insert(Wake::Called);
            if let Some(thread) = thread {
                self.observe(|observer| observer.woke(thread, waiter));
            }
        }
        true
    }

    /// Gives a thread its permit.
    pub fn unpark(&mut self, thread: Option<ThreadId>, parked: ThreadId) {
        self.thread(parked).permit = true;
        if let Some(thread) = thread {
            self.log(thread, Action::Unpark, None, Some(parked), None);
            self.observe(|observer| observer.permitted(thread, parked));
        }
    }

    /// A thread is interrupted: its wait, sleep or park ends.
    pub fn interrupt(&mut self, thread: Option<ThreadId>, interrupted: ThreadId) {
        if let Some(thread) = thread {
            self.log(thread, Action::Interrupt, None, Some(interrupted), None);
        }
        if let State::Stopped(operation) = self.thread(interrupted).state {
            match operation {
                Operation::Resume { lock, .. } if self.thread(interrupted).wake.is_none() => {
                    self.lock(lock).waiters.retain(|waiter| *waiter != interrupted);
                    self.thread(interrupted).wake = Some(Wake::Interrupted);
                }
                Operation::Sleep { .. }
                | Operation::Park { .. }
                | Operation::External { is_interruptible: true, .. } => {
                    self.thread(interrupted).wake.get_or_insert(Wake::Interrupted);
                }
                _ => {}
            }
        }
    }
}
