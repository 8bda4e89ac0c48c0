//! One pass over the instructions of a method: tracks the nodes on the stack and in local variables, and adds constraints.
//!
//! Where branches join, values flow into new nodes, so that earlier values of a variable do not flow into later ones.

use std::rc::Rc;

use fissure_classfile::{
    AccessFlags,
    flow::{FlowBody, FlowClass, FlowInstruction, InvokeKind, Operation, shape},
};

use super::{
    Analysis, InstanceId,
    calls::Call,
    classes::{ClassId, ELEMENT},
    heap::{ContextId, Kind, NodeId, Object, Site, Use},
};
use crate::frame::{Argument, State};

/// The pass over one method in one context.
pub(crate) struct Body<'a, 's> {
    pub(crate) analysis: &'a mut Analysis<'s>,
    pub(crate) instance: InstanceId,
    pub(crate) class: ClassId,
    pub(crate) method: u32,
    pub(crate) context: ContextId,
    pub(crate) flow: Rc<FlowClass>,
    /// The last class and string constants in the code, which are the arguments of a lookup of a handle.
    pub(crate) named: (Option<u16>, Option<u16>),
}

impl Body<'_, '_> {
    pub(crate) fn run(&mut self) {
        let flow = self.flow.clone();
        let Some(body) = &flow.methods[self.method as usize].body else { return };
        let count = body.instructions.len();
        if body.instructions.iter().any(|one| one.operation == Operation::Subroutine) {
            self.unknown(0, "what the subroutines of an old compiler do".to_owned());
            return;
        }
        let mut is_label = vec![false; count];
        body.targets.iter().for_each(|&target| is_label[target as usize] = true);
        body.handlers.iter().for_each(|handler| is_label[handler[2] as usize] = true);
        let mut entries: Vec<Option<State>> = vec![None; count];
        let mut is_done = vec![false; count];
        let mut waiting = vec![(0, self.entry(body))];
        while let Some((start, mut state)) = waiting.pop() {
            let mut index = start;
            let mut thrown_from: Option<Vec<Option<NodeId>>> = None;
            loop {
                if is_label[index] {
                    state = self.join(index, &state, &mut entries);
                }
                if std::mem::replace(&mut is_done[index], true) {
                    break;
                }
                if thrown_from.as_ref() != Some(&state.locals) || is_label[index] || starts_range(body, index)
                {
                    for &[first, end, handler] in &body.handlers {
                        if (first as usize..end as usize).contains(&index) {
                            let thrown = self.analysis.thrown;
                            let state = State { locals: state.locals.clone(), stack: vec![Some(thrown)] };
                            self.arrive(handler as usize, &state, &mut entries, &mut waiting);
                        }
                    }
                    thrown_from = Some(state.locals.clone());
                }
                let instruction = body.instructions[index];
                self.step(index as u32, instruction, body, &mut state);
                let (from, to) = instruction.targets;
                for &target in &body.targets[from as usize..to as usize] {
                    self.arrive(target as usize, &state, &mut entries, &mut waiting);
                }
                index += 1;
                if !instruction.falls_through || index >= count {
                    break;
                }
            }
        }
    }

    fn entry(&mut self, body: &FlowBody) -> State {
        let method = self.analysis.classes.method(self.class, self.method);
        let (parameters, _) = shape(&method.descriptor.clone());
        let mut formals = self.analysis.instance(self.instance).formals.clone().into_iter();
        let mut locals = Vec::new();
        if !self.analysis.classes.is_static(self.class, self.method) {
            locals.push(formals.next().flatten());
        }
        for kind in parameters {
            locals.push(formals.next().flatten());
            if kind == b'2' {
                locals.push(None);
            }
        }
        locals.resize(locals.len().max(usize::from(body.max_locals)), None);
        State { locals, stack: Vec::new() }
    }

    /// Joins the current state into the one at a label; returns the joined state.
    fn join(&mut self, index: usize, state: &State, entries: &mut [Option<State>]) -> State {
        if entries[index].is_none() {
            let under_construction = self.under_construction();
            let mut fresh = |list: &[Option<NodeId>]| -> Vec<Option<NodeId>> {
                let node = |slot: &Option<NodeId>| {
                    if *slot == under_construction { *slot } else { slot.map(|_| self.analysis.heap.node()) }
                };
                list.iter().map(node).collect()
            };
            entries[index] = Some(State { locals: fresh(&state.locals), stack: fresh(&state.stack) });
        }
        let known = entries[index].clone().unwrap_or_else(|| state.clone());
        let pairs = state.locals.iter().zip(&known.locals).chain(state.stack.iter().zip(&known.stack));
        for (new, known) in pairs {
            if let (Some(new), Some(known)) = (new, known) {
                if new != known && Some(*known) == self.under_construction() {
                    self.unknown(0, "what a constructor does that overwrites `this`".to_owned());
                }
                self.analysis.connect(*new, *known, None);
            }
        }
        known
    }

