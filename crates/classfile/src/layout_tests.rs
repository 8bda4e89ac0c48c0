//! Relocated code, and the tables that are relocated with it.

use crate::bytes::{put_u16, u16_at};
use crate::environment::Foreign;
use crate::plan::Outcome;
use crate::testing::{Body, Recorder, TestClass, code_attribute, everything, listing, rewrite, with_code};

/// A monitorexit, before which four bytes are inserted.
const GROWS_BY_FOUR: [u8; 2] = [42, 195];

fn rewrite_body(body: &Body) -> Outcome {
    let mut class = TestClass::new("A");
    class.method(0, "m", "()V", Some(body));
    rewrite(&class, &everything(), &mut Recorder::new(Foreign::Ignore))
}

/// A method with `growing` instructions that grow, between a conditional jump over them and an unconditional jump back.
fn long_method(growing: usize, has_island: bool) -> Body {
    let block = GROWS_BY_FOUR.repeat(growing / 2);
    let island: &[u8] = if has_island { &[177] } else { &[0] };
    let length = 2 * block.len() + 1;
    let mut code = vec![3, 153];
    put_u16(&mut code, length as u16 + 6);
    code.extend_from_slice(&block);
    code.extend_from_slice(island);
    code.extend_from_slice(&block);
    code.push(167);
    put_u16(&mut code, (-(length as i16) - 4).cast_unsigned());
    code.push(177);
    let mut body = Body::new(&code);
    // Frames at the start, behind the island if there is one, and at the end; the last one has an additional local variable.
    let mut frames = vec![0, if has_island { 3 } else { 2 }, 0];
    let island_pc = 4 + block.len() as u16 + 1;
    let end = code.len() as u16 - 1;
    if has_island {
        frames.push(251);
        put_u16(&mut frames, island_pc - 1);
        frames.push(252);
        put_u16(&mut frames, end - island_pc - 1);
    } else {
        frames.push(252);
        put_u16(&mut frames, end - 1);
    }
    frames.push(1);
    body.attributes = vec![("StackMapTable", frames)];
    body
}

#[test]
fn switches_keep_their_padding_right() {
    fn check(nops: usize, switch: &[u8], expected_targets: &str) {
        let padding = vec![0; 3 - nops % 4];
        let mut code = vec![0; nops];
        code.push(switch[0]);
        code.extend_from_slice(&padding);
        code.extend_from_slice(&switch[1..]);
        let distance = (code.len() - nops) as u8;
        // Every case, marked by 99, goes to what follows the switch.
        code.iter_mut().filter(|byte| **byte == 99).for_each(|byte| *byte = distance);
        code.extend_from_slice(&GROWS_BY_FOUR);
        code.push(177);
        let mut shifted = GROWS_BY_FOUR.to_vec();
        // The code before the switch grows by four to six bytes.
        shifted.extend_from_slice(&[0, 0]);
        shifted.extend_from_slice(&code);
        let outcome = rewrite_body(&Body::new(&shifted));
        let found = listing(&outcome.bytes, "m");
        assert!(found.contains(expected_targets), "{found}");
    }
    let table = [170, 0, 0, 0, 99, 0, 0, 0, 1, 0, 0, 0, 2, 0, 0, 0, 99, 0, 0, 0, 99];
    check(0, &table, "8 tableswitch 32 32 32");
    check(1, &table, "9 tableswitch 32 32 32");
    check(3, &table, "11 tableswitch 32 32 32");
    let lookup = [171, 0, 0, 0, 99, 0, 0, 0, 1, 0, 0, 0, 5, 0, 0, 0, 99];
    check(0, &lookup, "8 lookupswitch 28 28");
    check(2, &lookup, "10 lookupswitch 28 28");
}

