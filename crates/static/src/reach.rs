//! Which methods can run, of the program and of the part of the JDK that is analysed: from `main`, by rapid type analysis.
//!
//! A virtual call leads to the methods of all classes of which an object may have been made. What the JDK calls back
//! belongs to the making of the object: whoever has one may hand it to the JDK.

use std::{
    collections::{BTreeMap, hash_map::Entry},
    rc::Rc,
};

use fissure_classfile::flow::{Dynamic, FlowBody, FlowClass, InvokeKind, MemberReference, Operation, types};
use rustc_hash::{FxHashMap, FxHashSet};

use crate::{
    jdk::{self, Opens, Reason},
    world::{ClassId, Kind, Lambda, MethodId, Target, World, handle_kind},
};

/// The kind of handles that read a field of an object.
const GETTER: u8 = 1;

/// Whoever reaches more methods of the JDK than this has reached all kinds of things.
const MOST_JDK_METHODS: usize = 8000;

/// What an `invokedynamic` is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Linked {
    /// It makes an object of this class.
    Lambda(ClassId),
    /// It makes a text or chooses a case.
    Harmless,
    /// It compares or describes records.
    Record,
    /// Nobody knows.
    Unknown,
}

/// Virtual calls of one method by one class or interface.
#[derive(Debug)]
struct Key {
    name: Rc<str>,
    descriptor: Rc<str>,
    /// Whether classes of other packages cannot override what is named.
    is_package_private: bool,
    targets: Vec<Target>,
}

/// What a method does, as far as the call graph is concerned.
#[derive(Debug, Default)]
pub(crate) struct Scan {
    direct: Vec<MethodId>,
    keys: Vec<usize>,
    /// Classes of the program of which it makes objects.
    made: Vec<ClassId>,
}

/// What can be reached.
pub(crate) struct Reach {
    pub(crate) scans: FxHashMap<MethodId, Scan>,
    /// In the order in which they were found.
    pub(crate) methods: Vec<MethodId>,
    keys: Vec<Key>,
    key_numbers: FxHashMap<(ClassId, Rc<str>, Rc<str>), usize>,
    keys_by_class: FxHashMap<ClassId, Vec<usize>>,
    made: FxHashSet<ClassId>,
    made_below: FxHashMap<ClassId, Vec<ClassId>>,
    /// Classes that somebody unknown may make.
    exposed: FxHashSet<ClassId>,
    callbacks: FxHashMap<ClassId, Rc<Vec<MethodId>>>,
    waiting: Vec<MethodId>,
    /// Methods that somebody unknown may call.
    pub(crate) unknown: Vec<MethodId>,
    /// What had to be taken for possibly anything, with the number of places in the code.
    pub(crate) conservative: BTreeMap<String, u64>,
    /// The method that is looked at.
    current: Option<MethodId>,
    /// The method that each was reached from first.
    reached_from: FxHashMap<MethodId, MethodId>,
    jdk_methods: usize,
    /// Whether anything may be called by name.
    pub(crate) is_open: bool,
    /// Whether static fields may be accessed in unknown ways.
    pub(crate) statics_exposed: bool,
    /// What else makes classes reachable that no code was seen to make.
    demands: Demands,
    /// Strings of the code that runs; some may be names of classes.
    texts: FxHashSet<String>,
    /// Classes of the program that the code asks about as such.
    named: FxHashSet<ClassId>,
    /// The same for classes of the JDK.
    named_of_jdk: FxHashSet<String>,
}

/// Kinds of classes that may be made by the JDK because the program asks it to.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
struct Demands {
    services: bool,
    bundles: bool,
    properties: bool,
    /// Static fields, whose classes are initialized by the first access.
    statics: bool,
}

