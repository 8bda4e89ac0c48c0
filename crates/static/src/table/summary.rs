//! What a method of the JDK does with the objects that it is given, read off its code: where they get to, and in which direction.
//!
//! A set says which of some tokens a reference may lead to: what the method is given, what it makes, and [`STATIC`] for all that static
//! fields and other threads lead to. An object and all that it holds are one token. Other than the graph of the analysis
//! proper, this keeps apart what flows into a static field and what comes out of one, because empty arrays and other
//! constants come out of static fields all over the JDK.

use std::{collections::hash_map::Entry, rc::Rc};

use fissure_classfile::flow::{FlowBody, FlowClass, InvokeKind, MemberReference, Operation, types};
use rustc_hash::{FxHashMap, FxHashSet};

use crate::{
    jdk,
    walk::move_slots,
    world::{ClassId, MethodId, World},
};

/// Tokens, a bit each.
pub(super) type Set = u128;

/// All that static fields and other threads lead to.
pub(super) const STATIC: Set = 1 << 127;

/// What is made beyond the number of bits that there are.
const OTHERS: Set = 1 << 126;
const MOST_TOKENS: u32 = 125;

/// Types, by how their names begin, whose objects keep nothing when the JDK has them in static fields: they are immutable, compute, or
/// give access to what is private elsewhere.
const CONSTANTS: &[&str] = &[
    "java/lang/CharacterData",
    "java/lang/ref/ReferenceQueue",
    "java/nio/charset/CodingErrorAction",
    "java/nio/file/FileSystem",
    "java/nio/file/spi/FileSystemProvider",
    "java/text/DontCareFieldPosition",
    "java/time/",
    "java/util/Comparator",
    "java/util/Formatter$Flags",
    "java/util/function/",
    "java/util/jar/Attributes$Name",
    "java/util/zip/ZipCoder",
    "javax/management/openmbean/",
    "jdk/internal/access/",
    "jdk/internal/math/",
    "jdk/internal/misc/Java",
    "jdk/internal/misc/ScopedMemoryAccess",
    "jdk/internal/misc/Unsafe",
    "sun/util/calendar/",
];

/// An array in a field that is final: most are empty and end up in all kinds of places, so that only what is stored into it right where it
/// was taken from the field counts.
const CONSTANT_ARRAY: Set = 1 << 125;

/// What a method does with what it is given. Sets are over its references, the receiver first, and [`STATIC`].
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Summary {
    /// What each reference leads to afterwards.
    pub(super) holds: Vec<Set>,
    /// What the result leads to.
    pub(super) returns: Set,
    /// What gets to static fields or other threads.
    pub(super) escapes: Set,
    /// Whether some of it goes where nobody can follow.
    pub(super) is_open: bool,
    /// Where something gets to static fields or other threads.
    pub(super) place: Option<Rc<str>>,
}

/// The summaries of all methods that were asked about, and of those that they certainly call.
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

    pub(super) fn ask(&mut self, method: MethodId) {
        if let Entry::Vacant(place) = self.known.entry(method) {
            place.insert(Summary::default());
            self.wait(method);
        }
    }

    pub(super) fn get(&self, method: MethodId) -> Summary {
        self.known.get(&method).cloned().unwrap_or_default()
    }

    pub(super) fn len(&self) -> usize {
        self.known.len()
    }

    /// Looks into methods until nothing changes.
    pub(super) fn run(&mut self) {
        while let Some(method) = self.waiting.pop() {
            self.is_waiting.remove(&method);
            let summary = self.look(method);
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

    fn look(&mut self, method: MethodId) -> Summary {
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
        let mut look = Look {
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
            place: None,
            now: String::new(),
            summaries: self,
        };
        loop {
            let before = look.contents.clone();
            look.pass(body, &locals);
            if before == look.contents {
                break;
            }
        }
        let own = ((1 << formals) - 1) | STATIC;
        let holds = (0..formals).map(|formal| look.closure(1 << formal) & own).collect();
        let returns = look.closure(look.returns) & own;
        let escapes = look.closure(look.contents[127]) & own;
        Summary { holds, returns, escapes, is_open: look.is_open, place: look.place }
    }
}

/// Whether objects of a type lead to none of the program.
pub(super) fn is_inert(descriptor: &str) -> bool {
    jdk::is_inert(descriptor, |_| false)
}

/// The state before an instruction: local variables and the stack, a set for each slot.
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

    /// Puts another state to this one. Says whether that changed anything.
    fn join(&mut self, other: &State) -> bool {
        let before = self.clone();
        let places = self.locals.iter_mut().zip(&other.locals).chain(self.stack.iter_mut().zip(&other.stack));
        places.for_each(|(place, value)| *place |= value);
        *self != before
    }
}

