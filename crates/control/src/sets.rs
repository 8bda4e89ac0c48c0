//! The atomic sets that fields belong to, the methods that are units of work for them, and the role of an access in the run's goal.
//!
//! The heuristic is that of the AssetFuzzer paper, section 5: all non-final instance fields of a class and its superclasses
//! are a set for each object, all non-final static fields of a class are one, and the methods and constructors of the class are
//! its units, whichever object they access. Deviations: methods that are the whole body of a thread or task (`main`, `run`, `call`),
//! the bodies of lambdas and methods that compilers add are no units; methods of the class that declares a field and of its
//! subclasses and superclasses are units, because the class of the object itself is not known.

use rustc_hash::FxHashMap;

use fissure_analysis::atomic_sets::{Access, Occurrence, SetId, UnitId};
use fissure_model::{
    event::AccessKind,
    goal::{ExpectedAccess, Goal},
    ids::{LocationId, LockId, SiteId, ThreadId},
    pattern::Pattern,
    settings::SetRules,
};
use fissure_schedule::strategy::GoalRole;

use crate::{
    ControlledRun, flags as site_flags,
    front_end::{Field, FrontEnd, RawFrame},
};

/// Distinguishes an array element from a field.
const ELEMENT: u32 = 1 << 31;
/// The location that stands for the contents of a collection.
const CONTENTS: u32 = 1 << 30;
/// The index that stands for all contents of a collection; array indexes are smaller.
pub(crate) const ALL: u32 = u32::MAX;
/// The number of fields that are remembered as holders of one array or collection.
const HOLDERS: usize = 4;
/// The number of arrays and collections whose holders are remembered. Older ones may be dropped, because a field is read again
/// before its array or collection is used.
const MOST_HELD: usize = 1 << 18;
/// Distinguishes accesses outside of all units from executions of units.
const SINGLE: u64 = 1 << 63;
/// Marks sets of static fields, with the class that declares them.
const STATIC: u32 = 1 << 31;
/// Marks sets of static fields that a rule names.
const NAMED_STATIC: u32 = 1 << 30;

/// The known sets and units.
#[derive(Debug, Default)]
pub(crate) struct Sets {
    rules: SetRules,
    /// The sets of fields, by the fields' numbers.
    fields: FxHashMap<u32, Option<Membership>>,
    /// Classes with static fields.
    classes: Vec<String>,
    /// Whether a method is a unit for a field, by the site where the method begins and the field's number.
    units: FxHashMap<(u32, u32), bool>,
    singles: u64,
    /// The object whose field each thread accessed last, by field.
    holders: FxHashMap<(ThreadId, u32), u32>,
    /// The objects and fields from which arrays and collections were read, the most recent last.
    held: FxHashMap<u32, Vec<(u32, u32)>>,
    /// The sets of arrays that are elements of other arrays, with the field that holds the outer array.
    arrays: FxHashMap<u32, (SetId, u32)>,
    /// The elements that were accessed, by field and index.
    elements: Vec<(u32, u32)>,
    element_numbers: FxHashMap<(u32, u32), u32>,
    /// The stacks of threads at accesses that may be events of the goal.
    pub(crate) stacks: FxHashMap<(ThreadId, SiteId), Vec<RawFrame>>,
    /// The locks that threads held at their last access at each site.
    pub(crate) locks: FxHashMap<(ThreadId, SiteId), Vec<LockId>>,
}

/// The set that a field is in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Membership {
    /// The index of the rule that names the field, if one does.
    rule: Option<usize>,
    /// The class of a static field.
    class: u32,
}

impl Sets {
    pub(crate) fn new(rules: &SetRules) -> Self {
        Self { rules: rules.clone(), ..Self::default() }
    }

    fn membership(&mut self, number: u32, field: &Field) -> Option<Membership> {
        if let Some(known) = self.fields.get(&number) {
            return *known;
        }
        let names = |pattern: &Pattern| pattern.names_method(&field.class, &field.name);
        let covers = |pattern: &Pattern| pattern.matches_method(&field.class, &field.name);
        let rule = self.rules.sets.iter().position(|rule| rule.fields.iter().any(names));
        let is_excluded = rule.is_none() && self.rules.exclude.iter().any(covers);
        let class = self.classes.iter().position(|class| *class == field.class).unwrap_or_else(|| {
            self.classes.push(field.class.clone());
            self.classes.len() - 1
        });
        let membership = (!is_excluded).then_some(Membership { rule, class: class as u32 });
        self.fields.insert(number, membership);
        membership
    }

