//! The pass that reports join points to a monitor script, before and after they happen.
//!
//! Inserted code spills the values above the object on the operand stack to additional local variables and reloads them. The object
//! itself stays where it is, so that the message of a `NullPointerException` still names the null expression. Spilled references
//! are set to null afterwards, because they would keep objects alive.

use crate::access::AccessFlags;
use crate::accessors::accessor;
use crate::constant_pool::text;
use crate::descriptor::{parameters, slots};
use crate::edits::Edit;
use crate::environment::{Site, SiteKind, SiteTarget};
use crate::error::MethodError;
use crate::field_access::FieldRules;
use crate::hooks::{self, Hook};
use crate::instruction::Instruction;
use crate::instrument::{Instrumenter, Lock};
use crate::opcodes::{
    AASTORE, ACONST_NULL, ALOAD, ALOAD_0, ASTORE, DASTORE, DUP, DUP2, FASTORE, GETFIELD, GETSTATIC, IALOAD,
    IASTORE, ILOAD, INVOKEINTERFACE, INVOKESPECIAL, INVOKESTATIC, INVOKEVIRTUAL, ISTORE, LASTORE,
    MONITORENTER, MONITOREXIT, PUTFIELD, PUTSTATIC, SALOAD, SASTORE,
};
use crate::pass::{Detail, Pass, Reports};
use crate::sources::{MARKS, Source};
use crate::spilling::{Spilled, clear};

/// The instrumentation that reports join points to a monitor script.
#[derive(Debug, Clone, Copy, Default)]
pub struct Script<'a> {
    /// Report `monitorenter`, `monitorexit` and synchronized methods.
    pub monitors: bool,
    /// Report the join points of a class in scope; `None` for other classes.
    pub advice: Option<Advice<'a>>,
}

/// The join points of a class. The environment says for each whether it is reported, before and after it happens.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Advice<'a> {
    /// Calls that acquire and release `java.util.concurrent` locks, by the internal names of classes.
    pub lock_calls: &'a [(&'a str, &'a [(&'a str, LockCall)])],
}

/// The effect of a call on a `java.util.concurrent` lock.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LockCall {
    /// It acquires its receiver.
    Acquire,
    /// It acquires its receiver if it returns true.
    Try,
    /// It releases its receiver.
    Release,
}

/// The report that the environment wants of a join point.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Advised {
    /// The number of the site.
    pub site: u32,
    /// Report the point before it happens.
    pub before: bool,
    /// Report the point after it has happened.
    pub after: bool,
    /// Pass the references among the arguments or the written value to the hook.
    pub arguments: bool,
}

impl<'a> Script<'a> {
    fn advice(&self, detail: Detail) -> Option<Advice<'a>> {
        self.advice.filter(|_| detail < Detail::LocksOnly)
    }
}

impl<'a> Pass<'a> for Script<'a> {
    fn is_empty(&self) -> bool {
        !self.monitors && self.advice.is_none()
    }

    fn reports(&self, detail: Detail) -> Reports<'a> {
        let is_advised = self.advice(detail).is_some();
        Reports {
            monitors: self.monitors,
            initializers: is_advised,
            is_advised,
            is_selective: true,
            constructors: is_advised,
            lines: is_advised,
            sources: is_advised,
            ..Reports::default()
        }
    }

    fn field_rules(&self) -> FieldRules {
        FieldRules::Nothing
    }

    fn visit(
        &self,
        walk: &mut Instrumenter<'_, 'a>,
        instruction: Instruction,
        edit: &mut Edit,
    ) -> Result<(), MethodError> {
        match (self.advice(walk.detail), instruction.opcode) {
            (Some(advice), _) => walk.advise(&advice, instruction, edit),
            (None, MONITORENTER) if self.monitors => walk.monitor_enter(instruction, false, edit),
            (None, MONITOREXIT) if self.monitors => walk.monitor_exit(instruction, edit),
            _ => Ok(()),
        }
    }
}

