//! The code inserted for controlled runs and for blocks that should be atomic.

use crate::control::{
    Call, Contents, Control, ControlledAccesses, ControlledCode, Region, Scheduling, VolatileRead,
};
use crate::detect::{Accesses, Atomicity, Blocks, Detection};
use crate::environment::Foreign;
use crate::plan::{Plan, Product};
use crate::structure::ClassFile;
use crate::testing::{Body, Recorder, TestClass, detect, listing, rewrite, with_code};

const STATIC: u16 = 0x0008;
const SYNCHRONIZED: u16 = 0x0020;
const WAIT: Call<'static> = Call {
    class: None,
    name: "wait",
    descriptor: "(J)V",
    hook_method: "waitFor",
    hook_descriptor: "(Ljava/lang/Object;JI)V",
    site: true,
};
const TIME: Call<'static> = Call {
    class: Some("java/lang/System"),
    name: "nanoTime",
    descriptor: "()J",
    hook_method: "time",
    hook_descriptor: "()J",
    site: false,
};
const HANDLE_READ: VolatileRead<'static> =
    VolatileRead { class: "java/lang/invoke/VarHandle", name: "getAcquire" };
const SCHEDULING: Scheduling<'static> = Scheduling {
    calls: &[WAIT, TIME],
    regions: &[Region { method: "load", descriptor: None }],
    volatile_reads: &[HANDLE_READ],
};

fn controlled() -> Plan<'static> {
    plan(None)
}

/// A plan for a class in scope.
fn inside(code: ControlledCode) -> Plan<'static> {
    plan(Some(code))
}

fn plan(inside: Option<ControlledCode>) -> Plan<'static> {
    Plan::new(
        "Hook",
        Product::Control(Control { scheduling: SCHEDULING, monitors: true, inside, spinning: false }),
    )
}

/// Rewrites a class with one method, compares its instructions, and returns the rewritten class.
fn check(plan: &Plan<'_>, access: u16, name: &str, body: &Body, expected: &str) -> Vec<u8> {
    let mut class = TestClass::new("A");
    check_in(&mut class, plan, access, name, body, expected)
}

fn check_in(
    class: &mut TestClass,
    plan: &Plan<'_>,
    access: u16,
    name: &str,
    body: &Body,
    expected: &str,
) -> Vec<u8> {
    class.method(access, name, "()V", Some(body));
    let outcome = rewrite(class, plan, &mut Recorder::new(Foreign::Ignore));
    let expected: Vec<&str> = expected.trim().lines().map(str::trim).collect();
    assert_eq!(listing(&outcome.bytes, name), expected.join("\n"), "{name}");
    outcome.bytes
}

fn access(class: &[u8]) -> u16 {
    ClassFile::parse(class).unwrap().methods[0].access.bits()
}

#[test]
fn controlled_synchronized_methods_get_explicit_monitor_instructions() {
    let class = check(
        &controlled(),
        SYNCHRONIZED,
        "m",
        &Body::new(&[0, 177]),
        "0 aload_0
         1 iconst_1
         2 invokestatic enter
         5 aload_0
         6 monitorenter
         7 nop
         8 aload_0
         9 monitorexit
         10 aload_0
         11 invokestatic exit
         14 return
         15 aload_0
         16 monitorexit
         17 aload_0
         18 invokestatic exit
         21 athrow",
    );
    assert_eq!(access(&class), 0);
    let handlers: Vec<[u16; 4]> = with_code(&class, "m", |_, code| code.exception_entries().collect());
    assert_eq!(handlers, [[7, 8, 15, 0]]);
}

#[test]
fn controlled_monitors_are_reported_before_entry_and_after_exit() {
    check(
        &controlled(),
        0,
        "m",
        &Body::new(&[42, 194, 42, 195, 177]),
        "0 aload_0
         1 dup
         2 iconst_1
         3 invokestatic enter
         6 monitorenter
         7 aload_0
         8 dup
         9 monitorexit
         10 invokestatic exit
         13 return",
    );
}

