//! Summarizes the code of a JDK method: where its arguments flow to.
//!
//! A set contains the tokens that a reference may reach: the arguments of the method, the objects that it creates, and
//! [`STATIC`] for everything that static fields and other threads reference. An object and all that it holds share one token.
//! Unlike the graph of the main analysis, this distinguishes references that flow into a static field from those read from
//! one, because code of the JDK reads empty arrays and other constants from static fields everywhere.

use std::{collections::hash_map::Entry, rc::Rc};

use fissure_classfile::flow::{FlowBody, FlowClass, InvokeKind, MemberReference, Operation, types};
use rustc_hash::{FxHashMap, FxHashSet};

use crate::{
    jdk,
    world::{ClassId, MethodId, World},
};

/// A set of tokens, one bit each.
pub(super) type Set = u128;

/// Everything that static fields and other threads reference.
pub(super) const STATIC: Set = 1 << 127;

/// All created objects beyond the number of available bits.
const OTHERS: Set = 1 << 126;
const MOST_TOKENS: u32 = 125;

/// An array in a final static field. Most of these are empty and are passed around widely, so only elements that are stored
/// into it directly after it was read from the field count.
const CONSTANT_ARRAY: Set = 1 << 125;

/// The effects of a method on its arguments. Sets contain its reference parameters, the receiver first, and [`STATIC`].
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Summary {
    /// For each argument the set that it references afterwards.
    pub(super) holds: Vec<Set>,
    /// The set that the result references.
    pub(super) returns: Set,
    /// The arguments that escape to static fields or other threads.
    pub(super) escapes: Set,
    /// Whether arguments are passed to code that cannot be analysed.
    pub(super) is_open: bool,
    /// Where an argument escapes to static fields or other threads.
    pub(super) escape_site: Option<Rc<str>>,
}

/// The summaries of all requested methods, and of their callees that cannot be overridden.
pub(super) struct Summaries<'w, 's> {
    pub(super) world: &'w mut World<'s>,
    known: FxHashMap<MethodId, Summary>,
    pub(super) callers: FxHashMap<MethodId, FxHashSet<MethodId>>,
    waiting: Vec<MethodId>,
    is_waiting: FxHashSet<MethodId>,
}

impl<'w, 's> Summaries<'w, 's> {
    pub(super) fn new(world: &'w mut World<'s>) -> Self {
        Summaries {
            world,
            known: FxHashMap::default(),
            callers: FxHashMap::default(),
            waiting: Vec::new(),
            is_waiting: FxHashSet::default(),
        }
    }

    pub(super) fn request(&mut self, method: MethodId) {
        if let Entry::Vacant(entry) = self.known.entry(method) {
            entry.insert(Summary::default());
            self.wait(method);
        }
    }

    pub(super) fn get(&self, method: MethodId) -> Summary {
        self.known.get(&method).cloned().unwrap_or_default()
    }

    pub(super) fn len(&self) -> usize {
        self.known.len()
    }

    /// Computes the summaries to a fixed point.
    pub(super) fn run(&mut self) {
        while let Some(method) = self.waiting.pop() {
            self.is_waiting.remove(&method);
            let summary = self.summarize(method);
            if self.known.get(&method) != Some(&summary) {
                self.known.insert(method, summary);
                for caller in self.callers.get(&method).cloned().unwrap_or_default() {
                    self.wait(caller);
                }
            }
        }
    }

    fn wait(&mut self, method: MethodId) {
        if self.is_waiting.insert(method) {
            self.waiting.push(method);
        }
    }

