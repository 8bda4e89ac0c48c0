//! Computes which methods of the program, and of the analysed part of the JDK, are reachable from `main`, by rapid type
//! analysis.
//!
//! A virtual call may invoke the methods of all classes that may have been instantiated. Callbacks from the JDK are attributed
//! to the instantiation of an object, because any code that has the object may pass it to the JDK.

mod scanning;

use std::{
    collections::{BTreeMap, hash_map::Entry},
    rc::Rc,
};

use fissure_classfile::flow::{Dynamic, FlowBody, FlowClass, InvokeKind, MemberReference, Operation, types};
use rustc_hash::{FxHashMap, FxHashSet};

use crate::{
    jdk::{Opens, Reason},
    world::{ClassId, Kind, Lambda, MethodId, Target, World},
};

/// `REF_getField`: the kind of method handles that read a field of an object.
const GETTER: u8 = 1;

/// If more methods of the JDK than this are reachable, the analysis assumes that anything may happen.
const MOST_JDK_METHODS: usize = 8000;

/// The meaning of an `invokedynamic` instruction.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Linked {
    /// It creates an object of this lambda class.
    Lambda(ClassId),
    /// It concatenates strings or selects a case of a `switch`.
    Harmless,
    /// It is `equals`, `hashCode` or `toString` of a record.
    Record,
    /// Its bootstrap method is not known.
    Unknown,
}

/// A method that is called virtually through one class or interface.
#[derive(Debug)]
struct Key {
    name: Rc<str>,
    descriptor: Rc<str>,
    /// Whether the named method is package-private, so that classes of other packages cannot override it.
    is_package_private: bool,
    targets: Vec<Target>,
}

/// The calls and instantiations in a method.
#[derive(Debug, Default)]
pub(crate) struct Scan {
    direct: Vec<MethodId>,
    keys: Vec<usize>,
    /// The analysed classes that it instantiates.
    instantiated: Vec<ClassId>,
}

/// The reachable methods.
pub(crate) struct Reach {
    pub(crate) scans: FxHashMap<MethodId, Scan>,
    /// In the order in which they were found.
    pub(crate) methods: Vec<MethodId>,
    keys: Vec<Key>,
    key_numbers: FxHashMap<(ClassId, Rc<str>, Rc<str>), usize>,
    keys_by_class: FxHashMap<ClassId, Vec<usize>>,
    instantiated: FxHashSet<ClassId>,
    /// For each type its instantiated subtypes.
    instantiated_below: FxHashMap<ClassId, Vec<ClassId>>,
    /// Classes that unknown code may instantiate.
    exposed: FxHashSet<ClassId>,
    callbacks: FxHashMap<ClassId, Rc<Vec<MethodId>>>,
    waiting: Vec<MethodId>,
    /// Methods that unknown code may call.
    pub(crate) unknown: Vec<MethodId>,
    /// The reasons for assuming that anything may happen, with the number of sites in the code.
    pub(crate) conservative: BTreeMap<String, u64>,
    /// The method that is being scanned.
    current: Option<MethodId>,
    /// For each method the one from which it was reached first.
    reached_from: FxHashMap<MethodId, MethodId>,
    jdk_methods: usize,
    /// Whether unknown code may call any method of the program.
    pub(crate) is_open: bool,
    /// Whether static fields may be accessed in unknown ways.
    pub(crate) statics_exposed: bool,
    /// Requests of the program that make the JDK instantiate or initialize classes.
    demands: Demands,
    /// String constants of reachable code; some may be names of classes.
    texts: FxHashSet<String>,
    /// Classes of the program that the code uses as `Class` constants or element types.
    named: FxHashSet<ClassId>,
    /// The same for classes of the JDK.
    named_of_jdk: FxHashSet<String>,
}

/// Kinds of classes that the JDK may instantiate or initialize because the program requests it.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
struct Demands {
    services: bool,
    bundles: bool,
    properties: bool,
    /// Static fields by reflection or handles; the first access initializes the class.
    statics: bool,
}

