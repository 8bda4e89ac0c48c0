//! Tests of the prediction and of the checker on executions written as short texts.
//!
//! Each word is a thread's number, a colon and an operation: `[A` enters unit A and `]` leaves it, `Rc` and `Wc` read and
//! write location c, `+l` and `-l` acquire and release a lock (`*l` acquires it shared), `>2` starts and `<2` joins thread 2, `!2`
//! wakes it, `w` waits for other threads, `^p` and `_p` release and acquire the clock of object p.

use std::collections::BTreeSet;

use fissure_model::{
    event::{AccessKind, LockMode},
    ids::{LockId, SiteId, ThreadId},
};

use super::{
    Access, Occurrence, SetId, UnitId,
    checker::{Checker, Violation},
    predict::Prediction,
    profile::{Bounds, Cut, Profile},
};
use crate::relaxed::Relaxed;

#[derive(Default)]
struct Run {
    relaxed: Relaxed,
    /// The units that each thread is in, outermost first.
    units: Vec<Vec<Occurrence>>,
    numbers: u64,
    profile: Profile,
    checker: Checker,
    shown: Vec<Violation>,
}

impl Run {
    fn ends(&mut self, thread: ThreadId, ended: impl IntoIterator<Item = Occurrence>) {
        for occurrence in ended {
            self.profile.ended(thread, occurrence);
            self.checker.ended(thread, occurrence);
        }
    }

    fn number(&mut self) -> u64 {
        self.numbers += 1;
        self.numbers
    }

    fn act(&mut self, thread: ThreadId, act: &str, site: u32) {
        let (what, object) = act.split_at(1);
        let name = object.bytes().next().unwrap_or(0);
        let (lock, site) = (LockId(name.into()), SiteId(site));
        let other = ThreadId(u32::from(name).wrapping_sub(u32::from(b'0')));
        match what {
            "[" => {
                let number = self.number();
                let unit = Some(UnitId(name.into()));
                self.units[thread.0 as usize].push(Occurrence { unit, number });
            }
            "]" => {
                let ended = self.units[thread.0 as usize].pop();
                self.ends(thread, ended);
            }
            "w" => {
                let ended = self.units[thread.0 as usize].clone();
                let renewed = ended.iter().map(|unit| Occurrence { number: self.number(), ..*unit });
                self.units[thread.0 as usize] = renewed.collect();
                self.ends(thread, ended);
            }
            "+" | "*" => {
                let mode = if what == "+" { LockMode::Exclusive } else { LockMode::Shared };
                if let Some(held) = self.relaxed.lock(thread, lock, mode, (site, 0)) {
                    self.profile.acquired(thread, held);
                }
            }
            "-" => self.relaxed.unlock(thread, lock),
            ">" => self.relaxed.start(thread, other),
            "<" => assert!(self.relaxed.join(thread, other)),
            "!" => self.relaxed.wake(thread, other),
            "^" => self.relaxed.release(thread, name.into()),
            "_" => assert!(self.relaxed.acquire(thread, name.into())),
            "R" | "W" => {
                let access = Access {
                    thread,
                    set: SetId(1),
                    location: name.into(),
                    kind: if what == "R" { AccessKind::Read } else { AccessKind::Write },
                    site,
                    context: 0,
                    unit: match self.units[thread.0 as usize].first() {
                        Some(outermost) => *outermost,
                        None => Occurrence { unit: None, number: self.number() },
                    },
                };
                let stamp = self.relaxed.stamp(thread);
                self.profile.access(&access, &stamp);
                self.shown.extend(self.checker.access(&access, 0));
            }
            _ => panic!("{act}"),
        }
    }
}

/// The predictions from an execution, the omissions, and the violations that it shows itself.
fn run(text: &str, bounds: Bounds) -> (Vec<Prediction>, Cut, Vec<Violation>) {
    let mut run = Run { profile: Profile::new(bounds), units: vec![Vec::new(); 3], ..Run::default() };
    for (site, word) in (1..).zip(text.split_whitespace()) {
        let (thread, act) = word.split_once(':').unwrap();
        run.act(ThreadId(thread.parse().unwrap()), act, site);
    }
    let (predicted, cut) = run.profile.predict(&run.relaxed);
    (predicted, cut, run.shown)
}

