//! Accesses that are reported for race detection.

use crate::access::AccessFlags;
use crate::environment::Foreign;
use crate::plan::{AddedField, Plan};
use crate::testing::{
    Body, Recorder, TestClass, check_listing, code_attribute, everything, listing, op, rewrite,
};

const STATIC: u16 = 0x0008;

#[test]
fn the_hook_of_a_field_access_depends_on_the_field() {
    fn check(foreign: Foreign, opcode: u8, owner: &str, descriptor: &str, expected: &str) {
        let mut class = TestClass::new("A");
        let is_static = opcode < 180;
        class.field(if is_static { STATIC } else { 0 }, "f", descriptor);
        let field = class.field_reference(owner, "f", descriptor);
        class.method(0, "m", "()V", Some(&Body::new(&[op(opcode, field).as_slice(), &[177]].concat())));
        let mut environment = Recorder::new(foreign);
        let outcome = rewrite(&class, &everything(), &mut environment);
        check_listing(&outcome.bytes, "m", expected);
        let kind = if opcode.is_multiple_of(2) { "Read" } else { "Write" };
        let expected_sites =
            if expected.contains("invoke") { vec![format!("m {kind} {owner}.f")] } else { vec![] };
        assert_eq!(environment.sites, expected_sites);
        assert_eq!(outcome.shadows.len(), usize::from(!is_static));
    }
    let read = "0 dup\n1 dup\n2 getfield f:J\n5 iconst_1\n6 invokestatic read\n9 getfield f:I\n12 return";
    check(Foreign::Ignore, 180, "A", "I", read);
    check(Foreign::Shadowed, 180, "B", "I", read);
    let read_long =
        "0 dup\n1 dup\n2 getfield f:D\n5 iconst_1\n6 invokestatic read\n9 getfield f:J\n12 return";
    check(Foreign::Ignore, 180, "A", "J", read_long);
    let write = "0 swap\n1 dup_x1\n2 swap\n3 putfield f:F\n6 dup\n7 getfield f:J\n10 iconst_1
                 11 invokestatic write\n14 return";
    check(Foreign::Ignore, 181, "A", "F", write);
    let write_double = "0 dup2_x1\n1 pop2\n2 dup_x2\n3 dup_x2\n4 pop\n5 putfield f:D\n8 dup\n9 getfield f:J
                        12 iconst_1\n13 invokestatic write\n16 return";
    check(Foreign::Ignore, 181, "A", "D", write_double);
    check(Foreign::Ignore, 180, "B", "I", "0 getfield f:I\n3 return");
    let resolve = "0 dup\n1 iconst_1\n2 invokestatic readAt\n5 getfield f:I\n8 return";
    check(Foreign::Resolve, 180, "B", "I", resolve);
    let resolve_write =
        "0 dup2_x1\n1 pop2\n2 dup_x2\n3 iconst_1\n4 invokestatic writeAt\n7 putfield f:J\n10 return";
    check(Foreign::Resolve, 181, "B", "J", resolve_write);
    let cell = "0 bipush 100\n2 iconst_1\n3 invokestatic readStatic\n6 getstatic f:I\n9 return";
    check(Foreign::Ignore, 178, "A", "I", cell);
    let resolve_static = "0 iconst_1\n1 invokestatic writeStaticAt\n4 putstatic f:I\n7 return";
    check(Foreign::Resolve, 179, "B", "I", resolve_static);
    check(Foreign::Shadowed, 179, "B", "I", resolve_static);
}

