//! The pass that lets hooks schedule the threads of a program.

use crate::constant_pool::MemberRef;
use crate::edits::Edit;
use crate::environment::{SiteKind, SiteTarget};
use crate::error::MethodError;
use crate::field_access::{FieldRules, Treatment};
use crate::hooks;
use crate::instruction::Instruction;
use crate::instrument::Instrumenter;
use crate::opcodes::{
    GETFIELD, GETSTATIC, IALOAD, IASTORE, INVOKESPECIAL, INVOKESTATIC, INVOKEVIRTUAL, MONITORENTER,
    MONITOREXIT, PUTFIELD, PUTSTATIC, SALOAD, SASTORE,
};
use crate::pass::{Detail, Pass, Reports};

/// The instrumentation that lets hooks schedule the threads of a program. The sites of monitor enters are always reported.
#[derive(Debug, Clone, Copy)]
pub struct Control<'a> {
    /// The calls and regions by which the hooks control threads.
    pub scheduling: Scheduling<'a>,
    /// Report `monitorenter`, `monitorexit` and synchronized methods.
    pub monitors: bool,
    /// The scheduling points of a class in scope; `None` for other classes.
    pub inside: Option<ControlledCode>,
    /// Report reads of volatile variables even if they are no scheduling points, so that the scheduler detects threads that spin. In a
    /// class in scope this concerns calls only, because its fields are reported anyway.
    pub spinning: bool,
}

/// How hooks schedule threads.
///
/// A hook is called before a monitor is entered and after it was exited. For that, synchronized methods become ordinary methods
/// that enter and exit the monitor with explicit instructions; methods for which that is impossible are listed in
/// [`Outcome::left_alone`](crate::Outcome::left_alone).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Scheduling<'a> {
    /// Calls that are redirected to the hook class.
    pub calls: &'a [Call<'a>],
    /// Methods during which other threads may block inside the JVM; class initializers always count as regions.
    pub regions: &'a [Region<'a>],
    /// Calls that read a volatile variable.
    pub volatile_reads: &'a [VolatileRead<'a>],
}

/// A call that is redirected to a static method of the hook class, which gets the receiver as its first argument.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Call<'a> {
    /// Internal name of the class that the code names; `None` for any class.
    pub class: Option<&'a str>,
    /// The method's name.
    pub name: &'a str,
    /// The method's descriptor.
    pub descriptor: &'a str,
    /// The method of the hook class.
    pub hook_method: &'a str,
    /// Its descriptor.
    pub hook_descriptor: &'a str,
    /// Whether the hook method gets the number of the site as an additional last argument.
    pub site: bool,
}

/// A method that reads a volatile variable, whatever its descriptor.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct VolatileRead<'a> {
    /// Internal name of the class that the code names.
    pub class: &'a str,
    /// The method's name.
    pub name: &'a str,
}

/// A method by its name and, if given, its descriptor.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Region<'a> {
    /// The method's name.
    pub method: &'a str,
    /// The method's descriptor; `None` for any.
    pub descriptor: Option<&'a str>,
}

/// The scheduling points of a class in scope. Methods that should be atomic are reported, as the environment says, and so is
/// synchronization by volatile fields.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct ControlledCode {
    /// Report every single access, with only its object and site. Without this, reads of plain fields are reported, with only
    /// their site.
    pub accesses: Option<ControlledAccesses>,
    /// Report entry and exit of every method with code except class initializers. A constructor counts as entered once its call
    /// of another constructor has returned.
    pub units: bool,
    /// Report the entry of methods, except of constructors, class initializers and getters.
    pub entries: bool,
}

/// The accesses that are scheduling points. Accesses to fields always are, including volatile ones.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct ControlledAccesses {
    /// Accesses to array elements, too.
    pub elements: bool,
    /// Uses of the contents of collections.
    pub contents: Contents,
}

/// The uses of contents that are reported: the collections and arrays that fields refer to, and each call of a collection's method
/// before the call and after it has returned.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Contents {
    /// None.
    #[default]
    Nothing,
    /// Those of collections.
    Collections,
    /// Those of collections, iterators, and atomics, which are treated as collections of the values that they hold.
    CollectionsAndAtomics,
}

impl Control<'_> {
    fn accesses(&self, detail: Detail) -> Option<ControlledAccesses> {
        let accesses = self.inside?.accesses?;
        match detail {
            Detail::Full => Some(accesses),
            Detail::WithoutElements => Some(ControlledAccesses::default()),
            Detail::LocksOnly => None,
        }
    }
}