/// The reports about a method itself: its execution, and the lock of a synchronized method.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct AdvisedMethod {
    pub(crate) execution: Option<Advised>,
    pub(crate) lock: Option<Advised>,
    pub(crate) unlock: Option<Advised>,
    pub(crate) is_constructor: bool,
    /// Local variable 0 holds `this` at each return.
    pub(crate) keeps_this: bool,
    /// Local variable 0 holds `this` even where the method throws.
    pub(crate) hands_this: bool,
}

impl AdvisedMethod {
    /// Whether the method's lock is reported.
    pub(crate) fn has_lock(&self) -> bool {
        self.lock.is_some() || self.unlock.is_some()
    }

    /// Whether the end of the method is reported even if it throws. A constructor that throws has no initialized object to report.
    pub(crate) fn has_end(&self) -> bool {
        !self.is_constructor && self.execution.is_some_and(|execution| execution.after)
    }

    /// Whether the method needs explicit monitor instructions: the JVM enters the monitor of a synchronized method before the first
    /// instruction and exits it after the last one, where no code can be inserted.
    pub(crate) fn converts(&self) -> bool {
        self.lock.is_some_and(|lock| lock.before) || self.unlock.is_some_and(|unlock| unlock.after)
    }
}

/// The values at a join point, as the local variables that they are copied to.
#[derive(Debug, Default)]
struct Values {
    object: Option<u16>,
    index: Option<u16>,
    /// References among the arguments.
    arguments: Vec<u16>,
}

impl Instrumenter<'_, '_> {
    /// Reports an instruction if it is a selected join point.
    fn advise(
        &mut self,
        advice: &Advice<'_>,
        instruction: Instruction,
        edit: &mut Edit,
    ) -> Result<(), MethodError> {
        match instruction.opcode {
            GETSTATIC..=PUTFIELD => self.advise_field(instruction, edit),
            IALOAD..=SALOAD | IASTORE..=SASTORE => self.advise_element(instruction, edit),
            MONITORENTER => self.advise_enter(instruction, edit),
            MONITOREXIT => self.advise_exit(instruction, edit),
            INVOKEVIRTUAL | INVOKESPECIAL | INVOKESTATIC | INVOKEINTERFACE => {
                self.advise_call(advice, instruction, edit)
            }
            _ => Ok(()),
        }
    }

    /// Reports the acquire of a synchronized method's lock, at the method's entry.
    pub(crate) fn advised_entry(&mut self, lock: Lock) -> Result<(), MethodError> {
        let is_converted = self.method.enters_by_itself();
        let advised = self.method.advised.lock;
        self.report_lock(advised.filter(|advised| advised.before), lock, &hooks::BEFORE)?;
        if self.reports.monitors {
            self.push(lock);
            self.edits.call(&hooks::ENTER, self.additions)?;
        }
        if is_converted {
            self.push(lock);
            self.edits.code(1, &[MONITORENTER]);
        }
        self.report_lock(advised.filter(|advised| advised.after), lock, &hooks::AFTER)
    }

    /// Reports the release of a synchronized method's lock, at the method's end.
    pub(crate) fn advised_exit(&mut self, lock: Lock) -> Result<(), MethodError> {
        let advised = self.method.advised.unlock;
        self.report_lock(advised.filter(|advised| advised.before), lock, &hooks::BEFORE)?;
        if self.reports.monitors {
            if lock == Lock::ForgottenThis {
                self.edits.call(&hooks::EXIT_TOP, self.additions)?;
            } else {
                self.push(lock);
                self.edits.call(&hooks::EXIT, self.additions)?;
            }
        }
        if self.method.enters_by_itself() {
            self.push(lock);
            self.edits.code(1, &[MONITOREXIT]);
        }
        self.report_lock(advised.filter(|advised| advised.after), lock, &hooks::AFTER)
    }

