//! Builds the alias sets of methods, callees first: calls, lambdas and new objects. `walk` handles the instructions.

use std::rc::Rc;

use fissure_classfile::flow::{InvokeKind, MemberReference, shape, types};
use rustc_hash::{FxHashMap, FxHashSet};

use crate::{
    graph::{ELEMENT, FieldKey, Graph, Level, Node, capture},
    jdk::{self, Effect},
    reach::Reach,
    walk::Walk,
    world::{ClassId, Kind, MethodId, Target, World, handle_kind},
};

/// If more nodes than this are reachable from the parameters of a method, its graph is collapsed before it is copied to callers.
const MOST_NODES: usize = 192;

/// The location of an access.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Accessed {
    /// A field of an object of this node.
    Field(FieldKey, Node),
    /// A static field.
    Static(FieldKey),
    /// An element of an array of this node.
    Element(Node),
    /// A field that could not be resolved.
    Unknown,
}

/// An access in the code of a method.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Site {
    pub(crate) method: MethodId,
    pub(crate) pc: u16,
    pub(crate) accessed: Accessed,
}

/// The graphs of all methods, and the accesses in them.
pub(crate) struct Bodies<'w, 's> {
    pub(crate) world: &'w mut World<'s>,
    pub(crate) reach: &'w mut Reach,
    pub(crate) graph: Graph,
    /// The nodes of the references that each method takes, the receiver first, and of the one that it returns.
    pub(crate) formals: FxHashMap<MethodId, Rc<[Node]>>,
    /// The methods of the component that is being analysed.
    component: FxHashSet<MethodId>,
    /// The nodes that static fields point to.
    pub(crate) statics: FxHashMap<FieldKey, Node>,
    /// All exceptions that are ever thrown.
    pub(crate) thrown: Node,
    pub(crate) sites: Vec<Site>,
    /// Reads of fields that hold references: the object and the field.
    pub(crate) loads: Vec<(Node, FieldKey)>,
    /// The objects that are created, with their classes; objects of described JDK classes are left out.
    pub(crate) made: Vec<(ClassId, Node)>,
}

impl<'w, 's> Bodies<'w, 's> {
    pub(crate) fn new(world: &'w mut World<'s>, reach: &'w mut Reach) -> Self {
        let mut graph = Graph::default();
        let thrown = graph.node();
        graph.make_global(thrown);
        Bodies {
            world,
            reach,
            graph,
            formals: FxHashMap::default(),
            component: FxHashSet::default(),
            statics: FxHashMap::default(),
            thrown,
            sites: Vec::new(),
            loads: Vec::new(),
            made: Vec::new(),
        }
    }

    /// Analyses one strongly connected component; all other callees were analysed before.
    pub(crate) fn analyse_component(&mut self, methods: &[MethodId]) {
        self.component = methods.iter().copied().collect();
        for &method in methods {
            let info = self.world.method(method).clone();
            let references = usize::from(!info.is_static)
                + info.parameters.iter().filter(|kind| **kind == b'L').count()
                + usize::from(info.returns_reference);
            let formals: Rc<[Node]> = (0..references).map(|_| self.graph.node()).collect();
            self.formals.insert(method, formals);
        }
        for &method in methods {
            let info = self.world.method(method).clone();
            match info.index {
                Some(index) => {
                    let flow = self.world.class(info.class).flow.clone();
                    if let Some(body) = &flow.methods[index as usize].body {
                        let class = info.class;
                        Walk { bodies: self, method, class, flow: &flow, body, is_flat: false }.run();
                    }
                }
                None => self.lambda_body(method, info.class),
            }
        }
        for &method in methods {
            let formals = self.formals[&method].clone();
            if self.graph.reaches_more_than(&formals, MOST_NODES) {
                self.graph.collapse(&formals, MOST_NODES);
            }
        }
    }

    /// The object that a lambda expression creates.
    pub(crate) fn lambda_object(&mut self, class: ClassId, captured: &[Option<Node>]) -> Node {
        let object = self.object(class);
        for (number, value) in captured.iter().enumerate() {
            if let Some(value) = value {
                let field = self.graph.field(object, capture(number));
                self.graph.unify(field, *value);
            }
        }
        object
    }