#[test]
fn methods_that_overwrite_this_stay_synchronized() {
    let mut class = TestClass::new("A");
    // aconst_null, astore_0, return
    class.method(SYNCHRONIZED, "m", "()V", Some(&Body::new(&[1, 75, 177])));
    let outcome = rewrite(&class, &controlled(), &mut Recorder::new(Foreign::Ignore));
    assert_eq!(access(&outcome.bytes), SYNCHRONIZED);
    assert_eq!(outcome.left_alone.len(), 1);
}

#[test]
fn calls_are_redirected_to_hooks() {
    let mut class = TestClass::new("A");
    let wait = class.method_reference("B", "wait", "(J)V").to_be_bytes();
    let time = class.method_reference("java/lang/System", "nanoTime", "()J").to_be_bytes();
    let other = class.method_reference("B", "nanoTime", "()J").to_be_bytes();
    let code = [
        &[42, 9, 182, wait[0], wait[1]][..],
        &[184, time[0], time[1], 88],
        &[184, other[0], other[1], 88, 177],
    ];
    check_in(
        &mut class,
        &controlled(),
        0,
        "m",
        &Body::new(&code.concat()),
        "0 aload_0
         1 lconst_0
         2 iconst_1
         3 invokestatic waitFor
         6 invokestatic time
         9 pop2
         10 invokestatic nanoTime
         13 pop2
         14 return",
    );
}

#[test]
fn inherited_methods_are_redirected_where_the_code_names_its_own_class() {
    let check = |superclass: &str, is_declared: bool, expected: &str| {
        let mut class = TestClass::extending("A", superclass);
        if is_declared {
            class.method(STATIC, "nanoTime", "()J", Some(&Body::new(&[9, 173])));
        }
        let own = class.method_reference("A", "nanoTime", "()J").to_be_bytes();
        let time = class.method_reference("java/lang/System", "nanoTime", "()J").to_be_bytes();
        let body = Body::new(&[184, own[0], own[1], 88, 184, time[0], time[1], 88, 177]);
        let expected = format!("0 invokestatic {expected}\n3 pop2\n4 invokestatic time\n7 pop2\n8 return");
        check_in(&mut class, &controlled(), 0, "m", &body, &expected);
    };
    check("java/lang/System", false, "time");
    check("java/lang/System", true, "nanoTime");
    check("java/lang/Object", false, "nanoTime");
}

#[test]
fn regions_are_reported_from_entry_to_exit() {
    let expected = "0 invokestatic regionBegin
                    3 nop
                    4 invokestatic regionEnd
                    7 return
                    8 invokestatic regionEnd
                    11 athrow";
    check(&controlled(), 0, "load", &Body::new(&[0, 177]), expected);
    check(&controlled(), STATIC, "<clinit>", &Body::new(&[0, 177]), expected);
}

#[test]
fn annotated_methods_are_blocks() {
    fn check(attribute: &'static str, annotation: &str, expected: bool) {
        let mut class = TestClass::new("A");
        let name = class.utf8(annotation).to_be_bytes();
        let content = vec![0, 1, name[0], name[1], 0, 0];
        class.method_with(0, "m", "()V", Some(&Body::new(&[0, 177])), &[(attribute, content)]);
        let atomicity = Atomicity { blocks: Blocks::MonitorsAndMethods, announced: &[] };
        let plan = detect(Detection { atomicity: Some(atomicity), ..Detection::default() });
        let outcome = crate::rewrite(&class.build(), &plan, &mut Recorder::new(Foreign::Ignore)).unwrap();
        let begins = outcome.map(|outcome| listing(&outcome.bytes, "m")).unwrap_or_default();
        assert_eq!(begins.contains("blockEnter"), expected, "{annotation}");
        assert_eq!(begins.matches("blockExit").count(), if expected { 2 } else { 0 }, "{annotation}");
    }
    check("RuntimeVisibleAnnotations", "Lcom/acme/Atomic;", true);
    check("RuntimeInvisibleAnnotations", "LAtomic;", true);
    check("RuntimeInvisibleAnnotations", "LOuter$Atomic;", true);
    check("RuntimeInvisibleAnnotations", "LNonAtomic;", false);
    check("RuntimeInvisibleParameterAnnotations", "LAtomic;", false);
}

