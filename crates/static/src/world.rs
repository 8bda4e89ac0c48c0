//! The classes of the program and of the JDK, loaded on demand: inheritance, and the resolution of methods and fields.

mod resolution;

use std::rc::Rc;

use fissure_classfile::{
    AccessFlags,
    flow::{FlowClass, Handle, InvokeKind, content_hash, read_flow},
};
use rustc_hash::{FxHashMap, FxHashSet};

use crate::{ClassSource, Origin, graph::FieldKey, jdk, modules::Modules};

pub(crate) type ClassId = u32;
pub(crate) type MethodId = u32;
/// A method's name and descriptor, by number.
pub(crate) type Selector = u32;

/// Bounds the walk to the root; the JVM rejects cyclic inheritance, but class files may contain it.
const MOST_ANCESTORS: u32 = 1000;

/// Which code of the JDK is analysed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Follow {
    Nothing,
    /// Classes without a row in the table.
    Undescribed,
    /// All classes, to check the table.
    Everything,
}

/// The origin of a class, and whether its code is analysed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    Application,
    /// A class of the JDK that is analysed like one of a library: code with a row cannot use its module.
    Outer,
    /// A class of the JDK that is analysed, and that code with a row may instantiate, call and read.
    Inner,
    /// A class of the JDK with a row, or any class of the JDK if its code is not analysed.
    Jdk,
    /// It was not found or cannot be read.
    Missing,
}

impl Kind {
    /// Whether the code is analysed.
    pub(crate) fn is_followed(self) -> bool {
        matches!(self, Kind::Application | Kind::Outer | Kind::Inner)
    }

    /// Whether it is a class of the JDK.
    pub(crate) fn is_of_jdk(self) -> bool {
        matches!(self, Kind::Outer | Kind::Inner | Kind::Jdk)
    }
}

/// The run-time form of a lambda expression or method reference.
#[derive(Debug, Clone)]
pub(crate) struct Lambda {
    /// The interface's method.
    pub(crate) name: String,
    /// The descriptor of the interface's method as the interface declares it, and those of bridge methods.
    pub(crate) descriptors: Vec<String>,
    /// The method handle of the code.
    pub(crate) handle: Handle,
    /// The types of the captured values, as the descriptor of the call that creates the object.
    pub(crate) captured: String,
}

#[derive(Debug)]
pub(crate) struct Class {
    pub(crate) name: Rc<str>,
    pub(crate) kind: Kind,
    pub(crate) flow: Rc<FlowClass>,
    pub(crate) hash: u64,
    pub(crate) parent: Option<ClassId>,
    pub(crate) interfaces: Vec<ClassId>,
    pub(crate) lambda: Option<Rc<Lambda>>,
    methods: FxHashMap<Selector, u32>,
}

impl Class {
    pub(crate) fn is_interface(&self) -> bool {
        self.flow.access.contains(AccessFlags::INTERFACE)
    }

    pub(crate) fn is_enum(&self) -> bool {
        self.flow.access.contains(AccessFlags::ENUM)
    }
}

/// A method whose code is analysed, or the code of a lambda.
#[derive(Debug, Clone)]
pub(crate) struct Method {
    pub(crate) class: ClassId,
    /// The number of the method in its class; `None` for a lambda.
    pub(crate) index: Option<u32>,
    pub(crate) is_static: bool,
    /// The parameters without the receiver, as [`shape`] returns them.
    pub(crate) parameters: Rc<[u8]>,
    pub(crate) returns_reference: bool,
}

/// The target of a call.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum Target {
    /// A method whose code is analysed.
    Method(MethodId),
    /// A native method of the program.
    Native,
    /// A method of this class of the JDK.
    Jdk(ClassId),
    /// A method that was not found.
    Unknown,
    /// A declaration without an implementation.
    Abstract,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum FieldTarget {
    Known(FieldKey),
    /// A static field that code with a row may access as well.
    Shared(FieldKey),
    Jdk,
    Unknown,
}

