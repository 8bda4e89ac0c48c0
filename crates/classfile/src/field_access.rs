//! Decides which fields of this and other classes are instrumented, and how.

use rustc_hash::{FxHashMap, FxHashSet};

use crate::access::AccessFlags;
use crate::additions::Additions;
use crate::class::put_field;
use crate::constant_pool::{ConstantPool, MemberRef, text};
use crate::environment::{Environment, Foreign};
use crate::error::ClassError;
use crate::plan::{Plan, ShadowField};
use crate::sources::MARKS;
use crate::structure::ClassFile;

/// Public, so that other classes' code can access it; transient and synthetic, so that libraries ignore it.
const SHADOW_ACCESS: AccessFlags =
    AccessFlags::PUBLIC.union(AccessFlags::TRANSIENT).union(AccessFlags::SYNTHETIC);

/// Which fields a pass follows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum FieldRules {
    /// None.
    Nothing,
    /// All but the final ones of the rewritten class.
    Finals,
    /// Only volatile fields, which the class declares or inherits.
    Volatiles,
    /// Fields have neither shadow nor cell. Volatile fields synchronize, unless every access to a field is reported.
    Points { every_access: bool },
    /// Fields have shadows and cells.
    Shadows {
        /// Volatile fields are treated like plain ones.
        volatiles: bool,
        /// The environment says which fields are followed.
        is_selective: bool,
    },
}

impl FieldRules {
    fn has_synchronization(self) -> bool {
        !matches!(self, FieldRules::Nothing | FieldRules::Finals)
    }
}

/// How an access to a field is instrumented.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Treatment {
    Ignore,
    /// The constant of the shadow field, and whether it is a double rather than a long.
    Shadow(u16, bool),
    Cell(u32),
    /// The constant of the class that the code names.
    Volatile(u16),
    Resolve,
}

/// The decisions about fields while one class is rewritten.
pub(crate) struct FieldTable<'a> {
    this: &'a [u8],
    synchronization: bool,
    /// Whether only volatile fields are followed.
    only_volatiles: bool,
    /// Whether classes have shadow fields at all.
    has_shadows: bool,
    /// The volatile fields of this class.
    volatiles: FxHashSet<(&'a [u8], &'a [u8])>,
    own: FxHashMap<(&'a [u8], &'a [u8]), Own>,
    /// Final fields of this class; only filled for [`FieldRules::Finals`].
    finals: FxHashSet<(&'a [u8], &'a [u8])>,
    shadows: Vec<Shadow<'a>>,
    /// By the field's constant; the flag is whether the field was accessed as a static one.
    decided: Vec<Option<(bool, Treatment)>>,
}

struct Shadow<'a> {
    name_index: u16,
    name: &'a [u8],
    descriptor: &'a [u8],
}

#[derive(Clone, Copy)]
enum Own {
    Ignored,
    Volatile,
    Shadowed,
    Cell(u32),
    /// The field has neither shadow nor cell: each access is reported.
    Point,
}

