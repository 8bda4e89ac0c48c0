//! Generates the class whose methods are the operations of a harness: plain calls, without a Java compiler.
//!
//! The class has version 49, whose code the JVM verifies without stack maps; each operation is a small method with one exception
//! handler, and `invoke` is a switch over them.

use super::describe::{MethodInfo, ParameterInfo};

/// The input of the generator.
#[derive(Debug)]
pub(crate) struct Plan<'a> {
    /// The generated class's name, with slashes.
    pub(crate) name: &'a str,
    /// The class under test, with slashes.
    pub(crate) target: &'a str,
    /// The constructor's parameters, and the index of its first argument among the constants.
    pub(crate) constructor: (&'a [ParameterInfo], usize),
    /// For each operation the method, and the index of its first argument among the constants.
    pub(crate) operations: Vec<(&'a MethodInfo, usize)>,
}

const OPERATIONS: &str = "fissure/object/Operations";
const VALUES: &str = "fissure/object/Values";
const FUNCTIONS: &str = "fissure/object/Functions";
const OBJECT: &str = "java/lang/Object";

/// Opcodes, by their names in the JVM's specification.
mod op {
    pub(super) const SIPUSH: u8 = 17;
    pub(super) const ILOAD_1: u8 = 27;
    pub(super) const ALOAD_0: u8 = 42;
    pub(super) const ALOAD_1: u8 = 43;
    pub(super) const ALOAD_2: u8 = 44;
    pub(super) const AALOAD: u8 = 50;
    pub(super) const DUP: u8 = 89;
    pub(super) const TABLESWITCH: u8 = 170;
    pub(super) const ARETURN: u8 = 176;
    pub(super) const RETURN: u8 = 177;
    pub(super) const GETSTATIC: u8 = 178;
    pub(super) const GETFIELD: u8 = 180;
    pub(super) const INVOKEVIRTUAL: u8 = 182;
    pub(super) const INVOKESPECIAL: u8 = 183;
    pub(super) const INVOKESTATIC: u8 = 184;
    pub(super) const NEW: u8 = 187;
    pub(super) const CHECKCAST: u8 = 192;
}

/// The class file.
pub(crate) fn generate(plan: &Plan<'_>) -> Vec<u8> {
    let mut class = Class::default();
    let (this, parent) = (class.class(plan.name), class.class(OPERATIONS));
    let mut methods = vec![class.constructor(), class.create(plan), class.invoke(plan)];
    for (number, (method, first)) in plan.operations.iter().enumerate() {
        methods.push(class.operation(plan, number, method, *first));
    }
    let mut bytes = vec![0xca, 0xfe, 0xba, 0xbe, 0, 0, 0, 49];
    put(&mut bytes, class.count + 1);
    bytes.append(&mut class.constants);
    // ACC_PUBLIC, ACC_FINAL and ACC_SUPER.
    for value in [0x0031, this, parent, 0, 0, methods.len() as u16] {
        put(&mut bytes, value);
    }
    methods.into_iter().for_each(|mut method| bytes.append(&mut method));
    put(&mut bytes, 0);
    bytes
}

fn put(bytes: &mut Vec<u8>, value: u16) {
    bytes.extend_from_slice(&value.to_be_bytes());
}

/// Code under construction.
#[derive(Default)]
struct Code {
    bytes: Vec<u8>,
    max_stack: u16,
    /// The start of a handler for all exceptions, if there is one; it covers all code before it.
    handler: Option<u16>,
}

impl Code {
    fn op(&mut self, opcode: u8) {
        self.bytes.push(opcode);
    }

    fn with(&mut self, opcode: u8, operand: u16) {
        self.bytes.push(opcode);
        put(&mut self.bytes, operand);
    }
}

/// The constant pool; equal constants are written again, which is valid.
#[derive(Default)]
struct Class {
    constants: Vec<u8>,
    count: u16,
}

impl Class {
    fn constant(&mut self, bytes: &[u8]) -> u16 {
        self.constants.extend_from_slice(bytes);
        self.count += 1;
        self.count
    }

    fn utf8(&mut self, text: &str) -> u16 {
        let mut bytes = vec![1];
        put(&mut bytes, text.len() as u16);
        bytes.extend_from_slice(text.as_bytes());
        self.constant(&bytes)
    }

    fn pair(&mut self, tag: u8, first: u16, second: u16) -> u16 {
        let mut bytes = vec![tag];
        put(&mut bytes, first);
        put(&mut bytes, second);
        self.constant(&bytes)
    }

    fn class(&mut self, name: &str) -> u16 {
        let name = self.utf8(name);
        let mut bytes = vec![7];
        put(&mut bytes, name);
        self.constant(&bytes)
    }

    fn member(&mut self, tag: u8, class: &str, name: &str, descriptor: &str) -> u16 {
        let class = self.class(class);
        let (name, descriptor) = (self.utf8(name), self.utf8(descriptor));
        let name_and_type = self.pair(12, name, descriptor);
        self.pair(tag, class, name_and_type)
    }

    fn field(&mut self, class: &str, name: &str, descriptor: &str) -> u16 {
        self.member(9, class, name, descriptor)
    }

    fn method(&mut self, class: &str, name: &str, descriptor: &str) -> u16 {
        self.member(10, class, name, descriptor)
    }

    fn finish(&mut self, access: u16, name: &str, descriptor: &str, locals: u16, code: &Code) -> Vec<u8> {
        let (name, descriptor, attribute) = (self.utf8(name), self.utf8(descriptor), self.utf8("Code"));
        let mut method = Vec::new();
        for value in [access, name, descriptor, 1, attribute] {
            put(&mut method, value);
        }
        let handlers = u32::from(code.handler.is_some());
        let length = 12 + code.bytes.len() as u32 + 8 * handlers;
        method.extend_from_slice(&length.to_be_bytes());
        put(&mut method, code.max_stack);
        put(&mut method, locals);
        method.extend_from_slice(&(code.bytes.len() as u32).to_be_bytes());
        method.extend_from_slice(&code.bytes);
        put(&mut method, handlers as u16);
        if let Some(handler) = code.handler {
            for value in [0, handler, handler, 0] {
                put(&mut method, value);
            }
        }
        put(&mut method, 0);
        method
    }

    fn constructor(&mut self) -> Vec<u8> {
        let parent = self.method(OPERATIONS, "<init>", "()V");
        let mut code = Code { max_stack: 1, ..Code::default() };
        code.op(op::ALOAD_0);
        code.with(op::INVOKESPECIAL, parent);
        code.op(op::RETURN);
        self.finish(1, "<init>", "()V", 1, &code)
    }

    fn create(&mut self, plan: &Plan<'_>) -> Vec<u8> {
        let (parameters, first) = plan.constructor;
        let mut code = Code { max_stack: 5 + 2 * parameters.len() as u16, ..Code::default() };
        let target = self.class(plan.target);
        code.with(op::NEW, target);
        code.op(op::DUP);
        for (at, parameter) in parameters.iter().enumerate() {
            let field = self.field(OPERATIONS, "constants", "[Ljava/lang/Object;");
            code.op(op::ALOAD_0);
            code.with(op::GETFIELD, field);
            self.argument(&mut code, parameter, first + at);
        }
        let constructor = self.method(plan.target, "<init>", &format!("({})V", descriptors(parameters)));
        code.with(op::INVOKESPECIAL, constructor);
        code.op(op::ARETURN);
        self.finish(1, "create", "()Ljava/lang/Object;", 1, &code)
    }

    fn invoke(&mut self, plan: &Plan<'_>) -> Vec<u8> {
        let mut code = Code { max_stack: 2, ..Code::default() };
        let number = plan.operations.len() as i32;
        code.op(op::ILOAD_1);
        code.op(op::TABLESWITCH);
        while !code.bytes.len().is_multiple_of(4) {
            code.op(0);
        }
        // The call of an operation takes nine bytes; an unknown number goes to the last operation.
        let start = code.bytes.len() as i32 + 12 + 4 * number - 1;
        let offset = |case: i32| (start + 9 * case).to_be_bytes();
        code.bytes.extend_from_slice(&offset(number - 1));
        code.bytes.extend_from_slice(&0_i32.to_be_bytes());
        code.bytes.extend_from_slice(&(number - 1).to_be_bytes());
        (0..number).for_each(|case| code.bytes.extend_from_slice(&offset(case)));
        let field = self.field(OPERATIONS, "constants", "[Ljava/lang/Object;");
        for case in 0..number {
            let operation = self.method(plan.name, &format!("operation{case}"), OPERATION);
            code.op(op::ALOAD_2);
            code.op(op::ALOAD_0);
            code.with(op::GETFIELD, field);
            code.with(op::INVOKESTATIC, operation);
            code.op(op::ARETURN);
        }
        self.finish(1, "invoke", "(ILjava/lang/Object;)Ljava/lang/Object;", 3, &code)
    }

    fn operation(&mut self, plan: &Plan<'_>, number: usize, method: &MethodInfo, first: usize) -> Vec<u8> {
        let mut code = Code { max_stack: 5 + 2 * method.parameters.len() as u16, ..Code::default() };
        let target = self.class(plan.target);
        let hands_out = method.parameters.iter().any(|parameter| parameter.kind.starts_with(['A', 'X']));
        if hands_out {
            let begin = self.method(FUNCTIONS, "begin", "()V");
            code.with(op::INVOKESTATIC, begin);
        }
        code.op(op::ALOAD_0);
        code.with(op::CHECKCAST, target);
        for (at, parameter) in method.parameters.iter().enumerate() {
            code.op(op::ALOAD_1);
            self.argument(&mut code, parameter, first + at);
        }
        let descriptor = format!("({}){}", descriptors(&method.parameters), method.returns);
        let call = self.method(plan.target, &method.name, &descriptor);
        code.with(op::INVOKEVIRTUAL, call);
        match boxed(&method.returns) {
            Some((class, _)) => {
                let valued = self.method(class, "valueOf", &format!("({})L{class};", method.returns));
                code.with(op::INVOKESTATIC, valued);
            }
            None if method.returns == "V" => {
                let void = self.field(VALUES, "VOID", "Ljava/lang/Object;");
                code.with(op::GETSTATIC, void);
            }
            None => {
                let keep =
                    self.method(VALUES, "keep", "(Ljava/lang/Object;Ljava/lang/Object;)Ljava/lang/Object;");
                code.op(op::ALOAD_0);
                code.with(op::INVOKESTATIC, keep);
            }
        }
        if hands_out {
            let end =
                self.method(FUNCTIONS, "end", "(Ljava/lang/Object;Ljava/lang/Object;)Ljava/lang/Object;");
            code.op(op::ALOAD_0);
            code.with(op::INVOKESTATIC, end);
        }
        code.op(op::ARETURN);
        code.handler = Some(code.bytes.len() as u16);
        let thrown = self.method(VALUES, "thrown", "(Ljava/lang/Throwable;)Ljava/lang/Object;");
        code.with(op::INVOKESTATIC, thrown);
        code.op(op::ARETURN);
        // Private and static.
        self.finish(0x000a, &format!("operation{number}"), OPERATION, 2, &code)
    }

    /// Loads an argument from the array on the stack, and unboxes, copies or casts it for the parameter.
    fn argument(&mut self, code: &mut Code, parameter: &ParameterInfo, index: usize) {
        code.with(op::SIPUSH, index as u16);
        code.op(op::AALOAD);
        if let Some((class, unbox)) = boxed(&parameter.descriptor) {
            let number = self.class(class);
            code.with(op::CHECKCAST, number);
            let value = self.method(class, unbox, &format!("(){}", parameter.descriptor));
            code.with(op::INVOKEVIRTUAL, value);
            return;
        }
        if parameter.kind.starts_with('A') {
            let copy = self.method(FUNCTIONS, "copy", "(Ljava/lang/Object;)Ljava/lang/Object;");
            code.with(op::INVOKESTATIC, copy);
        }
        let name = parameter.descriptor.strip_prefix('L').and_then(|name| name.strip_suffix(';'));
        let name = name.unwrap_or(&parameter.descriptor);
        if name != OBJECT {
            let class = self.class(name);
            code.with(op::CHECKCAST, class);
        }
    }
}

/// The descriptor of every operation's method: the object and the constants in, the result out.
const OPERATION: &str = "(Ljava/lang/Object;[Ljava/lang/Object;)Ljava/lang/Object;";

fn descriptors(parameters: &[ParameterInfo]) -> String {
    parameters.iter().map(|parameter| parameter.descriptor.as_str()).collect()
}

/// The class that boxes a primitive type, and its method that unboxes the value.
fn boxed(descriptor: &str) -> Option<(&'static str, &'static str)> {
    Some(match descriptor {
        "Z" => ("java/lang/Boolean", "booleanValue"),
        "B" => ("java/lang/Byte", "byteValue"),
        "C" => ("java/lang/Character", "charValue"),
        "S" => ("java/lang/Short", "shortValue"),
        "I" => ("java/lang/Integer", "intValue"),
        "J" => ("java/lang/Long", "longValue"),
        "F" => ("java/lang/Float", "floatValue"),
        "D" => ("java/lang/Double", "doubleValue"),
        _ => return None,
    })
}
