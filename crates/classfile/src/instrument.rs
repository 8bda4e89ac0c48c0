//! Inserts hook calls in one pass over a method's instructions.

use std::borrow::Cow;

use crate::access::AccessFlags;
use crate::accessors::{Accessor, accessor};
use crate::additions::Additions;
use crate::advice::AdvisedMethod;
use crate::code::{Code, Instructions};
use crate::code_writer::HandlerNeeds;
use crate::constant_pool::{ConstantPool, MemberRef, text};
use crate::descriptor::{parameters, slots};
use crate::edits::{Edit, Edits};
use crate::error::MethodError;
use crate::field_access::{FieldTable, Treatment};
use crate::hooks;
use crate::instruction::Instruction;
use crate::opcodes::{
    ACONST_NULL, ALOAD, ALOAD_0, ASTORE, ATHROW, DASTORE, DUP, DUP_X1, DUP_X2, DUP2, DUP2_X1, DUP2_X2,
    GETFIELD, GETSTATIC, IALOAD, IASTORE, ILOAD, INVOKEDYNAMIC, INVOKEINTERFACE, INVOKESPECIAL, INVOKESTATIC,
    INVOKEVIRTUAL, IRETURN, ISTORE, LASTORE, LDC_W, MONITORENTER, MONITOREXIT, POP, POP2, PUTFIELD,
    PUTSTATIC, RETURN, SALOAD, SASTORE, SWAP,
};
use crate::plan::{ArraySource, Call, Environment, Place, Plan, ProbePoint, Site, SiteKind, SiteTarget};
use crate::probes::FittedProbe;
use crate::redundancy::{Object, Reported, Verdict, always_completes};
use crate::sources::{Source, Sources};
use crate::tables::{Lines, local_name};

/// The lock that a synchronized method holds, and how inserted code refers to it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Lock {
    This,
    /// `this`, but the method overwrites local variable 0, so that it is only available at the entry.
    ForgottenThis,
    /// The class, by its constant.
    Class(u16),
}

/// Why a whole method is a region.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum RegionKind {
    /// It initializes its class, which no other thread can use meanwhile.
    Initializer,
    /// Other threads may block inside the JVM until it ends.
    Named,
}

/// A method that is about to be instrumented.
pub(crate) struct Method<'m, 'a> {
    pub(crate) class_name: &'m str,
    pub(crate) name: Cow<'a, str>,
    pub(crate) descriptor: Cow<'a, str>,
    pub(crate) access: AccessFlags,
    pub(crate) is_class_initializer: bool,
    pub(crate) has_class_constants: bool,
    /// The lock, if synchronization is to be reported.
    pub(crate) lock: Option<Lock>,
    /// Whether hooks schedule the threads.
    pub(crate) is_controlled: bool,
    /// Whether the class declares a method `clone`.
    pub(crate) has_own_clone: bool,
    /// Whether the method should be atomic.
    pub(crate) is_block: bool,
    /// Whether its entry and exit are reported.
    pub(crate) is_unit: bool,
    /// Whether only its entry is reported.
    pub(crate) is_entry: bool,
    pub(crate) is_constructor: bool,
    pub(crate) region: Option<RegionKind>,
    pub(crate) probes: Vec<FittedProbe>,
    /// The reports about the method itself.
    pub(crate) advised: AdvisedMethod,
    /// From this offset on, fields of objects may be accessed; before, `this` may be uninitialized.
    pub(crate) objects_usable_from: usize,
    pub(crate) local_variables: Option<&'a [u8]>,
}

impl Method<'_, '_> {
    /// Whether the method's end, normal or exceptional, is reported.
    pub(crate) fn has_end(&self) -> bool {
        self.lock.is_some()
            || self.is_block
            || self.is_unit
            || self.region.is_some()
            || self.advised.has_end()
    }

    /// The offset from which on an exception that leaves the method is reported as its end.
    pub(crate) fn covered_from(&self) -> usize {
        if self.is_unit && self.is_constructor { self.objects_usable_from } else { 0 }
    }

    /// Whether the method gets explicit monitor instructions and loses its `synchronized` flag.
    pub(crate) fn enters_by_itself(&self) -> bool {
        (self.is_controlled || self.advised.converts())
            && self.lock.is_some_and(|lock| lock != Lock::ForgottenThis)
    }

