//! The pass that lets hooks observe locks and accesses.

use fissure_jdk::Ordering;

use crate::accesses::kind_of;
use crate::accessors::accessor;
use crate::confinement::Confinement;
use crate::constant_pool::{MemberRef, text};
use crate::descriptor::slots;
use crate::edits::Edit;
use crate::environment::{SiteKind, SiteTarget};
use crate::error::MethodError;
use crate::field_access::{FieldRules, Treatment};
use crate::hooks;
use crate::instruction::Instruction;
use crate::instrument::Instrumenter;
use crate::opcodes::{
    ACONST_NULL, DUP, DUP_X2, DUP2_X1, GETSTATIC, IALOAD, IASTORE, INVOKEINTERFACE, INVOKESPECIAL,
    INVOKESTATIC, INVOKEVIRTUAL, MONITORENTER, MONITOREXIT, POP2, PUTFIELD, PUTSTATIC, SALOAD, SASTORE,
};
use crate::pass::{Detail, Pass, Reports};
use crate::redundancy::{Object, Verdict};

/// The instrumentation that lets hooks observe locks and accesses. Calls of `Object.wait` are always reported.
#[derive(Debug, Clone, Copy, Default)]
pub struct Detection<'a> {
    /// Report `monitorenter`, `monitorexit` and synchronized methods.
    pub monitors: bool,
    /// The accesses of this class's code that are reported, including those by variable handle, `Unsafe` and reflection.
    pub accesses: Accesses,
    /// Ask the environment for every access whether to report it, and for every declared field whether it is followed.
    pub is_selective: bool,
    /// The synchronization that is reported, apart from monitors.
    pub synchronization: Synchronization,
    /// Report the copies that `Object.clone` makes.
    pub clones: bool,
    /// Report the entry of methods, except of constructors, class initializers and getters.
    pub entries: bool,
    /// Check atomic blocks, too.
    pub atomicity: Option<Atomicity<'a>>,
}

/// The synchronization that is reported besides monitors and library calls.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum Synchronization {
    /// None.
    #[default]
    Nothing,
    /// Monitors after they have been entered.
    Monitors,
    /// Also monitors that threads wait for, and accesses to volatile fields: a write happens before the reads that come after it.
    MonitorsAndVolatiles,
}

/// The accesses that are reported. A class whose fields are reported gets shadow fields.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Accesses {
    /// None.
    #[default]
    Nothing,
    /// Accesses to fields.
    Fields,
    /// Accesses to fields and array elements.
    FieldsAndElements,
}

/// The reports for checking atomic blocks. Volatile fields are then treated like plain ones, and the environment learns which
/// accesses stand for others.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Atomicity<'a> {
    /// What is reported about this class's blocks.
    pub blocks: Blocks,
    /// Methods whose calls are reported with their site: internal names of classes, each with the names of its methods.
    pub announced: &'a [(&'a str, &'a [&'a str])],
}

/// What is reported about the blocks of a class.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Blocks {
    /// Nothing.
    #[default]
    Nothing,
    /// The site of each monitor enter.
    Monitors,
    /// The site of each monitor enter, and entry and exit of the methods that should be atomic, as the environment says.
    MonitorsAndMethods,
}

impl Detection<'_> {
    fn has_fields(&self, detail: Detail) -> bool {
        self.accesses != Accesses::Nothing && detail < Detail::LocksOnly
    }

    fn has_elements(&self, detail: Detail) -> bool {
        self.accesses == Accesses::FieldsAndElements && detail == Detail::Full
    }

    fn has_guards(&self) -> bool {
        self.synchronization == Synchronization::MonitorsAndVolatiles
    }

    fn has_volatiles(&self, detail: Detail) -> bool {
        self.synchronization == Synchronization::MonitorsAndVolatiles && detail < Detail::LocksOnly
    }

    fn blocks(&self) -> Blocks {
        self.atomicity.map_or(Blocks::Nothing, |atomicity| atomicity.blocks)
    }

    fn announced(&self) -> &[(&str, &[&str])] {
        self.atomicity.map_or(&[], |atomicity| atomicity.announced)
    }
}