    /// Reports that the execution of the method begins.
    pub(crate) fn advised_begin(&mut self) -> Result<(), MethodError> {
        let Some(execution) = self.method.advised.execution.filter(|execution| execution.before) else {
            return Ok(());
        };
        let is_static = self.is_static_method();
        if execution.arguments {
            let mut slot = u16::from(!is_static);
            for parameter in parameters(self.method.descriptor.as_bytes()) {
                if matches!(parameter.first(), Some(b'L' | b'[')) {
                    self.edits.code(1, &[]);
                    self.edits.local(ALOAD, slot);
                    self.edits.call(&hooks::ARGUMENT, self.additions)?;
                }
                slot += slots(parameter) as u16;
            }
        }
        let has_object = !is_static && !self.method.advised.is_constructor;
        self.report_execution(execution, has_object, &hooks::BEFORE)
    }

    /// Reports that the execution of the method ends.
    pub(crate) fn advised_end(&mut self) -> Result<(), MethodError> {
        let advised = &self.method.advised;
        let Some(execution) = advised.execution.filter(|execution| execution.after) else { return Ok(()) };
        let has_object = !self.is_static_method()
            && if advised.is_constructor { advised.keeps_this } else { advised.hands_this };
        self.report_execution(execution, has_object, &hooks::AFTER)
    }

    fn is_static_method(&self) -> bool {
        self.method.access.contains(AccessFlags::STATIC)
    }

    fn report_execution(
        &mut self,
        advised: Advised,
        has_object: bool,
        hook: &Hook,
    ) -> Result<(), MethodError> {
        self.edits.code(2, &[if has_object { ALOAD_0 } else { ACONST_NULL }]);
        self.edits.number(advised.site, self.additions)?;
        self.edits.call(hook, self.additions)
    }

    fn report_lock(&mut self, advised: Option<Advised>, lock: Lock, hook: &Hook) -> Result<(), MethodError> {
        let Some(advised) = advised else { return Ok(()) };
        match lock {
            // The method may have overwritten local variable 0.
            Lock::ForgottenThis => self.edits.code(1, &[ACONST_NULL]),
            lock => self.push(lock),
        }
        self.edits.code(2, &[]);
        self.edits.number(advised.site, self.additions)?;
        self.edits.call(hook, self.additions)
    }

    fn advice_at(&mut self, pc: usize, kind: SiteKind, target: SiteTarget<'_>) -> Option<Advised> {
        let method = self.method;
        self.environment.advise(&Site {
            class: method.class_name,
            method: &method.name,
            descriptor: &method.descriptor,
            access: method.access,
            line: self.lines.at(pc),
            kind,
            target,
        })
    }

    fn advise_field(&mut self, instruction: Instruction, edit: &mut Edit) -> Result<(), MethodError> {
        let opcode = instruction.opcode;
        let is_static = matches!(opcode, GETSTATIC | PUTSTATIC);
        if !is_static && instruction.pc < self.method.objects_usable_from {
            return Ok(());
        }
        let field = instruction.field(self.pool)?;
        if field.name == MARKS {
            return Ok(());
        }
        let kind = if matches!(opcode, GETSTATIC | GETFIELD) { SiteKind::Read } else { SiteKind::Write };
        let advised = {
            let (class, name, descriptor) = (text(field.owner), text(field.name), text(field.descriptor));
            let target = SiteTarget::Field { class: &class, name: &name, descriptor: &descriptor, is_static };
            self.advice_at(instruction.pc, kind, target)
        };
        let Some(advised) = advised else { return Ok(()) };
        let above: &[&[u8]] = if kind == SiteKind::Write { &[field.descriptor] } else { &[] };
        self.around(edit, above, !is_static, false, &[(advised, None)])
    }

    fn advise_element(&mut self, instruction: Instruction, edit: &mut Edit) -> Result<(), MethodError> {
        let opcode = instruction.opcode;
        let value: Option<&[u8]> = match opcode {
            LASTORE => Some(b"J"),
            DASTORE => Some(b"D"),
            FASTORE => Some(b"F"),
            AASTORE => Some(b"Ljava/lang/Object;"),
            IASTORE..=SASTORE => Some(b"I"),
            _ => None,
        };
        let source = self.sources.below(1 + value.map_or(0, slots));
        if source == Source::Marks {
            return Ok(());
        }
        let kind = if value.is_some() { SiteKind::Write } else { SiteKind::Read };
        let pc = instruction.pc;
        let Some(advised) = self.with_array(pc, source, |this, target| this.advice_at(pc, kind, target))?
        else {
            return Ok(());
        };
        let above: Vec<&[u8]> = value.into_iter().collect();
        self.around(edit, &above, true, true, &[(advised, None)])
    }

