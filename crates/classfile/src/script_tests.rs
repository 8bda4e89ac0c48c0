//! Selected join points get code before and after them, all other points get none.

use crate::environment::{Environment, Foreign, Site, SiteKind};
use crate::plan::{Plan, Product};
use crate::script::{Advice, Advised, LockCall, Script};
use crate::structure::ClassFile;
use crate::testing::{Body, TestClass, check_structure, listing};

const SYNCHRONIZED: u16 = 0x0020;
const LOCK_CALLS: &[(&str, &[(&str, LockCall)])] =
    &[("Lock", &[("lock", LockCall::Acquire), ("tryLock", LockCall::Try), ("unlock", LockCall::Release)])];

/// Selects join points of some kinds: before them, after them, or both.
struct Selecting(&'static [(SiteKind, bool, bool)]);

impl Environment for Selecting {
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

/// Rewrites a class with one method, compares the relevant instructions, and returns the method's access flags.
fn check(class: &mut TestClass, access: u16, code: &[u8], selecting: Selecting, expected: &[&str]) -> u16 {
    class.method(access, "m", "()V", Some(&Body::new(code)));
    let script = Script { advice: Some(Advice { lock_calls: LOCK_CALLS }), ..Script::default() };
    let plan = Plan::new("Hook", Product::Script(script));
    let mut selecting = selecting;
    let outcome = crate::rewrite(&class.build(), &plan, &mut selecting).expect("a well-formed class");
    let bytes = outcome.map_or_else(|| class.build(), |outcome| outcome.bytes);
    check_structure(&bytes);
    let relevant = ["invoke", "monitor", "field", "return", "athrow", "aload ", "iaload"];
    let listed = listing(&bytes, "m");
    let lines: Vec<&str> = listed
        .lines()
        .filter_map(|line| line.split_once(' ').map(|(_, instruction)| instruction))
        .filter(|line| relevant.iter().any(|part| line.contains(part)) && !line.starts_with("aload "))
        .collect();
    assert_eq!(lines, expected);
    ClassFile::parse(&bytes).unwrap().methods[0].access.bits()
}

#[test]
fn accesses_are_reported_before_and_after() {
    let mut class = TestClass::new("A");
    let [high, low] = class.field_reference("A", "x", "I").to_be_bytes();
    let code = [42, 4, 181, high, low, 177];
    let write = Selecting(&[(SiteKind::Write, true, true)]);
    check(
        &mut class,
        0,
        &code,
        write,
        &["invokestatic before", "putfield x:I", "invokestatic after", "return"],
    );
    let mut class = TestClass::new("A");
    let [high, low] = class.field_reference("A", "x", "I").to_be_bytes();
    let read = Selecting(&[(SiteKind::Read, true, true)]);
    check(&mut class, 0, &[42, 4, 181, high, low, 177], read, &["putfield x:I", "return"]);
    let mut class = TestClass::new("A");
    let element = Selecting(&[(SiteKind::Read, false, true)]);
    check(&mut class, 0, &[1, 3, 46, 87, 177], element, &["iaload", "invokestatic afterElement", "return"]);
}

#[test]
fn a_method_gets_explicit_monitor_instructions_only_if_necessary() {
    let within = Selecting(&[(SiteKind::EnterMethod, false, true), (SiteKind::ExitMethod, true, false)]);
    let expected = ["invokestatic after", "invokestatic before", "return", "invokestatic before", "athrow"];
    let access = check(&mut TestClass::new("A"), SYNCHRONIZED, &[0, 177], within, &expected);
    assert_eq!(access, SYNCHRONIZED);
    let around = Selecting(&[(SiteKind::EnterMethod, true, true), (SiteKind::ExitMethod, true, true)]);
    let end = ["invokestatic before", "monitorexit", "invokestatic after"];
    let expected = [
        &["invokestatic before", "monitorenter", "invokestatic after"],
        &end[..],
        &["return"],
        &end,
        &["athrow"],
    ];
    let access = check(&mut TestClass::new("A"), SYNCHRONIZED, &[0, 177], around, &expected.concat());
    assert_eq!(access, 0);
}

#[test]
fn calls_of_library_locks_are_acquires_and_releases() {
    let mut class = TestClass::new("A");
    let [high, low] = class.method_reference("Lock", "tryLock", "()Z").to_be_bytes();
    let both = Selecting(&[(SiteKind::Enter, true, true)]);
    check(
        &mut class,
        0,
        &[1, 182, high, low, 87, 177],
        both,
        &["invokestatic before", "invokevirtual tryLock", "invokestatic afterTry", "return"],
    );
}

#[test]
fn calls_pass_their_reference_arguments() {
    let mut class = TestClass::new("A");
    let [high, low] = class.method_reference("B", "take", "(Ljava/lang/Object;JLA;)V").to_be_bytes();
    let before = Selecting(&[(SiteKind::Call, true, false)]);
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
