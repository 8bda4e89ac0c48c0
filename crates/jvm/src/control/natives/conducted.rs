//! The operations that block and wake threads.

use std::ffi::c_void;

use fissure_control::flags::{AGAIN, QUIET};
use fissure_model::{
    ids::{LockId, SiteId, ThreadId},
    record::VIRTUAL_THREADS,
};
use fissure_schedule::operation::{Operation, Wake};
use jvmti_bindings::sys::jni::{jint, jlong};

use super::{
    super::{Control, callers, idle},
    accesses, failures, input, is_quiet, locks, reads, schedule, take_wake, threads,
};
use crate::{
    agent::Agent,
    conducting::natives::{Call, Conducted, Native},
};

impl Conducted for Control {
    fn of(agent: &'static Agent) -> Option<&'static Self> {
        agent.control.as_ref()
    }

    fn thread(number: jlong) -> Option<ThreadId> {
        u32::try_from(number).ok()?.checked_sub(1).map(ThreadId)
    }

    #[inline]
    fn unwinds(&self) -> bool {
        Control::unwinds(self)
    }

    fn own_natives() -> Vec<Native> {
        vec![
            (c"newLock", c"(Ljava/lang/Object;)I", locks::new_lock as *mut c_void),
            (c"announce", c"(Ljava/lang/Thread;Ljava/lang/String;Z)J", threads::announce as *mut c_void),
            (c"arrive", c"(Ljava/lang/String;)J", threads::arrive as *mut c_void),
            (c"isOver", c"()Z", threads::is_over as *mut c_void),
            (c"hashInternal", c"(Ljava/lang/Object;)V", threads::hash_internal as *mut c_void),
            (c"flagsPlace", c"()J", threads::flags_place as *mut c_void),
            (c"mainBegins", c"()V", threads::main_begins as *mut c_void),
            (c"threadRuns", c"()V", threads::thread_runs as *mut c_void),
            (c"hasEnded", c"(J)Z", threads::has_ended as *mut c_void),
            (c"activity", c"(J)I", threads::activity as *mut c_void),
            (c"started", c"(JJ)V", threads::started as *mut c_void),
            (c"releasePlace", c"()J", locks::release_place as *mut c_void),
            (c"giveBack", c"(JI)V", locks::give_back as *mut c_void),
            (c"attempt", c"(JI)V", locks::attempt as *mut c_void),
            (c"acquired", c"(JIZ)V", locks::acquired as *mut c_void),
            (c"looks", c"(JIZ)V", reads::looks as *mut c_void),
            (c"enterBlock", c"(JI)V", locks::enter_block as *mut c_void),
            (c"exitBlock", c"(J)V", locks::exit_block as *mut c_void),
            (c"region", c"(JI)V", locks::region as *mut c_void),
            (c"access", c"(JIII)V", accesses::access as *mut c_void),
            (c"holdsIn", c"(JIII)V", accesses::holds as *mut c_void),
            (c"beginsCall", c"(JLjava/lang/Object;IZI)V", accesses::begin_call as *mut c_void),
            (c"endsCall", c"(JI)V", accesses::end_call as *mut c_void),
            (c"enterUnit", c"(JI)V", accesses::enter_unit as *mut c_void),
            (c"exitUnit", c"(JI)V", accesses::exit_unit as *mut c_void),
            (c"joins", c"(JJ)V", threads::joins as *mut c_void),
            (c"handsOver", c"(JI)V", threads::hands_over as *mut c_void),
            (c"takesOver", c"(JIZ)V", threads::takes_over as *mut c_void),
            (
                c"throwing",
                c"(JLjava/lang/String;Ljava/lang/String;Ljava/lang/String;Z)V",
                failures::throwing as *mut c_void,
            ),
            (c"exits", c"(JILjava/lang/String;)V", failures::exits as *mut c_void),
            (c"exitRefused", c"(J)V", failures::exit_refused as *mut c_void),
            (c"ends", c"(JI)V", failures::ends as *mut c_void),
            (c"poll", c"(JLjava/io/FileDescriptor;IJII)I", input::poll as *mut c_void),
            (c"epoll", c"(JIJIII)I", input::epoll as *mut c_void),
            (c"awaitInput", c"(JLjava/io/FileDescriptor;II)Z", input::await_input as *mut c_void),
            (c"write", c"(JLjava/io/FileDescriptor;JIZI)J", input::write as *mut c_void),
            (c"errorText", c"(I)Ljava/lang/String;", input::error_text as *mut c_void),
            (c"awaitProcess", c"(JJZI)I", input::await_process as *mut c_void),
            (c"now", c"(J)J", reads::now as *mut c_void),
            (c"tellsAllCalls", c"()Z", accesses::tells_all_calls as *mut c_void),
            (c"stopsAtVolatiles", c"()Z", reads::stops_at_volatiles as *mut c_void),
        ]
    }

    fn acquire(&'static self, call: Call, lock: jint, site: SiteId) {
        let Call { agent, thread, .. } = call;
        let flags = agent.offsets.get_i32(site.0 as usize);
        let mut state = self.state();
        let is_quiet = is_quiet(agent, &mut state, thread, flags);
        let (run, program) = state.parts(agent);
        let acquire = run.before_acquire(&program, thread, LockId(lock as u32), (site, flags), is_quiet);
        let mut state = schedule(agent, self, state, thread, acquire.operation, acquire.flags);
        let (run, program) = state.parts(agent);
        run.entered(&program, thread, acquire);
    }

    fn release(&'static self, call: Call, lock: jint) {
        self.state().run.conductor.release(call.thread, LockId(lock as u32));
    }

    fn begin_wait(
        &'static self,
        call: Call,
        lock: jint,
        joined: jlong,
        nanos: jlong,
        site: SiteId,
    ) -> Option<Operation> {
        let flags = call.agent.offsets.get_i32(site.0 as usize);
        let mut state = self.state();
        let (run, program) = state.parts(call.agent);
        let wait = (LockId(lock as u32), site, flags);
        Some(run.wait(&program, call.thread, wait, nanos, Self::thread(joined)))
    }

    fn wait(&'static self, call: Call, mut operation: Operation, left: u32) -> Wake {
        let Call { agent, thread, .. } = call;
        let site = operation.site().map_or(0, |site| site.0);
        let flags = agent.offsets.get_i32(site as usize) & AGAIN;
        let mut state = self.state();
        state.run.correct_count(&mut operation, left);
        let mut state = schedule(agent, self, state, thread, operation, flags);
        take_wake(agent, &mut state, thread)
    }

    fn notify(
        &'static self,
        agent: &'static Agent,
        thread: Option<ThreadId>,
        lock: jint,
        all: bool,
        site: SiteId,
    ) {
        let (mut state, lock) = (self.state(), LockId(lock as u32));
        if thread.is_none() {
            if state.run.conductor.notify_from_outside(lock, all) {
                self.outside(state);
            }
            return;
        }
        let is_quiet = agent.offsets.get_i32(site.0 as usize) & QUIET != 0;
        let recorded = thread.filter(|_| !is_quiet);
        state.run.conductor.notify(recorded, lock, all, site);
    }

    fn sleep(&'static self, call: Call, nanos: jlong, site: SiteId) -> Wake {
        let mut state = self.state();
        let Some(until) = state.run.deadline(nanos) else {
            schedule(call.agent, self, state, call.thread, Operation::Yield { site }, 0);
            return Wake::Called;
        };
        let mut state = schedule(call.agent, self, state, call.thread, Operation::Sleep { until, site }, 0);
        take_wake(call.agent, &mut state, call.thread)
    }

    fn park(&'static self, call: Call, nanos: jlong, site: SiteId) {
        // A wait without a time-out does not depend on the virtual time.
        let is_idle = nanos >= 0 && idle::is_worker_without_work(call.agent);
        // A thread without a time-out may wait for ever, and its site is part of the report then.
        let caller = if nanos < 0 { callers::caller_of_jdk(call.agent) } else { None };
        let mut state = self.state();
        state.run.note_park(call.thread, caller);
        if is_idle {
            state.run.conductor.idles(call.thread);
        }
        let operation = Operation::Park { until: state.run.deadline(nanos), site };
        let mut state = schedule(call.agent, self, state, call.thread, operation, 0);
        take_wake(call.agent, &mut state, call.thread);
    }

    fn unpark(&'static self, thread: Option<ThreadId>, parked: ThreadId) {
        let mut state = self.state();
        if thread.is_some() {
            return state.run.conductor.unpark(thread, parked);
        }
        state.run.conductor.unpark_from_outside(parked);
        self.outside(state);
    }

    fn interrupt(&'static self, thread: Option<ThreadId>, interrupted: ThreadId) {
        let mut state = self.state();
        if thread.is_some() {
            return state.run.conductor.interrupt(thread, interrupted);
        }
        state.run.conductor.interrupt_from_outside(interrupted);
        self.outside(state);
    }

    fn offer(&'static self, call: Call, site: SiteId) {
        drop(schedule(call.agent, self, self.state(), call.thread, Operation::Yield { site }, 0));
    }

    fn note_stray(&'static self) {
        self.state().run.lose_control(VIRTUAL_THREADS);
    }
}