#[test]
fn redundant_accesses_are_not_reported() {
    fn check(code: &[u8], expected: &[&str]) {
        let mut class = TestClass::new("A");
        class.field(0, "f", "I");
        let field = class.field_reference("A", "f", "I").to_be_bytes();
        let called = class.method_reference("A", "m", "()V").to_be_bytes();
        // Zeros after a field access or a call stand for its constant.
        let mut code = code.to_vec();
        for at in 0..code.len() {
            match code[at] {
                180 | 181 => code[at + 1..at + 3].copy_from_slice(&field),
                182 => code[at + 1..at + 3].copy_from_slice(&called),
                _ => {}
            }
        }
        class.method(0, "m", "()V", Some(&Body::new(&code)));
        let mut environment = Recorder::new(Foreign::Ignore);
        rewrite(&class, &everything(), &mut environment);
        let kinds: Vec<&str> =
            environment.sites.iter().filter_map(|site| site.split_whitespace().nth(1)).collect();
        assert_eq!(kinds, expected, "{code:?}");
    }
    let read = [42, 180, 0, 0, 87];
    let write = [42, 3, 181, 0, 0];
    let end = [177];
    check(&[&read[..], &read, &end].concat(), &["Read"]);
    check(&[&read[..], &write, &read, &write, &end].concat(), &["Read", "Write"]);
    check(&[&write[..], &read, &end].concat(), &["Write"]);
    // aload_0, dup, getfield, iconst_0, iadd, putfield: both through the same object.
    check(&[&[42, 89, 180, 0, 0, 3, 96, 181, 0, 0][..], &read, &end].concat(), &["Read", "Write"]);
    // A call, a monitor, a jump into the code, and another object in the variable.
    check(&[&read[..], &[42, 182, 0, 0], &read, &end].concat(), &["Read", "Read"]);
    check(&[&read[..], &[42, 194], &read, &end].concat(), &["Read", "Read"]);
    check(&[&read[..], &read, &[3, 153, 255, 250], &end].concat(), &["Read", "Read"]);
    check(&[&read[..], &[43, 75], &read, &end].concat(), &["Read", "Read"]);
    check(&[&read[..], &[43, 180, 0, 0, 87], &end].concat(), &["Read", "Read"]);
}

#[test]
fn a_read_that_a_write_certainly_follows_is_not_reported() {
    fn check(between: &[u8], expected: &str) {
        let mut class = TestClass::new("A");
        class.field(0, "f", "I");
        let field = class.field_reference("A", "f", "I");
        let code = [&[42, 89][..], &op(180, field), between, &op(181, field), &[177]].concat();
        class.method(0, "m", "()V", Some(&Body::new(&code)));
        let outcome = rewrite(&class, &everything(), &mut Recorder::new(Foreign::Ignore));
        check_listing(&outcome.bytes, "m", expected);
    }
    // The sum is certain to be stored, the quotient is not: the divisor may be zero.
    check(
        &[3, 96],
        "0 aload_0
         1 dup
         2 getfield f:I
         5 iconst_0
         6 instruction_96
         7 swap
         8 dup_x1
         9 swap
         10 putfield f:I
         13 dup
         14 getfield f:J
         17 iconst_2
         18 invokestatic write
         21 return",
    );
    check(
        &[3, 108],
        "0 aload_0
         1 dup
         2 dup
         3 dup
         4 getfield f:J
         7 iconst_1
         8 invokestatic read
         11 getfield f:I
         14 iconst_0
         15 instruction_108
         16 swap
         17 dup_x1
         18 swap
         19 putfield f:I
         22 dup
         23 getfield f:J
         26 iconst_2
         27 invokestatic write
         30 return",
    );
}

#[test]
fn shadows_are_given_to_plain_fields_once_per_name() {
    let mut class = TestClass::new("A");
    class.field(0x0010, "constant", "I");
    class.field(0x0040, "signal", "I");
    class.field(0x0002, "plain", "I");
    class.field(0x0002, "plain", "F");
    class.field(0, "taken", "I");
    class.field(0x0010, "taken", "J");
    class.field(0, "long", "J");
    let added = [
        AddedField { name: "extra", descriptor: "I", access: AccessFlags::SYNTHETIC },
        AddedField { name: "signal", descriptor: "I", access: AccessFlags::SYNTHETIC },
    ];
    let plan = Plan { added_fields: &added, ..everything() };
    let outcome = rewrite(&class, &plan, &mut Recorder::new(Foreign::Ignore));
    let shadows: Vec<_> =
        outcome.shadows.iter().map(|shadow| (&*shadow.name, shadow.shadow_descriptor)).collect();
    assert_eq!(shadows, [("plain", "J"), ("long", "D")]);
    let summary = crate::read_summary(&outcome.bytes).expect("a class");
    let new: Vec<_> = summary
        .fields
        .iter()
        .skip(7)
        .map(|field| (&*field.name, &*field.descriptor, field.access.bits()))
        .collect();
    assert_eq!(new, [("plain", "J", 0x1081), ("long", "D", 0x1081), ("extra", "I", 0x1000)]);
}