impl<'a> FieldTable<'a> {
    /// Decides about the fields that the class declares.
    pub(crate) fn new(
        class: &ClassFile<'a>,
        plan: &Plan<'a>,
        environment: &mut dyn Environment,
    ) -> Result<Self, ClassError> {
        let rules = plan.product.pass().field_rules();
        let this = class.pool.class_name(class.this_index)?;
        let mut table = Self {
            this,
            synchronization: rules.has_synchronization(),
            only_volatiles: rules == FieldRules::Volatiles,
            has_shadows: matches!(rules, FieldRules::Shadows { .. }),
            volatiles: FxHashSet::default(),
            own: FxHashMap::default(),
            finals: FxHashSet::default(),
            shadows: Vec::new(),
            decided: Vec::new(),
        };
        if rules == FieldRules::Finals {
            for field in class.fields.iter().filter(|field| field.access.contains(AccessFlags::FINAL)) {
                let key = (class.pool.utf8(field.name_index)?, class.pool.utf8(field.descriptor_index)?);
                table.finals.insert(key);
            }
        }
        let is_followed = rules.has_synchronization();
        if !is_followed && plan.added_fields.is_empty() {
            return Ok(table);
        }
        for field in &class.fields {
            let key = (class.pool.utf8(field.name_index)?, class.pool.utf8(field.descriptor_index)?);
            table.own.insert(key, Own::Ignored);
        }
        if !is_followed {
            return Ok(table);
        }
        let (volatiles, is_selective) = match rules {
            FieldRules::Shadows { volatiles, is_selective, .. } => (volatiles, is_selective),
            _ => (true, false),
        };
        for field in &class.fields {
            let (name, descriptor) =
                (class.pool.utf8(field.name_index)?, class.pool.utf8(field.descriptor_index)?);
            if field.access.contains(AccessFlags::VOLATILE) {
                table.volatiles.insert((name, descriptor));
                table.own.insert((name, descriptor), Own::Volatile);
            }
            if table.only_volatiles {
                continue;
            }
            if rules == (FieldRules::Points { every_access: false }) {
                let is_plain = !field.access.intersects(AccessFlags::FINAL | AccessFlags::VOLATILE);
                if is_plain && name != MARKS {
                    table.own.insert((name, descriptor), Own::Point);
                }
                continue;
            }
            let skipped =
                if volatiles { AccessFlags::FINAL } else { AccessFlags::FINAL | AccessFlags::VOLATILE };
            if field.access.intersects(skipped) || class.is_interface() || name == MARKS {
                continue;
            }
            if is_selective && !environment.is_followed(&text(name), &text(descriptor), field.access) {
                continue;
            }
            let is_volatile = field.access.contains(AccessFlags::VOLATILE);
            if !is_volatile && environment.leaves_field(&text(name), &text(descriptor)) {
                continue;
            }
            if !table.has_shadows {
                table.own.insert((name, descriptor), Own::Point);
            } else if field.is_static() {
                let cell = environment.cell(&text(name), &text(descriptor));
                table.own.insert((name, descriptor), Own::Cell(cell));
            } else if !table.own.contains_key(&(name, shadow_descriptor(descriptor).as_bytes())) {
                // The shadow has the field's name: another field of the same name must not get the same shadow.
                table.own.insert((name, shadow_descriptor(descriptor).as_bytes()), Own::Ignored);
                table.own.insert((name, descriptor), Own::Shadowed);
                table.shadows.push(Shadow { name_index: field.name_index, name, descriptor });
            }
        }
        Ok(table)
    }

    /// Whether the field is known to be final.
    pub(crate) fn is_final(&self, field: &MemberRef<'_>) -> bool {
        field.owner == self.this && self.finals.contains(&(field.name, field.descriptor))
    }

    /// Whether a field that has a shadow or a cell is volatile.
    pub(crate) fn is_volatile(&self, field: &MemberRef<'_>, environment: &mut dyn Environment) -> bool {
        if field.owner == self.this && self.own.contains_key(&(field.name, field.descriptor)) {
            return self.volatiles.contains(&(field.name, field.descriptor));
        }
        environment.is_volatile(&text(field.owner), &text(field.name), &text(field.descriptor))
    }

