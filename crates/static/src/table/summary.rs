//! What a method of the JDK does with the objects that it is given, read off its code: where they get to, and in which direction.
//!
//! A set says which of some tokens a reference may lead to: what the method is given, what it makes, and [`STATIC`] for all that static
//! fields and other threads lead to. An object and all that it holds are one token. Other than the graph of the analysis
//! proper, this keeps apart what flows into a static field and what comes out of one, because empty arrays and other
//! constants come out of static fields all over the JDK.

use std::rc::Rc;

use fissure_classfile::flow::{FlowBody, FlowClass, InvokeKind, MemberReference, Operation, shape, types};
use rustc_hash::{FxHashMap, FxHashSet};

use crate::{
    graph::Level,
    jdk::{self, Effect},
    reach::{Linked, linked},
    walk::move_slots,
    world::{ClassId, MethodId, Target, World, handle_kind},
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

/// Classes whose code is looked into though the table says more of them than they do for others: streams are parallel only if
/// somebody says so.
const LOOKED_INTO: &[&str] = &["java/util/stream/StreamSupport"];

/// An array in a field that is final: most are empty and end up in all kinds of places, so that only what is stored into it right where it
/// was taken from the field counts.
const CONSTANT_ARRAY: Set = 1 << 125;

/// Methods of collections that do not store what they are given.
const LOOKS_UP: &[&str] =
    &["containsAll", "get", "containsKey", "contains", "indexOf", "remove", "equals", "iterator", "toArray"];

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
    callers: FxHashMap<MethodId, FxHashSet<MethodId>>,
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
        if !self.known.contains_key(&method) {
            self.known.insert(method, Summary::default());
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
struct State {
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
struct Look<'l, 'w, 's> {
    method: MethodId,
    class: ClassId,
    flow: &'l FlowClass,
    /// What each token leads to.
    contents: Vec<Set>,
    /// What instructions make, by the numbers of the instructions.
    tokens: FxHashMap<usize, Set>,
    /// Of which class exactly it is.
    classes: FxHashMap<Set, ClassId>,
    next: u32,
    /// What the method is given.
    formals: Set,
    /// Which of that are arrays of numbers, whose elements lead nowhere.
    numbers: Set,
    returns: Set,
    is_open: bool,
    place: Option<Rc<str>>,
    /// What the instruction that is looked at uses.
    now: String,
    summaries: &'l mut Summaries<'w, 's>,
}

impl Look<'_, '_, '_> {
    fn closure(&self, set: Set) -> Set {
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
    fn put(&mut self, places: Set, values: Set) {
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
    fn token(&mut self, index: usize) -> Set {
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
    fn carries_nothing(&mut self, descriptor: &str) -> bool {
        let name = descriptor.strip_prefix('L').and_then(|name| name.strip_suffix(';'));
        is_inert(descriptor)
            || name.is_some_and(|name| {
                let class = self.summaries.world.load(name);
                self.summaries.world.class(class).is_enum()
            })
    }

    /// The result of a call.
    fn call(&mut self, index: usize, kind: InvokeKind, reference: &MemberReference, values: &[Set]) -> Set {
        let all = values.iter().fold(0, |all, value| all | value);
        self.now = format!("{}.{}", reference.class, reference.name);
        if reference.class.starts_with('[') {
            return all | self.token(index);
        }
        if let Some(result) = self.memory(reference, values) {
            return result;
        }
        let is_described = jdk::is_described(&reference.class);
        let row = jdk::effect(&reference.class, &reference.name, &reference.descriptor);
        let class = self.summaries.world.load(&reference.class);
        let is_public = self.summaries.world.is_public(class, &reference.name, &reference.descriptor);
        // What the table says to be the worst is what is looked for.
        let is_looked_into = LOOKED_INTO.contains(&reference.class.as_str());
        if is_described
            && is_public
            && !is_looked_into
            && (row.level > Level::Local || row.opens.is_anything())
        {
            return self.described(index, &reference.name, row, values);
        }
        match self.certain(kind, class, reference, values.first().copied().unwrap_or_default()) {
            Some(Target::Method(method)) => self.enter(index, method, values),
            Some(Target::Jdk(declaring)) => {
                let name = self.summaries.world.class(declaring).name.clone();
                match jdk::is_described(&name) {
                    true => {
                        let row = jdk::effect(&name, &reference.name, &reference.descriptor);
                        self.described(index, &reference.name, row, values)
                    }
                    false => {
                        let effect = jdk::native_effect(&reference.name, &reference.descriptor);
                        self.is_open |= all != 0 && effect.level > Level::Local;
                        self.token(index)
                    }
                }
            }
            _ if is_described && is_public => self.described(index, &reference.name, row, values),
            _ => {
                self.is_open |= all & !STATIC != 0;
                self.link(values, false);
                all | self.token(index)
            }
        }
    }

    /// Accesses to memory by other means than instructions: an object, a place, values.
    fn memory(&mut self, reference: &MemberReference, values: &[Set]) -> Option<Set> {
        let class = reference.class.as_str();
        // What a phantom reference leads to, nobody ever gets.
        if matches!((class, reference.name.as_str()), ("java/lang/ref/PhantomReference", "<init>")) {
            return Some(0);
        }
        if (class, reference.name.as_str()) == ("java/lang/ref/Cleaner", "register") {
            self.put(STATIC, values.last().copied().unwrap_or_default());
            return Some(STATIC);
        }
        if (class, reference.name.as_str()) == ("java/lang/System", "arraycopy") {
            let [from, to] = *values else { return Some(0) };
            self.put(to, self.closure(from) & !self.numbers);
            return Some(0);
        }
        let is_memory = matches!(class, "java/lang/invoke/VarHandle" | "jdk/internal/misc/Unsafe")
            || class.starts_with("java/util/concurrent/atomic/") && class.ends_with("FieldUpdater");
        if !is_memory {
            return None;
        }
        let [_, object, values @ ..] = values else { return Some(0) };
        let values = values.iter().fold(0, |all, value| all | value);
        self.put(*object, values);
        Some(self.closure(*object) | values)
    }

    /// What a call leads to if nobody can override it.
    fn certain(
        &mut self,
        kind: InvokeKind,
        class: ClassId,
        reference: &MemberReference,
        receiver: Set,
    ) -> Option<Target> {
        let world = &mut *self.summaries.world;
        let selector = world.selector(&reference.name, &reference.descriptor);
        if matches!(kind, InvokeKind::Static | InvokeKind::Special) {
            return Some(world.resolve(class, selector));
        }
        if let Some(&made) = self.classes.get(&receiver) {
            return Some(world.dispatch(made, selector));
        }
        match world.resolve(class, selector) {
            Target::Method(method) if world.is_exact(method) => Some(Target::Method(method)),
            Target::Jdk(declaring) if world.is_exact_native(declaring, selector) => {
                Some(Target::Jdk(declaring))
            }
            _ => None,
        }
    }

    fn described(&mut self, index: usize, name: &str, row: Effect, values: &[Set]) -> Set {
        let all = values.iter().fold(0, |all, value| all | value);
        if row.level > Level::Local || row.opens.is_anything() {
            self.put(STATIC, all);
            return all | STATIC;
        }
        if row.links {
            self.link(values, LOOKS_UP.contains(&name));
            return all | self.token(index);
        }
        self.token(index)
    }

    /// Any of these may be found from any other afterwards.
    fn link(&mut self, values: &[Set], is_look: bool) {
        for (number, &place) in values.iter().enumerate() {
            for (other, &value) in values.iter().enumerate() {
                if number != other {
                    // Looking something up in what everybody has leaves nothing there.
                    self.put(if is_look { place & !STATIC } else { place }, value);
                }
            }
        }
    }

    fn enter(&mut self, index: usize, method: MethodId, values: &[Set]) -> Set {
        self.summaries.ask(method);
        self.summaries.callers.entry(method).or_default().insert(self.method);
        let summary = self.summaries.get(method);
        let map = |set: Set| {
            let own = bits(set & !STATIC).filter_map(|formal| values.get(formal));
            own.fold(set & STATIC, |all, value| all | value)
        };
        for (formal, held) in summary.holds.iter().enumerate() {
            if let Some(&place) = values.get(formal) {
                self.put(place, map(*held & !(1 << formal)));
            }
        }
        if self.place.is_none() && self.closure(map(summary.escapes)) & self.formals != 0 {
            self.place = summary.place.clone();
        }
        self.put(STATIC, map(summary.escapes));
        let is_given = values.iter().any(|value| *value != 0);
        self.is_open |= summary.is_open && is_given;
        map(summary.returns) | self.token(index)
    }

    fn dynamic(&mut self, index: usize, number: u16, state: &mut State) {
        let dynamic = &self.flow.dynamics[usize::from(number)];
        let captured = arguments(&dynamic.descriptor, false, state);
        let all = captured.iter().fold(0, |all, value| all | value);
        let result = types(&dynamic.descriptor).1;
        let token = self.token(index);
        match linked(self.summaries.world, self.class, self.flow, number) {
            Linked::Lambda(class) => {
                self.put(token, all);
                let lambda = self.summaries.world.class(class).lambda.clone();
                if let Some((lambda, kind)) =
                    lambda.and_then(|lambda| Some((lambda.clone(), handle_kind(&lambda.handle)?)))
                {
                    // Whoever calls it gives it what the object leads to.
                    let target = &lambda.handle.target;
                    let references = shape(&target.descriptor).0.iter().filter(|kind| **kind == b'L').count();
                    let values = vec![all | token; references + usize::from(kind != InvokeKind::Static)];
                    let given = self.call(usize::MAX - index, kind, target, &values);
                    self.put(token, given & !token);
                }
            }
            Linked::Harmless | Linked::Record => {}
            Linked::Unknown => self.is_open |= all != 0,
        }
        push(state, result, if is_inert(result) { 0 } else { token });
    }
}

/// Takes a call's references from the stack, the receiver first.
fn arguments(descriptor: &str, has_receiver: bool, state: &mut State) -> Vec<Set> {
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

fn push(state: &mut State, descriptor: &str, value: Set) {
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
