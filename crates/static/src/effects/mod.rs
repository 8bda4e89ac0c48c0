//! Computes which methods of an object may change it, from class files alone.
//!
//! After "Purity and Side Effect Analysis for Java Programs" (Sălcianu and Rinard, VMCAI 2005): a method is pure if it writes
//! only to objects that did not exist before the call. That definition is the paper's; a method may change objects that it
//! creates itself. Deviations:
//!
//! - The program is a harness: one object, created by one constructor, and calls of some of its methods. So all objects that
//!   fields may point to are known from the code that creates them, by a points-to analysis with subset constraints (Andersen,
//!   1994) that is object-sensitive (Milanova, Rountev and Ryder, "Parameterized Object Sensitivity", 2005).
//! - An object belongs to the state if it is reachable from the object under test or a static field. Objects that a call
//!   creates and never links to the state may be written; there is no graph per method.
//! - Acquiring and releasing a lock is not a change. `equals`, `hashCode`, `toString` and `compareTo` of unknown objects are
//!   assumed to change nothing.
//! - The harness's use of a result counts as part of the method: it exhausts iterators and reads collections.
//!
//! Unknown code is assumed to use the objects that it gets through public methods only.

mod body;
mod boundary;
mod calls;
mod classes;
mod heap;

use std::{collections::VecDeque, rc::Rc};

use fissure_classfile::flow::{InvokeKind, MemberReference, shape, types};
use rustc_hash::{FxHashMap, FxHashSet};

use crate::ClassSource;
use body::Body;
use calls::Call;
use classes::{ALL, ANY, ClassId, Classes, ELEMENT, FieldKey, Found};
use heap::{ContextId, Heap, Kind, NodeId, Object, ObjectId, Site, Use};

/// The class under test.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Subject {
    /// Its internal name.
    pub class: String,
    /// The descriptor of the constructor that creates the object.
    pub constructor: String,
    /// The methods that may be called, by name and descriptor.
    pub methods: Vec<(String, String)>,
}

/// The effect of a method on its object.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Effect {
    /// It certainly does not change it.
    Reads,
    /// It may change it: what is written, and at which site.
    Writes(String),
    /// It reaches code that cannot be analysed: a clause such as `what A.b does in C.d:12`.
    Unknown(String),
}

/// The analysis gives up on more code than this.
const MOST_INSTANCES: usize = 40_000;
const MOST_NODES: usize = 1_200_000;

/// The number of a method in a context.
pub(crate) type InstanceId = u32;

/// The caller of methods that unknown code calls, and of class initializers.
const UNKNOWN_CALLER: InstanceId = 0;

/// Marks an instance without a method: a harness, or the unknown caller.
const NO_METHOD: u32 = u32::MAX;

/// A method in a context, with its effects.
#[derive(Debug, Default)]
pub(crate) struct Instance {
    class: ClassId,
    method: u32,
    context: ContextId,
    /// The harness that reaches it. Each harness has its own instances, so that arguments of one do not flow into another.
    harness: InstanceId,
    /// The receiver, if there is one, and the parameters; primitive values have no node.
    pub(crate) formals: Vec<Option<NodeId>>,
    pub(crate) result: Option<NodeId>,
    /// Writes: the object (`None` for static fields), the pc and the field.
    writes: Vec<(Option<NodeId>, u16, FieldKey)>,
    unknown: Vec<(u16, String)>,
    pub(crate) acquires: bool,
    pub(crate) releases: bool,
    callees: FxHashSet<InstanceId>,
    /// The callees in the order in which they were found.
    ordered: Vec<InstanceId>,
}

/// The analysis of one class.
pub(crate) struct Analysis<'s> {
    pub(crate) classes: Classes<'s>,
    pub(crate) heap: Heap,
    instances: Vec<Instance>,
    numbers: FxHashMap<(ClassId, u32, ContextId, InstanceId), InstanceId>,
    unwalked: Vec<InstanceId>,
    calls: Vec<Rc<Call>>,
    statics: FxHashMap<FieldKey, NodeId>,
    initialised: FxHashSet<ClassId>,
    exposed: FxHashSet<ObjectId>,
    inspected: FxHashSet<(u32, ObjectId)>,
    singles: FxHashMap<ObjectId, NodeId>,
    /// The fields of variable handles and field updaters, by the nodes that hold the handles.
    pub(crate) handles: FxHashMap<NodeId, FieldKey>,
    /// For each harness its instance, the node of the results that it inspects, and the node of its arguments.
    harnesses: Vec<(InstanceId, NodeId, NodeId)>,
    /// The node of immutable values.
    pub(crate) value: NodeId,
    /// The node of unknown objects.
    pub(crate) unknown_node: NodeId,
    /// The node of all exceptions that are ever thrown.
    pub(crate) thrown: NodeId,
    subject: ObjectId,
}

