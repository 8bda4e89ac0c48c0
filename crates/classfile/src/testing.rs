//! Classes for tests, and a reader for rewritten ones.

use std::ops::{Deref, DerefMut};

use crate::access::AccessFlags;
use crate::bytes::u8_at;
use crate::class_builder::{ClassBuilder, NamedAttribute, encode_code};
use crate::code::{Code, Instructions};
use crate::constant_pool::text;
use crate::detect::{Accesses, Detection, Synchronization};
use crate::environment::{ArraySource, Environment, Foreign, Site, SiteTarget};
use crate::instruction::Operand;
use crate::plan::{Outcome, Plan, Product};
use crate::script::Script;
use crate::structure::ClassFile;

/// A class for tests, with members as raw bytes.
pub(crate) struct TestClass {
    builder: ClassBuilder,
}

/// The code of a method.
#[derive(Clone)]
pub(crate) struct Body {
    pub(crate) max_stack: u16,
    pub(crate) code: Vec<u8>,
    pub(crate) exceptions: Vec<[u16; 4]>,
    pub(crate) attributes: Vec<(&'static str, Vec<u8>)>,
}

impl Body {
    pub(crate) fn new(code: &[u8]) -> Self {
        Self { max_stack: 6, code: code.to_vec(), exceptions: Vec::new(), attributes: Vec::new() }
    }
}

impl TestClass {
    /// A class of this name, with the class-file version of Java 8.
    pub(crate) fn new(name: &str) -> Self {
        Self::extending(name, "java/lang/Object")
    }

    /// The same with this superclass.
    pub(crate) fn extending(name: &str, superclass: &str) -> Self {
        let access = AccessFlags::PUBLIC | AccessFlags::SUPER;
        Self { builder: ClassBuilder::new(52, access, name, Some(superclass)) }
    }

    pub(crate) fn field(&mut self, access: u16, name: &str, descriptor: &str) {
        self.builder.field(AccessFlags::from_bits_retain(access), name, descriptor);
    }

    pub(crate) fn method(&mut self, access: u16, name: &str, descriptor: &str, body: Option<&Body>) {
        self.method_with(access, name, descriptor, body, &[]);
    }

    pub(crate) fn method_with(
        &mut self,
        access: u16,
        name: &str,
        descriptor: &str,
        body: Option<&Body>,
        attributes: &[(&str, Vec<u8>)],
    ) {
        let mut all: Vec<NamedAttribute<'_>> = Vec::new();
        all.extend(body.map(|body| ("Code", self.code(body).into())));
        all.extend(attributes.iter().map(|(name, content)| (*name, content.into())));
        self.builder.method_with(AccessFlags::from_bits_retain(access), name, descriptor, &all);
    }

    /// An attribute of the class itself.
    pub(crate) fn class_attribute(&mut self, name: &str, content: &[u8]) {
        self.builder.attribute(name, content);
    }

    pub(crate) fn build(&self) -> Vec<u8> {
        self.builder.finish().expect("a class")
    }

    fn code(&mut self, body: &Body) -> Vec<u8> {
        let attributes: Vec<NamedAttribute<'_>> =
            body.attributes.iter().map(|(name, content)| (*name, content.into())).collect();
        let put = |out: &mut Vec<u8>| {
            self.builder.put_attributes(out, &attributes);
            Ok(())
        };
        encode_code(body.max_stack, 8, &body.code, &body.exceptions, put).expect("code")
    }
}

impl Deref for TestClass {
    type Target = ClassBuilder;

