//! Inserts hook calls in one pass over a method's instructions.

use std::borrow::Cow;

use crate::access::AccessFlags;
use crate::additions::Additions;
use crate::array_locals::ArrayLocals;
use crate::code::{Code, Instructions};
use crate::code_writer::HandlerNeeds;
use crate::confinement::Confinement;
use crate::constant_pool::ConstantPool;
use crate::descriptor::slots;
use crate::edits::{Edit, Edits};
use crate::environment::{Environment, Site, SiteKind, SiteTarget};
use crate::error::MethodError;
use crate::field_access::FieldTable;
use crate::hooks;
use crate::instruction::Instruction;
use crate::opcodes::{
    ALOAD_0, ATHROW, DUP, GETFIELD, INVOKEDYNAMIC, INVOKEVIRTUAL, IRETURN, LDC_W, MONITORENTER, MONITOREXIT,
    PUTFIELD, RETURN,
};
use crate::pass::{Detail, Pass, Reports};
use crate::plan::ProbePoint;
use crate::probes::FittedProbe;
use crate::redundancy::{Object, Reported, always_completes};
use crate::script::AdvisedMethod;
use crate::sources::Sources;
use crate::spilling::clear;
use crate::structure::ClassFile;
use crate::tables::Lines;

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
    pub(crate) class: &'m ClassFile<'a>,
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
    pub(crate) pass: &'m dyn Pass<'a>,
    pub(crate) reports: &'m Reports<'a>,
    pub(crate) detail: Detail,
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
    pub(crate) arrays: &'m mut ArrayLocals,
    pub(crate) confinement: Confinement,
    /// The site of the method's entry, if its exit is reported.
    pub(crate) unit: Option<u32>,
}

impl<'a> Instrumenter<'_, 'a> {
    /// Fills the edits.
    pub(crate) fn run(&mut self) -> Result<(), MethodError> {
        if self.reports.lines {
            self.lines.read(self.code, self.pool);
        }
        self.arrays.clear();
        if self.reports.array_locals {
            self.arrays.find(self.code, self.instructions, self.pool, self.sources);
        }
        self.prologue()?;
        let has_return_code = self.method.has_end()
            || self.method.advised.execution.is_some_and(|execution| execution.after)
            || self.method.probes.iter().any(|probe| probe.at == ProbePoint::Return);
        let follows = self.reports.sources;
        if follows {
            self.sources.begin(self.code, self.instructions);
            self.reported.clear();
        }
        let (instructions, pass) = (self.instructions, self.pass);
        for (index, &instruction) in instructions.list.iter().enumerate() {
            if follows {
                if self.sources.arrive(instruction.pc) {
                    self.reported.clear();
                    self.confinement = Confinement::Ended;
                }
                if !self.completes(instruction) {
                    self.reported.may_end();
                }
            }
            let mut edit = self.edits.begin(index);
            match instruction.opcode {
                IRETURN..=RETURN if has_return_code => self.before_return(&mut edit)?,
                IRETURN..=RETURN => {}
                _ => pass.visit(self, instruction, &mut edit)?,
            }
            self.edits.finish(edit)?;
            if follows {
                self.confinement = self.confinement.after(instruction, self.method, self.pool, self.sources);
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

    pub(crate) fn begin_unit(&mut self, pc: usize) -> Result<(), MethodError> {
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
        if let Some(lock) = self.method.lock.filter(|_| self.reports.is_advised) {
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
        let kept = self.arrays.count();
        self.edits.kept_locals = kept;
        for slot in 0..kept {
            let slot = self.code.max_locals.checked_add(slot).ok_or(MethodError::TooManyLocals)?;
            clear(slot, self.edits);
        }
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
            Some(lock) if self.reports.is_advised => self.advised_exit(lock)?,
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

    /// Reports a `monitorenter`, and after it that the monitor has been entered if `entered` says so.
    ///
    /// A virtual thread may unmount from its carrier inside this instruction. HotSpot 25 then loses track of references below the
    /// lock on the operand stack, so that no copy may be left there for a call afterwards.
    pub(crate) fn monitor_enter(
        &mut self,
        instruction: Instruction,
        entered: bool,
        edit: &mut Edit,
    ) -> Result<(), MethodError> {
        self.edits.code(1, &[DUP]);
        self.enter(instruction.pc, SiteKind::Enter)?;
        if entered {
            self.edits.split(edit);
            self.edits.call(&hooks::ENTERED, self.additions)?;
        }
        Ok(())
    }

    /// Reports a `monitorexit`. Under control the scheduler must not grant the monitor to another thread before it has been exited.
    pub(crate) fn monitor_exit(
        &mut self,
        instruction: Instruction,
        edit: &mut Edit,
    ) -> Result<(), MethodError> {
        self.edits.code(1, &[DUP]);
        // A handler that covers itself would be entered endlessly if the hook call in it overflowed the stack.
        if self.method.is_controlled || self.code.is_in_own_handler(instruction.pc) {
            self.edits.split(edit);
        }
        self.edits.call(&hooks::EXIT, self.additions)
    }

    /// Reports that the lock on the stack is about to be entered.
    pub(crate) fn enter(&mut self, pc: usize, kind: SiteKind) -> Result<(), MethodError> {
        if !self.reports.monitor_sites {
            return self.edits.call(&hooks::ENTER, self.additions);
        }
        let site = self.site(pc, kind, SiteTarget::Nothing);
        self.edits.code(2, &[]);
        self.edits.number(site, self.additions)?;
        self.edits.call(&hooks::ENTER_AT, self.additions)
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