/// Computes the effects of the methods of a class, in their order.
pub fn effects(source: &mut dyn ClassSource, subject: &Subject) -> Vec<Effect> {
    let mut analysis = Analysis::new(source, &subject.class);
    analysis.harness(&subject.class, "<init>", &subject.constructor);
    for (name, descriptor) in &subject.methods {
        analysis.harness(&subject.class, name, descriptor);
    }
    let complete = analysis.solve();
    let state = analysis.state();
    let methods = 1..=subject.methods.len();
    methods
        .map(|number| match complete {
            true => analysis.effect(analysis.harnesses[number].0, &state),
            false => Effect::Unknown("what its code does, because there is too much of it".to_owned()),
        })
        .collect()
}

impl<'s> Analysis<'s> {
    fn new(source: &'s mut dyn ClassSource, class: &str) -> Self {
        let mut heap = Heap::default();
        heap.context(&[]);
        let [value, unknown_node, thrown] = [heap.node(), heap.node(), heap.node()];
        let one = heap.special(Kind::Value);
        heap.add(value, one);
        heap.add(thrown, one);
        let unknown = heap.special(Kind::Unknown);
        heap.add(unknown_node, unknown);
        let mut classes = Classes::new(source, class);
        let class = classes.load(class);
        let site = Site { class, method: NO_METHOD, pc: 0 };
        let subject = heap.object(Object { kind: Kind::Made(class), site: Some(site), context: 0 });
        let unknown_caller = Instance { method: NO_METHOD, ..Instance::default() };
        let mut analysis = Analysis {
            classes,
            heap,
            instances: vec![unknown_caller],
            numbers: FxHashMap::default(),
            unwalked: Vec::new(),
            calls: Vec::new(),
            statics: FxHashMap::default(),
            initialised: FxHashSet::default(),
            exposed: FxHashSet::default(),
            inspected: FxHashSet::default(),
            singles: FxHashMap::default(),
            handles: FxHashMap::default(),
            harnesses: Vec::new(),
            value,
            unknown_node,
            thrown,
            subject,
        };
        analysis.initialise(class);
        analysis
    }

    /// Adds a harness that calls one method with arguments of its own and inspects the result.
    fn harness(&mut self, class: &str, name: &str, descriptor: &str) {
        let number = self.harnesses.len() as u32;
        let caller = self.instances.len() as InstanceId;
        self.instances.push(Instance { method: NO_METHOD, harness: caller, ..Instance::default() });
        let [given, array] = [false, true].map(|is_array| {
            let object = self.heap.special(Kind::Argument(number, is_array));
            self.only(object)
        });
        self.use_node(array, Use::Store(ANY, given));
        let inspected = self.heap.node();
        self.harnesses.push((caller, inspected, given));
        self.use_node(inspected, Use::Inspect(number));
        self.use_node(given, Use::Load(ALL, inspected));
        self.use_node(array, Use::Load(ALL, inspected));
        let receiver = self.only(self.subject);
        let mut arguments = vec![Some(receiver)];
        for parameter in types(descriptor).0 {
            arguments.push(match parameter.as_bytes().first() {
                Some(b'[') => Some(array),
                Some(b'L') => Some(given),
                _ => None,
            });
        }
        let result = shape(descriptor).1;
        let kind = if name == "<init>" { InvokeKind::Special } else { InvokeKind::Virtual };
        let reference = MemberReference {
            class: class.to_owned(),
            name: name.to_owned(),
            descriptor: descriptor.to_owned(),
        };
        let site = self.no_site();
        let result = (result == Some(b'L')).then_some(inspected);
        self.call(Call { caller, context: 0, site, kind, reference: Rc::new(reference), arguments, result });
    }

    fn no_site(&mut self) -> Site {
        Site { class: 0, method: NO_METHOD, pc: 0 }
    }

    /// The node of the arguments that a harness or the unknown caller passes.
    pub(crate) fn arguments_of(&self, caller: InstanceId) -> NodeId {
        let harness = self.harnesses.iter().find(|(instance, ..)| *instance == caller);
        harness.map_or(self.unknown_node, |(_, _, given)| *given)
    }

