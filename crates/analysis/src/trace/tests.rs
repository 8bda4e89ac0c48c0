//! Event traces with the races that each machine must report.
//!
//! A trace has one step per line: `main start t1`, `main join t1`, `t1 lock A`, `t1 rlock A` (shared),
//! `t1 unlock A`, `t1 read x`, `t1 write x`.

use fissure_model::{
    event::{AccessKind, Event, LockMode},
    ids::{LocationId, LockId, SiteId, ThreadId},
    settings::Analysis,
};

use super::TraceDetector;

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

/// Runs a trace and returns `x` for each race on x, `x (ordered)` for a race between accesses that start and join order.
fn races(analysis: Analysis, trace: &str) -> Vec<String> {
    races_with_sites(analysis, trace).into_iter().map(|(name, _)| name).collect()
}

/// The same with the two lines of the trace that race.
fn races_with_sites(analysis: Analysis, trace: &str) -> Vec<(String, [String; 2])> {
    let (mut threads, mut locks, mut locations) = (Names::default(), Names::default(), Names::default());
    let mut detector = TraceDetector::new(analysis);
    let mut found = Vec::new();
    let lines: Vec<&str> = trace.lines().map(str::trim).filter(|line| !line.is_empty()).collect();
    for (line, text) in lines.iter().enumerate() {
        let words: Vec<&str> = text.split_whitespace().collect();
        let [who, what, whom] = words[..] else { panic!("bad line {text}") };
        let thread = ThreadId(threads.number(who));
        let event = match what {
            "start" => Event::Start { parent: thread, child: ThreadId(threads.number(whom)) },
            "join" => Event::Join { thread, ended: ThreadId(threads.number(whom)) },
            "lock" | "rlock" => Event::Acquire {
                thread,
                lock: LockId(locks.number(whom)),
                mode: if what == "lock" { LockMode::Exclusive } else { LockMode::Shared },
            },
            "unlock" => Event::Release { thread, lock: LockId(locks.number(whom)) },
            "read" | "write" => Event::Access {
                thread,
                location: LocationId(u64::from(locations.number(whom))),
                kind: if what == "read" { AccessKind::Read } else { AccessKind::Write },
                site: SiteId(line as u32),
            },
            _ => panic!("bad line {text}"),
        };
        if let Some(located) = detector.event(&event) {
            let name = &locations.0[located.location.0 as usize - 2];
            let name = if located.race.ordered { format!("{name} (ordered)") } else { name.clone() };
            let sides = [located.race.earlier, located.race.later].map(|side| {
                let text = lines[side.site as usize];
                assert_eq!(side.wrote, text.contains("write"), "{text}");
                text.to_owned()
            });
            found.push((name, sides));
        }
    }
    found
}

fn check(trace: &str, racer: &[&str], eraser: &[&str]) {
    assert_eq!(races(Analysis::Racer, trace), racer, "racer on {trace}");
    assert_eq!(races(Analysis::Eraser, trace), eraser, "eraser on {trace}");
}

const START_TWO: &str = "
    main start t1
    main start t2
";

#[test]
fn figure_1_shared_is_racy_and_the_others_are_not() {
    let body = |thread: &str, own: &str| {
        format!(
            "{thread} read shared
             {thread} write shared
             {thread} lock Task.class
             {thread} read shared_protected
             {thread} write shared_protected
             {thread} unlock Task.class
             {thread} read {own}
             {thread} write {own}
            "
        )
    };
    let trace = format!("{START_TWO}{}{}", body("t1", "not_shared_1"), body("t2", "not_shared_2"));
    check(&trace, &["shared"], &["shared"]);
}

#[test]
fn figure_6_only_racer_reports_an_escaping_this() {
    // The listener is registered before `i` is set, in the constructor; the event thread reads it afterwards.
    let trace = "
        main start events
        main lock source
        main unlock source
        main write i
        events lock source
        events unlock source
        events read i
    ";
    check(trace, &["i"], &[]);
}