/// A field of a class whose code is analysed.
#[derive(Debug, Clone)]
pub(crate) struct Field {
    pub(crate) class: ClassId,
    pub(crate) index: u32,
}

/// All classes that were loaded so far.
pub(crate) struct World<'s> {
    source: &'s mut dyn ClassSource,
    follow: Follow,
    /// The modules of the JDK, read on first use.
    modules: Option<Modules>,
    pub(crate) classes: Vec<Class>,
    by_name: FxHashMap<Rc<str>, ClassId>,
    selectors: FxHashMap<(Rc<str>, Rc<str>), Selector>,
    pub(crate) methods: Vec<Method>,
    method_numbers: FxHashMap<(ClassId, Option<u32>), MethodId>,
    pub(crate) fields: Vec<Field>,
    field_numbers: FxHashMap<(ClassId, u32), FieldKey>,
    resolved_fields: FxHashMap<(ClassId, String, String), FieldTarget>,
    supertypes: FxHashMap<ClassId, Rc<Vec<ClassId>>>,
    empty_arrays: FxHashMap<FieldKey, bool>,
    lambdas: FxHashMap<(ClassId, u16), ClassId>,
    /// Types of the JDK that classes of the program inherit from.
    pub(crate) extended: FxHashSet<Rc<str>>,
    /// How many classes were found but could not be parsed.
    pub(crate) unreadable: u64,
}

impl<'s> World<'s> {
    pub(crate) fn new(source: &'s mut dyn ClassSource, follow: Follow) -> Self {
        World {
            source,
            follow,
            modules: None,
            classes: Vec::new(),
            by_name: FxHashMap::default(),
            selectors: FxHashMap::default(),
            methods: Vec::new(),
            method_numbers: FxHashMap::default(),
            fields: Vec::new(),
            field_numbers: FxHashMap::default(),
            resolved_fields: FxHashMap::default(),
            supertypes: FxHashMap::default(),
            empty_arrays: FxHashMap::default(),
            lambdas: FxHashMap::default(),
            extended: FxHashSet::default(),
            unreadable: 0,
        }
    }

    /// Whether code of the JDK is analysed.
    pub(crate) fn follows(&self) -> bool {
        self.follow != Follow::Nothing
    }

    pub(crate) fn application_names(&mut self) -> Vec<String> {
        self.source.application()
    }

    /// Whether the program has a class of that name.
    pub(crate) fn is_application(&mut self, name: &str) -> bool {
        match self.by_name.get(name) {
            Some(&known) => self.class(known).kind == Kind::Application,
            None => matches!(self.source.find(name), Some((Origin::Application, _))),
        }
    }

    /// Classes of the program that the JVM may load although none of their code can run: classes that are mentioned where types
    /// are checked, and their supertypes. By name, with the hash of the class file.
    pub(crate) fn dormant(&mut self) -> Vec<(String, u64)> {
        let known = self.classes.iter().filter(|class| class.kind == Kind::Application);
        let mut waiting: Vec<String> = known.flat_map(|class| class.flow.mentioned.iter().cloned()).collect();
        let mut seen: FxHashSet<String> = FxHashSet::default();
        let mut found = Vec::new();
        while let Some(name) = waiting.pop() {
            if self.by_name.contains_key(name.as_str()) || !seen.insert(name.clone()) {
                continue;
            }
            if let Some((Origin::Application, bytes)) = self.source.find(&name)
                && let Ok(flow) = read_flow(&bytes, false)
            {
                found.push((name, content_hash(&bytes)));
                waiting.extend(flow.super_name.into_iter().chain(flow.interfaces));
            }
        }
        found
    }