#[test]
fn constructors_are_instrumented_once_the_object_is_initialized() {
    let mut class = TestClass::new("A");
    class.field(0, "f", "I");
    let field = class.field_reference("A", "f", "I");
    let other = class.class("B");
    let other_constructor = class.method_reference("B", "<init>", "()V");
    let constructor = class.method_reference("java/lang/Object", "<init>", "()V");
    let code = [
        op(180, field).as_slice(),
        &op(187, other),
        &op(183, other_constructor),
        &op(180, field),
        &op(183, constructor),
        &op(180, field),
        &[177],
    ]
    .concat();
    class.method(0, "<init>", "()V", Some(&Body::new(&code)));
    let outcome = rewrite(&class, &everything(), &mut Recorder::new(Foreign::Ignore));
    check_listing(
        &outcome.bytes,
        "<init>",
        "0 getfield f:I
         3 new
         6 invokespecial <init>
         9 getfield f:I
         12 invokespecial <init>
         15 dup
         16 dup
         17 getfield f:J
         20 iconst_1
         21 invokestatic read
         24 getfield f:I
         27 return",
    );
}

#[test]
fn constructors_are_not_instrumented_if_a_frame_has_an_uninitialized_object() {
    fn check(frames: &[u8], expected_methods: u32) {
        let mut class = TestClass::new("A");
        class.field(0, "f", "I");
        let field = class.field_reference("A", "f", "I");
        let constructor = class.method_reference("java/lang/Object", "<init>", "()V");
        let mut body = Body::new(&[op(183, constructor).as_slice(), &op(180, field), &[177]].concat());
        body.attributes = vec![("StackMapTable", frames.to_vec())];
        class.method(0, "<init>", "()V", Some(&body));
        let outcome = rewrite(&class, &everything(), &mut Recorder::new(Foreign::Ignore));
        assert_eq!(outcome.methods_rewritten, expected_methods, "{frames:?}");
    }
    check(&[0, 0], 1);
    // At the last instruction: the uninitialized object, as at the entry, the initialized one.
    check(&[0, 1, 255, 0, 6, 0, 1, 6, 0, 0], 0);
    check(&[0, 1, 6], 0);
    check(&[0, 1, 255, 0, 6, 0, 1, 7, 0, 2, 0, 0], 1);
    // The same frame before the constructor call is normal.
    check(&[0, 1, 0], 1);
}

#[test]
fn class_initializers_report_their_extent_and_not_their_writes() {
    let mut class = TestClass::new("A");
    class.field(STATIC, "f", "I");
    class.field(STATIC, "g", "I");
    let field = class.field_reference("A", "f", "I");
    let code = [op(179, field).as_slice(), &[177]].concat();
    class.method(STATIC, "<clinit>", "()V", Some(&Body::new(&code)));
    let outcome = rewrite(&class, &everything(), &mut Recorder::new(Foreign::Ignore));
    check_listing(
        &outcome.bytes,
        "<clinit>",
        "0 invokestatic initializerBegin
         3 putstatic f:I
         6 invokestatic initializerEnd
         9 return
         10 invokestatic initializerEnd
         13 athrow",
    );
}