    /// Computes the fixed point. Returns whether it was reached within the limits.
    fn solve(&mut self) -> bool {
        loop {
            if self.instances.len() > MOST_INSTANCES || self.heap.size() > MOST_NODES {
                return false;
            }
            if let Some(instance) = self.unwalked.pop() {
                let Instance { class, method, context, .. } = self.instances[instance as usize];
                let flow = self.classes.class(class).flow.clone();
                let named = (None, None);
                Body { analysis: self, instance, class, method, context, flow, named }.run();
            } else if let Some((node, new)) = self.heap.next() {
                for (to, filter) in self.heap.edges(node).to_vec() {
                    for &object in &new {
                        if self.passes(object, filter) {
                            self.heap.add(to, object);
                        }
                    }
                }
                for what in self.heap.uses(node).to_vec() {
                    new.iter().for_each(|&object| self.apply(what, object));
                }
            } else {
                return true;
            }
        }
    }

    /// Lets the objects of one node flow into another, restricted to those that may be of class `filter`.
    pub(crate) fn connect(&mut self, from: NodeId, to: NodeId, filter: Option<ClassId>) {
        if self.heap.connect(from, to, filter) {
            for object in self.heap.objects_of(from) {
                if self.passes(object, filter) {
                    self.heap.add(to, object);
                }
            }
        }
    }

    pub(crate) fn use_node(&mut self, node: NodeId, what: Use) {
        self.heap.put_use(node, what);
        for object in self.heap.settled(node) {
            self.apply(what, object);
        }
    }

    fn apply(&mut self, what: Use, object: ObjectId) {
        match what {
            Use::Load(field, to) => {
                let field = self.field(object, field);
                self.connect(field, to, None);
            }
            Use::Store(field, from) => {
                let filter = self.classes.field_type(field);
                let field = self.field(object, field);
                self.connect(from, field, filter);
            }
            Use::Call(number) => self.dispatch(number, object),
            Use::Clone(site, context, to) => {
                let kind = self.heap.get(object).kind;
                let copy = match kind {
                    Kind::Made(_) => self.heap.object(Object { kind, site: Some(site), context }),
                    _ => object,
                };
                let (from, into) = (self.field(object, ALL), self.field(copy, ANY));
                self.connect(from, into, None);
                self.heap.add(to, copy);
            }
            Use::Inspect(number) => self.inspect_result(number, object),
            Use::Expose => self.expose(object),
        }
    }

    /// Whether an object may be of a class.
    pub(crate) fn passes(&mut self, object: ObjectId, filter: Option<ClassId>) -> bool {
        let Some(class) = filter else { return true };
        match self.heap.get(object).kind {
            Kind::Made(made) => self.classes.is_subtype(made, class),
            Kind::Lambda(..) => self.classes.is_interface(class) || !self.classes.is_concrete(class),
            Kind::Value => !self.classes.is_concrete(class),
            // Harnesses create the usual collections and, of the program, only enumeration constants and functions.
            Kind::Argument(_, is_array) => {
                let name = &self.classes.class(class).name;
                let package = name.rsplit_once('/').map_or("", |(package, _)| package);
                match self.classes.class(class).is_analysed {
                    true => !self.classes.is_concrete(class) || package == "java/util",
                    false if name.starts_with('[') => is_array,
                    false => self.classes.is_interface(class) || package == "java/lang",
                }
            }
            Kind::Unknown => true,
        }
    }

    /// The node of a field. A handle may store into any field (`ANY`) and read from any field (`ALL`).
    pub(crate) fn field(&mut self, object: ObjectId, field: FieldKey) -> NodeId {
        let (node, is_new) = self.heap.field(object, field);
        if is_new {
            let (any, all) = (self.field(object, ANY), self.field(object, ALL));
            let filter = self.classes.field_type(field);
            self.connect(any, node, filter);
            self.connect(any, all, None);
            self.connect(node, all, None);
        } else if field == ALL {
            let any = self.heap.field(object, ANY).0;
            self.connect(any, node, None);
        }
        node
    }

    pub(crate) fn static_field(&mut self, class: ClassId, field: FieldKey) -> NodeId {
        if let Some(&known) = self.statics.get(&field) {
            return known;
        }
        let node = self.heap.node();
        self.statics.insert(field, node);
        let owner = self.classes.field_owner(field).unwrap_or(class);
        let owner = self.classes.class(owner);
        if !owner.is_analysed {
            let is_value = owner.name.starts_with("java/lang/");
            let from = if is_value { self.value } else { self.unknown_node };
            self.connect(from, node, None);
        }
        node
    }