    /// The body of a lambda object's method: it calls the lambda's code with the captured values and the arguments.
    fn lambda_body(&mut self, method: MethodId, class: ClassId) {
        let Some(lambda) = self.world.class(class).lambda.clone() else { return };
        let info = self.world.method(method).clone();
        let formals = self.formals[&method].clone();
        let (captured, _) = shape(&lambda.captured);
        let mut values = Vec::new();
        for (number, kind) in captured.iter().enumerate() {
            values.push((*kind == b'L').then(|| self.graph.field(formals[0], capture(number))));
        }
        let mut next = 1;
        for kind in info.parameters.iter() {
            let is_reference = *kind == b'L';
            values.push(is_reference.then(|| formals[next]));
            next += usize::from(is_reference);
        }
        let result = if info.returns_reference { formals[next] } else { self.graph.node() };
        let reference = &lambda.handle.target;
        let Some(kind) = handle_kind(&lambda.handle) else {
            for value in values.into_iter().flatten().chain([formals[0], result]) {
                self.graph.raise(value, Level::Exposed);
            }
            return;
        };
        if lambda.handle.kind == 8 {
            let class = self.world.load(&reference.class);
            let object = self.object(class);
            self.graph.unify(object, result);
            values.insert(0, Some(object));
        }
        self.call(kind, reference, &values, Some(result));
    }

    /// A new object.
    pub(crate) fn object(&mut self, class: ClassId) -> Node {
        let object = self.graph.node();
        match self.world.class(class).kind {
            Kind::Jdk => return object,
            Kind::Missing => {
                self.graph.raise(object, Level::Exposed);
                return object;
            }
            Kind::Application | Kind::Outer | Kind::Inner => {}
        }
        if self.world.has_missing_supertype(class) {
            self.graph.raise(object, Level::Exposed);
        }
        self.made.push((class, object));
        // The JDK throws exceptions that it was references or that its callees created, and returns exceptions that it caught.
        if self.world.is_throwable(class) {
            let thrown = self.thrown;
            self.graph.unify(object, thrown);
        }
        let callbacks = self.reach.callbacks(self.world, class);
        for &method in callbacks.iter() {
            let info = self.world.method(method).clone();
            // The finalizer runs in another thread.
            let declaring = self.world.class(info.class).flow.clone();
            if info.index.is_some_and(|index| declaring.methods[index as usize].name == "finalize") {
                self.graph.raise(object, Level::Shared);
            }
            let formals = self.formals.get(&method).map_or(0, |formals| formals.len());
            self.enter(method, &vec![object; formals]);
        }
        object
    }

    /// Applies a method's effects to the actual arguments, its result last.
    fn enter(&mut self, method: MethodId, actuals: &[Node]) {
        let Some(formals) = self.formals.get(&method).cloned() else {
            debug_assert!(false, "a callee was not analysed before its caller");
            return;
        };
        if self.component.contains(&method) {
            for (&formal, &actual) in formals.iter().zip(actuals) {
                self.graph.unify(formal, actual);
            }
        } else {
            self.graph.instantiate(&formals, actuals);
        }
    }

    /// A call with values for the receiver, if there is one, and each parameter; primitive values have no node.
    pub(crate) fn call(
        &mut self,
        kind: InvokeKind,
        reference: &MemberReference,
        values: &[Option<Node>],
        result: Option<Node>,
    ) {
        let is_static = kind == InvokeKind::Static;
        let (parameters, result_kind) = shape(&reference.descriptor);
        let mut are_references = Vec::new();
        if !is_static {
            are_references.push(true);
        }
        are_references.extend(parameters.iter().map(|kind| *kind == b'L'));
        let mut references = Vec::new();
        for (number, is_reference) in are_references.into_iter().enumerate() {
            if is_reference {
                // A primitive value that a lambda boxes becomes a new object.
                let value = values.get(number).copied().flatten();
                references.push(value.unwrap_or_else(|| self.graph.node()));
            }
        }
        let returns = result_kind == Some(b'L');
        let mut actuals = references.clone();
        if returns {
            actuals.push(result.unwrap_or_else(|| self.graph.node()));
        }
        // The receiver may be an object of an unknown class.
        if self.reach.is_open && matches!(kind, InvokeKind::Virtual | InvokeKind::Interface) {
            self.expose(&actuals);
        }
        for target in self.reach.all_targets(self.world, kind, reference) {
            match target {
                Target::Method(method) => {
                    let count = self.formals.get(&method).map_or(0, |formals| formals.len());
                    if count == actuals.len() {
                        self.enter(method, &actuals);
                    } else {
                        self.expose(&actuals);
                    }
                }
                Target::Native | Target::Unknown => self.expose(&actuals),
                Target::Jdk(class) => {
                    let (name, effect) = if reference.class.starts_with('[') {
                        let effect = jdk::effect(&reference.class, &reference.name, &reference.descriptor);
                        (reference.class.as_str().into(), effect)
                    } else {
                        let effect = self.world.effect(class, &reference.name, &reference.descriptor);
                        (self.world.class(class).name.clone(), effect)
                    };
                    self.jdk_call(&name, reference, effect, !is_static, &actuals);
                }
                Target::Abstract => {}
            }
        }
    }

