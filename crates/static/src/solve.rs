//! From alias sets to the result: which objects are shared, which code other threads run, and which accesses are thread-local.

use std::collections::BTreeMap;

use fissure_classfile::AccessFlags;
use fissure_model::locality::{LocalClass, LocalSites, Locality};
use rustc_hash::{FxHashMap, FxHashSet};

use crate::{
    bodies::{Accessed, Bodies},
    graph::{FieldKey, Level, Node, is_capture},
    world::{Kind, MethodId},
};

/// The strongly connected components of the call graph, callees first.
pub(crate) fn components(
    methods: &[MethodId],
    mut callees: impl FnMut(MethodId) -> Vec<MethodId>,
) -> Vec<Vec<MethodId>> {
    #[derive(Clone, Copy)]
    struct Mark {
        number: u32,
        lowest: u32,
        is_open: bool,
    }
    let mut marks: FxHashMap<MethodId, Mark> = FxHashMap::default();
    let mut open = Vec::new();
    let mut found = Vec::new();
    for &root in methods {
        if marks.contains_key(&root) {
            continue;
        }
        // Tarjan's algorithm; the stack holds the callees of each method that were not visited yet.
        let mut stack: Vec<(MethodId, Vec<MethodId>)> = Vec::new();
        let mut next = Some(root);
        loop {
            if let Some(method) = next.take() {
                let number = marks.len() as u32;
                marks.insert(method, Mark { number, lowest: number, is_open: true });
                open.push(method);
                stack.push((method, callees(method)));
            }
            let Some((method, left)) = stack.last_mut() else { break };
            let method = *method;
            match left.pop() {
                Some(callee) => match marks.get(&callee).copied() {
                    None => next = Some(callee),
                    Some(mark) if mark.is_open => {
                        lower(&mut marks, method, mark.number, |mark| &mut mark.lowest)
                    }
                    Some(_) => {}
                },
                None => {
                    stack.pop();
                    let mark = marks[&method];
                    if let Some((caller, _)) = stack.last() {
                        lower(&mut marks, *caller, mark.lowest, |mark| &mut mark.lowest);
                    }
                    if mark.lowest == mark.number {
                        let mut component = Vec::new();
                        while let Some(member) = open.pop() {
                            if let Some(mark) = marks.get_mut(&member) {
                                mark.is_open = false;
                            }
                            component.push(member);
                            if member == method {
                                break;
                            }
                        }
                        found.push(component);
                    }
                }
            }
        }
    }
    found
}

fn lower<M>(
    marks: &mut FxHashMap<MethodId, M>,
    method: MethodId,
    number: u32,
    lowest: impl Fn(&mut M) -> &mut u32,
) {
    if let Some(mark) = marks.get_mut(&method) {
        let lowest = lowest(mark);
        *lowest = (*lowest).min(number);
    }
}

/// Which code a level accounts for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Side {
    /// The method's own code and its callees.
    Own,
    /// The callers of the method as well.
    All,
}

/// Propagates levels along fields and calls to a fixed point.
///
/// If other threads can reach an object, they can reach what its fields point to, provided that some code reads the field in
/// an object that other threads can reach. Levels that a method and its callees cause propagate up to the callers; levels
/// that callers cause propagate down to callees, but not up again to other callers.
struct Propagation {
    up: FxHashMap<Node, Vec<Node>>,
    down: FxHashMap<Node, Vec<Node>>,
    loads: FxHashMap<Node, Vec<FieldKey>>,
    /// Fields that are read in objects that other threads may reach.
    read: FxHashSet<FieldKey>,
    /// For fields without such a read so far: the nodes to raise as soon as there is one.
    unread: FxHashMap<FieldKey, Vec<(Node, Level, Side)>>,
    own: Vec<Level>,
    all: Vec<Level>,
    waiting: Vec<(Node, Side)>,
    /// Entries of `unread` whose field is read now.
    due: Vec<(Node, Level, Side)>,
}

impl Propagation {
    fn new(bodies: &mut Bodies<'_, '_>) -> Self {
        let nodes = bodies.graph.len();
        let mut propagation = Propagation {
            up: FxHashMap::default(),
            down: FxHashMap::default(),
            loads: FxHashMap::default(),
            read: FxHashSet::default(),
            unread: FxHashMap::default(),
            own: vec![Level::Local; nodes],
            all: vec![Level::Local; nodes],
            waiting: Vec::new(),
            due: Vec::new(),
        };
        for (caller, callee) in std::mem::take(&mut bodies.graph.calls) {
            let (caller, callee) = (bodies.graph.find(caller), bodies.graph.find(callee));
            propagation.down.entry(caller).or_default().push(callee);
            propagation.up.entry(callee).or_default().push(caller);
        }
        for (object, key) in std::mem::take(&mut bodies.loads) {
            let object = bodies.graph.find(object);
            propagation.loads.entry(object).or_default().push(key);
        }
        for node in 0..nodes as Node {
            let level = bodies.graph.level(node);
            propagation.raise(bodies, node, level, Side::Own);
        }
        propagation
    }