    /// The node that contains only this object.
    pub(crate) fn only(&mut self, object: ObjectId) -> NodeId {
        if let Some(&known) = self.singles.get(&object) {
            return known;
        }
        let node = self.heap.node();
        self.heap.add(node, object);
        self.singles.insert(object, node);
        node
    }

    pub(crate) fn instance(&self, instance: InstanceId) -> &Instance {
        &self.instances[instance as usize]
    }

    pub(crate) fn instance_of(
        &mut self,
        class: ClassId,
        method: u32,
        context: ContextId,
        caller: InstanceId,
    ) -> InstanceId {
        let harness = self.instance(caller).harness;
        if let Some(&known) = self.numbers.get(&(class, method, context, harness)) {
            return known;
        }
        let (parameters, result) = shape(&self.classes.method(class, method).descriptor.clone());
        let mut formals = Vec::new();
        if !self.classes.is_static(class, method) {
            formals.push(Some(self.heap.node()));
        }
        formals.extend(parameters.iter().map(|kind| (*kind == b'L').then(|| self.heap.node())));
        let result = (result == Some(b'L')).then(|| self.heap.node());
        let id = self.instances.len() as InstanceId;
        let instance = Instance { class, method, context, harness, formals, result, ..Instance::default() };
        self.instances.push(instance);
        self.numbers.insert((class, method, context, harness), id);
        self.unwalked.push(id);
        id
    }

    pub(crate) fn link(&mut self, caller: InstanceId, callee: InstanceId) {
        let caller = &mut self.instances[caller as usize];
        if caller.callees.insert(callee) {
            caller.ordered.push(callee);
        }
    }

    pub(crate) fn note_write(&mut self, instance: InstanceId, to: Option<NodeId>, pc: u16, field: FieldKey) {
        self.instances[instance as usize].writes.push((to, pc, field));
    }

    pub(crate) fn note_unknown(&mut self, instance: InstanceId, pc: u16, what: String) {
        self.instances[instance as usize].unknown.push((pc, what));
    }

    /// Adds the initializer of a class, which no harness is charged with.
    pub(crate) fn initialise(&mut self, class: ClassId) {
        if !self.classes.class(class).is_analysed || !self.initialised.insert(class) {
            return;
        }
        if let Some(parent) = self.classes.class(class).flow.super_name.clone() {
            let parent = self.classes.load(&parent);
            self.initialise(parent);
        }
        if let Found::Code(owner, index) = self.classes.look_up(class, "<clinit>", "()V")
            && owner == class
        {
            let instance = self.instance_of(class, index, 0, UNKNOWN_CALLER);
            self.link(UNKNOWN_CALLER, instance);
        }
    }

    /// Calls the methods on a result that the driver calls to inspect it.
    fn inspect_result(&mut self, number: u32, object: ObjectId) {
        if object == self.subject || !self.inspected.insert((number, object)) {
            return;
        }
        let (caller, inspected, _) = self.harnesses[number as usize];
        let node = self.only(object);
        let site = self.no_site();
        match self.heap.get(object).kind {
            Kind::Made(class) if self.classes.class(class).name.starts_with('[') => {
                self.use_node(node, Use::Load(ELEMENT, inspected));
            }
            Kind::Made(class) => {
                let mut is_known = false;
                for method in fissure_jdk::result_calls() {
                    let interface = self.classes.load(method.0);
                    if self.classes.is_subtype(class, interface) {
                        is_known = true;
                        self.call_method(caller, 0, site, node, method, Some(inspected));
                    }
                }
                let throwable = self.classes.load("java/lang/Throwable");
                if !is_known && !self.classes.is_subtype(class, throwable) {
                    self.call_to_string(caller, 0, site, node);
                }
            }
            Kind::Unknown => self.note_unknown(caller, 0, "what its result is".to_owned()),
            Kind::Lambda(..) | Kind::Value | Kind::Argument(..) => {}
        }
    }

