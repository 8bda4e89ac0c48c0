//! One pass over the instructions of a method: tracks the nodes on the stack and in local variables, and unifies them.

use std::rc::Rc;

use fissure_classfile::flow::{FlowBody, FlowClass, FlowInstruction, InvokeKind, Operation, shape};

use crate::{
    bodies::{Accessed, Bodies, Site},
    frame::{Argument, State},
    graph::{ELEMENT, Level, Node},
    reach::{Linked, linked},
    world::{ClassId, FieldTarget, MethodId},
};

/// The pass over one method.
pub(crate) struct Walk<'b, 'w, 's, 'f> {
    pub(crate) bodies: &'b mut Bodies<'w, 's>,
    pub(crate) method: MethodId,
    pub(crate) class: ClassId,
    pub(crate) flow: &'f Rc<FlowClass>,
    pub(crate) body: &'f FlowBody,
    /// Whether each local variable has a single node throughout the method. Set for methods with subroutines (`jsr`), because
    /// a variable that a subroutine does not write keeps the value that it had at each of the calls.
    pub(crate) is_flat: bool,
}

impl Walk<'_, '_, '_, '_> {
    pub(crate) fn run(&mut self) {
        let body = self.body;
        let count = body.instructions.len();
        let mut is_label = vec![false; count];
        body.targets.iter().for_each(|&target| is_label[target as usize] = true);
        body.handlers.iter().for_each(|handler| is_label[handler[2] as usize] = true);
        // A subroutine may return to the instruction after any of its calls.
        let after_calls: Vec<usize> = (0..count)
            .filter(|&index| body.instructions[index].operation == Operation::Subroutine)
            .map(|index| index + 1)
            .filter(|&index| index < count)
            .collect();
        after_calls.iter().for_each(|&index| is_label[index] = true);

        let mut entry = self.entry();
        if !after_calls.is_empty() {
            self.is_flat = true;
            for local in entry.locals.iter_mut().filter(|local| local.is_none()) {
                *local = Some(self.bodies.graph.node());
            }
        }
        let mut entries: Vec<Option<State>> = vec![None; count];
        let mut is_done = vec![false; count];
        let mut waiting = vec![(0, entry)];
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

    /// A jump: unifies the state at its target with the current one.
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
            Operation::Stack(moved) => moved.apply(&mut state.stack),
            Operation::Load(slot) => {
                let value = state.locals.get(usize::from(slot)).copied().flatten();
                state.stack.push(value);
            }
            Operation::Store(slot) => {
                let value = state.pop();
                match (state.locals.get_mut(usize::from(slot)), value) {
                    (Some(Some(known)), Some(value)) if self.is_flat => {
                        self.bodies.graph.unify(*known, value);
                    }
                    (Some(local), value) if !self.is_flat => *local = value,
                    _ => {}
                }
            }
            Operation::Overwrite { slot, slots } => {
                state.pops(usize::from(slots));
                let written = if self.is_flat { 0 } else { usize::from(slots) };
                for local in state.locals.iter_mut().skip(usize::from(slot)).take(written) {
                    *local = None;
                }
            }
            Operation::Null | Operation::Text(_) | Operation::ClassConstant(_) => {
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
            Operation::NewArray(dimensions, _) => {
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
                let result = state.result(&reference.descriptor, || self.bodies.graph.node());
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

    /// Pops a call's arguments, including the receiver; references without a node get one.
    fn arguments(&mut self, descriptor: &str, has_receiver: bool, state: &mut State) -> Vec<Option<Node>> {
        let node = |argument| match argument {
            Argument::Reference(node) => Some(node.unwrap_or_else(|| self.bodies.graph.node())),
            Argument::Number => None,
        };
        state.arguments(descriptor, has_receiver).into_iter().map(node).collect()
    }

    fn dynamic(&mut self, number: u16, state: &mut State) {
        let flow = self.flow.clone();
        let dynamic = &flow.dynamics[usize::from(number)];
        let values = self.arguments(&dynamic.descriptor, false, state);
        let result = state.result(&dynamic.descriptor, || self.bodies.graph.node());
        match linked(self.bodies.world, self.class, &flow, number) {
            Linked::Lambda(class) => {
                let object = self.bodies.lambda_object(class, &values);
                if let Some(result) = result {
                    self.bodies.graph.unify(result, object);
                }
            }
            Linked::Harmless => {}
            // The components of two records are read and compared pairwise, so the records are unified.
            Linked::Record => {
                let mut all = values.into_iter().flatten();
                if let Some(first) = all.next() {
                    all.for_each(|other| self.bodies.graph.unify(first, other));
                    for getter in &dynamic.handles {
                        let field = &getter.target;
                        let class = self.bodies.world.load(&field.class);
                        if let FieldTarget::Known(key) =
                            self.bodies.world.field(class, &field.name, &field.descriptor)
                        {
                            self.bodies.loads.push((first, key));
                        }
                    }
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
        let field_node = match target {
            FieldTarget::Known(key) => {
                self.site(instruction, Accessed::Field(key, object));
                if is_followed && !is_write {
                    self.bodies.loads.push((object, key));
                }
                if is_followed { self.bodies.graph.field(object, key) } else { self.bodies.graph.node() }
            }
            // An object of the JDK and the objects that it holds share one node.
            FieldTarget::Jdk if is_followed => object,
            FieldTarget::Jdk => self.bodies.graph.node(),
            FieldTarget::Shared(_) | FieldTarget::Unknown => {
                self.site(instruction, Accessed::Unknown);
                self.bodies.graph.raise(object, Level::Exposed);
                object
            }
        };
        if is_write {
            if let Some(value) = value.filter(|_| is_followed) {
                self.bodies.graph.unify(field_node, value);
            }
        } else if kind == b'L' {
            state.stack.push(Some(field_node));
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
        let field_node = match target {
            FieldTarget::Known(key) => {
                self.site(instruction, Accessed::Static(key));
                let is_followed = is_followed && !self.bodies.world.is_empty_array(key);
                if is_followed { self.bodies.static_field(key) } else { self.bodies.graph.node() }
            }
            FieldTarget::Shared(key) if self.bodies.world.is_empty_array(key) => self.bodies.graph.node(),
            FieldTarget::Shared(key) if is_followed => {
                let node = self.bodies.static_field(key);
                self.bodies.graph.raise(node, Level::Shared);
                node
            }
            FieldTarget::Jdk | FieldTarget::Shared(_) | FieldTarget::Unknown => {
                let node = self.bodies.graph.node();
                let level = if target == FieldTarget::Unknown { Level::Exposed } else { Level::Shared };
                if is_followed {
                    self.bodies.graph.raise(node, level);
                }
                node
            }
        };
        match (is_write, kind) {
            (true, b'L') => {
                if let Some(value) = state.pop().filter(|_| is_followed) {
                    self.bodies.graph.unify(field_node, value);
                }
            }
            (true, _) => state.pops(slots),
            (false, b'L') => state.stack.push(Some(field_node)),
            (false, _) => state.pushes(slots),
        }
    }
}