#[test]
fn a_read_before_another_threads_write_is_a_race_too() {
    let trace = format!("{START_TWO} t1 read x\n t2 write x\n");
    check(&trace, &["x"], &["x"]);
}

#[test]
fn racer_reports_unlocked_initialisation_and_eraser_does_not() {
    let trace = format!(
        "{START_TWO}
         t1 write x
         t1 lock A
         t1 write x
         t1 unlock A
         t2 lock A
         t2 write x
         t2 unlock A"
    );
    check(&trace, &["x"], &[]);
}

#[test]
fn locked_initialisation_satisfies_both() {
    let trace = format!(
        "{START_TWO}
         t1 lock A\n t1 write x\n t1 unlock A
         t2 lock A\n t2 write x\n t2 unlock A
         t1 lock A\n t1 read x\n t1 unlock A"
    );
    check(&trace, &[], &[]);
}

#[test]
fn data_that_is_only_read_is_no_race() {
    check(&format!("{START_TWO} t1 read x\n t2 read x\n main read x\n t1 read x"), &[], &[]);
}

#[test]
fn data_written_before_the_readers_start_is_ordered() {
    check(
        "main write x\n main start t1\n main start t2\n t1 read x\n t2 read x\n t1 read x\n t2 read x",
        &["x (ordered)"],
        &[],
    );
}

#[test]
fn a_total_read_after_join_is_ordered() {
    let trace = format!(
        "{START_TWO}
         t1 lock A\n t1 write x\n t1 unlock A
         t2 lock A\n t2 write x\n t2 unlock A
         main join t1\n main join t2\n main read x"
    );
    check(&trace, &["x (ordered)"], &["x (ordered)"]);
}

#[test]
fn a_total_read_after_joining_only_one_of_two_is_not_ordered() {
    let trace = format!(
        "{START_TWO}
         t1 lock A\n t1 write x\n t1 unlock A
         t2 lock A\n t2 write x\n t2 unlock A
         main join t1\n main read x"
    );
    check(&trace, &["x"], &["x"]);
}

#[test]
fn an_ordered_report_does_not_hide_a_later_race() {
    let trace = "
        main write x
        main start t1
        main start t2
        t1 write x
        t2 write x
    ";
    check(trace, &["x (ordered)", "x"], &["x (ordered)", "x"]);
}

#[test]
fn readers_that_were_joined_do_not_race_with_the_next_phase() {
    let trace = "
        main write x
        main start t1
        main start t2
        t1 read x
        t2 read x
        main join t1
        main join t2
        main write x
        main start t3
        t3 read x
        t3 write x
    ";
    check(trace, &["x (ordered)"], &["x (ordered)"]);
}

#[test]
fn a_reader_that_was_not_joined_races_with_the_next_phase() {
    let trace = "
        main write x
        main start t1
        main start t2
        t1 read x
        t2 read x
        main join t1
        main write x
    ";
    check(trace, &["x (ordered)", "x"], &["x"]);
}

#[test]
fn re_entrant_locking_holds_until_the_last_release() {
    let trace = format!(
        "{START_TWO}
         t1 lock A\n t1 lock A\n t1 unlock A\n t1 write x\n t1 unlock A
         t2 lock A\n t2 write x\n t2 unlock A"
    );
    check(&trace, &[], &[]);
}

#[test]
fn different_locks_do_not_protect() {
    let trace = format!(
        "{START_TWO}
         t1 lock A\n t1 write x\n t1 unlock A
         t2 lock B\n t2 write x\n t2 unlock B
         t1 lock A\n t1 write x\n t1 unlock A"
    );
    check(&trace, &["x"], &["x"]);
}

#[test]
fn a_common_outer_lock_protects_all_accesses_inside() {
    let trace = format!(
        "{START_TWO}
         t1 lock A\n t1 lock B\n t1 write x\n t1 unlock B\n t1 unlock A
         t2 lock A\n t2 lock C\n t2 write x\n t2 unlock C\n t2 unlock A"
    );
    check(&trace, &[], &[]);
}