    fn level(&self, bodies: &mut Bodies<'_, '_>, node: Node) -> Level {
        self.all[bodies.graph.find(node) as usize]
    }

    fn raise(&mut self, bodies: &mut Bodies<'_, '_>, node: Node, level: Level, side: Side) {
        let node = bodies.graph.find(node);
        let at = node as usize;
        if side == Side::Own && self.own[at] < level {
            self.own[at] = level;
            self.waiting.push((node, Side::Own));
        }
        if self.all[at] >= level {
            return;
        }
        self.all[at] = level;
        self.waiting.push((node, Side::All));
        for key in self.loads.get(&node).cloned().unwrap_or_default() {
            if self.read.insert(key) {
                self.due.extend(self.unread.remove(&key).unwrap_or_default());
            }
        }
    }

    fn run(&mut self, bodies: &mut Bodies<'_, '_>) {
        loop {
            if let Some((node, level, side)) = self.due.pop() {
                self.raise(bodies, node, level, side);
                continue;
            }
            let Some((node, side)) = self.waiting.pop() else { return };
            let (level, calls) = match side {
                Side::Own => (self.own[node as usize], self.up.get(&node)),
                Side::All => (self.all[node as usize], self.down.get(&node)),
            };
            for next in calls.cloned().unwrap_or_default() {
                self.raise(bodies, next, level, side);
            }
            for (key, child) in bodies.graph.children(node) {
                if level == Level::Exposed || is_capture(key) || self.read.contains(&key) {
                    self.raise(bodies, child, level, side);
                } else {
                    self.unread.entry(key).or_default().push((child, level, side));
                }
            }
        }
    }
}

/// Computes the result of the analysis.
pub(crate) fn solve(bodies: &mut Bodies<'_, '_>) -> Locality {
    let mut propagation = Propagation::new(bodies);
    let mut statics: FxHashMap<MethodId, Vec<FieldKey>> = FxHashMap::default();
    for site in &bodies.sites {
        if let Accessed::Static(key) = site.accessed {
            statics.entry(site.method).or_default().push(key);
        }
    }
    for method in bodies.reach.unknown.clone() {
        for node in bodies.formals.get(&method).cloned().iter().flat_map(|formals| formals.iter()) {
            propagation.raise(bodies, *node, Level::Exposed, Side::All);
        }
    }
    let others = other_threads(bodies, &mut propagation, &statics);
    answer(bodies, &propagation, &others)
}

/// The methods that threads other than the first may run.
fn other_threads(
    bodies: &mut Bodies<'_, '_>,
    propagation: &mut Propagation,
    statics: &FxHashMap<MethodId, Vec<FieldKey>>,
) -> FxHashSet<MethodId> {
    let mut others: FxHashSet<MethodId> = FxHashSet::default();
    let mut waiting: Vec<MethodId> = Vec::new();
    let exposed: Vec<FieldKey> = bodies
        .statics
        .keys()
        .copied()
        .filter(|&key| {
            let class = bodies.world.fields[key as usize].class;
            bodies.reach.is_open || bodies.reach.statics_exposed || bodies.world.class(class).is_enum()
        })
        .collect();
    for key in exposed {
        let is_unknown = bodies.reach.is_open || bodies.reach.statics_exposed;
        let level = if is_unknown { Level::Exposed } else { Level::Shared };
        let node = bodies.statics[&key];
        propagation.raise(bodies, node, level, Side::Own);
    }
    waiting.extend(bodies.reach.unknown.iter().copied());
    let mut made = std::mem::take(&mut bodies.made);
    loop {
        propagation.run(bodies);
        made.retain(|&(class, node)| {
            let is_known = propagation.level(bodies, node) > Level::Local;
            if is_known {
                waiting.extend(bodies.reach.callbacks(bodies.world, class).iter().copied());
            }
            !is_known
        });
        let before = others.len();
        while let Some(method) = waiting.pop() {
            if !others.insert(method) {
                continue;
            }
            waiting.extend(bodies.reach.callees(bodies.world, method));
            for &key in statics.get(&method).into_iter().flatten() {
                if let Some(&node) = bodies.statics.get(&key) {
                    propagation.raise(bodies, node, Level::Shared, Side::Own);
                }
            }
        }
        if others.len() == before {
            return others;
        }
        // The JDK rethrows the exception of a task in the thread that waits for the task.
        let thrown = bodies.thrown;
        propagation.raise(bodies, thrown, Level::Shared, Side::Own);
    }
}

