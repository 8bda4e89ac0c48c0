//! No input causes a panic, and rewritten classes can be parsed again.

use proptest::collection::vec;
use proptest::prelude::*;

use crate::access::AccessFlags;
use crate::control::{Contents, Control, ControlledAccesses, ControlledCode, Scheduling};
use crate::detect::Detection;
use crate::environment::Foreign;
use crate::explore::Exploration;
use crate::plan::{AddedField, Plan, Probe, ProbeArguments, ProbePoint, Product};
use crate::script::{Advice, Script};
use crate::testing::{ACCESSES, Body, Recorder, TestClass, check_structure, nothing};

const ADDED: [AddedField<'static>; 1] =
    [AddedField { name: "extra", descriptor: "I", access: AccessFlags::empty() }];
const PROBES: [Probe<'static>; 2] = [
    Probe {
        method: "m",
        descriptor: None,
        at: ProbePoint::Return,
        hook_method: "done",
        argument: ProbeArguments::This,
    },
    Probe {
        method: "<init>",
        descriptor: None,
        at: ProbePoint::Return,
        hook_method: "made",
        argument: ProbeArguments::This,
    },
];

/// Pieces of code that leave the stack unchanged.
fn pieces(class: &mut TestClass) -> Vec<Vec<u8>> {
    let field = class.field_reference("A", "f", "I").to_be_bytes();
    let wide = class.field_reference("A", "l", "J").to_be_bytes();
    let fixed = class.field_reference("A", "s", "I").to_be_bytes();
    let foreign = class.field_reference("B", "f", "I").to_be_bytes();
    let wait = class.method_reference("java/lang/Object", "wait", "(J)V").to_be_bytes();
    let held = class.field_reference("A", "c", "Ljava/util/Map;").to_be_bytes();
    let shared = class.field_reference("B", "c", "Ljava/util/Map;").to_be_bytes();
    let put = class.method_reference("java/util/Map", "put", "(LA;LA;)LA;").to_be_bytes();
    let size = class.method_reference("java/util/Map", "size", "()I").to_be_bytes();
    vec![
        vec![0],
        vec![42, 180, field[0], field[1], 87],
        vec![42, 9, 181, wide[0], wide[1]],
        vec![178, fixed[0], fixed[1], 179, fixed[0], fixed[1]],
        vec![42, 180, foreign[0], foreign[1], 87],
        vec![42, 194, 42, 195],
        vec![42, 9, 182, wait[0], wait[1]],
        vec![43, 3, 46, 87],
        vec![43, 3, 4, 79],
        // A forward jump to the next instruction; a backward jump that is never taken.
        vec![3, 153, 0, 3],
        vec![167, 0, 3],
        vec![0, 4, 153, 255, 254],
        vec![42, 180, held[0], held[1], 42, 42, 182, put[0], put[1], 87],
        vec![178, shared[0], shared[1], 182, size[0], size[1], 87],
    ]
}

/// A class with methods of the pieces that `choices` name.
fn assemble(choices: &[Vec<usize>], major: u16, access: u16) -> Vec<u8> {
    let mut class = TestClass::new("A");
    class.major = major;
    class.field(0, "f", "I");
    class.field(0, "l", "J");
    class.field(8, "s", "I");
    class.field(0x10, "c", "Ljava/util/Map;");
    let pieces = pieces(&mut class);
    for (number, choice) in choices.iter().enumerate() {
        let mut code: Vec<u8> =
            choice.iter().flat_map(|piece| pieces[piece % pieces.len()].clone()).collect();
        let length = code.len() as u16;
        code.push(177);
        let mut body = Body::new(&code);
        body.attributes = vec![("LineNumberTable", vec![0, 1, 0, 0, 0, 1])];
        if length > 0 {
            body.exceptions = vec![[0, length, length, 0]];
            let [high, low] = length.to_be_bytes();
            body.attributes.push(("StackMapTable", vec![0, 1, 251, high, low]));
        }
        let name = ["m", "<init>", "<clinit>"][number % 3];
        class.method(if number % 3 == 0 { access } else { 0 }, name, "()V", Some(&body));
    }
    class.build()
}

fn run(class: &[u8], foreign: Foreign) {
    // The other readers must not panic or hang either.
    let _ = crate::flow::read_flow(class, true);
    let _ = crate::literals::read_literals(class);
    for plan in plans() {
        if let Ok(Some(outcome)) = crate::rewrite(class, &plan, &mut Recorder::new(foreign)) {
            assert!(crate::read_summary(&outcome.bytes).is_ok() || crate::read_summary(class).is_err());
        }
    }
}

fn foreign() -> impl Strategy<Value = Foreign> {
    prop_oneof![Just(Foreign::Shadowed), Just(Foreign::Ignore), Just(Foreign::Resolve)]
}

/// A plan with all instrumentation for detection, and one with all instrumentation for controlled runs.
fn plans() -> [Plan<'static>; 4] {
    let detection = Product::Detect(Detection { entries: true, ..ACCESSES });
    let scheduling = Scheduling { calls: &[], regions: &[], volatile_reads: &[] };
    let accesses = ControlledAccesses { elements: true, contents: Contents::CollectionsAndAtomics };
    let inside = Some(ControlledCode { accesses: Some(accesses), units: true, entries: true });
    let script = Script { monitors: true, advice: Some(Advice::default()) };
    let products = [
        detection,
        Product::Control(Control { scheduling, monitors: true, inside, spinning: true }),
        Product::Explore(Exploration { scheduling, monitors: true, points: true }),
        Product::Script(script),
    ];
    products.map(|product| Plan { hook: "Hook", product, added_fields: &ADDED, probes: &PROBES })
}

proptest! {
    #[test]
    fn random_bytes_do_no_harm(bytes in vec(any::<u8>(), 0..400)) {
        run(&bytes, Foreign::Resolve);
        let mut class = vec![0xCA, 0xFE, 0xBA, 0xBE, 0, 0, 0, 52, 0];
        class.extend_from_slice(&bytes);
        run(&class, Foreign::Resolve);
    }

    #[test]
    fn random_code_does_no_harm(code in vec(any::<u8>(), 0..300), frames in vec(any::<u8>(), 0..40), access in any::<u16>()) {
        let mut class = TestClass::new("A");
        class.field(0, "f", "I");
        pieces(&mut class);
        let mut body = Body::new(&code);
        body.exceptions = vec![[0, 1, 0, 0]];
        body.attributes = vec![("StackMapTable", frames.clone()), ("RuntimeVisibleTypeAnnotations", frames)];
        class.method(access, "m", "()V", Some(&body));
        run(&class.build(), Foreign::Shadowed);
    }

    #[test]
    fn mutated_classes_do_no_harm(
        choices in vec(vec(0..14_usize, 0..12), 0..4),
        changes in vec((any::<prop::sample::Index>(), any::<u8>()), 1..12),
        cut in any::<prop::sample::Index>(),
        foreign in foreign(),
    ) {
        let mut class = assemble(&choices, 52, 0x20);
        for (position, value) in changes {
            let index = position.index(class.len());
            class[index] = value;
        }
        run(&class, foreign);
        class.truncate(cut.index(class.len()));
        run(&class, foreign);
    }

    #[test]
    fn rewritten_classes_are_well_formed(
        choices in vec(vec(0..14_usize, 0..60), 0..5),
        major in 45..70_u16,
        is_static in any::<bool>(),
        is_synchronized in any::<bool>(),
        foreign in foreign(),
    ) {
        let access = if is_static { 8 } else { 0 } | if is_synchronized { 0x20 } else { 0 };
        let class = assemble(&choices, major, access);
        for plan in plans() {
            let outcome = crate::rewrite(&class, &plan, &mut Recorder::new(foreign));
            let outcome = outcome.expect("a well-formed class").expect("fields at least");
            check_structure(&outcome.bytes);
            let again = crate::rewrite(&class, &plan, &mut Recorder::new(foreign));
            prop_assert_eq!(again.ok().flatten(), Some(outcome));
        }
    }

    #[test]
    fn an_empty_plan_changes_nothing(choices in vec(vec(0..14_usize, 0..20), 0..5)) {
        let class = assemble(&choices, 52, 0x20);
        let outcome = crate::rewrite(&class, &nothing(), &mut Recorder::new(Foreign::Resolve));
        prop_assert_eq!(outcome, Ok(None));
    }
}