/// Checks the patterns that are predicted from an execution, and those that it shows.
fn check(text: &str, predicted: &[u8], shown: &[u8]) {
    let (predictions, cut, violations) = run(text, Bounds::default());
    let found: BTreeSet<u8> = predictions.iter().map(|prediction| prediction.pattern().pattern).collect();
    assert_eq!(found.into_iter().collect::<Vec<_>>(), predicted, "predicted from {text}");
    let seen: BTreeSet<u8> = violations.iter().map(|violation| violation.pattern().pattern).collect();
    assert_eq!(seen.into_iter().collect::<Vec<_>>(), shown, "shown by {text}");
    assert!(cut.is_nothing(), "{cut:?}");
}

/// The accesses of the first and of the second unit of each pattern, and all patterns that these allow.
const PAIRS: [(u8, &str, &str, &[u8]); 11] = [
    (1, "Ra Wa", "Wa", &[1]),
    (2, "Ra Ra", "Wa", &[2]),
    (3, "Wa Wa", "Ra", &[3]),
    (4, "Wa Ra", "Wa", &[4]),
    (5, "Wa Wa", "Wa", &[5]),
    (6, "Wa Wb", "Wa Wb", &[6]),
    (7, "Wa Wb", "Wb Wa", &[6, 7]),
    (8, "Wa Wb", "Ra Rb", &[8, 9]),
    (9, "Ra Rb", "Wa Wb", &[8, 9]),
    (10, "Ra Rb", "Wb Wa", &[8, 9, 10, 11]),
    (11, "Wa Wb", "Rb Ra", &[8, 9, 10, 11]),
];

fn unit(thread: u32, name: &str, acts: &str, lock: &str) -> String {
    let acts: Vec<String> = acts.split(' ').map(|act| format!("{thread}:{act}")).collect();
    let acts = acts.join(" ");
    match lock {
        "" => format!("{thread}:[{name} {acts} {thread}:]"),
        "each" => {
            let acts = acts.replace(&format!("{thread}:"), &format!("{thread}:+l {thread}:"));
            let acts = acts
                .replace(" ", "\n")
                .replace(&format!("\n{thread}:+"), &format!(" {thread}:-l {thread}:+"));
            format!("{thread}:[{name} {} {thread}:-l {thread}:]", acts.replace('\n', " "))
        }
        lock => format!("{thread}:[{name} {thread}:+{lock} {acts} {thread}:-{lock} {thread}:]"),
    }
}

#[test]
fn each_pattern_is_predicted_from_units_that_did_not_interleave() {
    for (number, first, second, allowed) in PAIRS {
        for lock in ["", "each"] {
            let (first, second) = (unit(1, "A", first, lock), unit(2, "B", second, lock));
            assert!(allowed.contains(&number));
            check(&format!("0:>1 0:>2 {first} {second}"), allowed, &[]);
            check(&format!("0:>1 0:>2 {second} {first}"), allowed, &[]);
        }
    }
}

#[test]
fn a_common_lock_prevents_each_pattern() {
    for (_, first, second, _) in PAIRS {
        let (first, second) = (unit(1, "A", first, "l"), unit(2, "B", second, "l"));
        check(&format!("0:>1 0:>2 {first} {second}"), &[], &[]);
    }
}

#[test]
fn a_unit_under_another_lock_can_violate_a_locked_one() {
    for (number, first, second, allowed) in PAIRS {
        let locked = unit(1, "A", first, "l");
        check(&format!("0:>1 0:>2 {locked} {}", unit(2, "B", second, "k")), allowed, &[]);
        assert!(number > 0);
    }
}

#[test]
fn deliberate_synchronization_prevents_each_pattern() {
    for (_, first, second, _) in PAIRS {
        let (first, second) = (unit(1, "A", first, ""), unit(2, "B", second, ""));
        check(&format!("0:>1 {first} 1:>2 {second}"), &[], &[]);
        check(&format!("0:>1 0:>2 {first} 2:<1 {second}"), &[], &[]);
        check(&format!("0:>1 0:>2 {first} 1:!2 {second}"), &[], &[]);
        check(&format!("0:>1 0:>2 {first} 1:^p 2:_p {second}"), &[], &[]);
        check(&format!("0:>1 {first} 0:<1 0:>2 {second}"), &[], &[]);
    }
}