impl<'a> Pass<'a> for Control<'a> {
    fn reports(&self, detail: Detail) -> Reports<'a> {
        let has_accesses = self.accesses(detail).is_some();
        let units = self.inside.is_some_and(|inside| inside.units);
        Reports {
            monitors: self.monitors,
            monitor_sites: true,
            blocks: self.inside.is_some(),
            units,
            entries: self.inside.is_some_and(|inside| inside.entries),
            scheduling: Some(self.scheduling),
            constructors: has_accesses || units,
            lines: true,
            sources: has_accesses,
            ..Reports::default()
        }
    }

    fn field_rules(&self) -> FieldRules {
        match self.inside {
            Some(inside) => FieldRules::Points { every_access: inside.accesses.is_some() },
            None if self.spinning => FieldRules::Volatiles,
            None => FieldRules::Nothing,
        }
    }

    fn visit(
        &self,
        walk: &mut Instrumenter<'_, 'a>,
        instruction: Instruction,
        edit: &mut Edit,
    ) -> Result<(), MethodError> {
        let accesses = self.accesses(walk.detail);
        match instruction.opcode {
            MONITORENTER if self.monitors => walk.monitor_enter(instruction, false, edit)?,
            MONITOREXIT if self.monitors => walk.monitor_exit(instruction, edit)?,
            INVOKEVIRTUAL | INVOKESPECIAL | INVOKESTATIC => {
                if self.spinning {
                    walk.volatile_call(&self.scheduling, instruction)?;
                }
                walk.redirect(&self.scheduling, instruction, edit)?;
                // From here on `this` is initialized. Jumps never lead to code inserted behind an instruction, so that the
                // unit begins only once.
                if walk.method.is_unit
                    && walk.method.is_constructor
                    && instruction.end() == walk.method.objects_usable_from
                {
                    walk.edits.split(edit);
                    walk.begin_unit(instruction.pc)?;
                }
            }
            GETSTATIC..=PUTFIELD if self.inside.is_some() => {
                walk.controlled_field(accesses.is_some(), instruction, edit)?;
            }
            GETSTATIC | GETFIELD if self.spinning => walk.spinning_read(instruction)?,
            IALOAD..=SALOAD | IASTORE..=SASTORE if accesses.is_some_and(|accesses| accesses.elements) => {
                walk.element(instruction)?;
            }
            _ => {}
        }
        match accesses.map_or(Contents::Nothing, |accesses| accesses.contents) {
            Contents::Nothing => Ok(()),
            contents => walk.contents(contents, instruction, edit),
        }
    }
}

impl<'a> Instrumenter<'_, 'a> {
    /// Redirects a call to the hook class if there is a hook for it.
    pub(crate) fn redirect(
        &mut self,
        scheduling: &Scheduling<'a>,
        instruction: Instruction,
        edit: &mut Edit,
    ) -> Result<(), MethodError> {
        let called = instruction.method(self.pool)?;
        let fits = |call: &&Call<'_>| {
            call.name.as_bytes() == called.name
                && call.descriptor.as_bytes() == called.descriptor
                && call.class.is_none_or(|class| self.reaches(&called, class.as_bytes()))
        };
        let Some(call) = scheduling.calls.iter().find(fits) else { return Ok(()) };
        if call.site {
            let site = self.site(instruction.pc, SiteKind::Call, SiteTarget::Nothing);
            self.edits.code(1, &[]);
            self.edits.number(site, self.additions)?;
        }
        let index = self.additions.hook_method(call.hook_method.as_bytes(), call.hook_descriptor)?;
        self.edits.replace(edit, INVOKESTATIC, index);
        Ok(())
    }

    /// Whether a call reaches a method of this class: by its name, or because the code names its own class, which inherits the method. A
    /// subclass of `Thread` calls `sleep` in this way.
    fn reaches(&self, called: &MemberRef<'_>, class: &[u8]) -> bool {
        let own = self.method.class;
        let is_declared = || {
            own.methods.iter().any(|method| {
                self.pool.utf8(method.name_index) == Ok(called.name)
                    && self.pool.utf8(method.descriptor_index) == Ok(called.descriptor)
            })
        };
        called.owner == class
            || called.owner == self.method.class_name.as_bytes()
                && self.pool.class_name(own.super_index) == Ok(class)
                && !is_declared()
    }

    /// Reports a call that reads a volatile variable.
    fn volatile_call(
        &mut self,
        scheduling: &Scheduling<'a>,
        instruction: Instruction,
    ) -> Result<(), MethodError> {
        let called = instruction.method(self.pool)?;
        let is_read = |read: &VolatileRead<'_>| {
            read.name.as_bytes() == called.name && read.class.as_bytes() == called.owner
        };
        match scheduling.volatile_reads.iter().any(is_read) {
            true => self.edits.call(&hooks::LOOK, self.additions),
            false => Ok(()),
        }
    }

    /// Reports the read of a volatile field outside of the scope. A field that the class inherits may be volatile, too: its declaration is
    /// not loaded yet.
    fn spinning_read(&mut self, instruction: Instruction) -> Result<(), MethodError> {
        let field = instruction.field(self.pool)?;
        let is_static = instruction.opcode == GETSTATIC;
        match self.fields.treatment(&field, is_static, self.pool, self.additions, self.environment)? {
            Treatment::Volatile(_) => self.edits.call(&hooks::LOOK, self.additions),
            Treatment::Resolve => self.plain_read(instruction, &field),
            _ => Ok(()),
        }
    }

    /// Reports an access to a field: every single one, because the scheduler must see it, or only the reads of plain fields.
    fn controlled_field(
        &mut self,
        every_access: bool,
        instruction: Instruction,
        edit: &mut Edit,
    ) -> Result<(), MethodError> {
        let is_static = matches!(instruction.opcode, GETSTATIC | PUTSTATIC);
        let (field, treatment) = self.field_treatment(instruction, every_access)?;
        match treatment {
            Treatment::Ignore => return Ok(()),
            Treatment::Volatile(class) => return self.volatile(instruction, &field, class, edit),
            _ if !every_access => return self.plain_read(instruction, &field),
            _ if is_static && self.method.is_class_initializer => return Ok(()),
            _ => {}
        }
        self.keeps(instruction, false);
        let site = self.field_site(instruction, &field);
        self.report_field(instruction, &field, treatment, site, edit)
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
}
