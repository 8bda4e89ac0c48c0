//! The resolution of methods and fields: which one a name in a class means, and which one a call invokes.

use fissure_classfile::{
    AccessFlags,
    flow::{Operation, shape},
};

use super::{ClassId, Field, FieldTarget, Kind, Method, MethodId, Selector, Target, World};
use crate::{
    graph::FieldKey,
    jdk::{self, Effect},
};

impl World<'_> {
    /// The number of a method that a class declares.
    pub(crate) fn declared(&mut self, class: ClassId, index: u32) -> MethodId {
        if let Some(&known) = self.method_numbers.get(&(class, Some(index))) {
            return known;
        }
        let flow = self.class(class).flow.clone();
        let method = &flow.methods[index as usize];
        let (parameters, result) = shape(&method.descriptor);
        self.push(Method {
            class,
            index: Some(index),
            is_static: method.access.contains(AccessFlags::STATIC),
            parameters: parameters.into(),
            returns_reference: result == Some(b'L'),
        })
    }

    /// The method of a lambda class.
    pub(crate) fn lambda_method(&mut self, class: ClassId) -> Option<MethodId> {
        if let Some(&known) = self.method_numbers.get(&(class, None)) {
            return Some(known);
        }
        let lambda = self.class(class).lambda.clone()?;
        let (parameters, result) = shape(lambda.descriptors.first()?);
        Some(self.push(Method {
            class,
            index: None,
            is_static: false,
            parameters: parameters.into(),
            returns_reference: result == Some(b'L'),
        }))
    }

    pub(super) fn push(&mut self, method: Method) -> MethodId {
        let id = self.methods.len() as MethodId;
        self.method_numbers.insert((method.class, method.index), id);
        self.methods.push(method);
        id
    }

    /// The method of a class by its name and descriptor.
    pub(crate) fn declared_named(
        &mut self,
        class: ClassId,
        name: &str,
        descriptor: &str,
    ) -> Option<MethodId> {
        let selector = self.selector(name, descriptor);
        let index = *self.class(class).methods.get(&selector)?;
        let has_body = self.class(class).flow.methods[index as usize].body.is_some();
        (has_body && self.class(class).kind.is_followed()).then(|| self.declared(class, index))
    }

    pub(super) fn target(&mut self, class: ClassId, index: u32) -> Target {
        let info = self.class(class);
        let method = &info.flow.methods[index as usize];
        match info.kind {
            Kind::Missing => Target::Unknown,
            _ if method.access.contains(AccessFlags::ABSTRACT) => Target::Abstract,
            Kind::Jdk => Target::Jdk(class),
            Kind::Application if method.access.contains(AccessFlags::NATIVE) => Target::Native,
            _ if method.access.contains(AccessFlags::NATIVE) => Target::Jdk(class),
            _ if method.body.is_none() => Target::Unknown,
            _ => Target::Method(self.declared(class, index)),
        }
    }

    /// The method that a virtual call invokes on an object of exactly this class.
    pub(crate) fn dispatch(&mut self, class: ClassId, selector: Selector) -> Target {
        self.look_up(class, selector, false)
    }

    /// The method that a reference in code resolves to, independent of the receiver.
    pub(crate) fn resolve(&mut self, class: ClassId, selector: Selector) -> Target {
        self.look_up(class, selector, true)
    }

    pub(super) fn look_up(&mut self, class: ClassId, selector: Selector, with_abstract: bool) -> Target {
        let mut step = Some(class);
        let mut is_missing = false;
        while let Some(id) = step {
            let info = self.class(id);
            is_missing |= info.kind == Kind::Missing;
            if let Some(&index) = info.methods.get(&selector) {
                match self.target(id, index) {
                    Target::Abstract if !with_abstract => {}
                    target => return target,
                }
            }
            step = self.class(id).parent;
        }
        let supertypes = self.supertypes(class);
        let mut candidates = Vec::new();
        for &id in supertypes.iter().filter(|&&id| self.class(id).is_interface()).collect::<Vec<_>>() {
            if let Some(&index) = self.class(id).methods.get(&selector) {
                let target = self.target(id, index);
                if target != Target::Abstract || with_abstract {
                    candidates.push((id, target));
                }
            }
        }
        is_missing |= supertypes.iter().any(|&id| self.class(id).kind == Kind::Missing);
        let most_specific = candidates.iter().position(|(id, _)| {
            candidates.iter().all(|(other, _)| other == id || !self.supertypes(*other).contains(id))
        });
        match most_specific.and_then(|index| candidates.get(index)) {
            Some((_, target)) => *target,
            None if is_missing => Target::Unknown,
            None => Target::Abstract,
        }
    }

    /// The method that a call invokes on a lambda object.
    pub(crate) fn dispatch_lambda(&mut self, class: ClassId, name: &str, descriptor: &str) -> Target {
        let selector = self.selector(name, descriptor);
        let target = self.dispatch(class, selector);
        let Some(lambda) = self.class(class).lambda.clone() else { return target };
        let takes = |descriptor: &str| shape(descriptor).0.len();
        let is_code = lambda.name == name
            && lambda.descriptors.iter().any(|known| takes(known) == takes(descriptor))
            && matches!(target, Target::Abstract);
        match self.lambda_method(class) {
            Some(method) if is_code => Target::Method(method),
            _ => target,
        }
    }

    /// Whether a method cannot be overridden.
    pub(crate) fn is_exact(&self, method: MethodId) -> bool {
        let method = self.method(method);
        let class = self.class(method.class);
        let access = |index: u32| class.flow.methods[index as usize].access;
        class.flow.access.contains(AccessFlags::FINAL)
            || method
                .index
                .is_some_and(|index| access(index).intersects(AccessFlags::PRIVATE | AccessFlags::FINAL))
    }

    /// Whether a native method that a class declares cannot be overridden.
    pub(crate) fn is_exact_native(&self, class: ClassId, selector: Selector) -> bool {
        let class = self.class(class);
        let access = class.methods.get(&selector).map(|&index| class.flow.methods[index as usize].access);
        (class.flow.access | access.unwrap_or_default()).intersects(AccessFlags::PRIVATE | AccessFlags::FINAL)
    }

    /// Whether a method is package-private, so that classes of other packages cannot override it.
    pub(crate) fn is_package_private(&self, method: MethodId) -> bool {
        let method = self.method(method);
        let access = |index: u32| self.class(method.class).flow.methods[index as usize].access;
        method.index.is_some_and(|index| {
            !access(index).intersects(AccessFlags::PUBLIC | AccessFlags::PROTECTED | AccessFlags::PRIVATE)
        })
    }

    /// Whether a reference in code resolves to a package-private method, possibly an abstract one.
    pub(crate) fn names_package_private(&self, class: ClassId, selector: Selector) -> bool {
        let mut step = Some(class);
        while let Some(id) = step {
            let info = self.class(id);
            if let Some(&index) = info.methods.get(&selector) {
                let access = info.flow.methods[index as usize].access;
                return info.kind.is_followed()
                    && !access
                        .intersects(AccessFlags::PUBLIC | AccessFlags::PROTECTED | AccessFlags::PRIVATE);
            }
            step = info.parent;
        }
        false
    }

    /// The package-private methods with this name and descriptor that a class and its supertypes declare.
    pub(crate) fn package_private(&mut self, class: ClassId, name: &str, descriptor: &str) -> Vec<MethodId> {
        let supertypes = self.supertypes(class);
        let declared: Vec<MethodId> =
            supertypes.iter().filter_map(|&id| self.declared_named(id, name, descriptor)).collect();
        declared.into_iter().filter(|&method| self.is_package_private(method)).collect()
    }

    /// The effect of a method of the JDK on its references.
    pub(crate) fn effect(&self, class: ClassId, name: &str, descriptor: &str) -> Effect {
        let info = self.class(class);
        if !info.kind.is_followed() {
            return jdk::effect(&info.name, name, descriptor);
        }
        let mut methods = info.flow.methods.iter();
        let is_native = methods.any(|method| {
            method.access.contains(AccessFlags::NATIVE)
                && method.name == name
                && method.descriptor == descriptor
        });
        if is_native { jdk::native_effect(name, descriptor) } else { jdk::UNKNOWN_RECEIVER }
    }

    /// The methods of a JDK class that the core of the JDK may call on objects of that class or of its subclasses.
    pub(crate) fn callable(&self, class: ClassId) -> Vec<(String, String)> {
        let flow = &self.class(class).flow;
        // A final method cannot be called through a supertype, only by code that can use the class itself.
        let excluded =
            if self.class(class).kind == Kind::Inner { AccessFlags::empty() } else { AccessFlags::FINAL };
        let can =
            |access: AccessFlags| !access.intersects(AccessFlags::PRIVATE | AccessFlags::STATIC | excluded);
        flow.methods
            .iter()
            .filter(|method| can(method.access) && !method.name.starts_with('<'))
            .map(|method| (method.name.clone(), method.descriptor.clone()))
            .collect()
    }

    /// The field that a reference in code resolves to.
    pub(crate) fn field(&mut self, class: ClassId, name: &str, descriptor: &str) -> FieldTarget {
        let key = (class, name.to_owned(), descriptor.to_owned());
        if let Some(&known) = self.resolved_fields.get(&key) {
            return known;
        }
        let supertypes = self.supertypes(class);
        let mut found = FieldTarget::Unknown;
        // The JVM searches interfaces before the superclass; `supertypes` lists the superclass first, which makes a difference only
        // if both declare the field.
        for &id in supertypes.iter() {
            let info = self.class(id);
            let matches = |field: &fissure_classfile::FieldSummary| {
                field.name == name && field.descriptor == descriptor
            };
            if let Some(index) = info.flow.fields.iter().position(matches) {
                let is_static = info.flow.fields[index].access.contains(AccessFlags::STATIC);
                found = match info.kind {
                    Kind::Application | Kind::Outer => {
                        FieldTarget::Known(self.field_number(id, index as u32))
                    }
                    Kind::Inner if is_static => FieldTarget::Shared(self.field_number(id, index as u32)),
                    _ => FieldTarget::Jdk,
                };
                break;
            }
        }
        self.resolved_fields.insert(key, found);
        found
    }

    /// Whether a static field always holds the same empty array, which references nothing.
    pub(crate) fn is_empty_array(&mut self, key: FieldKey) -> bool {
        if let Some(&known) = self.empty_arrays.get(&key) {
            return known;
        }
        let Field { class, index } = self.fields[key as usize].clone();
        let info = self.class(class);
        let field = &info.flow.fields[index as usize];
        let mut is_empty = field.descriptor.starts_with('[') && field.access.contains(AccessFlags::FINAL);
        let mut writes = 0;
        for body in info.flow.methods.iter().filter_map(|method| method.body.as_ref()) {
            for (index, instruction) in body.instructions.iter().enumerate() {
                let Operation::PutStatic(number) = instruction.operation else { continue };
                let reference = &info.flow.field_references[usize::from(number)];
                if reference.name != field.name || reference.class != *info.name {
                    continue;
                }
                let indices = [index as u32, (index as u32).wrapping_sub(1)];
                let is_reached_by_jump = body.targets.iter().any(|target| indices.contains(target));
                writes += 1;
                is_empty &= body.empty_arrays.contains(&indices[1]) && !is_reached_by_jump;
            }
        }
        is_empty &= writes > 0;
        self.empty_arrays.insert(key, is_empty);
        is_empty
    }

    /// Whether a class and its method are accessible from outside the package.
    pub(crate) fn is_public(&mut self, class: ClassId, name: &str, descriptor: &str) -> bool {
        let selector = self.selector(name, descriptor);
        let class = self.class(class);
        let index = class.methods.get(&selector);
        let access = index.map_or(AccessFlags::PUBLIC, |&index| class.flow.methods[index as usize].access);
        class.flow.access.contains(AccessFlags::PUBLIC)
            && access.intersects(AccessFlags::PUBLIC | AccessFlags::PROTECTED)
    }

    /// Whether a class has a final field of that name.
    pub(crate) fn is_final_field(&mut self, class: ClassId, name: &str) -> bool {
        let supertypes = self.supertypes(class);
        let mut fields = supertypes.iter().flat_map(|&id| self.class(id).flow.fields.iter());
        fields.find(|field| field.name == name).is_some_and(|field| field.access.contains(AccessFlags::FINAL))
    }

    pub(crate) fn field_number(&mut self, class: ClassId, index: u32) -> FieldKey {
        let next = self.fields.len() as FieldKey;
        let number = *self.field_numbers.entry((class, index)).or_insert(next);
        if number == next {
            self.fields.push(Field { class, index });
        }
        number
    }

    /// The class initializers that the first use of a class may run.
    pub(crate) fn initializers(&mut self, class: ClassId) -> Vec<MethodId> {
        let supertypes = self.supertypes(class);
        let found = supertypes.iter().filter_map(|&id| self.declared_named(id, "<clinit>", "()V"));
        found.collect()
    }
}
