//! Join points: the operations in rewritten code that pointcuts select.

use std::sync::Arc;

use fissure_classfile::{AccessFlags, ArraySource, Site, SiteKind, SiteTarget};
use fissure_model::pointcut::{FieldPoint, Kind, MethodPoint, Point, Value};

use crate::{
    sites::{SiteInfo, Target, type_name},
    world::Classes,
};

/// The kind of operation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum JoinPointKind {
    Get,
    Set,
    Call,
    Execution,
    Lock,
    Unlock,
    /// An access whose target is only known when it happens, such as one by a variable handle.
    Indirect,
}

/// A join point, with names as in source code.
#[derive(Debug, Clone)]
pub(crate) struct JoinPoint {
    pub(crate) kind: JoinPointKind,
    /// The class of the code, with dots.
    pub(crate) class: Arc<str>,
    /// The class of the member, with dots.
    pub(crate) owner: String,
    /// The member's name.
    pub(crate) name: String,
    /// The member's descriptor.
    pub(crate) descriptor: String,
    /// The type of a field or of a method's result, if it is known.
    pub(crate) of_type: Option<String>,
    pub(crate) parameters: Vec<String>,
    /// The access flags of a method that is executed.
    pub(crate) access: Option<AccessFlags>,
    pub(crate) is_static: bool,
    pub(crate) is_element: bool,
}

impl JoinPoint {
    /// The join point of an access or acquire in the code of a class; the class name is with dots.
    pub(crate) fn of(site: &Site<'_>, class: &Arc<str>) -> JoinPoint {
        let kind = match (site.kind, site.target) {
            (_, SiteTarget::Indirect { .. }) => JoinPointKind::Indirect,
            (SiteKind::Read, _) => JoinPointKind::Get,
            (SiteKind::Write, _) => JoinPointKind::Set,
            (SiteKind::Enter | SiteKind::EnterMethod, _) => JoinPointKind::Lock,
            (SiteKind::Exit | SiteKind::ExitMethod, _) => JoinPointKind::Unlock,
            (SiteKind::Block | SiteKind::Unit | SiteKind::Execution, _) => JoinPointKind::Execution,
            (SiteKind::Call, _) => JoinPointKind::Call,
        };
        let join_point = JoinPoint::unresolved(kind, class);
        match site.target {
            SiteTarget::Field { class, name, descriptor, is_static } => {
                JoinPoint { is_static, ..join_point.field(class, name, descriptor) }
            }
            SiteTarget::ArrayElement { source } => {
                let join_point = JoinPoint { is_element: true, ..join_point };
                match source {
                    ArraySource::Field { class, name, descriptor } => {
                        join_point.field(class, name, descriptor)
                    }
                    ArraySource::Local { name: Some(name), .. } => {
                        JoinPoint { name: name.to_owned(), ..join_point }
                    }
                    _ => join_point,
                }
            }
            SiteTarget::Called { class, name, descriptor, is_static } if kind == JoinPointKind::Call => {
                JoinPoint { is_static, ..join_point.method(&class.replace('/', "."), name, descriptor, None) }
            }
            SiteTarget::Called { .. } => join_point,
            SiteTarget::Method { class, name } => {
                JoinPoint { owner: class.replace('/', "."), name: name.to_owned(), ..join_point }
            }
            SiteTarget::Contents { .. } | SiteTarget::Indirect { .. } | SiteTarget::Nothing => join_point,
        }
    }

    /// The join point of an access that is being reported, whose target is known by now.
    pub(crate) fn of_access(site: &SiteInfo, is_static: bool, is_element: bool) -> JoinPoint {
        let kind = if site.kind == SiteKind::Write { JoinPointKind::Set } else { JoinPointKind::Get };
        let join_point = JoinPoint { is_static, is_element, ..JoinPoint::unresolved(kind, &site.class) };
        match &site.target {
            Target::Field { class, name, descriptor } => join_point.field(class, name, descriptor),
            Target::Local(Some(name)) => JoinPoint { name: name.to_string(), ..join_point },
            Target::Local(None) | Target::Method { .. } | Target::Unknown => join_point,
        }
    }

    fn unresolved(kind: JoinPointKind, class: &Arc<str>) -> JoinPoint {
        JoinPoint {
            kind,
            class: class.clone(),
            owner: class.to_string(),
            name: "?".to_owned(),
            descriptor: String::new(),
            of_type: None,
            parameters: Vec::new(),
            access: None,
            is_static: false,
            is_element: false,
        }
    }