    /// The classes of the program that inherit from a class of the JDK, reachable or not.
    pub(crate) fn application_below(&mut self, ancestor: &str) -> Vec<String> {
        let mut parents: FxHashMap<String, Option<String>> = FxHashMap::default();
        let mut found = Vec::new();
        for name in self.application_names() {
            let mut step = Some(name.clone());
            let mut left = MOST_ANCESTORS;
            while let Some(class) = step.filter(|_| left > 0) {
                left -= 1;
                if class == ancestor {
                    found.push(name);
                    break;
                }
                step = match parents.get(&class) {
                    Some(known) => known.clone(),
                    None => {
                        let bytes = self.source.find(&class).map(|(_, bytes)| bytes);
                        let flow = bytes.and_then(|bytes| read_flow(&bytes, false).ok());
                        let parent = flow.and_then(|flow| flow.super_name);
                        parents.insert(class, parent.clone());
                        parent
                    }
                };
            }
        }
        found
    }

    pub(crate) fn class(&self, id: ClassId) -> &Class {
        &self.classes[id as usize]
    }

    pub(crate) fn method(&self, id: MethodId) -> &Method {
        &self.methods[id as usize]
    }

    /// The name of a method as in Java source code.
    pub(crate) fn describe(&self, id: MethodId) -> String {
        let method = self.method(id);
        let class = self.class(method.class);
        let name = method.index.map_or("", |index| class.flow.methods[index as usize].name.as_str());
        let class = class.name.replace('/', ".");
        match name {
            "" | "<clinit>" => class,
            "<init>" => format!("new {class}"),
            _ => format!("{class}.{name}"),
        }
    }

    pub(crate) fn selector(&mut self, name: &str, descriptor: &str) -> Selector {
        let next = self.selectors.len() as Selector;
        *self.selectors.entry((name.into(), descriptor.into())).or_insert(next)
    }

    /// The class with this name, loaded if necessary.
    pub(crate) fn load(&mut self, name: &str) -> ClassId {
        if let Some(&known) = self.by_name.get(name) {
            return known;
        }
        let kind = self.jdk_kind(name);
        let found = self.source.find(name);
        let (kind, hash, flow) = match &found {
            Some((Origin::Jdk, bytes)) => match read_flow(bytes, kind.is_followed()) {
                Ok(flow) => (kind, 0, Some(flow)),
                Err(_) => (Kind::Jdk, 0, read_flow(bytes, false).ok()),
            },
            Some((Origin::Application, bytes)) => {
                (Kind::Application, content_hash(bytes), read_flow(bytes, true).ok())
            }
            None => (Kind::Missing, 0, None),
        };
        // The JVM rejects a class file that contains the name of another class.
        let flow = flow.filter(|flow| flow.name == name);
        let kind = if flow.is_none() { Kind::Missing } else { kind };
        self.unreadable += u64::from(flow.is_none() && found.is_some());
        self.add(name, kind, hash, flow.unwrap_or_default(), None)
    }

    /// The kind of a class if it belongs to the JDK.
    fn jdk_kind(&mut self, name: &str) -> Kind {
        match self.follow {
            Follow::Nothing => return Kind::Jdk,
            Follow::Everything => return Kind::Outer,
            Follow::Undescribed if jdk::is_described(name) => return Kind::Jdk,
            Follow::Undescribed => {}
        }
        let Some(module) = self.source.module(name).map(str::to_owned) else { return Kind::Jdk };
        match self.modules().inner.contains(&module) {
            true => Kind::Inner,
            false => Kind::Outer,
        }
    }

    /// Whether code with a row can use the module of a JDK class; `None` for classes outside the JDK.
    pub(crate) fn is_inner(&mut self, name: &str) -> Option<bool> {
        let module = self.source.module(name)?.to_owned();
        Some(self.modules().inner.contains(&module))
    }

    /// The names in a class of the JDK: classes that it mentions, and strings that may be class names.
    pub(crate) fn names_in(&mut self, class: &str) -> Vec<String> {
        let bytes = self.source.find(class).map(|(_, bytes)| bytes);
        let flow = bytes.and_then(|bytes| read_flow(&bytes, true).ok()).unwrap_or_default();
        let texts = flow.texts.into_iter().map(|text| text.replace('.', "/"));
        flow.mentioned.into_iter().chain(texts).collect()
    }

    fn modules(&mut self) -> &Modules {
        let source = &*self.source;
        self.modules.get_or_insert_with(|| Modules::new(source))
    }

