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

use super::{State, points::Field, set_explanation, site_flags};
use crate::{agent::Agent, mutex::locked, vm::RawFrame};

/// Distinguishes an array element from a field.
const ELEMENT: u32 = 1 << 31;
/// The location that stands for the contents of a collection.
const CONTENTS: u32 = 1 << 30;
/// The index that stands for all contents of a collection; array indexes are smaller.
pub(super) const ALL: u32 = u32::MAX;
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

/// Methods that are the whole body of a thread or task.
const THREAD_BODIES: [&str; 3] = ["main", "run", "call"];
/// Prefixes of methods that compilers add.
const SYNTHETIC: [&str; 2] = ["lambda$", "access$"];

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
    pub(super) stacks: FxHashMap<(ThreadId, SiteId), Vec<RawFrame>>,
    /// The locks that threads held at their last access at each site.
    pub(super) locks: FxHashMap<(ThreadId, SiteId), Vec<LockId>>,
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
    pub(super) fn holds(&mut self, holder: u32, field: u32, held: u32) {
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
    pub(super) fn element(&self, location: u32) -> Option<(u32, u32)> {
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

/// The contents of a collection as a location.
pub(super) fn contents_of(object: u32) -> LocationId {
    LocationId(u64::from(object) << 32 | u64::from(CONTENTS))
}

/// The field that holds the collection whose contents a location is; `None` for other locations.
pub(super) fn holding_field(state: &State, location: LocationId) -> Option<u32> {
    let (object, place) = ((location.0 >> 32) as u32, location.0 as u32);
    if place == CONTENTS { state.sets.holder(object, None).map(|(_, field)| field) } else { None }
}

/// Whether an access belongs to a set.
pub(super) fn is_in_set(
    agent: &Agent,
    state: &mut State,
    thread: ThreadId,
    location: LocationId,
    site: SiteId,
) -> bool {
    place_in_set(agent, state, thread, location, site).is_some()
}

/// The set of an access, the location in it, and the field. The contents of an array or a collection belong to the set of the field
/// that it was read from, if the rules ask for contents.
fn place_in_set(
    agent: &Agent,
    state: &mut State,
    thread: ThreadId,
    location: LocationId,
    site: SiteId,
) -> Option<(SetId, u32, u32)> {
    let (object, place) = ((location.0 >> 32) as u32, location.0 as u32);
    if place & (ELEMENT | CONTENTS) == 0 {
        let field = state.points.field(location)?.clone();
        let membership = state.sets.membership(place, &field)?;
        state.sets.holders.insert((thread, place), object);
        return Some((set_of(object, membership), place, place));
    }
    if !state.sets.rules.contents {
        return None;
    }
    let index = if place == CONTENTS { ALL } else { place & !ELEMENT };
    let source = state.points.source_of_element(agent, site.0);
    if let Some((holder, field)) = state.sets.holder(object, source) {
        let holding = state.points.field_by_number(field)?.clone();
        let membership = state.sets.membership(field, &holding)?;
        return Some((set_of(holder, membership), state.sets.element_number(field, index), field));
    }
    if place == CONTENTS {
        return None;
    }
    if let Some(field) = source
        && let Some(&holder) = state.sets.holders.get(&(thread, field))
    {
        let holding = state.points.field_by_number(field)?.clone();
        let membership = state.sets.membership(field, &holding)?;
        state.sets.arrays.insert(object, (set_of(holder, membership), field));
    }
    let (set, field) = *state.sets.arrays.get(&object)?;
    Some((set, state.sets.element_number(field, index), field))
}

/// The unit that an access to a field belongs to: the outermost unit of the field's set, or a unit that consists of this access.
fn unit_of(agent: &Agent, state: &mut State, thread: ThreadId, field: u32) -> Occurrence {
    let units: Vec<(SiteId, u64)> =
        state.conductor.units(thread).iter().map(|unit| (unit.site, unit.number)).collect();
    for (site, number) in units {
        let known = state.sets.units.get(&(site.0, field)).copied();
        let is_declared = known.unwrap_or_else(|| {
            let is_declared = is_unit(agent, state, site, field);
            state.sets.units.insert((site.0, field), is_declared);
            is_declared
        });
        if is_declared {
            return Occurrence { unit: Some(UnitId(site.0)), number };
        }
    }
    state.sets.singles += 1;
    Occurrence { unit: None, number: SINGLE | state.sets.singles }
}

/// Whether the method that begins at a site is a unit for the set of a field.
fn is_unit(agent: &Agent, state: &mut State, site: SiteId, number: u32) -> bool {
    let Some(field) = state.points.field_by_number(number).cloned() else { return false };
    let code = locked(&agent.code);
    let Some(info) = code.sites.get(site.0) else { return false };
    let (class, method) = (&*info.class, &*info.method);
    let covers = |pattern: &Pattern| pattern.matches_method(class, method);
    let names = |pattern: &Pattern| pattern.names_method(class, method);
    let rules = &state.sets.rules;
    let own = state.sets.fields.get(&number).copied().flatten().and_then(|membership| membership.rule);
    let own_units = own.map_or(&[][..], |rule| &rules.sets[rule].units);
    if own_units.iter().chain(&rules.units).any(names) {
        return true;
    }
    let is_no_unit =
        THREAD_BODIES.contains(&method) || SYNTHETIC.iter().any(|prefix| method.starts_with(prefix));
    if is_no_unit || rules.no_units.iter().any(covers) {
        return false;
    }
    if !own_units.is_empty() {
        return own_units.iter().any(covers);
    }
    let (class, declaring) = (class.replace('.', "/"), field.class.replace('.', "/"));
    rules.units.iter().any(covers)
        || code.registry.inherits(info.loader, &class, &declaring)
        || code.registry.inherits(info.loader, &declaring, &class)
}

/// The role of an access in the goal of the run, by the flags of its site.
pub(super) fn role(
    agent: &Agent,
    state: &mut State,
    thread: ThreadId,
    location: LocationId,
    site: SiteId,
    flags: i32,
) -> GoalRole {
    let letters = site_flags::letters(flags);
    if letters == 0 {
        return GoalRole::default();
    }
    let field = set_explanation::location_name(state, location);
    match agent.goal() {
        Some(Goal::Race(race)) => {
            let fits = |place: &usize| race.accesses.get(*place).is_some_and(|access| access.field == field);
            let letters = (0..2).filter(|place| letters >> place & 1 == 1).filter(fits);
            GoalRole { letters: bits(letters), place: location.0, ..GoalRole::default() }
        }
        Some(Goal::Set(goal)) => {
            let Some((set, place, field_number)) = place_in_set(agent, state, thread, location, site) else {
                return GoalRole::default();
            };
            let name = set_explanation::field_of_place(state, place);
            let context = format!("{:x}", state.conductor.context(thread));
            let fits = |access: &ExpectedAccess| access.field == name && access.context == context;
            let events = goal.events.iter().enumerate();
            let letters = events
                .filter(|(place, access)| letters >> place & 1 == 1 && fits(access))
                .map(|(place, _)| place);
            let letters = bits(letters);
            if letters == 0 {
                return GoalRole::default();
            }
            state.sets.stacks.insert((thread, site), crate::stacks::raw(agent.tool));
            let unit = unit_of(agent, state, thread, field_number).number;
            GoalRole { letters, place: set.0, unit, ..GoalRole::default() }
        }
        _ => GoalRole::default(),
    }
}

fn bits(places: impl Iterator<Item = usize>) -> u8 {
    places.fold(0, |bits, place| bits | 1 << place)
}

/// Records an access that the thread makes next, before any other thread runs.
pub(super) fn accessed(
    agent: &Agent,
    state: &mut State,
    thread: ThreadId,
    location: LocationId,
    is_write: bool,
    site: SiteId,
) {
    if state.conductor.observer().is_none() {
        return;
    }
    let kind = kind_of(is_write);
    note_locks(state, thread, site);
    let is_volatile = state.points.field(location).is_some_and(|field| field.is_volatile);
    if !is_volatile && let Some(observer) = state.conductor.observer() {
        observer.accessed(thread, location, kind, site);
    }
    if let Some(access) = set_access(agent, state, thread, location, kind, site) {
        let step = state.conductor.trace().last();
        if let Some(observer) = state.conductor.observer() {
            observer.accessed_set(&access, step);
        }
    }
    set_explanation::confirm(agent, state);
}

/// Records a call that accessed contents and has ended. `counts` is false if its order with accesses of other threads is unknown.
pub(super) fn ended(
    agent: &Agent,
    state: &mut State,
    thread: ThreadId,
    location: LocationId,
    is_write: bool,
    site: SiteId,
    counts: bool,
) {
    let step = state.conductor.log_access(thread, location, is_write, site);
    if state.conductor.observer().is_none() {
        return;
    }
    let kind = kind_of(is_write);
    let access = if counts { set_access(agent, state, thread, location, kind, site) } else { None };
    if let Some(observer) = state.conductor.observer() {
        observer.ended_access(thread, access.as_ref(), step);
    }
    set_explanation::confirm(agent, state);
}

/// Records the locks that a thread holds at an access.
pub(super) fn note_locks(state: &mut State, thread: ThreadId, site: SiteId) {
    let held = state.sets.locks.entry((thread, site)).or_default();
    held.clear();
    held.extend(state.conductor.held(thread));
}

/// The access as an event of its set; `None` if it belongs to no set.
fn set_access(
    agent: &Agent,
    state: &mut State,
    thread: ThreadId,
    location: LocationId,
    kind: AccessKind,
    site: SiteId,
) -> Option<Access> {
    let (set, place, field) = place_in_set(agent, state, thread, location, site)?;
    let unit = unit_of(agent, state, thread, field);
    let context = state.conductor.context(thread);
    Some(Access { thread, set, location: place, kind, site, context, unit })
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