#[test]
fn each_pattern_is_reported_when_it_happens() {
    let shows = |acts: &str, shown: &[u8]| {
        let text = format!("0:>1 0:>2 1:[A 2:[B {acts} 1:] 2:]");
        let (_, _, violations) = run(&text, Bounds::default());
        let seen: BTreeSet<u8> = violations.iter().map(|violation| violation.pattern().pattern).collect();
        assert_eq!(seen.into_iter().collect::<Vec<_>>(), shown, "{text}");
        for violation in &violations {
            let letters = violation.pattern().letters;
            let sites: Vec<SiteId> = violation.events.iter().map(|event| event.site).collect();
            assert!(sites.is_sorted() && letters.len() == sites.len(), "{violation:?}");
        }
    };
    shows("1:Ra 2:Wa 1:Wa", &[1]);
    shows("1:Ra 2:Wa 1:Ra", &[2]);
    shows("1:Wa 2:Ra 1:Wa", &[3]);
    shows("1:Wa 2:Wa 1:Ra", &[4]);
    shows("1:Wa 2:Wa 1:Wa", &[5]);
    shows("1:Wa 2:Wa 2:Wb 1:Wb", &[6]);
    shows("1:Wa 2:Wb 2:Wa 1:Wb", &[6]);
    shows("1:Wa 2:Wb 1:Wb 2:Wa", &[7]);
    shows("1:Wa 2:Ra 2:Rb 1:Wb", &[8]);
    shows("1:Wa 2:Rb 2:Ra 1:Wb", &[8]);
    shows("1:Ra 2:Wa 2:Wb 1:Rb", &[9]);
    shows("1:Ra 2:Wb 2:Wa 1:Rb", &[9]);
    shows("1:Ra 2:Wb 1:Rb 2:Wa", &[10]);
    shows("1:Wa 2:Rb 1:Wb 2:Ra", &[11]);
    // Both units one after the other, and accesses that do not conflict.
    shows("1:Ra 1:Wa 2:Ra 2:Wa", &[]);
    shows("1:Ra 2:Ra 1:Ra 2:Ra", &[]);
    shows("1:Wa 2:Wb 1:Wa 2:Wb", &[]);
    shows("1:Wa 2:Wa 2:Wb 1:Wc", &[]);
    // A unit that began earlier and goes on later.
    shows("2:Rb 1:Wa 1:Wb 2:Ra", &[9]);
}

#[test]
fn accesses_of_different_unit_executions_form_no_pattern() {
    check("0:>1 0:>2 1:[A 1:Ra 1:] 2:[B 2:Wa 2:] 1:[A 1:Wa 1:]", &[], &[]);
    check("0:>1 0:>2 1:[A 1:Wa 2:[B 2:Ra 2:] 2:[B 2:Rb 2:] 1:Wb 1:]", &[], &[]);
    check("0:>1 0:>2 1:[A 1:Ra 2:Wa 2:Wb 1:Rb 1:]", &[], &[]);
    // One remote access outside of all units is enough for the patterns with one location.
    check("0:>1 0:>2 1:[A 1:Ra 2:Wa 1:Wa 1:]", &[1], &[1]);
    // The outermost unit counts.
    check("0:>1 0:>2 1:[A 1:[C 1:Ra 1:] 1:[C 1:Wa 1:] 1:] 2:[B 2:Wa 2:]", &[1], &[]);
}

#[test]
fn a_unit_that_waits_begins_anew() {
    check("0:>1 0:>2 1:[A 1:+l 1:Ra 1:-l 1:w 2:[B 2:+l 2:Wa 2:-l 2:] 1:+l 1:Ra 1:Wa 1:-l 1:]", &[], &[]);
}

#[test]
fn a_lock_released_between_two_events_opens_a_window() {
    let (predictions, ..) = run(
        "0:>1 0:>2 1:[A 1:+k 1:+l 1:Ra 1:-l 1:+l 1:Wa 1:-l 1:-k 1:] 2:[B 2:+m 2:+l 2:Wa 2:-l 2:-m 2:]",
        Bounds::default(),
    );
    let [prediction] = &predictions[..] else { panic!("{predictions:?}") };
    assert_eq!(
        (prediction.windows.clone(), prediction.gate),
        (vec![vec![SiteId(5)], vec![]], Some((SiteId(15), 0)))
    );
    // A second common lock that is held throughout leaves no window.
    check(
        "0:>1 0:>2 1:[A 1:+k 1:+l 1:Ra 1:-l 1:+l 1:Wa 1:-l 1:-k 1:] 2:[B 2:+k 2:+l 2:Wa 2:-l 2:-k 2:]",
        &[],
        &[],
    );
    // Both remote events cannot land in the window if the remote unit acquires the lock between them.
    check("0:>1 0:>2 1:[A 1:+k 1:Ra 1:Rb 1:-k 1:] 2:[B 2:Wa 2:+k 2:-k 2:Wb 2:]", &[8], &[]);
    check("0:>1 0:>2 1:[A 1:+k 1:Ra 1:Rb 1:-k 1:] 2:[B 2:+k 2:-k 2:Wa 2:Wb 2:]", &[8, 9], &[]);
}

