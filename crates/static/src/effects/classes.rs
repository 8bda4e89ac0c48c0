//! The classes that the analysed methods use, loaded on demand: inheritance, and the resolution of methods and fields.

use std::rc::Rc;

use fissure_classfile::{
    AccessFlags,
    flow::{FlowClass, FlowMethod, read_flow},
};
use rustc_hash::FxHashMap;

use crate::{ClassSource, Origin};

/// The number of a class.
pub(crate) type ClassId = u32;

/// The number of a field, or one of the pseudo-fields below.
pub(crate) type FieldKey = u32;

/// The elements of an array.
pub(crate) const ELEMENT: FieldKey = 0;
/// Values that a handle stored into an unknown field.
pub(crate) const ANY: FieldKey = 1;
/// The values of all fields.
pub(crate) const ALL: FieldKey = 2;
/// The captured values of a lambda are numbered from here on.
pub(crate) const CAPTURED: FieldKey = 3;
/// The fields of classes are numbered from here on.
const FIRST_FIELD: FieldKey = 300;

/// A class.
#[derive(Debug)]
pub(crate) struct Class {
    pub(crate) name: Rc<str>,
    pub(crate) flow: Rc<FlowClass>,
    /// Whether the class was found.
    pub(crate) exists: bool,
    /// Whether its code is analysed.
    pub(crate) is_analysed: bool,
    pub(crate) is_application: bool,
    methods: FxHashMap<(String, String), u32>,
}

/// The result of resolving a method.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Found {
    /// A method whose code is analysed.
    Code(ClassId, u32),
    /// A method whose code is not analysed.
    Boundary(ClassId),
    /// There is no method to call.
    Nothing,
}

/// All classes loaded so far.
pub(crate) struct Classes<'s> {
    source: &'s mut dyn ClassSource,
    classes: Vec<Class>,
    numbers: FxHashMap<Rc<str>, ClassId>,
    fields: FxHashMap<(ClassId, String), FieldKey>,
    /// The class of each field, its type, and its name with its class.
    field_types: Vec<(ClassId, Option<ClassId>, String)>,
    /// The class under test and its superclasses, whose code is analysed even if they belong to the JDK.
    own: Vec<String>,
}

impl<'s> Classes<'s> {
    pub(crate) fn new(source: &'s mut dyn ClassSource, subject: &str) -> Self {
        let mut classes = Classes {
            source,
            classes: Vec::new(),
            numbers: FxHashMap::default(),
            fields: FxHashMap::default(),
            field_types: Vec::new(),
            own: Vec::new(),
        };
        let mut next = Some(subject.to_owned());
        while let Some(name) = next.filter(|name| name != "java/lang/Object" && !classes.own.contains(name)) {
            let flow = classes.source.find(&name).and_then(|(_, bytes)| read_flow(&bytes, false).ok());
            classes.own.push(name);
            next = flow.and_then(|flow| flow.super_name);
        }
        classes
    }

    pub(crate) fn class(&self, class: ClassId) -> &Class {
        &self.classes[class as usize]
    }

    pub(crate) fn method(&self, class: ClassId, index: u32) -> &FlowMethod {
        &self.class(class).flow.methods[index as usize]
    }

    pub(crate) fn is_static(&self, class: ClassId, index: u32) -> bool {
        self.method(class, index).access.contains(AccessFlags::STATIC)
    }