impl Reach {
    /// Finds what can be reached from the roots. If code of the JDK is followed, it stops where anything may happen.
    ///
    /// `made` are classes whose objects are made by nobody knows whom; so are those of `providers`, but only if the program
    /// asks for services.
    pub(crate) fn new(
        world: &mut World<'_>,
        roots: &[MethodId],
        made: &[ClassId],
        providers: &[String],
    ) -> Reach {
        let mut reach = Reach {
            scans: FxHashMap::default(),
            methods: Vec::new(),
            keys: Vec::new(),
            key_numbers: FxHashMap::default(),
            keys_by_class: FxHashMap::default(),
            made: FxHashSet::default(),
            made_below: FxHashMap::default(),
            exposed: FxHashSet::default(),
            callbacks: FxHashMap::default(),
            waiting: Vec::new(),
            unknown: Vec::new(),
            conservative: BTreeMap::new(),
            current: None,
            reached_from: FxHashMap::default(),
            jdk_methods: 0,
            is_open: false,
            statics_exposed: false,
            demands: Demands::default(),
            texts: FxHashSet::default(),
            named: FxHashSet::default(),
            named_of_jdk: FxHashSet::default(),
        };
        for &root in roots {
            reach.add(world, root);
            let class = world.method(root).class;
            world.initializers(class).into_iter().for_each(|method| reach.add(world, method));
        }
        for &class in made {
            reach.expose(world, class);
        }
        reach.run(world);
        while reach.meet_demands(world, providers) {}
        reach.current = None;
        if reach.made.iter().any(|&class| {
            let is_own = world.class(class).kind == Kind::Application;
            is_own
                && world.supertypes(class).iter().any(|&supertype| {
                    let class = world.class(supertype);
                    class.kind.is_of_jdk() && jdk::loads_by_name(&class.name)
                })
        }) {
            reach.count(world, Reason::Providers, true);
        }
        if world.unreadable > 0 {
            reach.conservative.insert(Reason::UnreadableClasses.name().to_owned(), world.unreadable);
            reach.is_open = true;
        }
        if reach.is_open && !world.follows() {
            reach.open(world);
        }
        reach
    }

    /// Keeps what an earlier look found to be possibly anything.
    pub(crate) fn keep(&mut self, found: BTreeMap<String, u64>) {
        let before = self.conservative.len();
        for (name, count) in found {
            self.conservative.entry(name).or_insert(count);
        }
        // Where the JDK does it is known then.
        if self.conservative.len() > before {
            self.conservative.remove(Reason::OtherLibraries.name());
        }
    }

    fn run(&mut self, world: &mut World<'_>) {
        while let Some(method) = self.waiting.pop() {
            if world.follows() && self.is_open {
                return;
            }
            self.current = Some(method);
            self.scan(world, method);
        }
    }

    /// Makes what the JDK makes because the program asks it to. Says whether that reached anything new.
    fn meet_demands(&mut self, world: &mut World<'_>, providers: &[String]) -> bool {
        let size = |reach: &Reach| {
            let named = reach.named.len() + reach.named_of_jdk.len();
            (reach.methods.len(), reach.demands, reach.texts.len(), named)
        };
        let before = size(self);
        let mut wanted: Vec<ClassId> = Vec::new();
        if self.demands.services {
            wanted.extend(providers.iter().map(|name| world.load(name)));
            if world.follows() {
                for service in self.named_of_jdk.clone() {
                    wanted.extend(world.jdk_providers(&service).iter().map(|name| world.load(name)));
                }
            }
        }
        if self.demands.bundles {
            for name in world.application_below("java/util/ResourceBundle") {
                wanted.push(world.load(&name));
            }
        }
        if self.demands.properties {
            for name in self.texts.iter().filter_map(|text| class_name(text)) {
                if world.is_application(&name) {
                    wanted.push(world.load(&name));
                }
            }
        }
        for class in wanted {
            if self.exposed.insert(class) {
                self.expose(world, class);
            }
        }
        if self.demands.statics {
            for class in self.named.clone() {
                for method in world.initializers(class) {
                    self.add(world, method);
                    if !self.unknown.contains(&method) {
                        self.unknown.push(method);
                    }
                }
            }
        }
        self.run(world);
        before != size(self)
    }

