//! Which atomic set a field belongs to, which methods are units of work for it, and what an access is to that which a run looks for.
//!
//! The heuristic is that of the AssetFuzzer paper, section 5: all non-final instance fields of a class and its superclasses
//! are a set for each object, all non-final static fields of a class are one, and the methods and constructors of the class are
//! its units, whichever object they access. Deviations: methods that are a thread's whole life (`main`, `run`, `call`), the
//! bodies of lambdas and what compilers add are no units; methods of the class that declares a field and of its
//! subclasses and superclasses count, for the class of the object itself is not known.

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

/// Tells an element of an array from a field.
const ELEMENT: u32 = 1 << 31;
/// The contents of a collection as a location in it.
const CONTENTS: u32 = 1 << 30;
/// What stands for an index where it is all of the contents of a collection; arrays have none as large.
pub(super) const ALL: u32 = u32::MAX;
/// How many fields are remembered to hold one array or collection.
const HOLDERS: usize = 4;
/// Of how many arrays and collections it is remembered what holds them. A field is read again before what it holds is used.
const MOST_HELD: usize = 1 << 18;
/// Tells executions of units from accesses outside of all.
const SINGLE: u64 = 1 << 63;
/// The sets of static fields, by the class that declares them.
const STATIC: u32 = 1 << 31;
/// The sets that were named and whose fields are static.
const NAMED_STATIC: u32 = 1 << 30;

/// Methods that are a thread's whole life.
const LIVES: [&str; 3] = ["main", "run", "call"];
/// What compilers add.
const ADDED: [&str; 2] = ["lambda$", "access$"];

/// What is known of sets and units.
#[derive(Debug, Default)]
pub(crate) struct Sets {
    rules: SetRules,
    /// What fields belong to, by their numbers.
    fields: FxHashMap<u32, Option<Membership>>,
    /// Classes with static fields.
    classes: Vec<String>,
    /// Whether methods are units for fields, by the site of the method's beginning and the field's number.
    units: FxHashMap<(u32, u32), bool>,
    singles: u64,
    /// The object whose field each thread accessed last, by field.
    holders: FxHashMap<(ThreadId, u32), u32>,
    /// The objects and fields by which arrays and collections were read, the last one last.
    held: FxHashMap<u32, Vec<(u32, u32)>>,
    /// The sets that arrays in arrays belong to, with the field that holds the outer one.
    arrays: FxHashMap<u32, (SetId, u32)>,
    /// The elements that were accessed, by field and index.
    elements: Vec<(u32, u32)>,
    element_numbers: FxHashMap<(u32, u32), u32>,
    /// Where threads stood when they made accesses that are looked for.
    pub(super) stacks: FxHashMap<(ThreadId, SiteId), Vec<RawFrame>>,
    /// The locks that threads held when they accessed something last.
    pub(super) locks: FxHashMap<(ThreadId, SiteId), Vec<LockId>>,
}

/// The set that a field is in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Membership {
    /// Which of the rules, if any.
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

    /// A field was read, and holds an array or a collection.
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

    /// The object and the field that an array or a collection was last read by, and if that is known by this field.
    fn holder(&self, held: u32, source: Option<u32>) -> Option<(u32, u32)> {
        let holders = self.held.get(&held)?;
        let is_meant = |(_, field): &&(u32, u32)| source.is_none_or(|source| source == *field);
        holders.iter().rev().find(is_meant).or(holders.last()).copied()
    }

    /// What an element is called: the field that holds its array, and its index, or [`ALL`].
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

/// The collection whose contents a location is, if it is such a one, by the field that holds it.
pub(super) fn holding_field(state: &State, location: LocationId) -> Option<u32> {
    let (object, place) = ((location.0 >> 32) as u32, location.0 as u32);
    if place == CONTENTS { state.sets.holder(object, None).map(|(_, field)| field) } else { None }
}

/// Whether an access is one to a set.
pub(super) fn is_in_set(
    agent: &Agent,
    state: &mut State,
    thread: ThreadId,
    location: LocationId,
    site: SiteId,
) -> bool {
    place_in_set(agent, state, thread, location, site).is_some()
}

/// The set, the location in it, and the field, of an access. What an array or a collection holds belongs to the set of the field that
/// it came from, if that is wanted.
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

/// The execution of a unit that an access to a field belongs to: the outermost that is declared on its set, or one of its own.
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
    let is_life = LIVES.contains(&method) || ADDED.iter().any(|prefix| method.starts_with(prefix));
    if is_life || rules.no_units.iter().any(covers) {
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

/// What an access is to that which the run looks for, by the flags of its site.
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

/// A thread is about to make an access, and nobody comes before it any more.
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

/// An access that took some time has happened. It counts unless nobody can tell when it did.
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

/// Takes note of the locks that a thread makes an access under.
pub(super) fn note_locks(state: &mut State, thread: ThreadId, site: SiteId) {
    let held = state.sets.locks.entry((thread, site)).or_default();
    held.clear();
    held.extend(state.conductor.held(thread));
}

/// What an access is to the set that it goes to, if it goes to one.
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
    fn what_is_held_belongs_to_the_field_that_it_was_last_read_by() {
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
    fn the_contents_of_a_collection_are_one_location_and_no_element() {
        let mut sets = Sets::default();
        let contents = sets.element_number(3, ALL);
        assert_ne!(sets.element_number(3, 0), contents);
        assert_eq!(sets.element_number(3, ALL), contents);
        assert_eq!(sets.element(contents), Some((3, ALL)));
        assert_eq!(contents_of(7).0 as u32 & ELEMENT, 0);
    }
}
