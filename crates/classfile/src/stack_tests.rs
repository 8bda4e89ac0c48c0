//! Inserted code leaves the operand stack unchanged, passes the right values, and stays within the method's declared
//! maximum stack.

use crate::code::Instructions;
use crate::constant_pool::text;
use crate::descriptor::{parameters, slots};
use crate::detect::{Detection, Synchronization};
use crate::environment::Foreign;
use crate::instruction::Operand;
use crate::testing::{ACCESSES, Body, Recorder, TestClass, detect, rewrite, with_code};

/// Simulates stack instructions on named slots; a long has two, as in `t1 t2`.
struct Machine {
    stack: Vec<String>,
    deepest: usize,
    calls: Vec<String>,
}

impl Machine {
    fn duplicate(&mut self, count: usize, under: usize) {
        let top = self.stack.len() - count;
        let copied: Vec<String> = self.stack[top..].to_vec();
        let index = top - under;
        self.stack.splice(index..index, copied);
    }

    fn pop(&mut self, count: usize) -> Vec<String> {
        self.stack.split_off(self.stack.len() - count)
    }

    fn push(&mut self, slot: &str) {
        self.stack.push(slot.to_owned());
    }
}

/// Simulates the code inserted around one instruction, which pops `stack`.
fn check(
    opcode: u8,
    constant: Option<(&str, &str)>,
    stack: &str,
    expected_at: &str,
    expected_calls: &[&str],
) {
    let mut class = TestClass::new("A");
    class.field(0, "f", "I");
    class.field(0, "d", "D");
    class.field(0x0040, "v", "I");
    class.field(0x0040, "w", "D");
    let index = constant.map(|(name, descriptor)| match opcode {
        182 => class.method_reference("A", name, descriptor),
        _ => class.field_reference(if name == "g" { "B" } else { "A" }, name, descriptor),
    });
    let mut code = vec![opcode];
    code.extend(index.into_iter().flat_map(u16::to_be_bytes));
    code.push(177);
    let mut body = Body::new(&code);
    let pushed = constant.filter(|_| opcode == 180).map_or(0, |(_, descriptor)| slots(descriptor.as_bytes()));
    body.max_stack = stack.split_whitespace().count().max(pushed) as u16;
    class.method(0, "m", "()V", Some(&body));
    let plan = detect(Detection { synchronization: Synchronization::MonitorsAndVolatiles, ..ACCESSES });
    let outcome = rewrite(&class, &plan, &mut Recorder::new(Foreign::Resolve));
    let slots_of = |text: &str| text.split_whitespace().map(str::to_owned).collect::<Vec<_>>();
    let mut machine = Machine { stack: slots_of(stack), deepest: 0, calls: Vec::new() };
    with_code(&outcome.bytes, "m", |file, code| {
        let mut result = 0;
        let mut instructions = Instructions::default();
        instructions.decode(code.bytes).expect("instructions");
        for instruction in &instructions.list {
            match instruction.opcode {
                own if own == opcode
                    && (opcode != 180 || instruction.field(&file.pool).unwrap().descriptor != b"J") =>
                {
                    assert_eq!(machine.stack, slots_of(expected_at), "at the instruction {opcode}");
                    machine.pop(stack.split_whitespace().count());
                    if opcode == 180 {
                        result = slots(instruction.field(&file.pool).unwrap().descriptor);
                        (0..result).for_each(|_| machine.push("value"));
                    }
                }
                177 => {}
                1 => machine.push("null"),
                2..=8 => machine.push("site"),
                16 => match instruction.operand {
                    Operand::Number(number) => machine.push(&number.to_string()),
                    operand => panic!("{operand:?}"),
                },
                87 => drop(machine.pop(1)),
                88 => drop(machine.pop(2)),
                89 => machine.duplicate(1, 0),
                90 => machine.duplicate(1, 1),
                91 => machine.duplicate(1, 2),
                92 => machine.duplicate(2, 0),
                93 => machine.duplicate(2, 1),
                94 => machine.duplicate(2, 2),
                95 => {
                    machine.duplicate(1, 1);
                    drop(machine.pop(1));
                }
                180 => {
                    let object = machine.pop(1).concat();
                    machine.push(&format!("{object}.shadow"));
                    machine.push("-");
                }
                184 => {
                    let method = instruction.method(&file.pool).unwrap();
                    let arguments = machine.pop(parameters(method.descriptor).map(slots).sum());
                    machine.calls.push(format!("{} {}", text(method.name), arguments.join(" ")));
                }
                other => panic!("instruction {other}"),
            }
            machine.deepest = machine.deepest.max(machine.stack.len());
        }
        assert_eq!(machine.calls, expected_calls, "calls around {opcode}");
        assert_eq!(machine.stack, vec!["value"; result], "after {opcode}");
        assert!(
            machine.deepest <= usize::from(code.max_stack),
            "stack of {opcode} {constant:?}: {}",
            machine.deepest
        );
    });
}

#[test]
fn stack_shuffles_pass_the_right_values() {
    check(194, None, "o", "o", &["enter o", "entered "]);
    check(180, Some(("v", "I")), "o", "o o", &["read o o.shadow - site", "volatileRead o"]);
    check(180, Some(("w", "D")), "o", "o o", &["read o o.shadow - site", "volatileRead o"]);
    check(181, Some(("v", "I")), "o v", "o o v", &["volatileWrite o", "write o o.shadow - site"]);
    check(181, Some(("w", "D")), "o v1 v2", "o o v1 v2", &["volatileWrite o", "write o o.shadow - site"]);
    check(182, Some(("notify", "()V")), "o", "o", &["notifies o"]);
    check(195, None, "o", "o", &["exit o"]);
    check(182, Some(("wait", "()V")), "o", "o o", &["guardedWaitBegin o", "waitEnd o"]);
    check(182, Some(("wait", "(J)V")), "o t1 t2", "o o t1 t2", &["guardedWaitBegin o", "waitEnd o"]);
    check(182, Some(("wait", "(JI)V")), "o t1 t2 n", "o t1 t2 n", &["guardedWaitBegin null", "waitEnd null"]);
    check(180, Some(("f", "I")), "o", "o", &["read o o.shadow - site"]);
    check(181, Some(("f", "I")), "o v", "o o v", &["write o o.shadow - site"]);
    check(181, Some(("d", "D")), "o v1 v2", "o o v1 v2", &["write o o.shadow - site"]);
    check(180, Some(("g", "I")), "o", "o o", &["readAt o site", "volatileReadAt o site"]);
    check(180, Some(("g", "D")), "o", "o o", &["readAt o site", "volatileReadAt o site"]);
    check(181, Some(("g", "I")), "o v", "o v", &["writeAt o site"]);
    check(181, Some(("g", "J")), "o v1 v2", "o v1 v2", &["writeAt o site"]);
    check(178, Some(("g", "I")), "", "", &["readStaticAt site", "volatileReadStaticAt site"]);
    check(179, Some(("g", "J")), "v1 v2", "v1 v2", &["writeStaticAt site"]);
    check(46, None, "a i", "a i", &["arrayRead a i site"]);
    check(79, None, "a i v", "a i v", &["arrayWrite a i site"]);
    check(82, None, "a i v1 v2", "a i v1 v2", &["arrayWrite a i site"]);
}