#[test]
fn array_accesses_are_reported_with_their_source() {
    fn check(code: &[u8], expected_site: &str, expected: &str) {
        let mut class = TestClass::new("A");
        let field = class.field_reference("B", "table", "[[I");
        let mut code = code.to_vec();
        // The field's number is not known before: 180 stands for its access, with the number in the next two bytes.
        if let Some(at) = code.iter().position(|byte| *byte == 180) {
            code.splice(at..at + 3, op(180, field));
        }
        let mut body = Body::new(&code);
        let (name, kind) = (class.utf8("values").to_be_bytes(), class.utf8("[I").to_be_bytes());
        let local = [0, 1, 0, 0, 0, code.len() as u8, name[0], name[1], kind[0], kind[1], 0, 1];
        body.attributes =
            vec![("LocalVariableTable", local.to_vec()), ("LineNumberTable", vec![0, 1, 0, 0, 0, 7])];
        class.method(0, "m", "()V", Some(&body));
        let mut environment = Recorder::new(Foreign::Ignore);
        let outcome = rewrite(&class, &everything(), &mut environment);
        assert_eq!(environment.sites.last().map(String::as_str), Some(expected_site));
        if !expected.is_empty() {
            check_listing(&outcome.bytes, "m", expected);
        }
    }
    let read =
        "0 aload_1\n1 iconst_0\n2 dup2\n3 iconst_1\n4 invokestatic arrayRead\n7 iaload\n8 pop\n9 return";
    check(&[43, 3, 46, 87, 177], "m:7 Read values@1[]", read);
    let write = "0 aload_2\n1 iconst_0\n2 iconst_1\n3 dup_x2\n4 pop\n5 dup2_x1\n6 iconst_1
                 7 invokestatic arrayWrite\n10 iastore\n11 return";
    check(&[44, 3, 4, 79, 177], "m:7 Write ?@2[]", write);
    let write_long = "0 aload_2\n1 iconst_0\n2 lconst_0\n3 dup2_x2\n4 pop2\n5 dup2_x2\n6 iconst_1
                      7 invokestatic arrayWrite\n10 lastore\n11 return";
    check(&[44, 3, 9, 80, 177], "m:7 Write ?@2[]", write_long);
    // aload_0, getfield, iconst_0, aaload, astore_2, aload_2, iconst_0, iaload: still the field's.
    check(&[42, 180, 0, 0, 3, 50, 77, 44, 3, 46, 87, 177], "m:7 Read B.table[]", "");
    // After a jump target the stack is unknown.
    check(&[43, 3, 153, 0, 3, 3, 46, 87, 177], "m:7 Read []", "");
    // aload_1, iconst_0, swap twice, dup2, pop2.
    check(&[43, 3, 95, 95, 92, 88, 46, 87, 177], "m:7 Read values@1[]", "");
}

#[test]
fn probe_arrays_of_a_coverage_tool_are_not_reported() {
    let mut class = TestClass::new("A");
    class.field(STATIC, "$jacocoData", "[Z");
    let field = class.field_reference("A", "$jacocoData", "[Z");
    let init = class.method_reference("A", "$jacocoInit", "()[Z");
    let constant = class.dynamic("$jacocoData", "Ljava/lang/Object;") as u8;
    // aload_1, iconst_0, iconst_1, bastore: a write of this probe array, of another one, and of an array that replaced it.
    let store = [43, 3, 4, 84].as_slice();
    let code = [&op(184, init), [76].as_slice(), store, &[18, constant, 76], store, &[42, 76], store];
    let code = [&code.concat(), op(178, field).as_slice(), &[87, 177]].concat();
    class.method(STATIC, "m", "([Z)V", Some(&Body::new(&code)));
    let mut environment = Recorder::new(Foreign::Ignore);
    rewrite(&class, &everything(), &mut environment);
    assert_eq!(environment.sites, ["m Write ?@1[]"]);
}

#[test]
fn calls_that_are_accesses_are_reported() {
    fn check(
        opcode: u8,
        class_name: &str,
        name: &str,
        descriptor: &str,
        expected_site: &str,
        expected: &str,
    ) {
        let mut class = TestClass::new("A");
        let called = class.method_reference(class_name, name, descriptor);
        class.method(0, "m", "()V", Some(&Body::new(&[&op(opcode, called), [177].as_slice()].concat())));
        let mut environment = Recorder::new(Foreign::Ignore);
        let outcome = rewrite(&class, &everything(), &mut environment);
        assert_eq!(environment.sites, [expected_site]);
        check_listing(&outcome.bytes, "m", expected);
    }
    check(
        182,
        "java/lang/invoke/VarHandle",
        "set",
        "([JIJ)V",
        "m Write []",
        "0 lstore 11\n2 istore 10\n4 astore 9
         6 dup\n7 aload 9\n9 iload 10\n11 iconst_1\n12 invokestatic handleWriteElement
         15 aload 9\n17 iload 10\n19 lload 11\n21 aconst_null\n22 astore 9\n24 invokevirtual set\n27 return",
    );
    check(
        182,
        "sun/misc/Unsafe",
        "getInt",
        "(Ljava/lang/Object;J)I",
        "m Read ->",
        "0 lstore 10\n2 astore 9
         4 aload 9\n6 lload 10\n8 iconst_4\n9 iconst_1\n10 invokestatic unsafeRead
         13 aload 9\n15 lload 10\n17 aconst_null\n18 astore 9\n20 invokevirtual getInt\n23 return",
    );
    // Only after the call is it known whether the field is volatile, and only then does the happens-before edge exist.
    check(
        182,
        "java/lang/reflect/Field",
        "get",
        "(Ljava/lang/Object;)Ljava/lang/Object;",
        "m Read ->",
        "0 astore 9\n2 dup\n3 astore 8\n5 aload 9\n7 invokevirtual get
         10 aload 8\n12 aload 9\n14 iconst_1\n15 invokestatic reflectedRead
         18 aconst_null\n19 astore 9\n21 aconst_null\n22 astore 8\n24 return",
    );
    check(
        184,
        "java/lang/reflect/Array",
        "getInt",
        "(Ljava/lang/Object;I)I",
        "m Read []",
        "0 istore 10\n2 astore 9\n4 aload 9\n6 iload 10\n8 iconst_1\n9 invokestatic elementRead
         12 aload 9\n14 iload 10\n16 aconst_null\n17 astore 9\n19 invokestatic getInt\n22 return",
    );
}