    pub(crate) fn expose(&mut self, nodes: &[Node]) {
        for &node in nodes {
            self.graph.raise(node, Level::Exposed);
        }
    }

    fn jdk_call(
        &mut self,
        class: &str,
        reference: &MemberReference,
        effect: Effect,
        has_receiver: bool,
        actuals: &[Node],
    ) {
        if class == "java/lang/System" && reference.name == "arraycopy" {
            if let [from, to] = *actuals {
                self.loads.push((from, ELEMENT));
                let (from, to) = (self.graph.field(from, ELEMENT), self.graph.field(to, ELEMENT));
                self.graph.unify(from, to);
            }
            return;
        }
        // Character coders of the program get the arrays without a copy.
        let uses_own_coders = fissure_jdk::uses_coders(class, &reference.name)
            && self.world.extended.contains("java/nio/charset/Charset");
        let effect = if uses_own_coders { jdk::EXPOSES } else { effect };
        let (parameters, result) = types(&reference.descriptor);
        let receiver = format!("L{class};");
        let mut declared: Vec<&str> = if has_receiver { vec![receiver.as_str()] } else { Vec::new() };
        declared.extend(parameters.into_iter().chain([result]).filter(|text| text.starts_with(['L', '['])));
        if !effect.links && effect.level == Level::Local && !self.may_call_program(class, &reference.name) {
            // Methods that print or hash an array read its elements.
            for (&node, descriptor) in actuals.iter().zip(&declared) {
                if descriptor.starts_with("[L") || descriptor.starts_with("[[") {
                    self.loads.push((node, ELEMENT));
                }
            }
            // Methods of print streams return their receiver.
            if let (true, [receiver, .., result]) = (result.starts_with("Ljava/io/Print"), actuals) {
                self.graph.unify(*receiver, *result);
            }
            return;
        }
        let takes_arrays = fissure_jdk::may_take_arrays(class, &reference.name);
        let mut first = None;
        for (&node, descriptor) in actuals.iter().zip(declared) {
            // Types such as `Lock` are not inert if the program implements them.
            if self.is_inert(descriptor) {
                continue;
            }
            if descriptor.starts_with('[') || takes_arrays && descriptor == "Ljava/lang/Object;" {
                self.loads.push((node, ELEMENT));
                let element = self.graph.field(node, ELEMENT);
                self.graph.unify(node, element);
            }
            if jdk::is_throwable(descriptor) {
                let thrown = self.thrown;
                self.graph.unify(node, thrown);
            }
            match first {
                Some(first) => self.graph.unify(first, node),
                None => first = Some(node),
            }
        }
        if let Some(node) = first {
            self.graph.raise(node, effect.level);
        }
    }

    /// Whether a method of the JDK may keep references although its row says otherwise, because it calls classes of the
    /// program: streams of random numbers call the program's own generator.
    fn may_call_program(&self, class: &str, method: &str) -> bool {
        let extended = &self.world.extended;
        let formats = class.starts_with("java/io/Print") && matches!(method, "printf" | "format");
        extended.contains(class) && !fissure_jdk::holds_for_subclasses(class)
            || formats && extended.contains("java/util/Formattable")
    }

    /// Whether objects of this type never reference objects of the program.
    pub(crate) fn is_inert(&self, descriptor: &str) -> bool {
        !descriptor.starts_with(['L', '['])
            || jdk::is_inert(descriptor, |name| self.world.extended.contains(name))
    }

    /// The node that a static field points to.
    pub(crate) fn static_field(&mut self, key: FieldKey) -> Node {
        if let Some(&known) = self.statics.get(&key) {
            return known;
        }
        let node = self.graph.node();
        self.graph.make_global(node);
        self.statics.insert(key, node);
        node
    }
}
