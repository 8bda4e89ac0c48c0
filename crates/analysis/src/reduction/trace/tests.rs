//! Event traces with the violations that Atomizer must report.
//!
//! A trace has one step per line: `main start t1`, `main join t1`, `t1 lock A`, `t1 rlock A` (shared),
//! `t1 unlock A`, `t1 wait A`, `t1 read x`, `t1 write x`, `t1 enter block`, `t1 exit block`. `t1 sync A` and `t1 end A` are a
//! synchronized block: the lock and a block with the same name.

use fissure_model::{
    event::{AccessKind, Event, LockMode},
    ids::{LocationId, LockId, SiteId, ThreadId},
    settings::Refinement,
};

use super::AtomicityDetector;

/// A step of a trace.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Step {
    Event(Event),
    Enter(ThreadId, u32, Option<LockId>),
    Exit(ThreadId),
    Wait(ThreadId, LockId),
}

pub(super) fn feed(detector: &mut AtomicityDetector, step: Step, site: u32) {
    match step {
        Step::Event(event) => detector.event(&event, site),
        Step::Enter(thread, block, lock) => detector.enter(thread, block, lock),
        Step::Exit(thread) => detector.exit(thread),
        Step::Wait(thread, lock) => detector.wait(thread, lock, site),
    }
}

#[derive(Default)]
struct Names(Vec<String>);

impl Names {
    fn number(&mut self, name: &str) -> u32 {
        if let Some(at) = self.0.iter().position(|known| known == name) {
            return at as u32 + 2;
        }
        self.0.push(name.to_owned());
        self.0.len() as u32 + 1
    }
}

/// Runs a trace and returns `block: commit -> violation` for each violation, with the lines of the trace as sites.
fn violations(without: &[Refinement], trace: &str) -> Vec<String> {
    let (mut threads, mut locks) = (Names::default(), Names::default());
    let (mut locations, mut blocks) = (Names::default(), Names::default());
    let mut detector = AtomicityDetector::new(without);
    let lines: Vec<&str> = trace.lines().map(str::trim).filter(|line| !line.is_empty()).collect();
    for (line, text) in lines.iter().enumerate() {
        let words: Vec<&str> = text.split_whitespace().collect();
        let [who, what, whom] = words[..] else { panic!("bad line {text}") };
        let thread = ThreadId(threads.number(who));
        let mut lock = || LockId(locks.number(whom));
        let acquire = |lock, mode| Step::Event(Event::Acquire { thread, lock, mode });
        let mut access = |kind| {
            let location = LocationId(u64::from(locations.number(whom)));
            Step::Event(Event::Access { thread, location, kind, site: SiteId(0) })
        };
        let steps = match what {
            "start" => {
                vec![Step::Event(Event::Start { parent: thread, child: ThreadId(threads.number(whom)) })]
            }
            "join" => vec![Step::Event(Event::Join { thread, ended: ThreadId(threads.number(whom)) })],
            "lock" => vec![acquire(lock(), LockMode::Exclusive)],
            "rlock" => vec![acquire(lock(), LockMode::Shared)],
            "unlock" => vec![Step::Event(Event::Release { thread, lock: lock() })],
            "wait" => vec![Step::Wait(thread, lock())],
            "read" => vec![access(AccessKind::Read)],
            "write" => vec![access(AccessKind::Write)],
            "enter" => vec![Step::Enter(thread, blocks.number(whom), None)],
            "exit" => vec![Step::Exit(thread)],
            "sync" => {
                let lock = lock();
                let enter = Step::Enter(thread, blocks.number(whom), Some(lock));
                vec![acquire(lock, LockMode::Exclusive), enter]
            }
            "end" => vec![Step::Exit(thread), Step::Event(Event::Release { thread, lock: lock() })],
            _ => panic!("bad line {text}"),
        };
        for step in steps {
            feed(&mut detector, step, line as u32);
        }
    }
    let describe = |violation: super::Violation| {
        let block = &blocks.0[violation.block as usize - 2];
        let (commit, broken) = (lines[violation.commit as usize], lines[violation.violation as usize]);
        format!("{block}: {commit} -> {broken}")
    };
    detector.violations().into_iter().map(describe).collect()
}

fn check(trace: &str, expected: &[&str]) {
    assert_eq!(violations(&[], trace), expected, "{trace}");
}

/// Checks that a refinement suppresses all violations of a trace, and which ones are reported without it.
fn check_rule(rule: Refinement, trace: &str, without: &[&str]) {
    check(trace, &[]);
    assert_eq!(violations(&[rule], trace), without, "without {rule:?}: {trace}");
}