    /// The class of this internal name; arrays count as classes without members.
    pub(crate) fn load(&mut self, name: &str) -> ClassId {
        if let Some(&known) = self.numbers.get(name) {
            return known;
        }
        let is_own = self.own.iter().any(|own| own == name || is_nested(name, own));
        let found = if name.starts_with('[') { None } else { self.source.find(name) };
        let (flow, is_application) = match found {
            Some((origin, bytes)) => {
                let is_application = origin == Origin::Application;
                let is_analysed = is_application || is_own || fissure_jdk::is_analysed(name);
                // If the code cannot be parsed, the class is loaded without it.
                let flow = read_flow(&bytes, is_analysed).or_else(|_| read_flow(&bytes, false));
                (flow.ok().map(|flow| (flow, is_analysed)), is_application)
            }
            None => (None, false),
        };
        let exists = flow.is_some();
        let (flow, is_analysed) = flow.unwrap_or_else(|| {
            let parent = name.starts_with('[').then(|| "java/lang/Object".to_owned());
            (FlowClass { name: name.to_owned(), super_name: parent, ..FlowClass::default() }, false)
        });
        let methods = flow.methods.iter().enumerate();
        let methods = methods
            .map(|(index, method)| ((method.name.clone(), method.descriptor.clone()), index as u32))
            .collect();
        let id = self.classes.len() as ClassId;
        let name: Rc<str> = name.into();
        self.numbers.insert(name.clone(), id);
        self.classes.push(Class { name, flow: Rc::new(flow), exists, is_analysed, is_application, methods });
        id
    }

    fn parents(&mut self, class: ClassId) -> (Option<ClassId>, Vec<ClassId>) {
        let flow = self.class(class).flow.clone();
        let parent = flow.super_name.as_ref().map(|name| self.load(name));
        (parent, flow.interfaces.iter().map(|name| self.load(name)).collect())
    }

    /// The class itself and all its supertypes, superclasses first.
    pub(crate) fn supertypes(&mut self, class: ClassId) -> Vec<ClassId> {
        let mut all = vec![class];
        let mut interfaces = Vec::new();
        let mut at = Some(class);
        while let Some(id) = at {
            let (parent, mut more) = self.parents(id);
            interfaces.append(&mut more);
            if let Some(parent) = parent.filter(|parent| !all.contains(parent)) {
                all.push(parent);
                at = Some(parent);
            } else {
                at = None;
            }
        }
        while let Some(id) = interfaces.pop() {
            if !all.contains(&id) {
                all.push(id);
                interfaces.extend(self.parents(id).1);
            }
        }
        all
    }

    pub(crate) fn is_subtype(&mut self, class: ClassId, of: ClassId) -> bool {
        if class == of || &*self.class(of).name == "java/lang/Object" {
            return true;
        }
        let (name, of_name) = (self.class(class).name.clone(), self.class(of).name.clone());
        if name.starts_with('[') {
            // It is enough to distinguish arrays of primitive values from arrays of objects.
            let is_of_objects = |name: &str| name.starts_with("[L") || name.starts_with("[[");
            return of_name.starts_with('[') && is_of_objects(&name) == is_of_objects(&of_name)
                || matches!(&*of_name, "java/lang/Cloneable" | "java/io/Serializable");
        }
        self.supertypes(class).contains(&of)
    }

    /// Whether an object that analysed code did not create cannot be of this class: it is analysed, and neither an interface nor an
    /// enumeration.
    pub(crate) fn is_concrete(&self, class: ClassId) -> bool {
        let class = self.class(class);
        class.is_analysed && !class.flow.access.intersects(AccessFlags::INTERFACE | AccessFlags::ENUM)
    }

    /// Whether it is an enumeration whose code is analysed.
    pub(crate) fn is_own_enumeration(&self, class: ClassId) -> bool {
        let class = self.class(class);
        class.is_analysed && class.flow.access.contains(AccessFlags::ENUM)
    }

    /// A private method of a class; no other class can override it.
    pub(crate) fn private_method(&self, class: ClassId, name: &str, descriptor: &str) -> Option<Found> {
        let index = *self.class(class).methods.get(&(name.to_owned(), descriptor.to_owned()))?;
        (self.method(class, index).access.contains(AccessFlags::PRIVATE)).then(|| self.code(class, index))
    }

    pub(crate) fn is_interface(&self, class: ClassId) -> bool {
        self.class(class).flow.access.contains(AccessFlags::INTERFACE)
    }

