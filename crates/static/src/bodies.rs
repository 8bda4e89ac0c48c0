//! From method bodies to alias sets: one pass over the instructions of each method, callees first.

use std::rc::Rc;

use fissure_classfile::flow::{
    FlowBody, FlowClass, FlowInstruction, InvokeKind, MemberReference, Operation, shape, types,
};
use rustc_hash::{FxHashMap, FxHashSet};

use crate::{
    graph::{ELEMENT, FieldKey, Graph, Level, Node, capture},
    jdk,
    reach::{Linked, Reach, linked},
    world::{ClassId, FieldTarget, Kind, MethodId, Target, World, handle_kind},
};

/// A method whose parameters lead to more than this is not told in detail to its callers.
const MOST_NODES: usize = 192;

/// What an access goes to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Accessed {
    /// A field of an object of this node.
    Field(FieldKey, Node),
    /// A static field.
    Static(FieldKey),
    /// An element of an array of this node.
    Element(Node),
    /// A field of something that is not known.
    Unknown,
}

/// An access in the code of a method.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Site {
    pub(crate) method: MethodId,
    pub(crate) pc: u16,
    pub(crate) accessed: Accessed,
}

/// The graphs of all methods, and what they were found to do.
pub(crate) struct Bodies<'w, 's> {
    pub(crate) world: &'w mut World<'s>,
    pub(crate) reach: &'w mut Reach,
    pub(crate) graph: Graph,
    /// The references that each method takes, the receiver first, and the one that it returns.
    pub(crate) formals: FxHashMap<MethodId, Rc<[Node]>>,
    /// Those that are analysed together.
    together: FxHashSet<MethodId>,
    /// What static fields lead to.
    pub(crate) statics: FxHashMap<FieldKey, Node>,
    /// Everything that is ever thrown.
    pub(crate) thrown: Node,
    pub(crate) sites: Vec<Site>,
    /// Of which objects which references are read.
    pub(crate) loads: Vec<(Node, FieldKey)>,
    /// Objects of the program's classes, where they are made.
    pub(crate) made: Vec<(ClassId, Node)>,
}

/// The state before an instruction: local variables, then the stack. Only references have nodes.
#[derive(Debug, Clone)]
struct State {
    locals: Vec<Option<Node>>,
    stack: Vec<Option<Node>>,
}

impl State {
    fn pop(&mut self) -> Option<Node> {
        self.stack.pop().flatten()
    }

    fn pops(&mut self, count: usize) {
        let left = self.stack.len().saturating_sub(count);
        self.stack.truncate(left);
    }