    fn summarize(&mut self, method: MethodId) -> Summary {
        let info = self.world.method(method).clone();
        let flow = self.world.class(info.class).flow.clone();
        let Some(index) = info.index else { return Summary::default() };
        let declared = &flow.methods[index as usize];
        let Some(body) = &declared.body else { return Summary::default() };
        let (parameters, _) = types(&declared.descriptor);
        let mut locals = Vec::new();
        let (mut formals, mut numbers): (u32, Set) = (0, 0);
        if !info.is_static {
            locals.push(1);
            formals = 1;
        }
        for parameter in parameters {
            match parameter.as_bytes()[0] {
                b'L' | b'[' => {
                    locals.push(if is_inert(parameter) { 0 } else { 1 << formals });
                    numbers |= if parameter.len() == 2 { 1 << formals } else { 0 };
                    formals += 1;
                }
                b'J' | b'D' => locals.extend([0, 0]),
                _ => locals.push(0),
            }
        }
        locals.resize(locals.len().max(usize::from(body.max_locals)), 0);
        let mut pass = MethodPass {
            method,
            class: info.class,
            flow: &flow,
            contents: vec![0; 128],
            tokens: FxHashMap::default(),
            classes: FxHashMap::default(),
            next: formals,
            formals: (1 << formals) - 1,
            numbers,
            returns: 0,
            is_open: false,
            escape_site: None,
            current: String::new(),
            summaries: self,
        };
        loop {
            let before = pass.contents.clone();
            pass.run(body, &locals);
            if before == pass.contents {
                break;
            }
        }
        let own = ((1 << formals) - 1) | STATIC;
        let holds = (0..formals).map(|formal| pass.closure(1 << formal) & own).collect();
        let returns = pass.closure(pass.returns) & own;
        let escapes = pass.closure(pass.contents[127]) & own;
        Summary { holds, returns, escapes, is_open: pass.is_open, escape_site: pass.escape_site }
    }
}

/// Whether objects of a type reference no objects of the program.
pub(super) fn is_inert(descriptor: &str) -> bool {
    jdk::is_inert(descriptor, |_| false)
}

/// The frame before an instruction: local variables and the operand stack, with a set for each slot.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct State {
    locals: Vec<Set>,
    stack: Vec<Set>,
}

impl State {
    fn pop(&mut self) -> Set {
        self.stack.pop().unwrap_or_default()
    }

    fn pops(&mut self, count: usize) -> Set {
        (0..count).fold(0, |all, _| all | self.pop())
    }

    fn pushes(&mut self, count: usize) {
        self.stack.extend(std::iter::repeat_n(0, count));
    }

    /// Joins another state into this one. Returns whether this one changed.
    fn join(&mut self, other: &State) -> bool {
        let before = self.clone();
        let slots = self.locals.iter_mut().zip(&other.locals).chain(self.stack.iter_mut().zip(&other.stack));
        slots.for_each(|(slot, value)| *slot |= value);
        *self != before
    }
}

/// The analysis of one method.
pub(super) struct MethodPass<'l, 'w, 's> {
    pub(super) method: MethodId,
    pub(super) class: ClassId,
    pub(super) flow: &'l FlowClass,
    /// For each token the set that it references.
    pub(super) contents: Vec<Set>,
    /// The tokens of created objects, by the numbers of the creating instructions.
    pub(super) tokens: FxHashMap<usize, Set>,
    /// The exact classes of created objects, by their tokens.
    pub(super) classes: FxHashMap<Set, ClassId>,
    pub(super) next: u32,
    /// The method's arguments.
    pub(super) formals: Set,
    /// The arguments that are arrays of primitive values, whose elements reference nothing.
    pub(super) numbers: Set,
    pub(super) returns: Set,
    pub(super) is_open: bool,
    pub(super) escape_site: Option<Rc<str>>,
    /// The member that the current instruction uses.
    pub(super) current: String,
    pub(super) summaries: &'l mut Summaries<'w, 's>,
}