const START_TWO: &str = "
    main start t1
    main start t2
";

/// Steps of another thread that acquires a lock, so that the lock is shared.
fn shares(lock: &str) -> String {
    format!("t2 lock {lock}\n t2 unlock {lock}\n")
}

#[test]
fn the_papers_string_buffer() {
    // append locks `this`, then locks its argument once for the length and once for the characters.
    let append = "t1 sync this\n t1 lock sb\n t1 unlock sb\n t1 lock sb\n t1 unlock sb\n t1 end this\n";
    let expected = &["this: t1 unlock sb -> t1 lock sb"];
    check(&format!("{START_TWO}{append}{}", shares("sb")), expected);
    check(&format!("{START_TWO}{}{append}", shares("sb")), expected);
    check(&format!("{START_TWO}{append}"), &[]);
}

#[test]
fn one_lock_around_everything_is_atomic() {
    let trace = format!(
        "{START_TWO}
         t1 sync A\n t1 read x\n t1 write x\n t1 end A
         t2 sync A\n t2 read x\n t2 write x\n t2 end A"
    );
    check(&trace, &[]);
}

#[test]
fn properly_nested_locks_are_atomic() {
    let trace = format!(
        "{START_TWO}
         t1 sync A\n t1 lock B\n t1 lock C\n t1 unlock C\n t1 unlock B\n t1 end A\n {}{}{}",
        shares("A"),
        shares("B"),
        shares("C")
    );
    check(&trace, &[]);
}

#[test]
fn two_racy_accesses_are_not_atomic() {
    let body = |thread: &str, lock: &str| {
        format!("{thread} sync {lock}\n {thread} read x\n {thread} write x\n {thread} end {lock}\n")
    };
    let trace = format!("{START_TWO}{}{}", body("t1", "A"), body("t2", "B"));
    check(&trace, &["A: t1 read x -> t1 write x", "B: t2 read x -> t2 write x"]);
    check(&format!("{START_TWO}{}{}", body("t1", "A"), body("t2", "A")), &[]);
}

#[test]
fn one_racy_access_commits() {
    let trace = format!("{START_TWO} t1 sync A\n t1 write x\n t1 end A\n t2 write x");
    check(&trace, &[]);
    let locked =
        format!("{START_TWO} t1 sync A\n t1 write x\n t1 lock B\n t1 unlock B\n t1 end A\n t2 write x");
    check(&format!("{locked}\n{}", shares("B")), &["A: t1 write x -> t1 lock B"]);
    let before =
        format!("{START_TWO} t1 sync A\n t1 lock B\n t1 write x\n t1 unlock B\n t1 end A\n t2 write x");
    check(&format!("{before}\n{}", shares("B")), &[]);
}

#[test]
fn locked_reads_of_a_variable_that_is_also_read_without_its_lock_are_both_movers() {
    // Double-checked locking: the first read holds no lock, all writes do.
    let get = |thread: &str| {
        format!("{thread} read x\n {thread} sync A\n {thread} read x\n {thread} write x\n {thread} end A\n")
    };
    check(&format!("{START_TWO}{}{}{}", get("t1"), get("t2"), get("t1")), &[]);
    let twice = format!("{START_TWO} t1 sync A\n t1 write x\n t1 write x\n t1 end A\n t2 read x");
    check(&twice, &["A: t1 write x -> t1 write x"]);
    let reader = format!(
        "{START_TWO} t1 sync A\n t1 write x\n t1 end A\n t2 enter get\n t2 read x\n t2 read x\n t2 exit get"
    );
    check(&reader, &["get: t2 read x -> t2 read x"]);
}

#[test]
fn initialisation_does_not_race_with_use_under_a_lock() {
    let uses =
        "t2 sync A\n t2 read x\n t2 write x\n t2 end A\n t1 sync A\n t1 read x\n t1 write x\n t1 end A\n";
    check(&format!("{START_TWO} t1 write x\n {uses}"), &[]);
    check(&format!("main write x\n {START_TWO} {uses}"), &[]);
    // A single thread may use any locks during initialisation.
    let builder =
        format!("{START_TWO} t1 write x\n t1 lock B\n t1 write x\n t1 unlock B\n t1 read x\n {uses}");
    check(&builder, &[]);
    // An access under a lock is not taken for initialisation.
    let other = format!("{START_TWO} t1 lock B\n t1 write x\n t1 unlock B\n {uses}");
    check(&other, &["A: t2 read x -> t2 write x"]);
}

