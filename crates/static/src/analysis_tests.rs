//! Whole programs assembled by hand: code that no current compiler emits, and tests that need no JDK.

use std::{borrow::Cow, collections::BTreeMap};

use fissure_classfile::{AccessFlags, ClassBuilder};
use fissure_model::locality::Locality;

use crate::{ClassSource, Entry, Origin, analyse};

const PUBLIC: AccessFlags = AccessFlags::PUBLIC;
const STATIC: AccessFlags = AccessFlags::STATIC;
/// Only the package may use the member.
const PACKAGE: AccessFlags = AccessFlags::empty();
const NEW: u8 = 187;
const DUP: u8 = 89;
const INVOKESPECIAL: u8 = 183;
const INVOKEVIRTUAL: u8 = 182;
const PUTSTATIC: u8 = 179;
const GETSTATIC: u8 = 178;
const PUTFIELD: u8 = 181;
const ICONST_1: u8 = 4;
const ALOAD_0: u8 = 42;
const ALOAD_1: u8 = 43;
const ASTORE_1: u8 = 76;
const ASTORE_2: u8 = 77;
const GOTO: u8 = 167;
const JSR: u8 = 168;
const RET: u8 = 169;
const INVOKESTATIC: u8 = 184;
const RETURN: u8 = 177;
const ARETURN: u8 = 176;
const POP: u8 = 87;

/// A class with encoded methods.
struct Assembler {
    name: String,
    /// Empty for `java/lang/Object`.
    parent: String,
    class: ClassBuilder,
}

impl Assembler {
    fn new(name: &str, parent: &str) -> Self {
        let above = Some(parent).filter(|parent| !parent.is_empty());
        let class = ClassBuilder::new(49, PUBLIC, name, above);
        Assembler { name: name.to_owned(), parent: parent.to_owned(), class }
    }

    /// An instruction with a field or method.
    fn member(&mut self, opcode: u8, class: &str, name: &str, descriptor: &str) -> Vec<u8> {
        let index = match descriptor.starts_with('(') {
            true => self.class.method_reference(class, name, descriptor),
            false => self.class.field_reference(class, name, descriptor),
        };
        let [high, low] = index.to_be_bytes();
        vec![opcode, high, low]
    }

    /// A new object on the stack.
    fn made(&mut self, class: &str) -> Vec<u8> {
        let [high, low] = self.class.class(class).to_be_bytes();
        let mut code = vec![NEW, high, low, DUP];
        code.extend(self.member(INVOKESPECIAL, class, "<init>", "()V"));
        code
    }

    fn field(&mut self, access: AccessFlags, name: &str, descriptor: &str) {
        self.class.field(access, name, descriptor);
    }

    fn method(&mut self, access: AccessFlags, name: &str, descriptor: &str, code: &[u8]) {
        self.class.encoded_method(access, name, descriptor, 4, code);
    }

    fn build(mut self) -> (String, Vec<u8>) {
        let code = match self.parent.clone() {
            parent if parent.is_empty() => vec![RETURN],
            parent => {
                [vec![ALOAD_0], self.member(INVOKESPECIAL, &parent, "<init>", "()V"), vec![RETURN]].concat()
            }
        };
        self.method(PUBLIC, "<init>", "()V", &code);
        let bytes = self.class.finish().expect("a class");
        (self.name, bytes)
    }
}

/// The program's classes, and a JDK of two modules.
struct Program(BTreeMap<String, Vec<u8>>);

impl ClassSource for Program {
    fn find(&mut self, name: &str) -> Option<(Origin, Cow<'_, [u8]>)> {
        let origin = if self.module(name).is_some() { Origin::Jdk } else { Origin::Application };
        self.0.get(name).map(|bytes| (origin, Cow::Borrowed(bytes.as_slice())))
    }

    fn application(&mut self) -> Vec<String> {
        self.0.keys().filter(|name| self.module(name).is_none()).cloned().collect()
    }

    fn module(&self, name: &str) -> Option<&str> {
        let modules = [("java/", "java.base"), ("sun/", "java.base"), ("javax/", "java.outer")];
        modules.iter().find(|(begin, _)| name.starts_with(begin)).map(|(_, module)| *module)
    }

    fn descriptors(&self) -> Vec<Vec<u8>> {
        Vec::new()
    }
}