impl MethodPass<'_, '_, '_> {
    pub(super) fn closure(&self, set: Set) -> Set {
        let mut all = set;
        loop {
            let mut more = all;
            for token in bits(all) {
                more |= self.contents[token];
            }
            if more == all {
                return all;
            }
            all = more;
        }
    }

    /// All of `holders` may reference all of `values` from now on.
    pub(super) fn put(&mut self, holders: Set, values: Set) {
        let is_first_escape = self.escape_site.is_none() && self.closure(values) & self.formals != 0;
        if holders & STATIC != 0 && is_first_escape {
            let method = self.summaries.world.describe(self.method);
            self.escape_site = Some(format!("{method} by {}", self.current).into());
        }
        for holder in bits(holders) {
            self.contents[holder] |= values;
        }
    }

    /// The token of the object that an instruction creates.
    pub(super) fn token(&mut self, index: usize) -> Set {
        if let Some(&known) = self.tokens.get(&index) {
            return known;
        }
        let token = if self.next < MOST_TOKENS { 1 << self.next } else { OTHERS };
        self.next += 1;
        self.tokens.insert(index, token);
        token
    }

    /// One pass over the code, to a fixed point of the frames with the contents known so far.
    fn run(&mut self, body: &FlowBody, locals: &[Set]) {
        let count = body.instructions.len();
        let mut is_label = vec![false; count];
        body.targets.iter().for_each(|&target| is_label[target as usize] = true);
        body.handlers.iter().for_each(|handler| is_label[handler[2] as usize] = true);
        let mut entries: Vec<Option<State>> = vec![None; count];
        let mut waiting = vec![(0, State { locals: locals.to_vec(), stack: Vec::new() })];
        while let Some((start, state)) = waiting.pop() {
            let (mut index, mut state) = (start, state);
            loop {
                if is_label[index] {
                    match &mut entries[index] {
                        Some(known) => {
                            if !known.join(&state) {
                                break;
                            }
                            state = known.clone();
                        }
                        entry => *entry = Some(state.clone()),
                    }
                }
                for &[first, end, handler] in &body.handlers {
                    if (first as usize..end as usize).contains(&index) {
                        let thrown = State { locals: state.locals.clone(), stack: vec![0] };
                        let is_known = entries[handler as usize]
                            .as_ref()
                            .is_some_and(|known| !known.clone().join(&thrown));
                        if !is_known {
                            waiting.push((handler as usize, thrown));
                        }
                    }
                }
                let instruction = body.instructions[index];
                self.step(index, instruction.operation, &mut state);
                let (from, to) = instruction.targets;
                for &target in &body.targets[from as usize..to as usize] {
                    waiting.push((target as usize, state.clone()));
                }
                index += 1;
                if !instruction.falls_through || index >= count {
                    break;
                }
            }
        }
    }

    fn step(&mut self, index: usize, operation: Operation, state: &mut State) {
        match operation {
            Operation::Plain { pops, pushes } => {
                state.pops(usize::from(pops));
                state.pushes(usize::from(pushes));
            }
            Operation::Stack(moved) => moved.apply(&mut state.stack),
            Operation::Load(slot) => {
                state.stack.push(state.locals.get(usize::from(slot)).copied().unwrap_or_default());
            }
            Operation::Store(slot) => {
                let value = state.pop();
                if let Some(local) = state.locals.get_mut(usize::from(slot)) {
                    *local = value;
                }
            }
            Operation::Overwrite { slot, slots } => {
                state.pops(usize::from(slots));
                let locals = state.locals.iter_mut().skip(usize::from(slot)).take(usize::from(slots));
                locals.for_each(|local| *local = 0);
            }
            Operation::Null | Operation::Text(_) | Operation::ClassConstant(_) | Operation::Subroutine => {
                state.stack.push(0);
            }
            Operation::UnknownConstant(slots) => state.pushes(usize::from(slots)),
            Operation::New(name) => {
                let token = self.token(index);
                if token != OTHERS {
                    let class = self.summaries.world.load(&self.flow.classes[usize::from(name)]);
                    self.classes.insert(token, class);
                }
                state.stack.push(token);
            }
            Operation::NewArray(dimensions, _) => {
                state.pops(usize::from(dimensions));
                let token = self.token(index);
                state.stack.push(token);
            }
            Operation::LoadElement(is_reference, slots) => {
                state.pops(1);
                let array = state.pop();
                match is_reference {
                    true => state.stack.push(self.closure(array)),
                    false => state.pushes(usize::from(slots)),
                }
            }
            Operation::StoreElement(_, slots) => {
                let value = state.pops(usize::from(slots));
                state.pops(1);
                let array = state.pop();
                self.current = "an array".to_owned();
                self.put(if array == CONSTANT_ARRAY { STATIC } else { array }, value);
            }
            Operation::GetField(number) => {
                let descriptor = &self.flow.field_references[usize::from(number)].descriptor;
                let object = state.pop();
                // Threads count as shared.
                let value = match descriptor.as_str() {
                    "Ljava/lang/Thread;" => STATIC,
                    _ if self.carries_nothing(descriptor) => 0,
                    _ => self.closure(object),
                };
                push(state, descriptor, value);
            }
            Operation::PutField(number) => {
                let descriptor = &self.flow.field_references[usize::from(number)].descriptor;
                let value = state.pops(slots(descriptor));
                let object = state.pop();
                self.current = self.flow.field_references[usize::from(number)].name.clone();
                self.put(object, if is_inert(descriptor) { 0 } else { value });
            }
            Operation::GetStatic(number) => {
                let descriptor = &self.flow.field_references[usize::from(number)].descriptor;
                let value = self.static_value(&self.flow.field_references[usize::from(number)]);
                push(state, descriptor, value);
            }
            Operation::PutStatic(number) => {
                let descriptor = &self.flow.field_references[usize::from(number)].descriptor;
                let value = state.pops(slots(descriptor));
                self.current = self.flow.field_references[usize::from(number)].name.clone();
                let is_kept = !self.is_constant(descriptor);
                self.put(STATIC, if is_kept { value } else { 0 });
            }
            Operation::Invoke(kind, number) => {
                let flow = self.flow;
                let reference = &flow.method_references[usize::from(number)];
                let values = arguments(&reference.descriptor, kind != InvokeKind::Static, state);
                let result = self.call(index, kind, reference, &values);
                let (_, result_type) = types(&reference.descriptor);
                push(state, result_type, if self.carries_nothing(result_type) { 0 } else { result });
            }
            Operation::InvokeDynamic(number) => self.dynamic(index, number, state),
            Operation::Cast(number) => {
                let name = &self.flow.classes[usize::from(number)];
                let value = state.pop();
                let is_inert = !name.starts_with('[') && is_inert(&format!("L{name};"));
                state.stack.push(if is_inert { 0 } else { value });
            }
            Operation::Throw => {
                state.pop();
            }
            Operation::ReturnReference => self.returns |= state.pop(),
            Operation::Return | Operation::SubroutineEnd => {}
        }
    }

    /// The set that a static field references.
    fn static_value(&mut self, field: &MemberReference) -> Set {
        if self.is_constant(&field.descriptor) {
            return 0;
        }
        let world = &mut *self.summaries.world;
        let class = world.load(&field.class);
        match (field.descriptor.as_str(), world.is_final_field(class, &field.name)) {
            (descriptor, true) if descriptor.starts_with('[') => CONSTANT_ARRAY,
            // An object to lock on, or a marker.
            ("Ljava/lang/Object;", true) => 0,
            _ => STATIC,
        }
    }

    /// Whether objects in static fields of this type store none of the arguments that they get.
    fn is_constant(&mut self, descriptor: &str) -> bool {
        let Some(name) = descriptor.strip_prefix('L').and_then(|name| name.strip_suffix(';')) else {
            return !descriptor.starts_with('[');
        };
        fissure_jdk::is_constant(name) || self.carries_nothing(descriptor)
    }

    /// Whether objects of this type reference no objects of the program; constants of the JDK's enumerations do not either.
    pub(super) fn carries_nothing(&mut self, descriptor: &str) -> bool {
        let name = descriptor.strip_prefix('L').and_then(|name| name.strip_suffix(';'));
        is_inert(descriptor)
            || name.is_some_and(|name| {
                let class = self.summaries.world.load(name);
                self.summaries.world.class(class).is_enum()
            })
    }
}