/// The thread-local fields and accesses, which need not be instrumented.
fn answer(bodies: &mut Bodies<'_, '_>, propagation: &Propagation, others: &FxHashSet<MethodId>) -> Locality {
    let mut shared: FxHashSet<FieldKey> = FxHashSet::default();
    let is_exposed = bodies.reach.is_open || bodies.reach.statics_exposed;
    let sites = std::mem::take(&mut bodies.sites);
    for site in &sites {
        let is_in_other_thread = others.contains(&site.method);
        match site.accessed {
            Accessed::Field(key, node) => {
                let is_shared = match propagation.level(bodies, node) {
                    Level::Local => false,
                    Level::Shared => is_in_other_thread,
                    Level::Exposed => true,
                };
                if is_shared {
                    shared.insert(key);
                }
            }
            Accessed::Static(key) if is_in_other_thread || is_exposed => {
                shared.insert(key);
            }
            Accessed::Static(_) | Accessed::Element(_) | Accessed::Unknown => {}
        }
    }
    share_fields_of_unreached_code(bodies, &mut shared);
    let mut local_pcs: BTreeMap<MethodId, Vec<u16>> = BTreeMap::new();
    let mut accessed: FxHashSet<FieldKey> = FxHashSet::default();
    for site in &sites {
        let is_local = match site.accessed {
            Accessed::Field(key, node) => {
                accessed.insert(key);
                is_plain(bodies, key)
                    && (!shared.contains(&key) || propagation.level(bodies, node) == Level::Local)
            }
            Accessed::Static(key) => {
                accessed.insert(key);
                is_plain(bodies, key) && !shared.contains(&key)
            }
            Accessed::Element(node) => propagation.level(bodies, node) == Level::Local,
            Accessed::Unknown => false,
        };
        if is_local {
            local_pcs.entry(site.method).or_default().push(site.pc);
        }
    }
    let is_own = |method: &&MethodId| {
        let class = bodies.world.method(**method).class;
        bodies.world.class(class).kind == Kind::Application
    };
    let methods = bodies.reach.methods.iter().filter(is_own).count() as u64;
    let mut locality = Locality { methods, ..Locality::default() };
    for class in bodies.world.classes.iter().filter(|class| class.kind == Kind::Application) {
        if class.lambda.is_none() {
            let known = LocalClass { hash: class.hash, ..LocalClass::default() };
            locality.classes.insert(class.name.to_string(), known);
        }
    }
    for (name, hash) in bodies.world.dormant() {
        locality.classes.insert(name, LocalClass { hash, ..LocalClass::default() });
    }
    for key in accessed {
        if !shared.contains(&key) && is_plain(bodies, key) {
            let field = &bodies.world.fields[key as usize];
            let class = bodies.world.class(field.class);
            let declared = &class.flow.fields[field.index as usize];
            if let Some(known) = locality.classes.get_mut(&*class.name) {
                known.fields.push((declared.name.clone(), declared.descriptor.clone()));
            }
        }
    }
    for (method, mut offsets) in local_pcs {
        let info = bodies.world.method(method);
        let class = bodies.world.class(info.class);
        let Some(index) = info.index else { continue };
        let method = &class.flow.methods[index as usize];
        offsets.sort_unstable();
        offsets.dedup();
        if let Some(known) = locality.classes.get_mut(&*class.name) {
            let (method, descriptor) = (method.name.clone(), method.descriptor.clone());
            known.sites.push(LocalSites { method, descriptor, offsets });
        }
    }
    locality.classes.values_mut().for_each(|class| class.fields.sort());
    locality.conservative = bodies.reach.conservative.clone();
    locality
}

/// Whether a field is neither volatile nor final: accesses to volatile fields synchronize and are always instrumented,
/// accesses to final fields never are.
fn is_plain(bodies: &Bodies<'_, '_>, key: FieldKey) -> bool {
    let field = &bodies.world.fields[key as usize];
    let class = bodies.world.class(field.class);
    !class.flow.fields[field.index as usize].access.intersects(AccessFlags::FINAL | AccessFlags::VOLATILE)
}

/// Adds the fields that unreachable code names to the shared ones, so that they stay instrumented should that code run after all.
fn share_fields_of_unreached_code(bodies: &mut Bodies<'_, '_>, shared: &mut FxHashSet<FieldKey>) {
    use crate::world::FieldTarget;
    use fissure_classfile::flow::Operation;
    for class in 0..bodies.world.classes.len() as u32 {
        let flow = bodies.world.class(class).flow.clone();
        if bodies.world.class(class).kind != Kind::Application {
            continue;
        }
        for (index, method) in flow.methods.iter().enumerate() {
            let id = bodies.world.declared(class, index as u32);
            let Some(body) = method.body.as_ref().filter(|_| !bodies.reach.is_reached(id)) else { continue };
            for instruction in &body.instructions {
                let (Operation::GetField(number)
                | Operation::PutField(number)
                | Operation::GetStatic(number)
                | Operation::PutStatic(number)) = instruction.operation
                else {
                    continue;
                };
                let reference = &flow.field_references[usize::from(number)];
                let named = bodies.world.load(&reference.class);
                if let FieldTarget::Known(key) =
                    bodies.world.field(named, &reference.name, &reference.descriptor)
                {
                    shared.insert(key);
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn callees_come_before_their_callers() {
        let calls: &[&[MethodId]] = &[&[1, 2], &[3], &[1], &[4, 1], &[], &[5]];
        let found = components(&[0, 5], |method| calls[method as usize].to_vec());
        let sorted: Vec<Vec<MethodId>> = found
            .into_iter()
            .map(|mut component| {
                component.sort_unstable();
                component
            })
            .collect();
        assert_eq!(sorted, [vec![4], vec![1, 3], vec![2], vec![0], vec![5]]);
    }
}