#[test]
fn a_read_lock_protects_reads_and_not_writes() {
    let readers = format!(
        "{START_TWO}
         t1 lock A\n t1 write x\n t1 unlock A
         t2 rlock A\n t2 read x\n t2 unlock A"
    );
    check(&readers, &[], &[]);
    let writer = format!(
        "{START_TWO}
         t1 lock A\n t1 write x\n t1 unlock A
         t2 rlock A\n t2 write x\n t2 unlock A"
    );
    check(&writer, &["x"], &["x"]);
}

#[test]
fn a_read_without_the_lock_races_with_locked_writes() {
    let trace = format!("{START_TWO} t1 lock A\n t1 write x\n t1 unlock A\n t2 read x");
    check(&trace, &["x"], &[]);
    let again = format!("{trace}\n t1 lock A\n t1 write x\n t1 unlock A");
    check(&again, &["x"], &["x"]);
}

#[test]
fn each_race_is_reported_once() {
    let trace = format!("{START_TWO} t1 write x\n t2 write x\n t1 write x\n t2 write x");
    check(&trace, &["x"], &["x"]);
}

#[test]
fn accesses_ordered_by_start_and_join_never_race() {
    let trace = "
        main write x
        main start t1
        t1 write x
        main join t1
        main write x
        main start t2
        t2 read x
        t2 write x
        main join t2
        main read x
    ";
    check(trace, &["x (ordered)"], &["x (ordered)"]);
}

#[test]
fn unlocked_initialisation_before_start_does_not_make_locked_use_a_race() {
    let trace = format!(
        "main write x
         {START_TWO}
         t1 lock A\n t1 write x\n t1 unlock A
         t2 lock A\n t2 write x\n t2 unlock A
         t1 lock A\n t1 write x\n t1 unlock A"
    );
    check(&trace, &["x (ordered)"], &[]);
}

#[test]
fn unlocked_initialisation_races_with_a_thread_that_was_started_before() {
    let trace = "
        main start t2
        main write x
        main start t1
        t1 lock A\n t1 write x\n t1 unlock A
        t2 lock A\n t2 write x\n t2 unlock A
    ";
    check(trace, &["x (ordered)", "x"], &[]);
}

#[test]
fn accesses_that_share_one_lock_pairwise_do_not_race() {
    let trace = "
        main start t1
        main start t2
        main start t3
        t1 lock A\n t1 lock B\n t1 write x\n t1 unlock B\n t1 unlock A
        t2 lock B\n t2 lock C\n t2 write x\n t2 unlock C\n t2 unlock B
        t3 lock A\n t3 lock C\n t3 write x\n t3 unlock C\n t3 unlock A
    ";
    check(trace, &[], &[]);
}

#[test]
fn one_unlocked_access_among_locked_ones_is_remembered() {
    let trace = format!(
        "{START_TWO}
         main start t3
         t3 lock A\n t3 write x\n t3 unlock A
         t1 lock A\n t1 write x\n t1 unlock A
         t1 lock B\n t1 read x\n t1 unlock B"
    );
    check(&trace, &["x"], &["x"]);
}

#[test]
fn a_report_names_the_access_that_was_not_protected() {
    let trace = "
        main start t1
        main start t2
        t1 lock A\n t1 write x\n t1 unlock A
        t1 read x
        t2 lock A\n t2 read x
        t2 write x\n t2 unlock A
    ";
    let expected = ("x".to_owned(), ["t1 read x".to_owned(), "t2 write x".to_owned()]);
    assert_eq!(races_with_sites(Analysis::Racer, trace), [expected]);
}

#[test]
fn a_read_after_a_start_does_not_make_the_earlier_write_unordered() {
    check("main write x\n main start t1\n main read x\n t1 read x\n main read x", &["x (ordered)"], &[]);
    check("main write x\n main start t1\n main read x\n t1 write x", &["x"], &["x"]);
}