    /// The classes of the JDK that its modules name as providers of a service.
    pub(crate) fn jdk_providers(&mut self, service: &str) -> Vec<String> {
        let all = self.modules().provides.iter().filter(|(known, _)| known == service);
        all.flat_map(|(_, classes)| classes.iter().cloned()).collect()
    }

    fn add(
        &mut self,
        name: &str,
        kind: Kind,
        hash: u64,
        flow: FlowClass,
        lambda: Option<Rc<Lambda>>,
    ) -> ClassId {
        let name: Rc<str> = name.into();
        let id = self.classes.len() as ClassId;
        let mut methods = FxHashMap::default();
        for (index, method) in flow.methods.iter().enumerate() {
            methods.insert(self.selector(&method.name, &method.descriptor), index as u32);
        }
        let flow = Rc::new(flow);
        self.by_name.insert(name.clone(), id);
        self.classes.push(Class {
            name,
            kind,
            flow: flow.clone(),
            hash,
            parent: None,
            interfaces: Vec::new(),
            lambda,
            methods,
        });
        let parent = flow.super_name.as_ref().map(|name| self.load(name));
        let interfaces: Vec<ClassId> = flow.interfaces.iter().map(|name| self.load(name)).collect();
        let class = &mut self.classes[id as usize];
        class.parent = parent;
        class.interfaces = interfaces;
        if kind.is_followed() {
            let supertypes = self.supertypes(id);
            for &supertype in supertypes.iter().filter(|&&supertype| supertype != id) {
                let class = &self.classes[supertype as usize];
                if !class.kind.is_followed() {
                    self.extended.insert(class.name.clone());
                }
            }
        }
        id
    }

    /// The class of the objects that a lambda expression creates: the `number`th dynamic call of `class`.
    pub(crate) fn lambda(
        &mut self,
        class: ClassId,
        number: u16,
        interfaces: Vec<String>,
        lambda: Lambda,
    ) -> ClassId {
        if let Some(&known) = self.lambdas.get(&(class, number)) {
            return known;
        }
        let name = format!("{}$$Lambda/{number}", self.class(class).name);
        let flow = FlowClass {
            name: name.clone(),
            super_name: Some("java/lang/Object".to_owned()),
            interfaces,
            ..FlowClass::default()
        };
        let id = self.add(&name, self.class(class).kind, 0, flow, Some(Rc::new(lambda)));
        self.lambdas.insert((class, number), id);
        id
    }

    /// The class itself and all its supertypes.
    pub(crate) fn supertypes(&mut self, class: ClassId) -> Rc<Vec<ClassId>> {
        if let Some(known) = self.supertypes.get(&class) {
            return known.clone();
        }
        let mut all = vec![class];
        let mut next = 0;
        while let Some(&id) = all.get(next) {
            next += 1;
            let info = &self.classes[id as usize];
            for &supertype in info.parent.iter().chain(&info.interfaces) {
                if !all.contains(&supertype) {
                    all.push(supertype);
                }
            }
        }
        let all = Rc::new(all);
        self.supertypes.insert(class, all.clone());
        all
    }

    pub(crate) fn is_throwable(&mut self, class: ClassId) -> bool {
        let supertypes = self.supertypes(class);
        supertypes.iter().any(|&supertype| &*self.class(supertype).name == "java/lang/Throwable")
    }

    pub(crate) fn has_missing_supertype(&mut self, class: ClassId) -> bool {
        let supertypes = self.supertypes(class);
        supertypes.iter().any(|&supertype| self.class(supertype).kind == Kind::Missing)
    }
}

/// How a method handle calls its target; `None` if it accesses a field.
pub(crate) fn handle_kind(handle: &Handle) -> Option<InvokeKind> {
    match handle.kind {
        5 => Some(InvokeKind::Virtual),
        6 => Some(InvokeKind::Static),
        7 | 8 => Some(InvokeKind::Special),
        9 => Some(InvokeKind::Interface),
        _ => None,
    }
}