impl<'a> Pass<'a> for Detection<'a> {
    fn reports(&self, detail: Detail) -> Reports<'a> {
        let has_fields = self.has_fields(detail);
        let monitor_sites = self.blocks() != Blocks::Nothing;
        Reports {
            monitors: self.monitors,
            monitor_sites,
            blocks: self.blocks() == Blocks::MonitorsAndMethods,
            entries: self.entries,
            initializers: has_fields,
            clones: self.clones,
            is_selective: self.is_selective,
            constructors: has_fields || self.has_volatiles(detail),
            lines: has_fields || monitor_sites || !self.announced().is_empty(),
            sources: has_fields,
            array_locals: self.has_elements(detail) && !self.is_selective,
            ..Reports::default()
        }
    }

    fn field_rules(&self) -> FieldRules {
        match self.accesses {
            Accesses::Nothing if self.has_volatiles(Detail::Full) => FieldRules::Volatiles,
            Accesses::Nothing => FieldRules::Nothing,
            Accesses::Fields | Accesses::FieldsAndElements => FieldRules::Shadows {
                volatiles: self.atomicity.is_some() || self.has_volatiles(Detail::Full),
                is_selective: self.is_selective,
            },
        }
    }

    fn visit(
        &self,
        walk: &mut Instrumenter<'_, 'a>,
        instruction: Instruction,
        edit: &mut Edit,
    ) -> Result<(), MethodError> {
        if matches!(instruction.opcode, INVOKEVIRTUAL | INVOKEINTERFACE) && !self.announced().is_empty() {
            walk.announce(self, instruction)?;
        }
        match instruction.opcode {
            MONITORENTER if self.monitors => {
                walk.monitor_enter(instruction, self.synchronization != Synchronization::Nothing, edit)
            }
            MONITOREXIT if self.monitors => walk.monitor_exit(instruction, edit),
            INVOKEVIRTUAL | INVOKEINTERFACE
                if self.has_volatiles(walk.detail)
                    && self.has_fields(walk.detail)
                    && walk.hand_over(instruction, edit)? =>
            {
                Ok(())
            }
            INVOKEVIRTUAL | INVOKESPECIAL | INVOKESTATIC => walk.observed_call(self, instruction, edit),
            GETSTATIC..=PUTFIELD if self.has_fields(walk.detail) || self.has_volatiles(walk.detail) => {
                walk.observed_field(self, instruction, edit)
            }
            IALOAD..=SALOAD | IASTORE..=SASTORE if self.has_elements(walk.detail) => {
                walk.element(instruction)
            }
            _ => Ok(()),
        }
    }
}