    pub(crate) fn handler_needs(&self) -> HandlerNeeds {
        let needs_this = self.lock == Some(Lock::This) || self.advised.has_end() && self.advised.hands_this;
        if needs_this { HandlerNeeds::This } else { HandlerNeeds::Nothing }
    }
}

/// The state of the pass over one method.
pub(crate) struct Instrumenter<'m, 'a> {
    pub(crate) plan: &'m Plan<'a>,
    pub(crate) pool: &'m ConstantPool<'a>,
    pub(crate) method: &'m Method<'m, 'a>,
    pub(crate) code: &'m Code<'a>,
    pub(crate) instructions: &'m Instructions,
    pub(crate) additions: &'m mut Additions<'a>,
    pub(crate) fields: &'m mut FieldTable<'a>,
    pub(crate) environment: &'m mut dyn Environment,
    pub(crate) edits: &'m mut Edits,
    pub(crate) lines: &'m mut Lines,
    pub(crate) sources: &'m mut Sources,
    pub(crate) reported: &'m mut Reported,
    /// The site of the method's entry, if its exit is reported.
    pub(crate) unit: Option<u32>,
}

impl<'a> Instrumenter<'_, 'a> {
    /// Fills the edits.
    pub(crate) fn run(&mut self) -> Result<(), MethodError> {
        let plan = self.plan;
        if needs_lines(plan) {
            self.lines.read(self.code, self.pool);
        }
        self.prologue()?;
        let has_return_code = self.method.has_end()
            || self.method.advised.execution.is_some_and(|execution| execution.after)
            || self.method.probes.iter().any(|probe| probe.at == ProbePoint::Return);
        let follows = plan.fields || plan.arrays || plan.advice;
        if follows {
            self.sources.begin(self.code, self.instructions);
            self.reported.clear();
        }
        let instructions = self.instructions;
        for (index, &instruction) in instructions.list.iter().enumerate() {
            if follows {
                if self.sources.arrive(instruction.pc) {
                    self.reported.clear();
                }
                if !self.completes(instruction) {
                    self.reported.may_end();
                }
            }
            let mut edit = self.edits.begin(index);
            if matches!(instruction.opcode, INVOKEVIRTUAL | INVOKEINTERFACE) && !plan.announced.is_empty() {
                self.announce(instruction)?;
            }
            let is_advised = plan.advice && self.advise(instruction, &mut edit)?;
            match instruction.opcode {
                _ if is_advised => {}
                // A virtual thread may unmount from its carrier inside this instruction. HotSpot 25 then loses track of
                // references below the lock on the operand stack, so that no copy may be left there for a call afterwards.
                MONITORENTER if plan.monitors => {
                    self.edits.code(1, &[DUP]);
                    self.enter(instruction.pc, SiteKind::Enter)?;
                    if plan.synchronization && plan.control.is_none() {
                        self.edits.split(&mut edit);
                        self.edits.call(&hooks::ENTERED, self.additions)?;
                    }
                }
                MONITOREXIT if plan.monitors => {
                    self.edits.code(1, &[DUP]);
                    // A handler that covers itself would be entered endlessly if the hook call in it overflowed the stack.
                    // Under control the scheduler must not grant the monitor to another thread before it has been exited.
                    if plan.control.is_some() || self.code.is_in_own_handler(instruction.pc) {
                        self.edits.split(&mut edit);
                    }
                    self.edits.call(&hooks::EXIT, self.additions)?;
                }
                INVOKEVIRTUAL | INVOKESPECIAL | INVOKESTATIC if plan.control.is_some() => {
                    self.redirect(instruction, &mut edit)?;
                    if plan.points && instruction.opcode == INVOKEVIRTUAL {
                        self.point_call(instruction, &edit)?;
                    }
                    // From here on `this` is initialized. Jumps never lead to code inserted behind an instruction, so that the
                    // unit begins only once.
                    if self.method.is_unit
                        && self.method.is_constructor
                        && instruction.end() == self.method.objects_usable_from
                    {
                        self.edits.split(&mut edit);
                        self.begin_unit(instruction.pc)?;
                    }
                }
                INVOKEVIRTUAL | INVOKESPECIAL | INVOKESTATIC => self.call(instruction, &mut edit)?,
                GETSTATIC..=PUTFIELD if plan.points => self.point_field(instruction)?,
                IALOAD..=SALOAD | IASTORE..=SASTORE if plan.points => self.point_element(instruction)?,
                GETSTATIC..=PUTFIELD if plan.fields || plan.control.is_some() && plan.synchronization => {
                    self.field(instruction, &mut edit)?;
                }
                IALOAD..=SALOAD | IASTORE..=SASTORE if plan.arrays => self.array(instruction)?,
                IRETURN..=RETURN if has_return_code => self.before_return(&mut edit)?,
                _ => {}
            }
            if plan.contents {
                self.contents(instruction, &mut edit)?;
            }
            self.edits.finish(edit)?;
            if follows {
                if let Some(slot) = self.sources.step(instruction, self.pool) {
                    self.reported.forget(slot);
                }
                if matches!(instruction.opcode, INVOKEVIRTUAL..=INVOKEDYNAMIC | MONITORENTER | MONITOREXIT) {
                    self.reported.clear();
                }
            }
        }
        Ok(())
    }

    /// Whether the next instruction is certain to follow.
    fn completes(&self, instruction: Instruction) -> bool {
        let depth = match instruction.opcode {
            GETFIELD => 0,
            PUTFIELD => instruction.field(self.pool).map_or(usize::MAX, |field| slots(field.descriptor)),
            _ => return always_completes(instruction),
        };
        self.sources.copy_below(depth).is_some_and(|slot| self.reported.knows(Object::Local(slot)))
    }

    /// Appends the handler that reports the method's end when it throws.
    pub(crate) fn handler(&mut self) -> Result<(), MethodError> {
        self.end()?;
        self.edits.code(0, &[ATHROW]);
        Ok(())
    }

    fn begin_unit(&mut self, pc: usize) -> Result<(), MethodError> {
        let site = self.site(pc, SiteKind::Unit, SiteTarget::Nothing);
        self.unit = Some(site);
        self.edits.code(1, &[]);
        self.edits.number(site, self.additions)?;
        self.edits.call(&hooks::UNIT_ENTER, self.additions)
    }

    fn prologue(&mut self) -> Result<(), MethodError> {
        if self.method.is_entry {
            self.edits.call(&hooks::METHOD_RUNS, self.additions)?;
        }
        if self.method.is_unit && !self.method.is_constructor {
            self.begin_unit(0)?;
        }
        match self.method.region {
            Some(RegionKind::Initializer) => self.edits.call(&hooks::INITIALIZER_BEGIN, self.additions)?,
            Some(RegionKind::Named) => self.edits.call(&hooks::REGION_BEGIN, self.additions)?,
            None => {}
        }
        if let Some(lock) = self.method.lock.filter(|_| self.plan.advice) {
            self.advised_entry(lock)?;
        } else if let Some(lock) = self.method.lock {
            self.push(lock);
            self.enter(0, SiteKind::EnterMethod)?;
            if self.method.is_controlled {
                self.push(lock);
                self.edits.code(1, &[MONITORENTER]);
            }
        }
        if self.method.is_block {
            let site = self.site(0, SiteKind::Block, SiteTarget::Nothing);
            self.edits.code(1, &[]);
            self.edits.number(site, self.additions)?;
            self.edits.call(&hooks::BLOCK_ENTER, self.additions)?;
        }
        for probe in &self.method.probes {
            if probe.at == ProbePoint::Entry {
                probe.insert(self.edits);
            }
        }
        self.advised_begin()?;
        self.edits.end_prologue();
        Ok(())
    }

    fn before_return(&mut self, edit: &mut Edit) -> Result<(), MethodError> {
        // Under control a probe may be a scheduling point: the method must have released its lock before another thread runs there.
        if !self.method.is_controlled {
            self.return_probes();
        }
        if !self.method.advised.has_end() {
            self.advised_end()?;
        }
        if self.method.has_end() {
            self.edits.uncover(edit);
            self.end()?;
        }
        if self.method.is_controlled {
            self.return_probes();
        }
        Ok(())
    }

    fn return_probes(&mut self) {
        for probe in self.method.probes.iter().filter(|probe| probe.at == ProbePoint::Return) {
            probe.insert(self.edits);
        }
    }

    /// Reports the end of the method.
    fn end(&mut self) -> Result<(), MethodError> {
        if self.method.is_block {
            self.edits.call(&hooks::BLOCK_EXIT, self.additions)?;
        }
        if self.method.advised.has_end() {
            self.advised_end()?;
        }
        match self.method.lock {
            Some(lock) if self.plan.advice => self.advised_exit(lock)?,
            Some(Lock::ForgottenThis) => self.edits.call(&hooks::EXIT_TOP, self.additions)?,
            Some(lock) => {
                if self.method.is_controlled {
                    self.push(lock);
                    self.edits.code(1, &[MONITOREXIT]);
                }
                self.push(lock);
                self.edits.call(&hooks::EXIT, self.additions)?;
            }
            None => {}
        }
        match self.method.region {
            Some(RegionKind::Initializer) => self.edits.call(&hooks::INITIALIZER_END, self.additions)?,
            Some(RegionKind::Named) => self.edits.call(&hooks::REGION_END, self.additions)?,
            None => {}
        }
        if let Some(site) = self.unit {
            self.edits.code(1, &[]);
            self.edits.number(site, self.additions)?;
            self.edits.call(&hooks::UNIT_EXIT, self.additions)?;
        }
        Ok(())
    }

    /// Pushes the method's lock on the stack.
    pub(crate) fn push(&mut self, lock: Lock) {
        match lock {
            Lock::This | Lock::ForgottenThis => self.edits.code(1, &[ALOAD_0]),
            Lock::Class(class) => {
                self.edits.code(1, &[]);
                self.edits.constant(LDC_W, class);
            }
        }
    }

    /// Reports that the lock on the stack is about to be entered.
    pub(crate) fn enter(&mut self, pc: usize, kind: SiteKind) -> Result<(), MethodError> {
        if !self.plan.monitor_sites {
            return self.edits.call(&hooks::ENTER, self.additions);
        }
        let site = self.site(pc, kind, SiteTarget::Nothing);
        self.edits.code(2, &[]);
        self.edits.number(site, self.additions)?;
        self.edits.call(&hooks::ENTER_AT, self.additions)
    }

    /// Redirects a call to the hook class if the plan says so.
    fn redirect(&mut self, instruction: Instruction, edit: &mut Edit) -> Result<(), MethodError> {
        let calls = self.plan.control.map_or(&[][..], |control| control.calls);
        let called = instruction.method(self.pool)?;
        let fits = |call: &&Call<'_>| {
            call.name.as_bytes() == called.name
                && call.descriptor.as_bytes() == called.descriptor
                && call.class.is_none_or(|class| class.as_bytes() == called.owner)
        };
        let Some(call) = calls.iter().find(fits) else { return Ok(()) };
        if call.site {
            let site = self.site(instruction.pc, SiteKind::Call, SiteTarget::Nothing);
            self.edits.code(1, &[]);
            self.edits.number(site, self.additions)?;
        }
        let index = self.additions.hook_method(call.hook_method.as_bytes(), call.hook_descriptor)?;
        self.edits.replace(edit, INVOKESTATIC, index);
        Ok(())
    }

    fn call(&mut self, instruction: Instruction, edit: &mut Edit) -> Result<(), MethodError> {
        let plan = self.plan;
        let has_receiver = instruction.opcode != INVOKESTATIC;
        if !plan.fields && !plan.arrays && !((plan.waits || plan.clones) && has_receiver) {
            return Ok(());
        }
        let called = instruction.method(self.pool)?;
        if plan.waits && has_receiver && called.name == b"wait" {
            return self.wait(&called, edit);
        }
        if plan.clones && has_receiver && self.may_clone(instruction, &called) {
            self.edits.split(edit);
            self.edits.code(1, &[DUP]);
            return self.edits.call(&hooks::CLONED, self.additions);
        }
        match accessor(instruction.opcode, &called) {
            Some(accessor) if if accessor.is_element { plan.arrays } else { plan.fields } => {
                self.accessor(instruction, &called, accessor, edit)
            }
            _ => Ok(()),
        }
    }

    /// Whether a call may reach `Object.clone`. That method is protected: it is called by `super.clone()`, or by a class that inherits
    /// it. Arrays are left out, because the shadow words of their elements are not in the array itself.
    fn may_clone(&self, instruction: Instruction, called: &MemberRef<'_>) -> bool {
        let is_inherited = || {
            !self.method.has_own_clone
                && (called.owner == b"java/lang/Object" || called.owner == self.method.class_name.as_bytes())
        };
        called.name == b"clone"
            && called.descriptor == b"()Ljava/lang/Object;"
            && (instruction.opcode == INVOKESPECIAL || is_inherited())
    }

    /// Reports a call of `Object.wait`. These methods are final, so that no other class has methods with this name and descriptors.
    fn wait(&mut self, called: &MemberRef<'_>, edit: &mut Edit) -> Result<(), MethodError> {
        let after: &[u8] = match called.descriptor {
            b"()V" => {
                self.edits.code(2, &[DUP, DUP]);
                &[]
            }
            // From (o, t) over (t, o) and (o, t, o) to (o, o, t, o).
            b"(J)V" => {
                self.edits.code(2, &[DUP2_X1, POP2, DUP_X2, DUP_X2]);
                &[]
            }
            b"(JI)V" => {
                self.edits.code(1, &[ACONST_NULL]);
                &[ACONST_NULL]
            }
            _ => return Ok(()),
        };
        self.edits.call(&hooks::WAIT_BEGIN, self.additions)?;
        self.edits.split(edit);
        self.edits.code(1, after);
        self.edits.call(&hooks::WAIT_END, self.additions)
    }

    fn field(&mut self, instruction: Instruction, edit: &mut Edit) -> Result<(), MethodError> {
        let opcode = instruction.opcode;
        let is_static = matches!(opcode, GETSTATIC | PUTSTATIC);
        if !is_static && instruction.pc < self.method.objects_usable_from {
            return Ok(());
        }
        if self.plan.fields && self.leaves_out(instruction, false) {
            return Ok(());
        }
        let field = instruction.field(self.pool)?;
        let treatment =
            self.fields.treatment(&field, is_static, self.pool, self.additions, self.environment)?;
        match treatment {
            Treatment::Ignore => return Ok(()),
            Treatment::Volatile(class) => return self.volatile(instruction, &field, class, edit),
            _ if !self.plan.fields => return self.plain_read(instruction, &field),
            _ if is_static && self.method.is_class_initializer && self.plan.control.is_some() => {
                return Ok(());
            }
            Treatment::Cell(_) if self.method.is_class_initializer => return Ok(()),
            _ => {}
        }
        self.keeps(instruction, false);
        if self.plan.selective {
            let (class, name, descriptor) = (text(field.owner), text(field.name), text(field.descriptor));
            let target = SiteTarget::Field { class: &class, name: &name, descriptor: &descriptor, is_static };
            if !self.selects(instruction.pc, kind_of(opcode), target) {
                return Ok(());
            }
        }
        let depth = if opcode == PUTFIELD { slots(field.descriptor) } else { 0 };
        let object =
            if is_static { Some(Object::Class) } else { self.sources.copy_below(depth).map(Object::Local) };
        let wrote = matches!(opcode, PUTFIELD | PUTSTATIC);
        let mut replaced = None;
        // Under control the scheduler must see every access.
        if let Some(object) = object.filter(|_| self.plan.control.is_none()) {
            match self.reported.access(object, field.index, wrote, edit.instruction) {
                Verdict::Known => return Ok(()),
                Verdict::Follows(first) => {
                    if self.plan.repetitions {
                        let site = self.field_site(instruction, &field);
                        self.environment.stands_for(first, site);
                    }
                    return Ok(());
                }
                Verdict::New => {}
                Verdict::Replaces(read, site) => {
                    self.edits.cancel(read);
                    replaced = Some(site);
                }
            }
        }
        let site = self.field_site(instruction, &field);
        self.reported.number(edit.instruction, site);
        if let Some(read) = replaced.filter(|_| self.plan.repetitions) {
            self.environment.stands_for(site, read);
        }
        let is_shadowed = matches!(treatment, Treatment::Shadow(..));
        if !is_static {
            match (wrote, slots(field.descriptor)) {
                (false, _) => self.edits.code(4, &[DUP]),
                // The shadow is read after the write, so that a null object fails at the write itself, with the JVM's
                // own message. From (o, v) over (v, o) and (o, v, o) to (o, o, v).
                (true, 1) if is_shadowed => {
                    self.edits.code(4, &[SWAP, DUP_X1, SWAP]);
                    self.edits.split(edit);
                }
                // From (o, v) over (v, o) and (o, v, o) and (o, o, v, o) to (o, o, v).
                (true, _) if is_shadowed => {
                    self.edits.code(4, &[DUP2_X1, POP2, DUP_X2, DUP_X2, POP]);
                    self.edits.split(edit);
                }
                // From (o, v) to (o, v, o).
                (true, 1) => self.edits.code(4, &[DUP2, POP]),
                // From (o, v) over (v, o) to (o, v, o).
                (true, _) => self.edits.code(4, &[DUP2_X1, POP2, DUP_X2]),
            }
        }
        let hook = match (treatment, wrote) {
            (Treatment::Shadow(reference, is_double), _) => {
                self.edits.code(4, &[DUP]);
                self.edits.constant(GETFIELD, reference);
                match (wrote, is_double) {
                    (false, false) => &hooks::READ,
                    (false, true) => &hooks::READ_DOUBLE,
                    (true, false) => &hooks::WRITE,
                    (true, true) => &hooks::WRITE_DOUBLE,
                }
            }
            (Treatment::Cell(cell), _) => {
                self.edits.number(cell, self.additions)?;
                if !wrote { &hooks::READ_STATIC } else { &hooks::WRITE_STATIC }
            }
            (_, false) if is_static => &hooks::READ_STATIC_AT,
            (_, true) if is_static => &hooks::WRITE_STATIC_AT,
            (_, false) => &hooks::READ_AT,
            (_, true) => &hooks::WRITE_AT,
        };
        self.edits.code(2, &[]);
        self.edits.number(site, self.additions)?;
        self.edits.call(hook, self.additions)
    }

    /// Reports the read of a plain field, so that the scheduler can detect a thread that spins on it until another thread writes it.
    fn plain_read(&mut self, instruction: Instruction, field: &MemberRef<'_>) -> Result<(), MethodError> {
        let is_read = matches!(instruction.opcode, GETSTATIC | GETFIELD);
        if !is_read || self.method.is_class_initializer {
            return Ok(());
        }
        let site = self.field_site(instruction, field);
        self.edits.code(1, &[]);
        self.edits.number(site, self.additions)?;
        self.edits.call(&hooks::LOOK_AT, self.additions)
    }

    /// Numbers an access to a field.
    pub(crate) fn field_site(&mut self, instruction: Instruction, field: &MemberRef<'_>) -> u32 {
        let is_static = matches!(instruction.opcode, GETSTATIC | PUTSTATIC);
        let kind = kind_of(instruction.opcode);
        let (class, name, descriptor) = (text(field.owner), text(field.name), text(field.descriptor));
        let target = SiteTarget::Field { class: &class, name: &name, descriptor: &descriptor, is_static };
        self.site(instruction.pc, kind, target)
    }

    /// Reports the call of a method that the plan lists in `announced`.
    fn announce(&mut self, instruction: Instruction) -> Result<(), MethodError> {
        let called = instruction.method(self.pool)?;
        let is_named = self.plan.announced.iter().any(|(class, names)| {
            class.as_bytes() == called.owner && names.iter().any(|name| name.as_bytes() == called.name)
        });
        if !is_named {
            return Ok(());
        }
        let (class, name) = (text(called.owner), text(called.name));
        let target = SiteTarget::Method { class: &class, name: &name };
        let site = self.site(instruction.pc, SiteKind::Call, target);
        self.edits.code(1, &[]);
        self.edits.number(site, self.additions)?;
        self.edits.call(&hooks::CALL_AT, self.additions)
    }

    /// Reports an access to a volatile field as synchronization: its write happens before its reads.
    fn volatile(
        &mut self,
        instruction: Instruction,
        field: &MemberRef<'_>,
        class: u16,
        edit: &mut Edit,
    ) -> Result<(), MethodError> {
        let slots = slots(field.descriptor);
        match (instruction.opcode, slots) {
            (PUTFIELD, 1) => self.edits.code(2, &[DUP2, POP]),
            (PUTFIELD, _) => self.edits.code(2, &[DUP2_X1, POP2, DUP_X2]),
            (GETFIELD, 1) => {
                self.edits.code(1, &[DUP]);
                self.edits.split(edit);
                self.edits.code(1, &[SWAP]);
            }
            (GETFIELD, _) => {
                self.edits.code(1, &[DUP]);
                self.edits.split(edit);
                self.edits.code(3, &[DUP2_X1, POP2]);
            }
            // `ldc` cannot load classes before class-file version 49.
            _ if !self.method.has_class_constants => return Ok(()),
            (opcode, _) => {
                if opcode == GETSTATIC {
                    self.edits.split(edit);
                }
                self.edits.code(2, &[]);
                self.edits.constant(LDC_W, class);
            }
        }
        let read = matches!(instruction.opcode, GETFIELD | GETSTATIC);
        self.edits.call(if read { &hooks::VOLATILE_READ } else { &hooks::VOLATILE_WRITE }, self.additions)
    }

    /// Reports a call that is an access. Its parameters are spilled to additional local variables, because stack instructions cannot
    /// copy that many; spilled references are set to null afterwards, because they would keep objects alive. The receiver stays
    /// where it is, so that the message of a `NullPointerException` still names the null expression.
    pub(crate) fn accessor(
        &mut self,
        instruction: Instruction,
        called: &MemberRef<'_>,
        accessor: Accessor,
        edit: &mut Edit,
    ) -> Result<(), MethodError> {
        const REFERENCE: u8 = ASTORE - ISTORE;
        let receiver = self.code.max_locals;
        let mut next = receiver.checked_add(1).ok_or(MethodError::TooManyLocals)?;
        let mut spilled = Vec::new();
        for parameter in parameters(called.descriptor) {
            let kind = match parameter.first() {
                Some(b'J') => 1,
                Some(b'F') => 2,
                Some(b'D') => 3,
                Some(b'L' | b'[') => REFERENCE,
                _ => 0,
            };
            spilled.push((kind, next));
            next = next.checked_add(slots(parameter) as u16).ok_or(MethodError::TooManyLocals)?;
        }
        let value = usize::from(accessor.kind == SiteKind::Write);
        let coordinates = spilled.get(..spilled.len() - value).unwrap_or_default();
        let first: usize = parameters(called.descriptor).map(slots).sum();
        let source = if coordinates.is_empty() { Source::Unknown } else { self.sources.below(first - 1) };
        let Some(site) = self.site_of_array(instruction.pc, accessor.kind, source, !accessor.is_element)?
        else {
            return Ok(());
        };

        self.edits.extra_locals = self.edits.extra_locals.max(next - receiver);
        // At most the receiver, an object, a long and two numbers.
        self.edits.code(6, &[]);
        spilled.iter().rev().for_each(|&(kind, slot)| self.edits.local(ISTORE + kind, slot));
        if accessor.hands_receiver {
            self.edits.code(6, &[DUP]);
        }
        if accessor.is_late {
            self.edits.local(ASTORE, receiver);
            spilled.iter().for_each(|&(kind, slot)| self.edits.local(ILOAD + kind, slot));
            self.edits.split(edit);
            self.edits.local(ALOAD, receiver);
        }
        coordinates.iter().for_each(|&(kind, slot)| self.edits.local(ILOAD + kind, slot));
        if let Some(bytes) = accessor.bytes {
            self.edits.number(u32::from(bytes), self.additions)?;
        }
        self.edits.number(site, self.additions)?;
        self.edits.call(accessor.hook, self.additions)?;
        if accessor.is_late {
            spilled.push((REFERENCE, receiver));
        } else {
            spilled.iter().for_each(|&(kind, slot)| self.edits.local(ILOAD + kind, slot));
        }
        for &(_, slot) in spilled.iter().filter(|(kind, _)| *kind == REFERENCE) {
            self.edits.code(6, &[ACONST_NULL]);
            self.edits.local(ASTORE, slot);
        }
        Ok(())
    }

    fn array(&mut self, instruction: Instruction) -> Result<(), MethodError> {
        let (kind, depth) = match instruction.opcode {
            LASTORE | DASTORE => (SiteKind::Write, 3),
            IASTORE..=SASTORE => (SiteKind::Write, 2),
            _ => (SiteKind::Read, 1),
        };
        let source = self.sources.below(depth);
        if source == Source::Marks || self.leaves_out(instruction, true) {
            return Ok(());
        }
        self.keeps(instruction, true);
        let Some(site) = self.site_of_array(instruction.pc, kind, source, false)? else { return Ok(()) };
        let hook = match depth {
            1 => {
                self.edits.code(3, &[DUP2]);
                &hooks::ARRAY_READ
            }
            // From (a, i, v) over (v, a, i) to (a, i, v, a, i).
            2 => {
                self.edits.code(3, &[DUP_X2, POP, DUP2_X1]);
                &hooks::ARRAY_WRITE
            }
            _ => {
                self.edits.code(3, &[DUP2_X2, POP2, DUP2_X2]);
                &hooks::ARRAY_WRITE
            }
        };
        self.edits.number(site, self.additions)?;
        self.edits.call(hook, self.additions)
    }

    /// Whether an access is left out of instrumentation.
    fn leaves_out(&mut self, instruction: Instruction, is_element: bool) -> bool {
        self.environment.leaves_out(&place(self.method, instruction, is_element))
    }

    fn keeps(&mut self, instruction: Instruction, is_element: bool) {
        self.environment.keeps(&place(self.method, instruction, is_element));
    }

    /// The site of an access to an array element or through a handle, if it is reported.
    fn site_of_array(
        &mut self,
        pc: usize,
        kind: SiteKind,
        source: Source,
        is_indirect: bool,
    ) -> Result<Option<u32>, MethodError> {
        self.with_array(pc, source, |this, target| {
            let target = match target {
                SiteTarget::ArrayElement { source } if is_indirect => SiteTarget::Indirect { source },
                target => target,
            };
            this.selected_site(pc, kind, target)
        })
    }

    /// Calls `visit` with an array element described by the source of its array.
    pub(crate) fn with_array<T>(
        &mut self,
        pc: usize,
        source: Source,
        visit: impl FnOnce(&mut Self, SiteTarget<'_>) -> T,
    ) -> Result<T, MethodError> {
        let element = |source| SiteTarget::ArrayElement { source };
        Ok(match source {
            Source::Field(index) => {
                let field = self.pool.field(index)?;
                let (class, name, descriptor) = (text(field.owner), text(field.name), text(field.descriptor));
                let source = ArraySource::Field { class: &class, name: &name, descriptor: &descriptor };
                visit(self, element(source))
            }
            Source::Local(slot) => {
                let table = self.method.local_variables.unwrap_or_default();
                let name = local_name(table, self.pool, slot, pc);
                visit(self, element(ArraySource::Local { name: name.as_deref(), slot }))
            }
            Source::Unknown | Source::Marks => visit(self, element(ArraySource::Unknown)),
        })
    }

    fn selected_site(&mut self, pc: usize, kind: SiteKind, target: SiteTarget<'_>) -> Option<u32> {
        if self.selects(pc, kind, target) { Some(self.site(pc, kind, target)) } else { None }
    }

    /// Whether an access is reported.
    fn selects(&mut self, pc: usize, kind: SiteKind, target: SiteTarget<'_>) -> bool {
        let method = self.method;
        !self.plan.selective
            || self.environment.is_selected(&Site {
                class: method.class_name,
                method: &method.name,
                descriptor: &method.descriptor,
                access: method.access,
                line: self.lines.at(pc),
                kind,
                target,
            })
    }

    pub(crate) fn site(&mut self, pc: usize, kind: SiteKind, target: SiteTarget<'_>) -> u32 {
        self.environment.site(Site {
            class: self.method.class_name,
            method: &self.method.name,
            descriptor: &self.method.descriptor,
            access: self.method.access,
            line: self.lines.at(pc),
            kind,
            target,
        })
    }
}

/// Whether an instruction reads or writes a field.
fn kind_of(opcode: u8) -> SiteKind {
    if matches!(opcode, GETSTATIC | GETFIELD) { SiteKind::Read } else { SiteKind::Write }
}

fn place<'m>(method: &'m Method<'_, '_>, instruction: Instruction, is_element: bool) -> Place<'m> {
    // Code is at most 65535 bytes long.
    let pc = instruction.pc as u16;
    Place { method: &method.name, descriptor: &method.descriptor, pc, is_element }
}

/// Whether the plan needs line numbers.
fn needs_lines(plan: &Plan<'_>) -> bool {
    plan.fields
        || plan.arrays
        || plan.monitor_sites
        || plan.blocks
        || plan.units
        || plan.control.is_some()
        || plan.advice
        || !plan.announced.is_empty()
}
