//! The code inserted into small classes.

use crate::detect::Detection;
use crate::environment::Foreign;
use crate::plan::{Plan, Probe, ProbeArguments, ProbePoint};
use crate::testing::{
    Body, Recorder, TestClass, check_listing, detect, everything, listing, nothing, op, rewrite, with_code,
};

const STATIC: u16 = 0x0008;
const SYNCHRONIZED: u16 = 0x0020;
const SYNTHETIC: u16 = 0x1000;

fn exceptions(class: &[u8], method: &str) -> Vec<[u16; 4]> {
    with_code(class, method, |_, code| code.exception_entries().collect())
}

#[test]
fn monitors_are_reported_before_they_change() {
    let mut class = TestClass::new("A");
    // aload_0, monitorenter, [aload_0, monitorexit], goto 2, return
    let mut body = Body::new(&[42, 194, 42, 195, 167, 255, 254, 177]);
    body.exceptions = vec![[2, 4, 7, 0]];
    class.method(0, "m", "()V", Some(&body));
    let outcome = rewrite(&class, &everything(), &mut Recorder::new(Foreign::Ignore));
    check_listing(
        &outcome.bytes,
        "m",
        "0 aload_0
         1 dup
         2 invokestatic enter
         5 monitorenter
         6 aload_0
         7 dup
         8 invokestatic exit
         11 monitorexit
         12 goto 6
         15 return",
    );
    assert_eq!(exceptions(&outcome.bytes, "m"), [[6, 12, 15, 0]]);
    assert_eq!(outcome.methods_rewritten, 1);
}

#[test]
fn a_handler_that_covers_itself_does_not_cover_the_hook_call_in_it() {
    let mut class = TestClass::new("A");
    // aload_0, monitorenter, [aload_0, monitorexit], return, [astore_1, aload_0, monitorexit], aload_1, athrow
    let mut body = Body::new(&[42, 194, 42, 195, 177, 76, 42, 195, 43, 191]);
    body.exceptions = vec![[2, 4, 5, 0], [5, 8, 5, 0]];
    class.method(0, "m", "()V", Some(&body));
    let outcome = rewrite(&class, &everything(), &mut Recorder::new(Foreign::Ignore));
    check_listing(
        &outcome.bytes,
        "m",
        "0 aload_0
         1 dup
         2 invokestatic enter
         5 monitorenter
         6 aload_0
         7 dup
         8 invokestatic exit
         11 monitorexit
         12 return
         13 astore_1
         14 aload_0
         15 dup
         16 monitorexit
         17 invokestatic exit
         20 aload_1
         21 athrow",
    );
    assert_eq!(exceptions(&outcome.bytes, "m"), [[6, 12, 13, 0], [13, 17, 13, 0]]);
}