    /// Anything of the program may be called by anybody. What that reaches is no reason for it.
    fn open(&mut self, world: &mut World<'_>) {
        let reasons = self.conservative.clone();
        for name in world.application_names() {
            let class = world.load(&name);
            self.expose(world, class);
            self.run(world);
        }
        self.conservative = reasons;
        self.unknown.clone_from(&self.methods);
    }

    /// Objects of a class may be made, and its methods called, by nobody knows whom.
    fn expose(&mut self, world: &mut World<'_>, class: ClassId) {
        if !world.class(class).kind.is_followed() {
            return;
        }
        self.make(world, class);
        let callbacks = self.callbacks(world, class);
        self.unknown.extend(callbacks.iter().copied());
        for index in 0..world.class(class).flow.methods.len() {
            if world.class(class).flow.methods[index].body.is_some() {
                let method = world.declared(class, index as u32);
                self.add(world, method);
                self.unknown.push(method);
            }
        }
    }

    fn add(&mut self, world: &World<'_>, method: MethodId) {
        if let Entry::Vacant(place) = self.scans.entry(method) {
            place.insert(Scan::default());
            self.methods.push(method);
            self.waiting.push(method);
            if let Some(from) = self.current {
                self.reached_from.insert(method, from);
            }
            if world.class(world.method(method).class).kind.is_of_jdk() {
                self.jdk_methods += 1;
                if self.jdk_methods == MOST_JDK_METHODS {
                    self.count(world, Reason::TooMuch, true);
                }
            }
        }
    }

    /// An object of the class may be made.
    fn make(&mut self, world: &mut World<'_>, class: ClassId) {
        if !world.class(class).kind.is_followed() || !self.made.insert(class) {
            return;
        }
        let supertypes = world.supertypes(class);
        for &supertype in supertypes.iter() {
            self.made_below.entry(supertype).or_default().push(class);
            for key in self.keys_by_class.get(&supertype).cloned().unwrap_or_default() {
                self.extend(world, key, class);
            }
        }
        let callbacks = self.callbacks(world, class);
        callbacks.iter().for_each(|&method| self.add(world, method));
    }

    fn extend(&mut self, world: &mut World<'_>, key: usize, class: ClassId) {
        let (name, descriptor) = (self.keys[key].name.clone(), self.keys[key].descriptor.clone());
        let target = dispatch(world, class, &name, &descriptor);
        self.aim(world, key, target);
        // A class of another package may declare the same method and not override it.
        if self.keys[key].is_package_private {
            for hidden in world.package_private(class, &name, &descriptor) {
                self.aim(world, key, Target::Method(hidden));
            }
        }
    }

    fn aim(&mut self, world: &World<'_>, key: usize, target: Target) {
        if target == Target::Abstract || self.keys[key].targets.contains(&target) {
            return;
        }
        self.keys[key].targets.push(target);
        match target {
            Target::Method(method) => self.add(world, method),
            Target::Native => self.count(world, Reason::NativeCode, true),
            Target::Unknown => self.count(world, Reason::MissingClasses, false),
            Target::Jdk(class) => {
                let (name, descriptor) = (self.keys[key].name.clone(), self.keys[key].descriptor.clone());
                self.enter_jdk(world, class, &name, &descriptor);
            }
            Target::Abstract => {}
        }
    }

    /// The JDK may do something that opens the program.
    fn enter_jdk(&mut self, world: &World<'_>, class: ClassId, name: &str, descriptor: &str) {
        match world.effect(class, name, descriptor).opens {
            // What the JDK's own native methods do is asked where they are called.
            Opens::World(Reason::NativeCode)
                if &*world.class(class).name == "java/lang/System" && self.is_in_jdk(world) => {}
            Opens::World(reason) => self.count(world, reason, true),
            Opens::Statics => {
                self.statics_exposed = true;
                self.demands.statics = true;
            }
            Opens::Services => self.demands.services = true,
            // Modules have providers of bundles.
            Opens::Bundles => {
                self.demands.bundles = true;
                self.demands.services = true;
            }
            Opens::Properties => self.demands.properties = true,
            Opens::Nothing => {}
        }
    }

