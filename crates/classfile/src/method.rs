//! Rewriting one method.

use crate::access::AccessFlags;
use crate::additions::Additions;
use crate::annotations;
use crate::array_locals::ArrayLocals;
use crate::bytes::{put_u16, put_u32};
use crate::code::{Code, Instructions};
use crate::code_writer::{CodeWriter, with_length};
use crate::confinement::Confinement;
use crate::constant_pool::text;
use crate::control::Region;
use crate::edits::Edits;
use crate::environment::{Environment, MethodFacts, Site, SiteKind, SiteTarget};
use crate::error::MethodError;
use crate::field_access::FieldTable;
use crate::frame_reader::{self, FrameFacts};
use crate::frames::{FramedMethod, KeptLocals};
use crate::instruction::Instruction;
use crate::instrument::{Instrumenter, Lock, Method, RegionKind};
use crate::layout::Layout;
use crate::opcodes::{
    IASTORE, INVOKEDYNAMIC, INVOKESPECIAL, INVOKEVIRTUAL, NEW, PUTFIELD, PUTSTATIC, SASTORE,
};
use crate::pass::{Detail, Reports};
use crate::plan::Plan;
use crate::probes::{ProbedMethod, fit, probes_of};
use crate::redundancy::Reported;
use crate::script::AdvisedMethod;
use crate::sources::Sources;
use crate::structure::{Attribute, ClassFile, Member};
use crate::tables::Lines;

/// Buffers that are reused for every method.
#[derive(Default)]
pub(crate) struct Scratch {
    instructions: Instructions,
    edits: Edits,
    layout: Layout,
    lines: Lines,
    sources: Sources,
    reported: Reported,
    arrays: ArrayLocals,
}

/// Rewrites the methods of one class.
pub(crate) struct MethodRewriter<'m, 'a> {
    pub(crate) plan: &'m Plan<'a>,
    pub(crate) class: &'m ClassFile<'a>,
    pub(crate) class_name: &'m [u8],
    pub(crate) class_name_text: &'m str,
    /// Whether the class has an annotation whose simple name is `Atomic`.
    pub(crate) is_class_annotated: bool,
    /// Whether the class declares a method `clone`.
    pub(crate) has_own_clone: bool,
    pub(crate) additions: &'m mut Additions<'a>,
    pub(crate) fields: &'m mut FieldTable<'a>,
    pub(crate) environment: &'m mut dyn Environment,
    pub(crate) scratch: Scratch,
}

/// The outcome of rewriting a method.
pub(crate) struct MethodOutcome {
    pub(crate) is_rewritten: bool,
    /// The parts of the plan that could not be carried out in it.
    pub(crate) omissions: Vec<&'static str>,
}