#[test]
fn shared_holders_of_a_lock_do_not_exclude_each_other() {
    check("0:>1 0:>2 1:[A 1:*l 1:Ra 1:Wa 1:-l 1:] 2:[B 2:*l 2:Wa 2:-l 2:]", &[1], &[]);
    check("0:>1 0:>2 1:[A 1:*l 1:Ra 1:Ra 1:-l 1:] 2:[B 2:+l 2:Wa 2:-l 2:]", &[], &[]);
}

/// Figures 1 and 5: c and s are the fields of `x`, whose lock is l; L is isLegal, A the second constructor, C creditInterest.
#[test]
fn only_the_second_constructor_of_the_account_is_violated() {
    let legal = "1:[L 1:+l 1:Rc 1:-l 1:+l 1:Rs 1:-l 1:]";
    let credit = "2:[C 2:+l 2:Rc 2:Wc 2:Rs 2:Ws 2:-l 2:]";
    let wrong = "1:[A 1:+l 1:Rc 1:-l 1:+l 1:Rs 1:-l 1:]";
    check(&format!("0:>1 {legal} 1:>2 {wrong} {credit}"), &[9], &[]);
    check(&format!("0:>1 {legal} 1:>2 {credit} {wrong}"), &[9], &[]);
    let fixed = "1:[A 1:+l 1:Rc 1:Rs 1:-l 1:]";
    check(&format!("0:>1 {legal} 1:>2 {fixed} {credit}"), &[], &[]);
    let violating = "1:[A 1:+l 1:Rc 1:-l 2:[C 2:+l 2:Rc 2:Wc 2:Rs 2:Ws 2:-l 2:] 1:+l 1:Rs 1:-l 1:]";
    check(&format!("0:>1 {legal} 1:>2 {violating}"), &[9], &[9]);
}

/// Figure 10: b is the buffer, n its length.
#[test]
fn buffer_and_length_of_figure_10_become_inconsistent() {
    let update = "1:[U 1:Rb 1:Wb 1:Rb 1:Wn 1:]";
    let copy = "2:[V 2:Wb 2:Rb 2:Wn 2:]";
    check(&format!("0:>1 0:>2 {update} {copy}"), &[1, 2, 4, 6], &[]);
    let locked = |text: &str, thread: u32| {
        text.replacen(&format!("{thread}:R"), &format!("{thread}:+l {thread}:R"), 1)
            .replace(&format!(" {thread}:]"), &format!(" {thread}:-l {thread}:]"))
    };
    let copy = "2:[V 2:+l 2:Wb 2:Rb 2:Wn 2:-l 2:]";
    check(&format!("0:>1 0:>2 {} {copy}", locked(update, 1)), &[], &[]);
}

#[test]
fn repetition_is_kept_once_and_omissions_are_counted() {
    let loops = |count: usize| "1:[A 1:+l 1:Ra 1:-l 1:+l 1:Wa 1:-l 1:] ".repeat(count);
    let text = format!("0:>1 0:>2 {} 2:[B 2:Wa 2:]", loops(3));
    // The sites of the scenario differ from word to word, so that these three executions differ.
    let bounds = Bounds { executions: 2, ..Bounds::default() };
    let (predictions, cut, _) = run(&text, bounds);
    assert_eq!((predictions.len(), cut.executions), (0, 2), "{cut:?}");
    let (predictions, cut, _) = run(&text, Bounds { predictions: 2, ..Bounds::default() });
    assert_eq!((predictions.len(), cut.predictions), (2, 1));
    let (_, cut, _) = run(&text, Bounds { checks: 2, ..Bounds::default() });
    assert!(cut.checks > 0);
    let (_, cut, _) = run(&text, Bounds { accesses: 1, ..Bounds::default() });
    assert_eq!(cut.accesses, 3);
    let (_, cut, _) = run(&text, Bounds { sets: 0, ..Bounds::default() });
    assert_eq!(cut.sets, 4);
}