impl Reach {
    /// Computes the methods that are reachable from the roots. If code of the JDK is analysed, the computation stops as soon
    /// as anything may happen.
    ///
    /// Unknown code may instantiate the classes in `exposed`, and those in `providers` if the program loads services.
    pub(crate) fn new(
        world: &mut World<'_>,
        roots: &[MethodId],
        exposed: &[ClassId],
        providers: &[String],
    ) -> Reach {
        let mut reach = Reach {
            scans: FxHashMap::default(),
            methods: Vec::new(),
            keys: Vec::new(),
            key_numbers: FxHashMap::default(),
            keys_by_class: FxHashMap::default(),
            instantiated: FxHashSet::default(),
            instantiated_below: FxHashMap::default(),
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
        for &class in exposed {
            reach.expose(world, class);
        }
        reach.run(world);
        while reach.meet_demands(world, providers) {}
        reach.current = None;
        if reach.instantiated.iter().any(|&class| {
            let is_own = world.class(class).kind == Kind::Application;
            is_own
                && world.supertypes(class).iter().any(|&supertype| {
                    let class = world.class(supertype);
                    class.kind.is_of_jdk() && fissure_jdk::loads_by_name(&class.name)
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

    /// Adds the reasons that an earlier computation found.
    pub(crate) fn keep(&mut self, found: BTreeMap<String, u64>) {
        let before = self.conservative.len();
        for (name, count) in found {
            self.conservative.entry(name).or_insert(count);
        }
        // These name the methods of the JDK, so the general reason is not needed.
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

    /// Instantiates and initializes the classes that the program requests from the JDK. Returns whether anything new was reached.
    fn meet_demands(&mut self, world: &mut World<'_>, providers: &[String]) -> bool {
        let size = |reach: &Reach| {
            let named = reach.named.len() + reach.named_of_jdk.len();
            (reach.methods.len(), reach.demands, reach.texts.len(), named)
        };
        let before = size(self);
        let mut requested: Vec<ClassId> = Vec::new();
        if self.demands.services {
            requested.extend(providers.iter().map(|name| world.load(name)));
            if world.follows() {
                for service in self.named_of_jdk.clone() {
                    requested.extend(world.jdk_providers(&service).iter().map(|name| world.load(name)));
                }
            }
        }
        if self.demands.bundles {
            for name in world.application_below("java/util/ResourceBundle") {
                requested.push(world.load(&name));
            }
        }
        if self.demands.properties {
            for name in self.texts.iter().filter_map(|text| class_name(text)) {
                if world.is_application(&name) {
                    requested.push(world.load(&name));
                }
            }
        }
        for class in requested {
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

    /// Makes all methods of the program callable by unknown code. Reasons found on the way are dropped, because they are only
    /// consequences.
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

    /// Unknown code may instantiate a class and call its methods.
    fn expose(&mut self, world: &mut World<'_>, class: ClassId) {
        if !world.class(class).kind.is_followed() {
            return;
        }
        self.instantiate(world, class);
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
        if let Entry::Vacant(entry) = self.scans.entry(method) {
            entry.insert(Scan::default());
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

    /// The class may be instantiated.
    fn instantiate(&mut self, world: &mut World<'_>, class: ClassId) {
        if !world.class(class).kind.is_followed() || !self.instantiated.insert(class) {
            return;
        }
        let supertypes = world.supertypes(class);
        for &supertype in supertypes.iter() {
            self.instantiated_below.entry(supertype).or_default().push(class);
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
        self.add_target(world, key, target);
        // A class of another package may declare the same method without overriding it.
        if self.keys[key].is_package_private {
            for hidden in world.package_private(class, &name, &descriptor) {
                self.add_target(world, key, Target::Method(hidden));
            }
        }
    }

    fn add_target(&mut self, world: &World<'_>, key: usize, target: Target) {
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

    /// Records what a call of the JDK makes possible.
    fn enter_jdk(&mut self, world: &World<'_>, class: ClassId, name: &str, descriptor: &str) {
        match world.effect(class, name, descriptor).opens {
            // The JDK's own native methods are checked where they are called, not where their library is loaded.
            Opens::World(Reason::NativeCode)
                if &*world.class(class).name == "java/lang/System" && self.is_in_jdk(world) => {}
            Opens::World(reason) => self.count(world, reason, true),
            Opens::Statics => {
                self.statics_exposed = true;
                self.demands.statics = true;
            }
            Opens::Services => self.demands.services = true,
            // Modules may register providers of resource bundles as services.
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

    /// Counts a reason for assuming that the scanned method may do anything. If the method belongs to the JDK, the text also
    /// names the method of the JDK through which the program reached it.
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
            if let [Some(entry), Some(method)] = texts {
                name.push_str(&format!(" in the JDK, in {method}"));
                if entry != method {
                    name.push_str(&format!(", which {entry} leads to"));
                }
            }
        }
        *self.conservative.entry(name).or_default() += 1;
        self.is_open |= opens;
    }

    /// The methods of a class that the JDK may call: those that types of the JDK declare.
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

    /// All possible targets of a call.
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

    /// The methods that a method may call, including callbacks of the JDK on the objects that it creates.
    pub(crate) fn callees(&mut self, world: &mut World<'_>, method: MethodId) -> Vec<MethodId> {
        let Some(scan) = self.scans.get(&method) else { return Vec::new() };
        let instantiated = scan.instantiated.clone();
        let mut all: FxHashSet<MethodId> = scan.direct.iter().copied().collect();
        for &key in &scan.keys {
            let methods = self.keys[key].targets.iter().filter_map(|target| match target {
                Target::Method(method) => Some(*method),
                _ => None,
            });
            all.extend(methods);
        }
        for class in instantiated {
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

/// The constant that the instruction before a call of `Class.forName` pushes, if the call is no jump target.
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

/// The meaning of an `invokedynamic` instruction of a class.
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
    fn strings_may_be_class_names() {
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