    /// In a constructor, the object under construction, which no other code has yet.
    fn under_construction(&self) -> Option<NodeId> {
        let is_constructor = self.flow.methods[self.method as usize].name == "<init>";
        let receiver = self.analysis.instance(self.instance).formals.first().copied().flatten();
        receiver.filter(|_| is_constructor)
    }

    fn arrive(
        &mut self,
        target: usize,
        state: &State,
        entries: &mut [Option<State>],
        waiting: &mut Vec<(usize, State)>,
    ) {
        let is_new = entries[target].is_none();
        let joined = self.join(target, state, entries);
        if is_new {
            waiting.push((target, joined));
        }
    }

    fn site(&self, instruction: FlowInstruction) -> Site {
        Site { class: self.class, method: self.method, pc: instruction.pc }
    }

    fn new_object(&mut self, instruction: FlowInstruction, kind: Kind) -> NodeId {
        let site = Some(self.site(instruction));
        let object = self.analysis.heap.object(Object { kind, site, context: self.context });
        let node = self.analysis.heap.node();
        self.analysis.heap.add(node, object);
        node
    }

    fn unknown(&mut self, pc: u16, what: String) {
        self.analysis.note_unknown(self.instance, pc, what);
    }

    fn value(&mut self) -> Option<NodeId> {
        Some(self.analysis.value)
    }

    fn step(&mut self, index: u32, instruction: FlowInstruction, body: &FlowBody, state: &mut State) {
        match instruction.operation {
            Operation::Plain { pops, pushes } => {
                state.pops(usize::from(pops));
                state.pushes(usize::from(pushes));
            }
            Operation::Stack(moved) => moved.apply(&mut state.stack),
            Operation::Load(slot) => {
                let value = state.locals.get(usize::from(slot)).copied().flatten();
                state.stack.push(value);
            }
            Operation::Store(slot) => {
                let value = state.pop();
                if let Some(local) = state.locals.get_mut(usize::from(slot)) {
                    // A variable that is null gets its own node, so that it has one where branches join.
                    *local = value.or_else(|| Some(self.analysis.heap.node()));
                }
            }
            Operation::Overwrite { slot, slots } => {
                state.pops(usize::from(slots));
                let first = usize::from(slot);
                for local in state.locals.iter_mut().skip(first).take(usize::from(slots)) {
                    *local = None;
                }
            }
            Operation::Null => {
                let node = self.analysis.heap.node();
                state.stack.push(Some(node));
            }
            Operation::Text(_) | Operation::ClassConstant(_) => {
                match instruction.operation {
                    // The constant for the type of the field follows the one for its class.
                    Operation::ClassConstant(class) if self.named.0.is_none() => self.named.0 = Some(class),
                    Operation::Text(text) => self.named.1 = Some(text),
                    _ => {}
                }
                let value = self.value();
                state.stack.push(value);
            }
            Operation::UnknownConstant(slots) => {
                if slots == 1 {
                    let node = self.analysis.unknown_node;
                    state.stack.push(Some(node));
                } else {
                    state.pushes(usize::from(slots));
                }
            }
            Operation::New(name) => {
                let class = self.analysis.classes.load(&self.flow.classes[usize::from(name)].clone());
                self.analysis.initialise(class);
                let node = self.new_object(instruction, Kind::Made(class));
                state.stack.push(Some(node));
            }
            Operation::NewArray(dimensions, name) => {
                state.pops(usize::from(dimensions));
                let node = if body.empty_arrays.contains(&index) {
                    // An empty array has no elements to read or write.
                    self.analysis.heap.node()
                } else {
                    self.array(instruction, dimensions, name)
                };
                state.stack.push(Some(node));
            }
            Operation::LoadElement(is_reference, slots) => {
                state.pops(1);
                let array = state.pop();
                if is_reference {
                    let node = self.analysis.heap.node();
                    if let Some(array) = array {
                        self.analysis.use_node(array, Use::Load(ELEMENT, node));
                    }
                    state.stack.push(Some(node));
                } else {
                    state.pushes(usize::from(slots));
                }
            }
            Operation::StoreElement(is_reference, slots) => {
                let value = if is_reference { state.pop() } else { None };
                state.pops(if is_reference { 1 } else { usize::from(slots) + 1 });
                if let Some(array) = state.pop() {
                    self.analysis.note_write(self.instance, Some(array), instruction.pc, ELEMENT);
                    if let Some(value) = value {
                        self.analysis.use_node(array, Use::Store(ELEMENT, value));
                    }
                }
            }
            Operation::GetField(number) | Operation::PutField(number) => {
                self.field(instruction, number, state)
            }
            Operation::GetStatic(number) | Operation::PutStatic(number) => {
                self.static_field(instruction, number, state);
            }
            Operation::Invoke(kind, number) => {
                let reference = self.flow.method_references[usize::from(number)].clone();
                let arguments = Self::arguments(&reference.descriptor, kind != InvokeKind::Static, state);
                let result = state.result(&reference.descriptor, || self.analysis.heap.node());
                self.note_handle(&reference.name, result);
                let (caller, context) = (self.instance, self.context);
                let site = self.site(instruction);
                let call =
                    Call { caller, context, site, kind, reference: Rc::new(reference), arguments, result };
                self.analysis.call(call);
            }
            Operation::InvokeDynamic(number) => self.dynamic(instruction, number, state),
            Operation::Cast(name) => {
                let class = self.analysis.classes.load(&self.flow.classes[usize::from(name)].clone());
                if let Some(value) = state.pop() {
                    let node = self.analysis.heap.node();
                    self.analysis.connect(value, node, Some(class));
                    state.stack.push(Some(node));
                } else {
                    state.pushes(1);
                }
            }
            Operation::Throw => {
                if let Some(value) = state.pop() {
                    let thrown = self.analysis.thrown;
                    self.analysis.connect(value, thrown, None);
                }
            }
            Operation::ReturnReference => {
                let result = self.analysis.instance(self.instance).result;
                if let (Some(value), Some(result)) = (state.pop(), result) {
                    self.analysis.connect(value, result, None);
                }
            }
            Operation::Return | Operation::Subroutine | Operation::SubroutineEnd => {}
        }
    }