/// The result for a program with these classes. It also has `Box` with the field `value`, and `Reader`, a thread that sets
/// the `value` of the box in `Main.kept`.
fn analyse_program(classes: Vec<Assembler>) -> Locality {
    let object = Assembler::new("java/lang/Object", "");
    let mut thread = Assembler::new("java/lang/Thread", "java/lang/Object");
    thread.method(PUBLIC, "start", "()V", &[RETURN]);
    thread.method(PUBLIC, "run", "()V", &[RETURN]);
    let mut shared = Assembler::new("Box", "java/lang/Object");
    shared.field(PACKAGE, "value", "I");
    let mut reader = Assembler::new("Reader", "java/lang/Thread");
    let kept = reader.member(GETSTATIC, "Main", "kept", "LBox;");
    let set = reader.member(PUTFIELD, "Box", "value", "I");
    reader.method(PUBLIC, "run", "()V", &[kept, vec![ICONST_1], set, vec![RETURN]].concat());
    let all = classes.into_iter().chain([object, thread, shared, reader]).map(Assembler::build).collect();
    let entry = Entry { main: "Main".to_owned(), ..Entry::default() };
    analyse(&mut Program(all), &entry, &mut |_| {}).unwrap()
}

/// Checks whether the analysis considers the access at `pc` of `Main.main` thread-local.
fn check(classes: Vec<Assembler>, pc: usize, expected: bool) {
    let locality = analyse_program(classes);
    let main = &locality.classes["Main"];
    let sites = main.sites.iter().find(|sites| sites.method == "main");
    let is_local = sites.is_some_and(|sites| sites.offsets.contains(&(pc as u16)));
    assert_eq!(is_local, expected, "{locality:#?}");
}

/// `Main` with this code, followed by code that starts the thread and sets the `value` of the box in variable 1. Also returns
/// the pc of that access.
fn main(mut class: Assembler, code: Vec<u8>) -> (Assembler, usize) {
    class.field(STATIC, "kept", "LBox;");
    let start = [class.made("Reader"), class.member(INVOKEVIRTUAL, "java/lang/Thread", "start", "()V")];
    let set = class.member(PUTFIELD, "Box", "value", "I");
    let before = [code, start.concat(), vec![ALOAD_1, ICONST_1]].concat();
    let pc = before.len();
    let all = [before, set, vec![RETURN]].concat();
    class.method(PUBLIC | STATIC, "main", "([Ljava/lang/String;)V", &all);
    (class, pc)
}

#[test]
fn objects_that_are_not_stored_are_local() {
    let mut class = Assembler::new("Main", "java/lang/Object");
    let code = [class.made("Box"), vec![ASTORE_1]].concat();
    let (class, pc) = main(class, code);
    check(vec![class], pc, true);
}

#[test]
fn subroutines_keep_variables_that_they_do_not_write() {
    let mut class = Assembler::new("Main", "java/lang/Object");
    let made = [class.made("Box"), vec![ASTORE_1]].concat();
    let keep = [vec![ALOAD_1], class.member(PUTSTATIC, "Main", "kept", "LBox;")].concat();
    // The subroutine comes first: `astore_2`, `ret 2`. It is called before the variable has a value, and once more after.
    let call = |at: usize| [vec![JSR], (4 - at as i16).to_be_bytes().to_vec()].concat();
    let mut code = vec![GOTO, 0, 7, 0, ASTORE_2, RET, 2];
    code.extend(call(code.len()));
    code.extend(made);
    code.extend(call(code.len()));
    code.extend(keep);
    let (class, pc) = main(class, code);
    check(vec![class], pc, false);
}

#[test]
fn methods_of_one_package_are_not_overridden_in_another() {
    // `r.Lower` declares the same package-private method as `p.Middle` but does not override it: a call through `p.Upper`
    // invokes the one of `p.Middle`.
    let mut upper = Assembler::new("p/Upper", "java/lang/Object");
    upper.method(PACKAGE, "keep", "(LBox;)V", &[RETURN]);
    let mut middle = Assembler::new("p/Middle", "p/Upper");
    let keep = [vec![ALOAD_1], middle.member(PUTSTATIC, "Main", "kept", "LBox;"), vec![RETURN]].concat();
    middle.method(PACKAGE, "keep", "(LBox;)V", &keep);
    let mut lower = Assembler::new("r/Lower", "p/Middle");
    lower.method(PUBLIC, "keep", "(LBox;)V", &[RETURN]);
    let mut caller = Assembler::new("p/Caller", "java/lang/Object");
    let call = caller.member(INVOKEVIRTUAL, "p/Upper", "keep", "(LBox;)V");
    caller.method(
        PUBLIC | STATIC,
        "call",
        "(Lp/Upper;LBox;)V",
        &[vec![ALOAD_0, ALOAD_1], call, vec![RETURN]].concat(),
    );
    let mut class = Assembler::new("Main", "java/lang/Object");
    let code = [
        class.made("Box"),
        vec![ASTORE_1],
        class.made("r/Lower"),
        vec![ALOAD_1],
        class.member(INVOKESTATIC, "p/Caller", "call", "(Lp/Upper;LBox;)V"),
    ];
    let (class, pc) = main(class, code.concat());
    check(vec![class, upper, middle, lower, caller], pc, false);
}