    fn is_in_jdk(&self, world: &World<'_>) -> bool {
        self.current.is_some_and(|method| world.class(world.method(method).class).kind.is_of_jdk())
    }

    /// What the method that is looked at does may be anything. If it is one of the JDK's, the program needs to know which of its
    /// own calls leads there.
    fn count(&mut self, world: &World<'_>, reason: Reason, opens: bool) {
        let mut name = reason.name().to_owned();
        if self.is_in_jdk(world) {
            let mut entry = self.current;
            while let Some(from) = entry.and_then(|method| self.reached_from.get(&method))
                && world.class(world.method(*from).class).kind.is_of_jdk()
            {
                entry = Some(*from);
            }
            let texts = [entry, self.current].map(|method| method.map(|method| world.describe(method)));
            if let [Some(entry), Some(place)] = texts {
                name.push_str(&format!(" in the JDK, in {place}"));
                if entry != place {
                    name.push_str(&format!(", which {entry} leads to"));
                }
            }
        }
        *self.conservative.entry(name).or_default() += 1;
        self.is_open |= opens;
    }

    /// The methods of a class that the JDK may call: those that it declares itself.
    pub(crate) fn callbacks(&mut self, world: &mut World<'_>, class: ClassId) -> Rc<Vec<MethodId>> {
        if let Some(known) = self.callbacks.get(&class) {
            return known.clone();
        }
        let mut found = Vec::new();
        let supertypes = world.supertypes(class);
        for &supertype in supertypes.iter() {
            if matches!(world.class(supertype).kind, Kind::Jdk | Kind::Inner) {
                for (name, descriptor) in world.callable(supertype) {
                    match dispatch(world, class, &name, &descriptor) {
                        Target::Method(method) if !found.contains(&method) => found.push(method),
                        Target::Native => self.count(world, Reason::NativeCode, true),
                        Target::Jdk(declaring) if world.class(declaring).kind.is_followed() => {
                            self.enter_jdk(world, declaring, &name, &descriptor);
                        }
                        _ => {}
                    }
                }
            }
        }
        if world.has_missing_supertype(class) {
            self.count(world, Reason::MissingClasses, false);
        }
        let found = Rc::new(found);
        self.callbacks.insert(class, found.clone());
        found
    }

    fn scan(&mut self, world: &mut World<'_>, method: MethodId) {
        let info = world.method(method).clone();
        let mut scan = Scan::default();
        let Some(index) = info.index else {
            self.scan_lambda(world, info.class, &mut scan);
            self.scans.insert(method, scan);
            return;
        };
        let flow = world.class(info.class).flow.clone();
        let Some(body) = &flow.methods[index as usize].body else { return };
        for (index, instruction) in body.instructions.iter().enumerate() {
            match instruction.operation {
                Operation::Text(number) => {
                    self.texts.insert(flow.texts[usize::from(number)].clone());
                }
                // An array tells the class of its elements.
                Operation::ClassConstant(name) | Operation::NewArray(_, Some(name)) => {
                    self.name(world, &flow.classes[usize::from(name)], &mut scan);
                }
                Operation::New(name) => {
                    let class = world.load(&flow.classes[usize::from(name)]);
                    self.made(world, class, &mut scan);
                }
                Operation::GetStatic(reference) | Operation::PutStatic(reference) => {
                    let class = world.load(&flow.field_references[usize::from(reference)].class);
                    self.initialize(world, class, &mut scan);
                }
                Operation::Invoke(kind, reference) => {
                    let reference = &flow.method_references[usize::from(reference)];
                    match loaded_by_name(&flow, body, index, reference) {
                        Some(class) => self.load_by_name(world, class, &mut scan),
                        None => self.call(world, kind, reference, &mut scan),
                    }
                }
                Operation::InvokeDynamic(number) => match linked(world, info.class, &flow, number) {
                    Linked::Lambda(class) => self.made(world, class, &mut scan),
                    Linked::Harmless | Linked::Record => {}
                    Linked::Unknown => self.count(world, Reason::DynamicCalls, true),
                },
                Operation::UnknownConstant(_) => self.count(world, Reason::MethodHandles, true),
                _ => {}
            }
        }
        self.scans.insert(method, scan);
    }