#[test]
fn announced_calls_are_reported_with_their_site() {
    let mut class = TestClass::new("A");
    let get = class.method_reference("Atomic", "get", "()I").to_be_bytes();
    let other = class.method_reference("Atomic", "other", "()V").to_be_bytes();
    let code = [42, 182, get[0], get[1], 87, 42, 182, other[0], other[1], 177];
    let atomicity = Atomicity { blocks: Blocks::Nothing, announced: &[("Atomic", &["get"])] };
    let plan = detect(Detection { atomicity: Some(atomicity), ..Detection::default() });
    check_in(
        &mut class,
        &plan,
        0,
        "m",
        &Body::new(&code),
        "0 aload_0
         1 iconst_1
         2 invokestatic callAt
         5 invokevirtual get
         8 pop
         9 aload_0
         10 invokevirtual other
         13 return",
    );
}

#[test]
fn accesses_that_stand_for_others_are_reported_to_the_environment() {
    fn check(code: impl Fn([u8; 2]) -> Vec<u8>, expected: &[(u32, u32)]) {
        let mut class = TestClass::new("A");
        class.field(0, "count", "I");
        let count = class.field_reference("A", "count", "I").to_be_bytes();
        class.method(0, "m", "()V", Some(&Body::new(&code(count))));
        let mut recorder = Recorder::new(Foreign::Ignore);
        let atomicity = Some(Atomicity::default());
        let plan = detect(Detection { accesses: Accesses::Fields, atomicity, ..Detection::default() });
        rewrite(&class, &plan, &mut recorder);
        assert_eq!(recorder.together, expected);
    }
    // count = count + 1: the write stands for the read.
    check(|count| vec![42, 42, 180, count[0], count[1], 4, 96, 181, count[0], count[1], 177], &[(2, 1)]);
    // count; count: the first read stands for the second.
    check(|count| vec![42, 180, count[0], count[1], 87, 42, 180, count[0], count[1], 87, 177], &[(1, 2)]);
    // if (count == 0) count: the second read need not follow.
    check(|count| vec![42, 180, count[0], count[1], 154, 0, 8, 42, 180, count[0], count[1], 87, 177], &[]);
}

#[test]
fn volatile_fields_are_instrumented_like_plain_ones_on_request() {
    const VOLATILE: u16 = 0x0040;
    fn check(volatiles: bool, expected: usize) {
        let mut class = TestClass::new("A");
        class.field(VOLATILE, "flag", "Z");
        class.field(0, "plain", "Z");
        class.method(0, "m", "()V", Some(&Body::new(&[177])));
        let atomicity = volatiles.then(Atomicity::default);
        let plan = detect(Detection { accesses: Accesses::Fields, atomicity, ..Detection::default() });
        let outcome = rewrite(&class, &plan, &mut Recorder::new(Foreign::Ignore));
        assert_eq!(outcome.shadows.len(), expected);
    }
    check(false, 1);
    check(true, 2);
}

/// Outside of the scope only reads of volatile variables are reported: fields that the class declares or may inherit, and calls.
#[test]
fn reads_by_which_a_library_may_spin_are_reported() {
    const VOLATILE: u16 = 0x0040;
    let mut class = TestClass::new("A");
    class.field(VOLATILE, "flag", "I");
    class.field(0, "plain", "I");
    let field = |class: &mut TestClass, owner: &str, name: &str| {
        let [high, low] = class.field_reference(owner, name, "I").to_be_bytes();
        [42, 180, high, low, 87]
    };
    let mut code: Vec<u8> = Vec::new();
    for (owner, name) in [("A", "flag"), ("A", "plain"), ("A", "inherited"), ("B", "other")] {
        code.extend(field(&mut class, owner, name));
    }
    let [high, low] = class.method_reference("java/lang/invoke/VarHandle", "getAcquire", "()V").to_be_bytes();
    code.extend([42, 182, high, low, 177]);
    let plan = Plan::new(
        "Hook",
        Product::Control(Control { scheduling: SCHEDULING, monitors: true, inside: None, spinning: true }),
    );
    check_in(
        &mut class,
        &plan,
        0,
        "m",
        &Body::new(&code),
        "0 aload_0
         1 invokestatic look
         4 getfield flag:I
         7 pop
         8 aload_0
         9 getfield plain:I
         12 pop
         13 aload_0
         14 iconst_1
         15 invokestatic lookAt
         18 getfield inherited:I
         21 pop
         22 aload_0
         23 getfield other:I
         26 pop
         27 aload_0
         28 invokestatic look
         31 invokevirtual getAcquire
         34 return",
    );
}