/// `Main` calls `name` of a class of the JDK with the box, and stores the result in its static field if `keeps`.
fn check_jdk(class: Assembler, opcode: u8, name: &str, keeps: bool, expected: bool) {
    let mut main_class = Assembler::new("Main", "java/lang/Object");
    let receiver = match opcode {
        INVOKESTATIC => Vec::new(),
        _ => main_class.made(&class.name),
    };
    let last = match keeps {
        true => main_class.member(PUTSTATIC, "Main", "kept", "LBox;"),
        false => vec![POP],
    };
    let call = main_class.member(opcode, &class.name, name, "(LBox;)LBox;");
    let code = [main_class.made("Box"), vec![ASTORE_1], receiver, vec![ALOAD_1], call, last].concat();
    let (main_class, pc) = main(main_class, code);
    check(vec![main_class, class], pc, expected);
}

/// A class of the JDK with a method that returns its argument.
fn jdk_class(name: &str, access: AccessFlags) -> Assembler {
    let mut class = Assembler::new(name, "java/lang/Object");
    let given = if !access.contains(STATIC) { ALOAD_1 } else { ALOAD_0 };
    class.method(access, "pass", "(LBox;)LBox;", &[given, ARETURN]);
    class
}

#[test]
fn jdk_code_without_a_row_is_analysed() {
    for (opcode, access) in [(INVOKESTATIC, PUBLIC | STATIC), (INVOKEVIRTUAL, PUBLIC)] {
        check_jdk(jdk_class("javax/x/Outer", access), opcode, "pass", false, true);
        check_jdk(jdk_class("javax/x/Outer", access), opcode, "pass", true, false);
    }
    check_jdk(jdk_class("sun/x/Inner", PUBLIC | STATIC), INVOKESTATIC, "pass", false, true);
    check_jdk(jdk_class("sun/x/Inner", PUBLIC | STATIC), INVOKESTATIC, "pass", true, false);
}

#[test]
fn the_core_may_have_created_objects_of_classes_it_can_use() {
    const FINAL: AccessFlags = AccessFlags::FINAL;
    // The receiver may be of an unknown subclass that overrides the method, unless the method is final.
    check_jdk(jdk_class("sun/x/Inner", PUBLIC), INVOKEVIRTUAL, "pass", false, false);
    check_jdk(jdk_class("sun/x/Inner", PUBLIC | FINAL), INVOKEVIRTUAL, "pass", false, true);
}

#[test]
fn static_fields_that_the_core_can_access_are_shared() {
    for (name, expected) in [("javax/x/Outer", true), ("sun/x/Inner", false)] {
        let mut class = Assembler::new(name, "java/lang/Object");
        class.field(STATIC, "last", "LBox;");
        let put = class.member(PUTSTATIC, name, "last", "LBox;");
        let code = [vec![ALOAD_0], put, vec![ALOAD_0, ARETURN]].concat();
        class.method(PUBLIC | STATIC, "pass", "(LBox;)LBox;", &code);
        check_jdk(class, INVOKESTATIC, "pass", false, expected);
    }
}

#[test]
fn too_much_jdk_code_makes_the_analysis_conservative() {
    for (methods, expected) in [(10, true), (5000, false)] {
        let mut all = Vec::new();
        for name in ["javax/x/One", "javax/x/Two"] {
            let mut class = Assembler::new(name, "java/lang/Object");
            for number in 0..methods {
                let (own, next) = (format!("m{number}"), format!("m{}", number + 1));
                let call = match number + 1 < methods {
                    true => class.member(INVOKESTATIC, name, &next, "()V"),
                    false => Vec::new(),
                };
                class.method(PUBLIC | STATIC, &own, "()V", &[call, vec![RETURN]].concat());
            }
            all.push(class);
        }
        let mut main_class = Assembler::new("Main", "java/lang/Object");
        let calls =
            ["javax/x/One", "javax/x/Two"].map(|name| main_class.member(INVOKESTATIC, name, "m0", "()V"));
        let pass = main_class.member(INVOKEVIRTUAL, "java/lang/Object", "equals", "(Ljava/lang/Object;)Z");
        let code =
            [main_class.made("Box"), vec![ASTORE_1], calls.concat(), vec![ALOAD_1, ALOAD_1], pass, vec![POP]];
        let (main_class, pc) = main(main_class, code.concat());
        all.push(main_class);
        check(all, pc, expected);
    }
}