    /// A lambda's object calls what its handle leads to.
    fn scan_lambda(&mut self, world: &mut World<'_>, class: ClassId, scan: &mut Scan) {
        let Some(lambda) = world.class(class).lambda.clone() else { return };
        match handle_kind(&lambda.handle) {
            Some(kind) => {
                if lambda.handle.kind == 8 {
                    let class = world.load(&lambda.handle.target.class);
                    self.made(world, class, scan);
                }
                self.call(world, kind, &lambda.handle.target, scan);
            }
            None => self.count(world, Reason::MethodHandles, true),
        }
    }

    /// Code asks about a class. Whoever has an enumeration's class can have its constants.
    fn name(&mut self, world: &mut World<'_>, class: &str, scan: &mut Scan) {
        let name = class.trim_start_matches('[');
        let name = match name.len() == class.len() {
            true => name,
            false => name.strip_prefix('L').and_then(|name| name.strip_suffix(';')).unwrap_or_default(),
        };
        if !world.is_application(name) {
            self.named_of_jdk.insert(name.to_owned());
            return;
        }
        let class = world.load(name);
        self.named.insert(class);
        if world.class(class).is_enum() {
            self.initialize(world, class, scan);
        }
    }

    /// `Class.forName` with a name that is known: the class is initialized, and nothing else.
    fn load_by_name(&mut self, world: &mut World<'_>, name: &str, scan: &mut Scan) {
        if name.starts_with('[') {
            self.name(world, &name.replace('.', "/"), scan);
        } else if let Some(name) = class_name(name) {
            self.name(world, &name, scan);
            let class = world.load(&name);
            self.initialize(world, class, scan);
        }
    }

    fn made(&mut self, world: &mut World<'_>, class: ClassId, scan: &mut Scan) {
        self.initialize(world, class, scan);
        match world.class(class).kind {
            Kind::Application | Kind::Outer | Kind::Inner => {
                self.make(world, class);
                if !scan.made.contains(&class) {
                    scan.made.push(class);
                }
            }
            Kind::Jdk => {}
            Kind::Missing => self.count(world, Reason::MissingClasses, false),
        }
    }

    fn initialize(&mut self, world: &mut World<'_>, class: ClassId, scan: &mut Scan) {
        if !world.class(class).kind.is_followed() {
            return;
        }
        for method in world.initializers(class) {
            self.add(world, method);
            if !scan.direct.contains(&method) {
                scan.direct.push(method);
            }
        }
    }

    fn call(
        &mut self,
        world: &mut World<'_>,
        kind: InvokeKind,
        reference: &MemberReference,
        scan: &mut Scan,
    ) {
        if kind == InvokeKind::Static {
            let class = world.load(&reference.class);
            self.initialize(world, class, scan);
        }
        for target in self.targets(world, kind, reference) {
            match target {
                Target::Method(method) => {
                    self.add(world, method);
                    scan.direct.push(method);
                }
                Target::Native => self.count(world, Reason::NativeCode, true),
                Target::Unknown => self.count(world, Reason::MissingClasses, false),
                Target::Jdk(class) => {
                    self.enter_jdk(world, class, &reference.name, &reference.descriptor);
                }
                Target::Abstract => {}
            }
        }
        if let Some(key) = self.key(world, kind, reference)
            && !scan.keys.contains(&key)
        {
            scan.keys.push(key);
        }
    }