    fn deref(&self) -> &ClassBuilder {
        &self.builder
    }
}

impl DerefMut for TestClass {
    fn deref_mut(&mut self) -> &mut ClassBuilder {
        &mut self.builder
    }
}

/// An environment that always gives the same answers and records the sites.
pub(crate) struct Recorder {
    pub(crate) foreign: Foreign,
    pub(crate) sites: Vec<String>,
    pub(crate) together: Vec<(u32, u32)>,
    cells: u32,
}

impl Recorder {
    pub(crate) fn new(foreign: Foreign) -> Self {
        Self { foreign, sites: Vec::new(), together: Vec::new(), cells: 99 }
    }
}

impl Environment for Recorder {
    fn site(&mut self, site: Site<'_>) -> u32 {
        let target = match site.target {
            SiteTarget::Nothing => format!("{:?}", site.kind),
            SiteTarget::Method { class, name } | SiteTarget::Called { class, name, .. } => {
                format!("{class}.{name}()")
            }
            SiteTarget::Field { class, name, .. } => format!("{class}.{name}"),
            SiteTarget::ArrayElement { source } => source_name(source) + "[]",
            SiteTarget::Contents { source, .. } => source_name(source) + "{}",
            SiteTarget::Indirect { source } => source_name(source) + "->",
        };
        let line = site.line.map(|line| format!(":{line}")).unwrap_or_default();
        self.sites.push(format!("{}{line} {:?} {target}", site.method, site.kind));
        self.sites.len() as u32
    }

    fn stands_for(&mut self, site: u32, other: u32) {
        self.together.push((site, other));
    }

    fn cell(&mut self, _field: &str, _descriptor: &str) -> u32 {
        self.cells += 1;
        self.cells
    }

    fn foreign(&mut self, _class: &str, _name: &str, _descriptor: &str, _is_static: bool) -> Foreign {
        self.foreign
    }
}

fn source_name(source: ArraySource<'_>) -> String {
    match source {
        ArraySource::Field { class, name, .. } => format!("{class}.{name}"),
        ArraySource::Local { name, slot } => format!("{}@{slot}", name.unwrap_or("?")),
        ArraySource::Unknown => String::new(),
    }
}

/// Everything that is reported for race detection.
pub(crate) const ACCESSES: Detection<'static> = Detection {
    monitors: true,
    accesses: Accesses::FieldsAndElements,
    is_selective: false,
    synchronization: Synchronization::Nothing,
    clones: false,
    entries: false,
    atomicity: None,
};

/// A plan with all instrumentation for race detection.
pub(crate) fn everything() -> Plan<'static> {
    detect(ACCESSES)
}

pub(crate) fn detect(detection: Detection<'_>) -> Plan<'_> {
    Plan::new("Hook", Product::Detect(detection))
}

/// A plan that changes nothing.
pub(crate) fn nothing() -> Plan<'static> {
    Plan::new("Hook", Product::Script(Script::default()))
}

/// Rewrites a class that must be changed.
pub(crate) fn rewrite(class: &TestClass, plan: &Plan<'_>, environment: &mut Recorder) -> Outcome {
    let outcome = crate::rewrite(&class.build(), plan, environment)
        .expect("a well-formed class")
        .expect("a changed class");
    check_structure(&outcome.bytes);
    outcome
}

/// Calls `inspect` with the code of a method.
pub(crate) fn with_code<T>(
    class: &[u8],
    method: &str,
    inspect: impl FnOnce(&ClassFile<'_>, &Code<'_>) -> T,
) -> T {
    let file = ClassFile::parse(class).expect("a class");
    let mut members = file.methods.iter();
    let member = members.find(|member| file.pool.utf8(member.name_index) == Ok(method.as_bytes()));
    let content = member.and_then(|member| member.attributes.find(&file.pool, b"Code"));
    let code = Code::parse(content.expect("code"), &file.pool).expect("code");
    inspect(&file, &code)
}

/// The instructions of a method as text, one per line.
pub(crate) fn listing(class: &[u8], method: &str) -> String {
    with_code(class, method, |file, code| {
        let mut instructions = Instructions::default();
        instructions.decode(code.bytes).expect("instructions");
        let mut lines = Vec::new();
        for instruction in &instructions.list {
            let pc = instruction.pc;
            let encoded = u8_at(code.bytes, pc);
            let mut line = format!("{pc} {}", mnemonic(encoded));
            match (encoded, instruction.operand) {
                (16 | 17, Operand::Number(number)) => line += &format!(" {number}"),
                (21..=25 | 54..=58, Operand::Local(slot)) => line += &format!(" {slot}"),
                (18, _) => line += " constant",
                (19, Operand::Constant(index)) => {
                    line +=
                        &format!(" {}", file.pool.class_name(index).map(text).unwrap_or("constant".into()))
                }
                (178..=181, _) => {
                    let field = instruction.field(&file.pool).expect("a field");
                    line += &format!(" {}:{}", text(field.name), text(field.descriptor));
                }
                (182..=184, _) => {
                    line += &format!(" {}", text(instruction.method(&file.pool).expect("a method").name));
                }
                _ => instruction.targets(code.bytes).for_each(|target| line += &format!(" {target}")),
            }
            lines.push(line);
        }
        lines.join("\n")
    })
}