#[test]
fn frames_move_with_their_instructions() {
    fn check(frames: &[u8], expected: &[u8]) {
        // 0: aload_0, 1: monitorexit, 2: new, 5: monitorexit, 6: return; everything shifts by four at 1 and at 5.
        let mut body = Body::new(&[42, 195, 187, 0, 2, 195, 177]);
        body.attributes = vec![("StackMapTable", frames.to_vec())];
        let outcome = rewrite_body(&body);
        assert_eq!(
            code_attribute(&outcome.bytes, "m", "StackMapTable").as_deref(),
            Some(expected),
            "{frames:?}"
        );
    }
    check(&[0, 2, 2, 2], &[0, 2, 6, 2]);
    check(&[0, 2, 1, 4], &[0, 2, 1, 12]);
    check(&[0, 1, 66, 1], &[0, 1, 70, 1]);
    check(&[0, 1, 247, 0, 6, 7, 0, 2], &[0, 1, 64 + 14, 7, 0, 2]);
    check(&[0, 1, 251, 0, 2], &[0, 1, 6]);
    check(&[0, 2, 250, 0, 2, 253, 0, 2, 1, 4], &[0, 2, 250, 0, 6, 253, 0, 2, 1, 4]);
    // An uninitialized object is named by its `new`; the frame at 5 is at the start of what is inserted there.
    check(&[0, 1, 255, 0, 5, 0, 1, 8, 0, 2, 0, 1, 8, 0, 2], &[0, 1, 255, 0, 9, 0, 1, 8, 0, 6, 0, 1, 8, 0, 6]);
}

#[test]
fn debug_tables_are_relocated_without_invalid_entries() {
    fn check(name: &'static str, content: &[u8], expected: Option<&[u8]>) {
        let mut body = Body::new(&[42, 195, 0, 42, 195, 177]);
        body.attributes = vec![(name, content.to_vec())];
        let outcome = rewrite_body(&body);
        assert_eq!(code_attribute(&outcome.bytes, "m", name).as_deref(), expected, "{name} {content:?}");
    }
    // A table that the JVM rejects stays unchanged, so that the JVM still rejects it.
    fn check_left_alone(name: &'static str, content: &[u8]) {
        let mut body = Body::new(&[42, 195, 0, 42, 195, 177]);
        body.attributes = vec![(name, content.to_vec())];
        let outcome = rewrite_body(&body);
        assert_eq!(outcome.left_alone.len(), 1, "{name} {content:?}");
        assert_eq!(code_attribute(&outcome.bytes, "m", name).as_deref(), Some(content), "{name} {content:?}");
    }
    check_left_alone("LineNumberTable", &[0, 2, 0, 0, 0, 7, 0, 9, 0, 9]);
    check_left_alone("LineNumberTable", &[0, 2, 0, 0, 0, 7]);
    check_left_alone("LocalVariableTable", &[0, 1, 0, 0, 0, 7, 0, 1, 0, 1, 0, 0]);
    check("LineNumberTable", &[0, 2, 0, 0, 0, 7, 0, 3, 0, 9], Some(&[0, 2, 0, 0, 0, 7, 0, 7, 0, 9]));
    check(
        "LocalVariableTable",
        &[0, 1, 0, 0, 0, 6, 0, 1, 0, 1, 0, 0],
        Some(&[0, 1, 0, 0, 0, 14, 0, 1, 0, 1, 0, 0]),
    );
    check(
        "LocalVariableTypeTable",
        &[0, 1, 0, 2, 0, 3, 0, 1, 0, 1, 0, 0],
        Some(&[0, 1, 0, 6, 0, 7, 0, 1, 0, 1, 0, 0]),
    );
    check("SomethingElse", &[1, 2, 3], None);
    let annotations = "RuntimeVisibleTypeAnnotations";
    // A cast at 4, which moves to 12; its annotation has an array of two strings.
    let cast = [0, 1, 0x47, 0, 4, 0, 0, 0, 1, 0, 1, 0, 1, b'[', 0, 2, b's', 0, 1, b's', 0, 1];
    let moved = [0, 1, 0x47, 0, 12, 0, 0, 0, 1, 0, 1, 0, 1, b'[', 0, 2, b's', 0, 1, b's', 0, 1];
    check(annotations, &cast, Some(&moved));
    let local = [0, 1, 0x40, 0, 1, 0, 2, 0, 1, 0, 1, 0, 0, 1, 0, 0];
    check(annotations, &local, Some(&[0, 1, 0x40, 0, 1, 0, 6, 0, 1, 0, 1, 0, 0, 1, 0, 0]));
    check(annotations, &[0, 1, 0x42, 0, 0, 0, 0, 1, 0, 0], Some(&[0, 1, 0x42, 0, 0, 0, 0, 1, 0, 0]));
    check(annotations, &[0, 1, 0x10, 0, 0, 0, 0, 1, 0, 0], None);
    check(annotations, &[0, 1, 0x43, 0, 99, 0, 0, 1, 0, 0], None);
}

