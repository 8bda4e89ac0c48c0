//! What one method calls, instantiates and names.

use fissure_classfile::flow::{InvokeKind, MemberReference, Operation};

use super::{Key, Linked, Reach, Scan, class_name, linked, loaded_by_name};
use crate::{
    jdk::Reason,
    world::{ClassId, Kind, MethodId, Target, World, handle_kind},
};

impl Reach {
    pub(super) fn scan(&mut self, world: &mut World<'_>, method: MethodId) {
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
                // The element class can be read from an array at run time.
                Operation::ClassConstant(name) | Operation::NewArray(_, Some(name)) => {
                    self.name(world, &flow.classes[usize::from(name)], &mut scan);
                }
                Operation::New(name) => {
                    let class = world.load(&flow.classes[usize::from(name)]);
                    self.scan_new(world, class, &mut scan);
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
                    Linked::Lambda(class) => self.scan_new(world, class, &mut scan),
                    Linked::Harmless | Linked::Record => {}
                    Linked::Unknown => self.count(world, Reason::DynamicCalls, true),
                },
                Operation::UnknownConstant(_) => self.count(world, Reason::MethodHandles, true),
                _ => {}
            }
        }
        self.scans.insert(method, scan);
    }

    /// A lambda object calls the target of its method handle.
    pub(super) fn scan_lambda(&mut self, world: &mut World<'_>, class: ClassId, scan: &mut Scan) {
        let Some(lambda) = world.class(class).lambda.clone() else { return };
        match handle_kind(&lambda.handle) {
            Some(kind) => {
                if lambda.handle.kind == 8 {
                    let class = world.load(&lambda.handle.target.class);
                    self.scan_new(world, class, scan);
                }
                self.call(world, kind, &lambda.handle.target, scan);
            }
            None => self.count(world, Reason::MethodHandles, true),
        }
    }

    /// Code uses a class as an object. The constants of an enumeration can be read from its class.
    pub(super) fn name(&mut self, world: &mut World<'_>, class: &str, scan: &mut Scan) {
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

    /// `Class.forName` with a constant name only initializes that class.
    pub(super) fn load_by_name(&mut self, world: &mut World<'_>, name: &str, scan: &mut Scan) {
        if name.starts_with('[') {
            self.name(world, &name.replace('.', "/"), scan);
        } else if let Some(name) = class_name(name) {
            self.name(world, &name, scan);
            let class = world.load(&name);
            self.initialize(world, class, scan);
        }
    }

    pub(super) fn scan_new(&mut self, world: &mut World<'_>, class: ClassId, scan: &mut Scan) {
        self.initialize(world, class, scan);
        match world.class(class).kind {
            Kind::Application | Kind::Outer | Kind::Inner => {
                self.instantiate(world, class);
                if !scan.instantiated.contains(&class) {
                    scan.instantiated.push(class);
                }
            }
            Kind::Jdk => {}
            Kind::Missing => self.count(world, Reason::MissingClasses, false),
        }
    }

    pub(super) fn initialize(&mut self, world: &mut World<'_>, class: ClassId, scan: &mut Scan) {
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

    pub(super) fn call(
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

    /// The key of a call whose target depends on the receiver.
    pub(super) fn key(
        &mut self,
        world: &mut World<'_>,
        kind: InvokeKind,
        reference: &MemberReference,
    ) -> Option<usize> {
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
        for subtype in self.instantiated_below.get(&class).cloned().unwrap_or_default() {
            self.extend(world, number, subtype);
        }
        Some(number)
    }

    /// The targets of a call other than those of its key: the method itself if it cannot be overridden, and methods of the JDK.
    pub(super) fn targets(
        &self,
        world: &mut World<'_>,
        kind: InvokeKind,
        reference: &MemberReference,
    ) -> Vec<Target> {
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
            // The instantiations of described JDK classes are not known, so the row of the class that the code names applies,
            // even if a private interface of the JDK declares the method.
            (Kind::Jdk, _) => vec![Target::Jdk(class)],
            // The same holds for classes that code with a row may instantiate: the receiver may be of any subclass.
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
}
