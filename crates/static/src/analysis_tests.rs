//! Whole programs assembled by hand: code that no current compiler emits, and tests that need no JDK.

use std::{borrow::Cow, collections::BTreeMap};

use fissure_model::locality::Locality;

use crate::{ClassSource, Entry, Origin, analyse};

const PUBLIC: u16 = 1;
const STATIC: u16 = 8;
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

/// Assembles a class file.
struct Assembler {
    name: String,
    /// Empty for `java/lang/Object`.
    parent: String,
    constants: Vec<u8>,
    count: u16,
    fields: Vec<u8>,
    field_count: u16,
    methods: Vec<u8>,
    method_count: u16,
}

impl Assembler {
    fn new(name: &str, parent: &str) -> Self {
        Assembler {
            name: name.to_owned(),
            parent: parent.to_owned(),
            constants: Vec::new(),
            count: 1,
            fields: Vec::new(),
            field_count: 0,
            methods: Vec::new(),
            method_count: 0,
        }
    }

    fn constant(&mut self, tag: u8, parts: &[u16]) -> u16 {
        self.constants.push(tag);
        self.constants.extend(parts.iter().flat_map(|part| part.to_be_bytes()));
        self.count += 1;
        self.count - 1
    }

    fn text(&mut self, text: &str) -> u16 {
        let index = self.constant(1, &[text.len() as u16]);
        self.constants.extend(text.as_bytes());
        index
    }

    fn class(&mut self, name: &str) -> u16 {
        let name = self.text(name);
        self.constant(7, &[name])
    }

    /// An instruction with a field or method.
    fn member(&mut self, opcode: u8, class: &str, name: &str, descriptor: &str) -> Vec<u8> {
        let class = self.class(class);
        let (name, text) = (self.text(name), self.text(descriptor));
        let pair = self.constant(12, &[name, text]);
        let tag = if descriptor.starts_with('(') { 10 } else { 9 };
        let [high, low] = self.constant(tag, &[class, pair]).to_be_bytes();
        vec![opcode, high, low]
    }

    /// A new object on the stack.
    fn made(&mut self, class: &str) -> Vec<u8> {
        let [high, low] = self.class(class).to_be_bytes();
        let mut code = vec![NEW, high, low, DUP];
        code.extend(self.member(INVOKESPECIAL, class, "<init>", "()V"));
        code
    }

    fn field(&mut self, access: u16, name: &str, descriptor: &str) {
        let parts = [access, self.text(name), self.text(descriptor), 0];
        self.fields.extend(parts.iter().flat_map(|part| part.to_be_bytes()));
        self.field_count += 1;
    }

    fn method(&mut self, access: u16, name: &str, descriptor: &str, code: &[u8]) {
        let attribute = self.text("Code");
        let parts = [access, self.text(name), self.text(descriptor), 1, attribute];
        self.methods.extend(parts.iter().flat_map(|part| part.to_be_bytes()));
        self.methods.extend((code.len() as u32 + 12).to_be_bytes());
        self.methods.extend([0, 4, 0, 4]);
        self.methods.extend((code.len() as u32).to_be_bytes());
        self.methods.extend(code);
        self.methods.extend([0, 0, 0, 0]);
        self.method_count += 1;
    }

    fn build(mut self) -> (String, Vec<u8>) {
        let (name, parent) = (self.name.clone(), self.parent.clone());
        let above = if parent.is_empty() { 0 } else { self.class(&parent) };
        let code = match above {
            0 => vec![RETURN],
            _ => [vec![ALOAD_0], self.member(INVOKESPECIAL, &parent, "<init>", "()V"), vec![RETURN]].concat(),
        };
        self.method(PUBLIC, "<init>", "()V", &code);
        let this = self.class(&name);
        let words = |parts: &[u16]| parts.iter().flat_map(|part| part.to_be_bytes()).collect::<Vec<u8>>();
        let bytes = [
            vec![0xCA, 0xFE, 0xBA, 0xBE, 0, 0, 0, 49],
            words(&[self.count]),
            self.constants,
            words(&[PUBLIC, this, above, 0, self.field_count]),
            self.fields,
            words(&[self.method_count]),
            self.methods,
            words(&[0]),
        ];
        (name, bytes.concat())
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
    shared.field(0, "value", "I");
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
    let is_local = sites.is_some_and(|sites| sites.places.contains(&(pc as u16)));
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
    upper.method(0, "keep", "(LBox;)V", &[RETURN]);
    let mut middle = Assembler::new("p/Middle", "p/Upper");
    let keep = [vec![ALOAD_1], middle.member(PUTSTATIC, "Main", "kept", "LBox;"), vec![RETURN]].concat();
    middle.method(0, "keep", "(LBox;)V", &keep);
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
fn jdk_class(name: &str, access: u16) -> Assembler {
    let mut class = Assembler::new(name, "java/lang/Object");
    let given = if access & STATIC == 0 { ALOAD_1 } else { ALOAD_0 };
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
    const FINAL: u16 = 16;
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