    /// The key of a call that depends on its receiver.
    fn key(&mut self, world: &mut World<'_>, kind: InvokeKind, reference: &MemberReference) -> Option<usize> {
        if !matches!(kind, InvokeKind::Virtual | InvokeKind::Interface) || reference.class.starts_with('[') {
            return None;
        }
        let class = world.load(&reference.class);
        let selector = world.selector(&reference.name, &reference.descriptor);
        if let Target::Method(method) = world.resolve(class, selector)
            && world.is_exact(method)
        {
            return None;
        }
        let names = (class, reference.name.as_str().into(), reference.descriptor.as_str().into());
        if let Some(&known) = self.key_numbers.get(&names) {
            return Some(known);
        }
        let number = self.keys.len();
        let is_package_private = world.names_package_private(class, selector);
        let (name, descriptor) = (names.1.clone(), names.2.clone());
        self.keys.push(Key { name, descriptor, is_package_private, targets: Vec::new() });
        self.key_numbers.insert(names, number);
        self.keys_by_class.entry(class).or_default().push(number);
        for below in self.made_below.get(&class).cloned().unwrap_or_default() {
            self.extend(world, number, below);
        }
        Some(number)
    }

    /// What a call leads to apart from what its key says: the method itself if that is certain, and the JDK's.
    fn targets(&self, world: &mut World<'_>, kind: InvokeKind, reference: &MemberReference) -> Vec<Target> {
        let class = match reference.class.starts_with('[') {
            true => world.load("java/lang/Object"),
            false => world.load(&reference.class),
        };
        let selector = world.selector(&reference.name, &reference.descriptor);
        let target = world.resolve(class, selector);
        let is_virtual = matches!(kind, InvokeKind::Virtual | InvokeKind::Interface);
        let is_certain = match target {
            Target::Method(method) => world.is_exact(method) || world.is_package_private(method),
            _ => false,
        };
        match (world.class(class).kind, target) {
            (Kind::Missing, _) => vec![Target::Unknown],
            // Objects of the JDK's own classes are not among those whose making was seen. Private interfaces of the JDK's
            // classes go by the name in the code.
            (Kind::Jdk, _) => vec![Target::Jdk(class)],
            // Nor are those of classes that code with a row knows. What a row tells holds for all of them.
            (Kind::Inner, Target::Method(method)) if is_virtual && !world.is_exact(method) => {
                vec![Target::Jdk(class)]
            }
            (Kind::Inner, Target::Abstract) if is_virtual => vec![Target::Jdk(class)],
            (_, Target::Abstract) if !is_virtual => vec![Target::Unknown],
            (_, Target::Abstract) => Vec::new(),
            (_, Target::Method(_)) if is_virtual && !is_certain => Vec::new(),
            (_, target) => vec![target],
        }
    }

    /// Everything that a call may lead to.
    pub(crate) fn all_targets(
        &mut self,
        world: &mut World<'_>,
        kind: InvokeKind,
        reference: &MemberReference,
    ) -> Vec<Target> {
        let mut targets = self.targets(world, kind, reference);
        if let Some(key) = self.key(world, kind, reference) {
            for &target in &self.keys[key].targets {
                if !targets.contains(&target) {
                    targets.push(target);
                }
            }
        }
        targets
    }

    /// The methods that a method may call, what the JDK calls on the objects that it makes included.
    pub(crate) fn callees(&mut self, world: &mut World<'_>, method: MethodId) -> Vec<MethodId> {
        let Some(scan) = self.scans.get(&method) else { return Vec::new() };
        let made = scan.made.clone();
        let mut all: FxHashSet<MethodId> = scan.direct.iter().copied().collect();
        for &key in &scan.keys {
            let methods = self.keys[key].targets.iter().filter_map(|target| match target {
                Target::Method(method) => Some(*method),
                _ => None,
            });
            all.extend(methods);
        }
        for class in made {
            all.extend(self.callbacks(world, class).iter().copied());
        }
        let mut all: Vec<MethodId> = all.into_iter().collect();
        all.sort_unstable();
        all
    }