impl<'m, 'a> MethodRewriter<'m, 'a> {
    /// Appends the whole method to `out` if there is code to insert. After an error, the caller must truncate
    /// `out`.
    pub(crate) fn rewrite(
        &mut self,
        member: &Member<'a>,
        detail: Detail,
        out: &mut Vec<u8>,
    ) -> Result<MethodOutcome, MethodError> {
        let pass = self.plan.product.pass();
        let reports = pass.reports(detail);
        let class = self.class;
        let pool = &class.pool;
        let name = pool.utf8(member.name_index)?;
        let descriptor = pool.utf8(member.descriptor_index)?;
        let mut outcome = MethodOutcome { is_rewritten: false, omissions: Vec::new() };
        let Some(content) = member.attributes.find(pool, b"Code") else {
            if probes_of(self.plan, name, descriptor).next().is_some() {
                outcome.omissions.push("the method has no code to put a probe into");
            }
            return Ok(outcome);
        };
        let code = Code::parse(content, pool)?;
        self.scratch.instructions.decode(code.bytes)?;
        let method = self.prepare(member, name, descriptor, &code, &reports, &mut outcome.omissions)?;
        let scratch = &mut self.scratch;
        scratch.edits.clear();
        let mut instrumenter = Instrumenter {
            pass,
            reports: &reports,
            detail,
            pool,
            method: &method,
            code: &code,
            instructions: &scratch.instructions,
            additions: self.additions,
            fields: self.fields,
            environment: self.environment,
            edits: &mut scratch.edits,
            lines: &mut scratch.lines,
            sources: &mut scratch.sources,
            reported: &mut scratch.reported,
            arrays: &mut scratch.arrays,
            confinement: Confinement::begin(&method),
            unit: None,
        };
        instrumenter.run()?;
        if instrumenter.edits.is_empty() {
            return Ok(outcome);
        }
        if method.has_end() {
            instrumenter.edits.begin_epilogue();
            instrumenter.handler()?;
        }
        scratch.instructions.build_index(code.bytes);
        scratch.layout.compute(&code, &scratch.instructions, &scratch.edits)?;
        let framed = FramedMethod {
            this_index: class.this_index,
            is_static: member.is_static(),
            is_constructor: name == b"<init>",
            descriptor,
            instructions: &scratch.instructions,
            layout: &scratch.layout,
            kept_locals: KeptLocals::new(code.max_locals, scratch.edits.kept_locals, self.additions)?,
        };
        let writer = CodeWriter {
            code: &code,
            method: &framed,
            edits: &scratch.edits,
            pool,
            handler: method.has_end().then_some(method.handler_needs()),
            covered_from: method.covered_from(),
            needs_frames: class.major >= 50,
        };
        let access = match method.enters_by_itself() {
            true => member.access.difference(AccessFlags::SYNCHRONIZED),
            false => member.access,
        };
        put_u16(out, access.bits());
        out.extend_from_slice(member.raw.get(2..6).unwrap_or_default());
        // The JVM replaces intrinsic methods by its own code, which enters the monitor of a synchronized method. A method that is
        // no longer synchronized must therefore lose its intrinsic annotation.
        let is_dropped = |attribute: &Attribute<'_>| {
            method.enters_by_itself() && annotations::marks_intrinsic(attribute, pool)
        };
        let dropped = member.attributes.iter().filter(&is_dropped).count();
        put_u16(out, member.attributes.count() - u16::try_from(dropped).unwrap_or(0));
        for attribute in member.attributes.iter().filter(|attribute| !is_dropped(attribute)) {
            put_u16(out, attribute.name_index);
            if pool.utf8(attribute.name_index) == Ok(b"Code") {
                with_length(out, |out| writer.write(self.additions, out))?;
            } else {
                put_attribute_content(out, &attribute);
            }
        }
        outcome.is_rewritten = true;
        Ok(outcome)
    }

    fn prepare(
        &mut self,
        member: &Member<'a>,
        name: &'a [u8],
        descriptor: &'a [u8],
        code: &Code<'a>,
        reports: &Reports<'a>,
        omissions: &mut Vec<&'static str>,
    ) -> Result<Method<'m, 'a>, MethodError> {
        let is_static = member.is_static();
        let is_constructor = name == b"<init>";
        let pool = &self.class.pool;
        let mut advised = match reports.is_advised {
            true => self.advised(member, name, descriptor, code),
            false => AdvisedMethod::default(),
        };
        let is_synchronized =
            (reports.monitors || advised.has_lock()) && member.access.contains(AccessFlags::SYNCHRONIZED);
        let has_advice = advised.execution.is_some();
        let has_probes = probes_of(self.plan, name, descriptor).next().is_some();
        let needs_constructor = is_constructor && reports.constructors;
        let facts = match code.frames {
            Some(frames)
                if !is_static && (is_synchronized || has_probes || needs_constructor || has_advice) =>
            {
                frame_reader::inspect(frames, pool, self.class_name, descriptor, is_constructor)?
            }
            _ => FrameFacts::default(),
        };
        let keeps_this = !is_static
            && (is_synchronized || has_probes || has_advice)
            && !facts.loses_this
            && !stores_to(&self.scratch.instructions, 0);
        let is_class_initializer = name == b"<clinit>";
        advised.is_constructor = is_constructor;
        advised.hands_this = keeps_this && !is_constructor;
        advised.keeps_this = keeps_this || is_constructor && !stores_to(&self.scratch.instructions, 0);
        let lock = match (is_synchronized, is_static) {
            (false, _) => None,
            (true, true) if self.class.major < 49 => {
                omissions.push("the lock of a static synchronized method cannot be reported in class-file versions before 49");
                None
            }
            (true, true) => Some(Lock::Class(self.class.this_index)),
            (true, false) if keeps_this => Some(Lock::This),
            (true, false) if reports.scheduling.is_some() => {
                omissions.push("a synchronized method that overwrites 'this' cannot be controlled");
                None
            }
            (true, false) => Some(Lock::ForgottenThis),
        };
        let mut probes = Vec::new();
        if has_probes {
            // The frames at a constructor's beginning have an uninitialized `this`, but at its returns it is initialized.
            let stays = keeps_this || (is_constructor && !stores_to(&self.scratch.instructions, 0));
            let instructions = &self.scratch.instructions;
            let stored = |slot: usize| stores_to(instructions, slot);
            let probed =
                ProbedMethod { descriptor, is_static, is_constructor, keeps_this: stays, stored: &stored };
            for probe in probes_of(self.plan, name, descriptor) {
                match fit(probe, &probed, self.additions)? {
                    Ok(probe) => probes.push(probe),
                    Err(reason) => omissions.push(reason),
                }
            }
        }
        let mut objects_usable_from = 0;
        if needs_constructor {
            objects_usable_from = initialized_from(&self.scratch.instructions, self.class);
            if facts.last_uninitialized_this.is_some_and(|pc| pc >= objects_usable_from) {
                objects_usable_from = usize::MAX;
            }
        }
        let is_region = is_class_initializer && is_static
            || reports.scheduling.is_some_and(|scheduling| {
                let fits = |region: &Region<'_>| {
                    region.method.as_bytes() == name
                        && region.descriptor.is_none_or(|wanted| wanted.as_bytes() == descriptor)
                };
                scheduling.regions.iter().any(fits)
            });
        let region = match reports.scheduling {
            Some(_) if is_region => Some(RegionKind::Named),
            None if is_region && reports.initializers => Some(RegionKind::Initializer),
            _ => None,
        };
        let is_block = reports.blocks && !is_constructor && !is_class_initializer && {
            let is_class_annotated = self.is_class_annotated;
            let facts = MethodFacts {
                name: &text(name),
                descriptor: &text(descriptor),
                access: member.access,
                is_annotated: is_class_annotated
                    || annotations::has_simple_name(&member.attributes, pool, b"Atomic"),
                is_class_annotated,
            };
            self.environment.is_atomic(&facts)
        };
        // A constructor for which the point where `this` becomes initialized is unknown has no reportable exit.
        let is_unit = reports.units && !is_class_initializer && objects_usable_from != usize::MAX;
        Ok(Method {
            class: self.class,
            class_name: self.class_name_text,
            name: text(name),
            descriptor: text(descriptor),
            access: member.access,
            is_class_initializer,
            has_own_clone: self.has_own_clone,
            has_class_constants: self.class.major >= 49,
            lock,
            is_controlled: reports.scheduling.is_some(),
            is_block,
            is_unit,
            is_entry: reports.entries
                && !is_constructor
                && !is_class_initializer
                && is_entry(member.access, &self.scratch.instructions, code.bytes.len()),
            is_constructor,
            region,
            probes,
            advised,
            objects_usable_from,
            local_variables: code.attributes.find(pool, b"LocalVariableTable"),
        })
    }
}