    fn advise_enter(&mut self, instruction: Instruction, edit: &mut Edit) -> Result<(), MethodError> {
        let advised = self.advice_at(instruction.pc, SiteKind::Enter, SiteTarget::Nothing);
        let saved = self.code.max_locals;
        if let Some(advised) = advised.filter(|advised| advised.before) {
            self.edits.code(2, &[DUP]);
            self.edits.number(advised.site, self.additions)?;
            self.edits.call(&hooks::BEFORE, self.additions)?;
        }
        if self.reports.monitors {
            self.edits.code(1, &[DUP]);
            self.edits.call(&hooks::ENTER, self.additions)?;
        }
        if let Some(advised) = advised.filter(|advised| advised.after) {
            self.save_top(saved)?;
            self.edits.split(edit);
            self.report_saved(advised, saved, &hooks::AFTER)?;
            clear(saved, self.edits);
        }
        Ok(())
    }

    fn advise_exit(&mut self, instruction: Instruction, edit: &mut Edit) -> Result<(), MethodError> {
        let advised = self.advice_at(instruction.pc, SiteKind::Exit, SiteTarget::Nothing);
        if advised.is_none() && !self.reports.monitors {
            return Ok(());
        }
        let saved = self.code.max_locals;
        self.save_top(saved)?;
        // A handler that covers itself would be entered endlessly if the hook call in it overflowed the stack.
        let is_late = self.code.is_in_own_handler(instruction.pc);
        if is_late {
            self.edits.split(edit);
        }
        if let Some(advised) = advised.filter(|advised| advised.before) {
            self.report_saved(advised, saved, &hooks::BEFORE)?;
        }
        if self.reports.monitors {
            self.edits.code(1, &[]);
            self.edits.local(ALOAD, saved);
            self.edits.call(&hooks::EXIT, self.additions)?;
        }
        if !is_late {
            self.edits.split(edit);
        }
        if let Some(advised) = advised.filter(|advised| advised.after) {
            self.report_saved(advised, saved, &hooks::AFTER)?;
        }
        clear(saved, self.edits);
        Ok(())
    }

    fn advise_call(
        &mut self,
        advice: &Advice<'_>,
        instruction: Instruction,
        edit: &mut Edit,
    ) -> Result<(), MethodError> {
        let called = instruction.method(self.pool)?;
        let opcode = instruction.opcode;
        if let Some(accessor) = accessor(opcode, &called)
            && opcode != INVOKEINTERFACE
        {
            return self.accessor(instruction, &called, accessor, edit);
        }
        // A call of another constructor on the same object is part of constructing it.
        if called.name == b"<init>" && instruction.end() == self.method.objects_usable_from {
            return Ok(());
        }
        let is_static = opcode == INVOKESTATIC;
        let lock_call = if is_static { None } else { lock_call(advice, called.owner, called.name) };
        let mut selected = Vec::new();
        {
            let (class, name, descriptor) = (text(called.owner), text(called.name), text(called.descriptor));
            let target =
                SiteTarget::Called { class: &class, name: &name, descriptor: &descriptor, is_static };
            selected.extend(
                self.advice_at(instruction.pc, SiteKind::Call, target).map(|advised| (advised, None)),
            );
            if let Some(lock_call) = lock_call {
                let kind = if lock_call == LockCall::Release { SiteKind::Exit } else { SiteKind::Enter };
                let advised = self.advice_at(instruction.pc, kind, target);
                selected.extend(advised.map(|advised| (advised, Some(lock_call))));
            }
        }
        if selected.is_empty() {
            return Ok(());
        }
        let above: Vec<&[u8]> = parameters(called.descriptor).collect();
        // The object cannot be passed on before its constructor has returned.
        self.around(edit, &above, !is_static && called.name != b"<init>", false, &selected)
    }

