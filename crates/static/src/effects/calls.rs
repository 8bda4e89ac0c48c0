//! Calls: which methods they may invoke, and the effects of methods whose code is not analysed.

use std::rc::Rc;

use fissure_classfile::flow::{InvokeKind, MemberReference, shape, types};

use super::{
    Analysis, InstanceId,
    boundary::{self, Boundary},
    classes::{ALL, ANY, ClassId, ELEMENT, Found},
    heap::{ContextId, Heap, Kind, NodeId, Object, ObjectId, Site, Use},
};

/// A call in the code of a method in a context.
#[derive(Debug, Clone)]
pub(crate) struct Call {
    pub(crate) caller: InstanceId,
    pub(crate) context: ContextId,
    pub(crate) site: Site,
    pub(crate) kind: InvokeKind,
    pub(crate) reference: Rc<MemberReference>,
    /// The receiver, if there is one, and the arguments; primitive values have no node.
    pub(crate) arguments: Vec<Option<NodeId>>,
    pub(crate) result: Option<NodeId>,
}

impl Analysis<'_> {
    /// Adds a call.
    pub(crate) fn call(&mut self, call: Call) {
        let class = self.classes.load(&call.reference.class);
        let direct = matches!(call.kind, InvokeKind::Static | InvokeKind::Special);
        if direct {
            match self.classes.look_up(class, &call.reference.name, &call.reference.descriptor) {
                Found::Code(class, index) if call.kind == InvokeKind::Static => {
                    self.initialise(class);
                    let context = self.heap.context_at(call.context, call.site);
                    self.enter(&call, class, index, context, None);
                    return;
                }
                Found::Code(..) => {}
                Found::Boundary(class) => {
                    let name = self.classes.class(class).name.clone();
                    self.boundary_call(&call, &name, None);
                    return;
                }
                Found::Nothing => {
                    self.unknown_call(&call);
                    return;
                }
            }
        }
        if let Some(Some(receiver)) = call.arguments.first().copied() {
            let number = self.calls.len() as u32;
            self.calls.push(Rc::new(call));
            self.use_node(receiver, Use::Call(number));
        }
    }

    /// Dispatches a call to a possible receiver.
    pub(crate) fn dispatch(&mut self, number: u32, object: ObjectId) {
        let call = self.calls[number as usize].clone();
        let (name, descriptor) = (&call.reference.name, &call.reference.descriptor);
        let named = self.classes.load(&call.reference.class);
        match self.heap.get(object).kind {
            Kind::Made(class) => {
                if self.classes.class(named).exists && !self.classes.is_subtype(class, named) {
                    return;
                }
                let from = if call.kind == InvokeKind::Special { named } else { class };
                let own = self.classes.private_method(named, name, descriptor);
                let found = own.unwrap_or_else(|| self.classes.look_up(from, name, descriptor));
                match found {
                    Found::Code(class, index) => {
                        let context = self.heap.context_of(object);
                        self.enter(&call, class, index, context, Some(object));
                    }
                    Found::Boundary(class) => {
                        let class = self.classes.class(class).name.clone();
                        self.boundary_call(&call, &class, Some(object));
                    }
                    Found::Nothing => self.unknown_call(&call),
                }
            }
            Kind::Lambda(class, number) => self.dispatch_lambda(&call, object, class, number),
            Kind::Value => self.dispatch_value(&call, named, object),
            Kind::Argument(..) => self.dispatch_argument(&call, named, object),
            Kind::Unknown => self.dispatch_unknown(&call, named, object),
        }
    }

    /// A call on an unknown object has the effect of the class that the code names, unless that is an interface. An unknown
    /// `VarHandle` may be one of a static field, so a call on it may do anything.
    fn dispatch_unknown(&mut self, call: &Call, named: ClassId, object: ObjectId) {
        let class = self.classes.class(named);
        let is_described = !class.is_analysed && class.exists && !self.classes.is_interface(named);
        if boundary::is_common(&call.reference.name) {
            self.set_result(call, self.value);
        } else if is_described && call.reference.class != "java/lang/invoke/VarHandle" {
            self.boundary_call(call, &call.reference.class, Some(object));
        } else {
            self.unknown_call(call);
        }
    }

    fn dispatch_value(&mut self, call: &Call, named: ClassId, object: ObjectId) {
        if boundary::is_common(&call.reference.name) {
            self.set_result(call, self.value);
        } else if !self.classes.class(named).is_analysed {
            self.boundary_call(call, &call.reference.class, Some(object));
        } else if !self.classes.is_concrete(named) {
            self.unknown_call(call);
        }
    }

    /// A call on an argument of a harness: the argument changes only if the called method changes it.
    fn dispatch_argument(&mut self, call: &Call, named: ClassId, object: ObjectId) {
        let name = call.reference.name.as_str();
        if !self.passes(object, Some(named)) {
            return;
        }
        let is_fixed = boundary::is_common(name) || matches!(name, "ordinal" | "name");
        if self.classes.is_own_enumeration(named) && !is_fixed {
            return self.unknown_call(call);
        }
        let is_function = self.classes.class(named).is_application && self.classes.is_interface(named);
        let is_quiet =
            matches!(boundary::boundary(&call.reference.class, name), Boundary::Quiet | Boundary::Text);
        let only = self.only(object);
        if !is_quiet && !is_function && !boundary::is_reading(&call.reference.class, name) {
            self.note_write(call.caller, Some(only), call.site.pc, ANY);
        }
        if !is_quiet && !boundary::is_common(name) {
            for value in call.arguments.iter().skip(1).flatten() {
                self.use_node(only, Use::Store(ANY, *value));
            }
            if let Some(result) = call.result {
                self.use_node(only, Use::Load(ALL, result));
            }
        } else {
            self.set_result(call, self.value);
        }
    }

    fn dispatch_lambda(&mut self, call: &Call, object: ObjectId, class: ClassId, number: u16) {
        let flow = self.classes.class(class).flow.clone();
        let dynamic = &flow.dynamics[usize::from(number)];
        if dynamic.name != call.reference.name {
            let interface = types(&dynamic.descriptor).1;
            let interface = interface.trim_start_matches('L').trim_end_matches(';').to_owned();
            let interface = self.classes.load(&interface);
            match self.classes.look_up(interface, &call.reference.name, &call.reference.descriptor) {
                Found::Code(class, index) => {
                    let context = self.heap.context_of(object);
                    self.enter(call, class, index, context, Some(object));
                }
                _ if boundary::is_common(&call.reference.name) => self.set_result(call, self.value),
                _ => self.unknown_call(call),
            }
            return;
        }
        let Some(handle) = dynamic.handles.first() else { return self.unknown_call(call) };
        let mut arguments = Vec::new();
        for (number, kind) in shape(&dynamic.descriptor).0.iter().enumerate() {
            arguments.push((*kind == b'L').then(|| self.field(object, Heap::captured(number))));
        }
        arguments.extend(call.arguments.iter().skip(1).copied());
        let made = self.heap.get(object);
        let kind = match handle.kind {
            5 => InvokeKind::Virtual,
            6 => InvokeKind::Static,
            7 | 8 => InvokeKind::Special,
            9 => InvokeKind::Interface,
            _ => return self.unknown_call(call),
        };
        let mut result = call.result;
        if handle.kind == 8 {
            let class = self.classes.load(&handle.target.class);
            self.initialise(class);
            let new =
                self.heap.object(Object { kind: Kind::Made(class), site: made.site, context: made.context });
            let node = self.only(new);
            if let Some(result) = result.take() {
                self.connect(node, result, None);
            }
            arguments.insert(0, Some(node));
        }
        // A primitive value that is boxed for the call becomes a new object.
        let first = usize::from(kind != InvokeKind::Static);
        for (number, kind) in shape(&handle.target.descriptor).0.iter().enumerate() {
            if let Some(argument) = arguments.get_mut(first + number)
                && *kind == b'L'
                && argument.is_none()
            {
                *argument = Some(self.value);
            }
        }
        if let Some(result) = result
            && shape(&handle.target.descriptor).1 != Some(b'L')
        {
            self.connect(self.value, result, None);
        }
        self.call(Call {
            caller: call.caller,
            context: made.context,
            site: call.site,
            kind,
            reference: Rc::new(handle.target.clone()),
            arguments,
            result,
        });
    }

    /// Connects the arguments and the result of a call with the method that it invokes.
    fn enter(
        &mut self,
        call: &Call,
        class: ClassId,
        index: u32,
        context: ContextId,
        receiver: Option<ObjectId>,
    ) {
        let callee = self.instance_of(class, index, context, call.caller);
        self.link(call.caller, callee);
        let formals = self.instance(callee).formals.clone();
        let mut at = 0;
        if !self.classes.is_static(class, index) {
            if let (Some(Some(formal)), Some(object)) = (formals.first(), receiver) {
                self.heap.add(*formal, object);
            }
            at = 1;
        }
        let first = usize::from(call.kind != InvokeKind::Static);
        for (formal, argument) in formals[at..].iter().zip(call.arguments.iter().skip(first)) {
            if let (Some(formal), Some(argument)) = (formal, argument) {
                self.connect(*argument, *formal, None);
            }
        }
        if let (Some(from), Some(to)) = (self.instance(callee).result, call.result) {
            self.connect(from, to, None);
        }
    }

    /// Lets the objects of a node flow into a call's result.
    fn set_result(&mut self, call: &Call, node: NodeId) {
        if let Some(result) = call.result {
            self.connect(node, result, None);
        }
    }

    /// A call that may do anything.
    fn unknown_call(&mut self, call: &Call) {
        let class = call.reference.class.rsplit('/').next().unwrap_or_default().replace('$', ".");
        self.note_unknown(call.caller, call.site.pc, format!("what {class}.{} does", call.reference.name));
        self.set_result(call, self.unknown_node);
        for argument in call.arguments.iter().flatten() {
            self.use_node(*argument, Use::Expose);
        }
    }

    /// A call of a method whose code is not analysed.
    fn boundary_call(&mut self, call: &Call, class: &str, receiver: Option<ObjectId>) {
        let first = call.arguments.first().copied().flatten();
        let this = receiver.map(|receiver| self.only(receiver)).or(first);
        let pc = call.site.pc;
        match boundary::boundary(class, &call.reference.name) {
            Boundary::Quiet => self.set_result(call, self.value),
            Boundary::Text => {
                for argument in call.arguments.iter().flatten() {
                    self.call_to_string(call.caller, call.context, call.site, *argument);
                }
                self.set_result(call, self.value);
            }
            Boundary::Builds => {
                self.note_write(call.caller, this, pc, ANY);
                for argument in call.arguments.iter().skip(1).flatten() {
                    self.call_to_string(call.caller, call.context, call.site, *argument);
                }
                self.set_result(call, this.unwrap_or(self.value));
            }
            Boundary::Access { writes } => self.access(call, writes),
            Boundary::Same(number) => {
                let argument = call.arguments.get(number).copied().flatten();
                self.set_result(call, argument.unwrap_or(self.value));
            }
            Boundary::ArrayCopy => {
                if let [Some(from), _, Some(to), ..] = call.arguments[..] {
                    let between = self.heap.node();
                    self.use_node(from, Use::Load(ELEMENT, between));
                    self.use_node(to, Use::Store(ELEMENT, between));
                    self.note_write(call.caller, Some(to), pc, ELEMENT);
                }
            }
            Boundary::Clone => {
                if let (Some(this), Some(result)) = (this, call.result) {
                    self.use_node(this, Use::Clone(call.site, call.context, result));
                }
            }
            Boundary::NewArray => {
                let class = self.classes.load("[Ljava/lang/Object;");
                let (site, context) = (Some(call.site), call.context);
                let object = self.heap.object(Object { kind: Kind::Made(class), site, context });
                let node = self.only(object);
                self.set_result(call, node);
            }
            Boundary::Holds { writes } => {
                let Some(this) = this else { return };
                if writes {
                    self.note_write(call.caller, Some(this), pc, ANY);
                }
                for argument in call.arguments.iter().skip(1).flatten() {
                    self.use_node(this, Use::Store(ANY, *argument));
                }
                if let Some(result) = call.result {
                    self.use_node(this, Use::Load(ALL, result));
                }
            }
            Boundary::Acquire => {
                self.instances[call.caller as usize].acquires = true;
                self.set_result(call, self.value);
            }
            Boundary::Release => self.instances[call.caller as usize].releases = true,
            Boundary::Unknown => self.unknown_call(call),
        }
    }

    /// An access through a handle: to its field of the first argument, or to any field if the field is not known.
    fn access(&mut self, call: &Call, writes: bool) {
        let mut values = call.arguments.iter().skip(1).flatten();
        let object = values.next().copied();
        let (stored, loaded) = match call.arguments.first().copied().flatten() {
            Some(handle) => self.handles.get(&handle).map_or((ANY, ALL), |&field| (field, field)),
            None => (ANY, ALL),
        };
        if writes {
            self.note_write(call.caller, object, call.site.pc, stored);
        }
        let Some(object) = object else {
            // Without an object it is an unknown static field.
            return self.set_result(call, self.unknown_node);
        };
        for value in values {
            self.use_node(object, Use::Store(stored, *value));
        }
        if let Some(result) = call.result {
            self.use_node(object, Use::Load(loaded, result));
        }
    }

    /// Calls `toString` of the objects of a node.
    pub(crate) fn call_to_string(
        &mut self,
        caller: InstanceId,
        context: ContextId,
        site: Site,
        node: NodeId,
    ) {
        self.call_method(
            caller,
            context,
            site,
            node,
            ("java/lang/Object", "toString", "()Ljava/lang/String;"),
            None,
        );
    }

    /// Calls a method of the objects of a node.
    pub(crate) fn call_method(
        &mut self,
        caller: InstanceId,
        context: ContextId,
        site: Site,
        node: NodeId,
        method: (&str, &str, &str),
        result: Option<NodeId>,
    ) {
        let (class, name, descriptor) = method;
        let reference = MemberReference {
            class: class.to_owned(),
            name: name.to_owned(),
            descriptor: descriptor.to_owned(),
        };
        let mut arguments = vec![Some(node)];
        let of_harness = self.arguments_of(caller);
        arguments.extend(shape(descriptor).0.iter().map(|kind| (*kind == b'L').then_some(of_harness)));
        let reference = Rc::new(reference);
        self.call(Call { caller, context, site, kind: InvokeKind::Virtual, reference, arguments, result });
    }
}