/// The look into one method.
pub(super) struct Look<'l, 'w, 's> {
    pub(super) method: MethodId,
    pub(super) class: ClassId,
    pub(super) flow: &'l FlowClass,
    /// What each token leads to.
    pub(super) contents: Vec<Set>,
    /// What instructions make, by the numbers of the instructions.
    pub(super) tokens: FxHashMap<usize, Set>,
    /// Of which class exactly it is.
    pub(super) classes: FxHashMap<Set, ClassId>,
    pub(super) next: u32,
    /// What the method is given.
    pub(super) formals: Set,
    /// Which of that are arrays of numbers, whose elements lead nowhere.
    pub(super) numbers: Set,
    pub(super) returns: Set,
    pub(super) is_open: bool,
    pub(super) place: Option<Rc<str>>,
    /// What the instruction that is looked at uses.
    pub(super) now: String,
    pub(super) summaries: &'l mut Summaries<'w, 's>,
}

impl Look<'_, '_, '_> {
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

    /// Everything of `values` may be found from everything of `places`.
    pub(super) fn put(&mut self, places: Set, values: Set) {
        let is_own = self.place.is_none() && self.closure(values) & self.formals != 0;
        if places & STATIC != 0 && is_own {
            let method = self.summaries.world.describe(self.method);
            self.place = Some(format!("{method} by {}", self.now).into());
        }
        for place in bits(places) {
            self.contents[place] |= values;
        }
    }

    /// What an instruction makes.
    pub(super) fn token(&mut self, index: usize) -> Set {
        if let Some(&known) = self.tokens.get(&index) {
            return known;
        }
        let token = if self.next < MOST_TOKENS { 1 << self.next } else { OTHERS };
        self.next += 1;
        self.tokens.insert(index, token);
        token
    }

    /// One pass over the code, to the end of all that can be found with the contents known so far.
    fn pass(&mut self, body: &FlowBody, locals: &[Set]) {
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
                        place => *place = Some(state.clone()),
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
            Operation::Stack(opcode) => move_slots(opcode, &mut state.stack),
            Operation::Load(slot) => {
                state.stack.push(state.locals.get(usize::from(slot)).copied().unwrap_or_default());
            }
            Operation::Store(slot) => {
                let value = state.pop();
                if let Some(place) = state.locals.get_mut(usize::from(slot)) {
                    *place = value;
                }
            }
            Operation::Overwrite { slot, slots } => {
                state.pops(usize::from(slots));
                let places = state.locals.iter_mut().skip(usize::from(slot)).take(usize::from(slots));
                places.for_each(|place| *place = 0);
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
                self.now = "an array".to_owned();
                self.put(if array == CONSTANT_ARRAY { STATIC } else { array }, value);
            }
            Operation::GetField(number) => {
                let descriptor = &self.flow.field_references[usize::from(number)].descriptor;
                let object = state.pop();
                // Threads are everybody's.
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
                self.now = self.flow.field_references[usize::from(number)].name.clone();
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
                self.now = self.flow.field_references[usize::from(number)].name.clone();
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

    /// What a static field leads to.
    fn static_value(&mut self, field: &MemberReference) -> Set {
        if self.is_constant(&field.descriptor) {
            return 0;
        }
        let world = &mut *self.summaries.world;
        let class = world.load(&field.class);
        match (field.descriptor.as_str(), world.is_final_field(class, &field.name)) {
            (descriptor, true) if descriptor.starts_with('[') => CONSTANT_ARRAY,
            // Something to lock, or to recognise.
            ("Ljava/lang/Object;", true) => 0,
            _ => STATIC,
        }
    }

    /// Whether what a static field of this type leads to keeps nothing of what it is given.
    fn is_constant(&mut self, descriptor: &str) -> bool {
        let Some(name) = descriptor.strip_prefix('L').and_then(|name| name.strip_suffix(';')) else {
            return !descriptor.starts_with('[');
        };
        CONSTANTS.iter().any(|begin| name.starts_with(begin)) || self.carries_nothing(descriptor)
    }

    /// Whether objects of this type lead to none of the program: those of the JDK's enumerations as well.
    pub(super) fn carries_nothing(&mut self, descriptor: &str) -> bool {
        let name = descriptor.strip_prefix('L').and_then(|name| name.strip_suffix(';'));
        is_inert(descriptor)
            || name.is_some_and(|name| {
                let class = self.summaries.world.load(name);
                self.summaries.world.class(class).is_enum()
            })
    }
}

/// Takes a call's references from the stack, the receiver first.
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