    /// The method that a call invokes on an object of exactly this class, or that a reference in code resolves to.
    pub(crate) fn look_up(&mut self, class: ClassId, name: &str, descriptor: &str) -> Found {
        let key = (name.to_owned(), descriptor.to_owned());
        let mut candidates: Vec<ClassId> = Vec::new();
        for id in self.supertypes(class) {
            let class = self.class(id);
            if !class.exists && !class.name.starts_with('[') {
                return Found::Boundary(id);
            }
            let Some(&index) = class.methods.get(&key) else { continue };
            let access = class.flow.methods[index as usize].access;
            if access.contains(AccessFlags::ABSTRACT) {
                continue;
            }
            if !self.is_interface(id) {
                return self.code(id, index);
            }
            candidates.push(id);
        }
        let mut best: Option<ClassId> = None;
        for id in candidates {
            if best.is_none_or(|best| self.is_subtype(id, best)) {
                best = Some(id);
            }
        }
        match best {
            Some(id) => {
                let index = self.class(id).methods[&key];
                self.code(id, index)
            }
            None => Found::Nothing,
        }
    }

    fn code(&self, class: ClassId, index: u32) -> Found {
        let method = self.method(class, index);
        if self.class(class).is_analysed
            && !method.access.contains(AccessFlags::NATIVE)
            && method.body.is_some()
        {
            Found::Code(class, index)
        } else {
            Found::Boundary(class)
        }
    }

    /// The public methods of a class and of the program's classes that it inherits from, by name and descriptor.
    pub(crate) fn public_methods(&mut self, class: ClassId) -> Vec<(String, String)> {
        let mut all = Vec::new();
        for id in self.supertypes(class) {
            let class = self.class(id);
            let methods = class.flow.methods.iter().filter(|method| {
                method.access.contains(AccessFlags::PUBLIC)
                    && !method.access.contains(AccessFlags::STATIC)
                    && !method.name.starts_with('<')
            });
            if class.is_application {
                all.extend(methods.map(|method| (method.name.clone(), method.descriptor.clone())));
            }
        }
        all.sort();
        all.dedup();
        all
    }

    /// Whether a class declares a field.
    pub(crate) fn has_field(&self, class: ClassId, name: &str) -> bool {
        self.class(class).flow.fields.iter().any(|field| field.name == name)
    }

    /// The field that a reference in code resolves to.
    pub(crate) fn field(&mut self, class: ClassId, name: &str) -> FieldKey {
        let mut declared = (class, None);
        for id in self.supertypes(class) {
            let flow = self.class(id).flow.clone();
            if let Some(field) = flow.fields.iter().find(|field| field.name == name) {
                declared = (id, Some(field.descriptor.clone()));
                break;
            }
        }
        let (class, descriptor) = declared;
        if let Some(&known) = self.fields.get(&(class, name.to_owned())) {
            return known;
        }
        let number = FIRST_FIELD + self.field_types.len() as FieldKey;
        let type_class = descriptor.and_then(|descriptor| {
            let name = match descriptor.starts_with('[') {
                true => descriptor,
                false => descriptor.strip_prefix('L')?.strip_suffix(';')?.to_owned(),
            };
            Some(self.load(&name))
        });
        let simple = self.class(class).name.rsplit('/').next().unwrap_or_default().replace('$', ".");
        self.fields.insert((class, name.to_owned()), number);
        self.field_types.push((class, type_class, format!("{simple}.{name}")));
        number
    }

    /// The class of a field's type.
    pub(crate) fn field_type(&self, field: FieldKey) -> Option<ClassId> {
        let index = field.checked_sub(FIRST_FIELD)?;
        self.field_types.get(index as usize)?.1
    }

    /// The class that declares a field.
    pub(crate) fn field_owner(&self, field: FieldKey) -> Option<ClassId> {
        let index = field.checked_sub(FIRST_FIELD)?;
        self.field_types.get(index as usize).map(|field| field.0)
    }

    /// The name of a field for messages.
    pub(crate) fn field_name(&self, field: FieldKey) -> String {
        let known = field.checked_sub(FIRST_FIELD).and_then(|index| self.field_types.get(index as usize));
        known.map_or_else(|| "an array".to_owned(), |(_, _, name)| name.clone())
    }
}

/// Whether a class is nested in another one.
fn is_nested(name: &str, outer: &str) -> bool {
    name.strip_prefix(outer).is_some_and(|rest| rest.starts_with('$'))
}