    /// Records that a field was read that holds an array or a collection.
    pub(crate) fn holds(&mut self, holder: u32, field: u32, held: u32) {
        if self.held.len() >= MOST_HELD {
            self.held.clear();
        }
        let holders = self.held.entry(held).or_default();
        if holders.last() == Some(&(holder, field)) {
            return;
        }
        holders.retain(|known| *known != (holder, field));
        if holders.len() == HOLDERS {
            holders.remove(0);
        }
        holders.push((holder, field));
    }

    /// The object and the field from which an array or a collection was last read; a read from `source` is preferred.
    fn holder(&self, held: u32, source: Option<u32>) -> Option<(u32, u32)> {
        let holders = self.held.get(&held)?;
        let is_meant = |(_, field): &&(u32, u32)| source.is_none_or(|source| source == *field);
        holders.iter().rev().find(is_meant).or(holders.last()).copied()
    }

    /// The field that holds the array of an element, and the element's index, or [`ALL`].
    pub(crate) fn element(&self, location: u32) -> Option<(u32, u32)> {
        if location & ELEMENT == 0 {
            None
        } else {
            self.elements.get((location & !ELEMENT) as usize).copied()
        }
    }

    fn element_number(&mut self, field: u32, index: u32) -> u32 {
        let next = self.elements.len() as u32 | ELEMENT;
        *self.element_numbers.entry((field, index)).or_insert_with(|| {
            self.elements.push((field, index));
            next
        })
    }
}

fn set_of(object: u32, membership: Membership) -> SetId {
    let part = match (object, membership.rule) {
        (0, Some(rule)) => NAMED_STATIC | rule as u32,
        (0, None) => STATIC | membership.class,
        (_, rule) => rule.map_or(0, |rule| rule as u32 + 1),
    };
    SetId(u64::from(object) << 32 | u64::from(part))
}

/// The index of an array element, as a part of its location.
pub(crate) fn element(index: u32) -> u32 {
    index | ELEMENT
}

/// Whether a location is an array element.
pub(crate) fn is_element(location: LocationId) -> bool {
    location.0 as u32 & ELEMENT != 0
}

/// The contents of a collection as a location.
pub(crate) fn contents_of(object: u32) -> LocationId {
    LocationId(u64::from(object) << 32 | u64::from(CONTENTS))
}

impl ControlledRun {
    /// The field that holds the collection whose contents a location is; `None` for other locations.
    pub(crate) fn holding_field(&self, location: LocationId) -> Option<u32> {
        let (object, part) = ((location.0 >> 32) as u32, location.0 as u32);
        if part == CONTENTS { self.sets.holder(object, None).map(|(_, field)| field) } else { None }
    }

    /// Whether an access belongs to a set.
    pub(crate) fn is_in_set(
        &mut self,
        front: &dyn FrontEnd,
        thread: ThreadId,
        location: LocationId,
        site: SiteId,
    ) -> bool {
        self.location_in_set(front, thread, location, site).is_some()
    }

    /// The set of an access, the location in it, and the field. The contents of an array or a collection belong to the set of the field
    /// that it was read from, if the rules ask for contents.
    fn location_in_set(
        &mut self,
        front: &dyn FrontEnd,
        thread: ThreadId,
        location: LocationId,
        site: SiteId,
    ) -> Option<(SetId, u32, u32)> {
        let (object, part) = ((location.0 >> 32) as u32, location.0 as u32);
        if part & (ELEMENT | CONTENTS) == 0 {
            let field = self.points.field(location)?.clone();
            let membership = self.sets.membership(part, &field)?;
            self.sets.holders.insert((thread, part), object);
            return Some((set_of(object, membership), part, part));
        }
        if !self.sets.rules.contents {
            return None;
        }
        let index = if part == CONTENTS { ALL } else { part & !ELEMENT };
        let source = self.points.source_of_element(front, site);
        if let Some((holder, field)) = self.sets.holder(object, source) {
            let holding = self.points.field_by_number(field).clone();
            let membership = self.sets.membership(field, &holding)?;
            return Some((set_of(holder, membership), self.sets.element_number(field, index), field));
        }
        if part == CONTENTS {
            return None;
        }
        if let Some(field) = source
            && let Some(&holder) = self.sets.holders.get(&(thread, field))
        {
            let holding = self.points.field_by_number(field).clone();
            let membership = self.sets.membership(field, &holding)?;
            self.sets.arrays.insert(object, (set_of(holder, membership), field));
        }
        let (set, field) = *self.sets.arrays.get(&object)?;
        Some((set, self.sets.element_number(field, index), field))
    }