    fn pushes(&mut self, count: usize) {
        self.stack.extend(std::iter::repeat_n(None, count));
    }
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
            together: FxHashSet::default(),
            statics: FxHashMap::default(),
            thrown,
            sites: Vec::new(),
            loads: Vec::new(),
            made: Vec::new(),
        }
    }

    /// Analyses methods that call each other; all others that they call have been analysed before.
    pub(crate) fn component(&mut self, methods: &[MethodId]) {
        self.together = methods.iter().copied().collect();
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
                        Walk { bodies: self, method, class: info.class, flow: &flow, body }.run();
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

    /// The object that a lambda expression makes.
    fn lambda_object(&mut self, class: ClassId, captured: &[Option<Node>]) -> Node {
        let object = self.object(class);
        for (number, value) in captured.iter().enumerate() {
            if let Some(value) = value {
                let place = self.graph.field(object, capture(number));
                self.graph.unify(place, *value);
            }
        }
        object
    }

    /// What a lambda's object does: it calls its code with what was captured and what it is given.
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
    fn object(&mut self, class: ClassId) -> Node {
        let object = self.graph.node();
        match self.world.class(class).kind {
            Kind::Jdk => return object,
            Kind::Missing => {
                self.graph.raise(object, Level::Exposed);
                return object;
            }
            Kind::Application => {}
        }
        if self.world.has_missing_supertype(class) {
            self.graph.raise(object, Level::Exposed);
        }
        self.made.push((class, object));
        let callbacks = self.reach.callbacks(self.world, class);
        for &method in callbacks.iter() {
            let info = self.world.method(method).clone();
            // Another thread collects what is not needed any more.
            let declaring = self.world.class(info.class).flow.clone();
            if info.index.is_some_and(|index| declaring.methods[index as usize].name == "finalize") {
                self.graph.raise(object, Level::Shared);
            }
            let formals = self.formals.get(&method).map_or(0, |formals| formals.len());
            self.enter(method, &vec![object; formals]);
        }
        object
    }

    /// Tells a method's effects on what it is given, its result last.
    fn enter(&mut self, method: MethodId, actuals: &[Node]) {
        let Some(formals) = self.formals.get(&method).cloned() else {
            debug_assert!(false, "callees come first");
            return;
        };
        if self.together.contains(&method) {
            for (&formal, &actual) in formals.iter().zip(actuals) {
                self.graph.unify(formal, actual);
            }
        } else {
            self.graph.instantiate(&formals, actuals);
        }
    }

    /// A call with values for the receiver, if there is one, and each parameter; numbers have no node.
    fn call(
        &mut self,
        kind: InvokeKind,
        reference: &MemberReference,
        values: &[Option<Node>],
        result: Option<Node>,
    ) {
        let is_static = kind == InvokeKind::Static;
        let (parameters, result_kind) = shape(&reference.descriptor);
        let mut wanted = Vec::new();
        if !is_static {
            wanted.push(true);
        }
        wanted.extend(parameters.iter().map(|kind| *kind == b'L'));
        let mut given = Vec::new();
        for (number, is_reference) in wanted.into_iter().enumerate() {
            if is_reference {
                // A number that a lambda boxes becomes a new object.
                let value = values.get(number).copied().flatten();
                given.push(value.unwrap_or_else(|| self.graph.node()));
            }
        }
        let returns = result_kind == Some(b'L');
        let mut actuals = given.clone();
        if returns {
            actuals.push(result.unwrap_or_else(|| self.graph.node()));
        }
        // Objects of classes that are not known may be among the receivers.
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
                    let name = if reference.class.starts_with('[') {
                        reference.class.as_str().into()
                    } else {
                        self.world.class(class).name.clone()
                    };
                    self.jdk_call(&name, reference, !is_static, &actuals);
                }
                Target::Abstract => {}
            }
        }
    }

    fn expose(&mut self, nodes: &[Node]) {
        for &node in nodes {
            self.graph.raise(node, Level::Exposed);
        }
    }

    fn jdk_call(&mut self, class: &str, reference: &MemberReference, has_receiver: bool, actuals: &[Node]) {
        if class == "java/lang/System" && reference.name == "arraycopy" {
            if let [from, to] = *actuals {
                self.loads.push((from, ELEMENT));
                let (from, to) = (self.graph.field(from, ELEMENT), self.graph.field(to, ELEMENT));
                self.graph.unify(from, to);
            }
            return;
        }
        let effect = jdk::effect(class, &reference.name, &reference.descriptor);
        // What prints may be the program's own, and gives itself back.
        let is_own = class.starts_with("java/io/Print") && self.world.extended.contains(class);
        if !effect.links && effect.level == Level::Local && !is_own {
            return;
        }
        let (parameters, result) = types(&reference.descriptor);
        let receiver = format!("L{class};");
        let mut declared: Vec<&str> = if has_receiver { vec![receiver.as_str()] } else { Vec::new() };
        declared.extend(parameters.into_iter().chain([result]).filter(|text| text.starts_with(['L', '['])));
        let mut first = None;
        for (&node, descriptor) in actuals.iter().zip(declared) {
            // Objects of the program that are of a type like `CharSequence` count.
            if self.is_inert(descriptor) {
                continue;
            }
            if descriptor.starts_with('[') {
                self.loads.push((node, ELEMENT));
                let element = self.graph.field(node, ELEMENT);
                self.graph.unify(node, element);
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

    /// Whether what has this type leads to nothing of the program.
    fn is_inert(&self, descriptor: &str) -> bool {
        !descriptor.starts_with(['L', '['])
            || jdk::is_inert(descriptor).is_some_and(|name| !self.world.extended.contains(name))
    }

    /// What a static field leads to.
    fn static_field(&mut self, key: FieldKey) -> Node {
        if let Some(&known) = self.statics.get(&key) {
            return known;
        }
        let node = self.graph.node();
        self.graph.make_global(node);
        self.statics.insert(key, node);
        node
    }
}

/// The pass over one method.
struct Walk<'b, 'w, 's, 'f> {
    bodies: &'b mut Bodies<'w, 's>,
    method: MethodId,
    class: ClassId,
    flow: &'f Rc<FlowClass>,
    body: &'f FlowBody,
}

impl Walk<'_, '_, '_, '_> {
    fn run(&mut self) {
        let body = self.body;
        let count = body.instructions.len();
        let mut is_label = vec![false; count];
        body.targets.iter().for_each(|&target| is_label[target as usize] = true);
        body.handlers.iter().for_each(|handler| is_label[handler[2] as usize] = true);
        // A subroutine goes back to after any of its calls.
        let after_calls: Vec<usize> = (0..count)
            .filter(|&index| body.instructions[index].operation == Operation::Subroutine)
            .map(|index| index + 1)
            .filter(|&index| index < count)
            .collect();
        after_calls.iter().for_each(|&index| is_label[index] = true);

        let mut entries: Vec<Option<State>> = vec![None; count];
        let mut is_done = vec![false; count];
        let mut waiting = vec![(0, self.entry())];
        while let Some((start, state)) = waiting.pop() {
            let mut index = start;
            let mut state = state;
            loop {
                if is_label[index] {
                    match &entries[index] {
                        Some(known) => self.merge(known, &state),
                        None => entries[index] = Some(state.clone()),
                    }
                }
                if std::mem::replace(&mut is_done[index], true) {
                    break;
                }
                for &[first, end, handler] in &body.handlers {
                    if (first as usize..end as usize).contains(&index) {
                        let thrown =
                            State { locals: state.locals.clone(), stack: vec![Some(self.bodies.thrown)] };
                        self.arrive(handler as usize, thrown, &mut entries, &mut waiting);
                    }
                }
                let instruction = body.instructions[index];
                self.step(instruction, &mut state);
                let (from, to) = instruction.targets;
                for &target in &body.targets[from as usize..to as usize] {
                    self.arrive(target as usize, state.clone(), &mut entries, &mut waiting);
                }
                if instruction.operation == Operation::SubroutineEnd {
                    for &target in &after_calls {
                        self.arrive(target, state.clone(), &mut entries, &mut waiting);
                    }
                }
                index += 1;
                if !instruction.falls_through || index >= count {
                    break;
                }
            }
        }
    }

    fn entry(&mut self) -> State {
        let info = self.bodies.world.method(self.method).clone();
        let mut formals = self.bodies.formals[&self.method].iter().copied();
        let mut locals = Vec::new();
        if !info.is_static {
            locals.push(formals.next());
        }
        for kind in info.parameters.iter() {
            match kind {
                b'L' => locals.push(formals.next()),
                b'2' => locals.extend([None, None]),
                _ => locals.push(None),
            }
        }
        locals.resize(locals.len().max(usize::from(self.body.max_locals)), None);
        State { locals, stack: Vec::new() }
    }

    /// A jump: what is there already is put together with what comes.
    fn arrive(
        &mut self,
        target: usize,
        state: State,
        entries: &mut [Option<State>],
        waiting: &mut Vec<(usize, State)>,
    ) {
        match &entries[target] {
            Some(known) => self.merge(known, &state),
            None => {
                entries[target] = Some(state.clone());
                waiting.push((target, state));
            }
        }
    }

    fn merge(&mut self, known: &State, state: &State) {
        let pairs = known.locals.iter().zip(&state.locals).chain(known.stack.iter().zip(&state.stack));
        for (known, new) in pairs {
            if let (Some(known), Some(new)) = (known, new) {
                self.bodies.graph.unify(*known, *new);
            }
        }
    }

    fn site(&mut self, instruction: FlowInstruction, accessed: Accessed) {
        self.bodies.sites.push(Site { method: self.method, pc: instruction.pc, accessed });
    }

    fn step(&mut self, instruction: FlowInstruction, state: &mut State) {
        match instruction.operation {
            Operation::Plain { pops, pushes } => {
                state.pops(usize::from(pops));
                state.pushes(usize::from(pushes));
            }
            Operation::Stack(opcode) => move_slots(opcode, &mut state.stack),
            Operation::Load(slot) => {
                let value = state.locals.get(usize::from(slot)).copied().flatten();
                state.stack.push(value);
            }
            Operation::Store(slot) => {
                let value = state.pop();
                if let Some(place) = state.locals.get_mut(usize::from(slot)) {
                    *place = value;
                }
            }
            Operation::Overwrite { slot, slots } => {
                state.pops(usize::from(slots));
                for place in state.locals.iter_mut().skip(usize::from(slot)).take(usize::from(slots)) {
                    *place = None;
                }
            }
            Operation::Constant => {
                let node = self.bodies.graph.node();
                state.stack.push(Some(node));
            }
            Operation::UnknownConstant(slots) => {
                let node = self.bodies.graph.node();
                self.bodies.graph.raise(node, Level::Exposed);
                if slots == 1 {
                    state.stack.push(Some(node));
                } else {
                    state.pushes(2);
                }
            }
            Operation::New(name) => {
                let class = self.bodies.world.load(&self.flow.classes[usize::from(name)]);
                let object = self.bodies.object(class);
                state.stack.push(Some(object));
            }
            Operation::NewArray(dimensions) => {
                state.pops(usize::from(dimensions));
                let node = self.bodies.graph.node();
                state.stack.push(Some(node));
            }
            Operation::LoadElement(is_reference, slots) => {
                state.pops(1);
                let array = self.reference(state);
                self.site(instruction, Accessed::Element(array));
                if is_reference {
                    self.bodies.loads.push((array, ELEMENT));
                    let element = self.bodies.graph.field(array, ELEMENT);
                    state.stack.push(Some(element));
                } else {
                    state.pushes(usize::from(slots));
                }
            }
            Operation::StoreElement(is_reference, slots) => {
                let value = if is_reference { state.pop() } else { None };
                state.pops(if is_reference { 1 } else { usize::from(slots) + 1 });
                let array = self.reference(state);
                self.site(instruction, Accessed::Element(array));
                if let Some(value) = value {
                    let element = self.bodies.graph.field(array, ELEMENT);
                    self.bodies.graph.unify(element, value);
                }
            }
            Operation::GetField(number) | Operation::PutField(number) => {
                self.field(instruction, number, state);
            }
            Operation::GetStatic(number) | Operation::PutStatic(number) => {
                self.static_field(instruction, number, state);
            }
            Operation::Invoke(kind, number) => {
                let flow = self.flow.clone();
                let reference = &flow.method_references[usize::from(number)];
                let values = self.arguments(&reference.descriptor, kind != InvokeKind::Static, state);
                let result = self.result(&reference.descriptor, state);
                self.bodies.call(kind, reference, &values, result);
            }
            Operation::InvokeDynamic(number) => self.dynamic(number, state),
            Operation::Cast(_) => {}
            Operation::Throw => {
                if let Some(value) = state.pop() {
                    let thrown = self.bodies.thrown;
                    self.bodies.graph.unify(thrown, value);
                }
            }
            Operation::ReturnReference => {
                let result = self.bodies.formals[&self.method].last().copied();
                if let (Some(value), Some(result)) = (state.pop(), result) {
                    self.bodies.graph.unify(value, result);
                }
            }
            Operation::Return | Operation::SubroutineEnd => {}
            Operation::Subroutine => state.stack.push(None),
        }
    }

    /// The reference on top of the stack.
    fn reference(&mut self, state: &mut State) -> Node {
        state.pop().unwrap_or_else(|| self.bodies.graph.node())
    }

    /// Takes a call's arguments from the stack, the receiver included.
    fn arguments(&mut self, descriptor: &str, has_receiver: bool, state: &mut State) -> Vec<Option<Node>> {
        let (parameters, _) = shape(descriptor);
        let mut values = Vec::new();
        for kind in parameters.iter().rev() {
            match kind {
                b'L' => values.push(Some(self.reference(state))),
                b'2' => {
                    state.pops(2);
                    values.push(None);
                }
                _ => {
                    state.pops(1);
                    values.push(None);
                }
            }
        }
        if has_receiver {
            values.push(Some(self.reference(state)));
        }
        values.reverse();
        values
    }

    /// Puts a call's result on the stack.
    fn result(&mut self, descriptor: &str, state: &mut State) -> Option<Node> {
        match shape(descriptor).1 {
            Some(b'L') => {
                let node = self.bodies.graph.node();
                state.stack.push(Some(node));
                Some(node)
            }
            Some(b'2') => {
                state.pushes(2);
                None
            }
            Some(_) => {
                state.pushes(1);
                None
            }
            None => None,
        }
    }

    fn dynamic(&mut self, number: u16, state: &mut State) {
        let flow = self.flow.clone();
        let dynamic = &flow.dynamics[usize::from(number)];
        let values = self.arguments(&dynamic.descriptor, false, state);
        let result = self.result(&dynamic.descriptor, state);
        match linked(self.bodies.world, self.class, &flow, number) {
            Linked::Lambda(class) => {
                let object = self.bodies.lambda_object(class, &values);
                if let Some(result) = result {
                    self.bodies.graph.unify(result, object);
                }
            }
            Linked::Harmless => {}
            // The components of two records are compared one by one.
            Linked::Record => {
                let mut all = values.into_iter().flatten();
                if let Some(first) = all.next() {
                    all.for_each(|other| self.bodies.graph.unify(first, other));
                }
            }
            Linked::Unknown => {
                let all: Vec<Node> = values.into_iter().flatten().chain(result).collect();
                self.bodies.expose(&all);
            }
        }
    }

    fn field(&mut self, instruction: FlowInstruction, number: u16, state: &mut State) {
        let reference = &self.flow.field_references[usize::from(number)];
        let is_write = matches!(instruction.operation, Operation::PutField(_));
        let kind = shape(&format!("({})V", reference.descriptor)).0.first().copied().unwrap_or(b'1');
        let slots = if kind == b'2' { 2 } else { 1 };
        let value = match (is_write, kind) {
            (true, b'L') => state.pop(),
            (true, _) => {
                state.pops(slots);
                None
            }
            (false, _) => None,
        };
        let object = self.reference(state);
        let class = self.bodies.world.load(&reference.class);
        let target = self.bodies.world.field(class, &reference.name, &reference.descriptor);
        let is_followed = !self.bodies.is_inert(&reference.descriptor);
        let place = match target {
            FieldTarget::Known(key) => {
                self.site(instruction, Accessed::Field(key, object));
                if is_followed && !is_write {
                    self.bodies.loads.push((object, key));
                }
                if is_followed { self.bodies.graph.field(object, key) } else { self.bodies.graph.node() }
            }
            // The JDK's objects and what they keep are one.
            FieldTarget::Jdk if is_followed => object,
            FieldTarget::Jdk => self.bodies.graph.node(),
            FieldTarget::Unknown => {
                self.site(instruction, Accessed::Unknown);
                self.bodies.graph.raise(object, Level::Exposed);
                object
            }
        };
        if is_write {
            if let Some(value) = value.filter(|_| is_followed) {
                self.bodies.graph.unify(place, value);
            }
        } else if kind == b'L' {
            state.stack.push(Some(place));
        } else {
            state.pushes(slots);
        }
    }

    fn static_field(&mut self, instruction: FlowInstruction, number: u16, state: &mut State) {
        let reference = &self.flow.field_references[usize::from(number)];
        let is_write = matches!(instruction.operation, Operation::PutStatic(_));
        let kind = shape(&format!("({})V", reference.descriptor)).0.first().copied().unwrap_or(b'1');
        let slots = if kind == b'2' { 2 } else { 1 };
        let class = self.bodies.world.load(&reference.class);
        let target = self.bodies.world.field(class, &reference.name, &reference.descriptor);
        let is_followed = !self.bodies.is_inert(&reference.descriptor);
        let place = match target {
            FieldTarget::Known(key) => {
                self.site(instruction, Accessed::Static(key));
                if is_followed { self.bodies.static_field(key) } else { self.bodies.graph.node() }
            }
            FieldTarget::Jdk | FieldTarget::Unknown => {
                let node = self.bodies.graph.node();
                let level = if target == FieldTarget::Jdk { Level::Shared } else { Level::Exposed };
                if is_followed {
                    self.bodies.graph.raise(node, level);
                }
                node
            }
        };
        match (is_write, kind) {
            (true, b'L') => {
                if let Some(value) = state.pop().filter(|_| is_followed) {
                    self.bodies.graph.unify(place, value);
                }
            }
            (true, _) => state.pops(slots),
            (false, b'L') => state.stack.push(Some(place)),
            (false, _) => state.pushes(slots),
        }
    }
}

/// The instructions from `pop` to `swap`, on slots.
fn move_slots(opcode: u8, stack: &mut Vec<Option<Node>>) {
    let mut pop = || stack.pop().flatten();
    match opcode {
        87 => {
            pop();
        }
        88 => {
            pop();
            pop();
        }
        89..=91 => {
            let top = pop();
            let below: Vec<_> = (0..opcode - 89).map(|_| pop()).collect();
            stack.push(top);
            stack.extend(below.into_iter().rev());
            stack.push(top);
        }
        92..=94 => {
            let (top, second) = (pop(), pop());
            let below: Vec<_> = (0..opcode - 92).map(|_| pop()).collect();
            stack.extend([second, top]);
            stack.extend(below.into_iter().rev());
            stack.extend([second, top]);
        }
        _ => {
            let (top, second) = (pop(), pop());
            stack.extend([top, second]);
        }
    }
}