#[test]
fn accesses_ordered_by_start_and_join_are_both_movers() {
    let trace = "
        main write x
        main start t1
        t1 sync A\n t1 read x\n t1 write x\n t1 end A
        main join t1
        main sync B\n main read x\n main write x\n main end B
    ";
    check(trace, &[]);
}

#[test]
fn start_commits_and_join_is_a_right_mover() {
    let start = "main enter block\n main start t1\n main start t2\n main lock A\n main unlock A\n main exit block\n t2 lock A\n t2 unlock A";
    check(start, &["block: main start t1 -> main lock A"]);
    let join = "main start t1\n main start t2\n main enter block\n main join t1\n main lock A\n main unlock A\n main exit block\n t2 lock A\n t2 unlock A";
    check(join, &[]);
    let both = "main enter block\n main start t1\n main join t1\n main exit block";
    check(both, &["block: main start t1 -> main join t1"]);
}

#[test]
fn a_wait_on_another_lock_breaks_a_block_and_a_wait_on_its_own_lock_exempts_it() {
    let own = format!("{START_TWO} t1 sync A\n t1 wait A\n t1 end A\n {}", shares("A"));
    check(&own, &[]);
    let nested =
        format!("{START_TWO} t1 sync A\n t1 sync B\n t1 wait B\n t1 end B\n t1 end A\n {}", shares("B"));
    check(&nested, &["A: t1 wait B -> t1 wait B"]);
    let mine =
        format!("{START_TWO} t1 sync A\n t1 sync A\n t1 wait A\n t1 end A\n t1 end A\n {}", shares("A"));
    check(&mine, &[]);
}

#[test]
fn the_innermost_block_that_fails_is_reported() {
    let inner = "t1 sync B\n t1 lock C\n t1 unlock C\n t1 lock C\n t1 unlock C\n t1 end B\n";
    let trace = format!("{START_TWO} t1 sync A\n {inner} t1 end A\n {}", shares("C"));
    check(&trace, &["B: t1 unlock C -> t1 lock C"]);
    let outer = format!(
        "{START_TWO} t1 sync A\n t1 sync B\n t1 end B\n t1 sync B\n t1 end B\n t1 end A\n {}",
        shares("B")
    );
    check(&outer, &["A: t1 end B -> t1 sync B"]);
}

#[test]
fn read_locks_are_locks_and_readers_alone_do_not_contend() {
    let body = "t1 enter block\n t1 rlock A\n t1 unlock A\n t1 rlock A\n t1 unlock A\n t1 exit block\n";
    let reader = "t2 rlock A\n t2 unlock A\n";
    check(&format!("{START_TWO}{body}{reader}"), &[]);
    check(&format!("{START_TWO}{body}{}", shares("A")), &["block: t1 unlock A -> t1 rlock A"]);
}

#[test]
fn rule_re_entrant() {
    let trace = format!(
        "{START_TWO}
         t1 lock A\n t1 enter block\n t1 lock A\n t1 unlock A\n t1 lock A\n t1 unlock A\n t1 exit block\n t1 unlock A\n {}",
        shares("A")
    );
    check_rule(Refinement::ReEntrant, &trace, &["block: t1 unlock A -> t1 lock A"]);
}

#[test]
fn rule_thread_local_lock() {
    let body = "t1 enter block\n t1 lock A\n t1 unlock A\n t1 lock A\n t1 unlock A\n t1 exit block\n";
    let expected = &["block: t1 unlock A -> t1 lock A"];
    check_rule(Refinement::ThreadLocalLock, &format!("{START_TWO}{body}"), expected);
    // In the single-threaded phase the lock is thread-local.
    let early =
        "main enter block\n main lock A\n main unlock A\n main lock A\n main unlock A\n main exit block\n";
    let trace = format!("{early}{START_TWO}t1 lock A\n t1 unlock A\n");
    check_rule(Refinement::ThreadLocalLock, &trace, &["block: main unlock A -> main lock A"]);
    // It is, even if the other threads contend for the lock later.
    check(&format!("{trace}{}", shares("A")), &[]);
}

#[test]
fn rule_protected_lock() {
    let body = |thread: &str| {
        format!(
            "{thread} sync outer\n {thread} lock A\n {thread} unlock A\n {thread} lock A\n {thread} unlock A\n {thread} end outer\n"
        )
    };
    let trace = format!("{START_TWO}{}{}", body("t1"), body("t2"));
    let expected = &["outer: t1 unlock A -> t1 lock A", "outer: t2 unlock A -> t2 lock A"];
    check_rule(Refinement::ProtectedLock, &trace, expected);
    check(&format!("{trace}{}", shares("A")), expected);
}