/// Pops a call's reference arguments, the receiver first.
pub(super) fn arguments(descriptor: &str, has_receiver: bool, state: &mut State) -> Vec<Set> {
    let (parameters, _) = types(descriptor);
    let mut values = Vec::new();
    for parameter in parameters.iter().rev() {
        let value = state.pops(slots(parameter));
        if parameter.starts_with(['L', '[']) {
            values.push(if is_inert(parameter) { 0 } else { value });
        }
    }
    if has_receiver {
        values.push(state.pop());
    }
    values.reverse();
    values
}

pub(super) fn push(state: &mut State, descriptor: &str, value: Set) {
    match descriptor.as_bytes().first() {
        Some(b'L' | b'[') => state.stack.push(value),
        Some(b'V') | None => {}
        Some(_) => state.pushes(slots(descriptor)),
    }
}

fn slots(descriptor: &str) -> usize {
    if descriptor.starts_with(['J', 'D']) { 2 } else { 1 }
}

/// The numbers of the bits of a set.
pub(super) fn bits(set: Set) -> impl Iterator<Item = usize> {
    let mut left = set;
    std::iter::from_fn(move || {
        let bit = (left != 0).then(|| left.trailing_zeros() as usize)?;
        left &= left - 1;
        Some(bit)
    })
}
