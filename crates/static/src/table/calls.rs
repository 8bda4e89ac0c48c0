//! The effects of calls on their arguments: from the code if the target is certain, otherwise from the table.

use fissure_classfile::flow::{InvokeKind, MemberReference, shape, types};

use super::summary::{MethodPass, STATIC, Set, State, arguments, bits, is_inert, push};
use crate::{
    graph::Level,
    jdk::{self, Effect},
    reach::{Linked, linked},
    world::{ClassId, MethodId, Target, handle_kind},
};

impl MethodPass<'_, '_, '_> {
    /// The result of a call.
    pub(super) fn call(
        &mut self,
        index: usize,
        kind: InvokeKind,
        reference: &MemberReference,
        values: &[Set],
    ) -> Set {
        let all = values.iter().fold(0, |all, value| all | value);
        self.current = format!("{}.{}", reference.class, reference.name);
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
        // Rows with effects beyond `KEEPS` are taken as they are: such effects are what the check looks for.
        let is_analysed = fissure_jdk::is_analysed_for_callers(&reference.class);
        if is_described && is_public && !is_analysed && (row.level > Level::Local || row.opens.is_anything())
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

    /// Memory accesses through methods such as those of `VarHandle`; the arguments are an object, a position and values.
    fn memory(&mut self, reference: &MemberReference, values: &[Set]) -> Option<Set> {
        let class = reference.class.as_str();
        // The referent of a phantom reference cannot be retrieved.
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

    /// The target of a call if it cannot be overridden.
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
            self.link(values, fissure_jdk::looks_up(name));
            return all | self.token(index);
        }
        self.token(index)
    }

    /// Any of these may reference any other afterwards.
    fn link(&mut self, values: &[Set], is_lookup: bool) {
        for (number, &holder) in values.iter().enumerate() {
            for (other, &value) in values.iter().enumerate() {
                if number != other {
                    // A lookup in a shared collection stores nothing in it.
                    self.put(if is_lookup { holder & !STATIC } else { holder }, value);
                }
            }
        }
    }

    fn enter(&mut self, index: usize, method: MethodId, values: &[Set]) -> Set {
        self.summaries.request(method);
        self.summaries.callers.entry(method).or_default().insert(self.method);
        let summary = self.summaries.get(method);
        let map = |set: Set| {
            let own = bits(set & !STATIC).filter_map(|formal| values.get(formal));
            own.fold(set & STATIC, |all, value| all | value)
        };
        for (formal, held) in summary.holds.iter().enumerate() {
            if let Some(&holder) = values.get(formal) {
                self.put(holder, map(*held & !(1 << formal)));
            }
        }
        if self.escape_site.is_none() && self.closure(map(summary.escapes)) & self.formals != 0 {
            self.escape_site = summary.escape_site.clone();
        }
        self.put(STATIC, map(summary.escapes));
        let is_given = values.iter().any(|value| *value != 0);
        self.is_open |= summary.is_open && is_given;
        map(summary.returns) | self.token(index)
    }

    pub(super) fn dynamic(&mut self, index: usize, number: u16, state: &mut State) {
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
                    // Callers of the lambda may pass it anything that the object references.
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