    /// The unit that an access to a field belongs to: the outermost unit of the field's set, or a unit that consists of this access.
    fn unit_of(&mut self, front: &dyn FrontEnd, thread: ThreadId, field: u32) -> Occurrence {
        let units: Vec<(SiteId, u64)> =
            self.conductor.units(thread).iter().map(|unit| (unit.site, unit.number)).collect();
        for (site, number) in units {
            let known = self.sets.units.get(&(site.0, field)).copied();
            let is_declared = known.unwrap_or_else(|| {
                let is_declared = self.is_unit(front, site, field);
                self.sets.units.insert((site.0, field), is_declared);
                is_declared
            });
            if is_declared {
                return Occurrence { unit: Some(UnitId(site.0)), number };
            }
        }
        self.sets.singles += 1;
        Occurrence { unit: None, number: SINGLE | self.sets.singles }
    }

    /// Whether the method that begins at a site is a unit for the set of a field.
    fn is_unit(&mut self, front: &dyn FrontEnd, site: SiteId, number: u32) -> bool {
        let field = self.points.field_by_number(number).clone();
        let Some(info) = front.site(site) else { return false };
        let (class, method) = (&info.frame.class, &info.frame.method);
        let covers = |pattern: &Pattern| pattern.matches_method(class, method);
        let names = |pattern: &Pattern| pattern.names_method(class, method);
        let rules = &self.sets.rules;
        let own = self.sets.fields.get(&number).copied().flatten().and_then(|membership| membership.rule);
        let own_units = own.map_or(&[][..], |rule| &rules.sets[rule].units);
        if own_units.iter().chain(&rules.units).any(names) {
            return true;
        }
        if !front.may_be_unit(method) || rules.no_units.iter().any(covers) {
            return false;
        }
        if !own_units.is_empty() {
            return own_units.iter().any(covers);
        }
        rules.units.iter().any(covers) || front.is_related(site, &field.class)
    }

    /// The role of an access in the goal of the run, by the flags of its site.
    pub(crate) fn set_role(
        &mut self,
        front: &dyn FrontEnd,
        thread: ThreadId,
        location: LocationId,
        site: SiteId,
        flags: i32,
    ) -> GoalRole {
        let letters = site_flags::letters(flags);
        if letters == 0 {
            return GoalRole::default();
        }
        let field = self.location_name(location);
        match self.goal.clone().as_deref() {
            Some(Goal::Race(race)) => {
                let fits =
                    |letter: &usize| race.accesses.get(*letter).is_some_and(|access| access.field == field);
                let letters = (0..2).filter(|letter| letters >> letter & 1 == 1).filter(fits);
                GoalRole { letters: bits(letters), location: location.0, ..GoalRole::default() }
            }
            Some(Goal::Set(goal)) => {
                let Some((set, part, field_number)) = self.location_in_set(front, thread, location, site)
                else {
                    return GoalRole::default();
                };
                let name = self.field_of_part(part);
                let context = format!("{:x}", self.conductor.context(thread));
                let fits = |access: &ExpectedAccess| access.field == name && access.context == context;
                let events = goal.events.iter().enumerate();
                let letters = events
                    .filter(|(letter, access)| letters >> letter & 1 == 1 && fits(access))
                    .map(|(letter, _)| letter);
                let letters = bits(letters);
                if letters == 0 {
                    return GoalRole::default();
                }
                self.sets.stacks.insert((thread, site), front.stack());
                let unit = self.unit_of(front, thread, field_number).number;
                GoalRole { letters, location: set.0, unit, ..GoalRole::default() }
            }
            _ => GoalRole::default(),
        }
    }