    /// Reports before and after an instruction that takes an object, an index if there is one, and the values `above` them from
    /// the stack.
    fn around(
        &mut self,
        edit: &mut Edit,
        above: &[&[u8]],
        has_object: bool,
        has_index: bool,
        selected: &[(Advised, Option<LockCall>)],
    ) -> Result<(), MethodError> {
        let base = self.code.max_locals;
        let spilled = Spilled::new(base, 2, above.iter().copied())?;
        self.edits.code(4, &[]);
        let mut values = Values::default();
        spilled.store(self.edits);
        if has_index {
            self.edits.code(4, &[DUP2]);
            self.edits.local(ISTORE, base + 1);
            self.edits.local(ASTORE, base);
            (values.object, values.index) = (Some(base), Some(base + 1));
        } else if has_object {
            self.edits.code(4, &[DUP]);
            self.edits.local(ASTORE, base);
            values.object = Some(base);
        }
        values.arguments = spilled.references().collect();
        for (advised, _) in selected.iter().filter(|(advised, _)| advised.before) {
            self.report(*advised, &values, &hooks::BEFORE, &hooks::BEFORE_ELEMENT)?;
        }
        spilled.load(self.edits);
        if selected.iter().any(|(advised, _)| advised.after) {
            self.edits.split(edit);
        }
        for (advised, lock_call) in selected.iter().filter(|(advised, _)| advised.after) {
            if *lock_call == Some(LockCall::Try) {
                self.edits.code(4, &[DUP]);
                self.edits.local(ALOAD, base);
                self.edits.number(advised.site, self.additions)?;
                self.edits.call(&hooks::AFTER_TRY, self.additions)?;
            } else {
                self.report(*advised, &values, &hooks::AFTER, &hooks::AFTER_ELEMENT)?;
            }
        }
        values.arguments.iter().chain(&values.object).for_each(|&slot| clear(slot, self.edits));
        Ok(())
    }

    fn report(
        &mut self,
        advised: Advised,
        values: &Values,
        plain: &Hook,
        element: &Hook,
    ) -> Result<(), MethodError> {
        if advised.arguments {
            for &slot in &values.arguments {
                self.edits.code(4, &[]);
                self.edits.local(ALOAD, slot);
                self.edits.call(&hooks::ARGUMENT, self.additions)?;
            }
        }
        self.edits.code(4, &[]);
        match values.object {
            Some(slot) => self.edits.local(ALOAD, slot),
            None => self.edits.code(4, &[ACONST_NULL]),
        }
        if let Some(slot) = values.index {
            self.edits.local(ILOAD, slot);
        }
        self.edits.number(advised.site, self.additions)?;
        self.edits.call(if values.index.is_some() { element } else { plain }, self.additions)
    }

    /// Copies the reference on top of the stack to an additional local variable.
    fn save_top(&mut self, slot: u16) -> Result<(), MethodError> {
        if slot == u16::MAX {
            return Err(MethodError::TooManyLocals);
        }
        self.edits.extra_locals = self.edits.extra_locals.max(1);
        self.edits.code(2, &[DUP]);
        self.edits.local(ASTORE, slot);
        Ok(())
    }

    fn report_saved(&mut self, advised: Advised, slot: u16, hook: &Hook) -> Result<(), MethodError> {
        self.edits.code(2, &[]);
        self.edits.local(ALOAD, slot);
        self.edits.number(advised.site, self.additions)?;
        self.edits.call(hook, self.additions)
    }
}

fn lock_call(advice: &Advice<'_>, class: &[u8], name: &[u8]) -> Option<LockCall> {
    let (_, methods) = advice.lock_calls.iter().find(|(known, _)| known.as_bytes() == class)?;
    methods.iter().find(|(known, _)| known.as_bytes() == name).map(|(_, call)| *call)
}