#[test]
fn loops_remember_the_arrays_that_they_use() {
    fn check(code: &[u8], frames: &[u8], expected: &str, expected_frames: &[u8]) {
        let mut class = TestClass::new("A");
        let mut body = Body::new(code);
        body.attributes = vec![("StackMapTable", frames.to_vec())];
        class.method(STATIC, "m", "(DLA;)V", Some(&body));
        let outcome = rewrite(&class, &everything(), &mut Recorder::new(Foreign::Ignore));
        check_listing(&outcome.bytes, "m", expected);
        // The constants of classes are numbered by chance.
        let mut found = code_attribute(&outcome.bytes, "m", "StackMapTable").unwrap();
        let objects: Vec<usize> = (0..found.len()).filter(|at| found[*at] == 7).collect();
        for at in objects {
            found[at + 1..at + 3].fill(0);
        }
        assert_eq!(found, expected_frames);
    }
    // aload_2, iconst_0, iaload, pop, goto to the first: the variables are set before the loop, and the frame has them behind the
    // method's own, of which there are eight.
    check(
        &[44, 3, 46, 87, 167, 255, 252],
        &[0, 1, 0],
        "0 aconst_null\n1 astore 8\n3 aconst_null\n4 astore 9
         6 aload_2\n7 iconst_0\n8 dup2\n9 dup2\n10 aload 8\n12 aload 9\n14 iconst_1\n15 invokestatic arrayRead
         18 astore 9\n20 pop\n21 astore 8\n23 iaload\n24 pop\n25 goto 6",
        &[0, 1, 255, 0, 6, 0, 9, 3, 7, 0, 0, 0, 0, 0, 0, 0, 7, 0, 0, 7, 0, 0, 0, 0],
    );
}

#[test]
fn fields_of_a_confined_object_are_written_with_their_words() {
    fn check(before: &[u8], super_class: &str, expected: bool) {
        let mut class = TestClass::new("A");
        class.field(0, "f", "I");
        let field = class.field_reference("A", "f", "I");
        let constructor = class.method_reference(super_class, "<init>", "()V");
        let called = class.method_reference("B", "m", "(ILjava/lang/Object;)V");
        // 184 with zeros stands for a call of `m`.
        let mut before = before.to_vec();
        if let Some(at) = before.iter().position(|byte| *byte == 184) {
            before.splice(at..at + 3, op(184, called));
        }
        let code = [&[42][..], &op(183, constructor), &before, &[42, 3], &op(181, field), &[177]].concat();
        class.method(0, "<init>", "()V", Some(&Body::new(&code)));
        let outcome = rewrite(&class, &everything(), &mut Recorder::new(Foreign::Ignore));
        let found = listing(&outcome.bytes, "<init>");
        assert_eq!(found.contains("invokestatic fresh"), expected, "{before:?}: {found}");
        assert_eq!(found.contains("invokestatic write"), !expected, "{before:?}: {found}");
    }
    check(&[], "java/lang/Object", true);
    check(&[3, 1, 184, 0, 0], "java/lang/Object", true);
    // Another constructor of the class, a call, another variable, and the monitor.
    check(&[], "A", false);
    check(&[3, 42, 184, 0, 0], "java/lang/Object", false);
    check(&[42, 76], "java/lang/Object", false);
    check(&[42, 194], "java/lang/Object", false);
}