#[test]
fn units_report_their_entry_and_exit() {
    let plan = inside(ControlledCode { units: true, ..ControlledCode::default() });
    check(
        &plan,
        SYNCHRONIZED,
        "m",
        &Body::new(&[0, 177]),
        "0 iconst_1
         1 invokestatic unitEnter
         4 aload_0
         5 iconst_2
         6 invokestatic enter
         9 aload_0
         10 monitorenter
         11 nop
         12 aload_0
         13 monitorexit
         14 aload_0
         15 invokestatic exit
         18 iconst_1
         19 invokestatic unitExit
         22 return
         23 aload_0
         24 monitorexit
         25 aload_0
         26 invokestatic exit
         29 iconst_1
         30 invokestatic unitExit
         33 athrow",
    );
}

#[test]
fn constructors_are_units_once_the_object_is_initialized() {
    let plan = inside(ControlledCode { units: true, ..ControlledCode::default() });
    let mut class = TestClass::new("A");
    let other = class.method_reference("java/lang/Object", "<init>", "()V").to_be_bytes();
    // A loop that begins right behind the call of the other constructor must not begin the unit again.
    let code = [42, 183, other[0], other[1], 0, 167, 0xff, 0xff, 177];
    let rewritten = check_in(
        &mut class,
        &plan,
        0,
        "<init>",
        &Body::new(&code),
        "0 aload_0
         1 invokespecial <init>
         4 iconst_1
         5 invokestatic unitEnter
         8 nop
         9 goto 8
         12 iconst_1
         13 invokestatic unitExit
         16 return
         17 iconst_1
         18 invokestatic unitExit
         21 athrow",
    );
    let handlers: Vec<[u16; 4]> =
        with_code(&rewritten, "<init>", |_, code| code.exception_entries().collect());
    assert_eq!(handlers, [[8, 12, 17, 0]]);
}

#[test]
fn every_access_is_reported_under_control() {
    let mut class = TestClass::new("A");
    class.field(0, "count", "I");
    let count = class.field_reference("A", "count", "I").to_be_bytes();
    let code = [42, 42, 180, count[0], count[1], 4, 96, 181, count[0], count[1], 177];
    let accesses = Some(ControlledAccesses::default());
    let plan = inside(ControlledCode { accesses, ..ControlledCode::default() });
    check_in(
        &mut class,
        &plan,
        0,
        "m",
        &Body::new(&code),
        "0 aload_0
         1 aload_0
         2 dup
         3 iconst_1
         4 invokestatic readAt
         7 getfield count:I
         10 iconst_1
         11 instruction_96
         12 dup2
         13 pop
         14 iconst_2
         15 invokestatic writeAt
         18 putfield count:I
         21 return",
    );
}

/// Rewrites a method that uses collections; `code` gets the constants of a final field `A.held` of this type, of a static field
/// `A.shared`, and of the called method.
fn check_contents(
    called: (&str, &str, &str),
    code: impl Fn([u8; 2], [u8; 2], [u8; 2]) -> Vec<u8>,
    expected: &str,
    sites: &[&str],
) {
    const FINAL: u16 = 0x0010;
    let mut class = TestClass::new("A");
    let held_type = format!("L{};", called.0);
    class.field(FINAL, "held", &held_type);
    class.field(STATIC, "shared", &held_type);
    let held = class.field_reference("A", "held", &held_type).to_be_bytes();
    let shared = class.field_reference("A", "shared", &held_type).to_be_bytes();
    let method = class.method_reference(called.0, called.1, called.2).to_be_bytes();
    class.method(0, "m", "()V", Some(&Body::new(&code(held, shared, method))));
    let accesses = ControlledAccesses { elements: true, contents: Contents::Collections };
    let plan = inside(ControlledCode { accesses: Some(accesses), ..ControlledCode::default() });
    let mut recorder = Recorder::new(Foreign::Ignore);
    let outcome = rewrite(&class, &plan, &mut recorder);
    let expected: Vec<&str> = expected.trim().lines().map(str::trim).collect();
    assert_eq!(listing(&outcome.bytes, "m"), expected.join("\n"));
    assert_eq!(recorder.sites, sites);
}