impl Instrumenter<'_, '_> {
    /// Reports the call of a method that is announced.
    fn announce(&mut self, detection: &Detection<'_>, instruction: Instruction) -> Result<(), MethodError> {
        let called = instruction.method(self.pool)?;
        let is_named = detection.announced().iter().any(|(class, names)| {
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

    fn observed_call(
        &mut self,
        detection: &Detection<'_>,
        instruction: Instruction,
        edit: &mut Edit,
    ) -> Result<(), MethodError> {
        let (fields, elements) = (detection.has_fields(self.detail), detection.has_elements(self.detail));
        let has_receiver = instruction.opcode != INVOKESTATIC;
        if !fields && !has_receiver {
            return Ok(());
        }
        let called = instruction.method(self.pool)?;
        if has_receiver && called.name == b"wait" {
            return self.wait(&called, detection.has_guards(), edit);
        }
        // These methods are final, so that no other class has methods with these names and this descriptor.
        let notifies = matches!(called.name, b"notify" | b"notifyAll") && called.descriptor == b"()V";
        if has_receiver && notifies && detection.has_guards() {
            self.edits.code(1, &[DUP]);
            return self.edits.call(&hooks::NOTIFIES, self.additions);
        }
        if detection.clones && has_receiver && self.may_clone(instruction, &called) {
            self.edits.split(edit);
            self.edits.code(1, &[DUP]);
            return self.edits.call(&hooks::CLONED, self.additions);
        }
        match accessor(instruction.opcode, &called) {
            Some(accessor) if if accessor.is_element { elements } else { fields } => {
                self.accessor(instruction, &called, accessor, edit)
            }
            _ => Ok(()),
        }
    }

    /// Reports an element that a thread puts into a collection or gets from it. Returns whether the call does that.
    fn hand_over(&mut self, instruction: Instruction, edit: &mut Edit) -> Result<bool, MethodError> {
        let called = instruction.method(self.pool)?;
        match fissure_jdk::guarded(called.owner, called.name, called.descriptor) {
            Some(Ordering::Release(_)) => {
                self.edits.code(1, &[DUP]);
                self.edits.call(&hooks::GIVES, self.additions)?;
            }
            Some(_) => {
                self.edits.split(edit);
                self.edits.code(1, &[DUP]);
                self.edits.call(&hooks::TAKES, self.additions)?;
            }
            None => return Ok(false),
        }
        Ok(true)
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
    fn wait(&mut self, called: &MemberRef<'_>, is_guard: bool, edit: &mut Edit) -> Result<(), MethodError> {
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
        let begin = if is_guard { &hooks::GUARDED_WAIT_BEGIN } else { &hooks::WAIT_BEGIN };
        self.edits.call(begin, self.additions)?;
        self.edits.split(edit);
        self.edits.code(1, after);
        self.edits.call(&hooks::WAIT_END, self.additions)
    }

    fn observed_field(
        &mut self,
        detection: &Detection<'_>,
        instruction: Instruction,
        edit: &mut Edit,
    ) -> Result<(), MethodError> {
        let (field, treatment) = self.field_treatment(instruction, true)?;
        match treatment {
            Treatment::Ignore => return Ok(()),
            Treatment::Volatile(_) if !detection.has_volatiles(self.detail) => return Ok(()),
            Treatment::Volatile(class) => return self.volatile(instruction, &field, class, edit),
            Treatment::Cell(_) if self.method.is_class_initializer => return Ok(()),
            Treatment::Resolve if !detection.has_fields(self.detail) => return Ok(()),
            _ => {}
        }
        let wrote = matches!(instruction.opcode, PUTFIELD | PUTSTATIC);
        let synchronizes = detection.has_volatiles(self.detail)
            && matches!(treatment, Treatment::Shadow(..) | Treatment::Cell(_))
            && self.fields.is_volatile(&field, self.environment);
        if synchronizes {
            // Accesses before and after it are ordered differently, so that neither stands for the other.
            self.reported.clear();
        }
        if synchronizes && wrote {
            self.synchronize(instruction, &field, treatment, edit)?;
        }
        self.followed_field(detection, instruction, &field, treatment, edit)?;
        if synchronizes && !wrote {
            self.synchronize(instruction, &field, treatment, edit)?;
        }
        if treatment == Treatment::Resolve && !wrote && detection.has_volatiles(self.detail) {
            self.synchronize_at(instruction, &field, edit)?;
        }
        if synchronizes {
            self.reported.clear();
        }
        Ok(())
    }

    /// Reports an access to a field that has a shadow or a cell.
    fn followed_field(
        &mut self,
        detection: &Detection<'_>,
        instruction: Instruction,
        field: &MemberRef<'_>,
        treatment: Treatment,
        edit: &mut Edit,
    ) -> Result<(), MethodError> {
        let opcode = instruction.opcode;
        let is_static = matches!(opcode, GETSTATIC | PUTSTATIC);
        self.keeps(instruction, false);
        if detection.is_selective {
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
        let has_repetitions = detection.atomicity.is_some();
        let mut replaced = None;
        if let Some(object) = object {
            match self.reported.access(object, field.index, wrote, edit.instruction) {
                Verdict::Known => return Ok(()),
                Verdict::Follows(first) => {
                    if has_repetitions {
                        let site = self.field_site(instruction, field);
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
        let site = self.field_site(instruction, field);
        self.reported.number(edit.instruction, site);
        if let Some(read) = replaced.filter(|_| has_repetitions) {
            self.environment.stands_for(site, read);
        }
        // The accesses of atomic blocks are recorded with their objects.
        match treatment {
            Treatment::Shadow(shadow, is_double)
                if object == Some(Object::Local(0))
                    && opcode == PUTFIELD
                    && self.confinement == Confinement::Confined
                    && !detection.is_selective
                    && detection.atomicity.is_none() =>
            {
                self.report_fresh_field(shadow, is_double, site, edit)
            }
            _ => self.report_field(instruction, field, treatment, site, edit),
        }
    }
}