#[test]
fn synchronized_methods_report_their_lock() {
    fn check(
        access: u16,
        major: u16,
        code: &[u8],
        expected: &str,
        handlers: &[[u16; 4]],
        frame: Option<&[u8]>,
    ) {
        let mut class = TestClass::new("A");
        class.major = major;
        class.method(access | SYNCHRONIZED, "m", "()V", Some(&Body::new(code)));
        let outcome = rewrite(&class, &everything(), &mut Recorder::new(Foreign::Ignore));
        check_listing(&outcome.bytes, "m", expected);
        assert_eq!(exceptions(&outcome.bytes, "m"), handlers);
        let frames = with_code(&outcome.bytes, "m", |_, code| code.frames.map(<[u8]>::to_vec));
        // The class of the exception is an added constant, whose index the test does not fix.
        let known =
            frames.as_deref().and_then(|frames| frames.split_last_chunk::<2>()).map(|(known, _)| known);
        assert_eq!(known, frame);
    }
    let instance = "0 aload_0
                    1 invokestatic enter
                    4 nop
                    5 aload_0
                    6 invokestatic exit
                    9 return
                    10 nop
                    11 aload_0
                    12 invokestatic exit
                    15 return
                    16 aload_0
                    17 invokestatic exit
                    20 athrow";
    let handlers = [[4, 5, 16, 0], [10, 11, 16, 0]];
    let this_frame: &[u8] = &[0, 1, 255, 0, 16, 0, 1, 7, 0, 2, 0, 1, 7];
    check(0, 52, &[0, 177, 0, 177], instance, &handlers, Some(this_frame));
    check(0, 49, &[0, 177, 0, 177], instance, &handlers, None);
    let of_class = "0 ldc_w A
                    3 invokestatic enter
                    6 nop
                    7 ldc_w A
                    10 invokestatic exit
                    13 return
                    14 ldc_w A
                    17 invokestatic exit
                    20 athrow";
    let empty_frame: &[u8] = &[0, 1, 255, 0, 14, 0, 0, 0, 1, 7];
    check(STATIC, 52, &[0, 177], of_class, &[[6, 7, 14, 0]], Some(empty_frame));
    // aconst_null, astore_0: the method overwrites its lock.
    let forgotten = "0 aload_0
                     1 invokestatic enter
                     4 aconst_null
                     5 astore_0
                     6 invokestatic exitTop
                     9 return
                     10 invokestatic exitTop
                     13 athrow";
    let empty_frame: &[u8] = &[0, 1, 255, 0, 10, 0, 0, 0, 1, 7];
    check(0, 52, &[1, 75, 177], forgotten, &[[4, 6, 10, 0]], Some(empty_frame));
    let nothing_to_protect = "0 aload_0
                              1 invokestatic enter
                              4 aload_0
                              5 invokestatic exit
                              8 return";
    check(0, 52, &[177], nothing_to_protect, &[], None);
}

#[test]
fn static_synchronized_methods_of_old_classes_are_left_out() {
    let mut class = TestClass::new("A");
    class.major = 48;
    class.method(STATIC | SYNCHRONIZED, "m", "()V", Some(&Body::new(&[177])));
    let outcome = rewrite(&class, &everything(), &mut Recorder::new(Foreign::Ignore));
    assert_eq!(outcome.bytes, class.build());
    assert_eq!(outcome.left_alone.len(), 1);
}

#[test]
fn waits_are_reported_before_and_after() {
    fn check(descriptor: &str, expected: &str) {
        let mut class = TestClass::new("A");
        let wait = class.method_reference("java/lang/Object", "wait", descriptor);
        class.method(0, "m", "()V", Some(&Body::new(&[op(182, wait).as_slice(), &[177]].concat())));
        let outcome = rewrite(&class, &everything(), &mut Recorder::new(Foreign::Ignore));
        check_listing(&outcome.bytes, "m", expected);
    }
    check(
        "()V",
        "0 dup\n1 dup\n2 invokestatic waitBegin\n5 invokevirtual wait\n8 invokestatic waitEnd\n11 return",
    );
    let timed = "0 dup2_x1\n1 pop2\n2 dup_x2\n3 dup_x2\n4 invokestatic waitBegin\n7 invokevirtual wait
                 10 invokestatic waitEnd\n13 return";
    check("(J)V", timed);
    let exact = "0 aconst_null\n1 invokestatic waitBegin\n4 invokevirtual wait\n7 aconst_null
                 8 invokestatic waitEnd\n11 return";
    check("(JI)V", exact);
}