    pub(crate) fn shadows(&self) -> Vec<ShadowField> {
        let shadow = |shadow: &Shadow<'_>| ShadowField {
            name: text(shadow.name).into_owned(),
            descriptor: text(shadow.descriptor).into_owned(),
            shadow_descriptor: shadow_descriptor(shadow.descriptor),
        };
        self.shadows.iter().map(shadow).collect()
    }

    /// Writes the fields added to the class and returns their number.
    pub(crate) fn write_new_fields(
        &self,
        plan: &Plan<'a>,
        additions: &mut Additions<'a>,
        out: &mut Vec<u8>,
    ) -> Result<usize, ClassError> {
        for shadow in &self.shadows {
            let descriptor = additions.utf8(shadow_descriptor(shadow.descriptor).as_bytes())?;
            put_field(out, SHADOW_ACCESS, shadow.name_index, descriptor);
        }
        let mut count = self.shadows.len();
        for field in plan.added_fields {
            if !self.own.contains_key(&(field.name.as_bytes(), field.descriptor.as_bytes())) {
                let name = additions.utf8(field.name.as_bytes())?;
                let descriptor = additions.utf8(field.descriptor.as_bytes())?;
                put_field(out, field.access, name, descriptor);
                count += 1;
            }
        }
        Ok(count)
    }

    /// How an access to a field is instrumented.
    pub(crate) fn treatment(
        &mut self,
        field: &MemberRef<'a>,
        is_static: bool,
        pool: &ConstantPool<'a>,
        additions: &mut Additions<'a>,
        environment: &mut dyn Environment,
    ) -> Result<Treatment, ClassError> {
        if self.decided.is_empty() {
            self.decided.resize(usize::from(pool.count()), None);
        }
        let index = usize::from(field.index);
        match self.decided.get(index) {
            Some(&Some((used_as_static, treatment))) if used_as_static == is_static => {
                return Ok(treatment);
            }
            Some(Some(_)) => return Ok(Treatment::Ignore),
            _ => {}
        }
        let treatment = self.decide(field, is_static, additions, environment)?;
        if let Some(decision) = self.decided.get_mut(index) {
            *decision = Some((is_static, treatment));
        }
        Ok(treatment)
    }

    /// Drops cached decisions, which may refer to constants that were rolled back.
    pub(crate) fn forget_decisions(&mut self) {
        self.decided.clear();
    }

    fn decide(
        &self,
        field: &MemberRef<'a>,
        is_static: bool,
        additions: &mut Additions<'a>,
        environment: &mut dyn Environment,
    ) -> Result<Treatment, ClassError> {
        let own = if field.owner == self.this { self.own.get(&(field.name, field.descriptor)) } else { None };
        let is_shadowed = match own {
            Some(Own::Ignored) => return Ok(Treatment::Ignore),
            Some(Own::Volatile) => return Ok(Treatment::Volatile(field.owner_index)),
            Some(Own::Point) => return Ok(Treatment::Resolve),
            Some(Own::Cell(cell)) if is_static => return Ok(Treatment::Cell(*cell)),
            Some(Own::Cell(_)) => return Ok(Treatment::Ignore),
            Some(Own::Shadowed) if is_static => return Ok(Treatment::Ignore),
            Some(Own::Shadowed) => true,
            None => {
                let (class, name, descriptor) = (text(field.owner), text(field.name), text(field.descriptor));
                match environment.foreign(&class, &name, &descriptor, is_static) {
                    Foreign::Volatile if self.synchronization => {
                        return Ok(Treatment::Volatile(field.owner_index));
                    }
                    // The field may be declared by a superclass that is not loaded yet.
                    _ if self.only_volatiles && field.owner == self.this => return Ok(Treatment::Resolve),
                    _ if self.only_volatiles => return Ok(Treatment::Ignore),
                    Foreign::Volatile | Foreign::Ignore => return Ok(Treatment::Ignore),
                    Foreign::Resolve => false,
                    Foreign::Shadowed => !is_static && self.has_shadows,
                }
            }
        };
        if !is_shadowed {
            return Ok(Treatment::Resolve);
        }
        let descriptor = shadow_descriptor(field.descriptor);
        let reference = additions.field(field.owner_index, field.name_index, descriptor.as_bytes())?;
        Ok(Treatment::Shadow(reference, descriptor == "D"))
    }
}

/// A shadow has its field's name, so that its type must differ.
fn shadow_descriptor(descriptor: &[u8]) -> &'static str {
    if descriptor == b"J" { "D" } else { "J" }
}