    /// A new array; one with several dimensions contains arrays.
    fn array(&mut self, instruction: FlowInstruction, dimensions: u8, name: Option<u16>) -> NodeId {
        let name = match name.map(|name| &self.flow.classes[usize::from(name)]) {
            None => "[I".to_owned(),
            // `multianewarray` names the class of the array, not of its elements.
            Some(name) if name.starts_with("[[") && dimensions > 1 => name.clone(),
            Some(name) => array_of(name),
        };
        let class = self.analysis.classes.load(&name);
        let outer = self.new_object(instruction, Kind::Made(class));
        if dimensions > 1 {
            let inner = self.analysis.classes.load(&name[1..]);
            let inner = self.new_object(instruction, Kind::Made(inner));
            self.analysis.use_node(outer, Use::Store(ELEMENT, inner));
            self.analysis.use_node(inner, Use::Store(ELEMENT, inner));
        }
        outer
    }

    /// Pops a call's arguments, including the receiver.
    fn arguments(descriptor: &str, has_receiver: bool, state: &mut State) -> Vec<Option<NodeId>> {
        let node = |argument| match argument {
            Argument::Reference(node) => node,
            Argument::Number => None,
        };
        state.arguments(descriptor, has_receiver).into_iter().map(node).collect()
    }

    fn dynamic(&mut self, instruction: FlowInstruction, number: u16, state: &mut State) {
        let flow = self.flow.clone();
        let dynamic = &flow.dynamics[usize::from(number)];
        let values = Self::arguments(&dynamic.descriptor, false, state);
        let result = state.result(&dynamic.descriptor, || self.analysis.heap.node());
        let bootstrap = dynamic.bootstrap.as_ref().map_or("", |bootstrap| bootstrap.class.as_str());
        let site = self.site(instruction);
        match (bootstrap, result) {
            ("java/lang/invoke/LambdaMetafactory", Some(result)) if !dynamic.handles.is_empty() => {
                let made = self.new_object(instruction, Kind::Lambda(self.class, number));
                for (number, value) in values.iter().enumerate() {
                    if let Some(value) = value {
                        let field = super::heap::Heap::captured(number);
                        self.analysis.use_node(made, Use::Store(field, *value));
                    }
                }
                self.analysis.connect(made, result, None);
            }
            (
                "java/lang/invoke/StringConcatFactory"
                | "java/lang/runtime/SwitchBootstraps"
                | "java/lang/runtime/ObjectMethods",
                result,
            ) => {
                for value in values.into_iter().flatten() {
                    self.analysis.call_to_string(self.instance, self.context, site, value);
                }
                if let Some(result) = result {
                    let value = self.analysis.value;
                    self.analysis.connect(value, result, None);
                }
            }
            (_, result) => {
                self.unknown(
                    instruction.pc,
                    format!("what the dynamic call {} is linked with", dynamic.name),
                );
                if let Some(result) = result {
                    let unknown = self.analysis.unknown_node;
                    self.analysis.connect(unknown, result, None);
                }
            }
        }
    }