/// An opcode followed by the two bytes of a constant's index.
pub(crate) fn op(opcode: u8, index: u16) -> [u8; 3] {
    let [high, low] = index.to_be_bytes();
    [opcode, high, low]
}

/// Compares instructions; leading white space does not count.
pub(crate) fn check_listing(class: &[u8], method: &str, expected: &str) {
    let expected: Vec<&str> = expected.trim().lines().map(str::trim).collect();
    assert_eq!(listing(class, method), expected.join("\n"), "{method}");
}

/// The content of an attribute of a method's code.
pub(crate) fn code_attribute(class: &[u8], method: &str, name: &str) -> Option<Vec<u8>> {
    with_code(class, method, |file, code| {
        code.attributes.find(&file.pool, name.as_bytes()).map(<[u8]>::to_vec)
    })
}

/// Checks that every method of a class can be decoded, and that its jumps and handlers lead to instructions.
pub(crate) fn check_structure(class: &[u8]) {
    crate::read_summary(class).expect("a readable class");
    let file = ClassFile::parse(class).expect("a class");
    let mut instructions = Instructions::default();
    for member in &file.methods {
        let Some(content) = member.attributes.find(&file.pool, b"Code") else { continue };
        let code = Code::parse(content, &file.pool).expect("code");
        instructions.decode(code.bytes).expect("instructions");
        instructions.build_index(code.bytes);
        let starts = |pc: i32| {
            usize::try_from(pc).is_ok_and(|pc| pc < code.bytes.len() && instructions.index(pc).is_some())
        };
        for instruction in &instructions.list {
            instruction.targets(code.bytes).for_each(|target| assert!(starts(target), "target {target}"));
        }
        for [start, _, handler, _] in code.exception_entries() {
            assert!(starts(i32::from(start)) && starts(i32::from(handler)), "handler");
        }
    }
}

fn mnemonic(opcode: u8) -> String {
    let name = match opcode {
        0 => "nop",
        1 => "aconst_null",
        2..=8 => return format!("iconst_{}", i32::from(opcode) - 3),
        9 => "lconst_0",
        16 => "bipush",
        17 => "sipush",
        18 => "ldc",
        19 => "ldc_w",
        21 => "iload",
        22 => "lload",
        25 => "aload",
        26..=29 => return format!("iload_{}", opcode - 26),
        30..=33 => return format!("lload_{}", opcode - 30),
        42..=45 => return format!("aload_{}", opcode - 42),
        46 => "iaload",
        50 => "aaload",
        54 => "istore",
        55 => "lstore",
        58 => "astore",
        75..=78 => return format!("astore_{}", opcode - 75),
        79 => "iastore",
        80 => "lastore",
        87 => "pop",
        88 => "pop2",
        89 => "dup",
        90 => "dup_x1",
        91 => "dup_x2",
        92 => "dup2",
        93 => "dup2_x1",
        94 => "dup2_x2",
        95 => "swap",
        153 => "ifeq",
        167 => "goto",
        170 => "tableswitch",
        171 => "lookupswitch",
        172 => "ireturn",
        173 => "lreturn",
        176 => "areturn",
        177 => "return",
        178 => "getstatic",
        179 => "putstatic",
        180 => "getfield",
        181 => "putfield",
        182 => "invokevirtual",
        183 => "invokespecial",
        184 => "invokestatic",
        187 => "new",
        191 => "athrow",
        194 => "monitorenter",
        195 => "monitorexit",
        200 => "goto_w",
        _ => return format!("instruction_{opcode}"),
    };
    name.to_owned()
}
