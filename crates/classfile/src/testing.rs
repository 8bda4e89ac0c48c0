//! A small assembler for test classes, and a reader for rewritten ones.

use crate::bytes::{put_u16, put_u32, u8_at};
use crate::code::{Code, Instructions};
use crate::constant_pool::text;
use crate::instruction::Operand;
use crate::plan::{ArraySource, Environment, Foreign, Outcome, Plan, Site, SiteTarget};
use crate::structure::ClassFile;

/// Assembles a class.
pub(crate) struct ClassBuilder {
    pub(crate) access: u16,
    pub(crate) major: u16,
    constants: Vec<u8>,
    constant_count: u16,
    this: u16,
    parent: u16,
    fields: Vec<Vec<u8>>,
    methods: Vec<Vec<u8>>,
    /// The attributes of the class itself.
    attributes: Vec<Vec<u8>>,
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

impl ClassBuilder {
    /// A class of this name, with the class-file version of Java 8.
    pub(crate) fn new(name: &str) -> Self {
        let mut builder = Self {
            access: 0x0021,
            major: 52,
            constants: Vec::new(),
            constant_count: 1,
            this: 0,
            parent: 0,
            fields: Vec::new(),
            methods: Vec::new(),
            attributes: Vec::new(),
        };
        builder.this = builder.class(name);
        builder.parent = builder.class("java/lang/Object");
        builder
    }

    pub(crate) fn utf8(&mut self, text: &str) -> u16 {
        let mut bytes = vec![1];
        put_u16(&mut bytes, text.len() as u16);
        bytes.extend_from_slice(text.as_bytes());
        self.constant(&bytes)
    }

    pub(crate) fn class(&mut self, name: &str) -> u16 {
        let [high, low] = self.utf8(name).to_be_bytes();
        self.constant(&[7, high, low])
    }

    pub(crate) fn module(&mut self, name: &str) -> u16 {
        let [high, low] = self.utf8(name).to_be_bytes();
        self.constant(&[19, high, low])
    }

    pub(crate) fn field_reference(&mut self, class: &str, name: &str, descriptor: &str) -> u16 {
        self.reference(9, class, name, descriptor)
    }

    pub(crate) fn method_reference(&mut self, class: &str, name: &str, descriptor: &str) -> u16 {
        self.reference(10, class, name, descriptor)
    }

    pub(crate) fn dynamic(&mut self, name: &str, descriptor: &str) -> u16 {
        let (name, descriptor) = (self.utf8(name).to_be_bytes(), self.utf8(descriptor).to_be_bytes());
        let pair = self.constant(&[12, name[0], name[1], descriptor[0], descriptor[1]]).to_be_bytes();
        self.constant(&[17, 0, 0, pair[0], pair[1]])
    }

    pub(crate) fn field(&mut self, access: u16, name: &str, descriptor: &str) {
        let (name, descriptor) = (self.utf8(name), self.utf8(descriptor));
        let mut bytes = Vec::new();
        [access, name, descriptor, 0].iter().for_each(|value| put_u16(&mut bytes, *value));
        self.fields.push(bytes);
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
        let (name, descriptor) = (self.utf8(name), self.utf8(descriptor));
        let count = attributes.len() as u16 + u16::from(body.is_some());
        let mut bytes = Vec::new();
        [access, name, descriptor, count].iter().for_each(|value| put_u16(&mut bytes, *value));
        if let Some(body) = body {
            let content = self.code(body);
            self.attribute(&mut bytes, "Code", &content);
        }
        for (name, content) in attributes {
            self.attribute(&mut bytes, name, content);
        }
        self.methods.push(bytes);
    }

    /// An attribute of the class itself.
    pub(crate) fn class_attribute(&mut self, name: &str, content: &[u8]) {
        let mut bytes = Vec::new();
        self.attribute(&mut bytes, name, content);
        self.attributes.push(bytes);
    }

    pub(crate) fn build(&self) -> Vec<u8> {
        let mut out = Vec::new();
        put_u32(&mut out, 0xCAFE_BABE);
        [0, self.major, self.constant_count].iter().for_each(|value| put_u16(&mut out, *value));
        out.extend_from_slice(&self.constants);
        [self.access, self.this, self.parent, 0].iter().for_each(|value| put_u16(&mut out, *value));
        for members in [&self.fields, &self.methods] {
            put_u16(&mut out, members.len() as u16);
            members.iter().for_each(|member| out.extend_from_slice(member));
        }
        put_u16(&mut out, self.attributes.len() as u16);
        self.attributes.iter().for_each(|attribute| out.extend_from_slice(attribute));
        out
    }

    fn code(&mut self, body: &Body) -> Vec<u8> {
        let mut out = Vec::new();
        put_u16(&mut out, body.max_stack);
        put_u16(&mut out, 8);
        put_u32(&mut out, body.code.len() as u32);
        out.extend_from_slice(&body.code);
        put_u16(&mut out, body.exceptions.len() as u16);
        body.exceptions.iter().flatten().for_each(|value| put_u16(&mut out, *value));
        put_u16(&mut out, body.attributes.len() as u16);
        for (name, content) in &body.attributes {
            self.attribute(&mut out, name, content);
        }
        out
    }

    fn attribute(&mut self, out: &mut Vec<u8>, name: &str, content: &[u8]) {
        put_u16(out, self.utf8(name));
        put_u32(out, content.len() as u32);
        out.extend_from_slice(content);
    }

    fn reference(&mut self, tag: u8, class: &str, name: &str, descriptor: &str) -> u16 {
        let class = self.class(class).to_be_bytes();
        let (name, descriptor) = (self.utf8(name).to_be_bytes(), self.utf8(descriptor).to_be_bytes());
        let pair = self.constant(&[12, name[0], name[1], descriptor[0], descriptor[1]]).to_be_bytes();
        self.constant(&[tag, class[0], class[1], pair[0], pair[1]])
    }

    fn constant(&mut self, bytes: &[u8]) -> u16 {
        self.constants.extend_from_slice(bytes);
        self.constant_count += 1;
        self.constant_count - 1
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
            SiteTarget::Contents { source } => source_name(source) + "{}",
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

/// A plan with all instrumentation for race detection.
pub(crate) fn everything() -> Plan<'static> {
    Plan { monitors: true, waits: true, fields: true, arrays: true, ..Plan::empty("Hook") }
}

/// Rewrites a class that must be changed.
pub(crate) fn rewrite(class: &ClassBuilder, plan: &Plan<'_>, environment: &mut Recorder) -> Outcome {
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
