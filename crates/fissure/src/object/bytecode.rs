//! Generates the class whose methods are the operations of a harness: plain calls, without a Java compiler.
//!
//! The class has version 49, whose code the JVM verifies without stack maps; each operation is a small method with one exception
//! handler, and `invoke` is a switch over them.

use fissure_classfile::{AccessFlags, ClassBuilder, ClassError, CodeBuilder, Label};

use super::describe::{MethodInfo, ParameterInfo};

/// The input of the generator.
#[derive(Debug)]
pub(crate) struct Plan<'a> {
    /// The generated class's name, with slashes.
    pub(crate) name: &'a str,
    /// The class under test, with slashes.
    pub(crate) target: &'a str,
    /// The constructor's parameters, and the index of its first argument among the constants; without it an expression makes objects.
    pub(crate) constructor: Option<(&'a [ParameterInfo], usize)>,
    /// For each operation the method, and the index of its first argument among the constants.
    pub(crate) operations: Vec<(&'a MethodInfo, usize)>,
}

const OPERATIONS: &str = "fissure/object/Operations";
const VALUES: &str = "fissure/object/Values";
const FUNCTIONS: &str = "fissure/object/Functions";
const OBJECT: &str = "java/lang/Object";

/// The class file.
pub(crate) fn generate(plan: &Plan<'_>) -> Result<Vec<u8>, ClassError> {
    let access = AccessFlags::PUBLIC | AccessFlags::FINAL | AccessFlags::SUPER;
    let mut class = ClassBuilder::new(49, access, plan.name, Some(OPERATIONS));
    class.method(AccessFlags::PUBLIC, "<init>", "()V", |code| {
        code.load(0);
        code.invoke_special(OPERATIONS, "<init>", "()V");
        code.return_nothing();
    });
    if let Some(constructor) = plan.constructor {
        let create = |code: &mut CodeBuilder<'_>| create(code, plan.target, constructor);
        class.method(AccessFlags::PUBLIC, "create", "()Ljava/lang/Object;", create);
    }
    let descriptor = "(ILjava/lang/Object;)Ljava/lang/Object;";
    class.method(AccessFlags::PUBLIC, "invoke", descriptor, |code| invoke(code, plan));
    for (number, (method, first)) in plan.operations.iter().enumerate() {
        let access = AccessFlags::PRIVATE | AccessFlags::STATIC;
        class
            .method(access, &operation_name(number), OPERATION, |code| operation(code, plan, method, *first));
    }
    class.finish()
}

fn operation_name(number: usize) -> String {
    format!("operation{number}")
}

/// Pushes the array of constants.
fn constants(code: &mut CodeBuilder<'_>) {
    code.load(0);
    code.get_field(OPERATIONS, "constants", "[Ljava/lang/Object;");
}

fn create(code: &mut CodeBuilder<'_>, class: &str, (parameters, first): (&[ParameterInfo], usize)) {
    code.new_object(class);
    code.dup();
    for (at, parameter) in parameters.iter().enumerate() {
        constants(code);
        argument(code, parameter, first + at);
    }
    code.invoke_special(class, "<init>", &format!("({})V", descriptors(parameters)));
    code.return_reference();
}

/// Calls the operation of a number; an unknown number goes to the last one.
fn invoke(code: &mut CodeBuilder<'_>, plan: &Plan<'_>) {
    let cases: Vec<Label> = plan.operations.iter().map(|_| code.label()).collect();
    let Some(&default) = cases.last() else {
        // Without operations only `create` is called.
        code.load(2);
        code.return_reference();
        return;
    };
    code.load_int(1);
    code.table_switch(&cases, default);
    for (number, case) in cases.iter().enumerate() {
        code.place(*case);
        code.load(2);
        constants(code);
        code.invoke_static(plan.name, &operation_name(number), OPERATION);
        code.return_reference();
    }
}

fn operation(code: &mut CodeBuilder<'_>, plan: &Plan<'_>, method: &MethodInfo, first: usize) {
    const KEEP: &str = "(Ljava/lang/Object;Ljava/lang/Object;)Ljava/lang/Object;";
    let hands_out = method.parameters.iter().any(|parameter| parameter.kind.starts_with(['A', 'X']));
    if hands_out {
        code.invoke_static(FUNCTIONS, "begin", "()V");
    }
    code.load(0);
    code.cast(plan.target);
    for (at, parameter) in method.parameters.iter().enumerate() {
        code.load(1);
        argument(code, parameter, first + at);
    }
    let descriptor = format!("({}){}", descriptors(&method.parameters), method.returns);
    code.invoke_virtual(plan.target, &method.name, &descriptor);
    match boxed(&method.returns) {
        Some((class, _)) => {
            code.invoke_static(class, "valueOf", &format!("({})L{class};", method.returns));
        }
        None if method.returns == "V" => code.get_static(VALUES, "VOID", "Ljava/lang/Object;"),
        None => {
            code.load(0);
            code.invoke_static(VALUES, "keep", KEEP);
        }
    }
    if hands_out {
        code.load(0);
        code.invoke_static(FUNCTIONS, "end", KEEP);
    }
    code.return_reference();
    code.catch_all();
    code.invoke_static(VALUES, "thrown", "(Ljava/lang/Throwable;)Ljava/lang/Object;");
    code.return_reference();
}

/// Loads an argument from the array on the stack, and unboxes, copies or casts it for the parameter.
fn argument(code: &mut CodeBuilder<'_>, parameter: &ParameterInfo, index: usize) {
    code.int(index as i32);
    code.element();
    if let Some((class, unbox)) = boxed(&parameter.descriptor) {
        code.cast(class);
        code.invoke_virtual(class, unbox, &format!("(){}", parameter.descriptor));
        return;
    }
    if parameter.kind.starts_with('A') {
        code.invoke_static(FUNCTIONS, "copy", "(Ljava/lang/Object;)Ljava/lang/Object;");
    }
    let name = parameter.descriptor.strip_prefix('L').and_then(|name| name.strip_suffix(';'));
    let name = name.unwrap_or(&parameter.descriptor);
    if name != OBJECT {
        code.cast(name);
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
