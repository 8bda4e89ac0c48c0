//! What is inserted on both sides of points that are asked about, and that nothing is where nobody asks.

use crate::plan::{Advised, Environment, Foreign, LockCall, Plan, Site, SiteKind};
use crate::structure::ClassFile;
use crate::testing::{Body, ClassBuilder, check_structure, listing};

const SYNCHRONIZED: u16 = 0x0020;
const LOCK_CALLS: &[(&str, &[(&str, LockCall)])] =
    &[("Lock", &[("lock", LockCall::Acquire), ("tryLock", LockCall::Try), ("unlock", LockCall::Release)])];

/// Asks about points of some kinds: before them, after them, or both.
struct Asking(&'static [(SiteKind, bool, bool)]);

impl Environment for Asking {
    fn site(&mut self, _site: Site<'_>) -> u32 {
        1
    }

    fn advise(&mut self, site: &Site<'_>) -> Option<Advised> {
        let (_, before, after) = self.0.iter().find(|(kind, ..)| *kind == site.kind)?;
        Some(Advised { site: 1, before: *before, after: *after, arguments: true })
    }

    fn cell(&mut self, _field: &str, _descriptor: &str) -> u32 {
        1
    }

    fn foreign(&mut self, _class: &str, _name: &str, _descriptor: &str, _is_static: bool) -> Foreign {
        Foreign::Ignore
    }
}

/// Rewrites a class with one method and compares what matters of its instructions; gives its access flags.
fn check(class: &mut ClassBuilder, access: u16, code: &[u8], asking: Asking, expected: &[&str]) -> u16 {
    class.method(access, "m", "()V", Some(&Body::new(code)));
    let plan = Plan { advice: true, lock_calls: LOCK_CALLS, ..Plan::empty("Hook") };
    let mut asking = asking;
    let outcome = crate::rewrite(&class.build(), &plan, &mut asking).expect("understood");
    let bytes = outcome.map_or_else(|| class.build(), |outcome| outcome.bytes);
    check_structure(&bytes);
    let matters = ["invoke", "monitor", "field", "return", "athrow", "aload ", "iaload"];
    let listed = listing(&bytes, "m");
    let lines: Vec<&str> = listed
        .lines()
        .filter_map(|line| line.split_once(' ').map(|(_, instruction)| instruction))
        .filter(|line| matters.iter().any(|part| line.contains(part)) && !line.starts_with("aload "))
        .collect();
    assert_eq!(lines, expected);
    ClassFile::parse(&bytes).unwrap().methods[0].access
}

#[test]
fn accesses_are_told_on_both_sides() {
    let mut class = ClassBuilder::new("A");
    let [high, low] = class.field_reference("A", "x", "I").to_be_bytes();
    let code = [42, 4, 181, high, low, 177];
    let write = Asking(&[(SiteKind::Write, true, true)]);
    check(
        &mut class,
        0,
        &code,
        write,
        &["invokestatic before", "putfield x:I", "invokestatic after", "return"],
    );
    let mut class = ClassBuilder::new("A");
    let [high, low] = class.field_reference("A", "x", "I").to_be_bytes();
    let read = Asking(&[(SiteKind::Read, true, true)]);
    check(&mut class, 0, &[42, 4, 181, high, low, 177], read, &["putfield x:I", "return"]);
    let mut class = ClassBuilder::new("A");
    let element = Asking(&[(SiteKind::Read, false, true)]);
    check(&mut class, 0, &[1, 3, 46, 87, 177], element, &["iaload", "invokestatic afterElement", "return"]);
}

#[test]
fn a_method_enters_its_lock_by_itself_only_if_it_must() {
    let within = Asking(&[(SiteKind::EnterMethod, false, true), (SiteKind::ExitMethod, true, false)]);
    let told = ["invokestatic after", "invokestatic before", "return", "invokestatic before", "athrow"];
    let access = check(&mut ClassBuilder::new("A"), SYNCHRONIZED, &[177], within, &told);
    assert_eq!(access, SYNCHRONIZED);
    let around = Asking(&[(SiteKind::EnterMethod, true, true), (SiteKind::ExitMethod, true, true)]);
    let end = ["invokestatic before", "monitorexit", "invokestatic after"];
    let told = [
        &["invokestatic before", "monitorenter", "invokestatic after"],
        &end[..],
        &["return"],
        &end,
        &["athrow"],
    ];
    let access = check(&mut ClassBuilder::new("A"), SYNCHRONIZED, &[177], around, &told.concat());
    assert_eq!(access, 0);
}

#[test]
fn locks_of_the_library_are_locks_where_they_are_called() {
    let mut class = ClassBuilder::new("A");
    let [high, low] = class.method_reference("Lock", "tryLock", "()Z").to_be_bytes();
    let both = Asking(&[(SiteKind::Enter, true, true)]);
    check(
        &mut class,
        0,
        &[1, 182, high, low, 87, 177],
        both,
        &["invokestatic before", "invokevirtual tryLock", "invokestatic afterTry", "return"],
    );
}

#[test]
fn calls_hand_over_their_references() {
    let mut class = ClassBuilder::new("A");
    let [high, low] = class.method_reference("B", "take", "(Ljava/lang/Object;JLA;)V").to_be_bytes();
    let before = Asking(&[(SiteKind::Call, true, false)]);
    check(
        &mut class,
        0,
        &[42, 1, 9, 42, 182, high, low, 177],
        before,
        &[
            "invokestatic argument",
            "invokestatic argument",
            "invokestatic before",
            "invokevirtual take",
            "return",
        ],
    );
}