    /// Records the field of a handle that a class initializer looks up by name.
    fn note_handle(&mut self, method: &str, result: Option<NodeId>) {
        if !matches!(method, "findVarHandle" | "newUpdater") {
            return;
        }
        let is_initializer = self.flow.methods[self.method as usize].name == "<clinit>";
        if let ((Some(class), Some(name)), Some(result), true) = (self.named, result, is_initializer) {
            let class = self.analysis.classes.load(&self.flow.classes[usize::from(class)].clone());
            if self.analysis.classes.has_field(class, &self.flow.texts[usize::from(name)]) {
                let field = self.analysis.classes.field(class, &self.flow.texts[usize::from(name)].clone());
                self.analysis.handles.insert(result, field);
            }
        }
        self.named = (None, None);
    }

    fn field(&mut self, instruction: FlowInstruction, number: u16, state: &mut State) {
        let reference = &self.flow.field_references[usize::from(number)].clone();
        let is_write = matches!(instruction.operation, Operation::PutField(_));
        let (is_reference, slots) = slots_of(&reference.descriptor);
        let value = match (is_write, is_reference) {
            (true, true) => state.pop(),
            (true, false) => {
                state.pops(slots);
                None
            }
            _ => None,
        };
        let object = state.pop();
        let class = self.analysis.classes.load(&reference.class);
        let key = self.analysis.classes.field(class, &reference.name);
        if is_write {
            let Some(object) = object else { return };
            if self.under_construction() != Some(object) {
                self.analysis.note_write(self.instance, Some(object), instruction.pc, key);
            }
            if let Some(value) = value {
                self.analysis.use_node(object, Use::Store(key, value));
            }
        } else if is_reference {
            let node = self.analysis.heap.node();
            if let Some(object) = object {
                self.analysis.use_node(object, Use::Load(key, node));
            }
            state.stack.push(Some(node));
        } else {
            state.pushes(slots);
        }
    }

    fn static_field(&mut self, instruction: FlowInstruction, number: u16, state: &mut State) {
        let reference = &self.flow.field_references[usize::from(number)].clone();
        let is_write = matches!(instruction.operation, Operation::PutStatic(_));
        let (is_reference, slots) = slots_of(&reference.descriptor);
        let class = self.analysis.classes.load(&reference.class);
        let key = self.analysis.classes.field(class, &reference.name);
        self.analysis.initialise(class);
        let node = self.analysis.static_field(class, key);
        if is_write {
            self.analysis.note_write(self.instance, None, instruction.pc, key);
        }
        match (is_write, is_reference) {
            (true, true) => {
                if let Some(value) = state.pop() {
                    // Only a final field is certain to keep the same handle.
                    let is_final = self.flow.fields.iter().any(|field| {
                        field.name == reference.name && field.access.contains(AccessFlags::FINAL)
                    });
                    if let Some(&field) = self.analysis.handles.get(&value).filter(|_| is_final) {
                        self.analysis.handles.insert(node, field);
                    }
                    self.analysis.connect(value, node, None);
                }
            }
            (true, false) => state.pops(slots),
            (false, true) => state.stack.push(Some(node)),
            (false, false) => state.pushes(slots),
        }
    }
}

/// Whether a range of the exception table starts at an instruction.
fn starts_range(body: &FlowBody, index: usize) -> bool {
    body.handlers.iter().any(|handler| handler[0] as usize == index)
}

fn slots_of(descriptor: &str) -> (bool, usize) {
    match descriptor.as_bytes().first() {
        Some(b'L' | b'[') => (true, 1),
        Some(b'J' | b'D') => (false, 2),
        _ => (false, 1),
    }
}

fn array_of(name: &str) -> String {
    if name.starts_with('[') { format!("[{name}") } else { format!("[L{name};") }
}