/// Methods up to this length that neither call nor store anything are getters.
const SHORT: usize = 8;

/// Whether a method may be what a thread was started to run, as opposed to a mere getter. Private methods count, because method
/// references may lead to them, and so do the bodies of lambdas, which are synthetic.
fn is_entry(access: AccessFlags, instructions: &Instructions, length: usize) -> bool {
    let acts = |instruction: &Instruction| {
        matches!(
            instruction.opcode,
            INVOKEVIRTUAL..=INVOKEDYNAMIC | PUTSTATIC | PUTFIELD | IASTORE..=SASTORE
        )
    };
    length > SHORT || access.contains(AccessFlags::SYNTHETIC) || instructions.list.iter().any(acts)
}

impl<'a> MethodRewriter<'_, 'a> {
    /// Asks the environment for the reports about a method itself.
    fn advised(
        &mut self,
        member: &Member<'a>,
        name: &'a [u8],
        descriptor: &'a [u8],
        code: &Code<'a>,
    ) -> AdvisedMethod {
        if name == b"<clinit>" {
            return AdvisedMethod::default();
        }
        self.scratch.lines.read(code, &self.class.pool);
        let line = self.scratch.lines.at(0);
        let (method, descriptor) = (text(name), text(descriptor));
        let class = self.class_name_text;
        let mut advice_for = |kind| {
            let target = SiteTarget::Nothing;
            let access = member.access;
            let site = Site { class, method: &method, descriptor: &descriptor, access, line, kind, target };
            self.environment.advise(&site)
        };
        let execution = advice_for(SiteKind::Execution);
        let (mut lock, mut unlock) = (None, None);
        if member.access.contains(AccessFlags::SYNCHRONIZED) {
            lock = advice_for(SiteKind::EnterMethod);
            unlock = advice_for(SiteKind::ExitMethod);
        }
        AdvisedMethod { execution, lock, unlock, ..AdvisedMethod::default() }
    }
}

fn put_attribute_content(out: &mut Vec<u8>, attribute: &Attribute<'_>) {
    put_u32(out, u32::try_from(attribute.content.len()).unwrap_or(u32::MAX));
    out.extend_from_slice(attribute.content);
}

/// Whether the code stores to a local variable, possibly as the second slot of a long or double.
fn stores_to(instructions: &Instructions, wanted: usize) -> bool {
    let mut stored = instructions.list.iter().filter_map(Instruction::stored);
    stored.any(|slot| usize::from(slot) == wanted || usize::from(slot) + 1 == wanted)
}

/// The offset behind the call of another constructor, which initializes `this`: the first constructor call that
/// does not belong to a `new`. `usize::MAX` if there is none.
fn initialized_from(instructions: &Instructions, class: &ClassFile<'_>) -> usize {
    let mut created = 0_usize;
    for instruction in &instructions.list {
        match instruction.opcode {
            NEW => created += 1,
            INVOKESPECIAL => {
                let Ok(called) = instruction.method(&class.pool) else { return usize::MAX };
                if called.name != b"<init>" {
                    continue;
                }
                if created > 0 {
                    created -= 1;
                    continue;
                }
                let name = Ok(called.owner);
                let is_expected = class.pool.class_name(class.this_index) == name
                    || class.pool.class_name(class.super_index) == name;
                return if is_expected { instruction.end() } else { usize::MAX };
            }
            _ => {}
        }
    }
    usize::MAX
}