#[test]
fn probes_are_inserted_where_they_fit() {
    fn check(
        descriptor: &str,
        code: &[u8],
        at: ProbePoint,
        argument: ProbeArguments,
        expected: Result<&str, &str>,
    ) {
        let mut class = TestClass::new("A");
        class.method(0, "m", descriptor, Some(&Body::new(code)));
        let probes = [Probe { method: "m", descriptor: None, at, hook_method: "probe", argument }];
        let plan = Plan { probes: &probes, ..nothing() };
        let outcome = rewrite(&class, &plan, &mut Recorder::new(Foreign::Ignore));
        match expected {
            Ok(expected) => check_listing(&outcome.bytes, "m", expected),
            Err(reason) => assert!(outcome.left_alone.iter().any(|left| left.reason.contains(reason))),
        }
    }
    use ProbeArguments::{MapResult, Parameter, ResultAndThis, This};
    use ProbePoint::{Entry, Return};
    check("()V", &[177], Entry, This, Ok("0 aload_0\n1 invokestatic probe\n4 return"));
    check("()V", &[0, 177], Return, This, Ok("0 nop\n1 aload_0\n2 invokestatic probe\n5 return"));
    check("(LX;)V", &[177], Entry, Parameter(0), Ok("0 aload_1\n1 invokestatic probe\n4 return"));
    check("(JLX;)V", &[177], Entry, Parameter(1), Ok("0 aload_3\n1 invokestatic probe\n4 return"));
    check("(JILX;)V", &[177], Entry, Parameter(2), Ok("0 aload 4\n2 invokestatic probe\n5 return"));
    check(
        "()Z",
        &[3, 172],
        Return,
        ResultAndThis,
        Ok("0 iconst_0\n1 dup\n2 aload_0\n3 invokestatic probe\n6 ireturn"),
    );
    let long = "0 lconst_0\n1 dup2\n2 aload_0\n3 invokestatic probe\n6 lreturn";
    check("()J", &[9, 173], Return, ResultAndThis, Ok(long));
    check("()LX;", &[1, 176], Return, MapResult, Ok("0 aconst_null\n1 invokestatic probe\n4 areturn"));
    check("()V", &[177], Return, ResultAndThis, Err("result"));
    check("()V", &[177], Return, MapResult, Err("reference"));
    check("(I)V", &[177], Entry, Parameter(0), Err("missing or no reference"));
    check("(LX;)V", &[177], Return, Parameter(0), Ok("0 aload_1\n1 invokestatic probe\n4 return"));
    check("(LX;)V", &[1, 76, 177], Return, Parameter(0), Err("overwrites its parameter"));
    check("(LX;)V", &[177], Entry, Parameter(1), Err("missing or no reference"));
    check("()V", &[1, 75, 177], Return, This, Err("overwrites"));
}

#[test]
fn the_entry_of_methods_other_than_getters_is_reported() {
    fn check(access: u16, name: &str, code: &[u8], expected: bool) {
        let mut class = TestClass::new("A");
        class.method(access, name, "()V", Some(&Body::new(code)));
        let plan = detect(Detection { entries: true, ..Detection::default() });
        let outcome = crate::rewrite(&class.build(), &plan, &mut Recorder::new(Foreign::Ignore)).unwrap();
        let begins = |class: &[u8]| listing(class, name).starts_with("0 invokestatic methodRuns\n");
        assert_eq!(outcome.is_some_and(|outcome| begins(&outcome.bytes)), expected, "{name} {code:?}");
    }
    // A loop that leads back to the first instruction, then a getter, and code that stores to an array.
    check(0, "m", &[0, 0, 0, 0, 0, 167, 255, 251, 177], true);
    check(0, "m", &[42, 87, 177], false);
    check(STATIC, "m", &[79, 177], true);
    check(STATIC | SYNTHETIC, "lambda$m$0", &[177], true);
    check(0, "m", &[0, 0, 0, 0, 0, 0, 0, 0, 177], true);
    check(0, "<init>", &[0, 0, 0, 0, 0, 0, 0, 0, 177], false);
    check(STATIC, "<clinit>", &[0, 0, 0, 0, 0, 0, 0, 0, 177], false);
}

#[test]
fn an_empty_plan_changes_nothing() {
    let mut class = TestClass::new("A");
    class.field(0, "f", "I");
    class.method(SYNCHRONIZED, "m", "()V", Some(&Body::new(&[177])));
    let outcome = crate::rewrite(&class.build(), &nothing(), &mut Recorder::new(Foreign::Resolve));
    assert_eq!(outcome, Ok(None));
}