    /// The join point of a method call or execution, in a class whose name is with dots.
    pub(crate) fn method(
        self,
        class: &str,
        name: &str,
        descriptor: &str,
        access: Option<AccessFlags>,
    ) -> JoinPoint {
        let (parameters, result) = signature(descriptor);
        JoinPoint {
            owner: class.to_owned(),
            name: name.to_owned(),
            descriptor: descriptor.to_owned(),
            of_type: Some(result),
            parameters,
            is_static: access.is_some_and(|access| access.contains(AccessFlags::STATIC)),
            access,
            ..self
        }
    }

    /// The declared types of the values that are passed or stored.
    pub(crate) fn passed_types(&self) -> Vec<String> {
        match (self.kind, &self.of_type) {
            (JoinPointKind::Call | JoinPointKind::Execution, _) => self.parameters.clone(),
            (JoinPointKind::Set, Some(of_type)) if self.is_element => {
                vec![of_type.strip_suffix("[]").unwrap_or("java.lang.Object").to_owned()]
            }
            (JoinPointKind::Set, Some(of_type)) => vec![of_type.clone()],
            (JoinPointKind::Set, None) => vec!["java.lang.Object".to_owned()],
            _ => Vec::new(),
        }
    }

    fn field(self, class: &str, name: &str, descriptor: &str) -> JoinPoint {
        JoinPoint {
            owner: class.replace('/', "."),
            name: name.to_owned(),
            descriptor: descriptor.to_owned(),
            of_type: Some(type_name(descriptor)),
            ..self
        }
    }

    /// Evaluates a function on the point for pointcuts, with what is known about its values.
    pub(crate) fn with_point<R>(
        &self,
        classes: &Classes,
        target: Value<'_>,
        arguments: Option<&[Value<'_>]>,
        evaluate: impl FnOnce(&Point<'_>) -> R,
    ) -> R {
        let declared = || classes.declaring(&self.owner, &self.name, &self.descriptor);
        let field = || {
            let declared = declared();
            FieldPoint {
                owner: &self.owner,
                declaring: declared.map(|(class, _)| class),
                name: &self.name,
                of_type: self.of_type.as_deref(),
                access: declared.map(|(_, access)| access.bits()),
                is_static: self.is_static,
                is_element: self.is_element,
            }
        };
        let method = || MethodPoint {
            owner: &self.owner,
            name: &self.name,
            parameters: &self.parameters,
            result: self.of_type.as_deref().unwrap_or("void"),
            access: self.access.map(|access| access.bits()),
            is_static: self.is_static,
        };
        let kind = match self.kind {
            JoinPointKind::Get => Kind::Get(field()),
            JoinPointKind::Set => Kind::Set(field()),
            JoinPointKind::Call => Kind::Call(method()),
            JoinPointKind::Execution => Kind::Execution(method()),
            JoinPointKind::Lock => Kind::Lock,
            JoinPointKind::Unlock => Kind::Unlock,
            JoinPointKind::Indirect => Kind::Any,
        };
        let target = match target {
            Value::Unknown if self.is_static => Value::None,
            Value::Unknown if matches!(kind, Kind::Get(_) | Kind::Set(_)) && !self.is_element => {
                Value::Declared(&self.owner)
            }
            Value::Unknown if matches!(kind, Kind::Call(_) | Kind::Execution(_)) => {
                Value::Declared(&self.owner)
            }
            target => target,
        };
        evaluate(&Point { kind, class: Some(&self.class), target, arguments })
    }
}

/// The parameter types and the result type of a method, as in source.
fn signature(descriptor: &str) -> (Vec<String>, String) {
    let Some((inside, result)) = descriptor.strip_prefix('(').and_then(|rest| rest.split_once(')')) else {
        return (Vec::new(), "void".to_owned());
    };
    let mut parameters = Vec::new();
    let mut rest = inside;
    while !rest.is_empty() {
        let element = rest.trim_start_matches('[');
        let dimensions = rest.len() - element.len();
        let length =
            if element.starts_with('L') { element.find(';').map_or(element.len(), |end| end + 1) } else { 1 };
        let end = (dimensions + length).min(rest.len());
        parameters.push(type_name(&rest[..end]));
        rest = &rest[end..];
    }
    (parameters, if result == "V" { "void".to_owned() } else { type_name(result) })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn signatures_read_as_in_source() {
        let check = |descriptor: &str, parameters: &[&str], result: &str| {
            assert_eq!(
                signature(descriptor),
                (parameters.iter().map(|&name| name.to_owned()).collect(), result.to_owned())
            );
        };
        check("()V", &[], "void");
        check(
            "(I[JLjava/lang/String;[[La/B;Z)[I",
            &["int", "long[]", "java.lang.String", "a.B[][]", "boolean"],
            "int[]",
        );
        check("nonsense", &[], "void");
    }
}