    pub(crate) fn is_reached(&self, method: MethodId) -> bool {
        self.scans.contains_key(&method)
    }
}

/// The name that a call of `Class.forName` is given right before, if nobody jumps in between.
fn loaded_by_name<'f>(
    flow: &'f FlowClass,
    body: &FlowBody,
    index: usize,
    reference: &MemberReference,
) -> Option<&'f str> {
    let is_call = reference.class == "java/lang/Class"
        && reference.name == "forName"
        && reference.descriptor == "(Ljava/lang/String;)Ljava/lang/Class;";
    let is_target = body.targets.contains(&(index as u32))
        || body.handlers.iter().any(|handler| handler[2] as usize == index);
    if !is_call || is_target {
        return None;
    }
    match body.instructions.get(index.checked_sub(1)?)?.operation {
        Operation::Text(number) => Some(&flow.texts[usize::from(number)]),
        _ => None,
    }
}

/// The internal name of the class that a string of the program may name.
fn class_name(text: &str) -> Option<String> {
    let is_part = |part: &str| !part.is_empty() && !part.contains(['/', '\\', ':', ';', '[', ' ', '\0']);
    text.split('.').all(is_part).then(|| text.replace('.', "/"))
}

fn dispatch(world: &mut World<'_>, class: ClassId, name: &str, descriptor: &str) -> Target {
    if world.class(class).lambda.is_some() {
        return world.dispatch_lambda(class, name, descriptor);
    }
    let selector = world.selector(name, descriptor);
    world.dispatch(class, selector)
}

/// What a dynamic call of a class comes to.
pub(crate) fn linked(world: &mut World<'_>, class: ClassId, flow: &FlowClass, number: u16) -> Linked {
    let dynamic: &Dynamic = &flow.dynamics[usize::from(number)];
    let Some(bootstrap) = &dynamic.bootstrap else { return Linked::Unknown };
    match bootstrap.class.as_str() {
        "java/lang/invoke/StringConcatFactory" | "java/lang/runtime/SwitchBootstraps" => Linked::Harmless,
        "java/lang/runtime/ObjectMethods" if dynamic.handles.iter().all(|handle| handle.kind == GETTER) => {
            Linked::Record
        }
        "java/lang/invoke/LambdaMetafactory" => {
            let (Some(handle), Some(erased)) = (dynamic.handles.first(), dynamic.types.first()) else {
                return Linked::Unknown;
            };
            let result = types(&dynamic.descriptor).1;
            let Some(interface) = result.strip_prefix('L').and_then(|name| name.strip_suffix(';')) else {
                return Linked::Unknown;
            };
            let mut interfaces = vec![interface.to_owned()];
            interfaces.extend(dynamic.classes.iter().cloned());
            let mut descriptors = vec![erased.clone()];
            descriptors.extend(dynamic.types.iter().skip(2).cloned());
            let lambda = Lambda {
                name: dynamic.name.clone(),
                descriptors,
                handle: handle.clone(),
                captured: dynamic.descriptor.clone(),
            };
            Linked::Lambda(world.lambda(class, number, interfaces, lambda))
        }
        _ => Linked::Unknown,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn some_strings_are_names_of_classes() {
        for (text, expected) in [
            ("a.b.C$D", Some("a/b/C$D")),
            ("Main", Some("Main")),
            ("", None),
            ("a..b", None),
            ("/etc/passwd", None),
            ("two words", None),
            ("[La.B;", None),
        ] {
            assert_eq!(class_name(text).as_deref(), expected, "{text}");
        }
    }
}