#[test]
fn jumps_that_get_too_long_become_wide_or_use_a_stub() {
    let body = long_method(6000, true);
    let outcome = rewrite_body(&body);
    assert_eq!(outcome.left_alone, []);
    let found = listing(&outcome.bytes, "m");
    // The first jump goes to the stub behind the island; the stub to the end; the last jump is wide.
    let stub = 4 + 3000 * 6 + 1;
    let end = stub + 5 + 3000 * 6 + 5;
    assert!(found.contains(&format!("\n1 ifeq {stub}\n")));
    assert!(found.contains(&format!("\n{stub} goto_w {end}\n")));
    assert!(found.contains(&format!("\n{} goto_w 0\n", end - 5)));
    let frames = code_attribute(&outcome.bytes, "m", "StackMapTable").expect("frames");
    let mut expected = vec![0, 4, 0, 255];
    put_u16(&mut expected, stub as u16 - 1);
    // The target's local variables: this and an int. The frame behind has only this again.
    expected.extend_from_slice(&[0, 2, 7, 0, 2, 1, 0, 0, 255, 0, 4, 0, 1, 7, 0, 2, 0, 0, 252]);
    put_u16(&mut expected, (end - stub - 6) as u16);
    expected.push(1);
    assert_eq!(frames, expected);
}

#[test]
fn methods_that_cannot_be_rewritten_are_left_unchanged() {
    fn check(body: &Body, reason: &str) {
        let mut class = TestClass::new("A");
        class.method(0, "m", "()V", Some(body));
        class.method(0, "other", "()V", Some(&Body::new(&[42, 195, 177])));
        let original = class.build();
        let outcome = rewrite(&class, &everything(), &mut Recorder::new(Foreign::Ignore));
        assert_eq!(outcome.methods_rewritten, 1);
        assert_eq!(outcome.left_alone.len(), 1);
        let left = &outcome.left_alone[0];
        assert_eq!((&*left.name, &*left.descriptor), ("m", "()V"));
        assert!(left.reason.contains(reason), "{}", left.reason);
        let code = |class: &[u8]| with_code(class, "m", |_, code| code.bytes.to_vec());
        assert_eq!(code(&original), code(&outcome.bytes));
    }
    check(&long_method(6000, false), "jump would be too long");
    check(&long_method(12000, true), "longer than 65535");
    let mut body = Body::new(&[42, 195, 177]);
    body.max_stack = u16::MAX;
    check(&body, "deeper");
    let mut body = Body::new(&[42, 195, 177]);
    body.attributes = vec![("StackMapTable", vec![0, 1, 128])];
    check(&body, "StackMapTable");
    let mut body = Body::new(&[42, 195, 177]);
    body.attributes = vec![("StackMapTable", vec![0, 0]), ("StackMapTable", vec![0, 0])];
    check(&body, "StackMapTable");
}

#[test]
fn malformed_code_is_left_unchanged() {
    fn check(code: &[u8]) {
        let mut class = TestClass::new("A");
        class.method(0, "m", "()V", Some(&Body::new(code)));
        let outcome = crate::rewrite(&class.build(), &everything(), &mut Recorder::new(Foreign::Ignore));
        let outcome = outcome.expect("a class").expect("a method left alone");
        assert_eq!(outcome.bytes, class.build(), "{code:?}");
        assert_eq!(outcome.left_alone.len(), 1, "{code:?}");
    }
    check(&[]);
    check(&[255]);
    check(&[42, 195, 16]);
    check(&[42, 195, 167, 0, 1, 177]);
    check(&[42, 195, 167, 0, 99, 177]);
    check(&[178, 255, 255, 177]);
}

#[test]
fn the_constant_pool_may_be_full() {
    let mut class = TestClass::new("A");
    class.method(0, "m", "()V", Some(&Body::new(&[42, 195, 177])));
    let mut last = 0;
    while last < u16::MAX - 1 {
        last = class.utf8(&last.to_string());
    }
    let outcome = crate::rewrite(&class.build(), &everything(), &mut Recorder::new(Foreign::Ignore));
    let outcome = outcome.expect("a class").expect("a method left alone");
    assert_eq!(u16_at(&outcome.bytes, 8), u16::MAX);
    assert_eq!(outcome.bytes, class.build());
    assert!(outcome.left_alone[0].reason.contains("constant pool is full"));
}