#[test]
fn the_value_of_a_final_field_and_calls_on_it_are_reported() {
    check_contents(
        ("java/util/ArrayList", "add", "(LA;)Z"),
        |held, _, add| vec![42, 180, held[0], held[1], 42, 182, add[0], add[1], 87, 177],
        "0 aload_0
         1 dup
         2 getfield held:Ljava/util/ArrayList;
         5 dup_x1
         6 iconst_1
         7 invokestatic holds
         10 aload_0
         11 dup2
         12 pop
         13 iconst_2
         14 invokestatic contentsBegin
         17 invokevirtual add
         20 iconst_2
         21 invokestatic contentsEnd
         24 pop
         25 return",
        &["m Read A.held", "m Write A.held{}"],
    );
}

#[test]
fn the_collection_is_found_below_many_arguments() {
    check_contents(
        ("java/util/HashMap", "replace", "(LA;JLA;)Z"),
        |_, shared, replace| vec![178, shared[0], shared[1], 42, 9, 42, 182, replace[0], replace[1], 87, 177],
        "0 iconst_1
         1 invokestatic readStaticAt
         4 getstatic shared:Ljava/util/HashMap;
         7 dup
         8 aconst_null
         9 swap
         10 iconst_2
         11 invokestatic holds
         14 aload_0
         15 lconst_0
         16 aload_0
         17 astore 11
         19 lstore 9
         21 astore 8
         23 dup
         24 iconst_3
         25 invokestatic contentsBegin
         28 aload 8
         30 lload 9
         32 aload 11
         34 aconst_null
         35 astore 8
         37 aconst_null
         38 astore 11
         40 invokevirtual replace
         43 iconst_3
         44 invokestatic contentsEnd
         47 pop
         48 return",
        &["m Read A.shared", "m Read A.shared", "m Write A.shared{}"],
    );
}

#[test]
fn collections_from_local_variables_are_reported_and_string_builders_are_not() {
    // var held = this.held; held.forEach(null)
    check_contents(
        ("java/util/Vector", "forEach", "(LB;)V"),
        |held, _, walk| vec![42, 180, held[0], held[1], 75, 42, 1, 182, walk[0], walk[1], 177],
        "0 aload_0
         1 dup
         2 getfield held:Ljava/util/Vector;
         5 dup_x1
         6 iconst_1
         7 invokestatic holds
         10 astore_0
         11 aload_0
         12 aconst_null
         13 dup2
         14 pop
         15 iconst_2
         16 invokestatic walkBegin
         19 invokevirtual forEach
         22 iconst_2
         23 invokestatic contentsEnd
         26 return",
        &["m Read A.held", "m Read A.held{}"],
    );
    // Compilers create a builder for each string concatenation.
    check_contents(
        ("java/lang/StringBuilder", "setLength", "(I)V"),
        |held, _, set| {
            let of_field = [42, 180, held[0], held[1], 3, 182, set[0], set[1]];
            [&of_field[..], &[42, 3, 182, set[0], set[1], 177]].concat()
        },
        "0 aload_0
         1 dup
         2 getfield held:Ljava/lang/StringBuilder;
         5 dup_x1
         6 iconst_1
         7 invokestatic holds
         10 iconst_0
         11 dup2
         12 pop
         13 iconst_2
         14 invokestatic contentsBegin
         17 invokevirtual setLength
         20 iconst_2
         21 invokestatic contentsEnd
         24 aload_0
         25 iconst_0
         26 invokevirtual setLength
         29 return",
        &["m Read A.held", "m Write A.held{}"],
    );
}