    /// Unknown code gets an object: it may fill arrays and call public methods of the program's classes.
    fn expose(&mut self, object: ObjectId) {
        if object == self.subject || !self.exposed.insert(object) {
            return;
        }
        let node = self.only(object);
        let site = self.no_site();
        match self.heap.get(object).kind {
            Kind::Made(class) if self.classes.class(class).name.starts_with('[') => {
                self.use_node(node, Use::Store(ELEMENT, self.unknown_node));
            }
            Kind::Made(class) => {
                let name = self.classes.class(class).name.clone();
                for (method, descriptor) in self.classes.public_methods(class) {
                    self.call_method(UNKNOWN_CALLER, 0, site, node, (&name, &method, &descriptor), None);
                }
            }
            Kind::Lambda(class, number) => {
                let flow = self.classes.class(class).flow.clone();
                let dynamic = &flow.dynamics[usize::from(number)];
                if let Some(descriptor) = dynamic.types.first() {
                    self.call_method(
                        UNKNOWN_CALLER,
                        0,
                        site,
                        node,
                        ("java/lang/Object", &dynamic.name, descriptor),
                        None,
                    );
                }
            }
            Kind::Value | Kind::Argument(..) | Kind::Unknown => {}
        }
    }

    /// The objects that exist before a call.
    fn state(&mut self) -> FxHashSet<ObjectId> {
        let statics: Vec<ObjectId> =
            self.statics.values().flat_map(|&node| self.heap.objects_of(node)).collect();
        let unknown = self.heap.special(Kind::Unknown);
        let mut state = self.heap.reachable(statics.into_iter().chain([self.subject, unknown]));
        let value = self.heap.special(Kind::Value);
        state.remove(&value);
        state
    }

    /// The effect of a harness on the state; breadth-first search finds the write closest to the harness.
    fn effect(&self, harness: InstanceId, state: &FxHashSet<ObjectId>) -> Effect {
        let mut waiting = VecDeque::from([harness]);
        let mut seen = FxHashSet::from_iter([harness]);
        let mut unknown = None;
        let (mut acquires, mut releases) = (false, false);
        while let Some(at) = waiting.pop_front() {
            let instance = self.instance(at);
            let writes = instance.writes.iter().filter(|(_, _, field)| !self.is_harmless(instance, *field));
            for (to, pc, field) in writes {
                let is_old = |object: &ObjectId| match self.heap.get(*object).kind {
                    // Among the arguments of harnesses only enumeration constants have fields that code can name.
                    Kind::Argument(..) if *field != ELEMENT && *field != ANY => true,
                    kind => state.contains(object) && !(*field == ELEMENT && kind.is_no_array()),
                };
                let is_old = to.is_none_or(|to| self.heap.objects_of(to).iter().any(is_old));
                if is_old {
                    let what = match *field {
                        ELEMENT => "an array".to_owned(),
                        ANY => "a field".to_owned(),
                        field => self.classes.field_name(field),
                    };
                    return Effect::Writes(format!("{what}{}", self.format_site(instance, *pc)));
                }
            }
            if let Some((pc, what)) = instance.unknown.first() {
                unknown.get_or_insert_with(|| format!("{what}{}", self.format_site(instance, *pc)));
            }
            acquires |= instance.acquires;
            releases |= instance.releases;
            waiting.extend(instance.ordered.iter().copied().filter(|&callee| seen.insert(callee)));
        }
        if acquires != releases {
            return Effect::Writes("a lock, because it does not both acquire and release it".to_owned());
        }
        unknown.map_or(Effect::Reads, Effect::Unknown)
    }

    /// Whether a write in the JDK's collections is unobservable: cached views, and an internal lock.
    fn is_harmless(&self, instance: &Instance, field: FieldKey) -> bool {
        if instance.method == NO_METHOD {
            return false;
        }
        let class = self.classes.class(instance.class);
        let method = &class.flow.methods[instance.method as usize].name;
        let owner = self.classes.field_owner(field).map(|owner| &*self.classes.class(owner).name);
        let name = self.classes.field_name(field);
        let name = name.rsplit_once('.').map_or("", |(_, name)| name);
        !class.is_application
            && (owner.is_some_and(|owner| fissure_jdk::is_cached_view(owner, name))
                || fissure_jdk::has_unobservable_writes(&class.name, method))
    }

    /// A site in words.
    fn format_site(&self, instance: &Instance, pc: u16) -> String {
        if instance.method == NO_METHOD {
            return String::new();
        }
        let class = self.classes.class(instance.class);
        let method = &class.flow.methods[instance.method as usize];
        let name = class.name.rsplit('/').next().unwrap_or_default().replace('$', ".");
        let line = method.body.as_ref().and_then(|body| body.line(pc));
        let line = line.map_or_else(String::new, |line| format!(":{line}"));
        format!(" in {name}.{}{line}", method.name)
    }
}