    /// Records an access that the thread makes next, before any other thread runs.
    pub(crate) fn note_set_access(
        &mut self,
        front: &dyn FrontEnd,
        thread: ThreadId,
        location: LocationId,
        is_write: bool,
        site: SiteId,
    ) {
        if self.conductor.observer().is_none() {
            return;
        }
        let kind = kind_of(is_write);
        self.note_locks(thread, site);
        let is_volatile = self.points.field(location).is_some_and(|field| field.is_volatile);
        if !is_volatile && let Some(observer) = self.conductor.observer() {
            observer.accessed(thread, location, kind, site);
        }
        if let Some(access) = self.set_access(front, thread, location, kind, site) {
            let step = self.conductor.trace().last();
            if let Some(observer) = self.conductor.observer() {
                observer.accessed_set(&access, step);
            }
        }
        self.confirm_set_violations(front);
    }

    /// Records a call that accessed contents and has ended. `counts` is false if its order with accesses of other threads is unknown.
    pub(crate) fn note_ended_call(
        &mut self,
        front: &dyn FrontEnd,
        thread: ThreadId,
        (location, is_write, site): (LocationId, bool, SiteId),
        counts: bool,
    ) {
        let step = self.conductor.log_access(thread, location, is_write, site);
        if self.conductor.observer().is_none() {
            return;
        }
        let kind = kind_of(is_write);
        let access = if counts { self.set_access(front, thread, location, kind, site) } else { None };
        if let Some(observer) = self.conductor.observer() {
            observer.ended_access(thread, access.as_ref(), step);
        }
        self.confirm_set_violations(front);
    }

    /// Records the locks that a thread holds at an access.
    pub(crate) fn note_locks(&mut self, thread: ThreadId, site: SiteId) {
        let held = self.sets.locks.entry((thread, site)).or_default();
        held.clear();
        held.extend(self.conductor.held(thread));
    }

    /// The access as an event of its set; `None` if it belongs to no set.
    fn set_access(
        &mut self,
        front: &dyn FrontEnd,
        thread: ThreadId,
        location: LocationId,
        kind: AccessKind,
        site: SiteId,
    ) -> Option<Access> {
        let (set, part, field) = self.location_in_set(front, thread, location, site)?;
        let unit = self.unit_of(front, thread, field);
        let context = self.conductor.context(thread);
        Some(Access { thread, set, location: part, kind, site, context, unit })
    }
}

fn bits(letters: impl Iterator<Item = usize>) -> u8 {
    letters.fold(0, |bits, letter| bits | 1 << letter)
}

fn kind_of(is_write: bool) -> AccessKind {
    if is_write { AccessKind::Write } else { AccessKind::Read }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn contents_belong_to_the_field_that_was_read_last() {
        let mut sets = Sets::default();
        assert_eq!(sets.holder(9, None), None);
        sets.holds(1, 5, 9);
        sets.holds(2, 6, 9);
        assert_eq!(sets.holder(9, None), Some((2, 6)));
        assert_eq!(sets.holder(9, Some(5)), Some((1, 5)));
        assert_eq!(sets.holder(9, Some(7)), Some((2, 6)));
        sets.holds(1, 5, 9);
        assert_eq!(sets.holder(9, None), Some((1, 5)));
        (10..20).for_each(|holder| sets.holds(holder, 5, 9));
        assert_eq!(sets.held[&9].len(), HOLDERS);
        assert_eq!(sets.holder(9, Some(6)), Some((19, 5)));
        (10..20 + MOST_HELD as u32).for_each(|held| sets.holds(1, 5, held));
        assert!(sets.held.len() <= MOST_HELD);
    }

    #[test]
    fn contents_of_a_collection_are_one_location_and_not_an_element() {
        let mut sets = Sets::default();
        let contents = sets.element_number(3, ALL);
        assert_ne!(sets.element_number(3, 0), contents);
        assert_eq!(sets.element_number(3, ALL), contents);
        assert_eq!(sets.element(contents), Some((3, ALL)));
        assert_eq!(contents_of(7).0 as u32 & ELEMENT, 0);
    }
}
